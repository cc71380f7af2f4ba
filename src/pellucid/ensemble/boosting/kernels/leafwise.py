r"""Grow one tree of a boosted sequence, best leaf first, all threads in step.

Every thread owns interleaved blocks of rows and keeps their numbers, leaf by leaf, in its own
stretch of ``rows``. A split is two meetings:

    each thread parts its own rows, and adds up those of the smaller child      (meet)
    the columns are shared out: sums over threads, the larger child by
    subtraction, best splits                                                    (meet)
    every thread picks the best column for itself: all come to the same answer

Sums are whole numbers, so any number of threads grows the same tree. Sums and splits themselves are
in ``histograms``. Waiting spins for a moment and then gives its core away, so that a busy machine
slows a gang of threads (``core.runtime.threads.gang``) down but never stops it.

For squared errors the gradient of a row moves by the value of its leaf. Gradients are then kept as
whole numbers from tree to tree, leaf values are rounded to the same unit, and the sums of the next
root need no row: they are those of the leaves, each moved by (weight in the bin) x (leaf value).
"""

from typing import Any, NamedTuple

import numpy as np

from pellucid.compiled.trees.search import mix
from pellucid.core.runtime import simd
from pellucid.core.runtime.jit import jit
from pellucid.core.runtime.splitmix import GOLDEN, splitmix64
from pellucid.ensemble.boosting.kernels.histograms import (
    BINS,
    FOUND,
    NO_MISSING,
    add_block,
    add_rows,
    category_split,
    coarse,
    gather,
    loss_of,
    near_rows,
    ordered_split,
    part_rows,
    share_sums,
    value_of,
)
from pellucid.ensemble.boosting.kernels.light_leaves import LIGHT, light_memory, search_light

SPINS = 200  # looks at the counter before the core is given away


@jit
def meet(counter, n_threads, turn):
    """Wait until all threads are here; returns ``turn``, to be handed to the next meeting."""
    turn += n_threads
    simd.add_one(counter)
    spins = 0
    while simd.look_at(counter) < turn:
        spins += 1
        if spins > SPINS:
            simd.give_way()
    return turn


BLOCK = 4096  # consecutive rows of one thread
LEAF_TIE_BITS = 26  # of the gains of leaves, which are differences
LEAST_GAIN = 1e-12  # of the sums that it is the difference of


class Table(NamedTuple):
    """The data in bins, by rows for the sums and by columns for parting."""

    by_row: Any  # (n, stride) uint8
    by_column: Any  # (p, n) uint8
    n_bins: Any  # (p,)
    categorical: Any  # (p,) uint8


class Rules(NamedTuple):
    """What a tree may look like; ``units`` turn whole numbers back into (g, h, weight)."""

    units: Any  # (3,)
    monotone: Any  # (p,) -1, 0, 1
    paths: Any  # (states, p) of ``tree.path_states``; (0, p): all columns may meet
    shift: int
    max_leaves: int
    max_depth: int
    min_leaf: float
    l2: float
    min_gain: float
    tries: int  # columns looked at per leaf
    seed: int
    width: int  # numbers in a cell: 2, or 1 where the curvature of a row is its weight
    rate: float
    keep: bool  # the sums of all leaves are kept, and added up for the next root
    again: bool  # they were: ``cells`` and ``root`` are those of the tree before


class Work(NamedTuple):
    """Memory that is made once and used for every tree."""

    counter: Any  # (8,) of the meetings
    cells: Any  # (n, width)
    rows: Any  # int32, a stretch per thread
    stretch: Any  # (threads, 2)
    leaf: Any  # (n,) uint16, the leaf of each row at the end
    private: Any  # (threads, p * 256 * width)
    pool: Any  # (slots, p * 256 * width)
    gains: Any  # (threads, 2)
    found: Any  # (threads, 2, FOUND)
    totals: Any  # (threads, 2)
    root: Any  # (p * 256 * width) the sums of the next root
    steps: Any  # (leaves,) by how much the gradients of a leaf move


