r"""Quantiles of the columns of a matrix, missing cells left out.

With the sorted values x_(0) <= .. <= x_(n-1) of a column and h = q (n - 1),

    Q(q) = x_(k) + (h - k) (x_(k+1) - x_(k)),    k = floor(h)

(Hyndman & Fan's type 7, the rule of NumPy). A weight stands for repetition: x_(k) is then the
value whose cumulative weight first exceeds k. Columns are gathered a few at a time and only the
ranks needed are put in place (introselect), O(n) per column.
"""

import numpy as np

from pellucid.core.arrays.typing import Array, IntArray
from pellucid.core.loops.statistics import is_unit
from pellucid.core.runtime.threads import map_threads

DENSE = 50  # values for each wanted rank: below, a sort is faster than many selections
GATHER = 8  # columns copied together: one cache line of a row holds as many


def column_quantiles(X: Array, q: Array, w: Array) -> Array:
    """(len(q), p) quantiles; NaN for a column without values.

    >>> column_quantiles(np.array([[1.0], [2.0], [np.nan], [4.0]]), np.array([0.5]), np.ones(4))
    array([[2.]])
    """
    p = X.shape[1]
    out = np.empty((len(q), p))

    def work(first: int) -> None:
        block = X[:, first : first + GATHER].T.copy()  # a copy: it is re-ordered in place
        for j, column in enumerate(block, start=first):
            out[:, j] = quantiles(column, q, w)

    list(map_threads(work, range(0, p, GATHER)))
    return out


def quantiles(x: Array, q: Array, w: Array) -> Array:
    """Quantiles of one column, which is re-ordered in place where the weights are equal.

    >>> quantiles(np.array([3.0, 1.0]), np.array([0.0, 0.5, 1.0]), np.array([2.0, 1.0]))
    array([1., 3., 3.])
    """
    if np.isnan(x.sum()):
        seen = ~np.isnan(x)
        x, w = x[seen], w[seen] if not is_unit(w) else w[: seen.sum()]
    if not is_unit(w):
        return weighted_quantiles(x, q, w)
    if len(x) == 0:
        return np.full(len(q), np.nan)
    h = q * (len(x) - 1)
    low = np.floor(h).astype(np.intp)
    high = np.minimum(low + 1, len(x) - 1)
    select(x, np.unique(np.concatenate([low, high])))
    return between(x[low], x[high], h - low)


def select(x: Array, ranks: IntArray) -> None:
    """Put the values of these sorted ranks in their places; the others lie between them.

    The middle rank first, then each side for itself: a single rank is the fast case of NumPy.

    >>> x = np.array([5.0, 3.0, 4.0, 1.0])
    >>> select(x, np.array([0, 2]))
    >>> x[[0, 2]]
    array([1., 4.])
    """
    if len(ranks) == 0:
        return
    if len(ranks) * DENSE > len(x):
        x.sort()
        return
    middle = len(ranks) // 2
    rank = ranks[middle]
    x.partition(rank)
    select(x[:rank], ranks[:middle])
    select(x[rank + 1 :], ranks[middle + 1 :] - rank - 1)


def weighted_quantiles(x: Array, q: Array, w: Array) -> Array:
    """Quantiles of one column whose values count w times."""
    order = np.argsort(x[w > 0], kind="stable")
    x, cumulative = x[w > 0][order], np.cumsum(w[w > 0][order])
    if len(x) == 0:
        return np.full(len(q), np.nan)
    h = q * max(cumulative[-1] - 1.0, 0.0)
    low = np.floor(h)
    at = [np.searchsorted(cumulative, rank, side="right") for rank in (low, low + 1.0)]
    low_value, high_value = (x[np.minimum(index, len(x) - 1)] for index in at)
    return between(low_value, high_value, h - low)


def median_ends(x: Array, w: Array | None = None, axis: int = 0) -> tuple[Array, Array]:
    """Lower and upper median along an axis; w has the leading axes of x, at least one above 0.

    A weight is a repetition, in any unit: half of the weight is met within rounding.

    >>> [end.item() for end in median_ends(np.array([9.0, 1.0, 5.0]), np.array([0.3, 0.1, 0.2]))]
    [5.0, 9.0]
    """
    n = x.shape[axis]
    w = np.ones(n) if w is None else w
    top = w.max(axis, keepdims=True)
    w = w / np.where(top > 0, top, 1.0)
    w = np.broadcast_to(w.reshape(w.shape + (1,) * (x.ndim - w.ndim)), x.shape)
    order = np.argsort(x, axis=axis, kind="stable")
    below = np.cumsum(np.take_along_axis(w, order, axis), axis=axis)
    half = 0.5 * below.take([-1], axis)
    slack = max(1e-12, n * np.finfo(np.float64).eps)  # what adding n weights may lose
    at = (below < half * (1 - slack)), (below <= half * (1 + slack))
    ranks = [np.minimum(less.sum(axis, keepdims=True), n - 1) for less in at]
    at_ranks = [np.take_along_axis(order, rank, axis) for rank in ranks]
    low, high = (np.take_along_axis(x, places, axis).squeeze(axis) for places in at_ranks)
    return low, high


def weighted_median(x: Array, w: Array | None = None, axis: int = 0) -> Array:
    """The median of the repeated values: the midpoint where half of the weight lies on each side.

    >>> weighted_median(np.array([[1.0], [2.0], [9.0]]), np.array([1.0, 1.0, 2.0]))
    array([5.5])
    """
    if w is None:
        return np.asarray(np.median(x, axis=axis))
    low, high = median_ends(x, w, axis)
    return np.asarray(np.where(low == high, low, 0.5 * low + 0.5 * high))  # no sum overflows


def between(low: Array, high: Array, share: Array) -> Array:
    """low + share (high - low), from the nearer end: monotone and exact at both."""
    gap = high - low
    return np.where(share < 0.5, low + share * gap, high - (1.0 - share) * gap)
