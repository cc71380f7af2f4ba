r"""Ranking by pairs: a classifier of differences.

    y_i > y_j in the same group   =>   want  w.x_i > w.x_j,  that is  w.(x_i - x_j) > 0
    rows  x_i - x_j  (class 1)  and  x_j - x_i  (class 0),   no intercept

A linear classifier without intercept of these rows is a scoring rule: f(x) = w.x. With log loss
this is the Bradley-Terry model of the comparisons; with the hinge, the ranking SVM. In order of
group and y the rows below row i are contiguous, so pair number q is found by bisection and
``max_pairs`` of them can be drawn without listing the rest.

    score = (concordant + tied / 2) / comparable      O(n log n): inversions by merging

References: Herbrich, Graepel & Obermayer (2000); Joachims (2002).
"""

from typing import NamedTuple, Self

import numpy as np
from scipy.sparse import issparse, vstack
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone
from sklearn.utils.validation import check_consistent_length, check_is_fitted, column_or_1d

from pellucid.base import Regressor, check_number_target, with_callbacks
from pellucid.compiled.counts.inversions import inversions
from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike, IntArray, Rng, Seed
from pellucid.core.loops.iterate import FitContext
from pellucid.core.meta import fitted
from pellucid.core.records import Card
from pellucid.core.runtime.random import generator
from pellucid.linear.logistic.logistic import LogisticRegression

NO_PAIR = "no pair of rows of one group differs in y: nothing can be compared"


class Comparable(NamedTuple):
    """Comparable pairs without a list: row ``order[i]`` beats ``below[i]`` rows from ``start[i]``.

    ``order`` sorts by group, then y; ``before[i]`` counts the pairs of the rows before i.
    """

    order: IntArray
    start: IntArray  # first place of the group
    below: IntArray  # rows of the group with smaller y
    before: IntArray
    total: int


def comparable_pairs(y: Array, groups: IntArray) -> Comparable:
    """Which pairs can be compared: same group, different y."""
    order = np.lexsort((y, groups))
    g, t = groups[order], y[order]
    place = np.arange(len(y))
    new_group = np.append(True, g[1:] != g[:-1])
    new_value = new_group | np.append(True, t[1:] != t[:-1])
    start = np.maximum.accumulate(np.where(new_group, place, 0))
    below = np.maximum.accumulate(np.where(new_value, place, 0)) - start
    before = np.cumsum(below) - below
    return Comparable(order, start, below, before, int(below.sum()))


def pick_pairs(pairs: Comparable, max_pairs: int | None, rng: Rng) -> tuple[IntArray, IntArray]:
    """Rows (winner, loser) of all pairs, or of ``max_pairs`` drawn without replacement."""
    if max_pairs is None or max_pairs >= pairs.total:
        i = np.repeat(np.arange(len(pairs.order)), pairs.below)
        number = np.arange(pairs.total)
    else:
        number = np.sort(rng.choice(pairs.total, size=max_pairs, replace=False, shuffle=False))
        i = np.searchsorted(pairs.before, number, side="right") - 1
    j = pairs.start[i] + number - pairs.before[i]
    return pairs.order[i], pairs.order[j]


def concordance(score: Array, y: Array, groups: IntArray) -> float:
    """Share of comparable pairs that the score puts in order; equal scores count one half.

    >>> concordance(np.array([1.0, 2.0, 2.0]), np.array([0.0, 1.0, 2.0]), np.zeros(3, dtype=int))
    0.8333333333333334
    """
    pairs = comparable_pairs(y, groups)
    if pairs.total == 0:
        raise ValueError(NO_PAIR)
    _, rank = np.unique(score, return_inverse=True)
    key = groups * (rank.max() + 1) + rank  # scores of different groups never meet
    order = np.lexsort((key, y, groups))
    discordant = int(inversions(key[order].astype(np.float64)))
    tied = _equal_pairs(key) - _equal_pairs(_codes(key, y))
    return (pairs.total - discordant - 0.5 * tied) / pairs.total


def _codes(a: IntArray, b: Array) -> IntArray:
    _, code = np.unique(b, return_inverse=True)
    return a * (code.max() + 1) + code