# Columns of what every thread keeps of the leaves for itself
# own rows, sums; slot in the pool, -1 or NO_SUMS; state of ``paths``; key of the drawn columns
BEGIN, END, SUM_G, SUM_W, DEPTH, PARENT, SLOT, STATE, KEY = range(9)
NO_SUMS = -2  # the slot of a light leaf
LOW, HIGH, GAIN = range(3)  # bounds of the value, and the gain of the best split or -1


class Leaves(NamedTuple):
    """The leaves so far; few arrays of many columns, which compile sooner than many arrays."""

    whole: Any  # (top, 9)
    real: Any  # (top, 3)
    found: Any  # (top, FOUND)
    free: Any  # slots; the last place holds how many


class Grown(NamedTuple):
    """A tree: nodes in the order they were split; a child below 0 is leaf ``~child``."""

    split: Any  # (leaves - 1, FOUND)
    missing_left: Any  # (leaves - 1,)
    left: Any
    right: Any
    gain: Any
    value: Any  # (leaves,)
    weight: Any  # (leaves,)


@jit
def draw_columns(seed, key, tries, use):
    """Leave ``tries`` of the usable columns in ``use``: the same in every thread."""
    p = len(use)
    usable = 0
    for f in range(p):
        usable += use[f]
    state = splitmix64(np.uint64(seed) + np.uint64(key) * np.uint64(0x632BE59BD9B4E019) + GOLDEN)
    left, wanted = usable, tries
    for f in range(p):
        if use[f]:
            state = splitmix64(state + GOLDEN)
            if np.float64(state >> np.uint64(11)) * 2.0**-53 * left < wanted:
                wanted -= 1
            else:
                use[f] = 0
            left -= 1


@jit(counted=False)
def search(table, rules, sums, g, w, low, high, use, begin, end, scratch, found):
    """The best split among the columns [begin, end); its raw gain, or -1."""
    best, width, n_bins, categorical = -1.0, rules.width, table.n_bins, table.categorical
    for f in range(begin, end):
        if use[f]:
            part = sums[width * BINS * f : width * BINS * (f + 1)]
            if categorical[f]:
                best = category_split(
                    part, n_bins[f], f, g, w, width, rules, low, high, scratch, best, found
                )
            else:
                best = ordered_split(
                    part, n_bins[f], f, g, w, width, rules, low, high, scratch, best, found
                )
    return best


@jit
def quantise(g, h, w, scale, shift, cells):
    """cells = gradient, curvature and weight as whole numbers; returns the sums of pairs.

    Whole weights multiply whole numbers: a weight is a repetition to the last bit.
    """
    a, b, mask = np.int64(0), np.int64(0), (np.int64(1) << shift) - 1
    g_scale, h_scale, w_scale = scale[0], scale[1], scale[2]
    for i in range(len(g)):
        if w_scale == 1.0:
            k = np.int64(w[i])
            x = np.int64(np.floor(g[i] * g_scale + 0.5)) * k
            y = ((np.int64(h[i] * h_scale + 0.5) * k) << shift) + k
        else:
            x = np.int64(np.floor(g[i] * w[i] * g_scale + 0.5))
            y = (np.int64(h[i] * w[i] * h_scale + 0.5) << shift) + np.int64(w[i] * w_scale + 0.5)
        if cells.shape[1] == 1:
            cells[i, 0] = (x << shift) + (y & mask)
        else:
            cells[i, 0], cells[i, 1] = x, y
        a += x
        b += y
    return a, b


@jit
def move(cells, leaf, steps, shift):
    """Gradients follow the values of their leaves; returns the sums of pairs."""
    a, b, mask = np.int64(0), np.int64(0), (np.int64(1) << shift) - 1
    for i in range(len(leaf)):
        weight = cells[i, 0] & mask
        cells[i, 0] += (steps[leaf[i]] * weight) << shift
        a += cells[i, 0] >> shift
        b += weight
    return a, (b << shift) + b


@jit
def is_light(rules, n_threads, n_rows):
    """Whether a leaf of so many rows, or the children of one, are searched column by column."""
    # Missing cells alone on the left are the mirror of missing cells alone on the right: the same
    # gain, unless a column is monotone, and only a search of all bins sees both.
    bounded = 0
    for f in range(len(rules.monotone)):
        bounded += rules.monotone[f] != 0
    return n_threads == 1 and n_rows <= LIGHT and not rules.keep and bounded == 0


