r"""Weight, mean and scatter matrix of every class: all that discriminant analysis asks of the rows.

    W_k = sum w_i,    m_k = sum w_i x_i / W_k,    S_k = sum w_i (x_i - m_k)(x_i - m_k)'

over the rows of class k. A leaf is put in the order of its classes once, and each class summed by
the tiles of ``core.algebra.gram``; leaves are merged by Chan, Golub & LeVeque (1979):

    m = m1 + (m2 - m1) W2/W,     S = S1 + S2 + (m2 - m1)(m2 - m1)' W1 W2/W.

With ``each=False`` only the sum of the S_k is kept, p x p numbers for any number of classes; with
many classes the rows of a leaf are centred by their means and summed at once.

Cost: n p^2/2 multiply-adds.
"""

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from pellucid.compiled.counts.moments import tensor_class_moments
from pellucid.core.algebra import gram
from pellucid.core.arrays.tensors import like, namespace
from pellucid.core.arrays.typing import Array, Map
from pellucid.core.loops.device import DeviceRows, cross, on_device
from pellucid.core.loops.statistics import (
    Moments,
    Rows,
    Source,
    Statistic,
    is_unit,
    moments,
    reduce_rows,
    unit_weights,
)
from pellucid.core.runtime.jit import jit

FEW_CLASSES = 16  # up to which the classes of a leaf are summed one by one, without a centred copy


class ClassScatter(NamedTuple):
    """Moments of the classes; a class without rows is (0, 0, 0)."""

    weight: Array  # (K,)
    mean: Array  # (K, p)
    scatter: Array  # (K, p, p), or (1, p, p): the sum over the classes


@jit
def class_means(X, c, w, weighted, count, mean):
    """Fill count (K,) and mean (K, p), which are 0; differences from the first row are summed."""
    n, p = X.shape
    K = len(count)
    first = np.full(K, -1)
    for i in range(n):
        k = c[i]
        if weighted and w[i] == 0.0:
            continue
        if first[k] < 0:
            first[k] = i
        count[k] += w[i] if weighted else 1.0
        weight, x, origin, m = w[i] if weighted else 1.0, X[i], X[first[k]], mean[k]
        for j in range(p):
            m[j] += weight * (x[j] - origin[j])
    for k in range(K):
        if first[k] >= 0:
            for j in range(p):
                mean[k, j] = X[first[k], j] + mean[k, j] / count[k]


@jit
def gather_classes(X, c, w, weighted, end, out, w_out):
    """Copy the rows into the order of their classes; end (K + 1,) holds where each begins.

    On return end[k] is where class k ends (a counting sort, so the order within a class stays).
    """
    n, p = X.shape
    for i in range(n):
        k = c[i]
        place = end[k]
        end[k] += 1
        for j in range(p):
            out[place, j] = X[i, j]
        if weighted:
            w_out[place] = w[i]


def leaf_moments(X: Array, w: Array) -> Moments:
    """Moments of some rows, by tiles while they are faster than BLAS."""
    if X.shape[1] > gram.WIDEST:
        return moments(X, w)
    return gram.joint_moments(X, np.empty((len(X), 0)), w)


def class_scatter(rows: Rows, n_classes: int, each: bool) -> ClassScatter:
    """The statistic of one leaf whose target holds class codes.

    >>> rows = Rows(np.array([[1.0], [3.0], [9.0]]), np.array([0, 0, 1]), unit_weights(3))
    >>> class_scatter(rows, 2, True).scatter.ravel().tolist()
    [2.0, 0.0]
    """
    X = rows.X if rows.X.flags.writeable else rows.X.copy()  # a read-only array would recompile
    c = rows.y if rows.y.flags.writeable else rows.y.copy()
    weighted = not is_unit(rows.w)
    w = np.array(rows.w) if weighted else np.zeros(0)
    if not each and n_classes <= FEW_CLASSES:
        found = _scatter_of_each(X, c, w, weighted, n_classes)
        return found._replace(scatter=found.scatter.sum(axis=0, keepdims=True))
    if not each:
        count, mean = np.zeros(n_classes), np.zeros((n_classes, X.shape[1]))
        class_means(X, c, w, weighted, count, mean)
        scatter = leaf_moments(X - mean[c], rows.w).scatter
        return ClassScatter(count, mean, scatter[None])
    return _scatter_of_each(X, c, w, weighted, n_classes)


