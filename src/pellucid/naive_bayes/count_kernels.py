r"""Sums of the columns within every class, and scores that are linear in counts.

Counting: for class k and column j, over the rows i of class k whose cell is not missing (NaN),

    N_kj = sum w_i x_ij     or, with a threshold t,     N_kj = sum w_i [x_ij > t].

Every row is added to the sums of its own class: O(n p) for dense rows and O(entries) for sparse
ones, whatever the number of classes (a product with the 0/1 matrix of labels costs K times that).
Scores: out_ik = c_k + sum_j x_ij T_jk, one row of T (p, K) for every entry of a sparse row.

A value that is not finite leaves a sum that is not finite. Sums are taken in the order of the
rows, never re-associated.
"""

from typing import Any, NamedTuple

import numpy as np

from pellucid.core.arrays.typing import Array
from pellucid.core.loops.statistics import Rows, is_unit
from pellucid.core.runtime.jit import jit

RAW = np.nan  # no threshold: the values themselves are counts


class ClassCounts(NamedTuple):
    """Sums within each class; ``missing`` is (K, 1) of zeros where no cell is missing."""

    total: Array  # (K,)  sum of the weights of the rows
    sums: Array  # (K, p)
    missing: Array  # (K, p) or (K, 1)  weight of the missing cells
    negative: int  # the last column found with a value below 0, or -1


class Entries(NamedTuple):
    """Some rows of a sparse matrix, sharing its memory: only the row pointers are cut."""

    indptr: Any  # (rows + 1,) places in ``indices`` and ``data``
    indices: Any
    data: Any
    n_columns: int

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.indptr) - 1, self.n_columns


def cut_rows(X: Any, start: int, stop: int) -> Any:
    """Rows start..stop-1 of an array or a sparse matrix (CSR) without a copy.

    >>> from scipy.sparse import csr_array
    >>> cut_rows(csr_array(np.eye(3)), 1, 3).indptr
    array([1, 2, 3], dtype=int32)
    """
    if isinstance(X, np.ndarray):
        return X[start:stop]
    return Entries(X.indptr[start : stop + 1], X.indices, X.data, X.shape[1])


@jit
def count_values(X, c, w, total, count):
    """Add complete rows of counts; returns how many cells are negative."""
    n, p = X.shape
    negative = 0
    for i in range(n):
        k, weight = c[i], w[i]
        total[k] += weight
        x, N = X[i], count[k]
        for j in range(p):
            N[j] += weight * x[j]
            negative += x[j] < 0.0
    return negative


@jit
def count_above(X, c, w, threshold, total, count):
    """Add 1 for every cell above the threshold; returns how many cells are not finite."""
    n, p = X.shape
    odd = 0
    for i in range(n):
        k, weight = c[i], w[i]
        total[k] += weight
        x, N = X[i], count[k]
        for j in range(p):
            N[j] += weight if x[j] > threshold else 0.0
            odd += x[j] - x[j] != 0.0
    return odd


@jit
def count_incomplete(X, c, w, threshold, total, count, missing):
    """Both of the above for rows with missing cells; returns a column with a negative, or -1."""
    n, p = X.shape
    raw = threshold != threshold
    negative = -1
    for i in range(n):
        k, weight = c[i], w[i]
        total[k] += weight
        for j in range(p):
            x = X[i, j]
            if x != x:
                missing[k, j] += weight
            elif raw or x - x != 0.0:
                count[k, j] += weight * x
                if x < 0.0:
                    negative = j
            elif x > threshold:
                count[k, j] += weight
    return negative


@jit
def count_entries(indptr, indices, data, c, w, threshold, total, count, missing):
    """Add sparse rows; ``missing`` may be (K, 0). Returns (entries that are NaN, a column < 0)."""
    raw = threshold != threshold
    keep = missing.shape[1] > 0
    lost, negative = 0, -1
    for i in range(len(indptr) - 1):
        k, weight = c[i], w[i]
        total[k] += weight
        for e in range(indptr[i], indptr[i + 1]):
            x, j = data[e], indices[e]
            if x != x:
                lost += 1
                if keep:
                    missing[k, j] += weight
            elif raw or x - x != 0.0:
                count[k, j] += weight * x
                if x < 0.0:
                    negative = j
            elif x > threshold:
                count[k, j] += weight
    return lost, negative


