r"""The best question "is x_f in this set of levels ?" for the rows of a node.

The rows of a node are added up by level (a missing cell is one more level). Two sides are scored
like those of a number (``tree_search``). Of the 2^(k-1) - 1 divisions of k levels

    on a line    numbers of one output, or two classes: levels in the order of their means; the
                 best division is one of the k - 1 that cut this order (Breiman et al. 1984, 4.5)
    enumerated   up to 10 levels, for several classes or outputs, and where a side must keep more
                 than one row: every division, one level changing sides at a time (Gray's order)
    on an axis   more levels than that: in the order of their first principal component, that of
                 the class shares or means about those of the node (Coppersmith, Hong & Hosking
                 1999); the best cut of this order, which need not be the best division.

Absolute errors have no sums to add: the sides of every division are read from the targets in
sorted order; beyond 10 levels, in the order of the levels' medians.
"""

from typing import Any, NamedTuple

import numpy as np

from pellucid.compiled.trees.search import (
    CONSTANT,
    MISCLASSIFICATION,
    NOTHING,
    POISSON,
    TIE,
    add_row,
    class_score,
    mix,
    number_score,
    row_of,
)
from pellucid.core.runtime.jit import jit

ENUMERATED = 10  # levels up to which every division is scored
STEPS = 30  # of the power method
FREE = 1  # rows and weight that every level has


class Rule(NamedTuple):
    """How divisions are scored, and what each side must keep."""

    criterion: int
    offset: Any  # (o + 1,) int64  as in ``tree_search.Problem``
    stat_unit: float
    weight_unit: float
    min_leaf: int
    min_weight: int


class Groups(NamedTuple):
    """The rows of a node by level, and room to divide them."""

    sums: Any  # (k, q) int64
    weight: Any  # (k,) int64
    rows: Any  # (k,) int64
    side: Any  # (k,) uint8  1: left; the answer
    kept: Any  # (k,) uint8  the answer of the best column so far
    trial: Any  # (k,) uint8
    order: Any  # (k,) int64
    place: Any  # (k,) float64  by which levels are ordered
    axis: Any  # (2, q) float64
    level: Any  # (levels,) int64  of absolute errors: the group of every level


def make_groups(k: int, q: int) -> Groups:
    """Room for k levels and q sums."""
    i8 = np.int64
    return Groups(
        np.zeros((k, q), i8),
        np.zeros(k, i8),
        np.zeros(k, i8),
        np.zeros(k, np.uint8),
        np.zeros(k, np.uint8),
        np.zeros(k, np.uint8),
        np.zeros(k, i8),
        np.zeros(k),
        np.zeros((2, q)),
        np.zeros(k, i8),
    )


@jit
def division_score(rule, L, T, wl, wr):
    """The score of two sides, in the units of ``tree_search``."""
    if rule.criterion <= MISCLASSIFICATION:
        return class_score(rule.criterion, rule.offset, L, T, wl, wr)
    poisson = rule.criterion == POISSON
    return number_score(poisson, rule.stat_unit, rule.weight_unit, L, T, wl, wr)


@jit
def sort_levels(place, order, k):
    """order = levels by place, equal ones by number (Shell's sort)."""
    for g in range(k):
        order[g] = g
    gap = 1
    while gap < k // 3:
        gap = 3 * gap + 1
    while gap > 0:
        for i in range(gap, k):
            g, j = order[i], i
            while j >= gap and (
                place[order[j - gap]] > place[g]
                or (place[order[j - gap]] == place[g] and order[j - gap] > g)
            ):
                order[j] = order[j - gap]
                j -= gap
            order[j] = g
        gap //= 3


@jit
def centred(A, T, w, g, j):
    """The mean of sum j in level g, about that of the node."""
    return A.sums[g, j] / A.weight[g] - T[j] / w


@jit
def find_axis(A, k, T, w):
    """The first principal component of the levels' means to ``A.axis[0]``, by the power method."""
    q = A.sums.shape[1]
    widest, most = 0, -1.0
    for g in range(k):
        size = 0.0
        for j in range(q):
            size += centred(A, T, w, g, j) ** 2
        if size * A.weight[g] > most:
            widest, most = g, size * A.weight[g]
    for j in range(q):
        A.axis[0, j] = centred(A, T, w, widest, j)
    for _ in range(STEPS):
        A.axis[1] = 0.0
        for g in range(k):
            along = 0.0
            for j in range(q):
                along += centred(A, T, w, g, j) * A.axis[0, j]
            for j in range(q):
                A.axis[1, j] += A.weight[g] * along * centred(A, T, w, g, j)
        top = 0.0
        for j in range(q):
            if abs(A.axis[1, j]) > abs(top):
                top = A.axis[1, j]
        if top == 0.0:
            return
        for j in range(q):
            A.axis[0, j] = A.axis[1, j] / top  # the largest part is 1: the sign is fixed


