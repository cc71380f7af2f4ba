"""Walk rows through a tree, and sums of leaves up to the root.

Nodes are in preorder: the left child of node i is i + 1, every child comes after its parent.
"""

from typing import Any

import numpy as np

from pellucid.core.arrays.typing import Array, IntArray
from pellucid.core.runtime.jit import jit
from pellucid.core.runtime.threads import map_threads

BLOCK = 4096  # rows that a thread takes at once


@jit
def find_leaves(X, first, last, feature, threshold, missing_left, right, out):
    """out[i] = the leaf of row i, for rows first..last-1; four rows walk side by side."""
    i = first
    while i + 4 <= last:
        a = b = c = d = np.int64(0)
        fa, fb, fc, fd = feature[0], feature[0], feature[0], feature[0]
        while fa >= 0 or fb >= 0 or fc >= 0 or fd >= 0:
            if fa >= 0:
                x = X[i, fa]
                stay = np.int64((x <= threshold[a]) | ((x != x) & (missing_left[a] == 1)))
                a = right[a] + stay * (a + 1 - right[a])  # no branch to mispredict
                fa = feature[a]
            if fb >= 0:
                x = X[i + 1, fb]
                stay = np.int64((x <= threshold[b]) | ((x != x) & (missing_left[b] == 1)))
                b = right[b] + stay * (b + 1 - right[b])
                fb = feature[b]
            if fc >= 0:
                x = X[i + 2, fc]
                stay = np.int64((x <= threshold[c]) | ((x != x) & (missing_left[c] == 1)))
                c = right[c] + stay * (c + 1 - right[c])
                fc = feature[c]
            if fd >= 0:
                x = X[i + 3, fd]
                stay = np.int64((x <= threshold[d]) | ((x != x) & (missing_left[d] == 1)))
                d = right[d] + stay * (d + 1 - right[d])
                fd = feature[d]
        out[i], out[i + 1], out[i + 2], out[i + 3] = a, b, c, d
        i += 4
    while i < last:
        a = np.int64(0)
        while feature[a] >= 0:
            x = X[i, feature[a]]
            stay = np.int64((x <= threshold[a]) | ((x != x) & (missing_left[a] == 1)))
            a = right[a] + stay * (a + 1 - right[a])  # no branch to mispredict
        out[i] = a
        i += 1


@jit
def to_left(x, t, missing_left, n_levels, sets):
    """Whether a cell goes left: a number by its threshold, a level by its bit."""
    if n_levels == 0:
        return x <= t or (x != x and missing_left == 1)
    if not 0.0 <= x < n_levels:
        return missing_left == 1
    c = np.int64(x)
    return (sets[np.int64(t) + (c >> 6)] >> np.uint64(c & 63)) & np.uint64(1) == np.uint64(1)


@jit
def find_mixed(X, first, last, feature, threshold, missing_left, right, levels, sets, out):
    """The same as ``find_leaves`` where some columns are codes of levels."""
    for i in range(first, last):
        a = np.int64(0)
        while feature[a] >= 0:
            f = feature[a]
            stay = to_left(X[i, f], threshold[a], missing_left[a], levels[f], sets)
            a = a + 1 if stay else np.int64(right[a])
        out[i] = a


@jit
def mark_paths(leaves, parent, indptr, indices):
    """The nodes from the root to each leaf, in order; indptr (n + 1,) is known."""
    for i in range(len(leaves)):
        at = indptr[i + 1]
        node = leaves[i]
        while node >= 0:
            at -= 1
            indices[at] = node
            node = parent[node]


@jit
def node_depths(left, right, depth, parent):
    """Depth and parent of every node."""
    depth[0], parent[0] = 0, -1
    for i in range(len(left)):
        if left[i] >= 0:
            depth[left[i]] = depth[right[i]] = depth[i] + 1
            parent[left[i]] = parent[right[i]] = i


@jit
def sum_up(left, right, sums):
    """Add the sums (nodes, q) of the leaves to all nodes above them."""
    for i in range(len(left) - 1, -1, -1):
        if left[i] >= 0:
            for q in range(sums.shape[1]):
                sums[i, q] = sums[left[i], q] + sums[right[i], q]


@jit
def merge_spreads(left, right, weight, mean, spread):
    """Sums of squares about the mean, from the leaves up: S = S_l + S_r + W_l W_r / W (gap)^2."""
    for i in range(len(left) - 1, -1, -1):
        a, b = left[i], right[i]
        if a >= 0:
            factor = weight[a] * weight[b] / weight[i]
            for o in range(mean.shape[1]):
                gap = mean[a, o] - mean[b, o]
                spread[i, o] = spread[a, o] + spread[b, o] + factor * gap * gap


@jit
def leaf_of_rows(keys, code_bits, row_bits, feature, start, stop, out):
    """out[row] = its leaf, from the sorted keys of any column after growth."""
    mask = (np.int64(1) << row_bits) - 1
    for node in range(len(feature)):
        if feature[node] < 0:
            for i in range(start[node], stop[node]):
                out[(keys[i] >> code_bits) & mask] = node


def leaves_of(
    X: Array,
    feature: IntArray,
    threshold: Array,
    missing_left: Any,
    right: IntArray,
    levels: Any,
    sets: Any,
) -> Any:
    """The leaf of every row, in threads."""
    X = X if X.flags.writeable and X.flags.c_contiguous else np.array(X, order="C")
    out = np.empty(len(X), np.int64)
    nodes = (feature, threshold, missing_left, right)

    def block(first: int) -> None:
        last = min(first + BLOCK, len(X))
        if len(levels):
            find_mixed(X, first, last, *nodes, levels, sets, out)
        else:
            find_leaves(X, first, last, *nodes, out)

    if len(X) <= BLOCK:
        block(0)
    else:
        list(map_threads(block, range(0, len(X), BLOCK)))
    return out
