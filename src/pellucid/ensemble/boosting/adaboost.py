r"""AdaBoost: weak classifiers in turn, each on the rows that those before it got wrong.

Start        d_i = 1/N  (or sample_weight, normalised)
Round        f_t = weak classifier for the weights d;   eps = sum d_i [y_i != f_t(x_i)]
             a = 1/2 ln((1 - eps) / eps);   d_i <- d_i exp(-a y_i f_t(x_i)) / Z
             Z = sum d_i exp(-a y_i f_t(x_i)) = 2 sqrt(eps (1 - eps))
Answer       sign(sum_t a_t f_t(x));   K classes: the class with most weight of votes
Bound        training error <= mean exp(-y F) = product of the Z (two classes): AdaBoost is
             coordinate descent on the exponential loss

scikit-learn's scale (SAMME) is w = ln((1 - eps) / eps) + ln(K - 1), for two classes w = 2 a: the
same classifier. With K classes a right answer multiplies d by exp(-w (K - 1)/K), a wrong one by
exp(w/K). A learning rate multiplies w.

Weights are kept as whole numbers of a unit (2^-53 of their sum), so sums are exact, a row of
weight 2 is a row written twice to the last bit, and nothing depends on threads.

References: Freund & Schapire (1997); Zhu, Zou, Rosset & Hastie (2009); ESL, section 10.1.
"""

import math
from collections.abc import Iterator
from typing import Any, NamedTuple, Protocol, Self

import numpy as np
from scipy.special import softmax
from sklearn.base import BaseEstimator
from sklearn.metrics import accuracy_score
from sklearn.utils.validation import check_is_fitted

from pellucid.base import Classifier, encode_labels, with_callbacks
from pellucid.core.arrays import check
from pellucid.core.arrays.sparse import to_dense
from pellucid.core.arrays.typing import Array, ArrayLike, IntArray, Seed
from pellucid.core.loops.iterate import FitContext
from pellucid.core.meta import check_inner
from pellucid.core.readable import readable
from pellucid.core.records import Card
from pellucid.core.runtime.random import generator
from pellucid.core.runtime.warn import warn
from pellucid.ensemble.boosting.weak_learners import grows_here, make_learner
from pellucid.ensemble.forest.record import join_trees
from pellucid.ensemble.members import WeightedMembers
from pellucid.tree.classifier import DecisionTreeClassifier
from pellucid.tree.growing import EXACT, unit_for


class Round(NamedTuple):
    """A member, its error and weight (SAMME), the normaliser, the error of all so far."""

    model: Any
    error: float
    weight: float
    normaliser: float
    train_error: float


class Learner(Protocol):
    """What gives a member for weights: ``weak_learners.Trees`` or ``Others``."""

    def learn(self, t: int, v: Array, unit: float) -> Any:
        """The member of round t for whole weights v, in units of ``unit``."""


class Rounds:
    """The rows, their weights c f (repetitions times boosting) and the members so far.

    The next member is tried before it is needed, so that one no better than chance is never kept.
    """

    def __init__(self, learner: Learner, codes: IntArray, c: Array, K: int, rate: float) -> None:
        self.learner, self.codes, self.c, self.K, self.rate = learner, codes, c, K, rate
        self.whole = bool((c == np.floor(c)).all() and c.sum() <= EXACT)
        self.log_f = np.zeros(len(c))  # a large rate underflows the products themselves
        self.f = np.ones(len(c))
        self.V = np.zeros((len(c), K))  # votes
        self.rows = np.arange(len(c))
        self.done: list[Round] = []
        self.log_objective = 0.0
        self.ending = ""
        self._try()

    def _weights(self) -> tuple[Array, float]:
        """Whole weights v and their unit: v unit sums to 1."""
        w = self.c * self.f
        unit = unit_for(float(w.sum()), EXACT / 2)  # rounding up to 1 may add one unit per row
        if self.whole:
            v = np.maximum(np.rint(self.f / unit), 1.0) * self.c
        else:
            v = np.maximum(np.rint(w / unit), 1.0)
        return v, 1.0 / float(v.sum())

    def _try(self) -> None:
        """Learn from the weights; sets the error of the next member."""
        v, unit = self._weights()
        self.next = self.learner.learn(len(self.done), v, unit)
        self.wrong = self.next.codes != self.codes
        self.error = float(v[self.wrong].sum()) * unit
        if self.K > 1 and self.error >= 1 - 1 / self.K:
            self.ending = "chance"

    def step(self, last: int) -> Round:
        """Take the member that was tried, reweigh, and try the next unless this was the last."""
        error, K = self.error, self.K
        if error <= 0.0:  # perfect: it decides alone
            weight, log_z = 1.0 + sum(done.weight for done in self.done), -math.inf
            self.ending = "perfect"
        else:
            weight = self.rate * (math.log((1 - error) / error) + math.log(K - 1))
            log_z = math.log((1 - error) * math.exp(-weight) + error) + weight / K
            self.log_f[~self.wrong] -= weight
            self.log_f -= self.log_f.max()
            self.f = np.exp(self.log_f)
        self.log_objective += log_z
        self.V[self.rows, self.next.codes] += weight
        missed = self.V.argmax(axis=1) != self.codes
        train_error = float(self.c[missed].sum() / self.c.sum())
        normaliser = math.exp(min(log_z, 700.0))
        self.done.append(Round(self.next.model, error, weight, normaliser, train_error))
        if not self.ending and len(self.done) < last:
            self._try()
        return self.done[-1]

    def record(self) -> dict[str, Any]:
        """The row of the history."""
        objective = {"objective": math.exp(min(self.log_objective, 700.0))}
        if not self.done:
            return objective
        last = self.done[-1]
        return objective | {
            "error": last.error,
            "alpha": last.weight / 2,
            "normaliser": last.normaliser,
            "train_error": last.train_error,
        }

    def attributes(self) -> dict[str, Any]:
        """The fitted attributes so far."""
        return {
            "estimators_": [done.model for done in self.done],
            "estimator_weights_": np.array([done.weight for done in self.done]),
            "estimator_errors_": np.array([done.error for done in self.done]),
        }


