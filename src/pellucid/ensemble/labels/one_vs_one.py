r"""Every pair of classes against each other.

    K(K-1)/2 fits on the rows of classes i and j only; each votes for one of its two classes
    d_k = votes_k + c_k / (3 (|c_k| + 1)),   c_k = sum of the scores in favour of k, each
                                             counted from its threshold
    predict argmax_k d_k: most votes, equal votes by the summed confidence, which can never
    outweigh a vote

A pair has about 2n/K rows, so all fits together read (K-1) n rows: when training costs n^q with
q > 1 (kernels), this is the cheaper scheme by about (K/2)^(q-1).

References: Hastie & Tibshirani (1998); Knerr et al. (1990).
"""

from itertools import combinations
from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone, is_regressor
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import _safe_split
from sklearn.utils.multiclass import _check_partial_fit_first_call
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import _num_samples, check_is_fitted

from pellucid.base import Classifier, with_callbacks
from pellucid.core.arrays.typing import Array, ArrayLike, BoolArray, IntArray
from pellucid.core.meta import binary_score, rows_of, score_threshold
from pellucid.core.records import Card
from pellucid.ensemble.labels.meta_classifier import (
    MetaClassifier,
    fit_binary,
    n_classes,
    n_classifiers,
    take_rows,
)
from pellucid.ensemble.labels.one_vs_rest import go_on_binary, inner_has

NEAR = 1e-9  # scores this near the threshold are decided by ``predict`` itself


class Votes(NamedTuple):
    """Votes and summed scores of the pairs."""

    votes: Array  # (n, K)
    confidence: Array  # (n, K)


def count_votes(wins: BoolArray, scores: Array, K: int) -> Votes:
    """Sum over the pairs (i, j), i < j: ``wins`` says whether j won, ``scores`` by how much.

    >>> count_votes(np.array([[True, True, False]]), np.array([[0.5, 2.0, -1.0]]), 3)
    Votes(votes=array([[0., 2., 1.]]), confidence=array([[-2.5,  1.5,  1. ]]))
    """
    votes, confidence = np.zeros((len(scores), K)), np.zeros((len(scores), K))
    for pair, (i, j) in enumerate(combinations(range(K), 2)):
        votes[:, j] += wins[:, pair]
        votes[:, i] += ~wins[:, pair]
        confidence[:, j] += scores[:, pair]
        confidence[:, i] -= scores[:, pair]
    return Votes(votes, confidence)


def duel(model: BaseEstimator, X: ArrayLike) -> tuple[Any, Array]:
    """Whether the second class wins, and by how much the score passes the threshold, row by row.

    A classifier of this library that is no meta-estimator predicts by the sign of its score, so
    one call gives both; rows next to the threshold and all other models are asked for ``predict``.
    """
    score = binary_score(model, X) - score_threshold(model)
    if is_regressor(model):
        return score > 0, score
    plain = isinstance(model, Classifier) and not isinstance(model, MetaEstimatorMixin)
    if not plain or getattr(model, "loss_matrix", None) is not None:
        return np.asarray(model.predict(X) == 1), score
    wins = score > 0
    near = np.flatnonzero(np.abs(score) <= NEAR)
    if len(near):
        wins[near] = model.predict(take_rows(X, near)) == 1
    return wins, score


