r"""B-splines: the values of the few functions that are not zero at a point.

On knots t_0 <= .. <= t_{n+k} there are n functions of degree k,

    B_{i,0}(x) = 1 if t_i <= x < t_{i+1},
    B_{i,k}(x) = (x - t_i)/(t_{i+k} - t_i) B_{i,k-1}
                 + (t_{i+k+1} - x)/(t_{i+k+1} - t_{i+1}) B_{i+1,k-1}

with 0/0 = 0; on [t_k, t_n] they sum to 1. At x in [t_l, t_{l+1}) only B_{l-k}..B_l are not zero:
k (k + 1)/2 steps (Cox 1972, de Boor 1972). The last interval is closed. Beyond the ends:

    constant    the values at the end
    linear      the values at the end, continued with their slopes
    continue    the polynomials of the last interval, as they are
    periodic    x modulo t_n - t_k, and the last k functions are the first k again
    error       refused

Derivative: B'_{i,k} = k (B_{i,k-1}/(t_{i+k} - t_i) - B_{i+1,k-1}/(t_{i+k+1} - t_{i+1})).
"""

import numpy as np

from pellucid.core.arrays.typing import Array
from pellucid.core.runtime.jit import jit

MODES = {"error": 0, "constant": 1, "linear": 2, "continue": 3, "periodic": 4}
MISSING, OUTSIDE = -1, -2


@jit
def find_interval(t, k, n, x):
    """The l in k..n-1 with t[l] <= x < t[l + 1]; the first or the last beyond the ends."""
    low, high = k, n  # t[low] <= x < t[high], as far as the ends allow
    while high - low > 1:
        middle = (low + high) // 2
        if x >= t[middle]:
            low = middle
        else:
            high = middle
    return low


@jit
def nonzero_splines(t, k, l, x, values):  # noqa: E741  the letter of the formula
    """values[0..k] = B_{l-k}(x) .. B_l(x)."""
    values[0] = 1.0
    for j in range(1, k + 1):
        saved = 0.0
        for r in range(j):
            left, right = t[l + 1 - j + r], t[l + r + 1]
            width = right - left
            share = values[r] / width if width > 0.0 else 0.0
            values[r] = saved + (right - x) * share
            saved = (x - left) * share
        values[j] = saved


@jit
def end_slopes(t, k, l, x, slopes):  # noqa: E741
    """slopes[0..k] = B'_{l-k}(x) .. B'_l(x)."""
    slopes[:] = 0.0
    if k == 0:
        return
    lower = np.empty(k + 1)
    nonzero_splines(t, k - 1, l, x, lower)  # of degree k - 1: functions l - k + 1 .. l
    for r in range(k):
        i = l - k + 1 + r
        width = t[i + k] - t[i]
        share = k * lower[r] / width if width > 0.0 else 0.0
        slopes[r + 1] += share
        slopes[r] -= share


@jit
def spline_cell(t, k, n, mode, ends, x, values):
    """Fill values[0..k] and return the first function they belong to, or MISSING or OUTSIDE.

    ends (4, k + 1): the values and the slopes at the lower end, then at the upper.
    """
    if x != x:
        return MISSING
    low, high = t[k], t[n]
    if mode == 4:
        period = high - low
        x = low + (x - low) % period if period > 0.0 else low
    elif x < low or x > high:
        if mode == 0:
            return OUTSIDE
        if mode == 1 or mode == 2:
            side, edge = (0, low) if x < low else (2, high)
            gap = x - edge if mode == 2 else 0.0
            for r in range(k + 1):
                values[r] = ends[side, r] + gap * ends[side + 1, r]
            return find_interval(t, k, n, edge) - k
    l = find_interval(t, k, n, x)  # noqa: E741  the letter of the formula
    nonzero_splines(t, k, l, x, values)
    return l - k


@jit
def dense_splines(X, T, k, mode, ends, wrap, keep, out):
    """out (n, p keep): the splines of every column; the number of the first bad cell, or -1.

    T (p, knots) and ends (p, 4, k + 1); functions beyond ``wrap`` are the first ones again, and of
    each column only the first ``keep`` are written. A missing cell has zeros.
    """
    m, p = X.shape
    n = T.shape[1] - k - 1
    values = np.empty(k + 1)
    for i in range(m):
        row = out[i]
        row[:] = 0.0
        for j in range(p):
            first = spline_cell(T[j], k, n, mode, ends[j], X[i, j], values)
            if first == OUTSIDE:
                return i * p + j
            if first >= 0:
                for r in range(k + 1):
                    c = first + r
                    c = c - wrap if c >= wrap else c
                    if c < keep:
                        row[j * keep + c] += values[r]
    return -1


@jit
def sparse_splines(X, T, k, mode, ends, wrap, keep, indices, data):
    """The same as CSR with k + 1 cells per column of X; those not wanted are 0."""
    m, p = X.shape
    n = T.shape[1] - k - 1
    values = np.empty(k + 1)
    for i in range(m):
        for j in range(p):
            first = spline_cell(T[j], k, n, mode, ends[j], X[i, j], values)
            if first == OUTSIDE:
                return i * p + j
            for r in range(k + 1):
                c = first + r
                c = c - wrap if c >= wrap else c
                wanted = first >= 0 and c < keep
                indices[i, j * (k + 1) + r] = j * keep + c if wanted else 0
                data[i, j * (k + 1) + r] = values[r] if wanted else 0.0
    return -1


def end_values(T: Array, k: int) -> Array:
    """(p, 4, k + 1): values and slopes of the functions at both ends, for every column.

    >>> end_values(np.array([[-1.0, 0.0, 1.0, 2.0]]), 1)[0]
    array([[ 1.,  0.],
           [-1.,  1.],
           [ 0.,  1.],
           [-1.,  1.]])
    """
    p, n = len(T), T.shape[1] - k - 1
    found = np.zeros((p, 4, k + 1))
    for t, ends in zip(T, found, strict=True):
        for side, edge in ((0, t[k]), (2, t[n])):
            l = find_interval(t, k, n, edge)  # noqa: E741
            nonzero_splines(t, k, l, edge, ends[side])
            end_slopes(t, k, l, edge, ends[side + 1])
    return found


def extend_knots(base: Array, k: int, *, periodic: bool) -> Array:
    """The knots (p, K + 2 k) with k more beyond each end: the end's spacing again, or the period.

    >>> extend_knots(np.array([[0.0], [1.0], [2.0]]), 1, periodic=False)
    array([[-1.,  0.,  1.,  2.,  3.]])
    """
    if periodic:
        period = base[-1] - base[0]
        before, after = base[-(k + 1) : -1] - period, base[1 : k + 1] + period
    else:
        steps = np.arange(1, k + 1)[:, None]
        before = (base[0] - steps * (base[1] - base[0]))[::-1]
        after = base[-1] + steps * (base[-1] - base[-2])
    return np.ascontiguousarray(np.vstack([before, base, after]).T)
