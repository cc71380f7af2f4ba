r"""Grow a tree on sums that come from elsewhere: the decisions of ``leafwise``, some ahead of time.

Best-first growth makes one split after the other, but what a split would give depends on its leaf
alone. So the children of all leaves that can still be split are looked at in one go, as *places*;
then the splits are made in their order as far as the children are known:

    places   a binary tree of leaves that are, were, or may come to be; a place keeps its sums, its
             best split, its bounds
    leaves   those of the tree so far: what ``leafwise.grow_tree`` has at the same moment

A leaf that has more than the remaining number of splits before it will never be split, and is not
looked at. The tree is that of ``grow_tree``, to the last bit.
"""

import numpy as np

from pellucid.core.runtime.jit import jit
from pellucid.ensemble.boosting.kernels.histograms import (
    BINS,
    add_block,
    add_rows,
    near_rows,
    part_rows,
)
from pellucid.ensemble.boosting.kernels.leafwise import (
    GAIN,
    PARENT,
    SLOT,
    SUM_W,
    best_leaf,
    can_split,
    decide,
    divide,
    examine,
    leaf_step,
    leaf_value,
    record,
)
from pellucid.ensemble.boosting.kernels.light_leaves import light_memory


@jit
def judge(table, rules, work, places, k):
    """The best split of place k, whose sums are ``work.pool[0]``."""
    zero, one = np.int64(0), np.int64(1)  # literals would be compiled as types of their own
    use = np.ones(len(rules.monotone), np.uint8)
    gains, left_g, left_w = np.empty(BINS), np.empty(BINS, np.int64), np.empty(BINS, np.int64)
    scratch = (left_g, left_w, gains, gains.view(np.int64), np.empty(BINS, np.int64))
    places.whole[k, SLOT] = 0
    examine(zero, one, table, rules, work, places, k, zero, zero, use, scratch, light_memory())
    decide(rules, work, one, places, k, zero)


@jit
def bear(rules, places, k, left, right):
    """Places for the children of k; returns whether one of them could be split again."""
    for child in (left, right):
        places.whole[child] = places.whole[k]
        places.real[child] = places.real[k]
        places.found[child] = places.found[k]
    divide(rules, places, left, right, np.int64(0))
    places.real[left, GAIN] = places.real[right, GAIN] = -1.0
    return can_split(rules, places, left) or can_split(rules, places, right)


@jit
def settle_splits(rules, places, children, leaves, at, new, tree):
    """Make the splits whose children are known, best leaf first; returns the number of leaves.

    ``at`` is the place of every leaf, ``children`` (places, 2) are -1 where not looked at.
    """
    while new < rules.max_leaves:
        split = best_leaf(leaves, new)
        if split < 0 or children[at[split], 0] < 0:
            break
        record(rules, tree, leaves, split, new)
        place = at[split]
        at[split], at[new] = children[place, 0], children[place, 1]
        for k in (split, new):
            leaves.whole[k] = places.whole[at[k]]
            leaves.real[k] = places.real[at[k]]
            leaves.found[k] = places.found[at[k]]
            leaves.whole[k, PARENT] = new - 1
        new += 1
    return new


@jit
def close_tree(rules, leaves, new, tree, steps):
    """Values and weights of the leaves."""
    mask = (np.int64(1) << rules.shift) - 1
    for k in range(new):
        tree.value[k] = leaf_value(rules, leaves, k)
        if rules.keep:
            steps[k] = leaf_step(rules, leaves, k)
            tree.value[k] = steps[k] * rules.units[0] / rules.rate
        tree.weight[k] = (leaves.whole[k, SUM_W] & mask) * rules.units[2]


@jit
def add_root(by_row, p, cells, shift, sums):
    """The sums of all rows; returns those of pairs. ``sums`` starts from zero."""
    a, b, mask = np.int64(0), np.int64(0), (np.int64(1) << shift) - 1
    n = len(cells)
    for i in range(n):
        if cells.shape[1] == 1:
            a += cells[i, 0] >> shift
            b += cells[i, 0] & mask
        else:
            a += cells[i, 0]
            b += cells[i, 1]
    for start in range(0, n, 4096):
        add_block(by_row, p, cells, start, min(start + 4096, n), sums)
    return a, b if cells.shape[1] == 2 else (b << shift) + b


@jit
def add_leaf(by_row, p, cells, rows, begin, end, sums):
    """The sums of the rows of a leaf."""
    near, near_cells = near_rows(by_row.shape[1], cells.shape[1])
    add_rows(by_row, p, cells, rows, begin, end, near, near_cells, sums)


@jit
def part_leaf(rows, begin, end, column, found):
    """Part the rows of a leaf; returns where the right ones begin."""
    spare = np.empty(end - begin + 1, np.int32)
    return part_rows(rows, begin, end, spare, column, found)


@jit
def write_leaf(rows, begin, end, k, leaf):
    """The rows of a stretch are in leaf k."""
    for i in range(begin, end):
        leaf[rows[i]] = k
