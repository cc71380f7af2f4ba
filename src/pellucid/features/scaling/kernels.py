r"""Scaling of columns and rows in one sweep, and what it needs: ranges and moments.

    shift_divide    out_ij = (x_ij - c_j) / s_j
    multiply_add    out_ij = x_ij s_j + b_j, clipped to [low, high]
    unit_rows       out_i  = x_i / |x_i|        (l1, l2 or max)

Each kernel reads X once and writes the answer once, so the memory bus is the only limit, and says
on the way whether it met an infinity. NaN passes through. A sweep of the column ranges ignores
NaN. Sparse moments count the cells that are not stored as zeros. Nothing is re-associated across
rows: the bits do not depend on how the rows are cut.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import issparse

from pellucid.compiled.counts.moments import (
    ClassMoments,
    class_moments,
    tensor_class_moments,
)
from pellucid.core.arrays.tensors import namespace
from pellucid.core.arrays.typing import Array
from pellucid.core.loops.device import DeviceRows, on_device
from pellucid.core.loops.statistics import Rows
from pellucid.core.runtime.jit import jit
from pellucid.core.runtime.threads import map_threads

CHUNK = 1024  # rows that one call of a kernel handles: 50 columns are 0.4 MB in, 0.4 MB out


@jit
def shift_divide(X, center, scale, out):
    """out = (X - center) / scale; True if some cell of X is infinite or missing."""
    n, p = X.shape
    seen = np.zeros(p)
    for i in range(n):
        x, o = X[i], out[i]
        for j in range(p):
            seen[j] += x[j] * 0.0  # NaN once a cell is not finite
            o[j] = (x[j] - center[j]) / scale[j]
    return bool(np.isnan(seen).any())


@jit
def multiply_add(X, scale, shift, low, high, out):
    """out = X scale + shift, not below low or above high; True if a cell is not finite."""
    n, p = X.shape
    seen = np.zeros(p)
    for i in range(n):
        x, o = X[i], out[i]
        for j in range(p):
            seen[j] += x[j] * 0.0
            v = x[j] * scale[j] + shift[j]
            v = low if v < low else v
            o[j] = high if v > high else v
    return bool(np.isnan(seen).any())


@jit(reassociate=True)
def unit_rows(X, kind, out):
    """Rows divided by their norm (0: max, 1: l1, 2: l2); a row of zeros stays. True as above."""
    n, p = X.shape
    suspect = False
    for i in range(n):
        x, o = X[i], out[i]
        unit = 1.0
        norm = norm_of(x, unit, kind)
        if not (1e-280 < norm < 1e280):  # near an end of the numbers: the row in another unit
            unit = 2.0**600 if norm < 1.0 else 2.0**-600
            norm = norm_of(x, unit, kind)
        suspect |= not np.isfinite(norm)
        if kind == 0:
            for j in range(p):
                suspect |= x[j] != x[j]
        norm = 1.0 if norm == 0.0 else norm if kind < 2 else np.sqrt(norm)
        for j in range(p):
            o[j] = x[j] * unit / norm
    return suspect


@jit(reassociate=True, inlined=True)
def norm_of(x, unit, kind):
    """The norm of x times ``unit``, of which no square overflows or vanishes; l2: its square."""
    norm = 0.0
    for j in range(len(x)):
        v = abs(x[j] * unit)
        if kind == 2:
            norm += v * v
        elif kind == 1:
            norm += v
        else:
            norm = max(norm, v)
    return norm


@jit
def column_ranges(X, w, low, high, count):
    """Smallest and largest value of each column and the number of cells that are not NaN.

    low and high (p,) are +inf and -inf on entry, count (p,) 0; rows of weight 0 are left out.
    """
    n, p = X.shape
    for i in range(n):
        if w[i] == 0.0:
            continue
        x = X[i]
        for j in range(p):
            low[j] = x[j] if x[j] < low[j] else low[j]
            high[j] = x[j] if x[j] > high[j] else high[j]
            count[j] += 1.0 if x[j] == x[j] else 0.0


@jit
def sparse_moments(indptr, indices, data, w, weight, mean, scatter):
    """Moments of the columns of a CSR leaf; weight (p,) holds sum w on entry, the others 0.

    A column without an empty cell is added up from its first number: one that does not vary has
    scatter 0. The empty cells of the others are 0, and so is the number that they start from.
    """
    n, p = len(indptr) - 1, len(mean)
    cells = np.zeros(p, np.int64)
    start = np.zeros(p)
    for k in range(indptr[n]):
        j = indices[k]
        if cells[j] == 0 or start[j] != start[j]:
            start[j] = data[k]  # the first that is not NaN
        cells[j] += 1
    for j in range(p):
        if cells[j] < n or start[j] != start[j]:
            start[j] = 0.0
    stored = np.zeros(p)  # weight of the stored cells that are not NaN
    for i in range(n):
        for k in range(indptr[i], indptr[i + 1]):
            j = indices[k]
            if data[k] == data[k]:
                mean[j] += w[i] * (data[k] - start[j])
                stored[j] += w[i]
            else:
                weight[j] -= w[i]
    for j in range(p):
        mean[j] = start[j] + mean[j] / weight[j] if weight[j] > 0.0 else 0.0 * mean[j]
        if cells[j] < n:
            scatter[j] = max(weight[j] - stored[j], 0.0) * mean[j] * mean[j]
    for i in range(n):
        for k in range(indptr[i], indptr[i + 1]):
            j = indices[k]
            if data[k] == data[k]:
                d = data[k] - mean[j]
                scatter[j] += w[i] * d * d


@jit
def take_columns(X, columns, out):
    """out = X[:, columns]."""
    for i in range(X.shape[0]):
        x, o = X[i], out[i]
        for k in range(len(columns)):
            o[k] = x[columns[k]]


class Ranges(NamedTuple):
    """What a column spans."""

    low: Array  # (p,)  +inf where every cell is missing
    high: Array  # (p,)
    seen: Array  # (p,)  cells that are not NaN
    n_rows: int


def ranges(rows: Rows) -> Ranges:
    """Smallest and largest values of one leaf.

    >>> ranges(Rows(np.array([[1.0], [np.nan], [3.0]]), None, np.ones(3))).high
    array([3.])
    """
    p = rows.X.shape[1]
    found = (np.full(p, np.inf), np.full(p, -np.inf), np.zeros(p))
    column_ranges(writeable(rows.X), np.array(rows.w), *found)
    return Ranges(*found, rows.n_rows)


@on_device(ranges)
def device_ranges(rows: DeviceRows) -> Ranges:
    """Smallest and largest values of tensors."""
    X, xp = rows.X, namespace(rows.X)
    live = (rows.weights() > 0)[:, None]
    far = xp.full_like(X[:1, :], xp.inf)
    low, high = xp.min(xp.where(live, X, far), axis=0), xp.max(xp.where(live, X, -far), axis=0)
    return Ranges(low, high, xp.sum(rows.weights()) + xp.zeros_like(low), rows.n_rows)


def merge_ranges(a: Ranges, b: Ranges) -> Ranges:
    """What the columns of two leaves span together."""
    low, high = np.minimum(a.low, b.low), np.maximum(a.high, b.high)
    return Ranges(low, high, a.seen + b.seen, a.n_rows + b.n_rows)


def column_moments(rows: Rows) -> ClassMoments:
    """Weight, mean and centred squares (1, p) of the columns of one leaf, dense or CSR.

    >>> column_moments(Rows(np.array([[1.0], [3.0]]), None, np.ones(2))).scatter
    array([[2.]])
    """
    if not issparse(rows.X):
        codes = np.zeros(rows.n_rows, dtype=np.intp)
        return class_moments(Rows(rows.X, codes, rows.w), 1)
    p, total = rows.X.shape[1], float(rows.w.sum())
    weight, mean, scatter = np.full((1, p), total), np.zeros((1, p)), np.zeros((1, p))
    X = rows.X.copy() if not rows.X.has_canonical_format else rows.X
    X.sum_duplicates()
    csr = X.indptr.astype(np.int64), X.indices.astype(np.int64), writeable(X.data)
    sparse_moments(*csr, np.array(rows.w), weight[0], mean[0], scatter[0])
    return ClassMoments(np.array([total]), weight, mean, scatter)


@on_device(column_moments)
def device_column_moments(rows: DeviceRows) -> ClassMoments:
    """Weight, mean and centred squares (1, p) of the columns of tensors."""
    return tensor_class_moments(rows.X, None, rows.weights(), 1)


def writeable(X: Array) -> Array:
    """X, or a copy of it: a read-only array would make Numba compile the kernel again."""
    return X if X.flags.writeable else X.copy()


def chunked(kernel: Callable[..., Any], X: Array, *arguments: object, out: Array) -> list[Any]:
    """Call ``kernel(X chunk, *arguments, out chunk)`` on every chunk of rows, in threads."""

    def work(start: int) -> Any:
        rows = slice(start, start + CHUNK)
        return kernel(writeable(X[rows]), *arguments, out[rows])

    return list(map_threads(work, range(0, len(X), CHUNK)))