@jit
def root_rows(thread, n_threads, table, rules, scale, g, h, w, work):
    """Quantise and add up all own blocks; returns where the own rows end."""
    p, n = table.by_column.shape
    sums = work.private[thread]
    sums[:] = 0
    tg, tw, place = np.int64(0), np.int64(0), work.stretch[thread, 0]
    for block in range(thread * BLOCK, n, n_threads * BLOCK):
        last = min(n, block + BLOCK)
        part = slice(block, last)
        if rules.again:
            x, y = move(work.cells[part], work.leaf[part], work.steps, rules.shift)
        else:
            x, y = quantise(g[part], h[part], w[part], scale, rules.shift, work.cells[part])
            if not is_light(rules, n_threads, n):
                add_block(table.by_row, p, work.cells, block, last, sums)
        tg, tw = tg + x, tw + y
        for i in range(block, last):
            work.rows[place] = i
            place += 1
    work.totals[thread, 0], work.totals[thread, 1] = tg, tw
    return place


@jit(counted=False)
def usable(rules, state, key, use):
    """The columns that a leaf may be split by; its key is that of its place in the tree."""
    use[:] = 1
    if rules.paths.shape[0]:
        for f in range(len(use)):
            use[f] = rules.paths[state, f] >= 0
    if rules.tries < len(use):
        draw_columns(rules.seed, key, rules.tries, use)


@jit
def settle(rules, work, n_threads, c, g, w, low, high, found):
    """The best split of all threads, and what it gains over staying a leaf."""
    best = -1.0
    for t in range(n_threads):
        if work.gains[t, c] > best:
            best = work.gains[t, c]
            found[:] = work.found[t, c]
    if best < 0:
        return -1.0
    G, H = g * rules.units[0], (w >> rules.shift) * rules.units[1]
    value = value_of(G, H, rules.l2, low, high)
    gain = 0.5 * (best - loss_of(G, H, rules.l2, value)) - rules.min_gain
    return gain if gain > LEAST_GAIN * best else -1.0


@jit
def no_leaves(top, n_slots):
    """Memory for ``top`` leaves."""
    whole, real = np.zeros((top, 9), np.int64), np.full((top, 3), np.inf)
    whole[:, PARENT] = whole[:, SLOT] = -1
    real[:, LOW], real[:, GAIN] = -np.inf, -1.0
    return Leaves(whole, real, np.zeros((top, FOUND), np.int64), np.arange(n_slots + 1))


@jit(counted=False)
def take_slot(free):
    """A free slot; the spare one, for sums that are searched and forgotten, when all are taken."""
    last = len(free) - 1
    if free[last] == 0:
        return last
    free[last] -= 1
    return free[free[last]]


@jit(counted=False)
def give_slot(leaves, k):
    """Leaf k needs its sums no more."""
    last = len(leaves.free) - 1
    if 0 <= leaves.whole[k, SLOT] < last:
        leaves.free[leaves.free[last]] = leaves.whole[k, SLOT]
        leaves.free[last] += 1
    leaves.whole[k, SLOT] = -1


@jit(counted=False)
def can_split(rules, leaves, k):
    """Whether leaf k is heavy enough, and not too deep, to have children."""
    weight = (leaves.whole[k, SUM_W] & ((np.int64(1) << rules.shift) - 1)) * rules.units[2]
    heavy = weight >= 2 * rules.min_leaf - 0.5 * rules.units[2]
    return heavy and leaves.whole[k, DEPTH] < rules.max_depth


