"""Exact ranking of the rows that share a bucket with a query in some table of hashes.

The rows of a table lie in the order of their keys, so a bucket is a range. A row is looked at
once, whatever number of tables proposes it; ties go to the lower index.

Beside the reduced distances of ``neighbours_brute``: kind 4 counts differing coordinates, kind 5
is the Jaccard distance of truth values.
"""

import math
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
def line_keys(
    lines: Any, shifts: Any, width: float, n_tables: int, a: int, b: int, out: Any
) -> None:
    """Keys of rows a to b from their projections: floor(v / width + shift), or the side of 0.

    A width of 0 asks for the side; out (n_tables, n), uint64.
    """
    bits = lines.shape[1] // n_tables
    for i in range(a, b):
        for table in range(n_tables):
            key = np.uint64(0)
            for f in range(table * bits, (table + 1) * bits):
                v = lines[i, f]
                if width > 0.0:
                    v = min(max(math.floor(v / width + shifts[f]), -1e18), 1e18)
                else:
                    v = 1.0 if v > 0.0 else 0.0
                key = (key ^ np.uint64(np.int64(v))) * MIX
                key = key ^ (key >> SHIFT)
            out[table, i] = key


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
def bucket_bounds(
    keys: Any, starts: Any, shift: Any, wanted: Any, a: int, b: int, low: Any, high: Any
) -> None:
    """Where the keys of queries a to b lie in each table; low = high where they do not.

    keys (tables, n) rising; starts (tables, 2^bits + 1): the first key with those leading bits.
    """
    for i in range(a, b):
        for table in range(len(keys)):
            key = wanted[table, i]
            head = np.int64(key >> shift)
            at, end = starts[table, head], starts[table, head + 1]
            while at < end and keys[table, at] < key:
                at += 1
            low[i, table] = at
            while at < end and keys[table, at] == key:
                at += 1
            high[i, table] = at


@jit
def offer(v: float, j: int, best: Any, which: Any) -> None:
    """Put a row among the best, by distance and then by index."""
    at = len(best) - 1
    if v > best[at] or (v == best[at] and j > which[at]):
        return
    while at > 0 and (best[at - 1] > v or (best[at - 1] == v and which[at - 1] > j)):
        best[at] = best[at - 1]
        which[at] = which[at - 1]
        at -= 1
    best[at] = v
    which[at] = j


@jit
def rank_candidates(
    X: Any, q: Any, rows: Any, count: int, kind: int, p: float, best: Any, which: Any
) -> None:
    """The best of ``rows[:count]``; squares of four rows at a time, each summed in order."""
    done = 0
    if kind == 2:
        while done + 4 <= count:
            r0, r1, r2, r3 = rows[done], rows[done + 1], rows[done + 2], rows[done + 3]
            v0, v1, v2, v3 = 0.0, 0.0, 0.0, 0.0
            for t in range(len(q)):
                e0, e1, e2, e3 = X[r0, t] - q[t], X[r1, t] - q[t], X[r2, t] - q[t], X[r3, t] - q[t]
                v0 += e0 * e0
                v1 += e1 * e1
                v2 += e2 * e2
                v3 += e3 * e3
            offer(v0, r0, best, which)
            offer(v1, r1, best, which)
            offer(v2, r2, best, which)
            offer(v3, r3, best, which)
            done += 4
    for c in range(done, count):
        offer(dissimilarity(X[rows[c]], q, kind, p), rows[c], best, which)


@jit
def bucket_nearest(
    X: Any, Q: Any, order: Any, low: Any, high: Any, kind: int, p: float, a: int, b: int,
    out: Any, index: Any, found: Any,
) -> None:  # fmt: skip
    """The k nearest rows among the candidates of queries a to b, and how many candidates.

    order (tables, n): rows by key; low, high (m, tables): the query's bucket in each.
    """
    n_tables, n = order.shape
    seen = np.full(n, -1, np.int64)
    rows = np.empty(n, np.int64)
    for i in range(a, b):
        out[i, :] = np.inf
        index[i, :] = n
        count = 0
        for table in range(n_tables):
            for r in range(low[i, table], high[i, table]):
                j = order[table, r]
                if seen[j] != i:
                    seen[j] = i
                    rows[count] = j
                    count += 1
        found[i] = count
        rank_candidates(X, Q[i], rows, count, kind, p, out[i], index[i])


def warm() -> None:
    """Compile the kernels."""
    X = np.zeros((2, 2))
    order = np.array([[0, 1]])
    bounds = np.zeros((2, 1), np.int64)
    out, index, found = np.empty((2, 1)), np.empty((2, 1), np.int64), np.zeros(2, np.int64)
    keys = np.zeros((1, 2), np.uint64)
    line_keys(X, np.zeros(2), 1.0, 1, 0, 2, keys)
    mix_keys(np.zeros((2, 2), np.int64), 1, keys)
    starts, shift = np.array([[0, 0, 2]]), np.uint64(63)
    bucket_bounds(keys, starts, shift, keys, 0, 2, bounds, bounds.copy())
    bucket_nearest(X, X, order, bounds, bounds + 2, 2, 2.0, 0, 2, out, index, found)
