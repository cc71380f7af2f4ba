r"""Self-training: a classifier that teaches itself from its own sure answers.

Round        1. fit on the labelled rows
             2. P(c | x) of every row without a label
             3. the sure ones get their most probable class, and count as labelled from now on
Sure         threshold: max_c P(c | x) > threshold;   k_best: the k rows of largest max_c P(c | x)
End          no row is left, no row was sure, or ``max_iter`` rounds; then a last fit

The rows without a label help where the classes form groups with few rows between them. A wrong
answer is never taken back, so that early mistakes grow: the probabilities should be calibrated.

References: Yarowsky (1995); Chapelle, Schoelkopf & Zien (2006), chapter 1.
"""

from functools import partial
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone
from sklearn.utils import get_tags
from sklearn.utils.metadata_routing import (
    MetadataRouter,
    MethodMapping,
    _raise_for_params,
    _routing_enabled,
)
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import _num_samples, check_is_fitted, column_or_1d

from pellucid.base import (
    Classifier,
    check_labels,
    check_weights,
    refuse_missing,
    with_callbacks,
)
from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike, IntArray, MaybeArray
from pellucid.core.loops.iterate import FitContext, History
from pellucid.core.meta import check_inner, fitted, read_table, route, routed, rows_of
from pellucid.core.records import Card
from pellucid.core.runtime.warn import warn
from pellucid.ensemble.labels.meta_classifier import refuse_cells, take_rows
from pellucid.ensemble.semi_supervised.representation import (
    UNLABELLED,
    is_labelled,
    labelled_classes,
)
from pellucid.linear.logistic.logistic import LogisticRegression

ANSWERS = ("predict", "predict_proba", "predict_log_proba", "decision_function", "score")
ABSENT = -2  # the code of a row of weight zero


class Taught(NamedTuple):
    """Where the rounds stand."""

    codes: IntArray  # (n,) class of every row, -1 where there is none
    when: IntArray  # (n,) round in which it got it: 0 if given, -1 if never
    added: IntArray  # rows that were labelled in this round
    step: int
    model: Any  # fitted to the labels before this round


def sure_rows(P: Array, criterion: str, threshold: float, k_best: int) -> IntArray:
    """Which rows of the probabilities P are sure, in order.

    >>> P = np.array([[0.9, 0.1], [0.4, 0.6], [0.2, 0.8]])
    >>> sure_rows(P, "threshold", 0.75, 1), sure_rows(P, "k_best", 0.75, 1)
    (array([0, 2]), array([0]))
    """
    top = P.max(axis=1)
    if criterion == "threshold":
        return np.flatnonzero(top > threshold)
    return np.sort(np.argsort(-top, kind="stable")[:k_best])  # ties go to the lower row


class Task(NamedTuple):
    """What every fit needs."""

    X: Any
    labels: Any  # (n,) as given
    inner: Any
    params: dict[str, Any]

    def fit(self, codes: IntArray, classes: np.ndarray) -> Any:
        """A classifier fitted to the rows that have a class."""
        known = np.flatnonzero(codes >= 0)
        y = classes[codes[known]]
        params = rows_of(self.params, self.X, known)
        return fitted(clone(self.inner), take_rows(self.X, known), y, **params)


def labels_of(y: np.ndarray, n: int, owner: Any) -> Any:
    """A vector of labels, -1 among them; classes that are text may stand beside it as objects."""
    values = None if y is None else column_or_1d(y, warn=True)
    if values is None or values.dtype.kind != "O" or len(values) != n:
        return check_labels(y, n, owner)
    labelled = is_labelled(values)
    refuse_missing(np.where(labelled, values, UNLABELLED))  # by its row among all
    known = values[labelled]
    if len(known):
        check_labels(known, len(known), owner)
    return values


def row_of(state: Taught) -> dict[str, Any]:
    """The row of the history: rows still unlabelled, labelled in this round, and which."""
    left = int((state.codes == UNLABELLED).sum())
    return {"objective": left, "labelled": len(state.added), "rows": state.added}


def is_over(history: History) -> bool:
    """Whether another round has nothing to do: no row is left, or none was sure."""
    return history[-1]["objective"] == 0 or history[-1]["labelled"] == 0


def end_of(state: Taught, max_iter: int | None) -> str:
    """Why the rounds ended, in scikit-learn's words."""
    if not (state.codes == UNLABELLED).any():
        return "all_labeled"
    if state.step > 0 and len(state.added) == 0:
        return "no_change"
    return "max_iter" if state.step == max_iter else "stopped"


def _inner_has(method: str) -> Any:
    def check_method(owner: Any) -> bool:
        return callable(getattr(getattr(owner, "estimator_", owner._inner()), method))

    return available_if(check_method)