class OneVsOneClassifier(MetaClassifier):
    """Any binary classifier for K classes: every pair plays, most votes win.

    Parameters
    ----------
    estimator : classifier or regressor
        With ``fit`` and ``decision_function``, ``predict_proba`` or (regressors) ``predict``.
    n_jobs : int or None, default=None
        Fits at the same time, by joblib; the model is the same for any number.

    Attributes
    ----------
    estimators_ : tuple of fitted estimators
        In the order (0, 1), (0, 2), ..., (K-2, K-1); 1 stands for the later class of a pair.
    classes_ : ndarray of shape (n_classes,)
    n_classes_, n_classifiers_ : int
    pairwise_indices_ : tuple or None
        The rows of each pair where X is a Gram matrix.

    Examples
    --------
    >>> from pellucid import GaussianNB, OneVsOneClassifier
    >>> X, y = [[0, 1], [1, 0], [4, 1], [5, 0], [2, 4], [3, 6]], list("aabbcc")
    >>> model = OneVsOneClassifier(GaussianNB()).fit(X, y)
    >>> model.predict([[0, 0], [2, 5]]).tolist(), model.votes([[0, 0]])
    (['a', 'c'], array([[2., 0., 1.]]))
    """

    def __init__(self, estimator: BaseEstimator, *, n_jobs: int | None = None) -> None:
        self.estimator = estimator
        self.n_jobs = n_jobs

    @with_callbacks
    def fit(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None, **fit_params: Any
    ) -> Self:
        """Fit one classifier per pair of classes; ``fit_params`` go to each."""
        X, _, params, context = self._begin(X, y, sample_weight, fit_params)
        codes = self._open_labels(X, y)
        self._refuse_cells(X)
        rows = [np.flatnonzero(codes == k) for k in range(len(self.classes_))]
        names = [str(label) for label in self.classes_]
        pairs = [
            Pair(np.sort(np.concatenate([rows[i], rows[j]])), j, (names[i], names[j]))
            for i, j in combinations(range(len(names)), 2)
        ]
        self.estimators_ = tuple(fit_pairs(self, X, codes, pairs, params))
        self.pair_sizes_ = np.array([len(pair.rows) for pair in pairs])
        pairwise = get_tags(self).input_tags.pairwise
        self.pairwise_indices_ = tuple(pair.rows for pair in pairs) if pairwise else None
        context.end()
        return self

    @inner_has("partial_fit")
    def partial_fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        **params: Any,
    ) -> Self:
        """Go on fitting with more rows; the first call names all ``classes``."""
        first = _check_partial_fit_first_call(self, classes)
        pairs = list(combinations(range(len(self.classes_)), 2))
        if first:
            self.estimators_ = tuple(clone(self.estimator) for _ in pairs)
            self.pair_sizes_ = np.zeros(len(pairs), dtype=np.intp)
        X = self._open(X, reset=first)
        params = self._route("partial_fit", sample_weight, params, _num_samples(X))
        codes, models = self._known_codes(y, _num_samples(X)), list(self.estimators_)
        for place, (i, j) in enumerate(pairs):
            indices = np.flatnonzero((codes == i) | (codes == j))
            if len(indices):
                target = (codes[indices] == j).astype(np.int64)
                own = rows_of(params, X, indices)
                models[place] = go_on_binary(models[place], take_rows(X, indices), target, own)
                self.pair_sizes_[place] += len(indices)
        self.estimators_ = tuple(models)
        self.pairwise_indices_ = None
        return self

    def _votes(self, X: Any) -> Votes:
        X = self._open(X, reset=False)
        indices = self.pairwise_indices_ or [None] * len(self.estimators_)
        duels = [
            duel(model, X if columns is None else X[:, columns])
            for model, columns in zip(self.estimators_, indices, strict=True)
        ]
        wins = np.column_stack([won for won, _ in duels])
        return count_votes(wins, np.column_stack([s for _, s in duels]), len(self.classes_))

    def votes(self, X: ArrayLike) -> Array:
        """How many of its K-1 duels each class wins, (n, K)."""
        return self._votes(X).votes

    def decision_function(self, X: ArrayLike) -> Array:
        """Votes plus confidence squeezed into (-1/3, 1/3), (n, K); (n,) for two classes."""
        votes, c = self._votes(X)
        D = votes + c / (3.0 * (np.abs(c) + 1.0))
        return D[:, 1] if D.shape[1] == 2 else D

    def predict(self, X: Any) -> Any:
        """The class with most votes."""
        D = self.decision_function(X)
        if D.ndim == 1:
            return self.classes_[(D > 0.5).astype(np.intp)]  # the one vote
        return self.classes_[D.argmax(axis=1)]

    n_classes_ = n_classes
    n_classifiers_ = n_classifiers

    def card(self) -> Card:
        """Representation, evaluation and optimisation of this fit, with its numbers."""
        check_is_fitted(self)
        sizes = self.pair_sizes_
        return Card(
            representation=f"one {type(self.estimator).__name__} per pair of classes; most votes "
            "win, equal votes by summed confidence",
            evaluation="that of the inner estimator, each pair on its own rows only",
            optimisation=f"{self.n_classifiers_} independent fits of {sizes.min()} to "
            f"{sizes.max()} rows (cheaper than one-vs-rest when the cost of a fit grows faster "
            "than its rows)",
            numbers=pair_numbers(self),
        )


def pair_numbers(model: MetaClassifier) -> dict[str, int]:
    """The numbers of the card of a model of pairs."""
    K, sizes = len(model.classes_), model.pair_sizes_
    return {"classes": K, "fits": len(model.estimators_), "rows in all fits": int(sizes.sum())}


class Pair(NamedTuple):
    """Two classes and their rows; ``positive`` is the code that becomes 1."""

    rows: IntArray
    positive: int
    names: tuple[str, str]


def fit_pairs(
    owner: MetaClassifier, X: ArrayLike, codes: IntArray, pairs: list[Pair], params: dict[str, Any]
) -> list[Any]:
    """A copy for every pair, ``n_jobs`` at a time."""
    fit = delayed(fit_pair)
    jobs = (fit(owner.estimator, X, codes, pair, params) for pair in pairs)
    return Parallel(n_jobs=owner.n_jobs)(jobs)


def fit_pair(
    estimator: BaseEstimator, X: ArrayLike, codes: IntArray, pair: Pair, params: dict[str, Any]
) -> Any:
    """A copy fitted to the rows of two classes."""
    part = _safe_split(estimator, X, None, indices=pair.rows)[0]
    target = (codes[pair.rows] == pair.positive).astype(np.int64)
    return fit_binary(estimator, part, target, rows_of(params, X, pair.rows), pair.names)
