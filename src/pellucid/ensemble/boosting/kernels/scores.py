r"""Scores of many trees on rows in bins.

Trees of at most 64 leaves are read by bits: a row starts with all leaves possible; each node it
answers with "right" crosses out the leaves on its left; the lowest leaf that remains is its own.
Every node is a loop over a block of rows without a branch; up to 32 leaves fit words of half the
size, and twice as many rows go through at once. Larger trees are walked.

``trees`` is ``ensemble.boosting.boosted_trees.Trees``, whose ``warm`` compiles this file.

References: Lucchese et al. (2015), QuickScorer.
"""

import numpy as np

from pellucid.core.runtime import simd
from pellucid.core.runtime.jit import jit

BLOCK = 512
ALL = np.uint64(0xFFFFFFFFFFFFFFFF)


@jit
def leaf_bits(node_start, leaf_start, left, right, value, masks, ordered):
    """Per node the leaves that "right" leaves possible; leaf values from left to right."""
    for t in range(len(node_start) - 1):
        n0, l0 = node_start[t], leaf_start[t]
        n_nodes = node_start[t + 1] - n0
        if n_nodes == 0:
            ordered[l0] = value[l0]
            continue
        stack, first = np.empty(2 * n_nodes + 2, np.int64), np.empty(n_nodes, np.int64)
        top, place = 1, 0
        stack[0] = 0
        while top:
            top -= 1
            k = stack[top]
            if k >= 2 * n_nodes:  # back from the left side of a node
                node = k - 2 * n_nodes
                count = place - first[node]
                bits = ALL if count == 64 else (np.uint64(1) << np.uint64(count)) - np.uint64(1)
                masks[n0 + node] = ~(bits << np.uint64(first[node]))
                stack[top] = right[n0 + node]
                top += 1
            elif k >= 0:
                first[k] = place
                stack[top], stack[top + 1] = k + 2 * n_nodes, left[n0 + k]
                top += 2
            else:
                ordered[l0 + place] = value[l0 + ~k]
                place += 1


@jit
def cross_out(possible, codes, threshold, side, everything, mask):
    """A node of an ordered column: rows above the threshold lose the leaves on its left."""
    shift, top = np.uint8(side), np.uint8(threshold + side)
    for i in range(len(possible)):
        stay = np.uint8(codes[i] + shift) <= top
        possible[i] &= everything if stay else mask


@jit
def cross_out_sets(possible, codes, members, mask):
    """The same of a column of categories: those in the set stay on the left."""
    for i in range(len(possible)):
        b = np.int64(codes[i])
        if not (members[b >> 6] >> (b & 63)) & 1:
            possible[i] &= mask


@jit
def add_values(out, possible, values):
    """out += the value of the lowest leaf that is possible."""
    for i in range(len(out)):
        out[i] += values[simd.trailing_zeros(np.uint64(possible[i]))]


@jit
def score_bits(trees, masks, ordered, codes, first, step, out, begin, end):
    """out += the values of the trees first, first + step, ... for the rows [begin, end)."""
    memory = np.zeros(BLOCK + 1, masks.dtype)
    memory[:] = -1  # all bits
    everything = memory[BLOCK]
    for start in range(begin, end, BLOCK):
        stop = min(start + BLOCK, end)
        possible = memory[: stop - start]
        for t in range(first, len(trees.node_start) - 1, step):
            possible[:] = everything
            for k in range(trees.node_start[t], trees.node_start[t + 1]):
                column, c = codes[trees.feature[k], start:stop], trees.category[k]
                if c < 0:
                    at, side = trees.threshold[k], trees.missing_left[k]
                    cross_out(possible, column, at, side, everything, masks[k])
                else:
                    cross_out_sets(possible, column, trees.sets[c], masks[k])
            add_values(out[start:stop], possible, ordered[trees.leaf_start[t] :])


@jit
def walk_trees(trees, codes, first, step, out, begin, end):
    """The same, node by node."""
    for i in range(begin, end):
        for t in range(first, len(trees.node_start) - 1, step):
            out[i] += trees.value[trees.leaf_start[t] + walk_one(trees, codes, t, i)]


@jit
def walk_one(trees, codes, t, i):
    """The leaf of row i in tree t."""
    n0 = trees.node_start[t]
    if trees.node_start[t + 1] == n0:
        return 0
    k = np.int64(0)
    while k >= 0:
        node = n0 + k
        b, c = np.int64(codes[trees.feature[node], i]), trees.category[node]
        if c >= 0:
            stay = (trees.sets[c, b >> 6] >> (b & 63)) & 1
        else:
            stay = trees.missing_left[node] if b == 255 else b <= trees.threshold[node]
        k = np.int64(trees.left[node] if stay else trees.right[node])
    return ~k
