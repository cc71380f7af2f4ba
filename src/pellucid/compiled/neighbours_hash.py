"""Exact ranking of the rows that share a bucket with a query in some table of hashes.

The rows of a table lie in the order of their keys, so a bucket is a range. A row is looked at
once, whatever number of tables proposes it; ties go to the lower index.

Beside the reduced distances of ``neighbours_brute``: kind 4 counts differing coordinates, kind 5
is the Jaccard distance of truth values.
"""

from typing import Any

import numpy as np

from pellucid.compiled.neighbours_brute import reduced
from pellucid.core.jit import jit

MIX = np.uint64(0x9E3779B97F4A7C15)  # 2^64 by the golden ratio
SHIFT = np.uint64(29)


@jit
def dissimilarity(x: Any, q: Any, kind: int, p: float) -> float:
    """The reduced distance of any kind."""
    if kind < 4:
        return reduced(x, q, kind, p)
    differing, either = 0, 0
    for t in range(len(q)):
        if kind == 4:
            differing += x[t] != q[t]
        else:
            differing += (x[t] != 0.0) != (q[t] != 0.0)
            either += (x[t] != 0.0) or (q[t] != 0.0)
    if kind == 4:
        return differing / len(q)
    return differing / either if either > 0 else 0.0


@jit
def project(X: Any, D: Any, a: int, b: int, out: Any) -> None:
    """out[a:b] = X[a:b] @ D, each row by itself, so that equal rows get equal values."""
    for i in range(a, b):
        for f in range(D.shape[1]):
            out[i, f] = 0.0
        for t in range(D.shape[0]):
            x = X[i, t]
            for f in range(D.shape[1]):
                out[i, f] += x * D[t, f]


@jit
def mix_keys(values: Any, n_tables: int, out: Any) -> None:
    """One key for the values of each table, by multiply and shift; out (n_tables, n), uint64."""
    n, count = values.shape
    bits = count // n_tables
    for i in range(n):
        for table in range(n_tables):
            key = np.uint64(0)
            for bit in range(bits):
                key = (key ^ np.uint64(values[i, table * bits + bit])) * MIX
                key = key ^ (key >> SHIFT)
            out[table, i] = key


@jit
def bucket_nearest(
    X: Any, Q: Any, order: Any, low: Any, high: Any, kind: int, p: float, a: int, b: int,
    out: Any, index: Any, found: Any,
) -> None:  # fmt: skip
    """The k nearest rows among the candidates of queries a to b, and how many candidates.

    order (tables, n): rows by key; low, high (m, tables): the query's bucket in each.
    """
    n_tables, n = order.shape
    k = out.shape[1]
    seen = np.full(n, -1, np.int64)
    for i in range(a, b):
        out[i, :] = np.inf
        index[i, :] = n
        for table in range(n_tables):
            for r in range(low[i, table], high[i, table]):
                j = order[table, r]
                if seen[j] == i:
                    continue
                seen[j] = i
                found[i] += 1
                v = dissimilarity(X[j], Q[i], kind, p)
                if v > out[i, k - 1] or (v == out[i, k - 1] and j > index[i, k - 1]):
                    continue
                at = k - 1
                while at > 0 and (
                    out[i, at - 1] > v or (out[i, at - 1] == v and index[i, at - 1] > j)
                ):
                    out[i, at] = out[i, at - 1]
                    index[i, at] = index[i, at - 1]
                    at -= 1
                out[i, at] = v
                index[i, at] = j


def warm() -> None:
    """Compile the kernels."""
    X = np.zeros((2, 2))
    order = np.array([[0, 1]])
    bounds = np.zeros((2, 1), np.int64)
    out, index, found = np.empty((2, 1)), np.empty((2, 1), np.int64), np.zeros(2, np.int64)
    project(X, X, 0, 2, np.empty((2, 2)))
    mix_keys(np.zeros((2, 2), np.int64), 1, np.empty((1, 2), np.uint64))
    bucket_nearest(X, X, order, bounds, bounds + 2, 2, 2.0, 0, 2, out, index, found)