@jit(counted=False)
def examine(thread, n_threads, table, rules, work, leaves, k, c, node, use, scratch, light):
    """This thread's best split of leaf k, among its share of the columns."""
    p = len(use)
    work.gains[thread, c] = -1.0
    if can_split(rules, leaves, k) and node < 2 * (rules.max_leaves - 1):
        whole, real, found = leaves.whole[k], leaves.real[k], work.found[thread, c]
        g, w, low, high = whole[SUM_G], whole[SUM_W], real[LOW], real[HIGH]
        usable(rules, whole[STATE], whole[KEY], use)
        if whole[SLOT] == NO_SUMS:
            rows = work.rows[whole[BEGIN] : whole[END]]
            work.gains[thread, c] = search_light(
                table, rules, rows, work.cells, g, w, low, high, use, light, scratch, found
            )
            return
        sums, b0 = work.pool[whole[SLOT]], p * thread // n_threads
        b1 = p * (thread + 1) // n_threads
        work.gains[thread, c] = search(
            table, rules, sums, g, w, low, high, use, b0, b1, scratch, found
        )


@jit(counted=False)
def decide(rules, work, n_threads, leaves, k, c):
    """Leaf k's best split over all threads; sums that are of no more use are given back."""
    whole, real = leaves.whole[k], leaves.real[k]
    g, w, low, high = whole[SUM_G], whole[SUM_W], real[LOW], real[HIGH]
    real[GAIN] = settle(rules, work, n_threads, c, g, w, low, high, leaves.found[k])
    useless = real[GAIN] < 0 or whole[SLOT] == len(leaves.free) - 1
    if useless and not rules.keep:
        give_slot(leaves, k)


@jit(counted=False)
def best_leaf(leaves, n_leaves):
    """The leaf with the greatest gain, or -1; the oldest of equals."""
    best, split = 0.0, -1
    for k in range(n_leaves):
        if leaves.real[k, GAIN] > 0:
            gain = coarse(leaves.real[k, GAIN], LEAF_TIE_BITS)
            if gain > best:
                best, split = gain, k
    return split


@jit
def record(rules, tree, leaves, split, new):
    """Write the node that leaf ``split`` becomes; its leaves are ``split`` and ``new``."""
    at, choice, q = new - 1, leaves.found[split], leaves.whole[split, PARENT]
    mask = (np.int64(1) << rules.shift) - 1
    tree.split[at] = choice
    heavier = 2 * (choice[4] & mask) > (leaves.whole[split, SUM_W] & mask)
    tree.missing_left[at] = heavier if choice[2] == NO_MISSING else choice[2]
    tree.gain[at], tree.left[at], tree.right[at] = leaves.real[split, GAIN], ~split, ~new
    if q >= 0:
        if tree.left[q] == ~split:
            tree.left[q] = at
        else:
            tree.right[q] = at


@jit(counted=False)
def divide(rules, leaves, split, new, middle):
    """Leaf ``split`` keeps the left part, ``new`` gets the right one."""
    choice = leaves.found[split]
    f, gl, wl = choice[0], choice[3], choice[4]
    gr, wr = leaves.whole[split, SUM_G] - gl, leaves.whole[split, SUM_W] - wl
    leaves.whole[new, END] = leaves.whole[split, END]
    leaves.whole[new, BEGIN] = leaves.whole[split, END] = middle
    leaves.whole[split, PARENT] = leaves.whole[new, PARENT] = new - 1
    low, high = leaves.real[split, LOW], leaves.real[split, HIGH]
    leaves.real[new, LOW], leaves.real[new, HIGH] = low, high
    sign = rules.monotone[f]
    if sign != 0:
        shift, units = rules.shift, rules.units
        a = value_of(gl * units[0], (wl >> shift) * units[1], rules.l2, low, high)
        b = value_of(gr * units[0], (wr >> shift) * units[1], rules.l2, low, high)
        if sign > 0:
            leaves.real[split, HIGH] = leaves.real[new, LOW] = 0.5 * (a + b)
        else:
            leaves.real[split, LOW] = leaves.real[new, HIGH] = 0.5 * (a + b)
    if rules.paths.shape[0]:
        leaves.whole[split, STATE] = rules.paths[leaves.whole[split, STATE], f]
        leaves.whole[new, STATE] = leaves.whole[split, STATE]
    leaves.whole[split, SUM_G], leaves.whole[split, SUM_W] = gl, wl
    leaves.whole[new, SUM_G], leaves.whole[new, SUM_W] = gr, wr
    leaves.whole[split, DEPTH] += 1
    leaves.whole[new, DEPTH] = leaves.whole[split, DEPTH]
    leaves.whole[new, KEY] = mix(leaves.whole[split, KEY], 1)
    leaves.whole[split, KEY] = mix(leaves.whole[split, KEY], 0)