@jit
def mark_above(X, threshold, out):
    """out = 1 where a cell lies above the threshold, else 0; returns cells that are not finite."""
    n, p = X.shape
    odd = 0
    for i in range(n):
        x, o = X[i], out[i]
        for j in range(p):
            o[j] = 1.0 if x[j] > threshold else 0.0
            odd += x[j] - x[j] != 0.0
    return odd


@jit
def score_entries(indptr, indices, data, threshold, table, absent, constant, out):
    """out[i] = constant + the rows of ``table`` (p, K) times the entries of a sparse row.

    A missing entry takes back ``absent[j]``, the part of the constant that is its own; ``absent``
    may be (0, K). With a threshold an entry above it counts 1 and others 0.
    """
    raw = threshold != threshold
    K = table.shape[1]
    for i in range(len(indptr) - 1):
        row = out[i]
        row[:] = constant
        for e in range(indptr[i], indptr[i + 1]):
            x, j = data[e], indices[e]
            if x != x:
                if len(absent):
                    for k in range(K):
                        row[k] -= absent[j, k]
                continue
            if x - x != 0.0:
                row[:] = np.nan  # infinite: shows in the score
                continue
            if not raw:
                x = 1.0 if x > threshold else 0.0
            if x != 0.0:
                for k in range(K):
                    row[k] += x * table[j, k]


@jit
def count_categories(codes, place, c, w, out):
    """out[c_i, place of the category of row i] += w_i; a place below 0 is left out."""
    for i in range(len(codes)):
        v = place[codes[i]]
        if v >= 0:
            out[c[i], v] += w[i]


@jit
def score_categories(codes, table, starts, constant, out):
    """out[i] = constant + sum_j table[starts_j + codes_ij], table (V, K); below 0 is left out."""
    n, p = codes.shape
    K = table.shape[1]
    for i in range(n):
        row = out[i]
        row[:] = constant
        for j in range(p):
            v = codes[i, j]
            if v >= 0:
                terms = table[starts[j] + v]
                for k in range(K):
                    row[k] += terms[k]


def class_counts(rows: Rows, n_classes: int, threshold: float = RAW) -> ClassCounts:
    """Sums of one leaf of dense rows, or of any sparse ``Entries``, within 0..n_classes-1.

    >>> X, c = np.array([[1.0, 2.0], [3.0, np.nan]]), np.array([0, 1])
    >>> found = class_counts(Rows(X, c, np.ones(2)), 2)
    >>> found.sums.tolist(), found.missing.tolist()
    ([[1.0, 2.0], [3.0, 0.0]], [[0.0, 0.0], [0.0, 1.0]])
    """
    c = rows.y if rows.y.flags.writeable else rows.y.copy()
    w = np.ones(len(c)) if is_unit(rows.w) else np.array(rows.w)
    if not isinstance(rows.X, np.ndarray):
        return _sparse_counts(rows.X, c, w, n_classes, threshold)
    X = rows.X if rows.X.flags.writeable else rows.X.copy()  # a read-only array would recompile
    total, count = np.zeros(n_classes), np.zeros((n_classes, X.shape[1]))
    if np.isnan(threshold):
        odd = count_values(X, c, w, total, count) or not np.isfinite(count).all()
    else:
        odd = count_above(X, c, w, threshold, total, count)
    if not odd:
        return ClassCounts(total, count, np.zeros((n_classes, 1)), -1)
    total[:] = 0.0
    count[:] = 0.0
    missing = np.zeros(count.shape)
    negative = count_incomplete(X, c, w, threshold, total, count, missing)
    return ClassCounts(total, count, missing, negative)


def _sparse_counts(X: Entries, c: Any, w: Array, n_classes: int, threshold: float) -> ClassCounts:
    entries = (X.indptr, X.indices, X.data, c, w, threshold)
    total, count = np.zeros(n_classes), np.zeros((n_classes, X.shape[1]))
    lost, negative = count_entries(*entries, total, count, np.zeros((n_classes, 0)))
    if not lost:
        return ClassCounts(total, count, np.zeros((n_classes, 1)), negative)
    total[:] = 0.0
    count[:] = 0.0
    missing = np.zeros(count.shape)
    _, negative = count_entries(*entries, total, count, missing)
    return ClassCounts(total, count, missing, negative)


def merge_class_counts(a: ClassCounts, b: ClassCounts) -> ClassCounts:
    """Sums of two disjoint sets of rows taken together."""
    return ClassCounts(
        a.total + b.total, a.sums + b.sums, a.missing + b.missing, max(a.negative, b.negative)
    )
