r"""Gower's distance of rows that mix numbers and categories, with cells missing.

    d(a, b) = sum_t w_t m_t s_t / sum_t w_t m_t

    s_t = |a_t - b_t| / R_t   numbers, R_t the range of column t in the training rows
    s_t = [a_t != b_t]        categories
    m_t = 1 where both rows have the cell, else 0

So every column adds between 0 and 1 and missing cells are left out of numerator and denominator
alike. A constant column adds 0; rows that share no cell have no distance (NaN). A query outside
the training range may add more than 1. Without missing cells it is a metric.

Reference: Gower (1971), A general coefficient of similarity, Biometrics 27.
"""

import numpy as np
from sklearn.base import BaseEstimator

from pellucid.core.arrays.typing import Array, MaybeArray
from pellucid.core.runtime.threads import map_threads

BLOCK_VALUES = 1 << 16  # distances that are worked on at once: they stay in the cache


class Gower(BaseEstimator):
    """Gower's distance for mixed tables, a value for ``metric=``; 'gower' is its default.

    Parameters
    ----------
    categorical : mask, column numbers or column names, default=None
        Columns that are categories, beside the columns of words and categories of a frame.
    ranges : array of shape (n_features,), default=None
        What differences of numbers are divided by, ``>= 0``; None: the range of each column in
        the training rows. Those of categories are not looked at.
    w : array of shape (n_features,), default=None
        Weights of the columns, ``>= 0``; None: all 1.

    Examples
    --------
    >>> import polars
    >>> from pellucid.neighbors import Gower, pairwise_distances
    >>> table = polars.DataFrame({"age": [20, 30, None], "town": ["Ulm", "Rom", "Ulm"]})
    >>> pairwise_distances(table, metric=Gower())
    array([[0., 1., 0.],
           [1., 0., 1.],
           [0., 1., 0.]])
    """

    def __init__(
        self, categorical: MaybeArray = None, ranges: MaybeArray = None, w: MaybeArray = None
    ) -> None:
        self.categorical = categorical
        self.ranges = ranges
        self.w = w


def column_mask(categorical: MaybeArray, d: int) -> Array:
    """Which columns are categories, from a mask or from column numbers.

    >>> column_mask([1], 3)
    array([False,  True, False])
    """
    if categorical is None:
        return np.zeros(d, bool)
    given = np.asarray(categorical)
    if given.dtype.kind == "b" and given.shape == (d,):
        return given
    numbers = given.size == 0 or (given.dtype.kind in "iu" and given.ndim == 1)
    if not numbers or (given.size and not (given.min() >= 0 and given.max() < d)):
        what = f"a mask or numbers of {d} columns (names need a frame)"
        raise ValueError(f"categorical must be {what}, got {categorical!r}")
    mask = np.zeros(d, bool)
    mask[given.astype(np.intp)] = True
    return mask


def column_ranges(X: Array) -> Array:
    """Largest minus smallest number of each column; 0 for a column without any."""
    there = ~np.isnan(X)
    low = np.where(there, X, np.inf).min(axis=0)
    high = np.where(there, X, -np.inf).max(axis=0)
    return np.where(there.any(axis=0), high - low, 0.0)


def known_ranges(ranges: MaybeArray, X: Array) -> Array:
    """Those given, or those of the training rows."""
    if ranges is None:
        return column_ranges(X)
    R = np.asarray(ranges, dtype=np.float64)
    if R.shape != (X.shape[1],) or not (np.isfinite(R) & (R >= 0)).all():
        raise ValueError(f"ranges must hold {X.shape[1]} finite numbers >= 0, got {R.tolist()}")
    return R


def pairwise_gower(A: Array, B: Array, *, categorical: Array, ranges: Array, w: Array) -> Array:
    """The matrix of distances; NaN where two rows share no cell of positive weight.

    >>> A = np.array([[1.0, 0.0], [3.0, 1.0], [np.nan, 1.0]])
    >>> kinds = {"categorical": np.array([False, True]), "ranges": np.array([2.0, 0])}
    >>> pairwise_gower(A, A, **kinds, w=np.ones(2))
    array([[0., 1., 1.],
           [1., 0., 0.],
           [1., 0., 0.]])
    """
    out = np.empty((len(A), len(B)))
    step = max(1, BLOCK_VALUES // max(1, len(B)))
    columns = np.ascontiguousarray(B.T)

    def fill(start: int) -> None:
        gower_block(A[start : start + step], columns, categorical, ranges, w, out[start:])

    starts = range(0, len(A), step)
    list((map if len(starts) == 1 else map_threads)(fill, starts))
    return out


def gower_block(
    A: Array, B: Array, categorical: Array, ranges: Array, w: Array, out: Array
) -> None:
    """The first rows of ``out``: distances of few rows A and all columns B (d, n), in the cache."""
    total, lost = out[: len(A)], np.zeros((len(A), B.shape[1]))
    part = np.empty(total.shape)
    total[:] = 0.0
    for t in np.flatnonzero(w > 0):
        a, b = A[:, t, None], B[None, t]
        absent = np.isnan(a) | np.isnan(b)
        if categorical[t]:
            np.multiply(a != b, w[t], out=part)
        elif ranges[t] > 0:
            np.abs(np.subtract(a, b, out=part), out=part)
            part *= w[t] / ranges[t]
        else:
            part[:] = 0.0  # a constant column
        if absent.any():
            part[absent] = 0.0
            lost += w[t] * absent
        total += part
    left = w.sum() - lost
    left[left <= 1e-12 * w.sum()] = np.nan
    total /= left