@jit
def search_root(thread, n_threads, table, rules, work, leaves, use, scratch, light):
    """The best split of all rows; returns the turn of the meetings."""
    p, root = len(use), np.int64(0)  # a literal 0 would be compiled as a type of its own
    turn = meet(work.counter, n_threads, np.int64(0))
    for t in range(n_threads):
        leaves.whole[0, SUM_G] += work.totals[t, 0]
        leaves.whole[0, SUM_W] += work.totals[t, 1]
    size = rules.width * BINS
    b0, b1 = size * (p * thread // n_threads), size * (p * (thread + 1) // n_threads)
    if is_light(rules, n_threads, table.by_column.shape[1]):
        leaves.whole[0, SLOT] = NO_SUMS
    else:
        slot = take_slot(leaves.free)
        leaves.whole[0, SLOT] = slot
        if rules.again:
            work.pool[slot, b0:b1] = work.root[b0:b1]
        else:
            gather(work.private, n_threads, work.pool[slot], b0, b1)
    examine(thread, n_threads, table, rules, work, leaves, root, root, root, use, scratch, light)
    turn = meet(work.counter, n_threads, turn)
    decide(rules, work, n_threads, leaves, root, root)
    return turn


@jit(counted=False)
def search_light_children(table, rules, work, leaves, split, new, use, scratch, light):
    """The best splits of two leaves with few rows, by the only thread."""
    one = np.int64(1)  # a literal would be compiled as a type of its own
    give_slot(leaves, split)
    for k in (split, new):
        c = np.int64(k == new)
        leaves.whole[k, SLOT] = NO_SUMS
        examine(0 * one, one, table, rules, work, leaves, k, c, 2 * new + c, use, scratch, light)
        decide(rules, work, one, leaves, k, c)


@jit(counted=False)
def search_children(thread, n_threads, table, rules, work, leaves, split, new, room, turn):
    """The best splits of the two leaves that came of one; returns the turn of the meetings."""
    use, scratch, light, near = room
    p, mask = len(use), (np.int64(1) << rules.shift) - 1
    size = rules.width * BINS
    b0, b1 = size * (p * thread // n_threads), size * (p * (thread + 1) // n_threads)
    small, large = split, new
    if (leaves.whole[split, SUM_W] & mask) > (leaves.whole[new, SUM_W] & mask):
        small, large = new, split
    parent = leaves.whole[split, SLOT]  # -1: the pool was full, both children are added up
    for k in (small, large):
        if k == small or parent < 0:
            begin, end, sums = leaves.whole[k, BEGIN], leaves.whole[k, END], work.private[thread]
            add_rows(table.by_row, p, work.cells, work.rows, begin, end, near[0], near[1], sums)
            slot = take_slot(leaves.free)
            turn = meet(work.counter, n_threads, turn)
            if parent >= 0:
                share_sums(work.private, n_threads, work.pool[slot], work.pool[parent], b0, b1)
                leaves.whole[large, SLOT] = parent
            else:
                gather(work.private, n_threads, work.pool[slot], b0, b1)
            leaves.whole[k, SLOT] = slot
        c = np.int64(k == new)
        examine(
            thread, n_threads, table, rules, work, leaves, k, c, 2 * new + c, use, scratch, light
        )
        if parent < 0 or k == large:
            turn = meet(work.counter, n_threads, turn)
            if parent >= 0:
                decide(rules, work, n_threads, leaves, small, np.int64(small == new))
            decide(rules, work, n_threads, leaves, k, c)
    return turn


@jit
def grow_tree(thread, n_threads, table, rules, scale, g, h, w, work, tree):
    """Grow one tree on gradients g and curvatures h of unit weight; returns its leaves."""
    p = table.by_column.shape[0]
    leaves = no_leaves(rules.max_leaves, work.pool.shape[0] - 1)
    spare = np.empty(work.stretch[thread, 1] - work.stretch[thread, 0] + 1, np.int32)
    use = np.ones(p, np.uint8)
    gains, left_g, left_w = np.empty(BINS), np.empty(BINS, np.int64), np.empty(BINS, np.int64)
    # views are made here: one for every column would cost more than its search
    scratch = (left_g, left_w, gains, gains.view(np.int64), np.empty(BINS, np.int64))
    light = light_memory()
    room = (use, scratch, light, near_rows(table.by_row.shape[1], rules.width))
    leaves.whole[0, BEGIN] = work.stretch[thread, 0]
    leaves.whole[0, END] = root_rows(thread, n_threads, table, rules, scale, g, h, w, work)
    turn = search_root(thread, n_threads, table, rules, work, leaves, use, scratch, light)
    new = np.int64(1)  # the number of leaves, and that of the next one
    while new < rules.max_leaves:
        split = best_leaf(leaves, new)
        if split < 0:
            break
        found, column = leaves.found[split], table.by_column[leaves.found[split, 0]]
        begin, end = leaves.whole[split, BEGIN], leaves.whole[split, END]
        middle = part_rows(work.rows, begin, end, spare, column, found)
        if thread == 0:
            record(rules, tree, leaves, split, new)
        divide(rules, leaves, split, new, middle)
        leaves.real[split, GAIN] = -1.0
        wanted = can_split(rules, leaves, split) or can_split(rules, leaves, new)
        n_rows = leaves.whole[new, END] - leaves.whole[split, BEGIN]
        if not (rules.keep or (wanted and new + 1 < rules.max_leaves)):
            give_slot(leaves, split)
        elif is_light(rules, n_threads, n_rows):
            search_light_children(table, rules, work, leaves, split, new, use, scratch, light)
        else:
            turn = search_children(
                thread, n_threads, table, rules, work, leaves, split, new, room, turn
            )
        new += 1
    finish(thread, rules, work, leaves, new, tree)
    if rules.keep:
        first, last = p * thread // n_threads, p * (thread + 1) // n_threads
        next_root(rules, work, leaves, new, BINS * first, BINS * last)
    return new


@jit(counted=False)
def leaf_value(rules, leaves, k):
    """The best value of leaf k."""
    G = leaves.whole[k, SUM_G] * rules.units[0]
    H = (leaves.whole[k, SUM_W] >> rules.shift) * rules.units[1]
    return value_of(G, H, rules.l2, leaves.real[k, LOW], leaves.real[k, HIGH])


@jit
def leaf_step(rules, leaves, k):
    """What leaf k adds to the scores, as a whole number."""
    return np.int64(np.floor(rules.rate * leaf_value(rules, leaves, k) / rules.units[0] + 0.5))


@jit(counted=False)
def finish(thread, rules, work, leaves, n_leaves, tree):
    """The leaf of every own row, and the values of the leaves."""
    mask = (np.int64(1) << rules.shift) - 1
    for k in range(n_leaves):
        for i in range(leaves.whole[k, BEGIN], leaves.whole[k, END]):
            work.leaf[work.rows[i]] = k
        if thread == 0:
            tree.value[k] = leaf_value(rules, leaves, k)
            if rules.keep:
                work.steps[k] = leaf_step(rules, leaves, k)
                tree.value[k] = work.steps[k] * rules.units[0] / rules.rate
            tree.weight[k] = (leaves.whole[k, SUM_W] & mask) * rules.units[2]


@jit
def next_root(rules, work, leaves, n_leaves, begin, end):
    """The sums of all rows once each has moved with its leaf; cells of one number."""
    mask = (np.int64(1) << rules.shift) - 1
    root = work.root[begin:end]
    root[:] = 0
    for k in range(n_leaves):
        sums, step = work.pool[leaves.whole[k, SLOT], begin:end], leaf_step(rules, leaves, k)
        for j in range(len(root)):
            root[j] += sums[j] + (((sums[j] & mask) * step) << rules.shift)