__all__ = ["AdaBoostClassifier", "AdaBoostRound", "adaboost_round"]


@readable
class AdaBoostRound(NamedTuple):
    """One round for two classes, in the scale of the course.

    >>> from pellucid.ensemble import adaboost_round
    >>> round(adaboost_round([1, 1, 1], [1, 1, -1], [1, 1, 1]).alpha, 6)
    0.346574
    """

    error: float  # weight of the rows that were wrong
    alpha: float  # vote of the classifier
    normaliser: float  # sum of the new weights before division
    weights: Array  # after the round; their sum is 1


def adaboost_round(weights: ArrayLike, y: ArrayLike, prediction: ArrayLike) -> AdaBoostRound:
    """Reweigh the rows after a weak classifier said ``prediction``.

    Parameters
    ----------
    weights : array-like of shape (n,)
        Weights of the rows, >= 0; divided by their sum.
    y, prediction : array-like of shape (n,)
        -1 or +1.

    Returns
    -------
    AdaBoostRound
        ``error``, ``alpha`` (infinite for a perfect or perfectly wrong answer, whose ``weights``
        stay as they are and whose ``normaliser`` is 0), ``normaliser`` and the new ``weights``.

    Examples
    --------
    >>> from pellucid.ensemble import adaboost_round
    >>> y = [1, 1, 1, -1]
    >>> found = adaboost_round([1, 1, 1, 1], y, [1, 1, -1, -1])
    >>> found.error, found.weights.round(4).tolist()
    (0.25, [0.1667, 0.1667, 0.5, 0.1667])
    """
    d, y, said = (np.asarray(part, dtype=np.float64) for part in (weights, y, prediction))
    if not d.ndim == y.ndim == said.ndim == 1 or not len(d) == len(y) == len(said) > 0:
        shapes = f"{d.shape}, {y.shape} and {said.shape}"
        raise ValueError(f"weights, y and prediction must be vectors of one length, got {shapes}")
    if not (np.isin(y, (-1, 1)).all() and np.isin(said, (-1, 1)).all()):
        raise ValueError("y and prediction must be -1 or +1 in every row")
    if not (np.isfinite(d).all() and (d >= 0).all() and d.any()):
        raise ValueError("weights must be finite, >= 0 and not all 0")
    d = d / d.sum()
    error = float(d[y != said].sum())
    if not 0.0 < error < 1.0:
        return AdaBoostRound(error, math.inf if error == 0.0 else -math.inf, 0.0, d)
    alpha = 0.5 * math.log((1 - error) / error)
    d = d * np.exp(-alpha * y * said)
    Z = float(d.sum())
    return AdaBoostRound(error, alpha, Z, d / Z)


