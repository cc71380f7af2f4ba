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

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from pellucid.core.typing import Array


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

    def __init__(self, categorical: Any = None, ranges: Any = None, w: Any = None) -> None:
        self.categorical = categorical
        self.ranges = ranges
        self.w = w


def column_mask(categorical: Any, d: int) -> Array:
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
        raise ValueError(
            f"categorical must be a mask or numbers of {d} columns (names need a frame), "
            f"got {categorical!r}"
        )
    mask = np.zeros(d, bool)
    mask[given.astype(np.intp)] = True
    return mask


def column_ranges(X: Array) -> Array:
    """Largest minus smallest number of each column; 0 for a column without any."""
    there = ~np.isnan(X)
    low = np.where(there, X, np.inf).min(axis=0)
    high = np.where(there, X, -np.inf).max(axis=0)
    return np.where(there.any(axis=0), high - low, 0.0)


def known_ranges(ranges: Any, X: Array) -> Array:
    """Those given, or those of the training rows."""
    if ranges is None:
        return column_ranges(X)
    R = np.asarray(ranges, dtype=np.float64)
    if R.shape != (X.shape[1],) or not (np.isfinite(R) & (R >= 0)).all():
        raise ValueError(
            f"ranges must hold {X.shape[1]} finite numbers >= 0, one per column, got {R.tolist()}"
        )
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
    total, lost = np.zeros((len(A), len(B))), np.zeros((len(A), len(B)))
    for t in np.flatnonzero(w > 0):
        a, b = A[:, t, None], B[None, :, t]
        no_a, no_b = np.isnan(a), np.isnan(b)
        if categorical[t]:
            step = w[t] * (a != b)
        elif ranges[t] > 0:
            step = np.abs(a - b)
            step *= w[t] / ranges[t]
        else:
            step = np.zeros(total.shape)  # a constant column
        if no_a.any() or no_b.any():
            absent = no_a | no_b
            step[absent] = 0.0
            lost += w[t] * absent
        total += step
    left = w.sum() - lost
    left[left <= 1e-12 * w.sum()] = np.nan
    total /= left
    return total
