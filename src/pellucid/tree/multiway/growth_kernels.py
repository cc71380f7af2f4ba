"""Grow a whole multiway tree, depth first.

The examples of the nodes that wait lie behind each other in two long arrays (row, weight), the node
to be looked at next on top: its children take its place. An example without the value that is asked
for goes to all children, with its share of the weight, so these arrays may grow beyond n.
"""

from typing import Any, NamedTuple

import numpy as np

from pellucid.core.runtime.jit import jit
from pellucid.tree.multiway.search_kernels import (
    FEW,
    RATIO,
    SQUARED,
    TIE,
    Room,
    clear,
    score_categories,
    score_numbers,
)

MANY = 0.3  # a column with more categories than this share of the examples nearly names them
SLACK = 1e-3  # C4.5's: a gain this little below the average is enough
SEVERAL = -1  # a row whose missing cell leads to every child


@jit
def end_nodes(feature, threshold, branch, default, start, child, cells, fractions, out):
    """out_i = the node where row i ends, or ``SEVERAL`` where a missing cell divides it.

    The children of node k are ``child[start[k]:start[k + 1]]``; cells (d, n) hold numbers (NaN
    missing) and codes (-1 missing). A category without a branch ends at the node that asks.
    """
    for i in range(len(out)):
        node = 0
        while node >= 0 and feature[node] >= 0:
            x, t = cells[feature[node], i], threshold[node]
            numeric = t == t
            if x != x or (not numeric and x == -1):
                node = SEVERAL if fractions else default[node]
                continue
            code = (1 if x > t else 0) if numeric else int(x)
            found = -1
            for k in range(start[node], start[node + 1]):
                if branch[child[k]] == code:
                    found = child[k]
                    break
            if found < 0:
                break
            node = found
        out[i] = node


PARENT, FEATURE, BRANCH, DEFAULT, SIZE, BELOW, ABOVE = 0, 1, 2, 3, 4, 5, 6
SHARE, GAIN = 0, 1


class Limits(NamedTuple):
    """How to grow."""

    criterion: int
    max_depth: int
    min_split: int
    min_leaf: int
    fractions: bool


class Nodes(NamedTuple):
    """The nodes in the order in which they were made."""

    whole: Any  # (nodes, 7) parent, feature, branch, default, size, ranks around the threshold
    real: Any  # (nodes, 2) share, gain
    sums: Any  # (nodes, q)


@jit
def larger(a, need):
    """``a`` with at least ``need`` rows."""
    if need <= len(a):
        return a
    out = np.empty((max(need, 2 * len(a)), a.shape[1]), a.dtype)
    for i in range(len(a)):
        for k in range(a.shape[1]):
            out[i, k] = a[i, k]
    return out


@jit
def mark_used(whole, node, used):
    """used[j]: whether a question above ``node`` was about column j."""
    for j in range(len(used)):
        used[j] = False
    node = whole[node, PARENT]
    while node >= 0:
        used[whole[node, FEATURE]] = True
        node = whole[node, PARENT]


@jit
def average_gain(cells, gains, total):
    """C4.5: the mean gain of the questions, without categories that nearly name the examples."""
    possible, summed, special = 0, 0.0, True
    for j in range(len(gains)):
        special &= cells.categorical[j] > 0 and cells.size[j] >= MANY * total
    for j in range(len(gains)):
        many = cells.categorical[j] > 0 and cells.size[j] >= MANY * total
        if gains[j] == gains[j] and (special or not many):
            possible += 1
            summed += gains[j]
    return summed / possible if possible > 0 else 0.0


