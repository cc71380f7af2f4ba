r"""Grow the trees of a forest on coded columns: histograms, one tree per thread.

A cell is a bin number (``codes``); the rows of a node are a range of ``rows``. For every column
that the node looks at, the sums of its rows are added up by bin, and the question "bin <= b ?" is
scored after every non-empty bin. A bitmap tells which bins are not empty, so that a node of 20
rows costs 20 steps whatever the number of bins.

    numbers, two classes by gini   S_L^2 / W_L + S_R^2 / W_R           (S about the node's mean)
    entropy                        sum_k L_k log L_k - W_L log W_L + the same of R
    more classes by gini           sum_k L_k^2 / W_L + sum_k R_k^2 / W_R

All sums are whole numbers, so that the same division of the rows scores the same bits in every
column and does not depend on the order of the rows: weight 2 equals a row written twice. Scores
that differ by rounding are ties, and the first question wins, as in the tree of one bag.
The nodes come in preorder: the left child of node i is i + 1.
"""

from typing import Any, NamedTuple

import numpy as np

from pellucid.compiled.trees.growth import draw_column
from pellucid.compiled.trees.search import ALMOST, above, mix, random_threshold, x_log_x
from pellucid.core.runtime import simd
from pellucid.core.runtime.jit import jit

GINI, ENTROPY, SQUARED = range(3)
LEAF = -1


class Coded(NamedTuple):
    """A table in bins: the same for every tree."""

    codes: Any  # (d, n) uint16; a missing cell has the code ``missing``
    bottom: Any  # (d, bins) float64  a bin holds numbers from bottom ...
    top: Any  # (d, bins) float64  ... to top
    missing: int


class Bag(NamedTuple):
    """What one tree sees."""

    rows: Any  # (m,) int32  row numbers, put in order of the leaves
    weight: Any  # (n,) int64
    stat: Any  # (n,) int64  class, or (two classes) 0 or weight, or weight times number
    target: Any  # (n,) float64 to tell equal targets


class Task(NamedTuple):
    """What the tree is asked to be."""

    criterion: int
    n_classes: int  # 2 also for numbers: weight and sum
    numbers: int
    max_depth: int
    min_split: int
    min_leaf: int
    min_weight: int
    max_features: int
    min_decrease: float  # of the score
    packed: int  # 1: two classes by gini, small weights, nothing missing, no limits on the sides
    random: int  # 1: one random threshold for every column
    seed: int


class Grown(NamedTuple):
    """Nodes in preorder."""

    right: Any  # (cap,) int32, -1 in a leaf
    feature: Any  # (cap,) int32, -1 in a leaf
    threshold: Any  # (cap,) float64
    missing_left: Any  # (cap,) uint8
    size: Any  # (cap,) int32  rows
    sums: Any  # (cap, K) float64  class weights; numbers: weight and sum
    pure: Any  # (cap,) int32  the row whose target all share, or -1


class Room(NamedTuple):
    """Scratch of one thread."""

    weight: Any  # (m,) int64 of the node's rows
    stat: Any  # (m,) int64
    moved: Any  # (m,) int32
    hist: Any  # (bins, K + 1) int64, zero between calls
    flat: Any  # (bins,) int64, zero between calls
    bins: Any  # (bins,) int64
    marks: Any  # (words,) uint64, zero between calls
    total: Any  # (K + 1,) int64
    left: Any  # (K + 1,) int64
    columns: Any  # (d,) int64
    stack: Any  # (m + 1, 4) int64
    keys: Any  # (m + 1,) int64


