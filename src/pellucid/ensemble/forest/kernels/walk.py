"""Walk rows through all trees of a forest, stored one after the other in flat arrays."""

from collections.abc import Callable

import numpy as np

from pellucid.compiled.trees.walk import find_leaves, find_mixed, to_left
from pellucid.core.runtime import simd
from pellucid.core.runtime.jit import jit
from pellucid.core.runtime.threads import map_threads


@jit
def leaf_quantiles(leaves, first, last, start, begin, size, place, counts, values, quantiles, out):
    """out[i] = the lowest values whose weights up to there reach the quantiles.

    leaves (T, n), negative where a tree does not count; no tree at all: NaN. The leaf at node k
    holds the entries begin[k]..begin[k] + size[k] - 1 of ``place`` (the rank of the target) and
    ``counts``; ``values`` are the sorted targets.
    """
    n = len(values)
    weight, marks = np.zeros(n), np.zeros((n + 63) // 64, np.uint64)
    for i in range(first, last):
        top = 0.0
        for t in range(len(start) - 1):
            if leaves[t, i] < 0:
                continue
            top += 1.0
            node = start[t] + leaves[t, i]
            a, b = begin[node], begin[node] + size[node]
            total = 0.0
            for k in range(a, b):
                total += counts[k]
            for k in range(a, b):
                r = place[k]
                weight[r] += counts[k] / total
                marks[r >> 6] |= np.uint64(1) << np.uint64(r & 63)
        total, q = 0.0, 0
        value = np.nan
        for word in range(len(marks)):
            bits = marks[word]
            while bits != np.uint64(0):
                r = np.int64(simd.trailing_zeros(bits)) + (word << 6)
                bits &= bits - np.uint64(1)
                total += weight[r]
                weight[r] = 0.0
                value = values[r]
                while q < len(quantiles) and total >= quantiles[q] * top * (1 - 1e-12):
                    out[i, q] = value
                    q += 1
            marks[word] = np.uint64(0)
        while q < len(quantiles):
            out[i, q] = value
            q += 1


BLOCK = 1024  # rows that a thread takes through every tree


@jit
def tree_leaves(X, first, last, a, b, feature, threshold, missing_left, right, levels, sets, out):
    """out[i] = the leaf of row i in the tree of nodes a..b-1."""
    asked, limit, missing, follow = feature[a:b], threshold[a:b], missing_left[a:b], right[a:b]
    if len(levels):
        find_mixed(X, first, last, asked, limit, missing, follow, levels, sets, out)
    else:
        find_leaves(X, first, last, asked, limit, missing, follow, out)


@jit
def add_values(
    X, first, last, start, feature, threshold, missing_left, right, levels, sets, value, out
):
    """out[i] += the values of row i's leaves, tree after tree."""
    leaves = np.empty(last - first, np.int64)
    rows, m = X[first:last], last - first
    for t in range(len(start) - 1):
        a, b = start[t], start[t + 1]
        tree_leaves(rows, 0, m, a, b, feature, threshold, missing_left, right, levels, sets, leaves)
        for i in range(m):
            leaf = a + leaves[i]
            for k in range(value.shape[1]):
                out[first + i, k] += value[leaf, k]


@jit
def add_votes(
    X, first, last, start, feature, threshold, missing_left, right, levels, sets, label, out
):
    """out[i, label of the leaf] += 1 in every tree; labels are whole numbers as float64."""
    leaves = np.empty(last - first, np.int64)
    rows, m = X[first:last], last - first
    for t in range(len(start) - 1):
        a, b = start[t], start[t + 1]
        tree_leaves(rows, 0, m, a, b, feature, threshold, missing_left, right, levels, sets, leaves)
        for i in range(m):
            out[first + i, np.int64(label[a + leaves[i]])] += 1.0


@jit
def all_leaves(X, first, last, start, feature, threshold, missing_left, right, levels, sets, out):
    """out[t, i] = the leaf of row i in tree t."""
    rows, m = X[first:last], last - first
    for t in range(len(start) - 1):
        a, b = start[t], start[t + 1]
        leaf = out[t, first:last]
        tree_leaves(rows, 0, m, a, b, feature, threshold, missing_left, right, levels, sets, leaf)


@jit
def listed_leaves(
    X, rows, feature, threshold, missing_left, right, levels, sets, column, cells, out
):
    """out[i] = the leaf of row rows[i] of one tree, its cell of ``column`` being cells[i]."""
    for i in range(len(rows)):
        r, a = rows[i], np.int64(0)
        while feature[a] >= 0:
            f = feature[a]
            x = cells[i] if f == column else X[r, f]
            n_levels = levels[f] if len(levels) else 0
            stay = to_left(x, threshold[a], missing_left[a], n_levels, sets)
            a = a + 1 if stay else np.int64(right[a])
        out[i] = a


@jit
def add_meetings(leaf, other, bag, other_bag, first, last, together, both):
    """together[i, j] += trees in which rows i and j share a leaf; ``both``: trees that count.

    leaf (T, n), other (T, m); bag (T, n) uint8 is 1 where a row does not count; (0, 0): all do.
    """
    oob = len(bag) > 0
    for t in range(len(leaf)):
        for i in range(first, last):
            if oob and bag[t, i]:
                continue
            a = leaf[t, i]
            for j in range(other.shape[1]):
                if oob:
                    counts = np.float32(1 - other_bag[t, j])
                    both[i, j] += counts
                    together[i, j] += counts * np.float32(other[t, j] == a)
                else:
                    together[i, j] += np.float32(other[t, j] == a)


def over_blocks(kernel: Callable[..., None], X: np.ndarray, *arguments: object) -> None:
    """Call ``kernel(X, first, last, ...)`` for blocks of rows, in threads."""
    n = len(X)
    size = min(BLOCK, max(1, -(-n // 4)))

    def block(first: int) -> None:
        kernel(X, first, min(first + size, n), *arguments)

    list(map_threads(block, range(0, n, size)))