class SelfTrainingClassifier(MetaEstimatorMixin, Classifier):
    """Any classifier with probabilities, taught by its own sure answers on rows without labels.

    Parameters
    ----------
    estimator : classifier with ``predict_proba``, default=None
        None means ``LogisticRegression()``.
    threshold : float in [0, 1), default=0.75
        With ``criterion="threshold"``: a row is sure if its largest probability is above it.
    criterion : {"threshold", "k_best"}, default="threshold"
        Label the rows above a probability, or so many in each round.
    k_best : int, default=10
        With ``criterion="k_best"``: rows that are labelled in a round (ties: the lower row).
    max_iter : int or None, default=10
        Most rounds; None goes on until no row is sure or none is left.
    verbose : bool, default=False
        Prints the steps and the time of the fit.

    A row is unlabelled where y is -1 (None in an array of objects, "-1" among strings).

    Attributes
    ----------
    estimator_ : fitted classifier
    classes_ : the labels that occur
    transduction_ : ndarray of shape (n_samples,)
        The labels of the last fit; rows that never got one stay unlabelled.
    labeled_iter_ : ndarray of shape (n_samples,)
        The round in which a row got its label: 0 if it was given, -1 if never.
    n_iter_ : int
        Rounds, at least 1: with no row to label the first round finds nothing to do.
    termination_condition_ : {"max_iter", "no_change", "all_labeled", "stopped"}
    history_ : History
        objective (rows still unlabelled), labelled, and ``rows``, those labelled in the round.

    Examples
    --------
    >>> import numpy as np
    >>> from pellucid import GaussianNB, SelfTrainingClassifier
    >>> X = np.array([[0.0], [0.5], [1.0], [1.5], [6.0], [6.5], [7.0], [7.5]])
    >>> model = SelfTrainingClassifier(GaussianNB()).fit(X, [0, 0, -1, -1, -1, -1, 1, 1])
    >>> model.transduction_.tolist(), model.history_["objective"].tolist()
    ([0, 0, 0, 0, 1, 1, 1, 1], [4, 0])
    """

    _training_state = ("transduction_", "labeled_iter_")

    def __init__(
        self,
        estimator: BaseEstimator | None = None,
        threshold: float = 0.75,
        criterion: str = "threshold",
        k_best: int = 10,
        max_iter: int | None = 10,
        verbose: bool = False,
    ) -> None:
        self.estimator = estimator
        self.threshold = threshold
        self.criterion = criterion
        self.k_best = k_best
        self.max_iter = max_iter
        self.verbose = verbose

    def _inner(self) -> Any:
        return LogisticRegression() if self.estimator is None else self.estimator

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(self._inner())
        tags.input_tags.sparse = inner.input_tags.sparse
        tags.input_tags.allow_nan = inner.input_tags.allow_nan
        if inner.classifier_tags is not None:
            tags.classifier_tags.multi_class = inner.classifier_tags.multi_class
        return tags

    def get_metadata_routing(self) -> Any:
        """What the methods pass on to the same ones of the classifier."""
        mapping = MethodMapping()
        for method in ("fit", *ANSWERS):
            mapping.add(caller=method, callee=method)
        return MetadataRouter(owner=self).add(estimator=self._inner(), method_mapping=mapping)

    @with_callbacks
    def fit(self, X: Any, y: Any, sample_weight: Any = None, **fit_params: Any) -> Self:
        """Learn from the rows of X whose y is not -1, then from the others."""
        _raise_for_params(fit_params, self, "fit")
        inner = self._check_parameters()
        X = read_table(self, X, inner, reset=True)
        refuse_cells(self, inner, X)
        n = _num_samples(X)
        labels = labels_of(y, n, self)
        if sample_weight is not None:
            sample_weight = check_weights(sample_weight, np.empty(n))
        task = Task(X, labels, inner, self._route(sample_weight, fit_params))
        start = self._start(labels, sample_weight)
        rounds = int((start.codes == UNLABELLED).sum()) + 1  # every one but the last labels a row
        rounds = rounds if self.max_iter is None else self.max_iter
        data, attributes = (
            {"X": X, "y": y, "sample_weight": sample_weight},
            partial(self._fitted, task),
        )
        context = FitContext(self, **data, max_steps=rounds, attributes=attributes)
        loop: dict[str, Any] = {"record": row_of, "context": context, "stop": is_over}
        step = partial(self._round, task)
        run = self._iterate(step, start, max_iter=rounds, tol=None, **loop)
        found = self._fitted(task, run.state)
        self.estimator_ = found["estimator_"]
        self.transduction_, self.labeled_iter_ = found["transduction_"], found["labeled_iter_"]
        self.termination_condition_ = end_of(run.state, self.max_iter)
        when = self.labeled_iter_
        self._counts = [int(v.sum()) for v in (when == 0, when > 0, when < 0)]
        return self

    def _check_parameters(self) -> Any:
        check.non_negative(threshold=self.threshold)
        if not self.threshold < 1:
            raise ValueError(f"threshold must be in [0, 1), got {self.threshold!r}")
        check.one_of(("threshold", "k_best"), criterion=self.criterion)
        check.whole(k_best=self.k_best)
        if self.max_iter is not None:
            check.whole(at_least=0, max_iter=self.max_iter)
        inner = self._inner()
        check_inner(self, inner, "fit")
        return inner

    def _route(self, sample_weight: ArrayLike | None, params: dict[str, Any]) -> dict[str, Any]:
        if self.estimator is not None:
            return route(self, "fit", sample_weight, params)
        return {} if sample_weight is None else {"sample_weight": sample_weight}

    def _start(self, labels: NDArray[Any], weights: Array | None) -> Taught:
        """The labels that are given; rows of weight zero are not there."""
        given = is_labelled(labels)
        there = np.ones(len(labels), bool) if weights is None else weights > 0
        known = np.flatnonzero(given & there)
        self.classes_, codes = labelled_classes(labels[known])
        all_codes = np.where(there, UNLABELLED, ABSENT)
        all_codes[known] = codes
        left = int((all_codes == UNLABELLED).sum())
        if left == 0:
            warn("y contains no unlabeled samples: no row is -1")
        elif self.criterion == "k_best" and self.k_best > left:
            more = "k_best is larger than the amount of unlabeled samples"
            warn(f"{more} (k_best={self.k_best}, {left} rows): all are labelled in the first round")
        none = np.empty(0, np.intp)
        return Taught(all_codes, np.where(given, 0, UNLABELLED), none, 0, None)

    def _round(self, task: "Task", state: Taught) -> tuple[Taught, float]:
        model = task.fit(state.codes, self.classes_)
        left = np.flatnonzero(state.codes == UNLABELLED)
        if len(left) == 0:
            return Taught(state.codes, state.when, left, state.step + 1, model), 0.0
        P = model.predict_proba(take_rows(task.X, left))
        sure = sure_rows(P, self.criterion, self.threshold, self.k_best)
        codes, when, step = state.codes.copy(), state.when.copy(), state.step + 1
        said = model.classes_[P[sure].argmax(axis=1)]
        codes[left[sure]] = np.searchsorted(self.classes_, said)
        when[left[sure]] = step
        return Taught(codes, when, left[sure], step, model), float(len(sure))

    def _fitted(self, task: "Task", state: Taught) -> dict[str, Any]:
        """The attributes as if the rounds had ended here."""
        fresh = state.model is None or len(state.added) > 0
        taught = state.when > 0
        labels = task.labels.copy()
        labels[taught] = self.classes_[state.codes[taught]]
        return {
            "estimator_": task.fit(state.codes, self.classes_) if fresh else state.model,
            "transduction_": labels,
            "labeled_iter_": state.when,
        }

    def _ask(self, method: str, X: ArrayLike, *given: Any, **params: Any) -> Any:
        """What the taught classifier says; with metadata routing it gets what it asked for."""
        check_is_fitted(self)
        _raise_for_params(params, self, method)
        rows = read_table(self, X, self._inner(), reset=False)
        return getattr(self.estimator_, method)(rows, *given, **routed(self, method, params))

    @_inner_has("predict")
    def predict(self, X: ArrayLike, **params: Any) -> Any:
        """The labels that the taught classifier says."""
        return self._ask("predict", X, **params)

    @_inner_has("predict_proba")
    def predict_proba(self, X: ArrayLike, **params: Any) -> Array:
        """Probabilities of the taught classifier."""
        return self._ask("predict_proba", X, **params)

    @_inner_has("predict_log_proba")
    def predict_log_proba(self, X: ArrayLike, **params: Any) -> Array:
        """Their logarithms."""
        return self._ask("predict_log_proba", X, **params)

    @_inner_has("decision_function")
    def decision_function(self, X: ArrayLike, **params: Any) -> Array:
        """Scores of the taught classifier."""
        return self._ask("decision_function", X, **params)

    def score(
        self, X: ArrayLike, y: ArrayLike, sample_weight: MaybeArray = None, **params: Any
    ) -> float:
        """Accuracy; with metadata routing the score of the taught classifier."""
        if not _routing_enabled():
            _raise_for_params(params, self, "score")
            return float(super().score(X, y, sample_weight))
        weights = {} if sample_weight is None else {"sample_weight": sample_weight}
        return float(self._ask("score", X, y, **weights, **params))

    def card(self) -> Card:
        """Representation, evaluation and optimisation of this fit, with its numbers."""
        check_is_fitted(self)
        name = type(self.estimator_).__name__
        by_threshold = self.criterion == "threshold"
        rule = f"max P > {self.threshold:g}" if by_threshold else f"the {self.k_best} of largest P"
        given, added, left = self._counts
        counts = {"labels given": given, "labels added": added, "rows left": left}
        return Card(
            representation=f"that of {name}",
            evaluation=f"that of {name}, its own sure answers taken for labels",
            optimisation=f"{self.n_iter_} round(s) of fit and label ({rule}), ended by "
            f"{self.termination_condition_}; no answer is taken back",
            numbers={**counts, "rounds": self.n_iter_},
        )