@jit
def place_levels(A, k, T, w, line):
    """What the levels are ordered by: their mean, or their place on the axis."""
    q = A.sums.shape[1]
    if not line:
        find_axis(A, k, T, w)
    for g in range(k):
        A.place[g] = A.sums[g, q - 1] / A.weight[g]
        if not line:
            A.place[g] = 0.0
            for j in range(q):
                A.place[g] += centred(A, T, w, g, j) * A.axis[0, j]


@jit
def best_order(rule, A, k, T, w):
    """Put the levels in the order that is cut; returns False where all divisions are tried."""
    classes = rule.criterion <= MISCLASSIFICATION
    line = len(rule.offset) == 2 and len(T) <= (2 if classes else 1)
    exact = line and rule.min_leaf <= FREE and rule.min_weight <= FREE
    if rule.criterion == POISSON:
        for g in range(k):
            exact = exact and A.sums[g, 0] > 0  # a side of zeros only is no side
    if k <= ENUMERATED and not exact:
        return False
    place_levels(A, k, T, w, line)
    sort_levels(A.place, A.order, k)
    return True


@jit
def toss(A, k, key):
    """Levels that a coin sends left, listed in ``A.order``: some, never all; returns how many."""
    n_left = 0
    for g in range(k):
        if mix(key, g) & 1:
            A.order[n_left] = g
            n_left += 1
    if n_left == 0:
        A.order[0] = mix(key, k) % k
    return min(max(n_left, 1), k - 1)


@jit
def next_level(A, number, ordered):
    """The level that changes sides in step ``number`` = 1, 2, ...: the next one, or Gray's."""
    if ordered:
        return A.order[number - 1]
    g = np.int64(0)
    while not (number >> g) & 1:
        g += 1
    return g


@jit
def best_levels(rule, A, k, T, w, n, L, key):
    """The score of the best division of k levels (-inf: none is allowed); sides in ``A.side``.

    key = 0: the best one, otherwise the seed of a random one.
    """
    ordered, only = True, 0
    if key != 0:
        only = toss(A, k, key)
    else:
        ordered = best_order(rule, A, k, T, w)
    L[:] = 0
    A.trial[:k] = 0
    wl, nl = np.int64(0), np.int64(0)
    best, hurdle, last = -np.inf, -np.inf, 0
    for number in range(1, k if ordered else 1 << (k - 1)):
        g = next_level(A, number, ordered)
        sign = np.int64(-1) if A.trial[g] else np.int64(1)
        A.trial[g] = 1 - A.trial[g]
        for j in range(len(L)):
            L[j] += sign * A.sums[g, j]
        wl += sign * A.weight[g]
        nl += sign * A.rows[g]
        if only > 0 and number != only:
            continue
        if min(nl, n - nl) < rule.min_leaf or min(wl, w - wl) < max(rule.min_weight, FREE):
            continue
        found = division_score(rule, L, T, wl, w - wl)
        if found > hurdle:
            best, last = found, number
            hurdle = best + TIE * abs(best)
            if not ordered:
                A.side[:k] = A.trial[:k]
    if ordered:
        A.side[:k] = 0
        for i in range(last):
            A.side[A.order[i]] = 1
    return best


@jit
def add_levels(P, f, s, e, A):
    """Add the rows of the node up by level; returns the number of levels, missing one included."""
    keys, shift = P.keys, P.code_bits + P.row_bits
    classes = P.criterion <= MISCLASSIFICATION
    k = np.int64(-1)
    before = np.int64(-1)
    for i in range(s, e):
        rank = keys[f, i] >> shift
        if rank != before:
            k += 1
            before = rank
            A.sums[k] = 0
            A.weight[k] = 0
            A.rows[k] = 0
        A.weight[k] += add_row(classes, row_of(P, keys[f, i]), P.stat, P.weight, A.sums[k])
        A.rows[k] += 1
    return k + 1


@jit
def scan_levels(P, lim, f, s, e, T, w, L, key, A):
    """(score, 0 or NOTHING or CONSTANT) of the best set of levels of column f."""
    k = add_levels(P, f, s, e, A)
    if k < 2:
        return -np.inf, CONSTANT
    rule = Rule(P.criterion, P.offset, P.stat_unit, P.weight_unit, lim.min_leaf, lim.min_weight)
    found = best_levels(rule, A, k, T, w, e - s, L, mix(key, f + 1) | 1 if P.random else 0)
    return found, (0 if found > -np.inf else NOTHING)


@jit
def mark_levels(P, f, s, e, side, goes_left):
    """Note which rows go left, by the side of each level; returns how many, and missing cells'."""
    keys, shift = P.keys, P.code_bits + P.row_bits
    k, before, n_left = np.int64(-1), np.int64(-1), np.int64(0)
    for i in range(s, e):
        rank = keys[f, i] >> shift
        if rank != before:
            k += 1
            before = rank
        goes_left[row_of(P, keys[f, i])] = side[k]
        n_left += side[k]
    return n_left, side[k] if before >= P.missing[f] else np.uint8(0)