def make_room(m: int, d: int, bins: int, n_classes: int) -> Room:
    """Scratch for trees of up to m rows."""
    i8, K = np.int64, n_classes + 1
    rows = np.empty(m, i8), np.empty(m, i8), np.empty(m, np.int32)
    sums = np.zeros((bins, K), i8), np.zeros(bins, i8), np.empty(bins, i8)
    totals = np.zeros(-(-bins // 64), np.uint64), np.zeros(K, i8), np.zeros(K, i8)
    stack = np.arange(d, dtype=i8), np.empty((m + 1, 4), i8), np.empty(m + 1, i8)
    return Room(*rows, *sums, *totals, *stack)


def empty_grown(m: int, n_classes: int) -> Grown:
    """Room for the nodes of a tree of m rows."""
    cap, i4 = max(2 * m - 1, 1), np.int32
    asked = np.empty(cap, i4), np.empty(cap, i4), np.empty(cap), np.empty(cap, np.uint8)
    return Grown(*asked, np.empty(cap, i4), np.empty((cap, n_classes)), np.empty(cap, i4))


@jit
def take_node(task, bag, s, e, room):
    """Copy weights and targets of the node's rows; their sums; True if all targets are equal."""
    rows, weight, stat, target = bag.rows, bag.weight, bag.stat, bag.target
    total = room.total
    total[:] = 0
    pure, first = True, target[rows[s]]
    if task.n_classes == 2:
        w, t = np.int64(0), np.int64(0)
        for i in range(s, e):
            r = rows[i]
            a, b = weight[r], stat[r]
            room.weight[i - s], room.stat[i - s] = a, b
            w += a
            t += b
            pure = pure and target[r] == first
        total[0], total[1] = w, t
    else:
        for i in range(s, e):
            r = rows[i]
            room.weight[i - s], room.stat[i - s] = weight[r], stat[r]
            total[stat[r]] += weight[r]
            pure = pure and target[r] == first
    total[task.n_classes] = e - s
    return pure


@jit
def fill_pairs(codes, rows, s, m, weight, stat, hist, marks):
    """Sums (weight, stat, rows) of every bin; marks tell which bins are not empty."""
    for i in range(m):
        c = np.int64(codes[rows[s + i]])
        hist[c, 0] += weight[i]
        hist[c, 1] += stat[i]
        hist[c, 2] += 1
        marks[c >> 6] |= np.uint64(1) << np.uint64(c & 63)


@jit
def fill_classes(codes, rows, s, m, weight, stat, hist, marks):
    """Class weights and rows of every bin."""
    k = hist.shape[1] - 1
    for i in range(m):
        c = np.int64(codes[rows[s + i]])
        hist[c, stat[i]] += weight[i]
        hist[c, k] += 1
        marks[c >> 6] |= np.uint64(1) << np.uint64(c & 63)


@jit
def pair_score(task, wl, tl, w, t, shift):
    """The score of the sides for numbers or two classes."""
    wr, tr = w - wl, t - tl
    if task.criterion == ENTROPY:
        left = x_log_x(tl) + x_log_x(wl - tl) - x_log_x(wl)
        return left + (x_log_x(tr) + x_log_x(wr - tr) - x_log_x(wr))
    a, b = float(tl - shift * wl), float(tr - shift * wr)
    return a * a / wl + (b * b / wr if wr > 0 else 0.0)


@jit
def class_score(task, left, total, wl, wr):
    """The score of the sides for several classes."""
    a, b = 0.0, 0.0
    for k in range(task.n_classes):
        x, y = left[k], total[k] - left[k]
        if task.criterion == GINI:
            a += float(x) * float(x)
            b += float(y) * float(y)
        else:
            a += x_log_x(x)
            b += x_log_x(y)
    if task.criterion == GINI:
        return a / wl + (b / wr if wr > 0 else 0.0)
    return (a - x_log_x(wl)) + (b - x_log_x(wr))


@jit
def node_score(task, room, w):
    """The score of the undivided node."""
    if task.n_classes > 2:
        return class_score(task, room.total, room.total, w, np.int64(0))
    t = room.total[1]
    return pair_score(task, w, t, w, t, np.int64(np.round(t / w)))


@jit
def random_place(table, f, marks, key):
    """The last non-empty bin below a random threshold, and this threshold.

    Uniform from the top of the first bin to the bottom of the last, so that at least these two
    are divided.
    """
    first, last = np.int64(-1), np.int64(-1)
    for word in range(len(marks)):
        bits = marks[word]
        while bits != np.uint64(0):
            c = np.int64(simd.trailing_zeros(bits)) + (word << 6)
            bits &= bits - np.uint64(1)
            if c == table.missing:
                break
            first = c if first < 0 else first
            last = c
    if first == last:
        return np.int64(-1), 0.0
    t = random_threshold(table.top[f, first], table.bottom[f, last], key)
    place = first
    while place + 1 < last and table.top[f, place + 1] <= t:
        place += 1
    while not marks[place >> 6] >> np.uint64(place & 63) & np.uint64(1):
        place -= 1
    return place, t


@jit(counted=False, inlined=True)
def scan_pairs(task, room, missing, side, w, best, only):
    """(score, bin, next bin) of the best question, where better than ``best``.

    ``only`` >= 0: the question after this bin and no other.
    """
    hist, marks, total = room.hist, room.marks, room.total
    t, n = total[1], total[2]
    shift = np.int64(np.round(t / w))
    wl, tl, nl = np.int64(0), np.int64(0), np.int64(0)
    if side == 1:
        wl, tl, nl = hist[missing, 0], hist[missing, 1], hist[missing, 2]
    place, after, waiting = np.int64(-1), np.int64(-1), False
    simple = task.criterion != ENTROPY and task.min_leaf <= 1 and task.min_weight <= 1
    rest, all_w, hurdle = float(t - shift * w), float(w), above(best)
    for word in range(len(marks)):
        bits = marks[word]
        while bits != np.uint64(0):
            c = np.int64(simd.trailing_zeros(bits)) + (word << 6)
            bits &= bits - np.uint64(1)
            if c == missing:
                break  # the last one
            if waiting:
                after, waiting = c, False
            wl += hist[c, 0]
            tl += hist[c, 1]
            nl += hist[c, 2]
            if nl == n:
                break
            if only >= 0 and c != only:
                continue
            if simple:
                a, x = float(tl - shift * wl), float(wl)
                b, y = rest - a, all_w - x
                score = a * a / x + b * b / y
            elif min(nl, n - nl) < task.min_leaf or min(wl, w - wl) < task.min_weight:
                continue
            else:
                score = pair_score(task, wl, tl, w, t, shift)
            if score > hurdle:
                best, place, after, waiting = score, c, np.int64(-1), True
                hurdle = above(best)
    return best, place, after


@jit
def scan_classes(task, room, missing, side, w, best, only):
    """The same for several classes."""
    hist, marks, total, left = room.hist, room.marks, room.total, room.left
    K = task.n_classes
    n, wl = total[K], np.int64(0)
    for k in range(K + 1):
        left[k] = hist[missing, k] if side == 1 else 0
        wl += left[k] if k < K else 0
    place, after, waiting, hurdle = np.int64(-1), np.int64(-1), False, above(best)
    for word in range(len(marks)):
        bits = marks[word]
        while bits != np.uint64(0):
            c = np.int64(simd.trailing_zeros(bits)) + (word << 6)
            bits &= bits - np.uint64(1)
            if c == missing:
                break
            if waiting:
                after, waiting = c, False
            for k in range(K):
                left[k] += hist[c, k]
                wl += hist[c, k]
            left[K] += hist[c, K]
            nl = left[K]
            if nl == n:
                break
            if only >= 0 and c != only:
                continue
            if min(nl, n - nl) < task.min_leaf or min(wl, w - wl) < task.min_weight:
                continue
            score = class_score(task, left, total, wl, w - wl)
            if score > hurdle:
                best, place, after, waiting = score, c, np.int64(-1), True
                hurdle = above(best)
    return best, place, after


@jit
def count_marks(marks):
    """0, 1 or 2 (more) non-empty bins."""
    found = 0
    for word in range(len(marks)):
        bits = marks[word]
        if bits != np.uint64(0):
            found += 1 if bits & (bits - np.uint64(1)) == np.uint64(0) else 2
            if found > 1:
                return 2
    return found


@jit
def clear(hist, marks):
    """Zero the bins that were used."""
    for word in range(len(marks)):
        bits = marks[word]
        while bits != np.uint64(0):
            c = np.int64(simd.trailing_zeros(bits)) + (word << 6)
            bits &= bits - np.uint64(1)
            for k in range(hist.shape[1]):
                hist[c, k] = 0
        marks[word] = np.uint64(0)


@jit
def best_question(task, table, bag, s, e, w, key, room):
    """(score, column, bin, next bin, side of the missing cells) over columns drawn at random."""
    d = table.codes.shape[0]
    nothing = np.int64(-1)
    best, column, place, after, to = -np.inf, nothing, nothing, nothing, 0
    drawn, varied, drawn_at = task.max_features < d, False, 0.0
    hist, marks = room.hist, room.marks
    for j in range(d):
        f = np.int64(j)
        if drawn:
            if j >= task.max_features and varied:
                break
            f = draw_column(room.columns, j, key)
        codes = table.codes[f]
        if task.n_classes == 2:
            fill_pairs(codes, bag.rows, s, e - s, room.weight, room.stat, hist, marks)
        else:
            fill_classes(codes, bag.rows, s, e - s, room.weight, room.stat, hist, marks)
        found, at, then, side, t, more = try_column(task, table, f, w, key, room, best)
        varied = varied or more
        if at >= 0:
            best, column, place, after, to, drawn_at = found, f, at, then, side, t
    return best, column, place, after, to, drawn_at


@jit(counted=False, inlined=True)
def try_column(task, table, f, w, key, room, best):
    """(score, bin, next bin, side, threshold, varied?) of column f, where better than ``best``.

    Its sums are in the room, and are cleared.
    """
    nothing = np.int64(-1)
    place, after, to, drawn_at, varied = nothing, nothing, 0, 0.0, False
    marks, missing = room.marks, table.missing
    if count_marks(marks) > 1:
        varied = True
        only, t = nothing, 0.0
        if task.random:
            only, t = random_place(table, f, marks, mix(key, f + 1))
        lost = marks[missing >> 6] >> np.uint64(missing & 63) & np.uint64(1)
        for side in range(2 if lost else 1):
            if task.n_classes == 2:
                found, at, then = scan_pairs(task, room, missing, side, w, best, only)
            else:
                found, at, then = scan_classes(task, room, missing, side, w, best, only)
            if at >= 0:
                best, place, after, to, drawn_at = found, at, then, side, t
    clear(room.hist, marks)
    return best, place, after, to, drawn_at, varied


@jit
def sum_packed(codes, rows, s, m, pack, hist, marks, bins):
    """Sums of every bin, and the list of those that are not empty; returns their number."""
    q = np.int64(0)
    if 2 * m > len(hist):  # most bins are in use: look at them all
        for i in range(m):
            hist[codes[rows[s + i]]] += pack[i]
        for b in range(len(hist)):
            bins[q] = b
            q += np.int64(hist[b] != 0)
        return q
    for i in range(m):
        c = np.int64(codes[rows[s + i]])
        hist[c] += pack[i]
        marks[c >> 6] |= np.uint64(1) << np.uint64(c & 63)
    for word in range(len(marks)):
        bits = marks[word]
        marks[word] = np.uint64(0)
        while bits != np.uint64(0):
            bins[q] = np.int64(simd.trailing_zeros(bits)) + (word << 6)
            bits &= bits - np.uint64(1)
            q += 1
    return q


@jit
def best_packed(task, table, bag, s, e, w, key, room):
    """Two classes by gini: weight and sum in one number, (a n - t n_l)^2 / (n_l n_r)."""
    d, m = table.codes.shape[0], e - s
    nothing = np.int64(-1)
    best, column, place, after = -np.inf, nothing, nothing, nothing
    drawn, varied = task.max_features < d, False
    hist, bins, pack = room.flat, room.bins, room.stat
    for i in range(m):
        pack[i] |= room.weight[i] << 32
    total, t = float(w), float(room.total[1])
    perfect, hurdle = t * (total - t), -1.0
    for j in range(d):
        f = np.int64(j)
        if drawn:
            if j >= task.max_features and varied:
                break
            f = draw_column(room.columns, j, key)
        q = sum_packed(table.codes[f], bag.rows, s, m, pack, hist, room.marks, bins)
        varied = varied or q > 1
        found, at, then, hurdle = scan_packed(hist, bins, q, total, t, best, hurdle)
        if at >= 0:
            best, column, place, after = found, f, at, then
        if best >= perfect:
            break
    return best, column, place, after, 0


@jit(counted=False, inlined=True)
def scan_packed(hist, bins, q, total, t, best, hurdle):
    """(score, bin, next bin, hurdle) of q bins, where better than ``best``; they are cleared."""
    place, after, both_sums = np.int64(-1), np.int64(-1), np.int64(0)
    for k in range(q - 1):
        c = bins[k]
        both_sums += hist[c]
        hist[c] = 0
        x = float(both_sums >> 32)
        u, both = float(both_sums & 0xFFFFFFFF) * total - t * x, x * (total - x)
        if u * u > hurdle * both:  # only then is the division worth its time
            found = u * u / both
            if found > best:
                best, place, after = found, c, bins[k + 1]
                hurdle = found * ALMOST
    hist[bins[q - 1]] = 0
    return best, place, after, hurdle


@jit
def divide(codes, rows, s, e, place, to, missing, moved):
    """Rows of bins up to ``place`` first, both sides in their old order; (left, any missing?)."""
    at, n_moved, lost = s, np.int64(0), False
    for i in range(s, e):
        r = rows[i]
        c = np.int64(codes[r])
        stay = c <= place
        if c == missing:
            stay = to == 1
            lost = True
        rows[at] = r
        moved[n_moved] = r
        at += np.int64(stay)
        n_moved += 1 - np.int64(stay)
    for i in range(n_moved):
        rows[at + i] = moved[i]
    return at - s, lost


@jit
def threshold_between(table, f, place, after, random, t):
    """Half-way between two bins, or ``t``; infinity divides known cells from missing ones."""
    if after < 0:
        return np.inf
    a, b = table.top[f, place], table.bottom[f, after]
    t = t if random else 0.5 * a + 0.5 * b
    return t if a <= t < b else a


@jit
def grow_coded(task, table, bag, room, out):
    """Grow a tree; returns the number of its nodes. ``bag.rows`` ends in the order of leaves."""
    stack, keys = room.stack, room.keys
    stack[0, 0], stack[0, 1], stack[0, 2], stack[0, 3] = 0, len(bag.rows), 0, -1
    keys[0] = task.seed
    top, n = 1, 0
    while top > 0:
        top -= 1
        s, e, depth, parent = stack[top, 0], stack[top, 1], stack[top, 2], stack[top, 3]
        key = keys[top]
        node = n
        n += 1
        if parent >= 0:
            out.right[parent] = node
        pure = take_node(task, bag, s, e, room)
        w = np.int64(0)
        for k in range(task.n_classes):
            out.sums[node, k] = room.total[k]
            w += room.total[k]
        if task.n_classes == 2:
            w = room.total[0]
        out.right[node], out.feature[node], out.threshold[node] = LEAF, LEAF, 0.0
        out.missing_left[node], out.size[node] = 0, e - s
        out.pure[node] = bag.rows[s] if pure else -1
        if pure or e - s < task.min_split or e - s < 2 * task.min_leaf or depth >= task.max_depth:
            continue
        if w < 2 * task.min_weight:
            continue
        t = 0.0
        if task.packed:
            best, f, place, after, to = best_packed(task, table, bag, s, e, w, key, room)
        else:
            best, f, place, after, to, t = best_question(task, table, bag, s, e, w, key, room)
            best -= node_score(task, room, w)
        if f < 0 or best < task.min_decrease:
            continue
        n_left, lost = divide(table.codes[f], bag.rows, s, e, place, to, table.missing, room.moved)
        out.feature[node] = f
        out.threshold[node] = threshold_between(table, f, place, after, task.random, t)
        out.missing_left[node] = to if lost else np.int64(2 * n_left > e - s)
        middle = s + n_left
        stack[top, 0], stack[top, 1], stack[top, 2], stack[top, 3] = middle, e, depth + 1, node
        stack[top + 1, 0], stack[top + 1, 1], stack[top + 1, 2] = s, middle, depth + 1
        stack[top + 1, 3] = -1
        keys[top], keys[top + 1] = mix(key, 1), mix(key, 0)
        top += 2
    return n