def _scatter_of_each(X: Array, c: Any, w: Array, weighted: bool, K: int) -> ClassScatter:
    n, p = X.shape
    sizes = np.bincount(c, minlength=K)
    end = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.intp)
    grouped, w_grouped = np.empty((n, p)), np.empty(n if weighted else 0)
    gather_classes(X, c, w, weighted, end, grouped, w_grouped)
    found = ClassScatter(np.zeros(K), np.zeros((K, p)), np.zeros((K, p, p)))
    for k in np.flatnonzero(sizes):
        own = slice(end[k] - sizes[k], end[k])
        weights = w_grouped[own] if weighted else unit_weights(int(sizes[k]))
        found.weight[k], found.mean[k], found.scatter[k] = leaf_moments(grouped[own], weights)
    return found


@on_device(class_scatter)
def device_class_scatter(rows: DeviceRows, n_classes: int, each: bool) -> ClassScatter:
    """The statistic of tensors whose target holds class codes."""
    X, y, w = rows.X, rows.y, rows.weights()
    found = tensor_class_moments(X, y if n_classes > 1 else None, w, n_classes)
    xp = namespace(X)
    C = X - (xp.take(found.mean, y, axis=0) if n_classes > 1 else found.mean)
    if not each:
        V = C if rows.w is None else C * w[:, None]
        return ClassScatter(found.total, found.mean, cross(V, C)[None, ...])
    own = [w * xp.astype(y == k, w.dtype) for k in range(n_classes)]
    return ClassScatter(found.total, found.mean, xp.stack([cross(C, C * o[:, None]) for o in own]))


def merge_class_scatter(a: ClassScatter, b: ClassScatter) -> ClassScatter:
    """The statistic of two disjoint sets of rows taken together."""
    W = a.weight + b.weight
    share = b.weight / np.where(W > 0, W, 1.0)
    gap = b.mean - a.mean
    pull = gap * (a.weight * share)[:, None]  # 0 where either is empty
    scatter = a.scatter + b.scatter
    if len(scatter) == len(W):
        scatter += pull[:, :, None] * gap[:, None, :]
    else:
        scatter += pull.T @ gap
    return ClassScatter(W, a.mean + gap * share[:, None], scatter)


def sum_classes(rows: Source, map_: Map, n_classes: int, each: bool) -> ClassScatter:
    """The statistic of all rows, along the fixed tree."""
    each = each or n_classes == 1
    summarise = partial(class_scatter, n_classes=n_classes, each=each)
    with np.errstate(over="ignore", invalid="ignore"):  # what is not finite is named by the shell
        return reduce_rows(Statistic(summarise, merge_class_scatter), rows, map_)


def pooled(stat: ClassScatter) -> Array:
    """The scatter within the classes, (p, p)."""
    return stat.scatter.sum(axis=0)


def between(weight: Array, mean: Array) -> Array:
    """The scatter of the means, sum_k W_k (m_k - m)(m_k - m)'.

    >>> between(np.array([1.0, 1.0]), np.array([[0.0], [2.0]]))
    array([[2.]])
    """
    centred = mean - weight @ mean / weight.sum()
    return (centred * weight[:, None]).T @ centred


def norm_fourths(rows: Rows, mean: Array, scale: Array) -> Array:
    """sum of w_i |z_i|^4 by class with z = (x - m_k)/scale_k; one row of ``mean``: all classes."""
    K = len(mean)
    c = rows.y if K > 1 else np.zeros(len(rows.X), np.intp)
    squares = (((rows.X - mean[c]) / scale[c]) ** 2).sum(axis=1)
    return np.bincount(c, rows.w * squares**2, minlength=K).astype(np.float64)


@on_device(norm_fourths)
def device_norm_fourths(rows: DeviceRows, mean: Array, scale: Array) -> Any:
    """``norm_fourths`` of tensors."""
    X, xp, w = rows.X, namespace(rows.X), rows.weights()
    K, m, s = len(mean), like(mean, X), like(scale, X)
    codes = rows.y if K > 1 else xp.zeros(X.shape[0], dtype=xp.int64, device=X.device)
    Z = (X - xp.take(m, codes, axis=0)) / xp.take(s, codes, axis=0)
    fourth = w * xp.sum(Z * Z, axis=1) ** 2
    return xp.stack([xp.sum(xp.where(codes == k, fourth, xp.zeros_like(fourth))) for k in range(K)])


def sum_norm_fourths(rows: Source, map_: Map, mean: Array, scale: Array) -> Array:
    """``norm_fourths`` of all rows: a second pass, for the Ledoit-Wolf intensity."""
    summarise = partial(norm_fourths, mean=mean, scale=scale)
    return reduce_rows(Statistic(summarise, np.add), rows, map_)