@jit
def ask(cells, limits, used, rows, w, room, found_all, total):
    """(feature, gain, ranks around the threshold, branch of missing cells) of greatest merit.

    C4.5 (gain ratio) looks at questions of at least average gain only.
    """
    criterion, least, fractions = limits.criterion, limits.min_leaf, limits.fractions
    best, feature, gain, below, above, side = np.nan, -1, 0.0, -1, -1, -1
    for j in range(len(cells.size)):
        found_all[j, 0] = found_all[j, 1] = np.nan
        if cells.categorical[j]:
            if used[j]:
                continue
            found = score_categories(cells, j, rows, w, criterion, least, fractions, room)
            merit, its_gain, b, a, s = found[0], found[1], -1, -1, found[2]
        else:
            merit, its_gain, b, a, s = score_numbers(
                cells, j, rows, w, criterion, least, fractions, room
            )
        if merit == merit:
            found_all[j, 0], found_all[j, 1], found_all[j, 2] = merit, its_gain, b
            found_all[j, 3], found_all[j, 4] = a, s
    enough = -np.inf
    if criterion == RATIO:
        enough = average_gain(cells, found_all[:, 1], total) - SLACK
    for j in range(len(cells.size)):
        merit, its_gain = found_all[j, 0], found_all[j, 1]
        if merit == merit and its_gain >= enough and not merit <= best + TIE:
            best, feature, gain = merit, j, its_gain
            below, above = int(found_all[j, 2]), int(found_all[j, 3])
            side = int(found_all[j, 4])
    return feature, gain, below, above, side


@jit
def choose_branches(cells, feature, above, side, fractions, rows, branch, count, size):
    """The branch of every example, -1 where the value is missing; returns how many are."""
    rank, lost = cells.rank[feature], 0
    for b in range(size):
        count[b] = 0
    for i in range(len(rows)):
        code = np.int64(rank[rows[i]])
        if code < 0 and not fractions:
            code = np.int64(side)
        elif code >= 0 and above >= 0:
            code = np.int64(code >= above)
        branch[i] = code
        if code >= 0:
            count[code] += 1
        else:
            lost += 1
    return lost


@jit
def deal(rows, w, branch, lost, count, size, start, weight, row_stack, weight_stack, top):
    """Lay the examples of the children behind each other from ``top`` on; returns the new top."""
    known = 0.0
    for b in range(size):
        weight[b], start[b] = 0.0, top
        top += count[b] + lost if count[b] > 0 else 0
    for i in range(len(rows)):
        b = branch[i]
        if b >= 0:
            row_stack[start[b], 0], weight_stack[start[b], 0] = rows[i], w[i]
            start[b] += 1
            weight[b] += w[i]
            known += w[i]
    for b in range(size):
        weight[b] /= known
    for i in range(len(rows) if lost else 0):
        if branch[i] < 0:
            for b in range(size):
                if count[b] > 0:
                    row_stack[start[b], 0] = rows[i]
                    weight_stack[start[b], 0] = w[i] * weight[b]
                    start[b] += 1
    return top


@jit
def read(cells, criterion, row_stack, weight_stack, begin, rows, w, sums, room):
    """Rows, weights, targets and sums of a node; returns whether all its targets are the same."""
    clear(sums)
    pure, W, S, Q = True, 0.0, 0.0, 0.0
    for i in range(len(rows)):
        row, weight = row_stack[begin + i, 0], weight_stack[begin + i, 0]
        label = cells.label[row]
        rows[i], w[i], room.label[i] = row, weight, label
        pure &= label == room.label[0]
        if criterion == SQUARED:
            y = cells.y[row]
            room.y[i] = y
            W, S, Q = W + weight, S + weight * y, Q + weight * (y * y)
        else:
            room.y[i] = 0.0
            sums[label] += weight
    if criterion == SQUARED:
        sums[0], sums[1], sums[2] = W, S, Q
    return pure


@jit
def new_node(whole, real, n, parent, branch, share):
    """A leaf without examples as yet."""
    for k in range(7):
        whole[n, k] = -1
    whole[n, PARENT], whole[n, FEATURE], whole[n, BRANCH] = parent, -2, branch
    real[n, SHARE], real[n, GAIN] = share, 0.0


@jit
def add_children(whole, real, waiting, n, depth, node, top, count, size, lost, share, n_waiting):
    """One node and one place in the queue for every branch taken."""
    heaviest = -1.0
    for b in range(size):
        if count[b] == 0:
            continue
        new_node(whole, real, n, node, b, share[b])
        waiting[n_waiting, 0], waiting[n_waiting, 1] = n, top
        waiting[n_waiting, 2], waiting[n_waiting, 3] = top + count[b] + lost, depth + 1
        if share[b] > heaviest:
            heaviest, whole[node, DEFAULT] = share[b], n
        top += count[b] + lost
        n += 1
        n_waiting += 1
    return n, n_waiting