def _equal_pairs(key: IntArray) -> int:
    count = np.unique(key, return_counts=True)[1].astype(np.int64)
    return int((count * (count - 1) // 2).sum())


def rank_within(score: Array, groups: IntArray) -> IntArray:
    """1 for the largest score of each group; equal scores share the better rank."""
    pairs = comparable_pairs(-score, groups)
    ranks = np.empty(len(score), dtype=np.int64)
    ranks[pairs.order] = 1 + pairs.below
    return ranks


class PairwiseRanker(MetaEstimatorMixin, Regressor):
    """A linear score that puts rows in the order of y, learnt from pairs.

    Parameters
    ----------
    estimator : linear classifier, default=None
        With ``coef_``; fitted to differences without an intercept (``fit_intercept`` is set to
        False where it exists). None: ``LogisticRegression``.
    max_pairs : int or None, default=None
        At most this many pairs, drawn at random without replacement; None: all.
    random_state : int, RandomState, Generator or None, default=None
        For the draw of ``max_pairs``.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
    estimator_ : fitted estimator
    n_pairs_ : int
        Pairs used; each gives two rows, one of either sign.
    n_comparable_ : int
        Pairs there are.

    Examples
    --------
    >>> from pellucid import PairwiseRanker
    >>> X, y = [[0.0, 5.0], [1.0, 1.0], [2.0, 4.0], [3.0, 0.0]], [0, 1, 2, 3]
    >>> model = PairwiseRanker().fit(X, y)
    >>> model.rank(X), model.score(X, y), model.n_pairs_
    (array([4, 3, 2, 1]), 1.0, 6)
    """

    _multi_output = False
    _accepts_sparse = True

    def __init__(
        self,
        estimator: BaseEstimator | None = None,
        *,
        max_pairs: int | None = None,
        random_state: Seed = None,
    ) -> None:
        self.estimator = estimator
        self.max_pairs = max_pairs
        self.random_state = random_state

    @with_callbacks
    def fit(self, X: ArrayLike, y: ArrayLike, groups: ArrayLike | None = None) -> Self:
        """Learn the score from pairs of rows of one group."""
        if self.max_pairs is not None:
            check.whole(max_pairs=self.max_pairs)
        rows = self._check_training(X, y)
        context = FitContext(self, X=X, y=y)
        pairs = comparable_pairs(rows.y, group_codes(groups, rows.n_rows))
        if pairs.total == 0:
            raise ValueError(f"{NO_PAIR} (n_samples={rows.n_rows})")
        better, worse = pick_pairs(pairs, self.max_pairs, generator(self.random_state))
        D = rows.X[better] - rows.X[worse]
        both = vstack([D, -D], format="csr") if issparse(D) else np.concatenate([D, -D])
        labels = np.repeat([1, 0], len(better))
        model = LogisticRegression() if self.estimator is None else clone(self.estimator)
        if "fit_intercept" in model.get_params(deep=False):
            model.set_params(fit_intercept=False)
        self.estimator_ = fitted(model, both, labels)
        self.coef_ = self._direction(rows.X.shape[1])
        self.n_pairs_, self.n_comparable_ = len(better), pairs.total
        context.end()
        return self

    def _direction(self, p: int) -> Array:
        coef = getattr(self.estimator_, "coef_", None)
        if coef is None or np.size(coef) != p:
            what = "a linear classifier with coef_ of one number per column"
            raise ValueError(f"PairwiseRanker needs {what}, got {self.estimator_}")
        return np.array(coef, dtype=np.float64).ravel()

    def predict(self, X: ArrayLike) -> Array:
        """The score w.x: larger ranks higher; only differences within a group mean something."""
        return np.asarray(self._check_input(X) @ self.coef_)

    def rank(self, X: ArrayLike, groups: ArrayLike | None = None) -> IntArray:
        """Ranks within each group, 1 = best; equal scores share the better rank."""
        score = self.predict(X)
        return rank_within(score, group_codes(groups, len(score)))

    def score(self, X: ArrayLike, y: ArrayLike, groups: ArrayLike | None = None) -> float:
        """Share of comparable pairs in the right order; equal scores count one half."""
        score = self.predict(X)
        y = check_number_target(y, len(score), False, self)
        return concordance(score, y, group_codes(groups, len(score)))

    def _state_shapes(self) -> dict[str, tuple[int, ...]]:
        return {"coef_": (self.n_features_in_,)}

    def card(self) -> Card:
        """Representation, evaluation and optimisation of this fit, with its numbers."""
        check_is_fitted(self)
        inner = type(self.estimator_).__name__
        share = "all" if self.n_pairs_ == self.n_comparable_ else "a random part of the"
        pairs = {"pairs": self.n_pairs_, "comparable pairs": self.n_comparable_}
        return Card(
            representation=f"f(x) = w.x, rows ordered by f within their group; w from {inner}",
            evaluation=f"that of {inner} on the differences of {share} comparable pairs, "
            "both signs, no intercept",
            optimisation=f"one fit of {2 * self.n_pairs_} differences",
            numbers={**pairs, "rows of the fit": 2 * self.n_pairs_},
        )


def group_codes(groups: ArrayLike | None, n: int) -> IntArray:
    """The group of each row as a number; None: all rows are one group."""
    if groups is None:
        return np.zeros(n, dtype=np.int64)
    groups = column_or_1d(groups)
    check_consistent_length(np.empty(n), groups)
    return np.unique(groups, return_inverse=True)[1].astype(np.int64)
