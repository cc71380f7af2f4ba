r"""Grow the trees of extremely randomised forests: one drawn cut for every column, nothing sorted.

For the columns that a node looks at, four at a time:

    first pass    copy the cells of the node's rows, their least and largest in each column
    draw          a cut t uniform in [least, largest)
    second pass   weight and sum of the rows with x <= t
    scores        as in ``growth.py``; the best cut divides the rows, both sides in their order

O(rows x columns) for a node. Rows, weights and targets lie in the order of the nodes, so that a
node reads them in one stretch. Cells may lie row by row or column by column: the same trees.
All sums are whole numbers (see ``growth.py``); cells must be known.
"""

from typing import Any, NamedTuple

import numpy as np

from pellucid.compiled.trees.growth import draw_column
from pellucid.compiled.trees.search import above, mix, random_threshold
from pellucid.core.runtime.jit import jit
from pellucid.ensemble.forest.kernels.growth import LEAF, Bag, class_score, pair_score

AT_ONCE = 4  # columns


class Cells(NamedTuple):
    """A table without gaps: cell (r, f) at ``r * row_step + f * column_step``."""

    flat: Any  # (n d,) float64
    row_step: int
    column_step: int
    n: int
    d: int


class Block(NamedTuple):
    """Scratch of one thread: four columns of a node."""

    x: Any  # (4, m) float64  cells of the node's rows
    span: Any  # (4, 3) float64  least, largest, cut
    side: Any  # (4, 3) int64  column; weight and sum left of the cut


def lay_out(X: np.ndarray, asked: int) -> Cells:
    """Row by row where a node asks about most columns, else column by column.

    >>> lay_out(np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]), 1).flat.tolist()
    [1.0, 4.0, 2.0, 5.0, 3.0, 6.0]
    """
    n, d = X.shape
    if 2 * asked >= d:
        return Cells(np.ascontiguousarray(X, np.float64).reshape(-1), d, 1, n, d)
    return Cells(np.ascontiguousarray(X.T, np.float64).reshape(-1), 1, n, n, d)


def make_block(m: int) -> Block:
    """Scratch for nodes of up to m rows."""
    k = AT_ONCE
    return Block(np.empty((k, m)), np.zeros((k, 3)), np.zeros((k, 3), np.int64))


def in_order(bag: Bag) -> Bag:
    """Weights and targets of the rows in the order of the rows; these are shared."""
    rows = bag.rows
    return Bag(rows, bag.weight[rows], bag.stat[rows], bag.target[rows])


# The kernels below take arrays, not the records: a record costs two atomic counts for each of its
# arrays in every call, which is more than the work of a small node. Places are unsigned, since
# signed ones may count from the end.


@jit
def sum_node(n_classes, weight, stat, target, s, e, total):
    """Sums of the rows at s..e-1; True if all targets are equal."""
    total[:] = 0
    others, first = np.int64(0), target[s]
    for i in range(s, e):
        others += np.int64(target[i] != first)
    if n_classes == 2:
        w, t = np.int64(0), np.int64(0)
        for i in range(s, e):
            w += weight[i]
            t += stat[i]
        total[0] = w
        total[1] = t
    else:
        for i in range(s, e):
            total[stat[i]] += weight[i]
    return others == 0


@jit
def copy_cells(flat, step, jump, rows, s, e, x, span, side):
    """Cells of the rows in the four columns, the least and the largest of each."""
    f = np.uint64(side[0, 0]) * jump
    g = np.uint64(side[1, 0]) * jump
    h = np.uint64(side[2, 0]) * jump
    k = np.uint64(side[3, 0]) * jump
    f_low = g_low = h_low = k_low = np.inf
    f_high = g_high = h_high = k_high = -np.inf
    for i in range(s, e):
        r = np.uint64(rows[i]) * step
        a = flat[r + f]
        b = flat[r + g]
        c = flat[r + h]
        d = flat[r + k]
        x[0, i - s] = a
        x[1, i - s] = b
        x[2, i - s] = c
        x[3, i - s] = d
        f_low = a if a < f_low else f_low
        g_low = b if b < g_low else g_low
        h_low = c if c < h_low else h_low
        k_low = d if d < k_low else k_low
        f_high = a if a > f_high else f_high
        g_high = b if b > g_high else g_high
        h_high = c if c > h_high else h_high
        k_high = d if d > k_high else k_high
    span[0, 0] = f_low
    span[1, 0] = g_low
    span[2, 0] = h_low
    span[3, 0] = k_low
    span[0, 1] = f_high
    span[1, 1] = g_high
    span[2, 1] = h_high
    span[3, 1] = k_high


@jit
def sum_left(x, span, weight, stat, s, e, side):
    """Weight and sum of the rows left of each of the four cuts."""
    tf = span[0, 2]
    tg = span[1, 2]
    th = span[2, 2]
    tk = span[3, 2]
    wf = wg = wh = wk = np.int64(0)
    sf = sg = sh = sk = np.int64(0)
    for i in range(s, e):
        w = weight[i]
        v = stat[i]
        f = -np.int64(x[0, i - s] <= tf)  # all bits or none
        g = -np.int64(x[1, i - s] <= tg)
        h = -np.int64(x[2, i - s] <= th)
        k = -np.int64(x[3, i - s] <= tk)
        wf += w & f
        sf += v & f
        wg += w & g
        sg += v & g
        wh += w & h
        sh += v & h
        wk += w & k
        sk += v & k
    side[0, 1] = wf
    side[1, 1] = wg
    side[2, 1] = wh
    side[3, 1] = wk
    side[0, 2] = sf
    side[1, 2] = sg
    side[2, 2] = sh
    side[3, 2] = sk