@jit
def grow_nodes(cells, limits, kept, kept_weight, room):
    """All nodes of the tree on the rows ``kept`` (m,) with their weights."""
    m, q, most = len(kept), room.groups.shape[1], max(room.groups.shape[0], 2)
    whole, real, sums = np.empty((64, 7), np.int64), np.empty((64, 2)), np.empty((64, q))
    row_stack, weight_stack = np.empty((2 * m, 1), np.int64), np.empty((2 * m, 1))
    for i in range(m):
        row_stack[i, 0], weight_stack[i, 0] = kept[i], kept_weight[i]
    all_rows, all_w, branch = np.empty(m, np.int32), np.empty(m), np.empty(m, np.int32)
    count, start, share = np.empty(most, np.int64), np.empty(most, np.int64), np.empty(most)
    used, found_all = np.empty(len(cells.size), np.bool_), np.empty((len(cells.size), 5))
    total = 0.0
    for i in range(m):
        total += kept_weight[i]
    waiting = np.empty((64, 4), np.int64)  # node, begin, end, depth
    waiting[0, 0], waiting[0, 1], waiting[0, 2], waiting[0, 3] = 0, 0, m, 0
    new_node(whole, real, 0, -1, -1, 1.0)
    n, n_waiting = 1, 1
    while n_waiting > 0:
        n_waiting -= 1
        node, begin = waiting[n_waiting, 0], waiting[n_waiting, 1]
        end, depth = waiting[n_waiting, 2], waiting[n_waiting, 3]
        rows, w = all_rows[: end - begin], all_w[: end - begin]
        whole[node, SIZE] = len(rows)
        pure = read(
            cells, limits.criterion, row_stack, weight_stack, begin, rows, w, sums[node], room
        )
        if pure or depth >= limits.max_depth or len(rows) < limits.min_split:
            continue
        mark_used(whole, node, used)
        feature, gain, below, above, side = ask(
            cells, limits, used, rows, w, room, found_all, total
        )
        if feature < 0:
            continue
        whole[node, FEATURE], whole[node, BELOW], whole[node, ABOVE] = feature, below, above
        real[node, GAIN] = gain
        size = 2 if above >= 0 else cells.size[feature]
        lost = choose_branches(
            cells, feature, above, side, limits.fractions, rows, branch, count, size
        )
        branches = 0
        for b in range(size):
            branches += count[b] > 0
        need = begin + len(rows) + branches * lost
        row_stack, weight_stack = larger(row_stack, need), larger(weight_stack, need)
        whole, real = larger(whole, n + branches), larger(real, n + branches)
        sums, waiting = larger(sums, n + branches), larger(waiting, n_waiting + branches)
        deal(rows, w, branch, lost, count, size, start, share, row_stack, weight_stack, begin)
        n, n_waiting = add_children(
            whole, real, waiting, n, depth, node, begin, count, size, lost, share, n_waiting
        )
    return Nodes(whole[:n], real[:n], sums[:n])


@jit
def preorder(whole, number):
    """Old numbers in the order of new ones, every subtree together; ``number`` the other way.

    Children have greater numbers than their parent, in the order of their branches.
    """
    n = len(whole)
    size, free, order = np.ones(n, np.int64), np.empty(n, np.int64), np.empty(n, np.int64)
    for i in range(n - 1, 0, -1):
        size[whole[i, PARENT]] += size[i]
    for i in range(n):
        number[i] = 0
        if i > 0:
            number[i] = free[whole[i, PARENT]]
            free[whole[i, PARENT]] += size[i]
        free[i] = number[i] + 1
        order[number[i]] = i
    return order


def room_for(n: int, q: int, most: int) -> Room:
    """Memory for n examples, q sums and at most ``most`` categories."""
    groups, present = np.empty((most + FEW, q)), np.empty(most + FEW, np.int64)
    left, whole, lost, total = (np.empty(q) for _ in range(4))
    order, start = np.empty((2, n), np.int32), np.empty(257, np.int64)
    rows = np.empty(n, np.int32), np.empty(n)
    sums = left, whole, lost, total, np.empty((2, q))
    return Room(groups, present, *sums, order, start, *rows)
