r"""Weight, mean and centred sum of squares of every column within every class.

For class k and column j, over the rows i of class k whose cell x_ij is not missing (NaN),

    W_kj = sum w_i,     m_kj = sum w_i x_ij / W_kj,     S_kj = sum w_i (x_ij - m_kj)^2.

A leaf is swept twice while it is in cache: once for the means, once for the squares. Sums are
taken from the first value of the class, so a constant column has S = 0 exactly, and data far
from the origin lose no digits. Leaves are merged by Chan, Golub & LeVeque (1979), cell by cell.

Only sums in a fixed order, never re-associated: the same bits on every machine. A value that is
not finite, weighted or not, leaves a mean or a sum that is not finite.    O(n p), one read of X.
"""

from typing import Any, NamedTuple

import numpy as np

from pellucid.core.arrays.tensors import namespace
from pellucid.core.arrays.typing import Array
from pellucid.core.loops.device import DeviceRows, cross, on_device
from pellucid.core.loops.statistics import Rows, is_unit
from pellucid.core.runtime.jit import jit


class ClassMoments(NamedTuple):
    """Moments of the columns within each class; a cell without rows is (0, 0, 0)."""

    total: Array  # (K,)  sum of the weights of the rows
    weight: Array  # (K, p)  the same without the missing cells
    mean: Array  # (K, p)
    scatter: Array  # (K, p)  centred sum of squares


@jit
def complete_moments(X, c, w, count, weight, mean, scatter):
    """Fill the moments of one leaf; False if some cell is missing or not finite.

    X (n, p), c (n,) class codes, w (n,); count (K,) and weight, mean, scatter (K, p) are 0 on
    entry. On False only ``count`` is right.
    """
    n, p = X.shape
    K = len(count)
    started = np.zeros(K, np.bool_)
    for i in range(n):
        k = c[i]
        count[k] += w[i]
        if not started[k]:
            started[k] = True
            mean[k] = X[i]
    for i in range(n):
        k = c[i]
        x, m, s = X[i], mean[k], scatter[k]
        weight_i = w[i]
        for j in range(p):
            s[j] += weight_i * (x[j] - m[j])  # for now the sum of the differences

    clean = True
    for k in range(K):
        for j in range(p):
            clean &= bool(np.isfinite(scatter[k, j]))
            weight[k, j] = count[k]
            mean[k, j] = mean[k, j] + scatter[k, j] / count[k] if count[k] > 0 else 0.0
            scatter[k, j] = 0.0
    if not clean:
        return False

    for i in range(n):
        k = c[i]
        x, m, s = X[i], mean[k], scatter[k]
        weight_i = w[i]
        for j in range(p):
            d = x[j] - m[j]
            s[j] += weight_i * (d * d)
    return True


@jit
def incomplete_moments(X, c, w, weight, mean, scatter):
    """Fill the moments of one leaf over the cells that are not NaN; all arrays are overwritten."""
    n, p = X.shape
    K = len(weight)
    weight[:] = 0.0
    mean[:] = np.nan
    scatter[:] = 0.0
    for i in range(n):
        x, m = X[i], mean[c[i]]
        for j in range(p):
            m[j] = x[j] if np.isnan(m[j]) else m[j]  # the first value seen
    for i in range(n):
        k = c[i]
        x, m, s, v = X[i], mean[k], scatter[k], weight[k]
        weight_i = w[i]
        for j in range(p):
            seen = x[j] == x[j]
            s[j] += weight_i * (x[j] - m[j]) if seen else 0.0
            v[j] += weight_i if seen else 0.0

    for k in range(K):
        for j in range(p):
            if weight[k, j] > 0:
                mean[k, j] += scatter[k, j] / weight[k, j]
            else:
                mean[k, j] = scatter[k, j]  # 0, or NaN where a weightless cell is infinite
            scatter[k, j] = 0.0

    for i in range(n):
        k = c[i]
        x, m, s = X[i], mean[k], scatter[k]
        weight_i = w[i]
        for j in range(p):
            d = x[j] - m[j]
            s[j] += weight_i * (d * d) if x[j] == x[j] else 0.0


@jit
def merge_cells(Wa, ma, Sa, Wb, mb, Sb, W, m, S):
    """Chan's rule in every cell of (K, p); an empty cell has mean 0 and leaves the other as is."""
    for k in range(W.shape[0]):
        for j in range(W.shape[1]):
            a, b = Wa[k, j], Wb[k, j]
            W[k, j] = a + b
            if a == 0 or b == 0:
                m[k, j] = ma[k, j] + mb[k, j]
                S[k, j] = Sa[k, j] + Sb[k, j]
            else:
                gap = mb[k, j] - ma[k, j]
                m[k, j] = ma[k, j] + gap * (b / (a + b))
                S[k, j] = Sa[k, j] + Sb[k, j] + gap * gap * (a * (b / (a + b)))


def class_moments(rows: Rows, n_classes: int) -> ClassMoments:
    """Moments of one leaf whose target holds class codes 0..n_classes-1.

    >>> X, c = np.array([[1.0], [2.0], [3.0], [np.nan]]), np.array([0, 0, 1, 1])
    >>> class_moments(Rows(X, c, np.ones(4)), 2).weight.tolist()
    [[2.0], [1.0]]
    """
    X = rows.X if rows.X.flags.writeable else rows.X.copy()  # a read-only array would recompile
    c = rows.y if rows.y.flags.writeable else rows.y.copy()
    w = np.ones(len(X)) if is_unit(rows.w) else np.array(rows.w)
    shape = (n_classes, X.shape[1])
    found = ClassMoments(np.zeros(n_classes), np.zeros(shape), np.zeros(shape), np.zeros(shape))
    if not complete_moments(X, c, w, *found):
        incomplete_moments(X, c, w, *found[1:])
    return found


@on_device(class_moments)
def device_class_moments(rows: DeviceRows, n_classes: int) -> ClassMoments:
    """Moments of tensors, which have no missing cells."""
    codes = rows.y if n_classes > 1 else None
    return tensor_class_moments(rows.X, codes, rows.weights(), n_classes)


def tensor_class_moments(X: Any, codes: Any, w: Any, n_classes: int) -> ClassMoments:
    """Moments of the columns of a tensor within each class; ``codes`` None: one class."""
    xp = namespace(X)
    origin = X[:1, :]
    C = X - origin
    if codes is None:
        R = w[:, None]
    else:
        mine = codes[:, None] == xp.arange(n_classes, device=X.device)[None, :]
        R = xp.where(mine, w[:, None], xp.zeros_like(w[:, None]))
    total = xp.sum(R, axis=0)  # (K,)
    safe = xp.where(total > 0, total, xp.ones_like(total))[:, None]
    offset = cross(R, C) / safe  # (K, p)
    V = C - (offset if codes is None else xp.take(offset, codes, axis=0))
    scatter = cross(R, V * V)
    empty = (total > 0)[:, None]
    mean = xp.where(empty, origin + offset, xp.zeros_like(offset))
    weight = xp.broadcast_to(total[:, None], mean.shape)
    return ClassMoments(total, weight, mean, scatter)


def merge_class_moments(a: ClassMoments, b: ClassMoments) -> ClassMoments:
    """Moments of two disjoint sets of rows taken together."""
    merged = (np.empty_like(a.mean), np.empty_like(a.mean), np.empty_like(a.mean))
    merge_cells(*a[1:], *b[1:], *merged)
    return ClassMoments(a.total + b.total, *merged)