@jit
def count_left(x, k, cut, weight, stat, s, e, left):
    """Class weights left of the k-th cut in ``left``; returns the number of rows there."""
    n, classes = np.int64(0), len(left) > 3
    left[:] = 0
    for i in range(s, e):
        inside = np.int64(x[k, i - s] <= cut)
        n += inside
        if classes:
            left[stat[i]] += weight[i] & -inside
    return n


@jit
def best_cut(
    task, flat, step, jump, rows, weight, stat, s, e, w, key, total, left, columns, x, span, side
):
    """(gain of the score, column, cut) of the best of the drawn cuts."""
    d, asked, m, t, two = len(columns), task.max_features, np.int64(e - s), total[1], len(left) == 3
    shift, zero = np.int64(np.round(t / w)), np.int64(0)
    best, best_column, best_at, varied, j = -np.inf, np.int64(-1), 0.0, False, 0
    while j < d and (j < asked or not varied):
        some = min(AT_ONCE, (asked if j < asked else d) - j)
        for k in range(AT_ONCE):
            if k >= some:
                side[k, 0] = side[some - 1, 0]
            else:
                side[k, 0] = draw_column(columns, j + k, key) if asked < d else j + k
        copy_cells(flat, step, jump, rows, s, e, x, span, side)
        for k in range(some):
            span[k, 2] = random_threshold(span[k, 0], span[k, 1], mix(key, side[k, 0] + 1))
        sum_left(x, span, weight, stat, s, e, side)
        for k in range(some):
            if span[k, 0] == span[k, 1]:
                continue
            if varied and j + k >= asked:
                break
            varied = True
            wl = side[k, 1]
            if min(wl, w - wl) < task.min_weight:
                continue
            if task.min_leaf > 1 or not two:
                n = count_left(x, k, span[k, 2], weight, stat, s, e, left)
                if min(n, m - n) < task.min_leaf:
                    continue
            if two:
                found = pair_score(task, wl, side[k, 2], w, t, shift)
            else:
                found = class_score(task, left, total, wl, w - wl)
            if found > above(best):
                best, best_column, best_at = found, side[k, 0], span[k, 2]
        j += some
    whole = pair_score(task, w, t, w, t, shift) if two else class_score(task, total, total, w, zero)
    return best - whole, best_column, best_at


@jit
def split_rows(flat, step, start, cut, rows, weight, stat, target, s, e, moved, others, stats, x):
    """Rows up to the cut first, both sides in their old order; returns where the others begin."""
    one, at, b = np.uint64(1), s, np.uint64(0)
    for i in range(s, e):
        r = rows[i]
        w = weight[i]
        v = stat[i]
        y = target[i]
        stay = np.uint64(flat[np.uint64(r) * step + start] <= cut)
        rows[at] = r
        weight[at] = w
        stat[at] = v
        target[at] = y
        moved[b] = r
        others[b] = w
        stats[b] = v
        x[0, b] = y
        at += stay
        b += one - stay
    for i in range(b):
        rows[at + i] = moved[i]
        weight[at + i] = others[i]
        stat[at + i] = stats[i]
        target[at + i] = x[0, i]
    return np.int64(at)


@jit
def grow_random(task, cells, bag, room, block, out):
    """Grow a tree; returns the number of its nodes. ``bag`` ends in the order of leaves."""
    flat, step, jump = cells.flat, np.uint64(cells.row_step), np.uint64(cells.column_step)
    stack, keys, total, left, columns = room.stack, room.keys, room.total, room.left, room.columns
    moved, others, stats = room.moved, room.weight, room.stat
    rows, weight, stat, target = bag
    x, span, side = block
    right, feature, threshold, missing_left, size, sums, same = out
    stack[0, 0], stack[0, 1], stack[0, 2], stack[0, 3] = 0, len(rows), 0, -1
    keys[0] = task.seed
    top, n = 1, 0
    while top > 0:
        top -= 1
        s, e, depth, parent = stack[top, 0], stack[top, 1], stack[top, 2], stack[top, 3]
        first, last = np.uint64(s), np.uint64(e)
        key, node, m = keys[top], n, e - s
        n += 1
        if parent >= 0:
            right[parent] = node
        pure = sum_node(task.n_classes, weight, stat, target, first, last, total)
        w = np.int64(0)
        for k in range(task.n_classes):
            sums[node, k] = total[k]
            w += total[k] if k == 0 or task.n_classes > 2 else 0
        right[node], feature[node], threshold[node], missing_left[node] = LEAF, LEAF, 0.0, 0
        size[node], same[node] = m, rows[s] if pure else -1
        if pure or m < task.min_split or m < 2 * task.min_leaf or depth >= task.max_depth:
            continue
        if w < 2 * task.min_weight:
            continue
        gain, f, t = best_cut(
            task,
            flat,
            step,
            jump,
            rows,
            weight,
            stat,
            first,
            last,
            w,
            key,
            total,
            left,
            columns,
            x,
            span,
            side,
        )
        if f < 0 or gain < task.min_decrease:
            continue
        middle = split_rows(
            flat,
            step,
            np.uint64(f) * jump,
            t,
            rows,
            weight,
            stat,
            target,
            first,
            last,
            moved,
            others,
            stats,
            x,
        )
        feature[node], threshold[node] = f, t
        missing_left[node] = np.int64(2 * (middle - s) > m)
        stack[top, 0], stack[top, 1], stack[top, 2], stack[top, 3] = middle, e, depth + 1, node
        stack[top + 1, 0], stack[top + 1, 1], stack[top + 1, 2] = s, middle, depth + 1
        stack[top + 1, 3] = -1
        keys[top], keys[top + 1] = mix(key, 1), mix(key, 0)
        top += 2
    return n