class AdaBoostClassifier(WeightedMembers, Classifier):
    """Weak classifiers in turn, each on the rows that those before it got wrong.

    ``sample_weight`` equals repetition. A member without error is kept, decides alone and ends the
    rounds; one no better than chance (error >= 1 - 1/K) is dropped and ends them with a warning,
    or with a ValueError where it is the first.

    Parameters
    ----------
    estimator : classifier or None, default=None
        The weak learner; None: ``DecisionTreeClassifier(max_depth=1)``, a stump. One whose ``fit``
        takes no ``sample_weight`` is fitted to rows drawn by their weights.
    n_estimators : int, default=50
        Rounds at most.
    learning_rate : float, default=1.0
        Multiplies the weight of every member.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the members and of rows drawn by weight.

    Attributes
    ----------
    estimators_ : list
        The members.
    alphas_, estimator_weights_ : ndarray of shape (members,)
        Weights of the members in the scale of the course and in scikit-learn's, which is twice it.
    estimator_errors_ : ndarray of shape (members,)
    history_ : History
        error, alpha, normaliser and train_error of every round; ``objective`` is the product of the
        normalisers, a bound of the training error for two classes.
    feature_importances_ : ndarray of shape (n_features,)
        Weighted mean of those of the members.
    classes_, n_classes_, estimator_, n_features_in_, feature_names_in_

    Examples
    --------
    >>> from pellucid import AdaBoostClassifier
    >>> X, y = [[0], [1], [2], [3], [4], [5]], [0, 0, 1, 1, 0, 0]
    >>> model = AdaBoostClassifier(n_estimators=3).fit(X, y)
    >>> model.score(X, y), model.estimator_errors_.round(4).tolist()
    (1.0, [0.3333, 0.25, 0.1667])
    """

    _rate_name = "learning_rate"

    def __init__(
        self,
        estimator: BaseEstimator | None = None,
        *,
        n_estimators: int = 50,
        learning_rate: float = 1.0,
        random_state: Seed = None,
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.random_state = random_state

    def _template(self) -> Any:
        return DecisionTreeClassifier(max_depth=1) if self.estimator is None else self.estimator

    def _check_matrix(self, X: Any, *, reset: bool, finite: bool) -> Any:
        X = super()._check_matrix(X, reset=reset, finite=finite)
        return to_dense(X) if grows_here(self._template()) else X

    @with_callbacks
    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit members round by round."""
        check.whole(n_estimators=self.n_estimators)
        check.positive(learning_rate=self.learning_rate)
        check_inner(self, self._template(), "fit", "predict")
        rows = self._check_training(X, y, sample_weight)
        kept = np.flatnonzero(rows.w > 0)
        table = rows.X if len(kept) == len(rows.w) else rows.X[kept]
        self.classes_, codes = encode_labels(self.classes_[rows.y[kept]])
        self.n_classes_ = len(self.classes_)
        self.estimator_ = self._template()
        seed = int(generator(self.random_state).integers(2**62))
        learner = make_learner(self.estimator_, self, table, codes, seed)
        rounds = Rounds(learner, codes, rows.w[kept], self.n_classes_, self.learning_rate)
        if rounds.ending:
            what = f"{type(self.estimator_).__name__} has the weighted error {rounds.error:.4g}"
            chance = f"no better than chance among {self.n_classes_} classes"
            raise ValueError(f"the first {what}, {chance} or worse than random: nothing to boost")
        last, data = self.n_estimators, {"X": X, "y": y, "sample_weight": sample_weight}
        context = FitContext(self, **data, max_steps=last, attributes=Rounds.attributes)
        self._run(rounds, context)
        return self

    def _run(self, rounds: Rounds, context: FitContext) -> None:
        last = self.n_estimators

        def step(state: Rounds) -> tuple[Rounds, float]:
            return state, state.step(last).error

        def stop(_: object) -> bool:
            return bool(rounds.ending)

        loop: dict[str, Any] = {"record": Rounds.record, "context": context, "stop": stop}
        self._iterate(step, rounds, max_iter=last, tol=None, **loop)
        found = rounds.attributes()
        self.estimators_ = found["estimators_"]
        self.estimator_weights_ = found["estimator_weights_"]
        self.estimator_errors_ = found["estimator_errors_"]
        if rounds.ending == "chance":
            warn(
                f"AdaBoostClassifier stopped after {len(self.estimators_)} rounds: the next "
                f"member has the weighted error {rounds.error:.4g}, no better than chance"
            )

    @property
    def alphas_(self) -> Array:
        """The weights of the members in the scale of the course."""
        check_is_fitted(self)
        return self.estimator_weights_ / 2

    def _votes(self, X: Any) -> Array:
        """The weight of the votes for every class, (n, K)."""
        K = self.n_classes_
        ours = all(type(model) is DecisionTreeClassifier for model in self.estimators_)
        if ours:  # all trees are walked at once
            forest = join_trees([model.tree_ for model in self.estimators_])
            weight = np.repeat(self.estimator_weights_, np.diff(forest.start))
            value = np.eye(K)[forest.value.argmax(axis=1)] * weight[:, None]
            return forest._replace(value=value).sum_values(X)
        V = np.zeros((X.shape[0], K))
        for said, weight in zip(self._said(X), self.estimator_weights_, strict=True):
            V[np.arange(len(V)), said] += weight
        return V

    def _said(self, X: ArrayLike) -> Iterator[IntArray]:
        """The codes that each member says."""
        for model in self.estimators_:
            yield np.searchsorted(self.classes_, model.predict(X))

    def _decision(self, V: Array, total: float) -> Array:
        if self.n_classes_ == 1:
            return np.zeros((len(V), 1))
        if self.n_classes_ == 2:
            return 2 * (V[:, 1] - V[:, 0]) / total
        return (V - (total - V) / (self.n_classes_ - 1)) / total

    def _proba(self, decision: Array) -> Array:
        if self.n_classes_ == 1:
            return np.ones((len(decision), 1))
        if self.n_classes_ == 2:
            return softmax(np.stack([-decision, decision], axis=1) / 2, axis=1)
        return softmax(decision / (self.n_classes_ - 1), axis=1)

    def decision_function(self, X: ArrayLike) -> Array:
        """Weighted votes: (n,) for two classes, larger means ``classes_[1]``; else (n, K)."""
        rows = self._check_input(X)
        return self._decision(self._votes(rows), float(self.estimator_weights_.sum()))

    def predict_proba(self, X: ArrayLike) -> Array:
        """Softmax of the votes; a score more than a probability."""
        return self._proba(self.decision_function(X))

    def predict_log_proba(self, X: ArrayLike) -> Array:
        """Logarithms of ``predict_proba``."""
        return np.log(self.predict_proba(X))

    def predict(self, X: ArrayLike) -> Any:
        """The class with most weight of votes; the first of equals."""
        rows = self._check_input(X)
        return self.classes_[self._votes(rows).argmax(axis=1)]

    def _staged(self, X: ArrayLike) -> Iterator[tuple[Array, float]]:
        rows = self._check_input(X)
        V, total = np.zeros((rows.shape[0], self.n_classes_)), 0.0
        for said, weight in zip(self._said(rows), self.estimator_weights_, strict=True):
            V[np.arange(len(V)), said] += weight
            total += float(weight)
            yield V, total

    def staged_decision_function(self, X: ArrayLike) -> Iterator[Array]:
        """``decision_function`` after every round."""
        for V, total in self._staged(X):
            yield self._decision(V, total)

    def staged_predict_proba(self, X: ArrayLike) -> Iterator[Array]:
        """``predict_proba`` after every round."""
        for decision in self.staged_decision_function(X):
            yield self._proba(decision)

    def staged_predict(self, X: ArrayLike) -> Iterator[Any]:
        """``predict`` after every round."""
        for V, _ in self._staged(X):
            yield self.classes_[V.argmax(axis=1)]

    def staged_score(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> Iterator[float]:
        """Accuracy after every round."""
        for said in self.staged_predict(X):
            yield accuracy_score(y, said, sample_weight=sample_weight)

    def card(self) -> Card:
        """Representation, evaluation and optimisation of this fit, with its numbers."""
        check_is_fitted(self)
        last = self.history_[-1]
        kind = type(self.estimator_).__name__
        numbers = {
            "rounds": len(self.estimators_),
            "training error": last["train_error"],
            "mean exponential loss": last["objective"],
        }
        if self.n_classes_ == 2:
            numbers["bound of the training error"] = last["objective"]
        two = self.n_classes_ == 2
        loss = "exp(-y F)" if two else f"exp(-Y.F/{self.n_classes_}), Y 1 at the own class"
        loss += "" if two else f" and -1/{self.n_classes_ - 1} at the others (SAMME)"
        step = "1/2 ln((1 - eps)/eps)" + ("" if two else f" + 1/2 ln({self.n_classes_ - 1})")
        rate = "" if self.learning_rate == 1 else f", times learning_rate = {self.learning_rate:g}"
        return Card(
            representation=f"the weighted vote of {len(self.estimators_)} {kind}",
            evaluation=f"mean exponential loss {loss}, the product of the rounds' normalisers",
            optimisation="coordinate descent: each round adds one member for the rows weighted by "
            f"their loss, with the best step alpha = {step}{rate}",
            numbers=numbers,
        )