@jit
def subset_error(P, s, e, f, side, A):
    """Least sums of absolute errors of both sides, the level of every row in ``A.level``."""
    d, n_levels = P.X.shape[1], P.levels[f]
    total = np.int64(0)
    for o in range(P.y_rank.shape[0]):
        whole_w = np.zeros(2, np.int64)
        for g in range(len(side)):
            whole_w[side[g]] += A.weight[g]
        below_w, below_s = np.zeros(2, np.int64), np.zeros(2, np.int64)
        all_s, c, met = np.zeros(2, np.int64), np.zeros(2, np.int64), np.zeros(2, np.uint8)
        for i in range(s, e):
            row = row_of(P, P.keys[d + o, i])
            x = P.X[row, f]
            to = side[A.level[np.int64(x) if x == x else n_levels]]
            v = np.int64(1) if len(P.weight) == 0 else P.weight[row]
            y = P.stat[row, o]
            all_s[to] += v * y
            if met[to] == 0:
                if 2 * (below_w[to] + v) >= whole_w[to]:
                    c[to], met[to] = y, 1
                else:
                    below_w[to] += v
                    below_s[to] += v * y
        for to in range(2):
            w_above, s_above = whole_w[to] - below_w[to], all_s[to] - below_s[to]
            total += s_above - c[to] * w_above + c[to] * below_w[to] - below_s[to]
    return total


@jit
def level_medians(P, s, e, f, k, A):
    """A.place[g] = the (lower) median of the first output in level g."""
    d, n_levels = P.X.shape[1], P.levels[f]
    A.order[:k] = 0
    for i in range(s, e):
        row = row_of(P, P.keys[d, i])
        x = P.X[row, f]
        g = A.level[np.int64(x) if x == x else n_levels]
        v = np.int64(1) if len(P.weight) == 0 else P.weight[row]
        if 2 * A.order[g] < A.weight[g] <= 2 * (A.order[g] + v):
            A.place[g] = float(P.stat[row, 0])
        A.order[g] += v


@jit
def scan_levels_absolute(P, lim, f, s, e, w, key, A):
    """The same as ``scan_levels`` for absolute errors."""
    k = add_levels(P, f, s, e, A)
    if k < 2:
        return -np.inf, CONSTANT
    shift, g, before = P.code_bits + P.row_bits, -1, np.int64(-1)
    for i in range(s, e):
        if P.keys[f, i] >> shift != before:
            before = P.keys[f, i] >> shift
            g += 1
            x = P.X[row_of(P, P.keys[f, i]), f]
            A.level[np.int64(x) if x == x else P.levels[f]] = g
    ordered, only = k > ENUMERATED or P.random == 1, 0
    if P.random:
        only = toss(A, k, mix(key, f + 1))
    elif ordered:
        level_medians(P, s, e, f, k, A)
        sort_levels(A.place, A.order, k)
    A.trial[:k] = 0
    nl, wl, best = np.int64(0), np.int64(0), -np.inf
    for number in range(1, k if ordered else 1 << (k - 1)):
        h = next_level(A, number, ordered)
        sign = np.int64(-1) if A.trial[h] else np.int64(1)
        A.trial[h] = 1 - A.trial[h]
        wl += sign * A.weight[h]
        nl += sign * A.rows[h]
        if only > 0 and number != only:
            continue
        if min(nl, e - s - nl) < lim.min_leaf or min(wl, w - wl) < max(lim.min_weight, FREE):
            continue
        found = -float(subset_error(P, s, e, f, A.trial[:k], A))
        if found > best:
            best = found
            A.side[:k] = A.trial[:k]
    return best, (0 if best > -np.inf else NOTHING)


@jit
def fill_sets(
    X, rows, bits, mask, left, feature, start, stop, weight, levels, offset, missing_left, sets
):
    """The levels that go left at every node that asks about them, as bits.

    A level without a row in the node goes to the side of more weight, and so do missing cells
    where the node had none. ``rows``: sorted keys, or row numbers, in the order of the leaves.
    """
    one = np.uint64(1)
    for node in range(len(feature)):
        f = feature[node]
        if f < 0 or levels[f] == 0:
            continue
        begin, middle, lost = offset[node], stop[left[node]], False
        heavy = 2.0 * weight[left[node]] > weight[node]
        if heavy:
            for c in range(levels[f]):
                sets[begin + (c >> 6)] |= one << np.uint64(c & 63)
        for i in range(start[node], stop[node]):
            x = X[(rows[i] >> bits) & mask, f]
            if x != x:
                lost = True
                continue
            c = int(x)
            bit = one << np.uint64(c & 63)
            if i < middle:
                sets[begin + (c >> 6)] |= bit
            else:
                sets[begin + (c >> 6)] &= ~bit
        if not lost:
            missing_left[node] = np.uint8(heavy)
