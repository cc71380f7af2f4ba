r"""Grow a tree from sorted columns: search, mark, partition, again; without recursion.

A node is a range [start, stop) of every column's keys. Its best question (``tree_search``) marks
the rows that go left, and a stable partition of every column makes two ranges that are sorted
again: O(n d) for each level of the tree after one sort.

Large nodes share their columns among threads; below that, whole branches are grown in threads. A
node depends on its own rows and on a seed made of the path to it, never on the order in which
nodes are grown. So the tree is the same for any number of threads.
"""

import heapq
from typing import Any, NamedTuple

import numpy as np

from pellucid.compiled.trees.absolute import node_medians, rank_targets, scan_absolute
from pellucid.compiled.trees.levels import (
    Groups,
    make_groups,
    mark_levels,
    scan_levels,
    scan_levels_absolute,
)
from pellucid.compiled.trees.search import (
    ABSOLUTE,
    GINI,
    NOTHING,
    Limits,
    Problem,
    above,
    all_same,
    known_end,
    mix,
    node_score,
    scan,
    scan_numbers,
    scan_two_classes,
    threshold_at,
    totals,
)
from pellucid.core.runtime.jit import jit
from pellucid.core.runtime.threads import map_threads, thread_count

LEAF = -1
SMALL = 4_000  # rows of a branch that one thread grows alone
ALL = np.int64(0)  # the state of a path without questions: every column may be asked


class Nodes(NamedTuple):
    """The nodes of a branch, one entry each; a leaf has feature -1."""

    left: Any  # int32
    right: Any  # int32
    feature: Any  # int32
    threshold: Any  # float64
    missing_left: Any  # uint8
    start: Any  # int32  the node's rows in the sorted keys
    stop: Any  # int32
    lower: Any  # float64  bounds of the value, from monotonic constraints
    upper: Any  # float64
    state: Any  # int64  row of ``Problem.paths``: which columns may be asked here
    median: Any  # (nodes, o) of absolute_error, else (nodes, 0)
    error: Any  # sum of absolute errors, else not set


class Scratch(NamedTuple):
    """Room that one thread needs."""

    totals: Any  # int64 sums of a node
    left: Any  # int64 sums of its left side
    moved: Any  # int64 keys that go right
    work: Any  # (6, m + 1) int64 of absolute_error
    scores: Any  # (m,) float64
    columns: Any  # (d,) int64
    levels: Groups


def empty_nodes(n: int, o: int) -> Nodes:
    """Room for n nodes."""
    i4, f8 = np.int32, np.float64
    return Nodes(
        *(np.full(n, LEAF, i4), np.full(n, LEAF, i4), np.full(n, LEAF, i4), np.zeros(n, f8)),
        *(np.zeros(n, np.uint8), np.zeros(n, i4), np.zeros(n, i4)),
        *(np.full(n, -np.inf), np.full(n, np.inf), np.full(n, ALL), np.zeros((n, o)), np.zeros(n)),
    )


def make_scratch(P: Problem, m: int) -> Scratch:
    """Room for nodes of up to m rows."""
    size = int(P.offset[-1])
    absolute = m + 1 if P.criterion == ABSOLUTE else 0
    room = np.empty((6, absolute), np.int64)
    d = P.X.shape[1]
    most = int(P.levels.max()) + 1 if len(P.levels) else 0
    return Scratch(
        np.zeros(size, np.int64),
        np.zeros(size, np.int64),
        np.empty(m, np.int64),
        room,
        np.empty(m),
        np.arange(d, dtype=np.int64),
        make_groups(most, size),
    )


@jit
def draw_column(order, j, key):
    """The j-th of the columns in random order; ``order`` holds those drawn before."""
    d = len(order)
    if j == 0:
        for f in range(d):
            order[f] = f
    other = j + mix(key, d + 1 + j) % (d - j)
    f = order[other]
    order[other] = order[j]
    order[j] = f
    return f


@jit
def search_absolute(P, lim, s, e, w, lower, upper, key, state, first, last, room):
    """The same as ``search`` for absolute errors: a kernel of its own, that few trees need."""
    best, column, place, side, threshold = -np.inf, NOTHING, NOTHING, 0, 0.0
    drawn, varied, asked = lim.max_features < P.X.shape[1], False, 0
    for j in range(first, last):
        f = j
        if drawn:
            if asked >= lim.max_features and varied:
                break
            f = draw_column(room.columns, j, key)
        if len(P.paths) and P.paths[state, f] < 0:
            continue
        asked += 1
        if len(P.levels) and P.levels[f] > 0:
            found, at = scan_levels_absolute(P, lim, f, s, e, w, key, room.levels)
            to, t = 0, 0.0
        else:
            found, at, to, t = scan_absolute(P, lim, f, s, e, w, lower, upper, key, room.work)
        varied = varied or at >= NOTHING
        if at >= 0 and found > best:
            best, column, place, side, threshold = found, f, at, to, t
            room.levels.kept[:] = room.levels.side
    return best, column, place, side, threshold


@jit
def search(P, lim, s, e, w, lower, upper, key, state, first, last, room):
    """The best question about columns first..last-1, or about some drawn at random.

    Returns (score, column, place, missing left?, threshold). The first of equals wins; where no
    question can be better (two rows, two pure sides) the others are not asked.
    """
    keys, stat, T = P.keys, P.stat, room.totals
    d = P.X.shape[1]
    shift = P.row_bits + P.code_bits
    best, column, place, side, threshold = -np.inf, NOTHING, NOTHING, 0, 0.0
    drawn = lim.max_features < d
    order = room.columns
    varied, asked = False, 0
    two_classes = P.fast == 1 and P.criterion == GINI
    numbers = P.fast == 1 and not two_classes
    perfect = np.inf
    if two_classes:
        perfect = float(T[1]) * float(e - s - T[1])
    elif numbers and e - s == 2:
        perfect = -1.0
    for j in range(first, last):
        f = j
        if drawn:
            if asked >= lim.max_features and varied:
                break
            f = draw_column(order, j, key)
        if len(P.paths) and P.paths[state, f] < 0:
            continue
        asked += 1
        to, t = 0, 0.0
        if len(P.levels) and P.levels[f] > 0:
            found, at = scan_levels(P, lim, f, s, e, T, w, room.left, key, room.levels)
        elif two_classes:
            found, at = scan_two_classes(keys, f, s, e, shift, lim.min_leaf, T[1])
        elif numbers:
            found, at = scan_numbers(keys, stat, f, s, e, shift, lim.min_leaf, T[0])
        else:
            found, at, to, t = scan(
                P, lim, f, s, e, T, w, room.left, lower, upper, key, room.scores
            )
        varied = varied or at >= NOTHING
        if at >= 0 and (column < 0 or found > above(best)):
            best, column, place, side, threshold = found, f, at, to, t
            room.levels.kept[:] = room.levels.side
            if best >= perfect:
                break
    if P.fast == 1 and column >= 0:
        threshold = threshold_at(P, column, place, e)
    return best, column, place, side, threshold


@jit
def decrease(P, s, e, w, found, room):
    """How much a question lowers the total impurity, in units of the score."""
    n = float(e - s)
    if P.fast == 1 and P.criterion == GINI:
        return 2.0 * found / n
    if P.fast == 1:
        rest = float(room.totals[0] - np.int64(np.round(room.totals[0] / (e - s))) * (e - s))
        return found - rest * rest / n
    return found - node_score(P, room.totals, w)


@jit
def mark(P, f, s, e, place, side, goes_left):
    """Note which rows go left; returns how many, and where cells that are missing later go."""
    keys = P.keys
    bits, mask = P.code_bits, (np.int64(1) << P.row_bits) - 1
    known = known_end(keys, f, s, e, bits + P.row_bits, P.missing[f])
    for i in range(s, place + 1):
        goes_left[(keys[f, i] >> bits) & mask] = 1
    for i in range(place + 1, known):
        goes_left[(keys[f, i] >> bits) & mask] = 0
    for i in range(known, e):
        goes_left[(keys[f, i] >> bits) & mask] = side
    n_left = place + 1 - s + (e - known if side else 0)
    if known == e:  # none here: the larger side
        return n_left, np.uint8(2 * n_left > e - s)
    return n_left, np.uint8(side)


@jit
def partition_columns(keys, bits, mask, first, last, skip, s, e, goes_left, moved):
    """In each column rows that go left first, both sides in their old order."""
    for f in range(first, last):
        if f == skip:
            continue
        to, n_moved = np.int64(s), np.int64(0)
        for i in range(s, e):
            key = keys[f, i]
            left = np.int64(goes_left[(key >> bits) & mask])
            keys[f, to] = key
            moved[n_moved] = key
            to += left
            n_moved += 1 - left
        for i in range(n_moved):
            keys[f, to + i] = moved[i]


@jit
def may_divide(P, lim, f, s, e, depth):
    """Whether a side, listed at s..e-1 of column f, has a chance to be divided again."""
    if e - s < lim.min_split or e - s < 2 * lim.min_leaf or depth >= lim.max_depth:
        return False
    return not all_same(P, f, s, e)


@jit
def examine(P, lim, s, e, depth, room):
    """(weight, may the node be divided?); the sums of the node go to ``room.totals``."""
    w, pure = totals(P, s, e, room.totals)
    small = e - s < lim.min_split or e - s < 2 * lim.min_leaf or w < 2 * lim.min_weight
    return w, not (pure or small or depth >= lim.max_depth)


@jit
def child_bounds(P, f, s, middle, e, lower, upper, room):
    """Bounds of the two sides: the value midway between theirs divides the node's interval."""
    if len(P.monotone) == 0 or P.monotone[f] == 0:
        return lower, upper, lower, upper
    w, _ = totals(P, s, middle, room.left)
    a = room.left[0] * P.stat_unit / (w * P.weight_unit)
    w, _ = totals(P, middle, e, room.left)
    b = room.left[0] * P.stat_unit / (w * P.weight_unit)
    return bounds_between(P.monotone[f], a, b, lower, upper)


@jit
def bounds_between(sign, a, b, lower, upper):
    between = min(max(0.5 * (a + b), lower), upper)  # medians may lie outside of the node's bounds
    if sign > 0:
        return lower, between, between, upper
    return between, upper, lower, between


@jit
def grow_branch(P, lim, nodes, depth0, key0, goes_left, room, stack, keys):
    """Grow the branch under node 0 of ``nodes``; returns the number of nodes.

    ``stack`` (depth, 2) holds (node, depth), ``keys`` (depth,) the seeds of the nodes.
    """
    d, n_keys = P.X.shape[1], P.keys.shape[0]
    stack[0, 0], stack[0, 1], keys[0] = 0, depth0, key0
    top, n_nodes, zero = 1, 1, np.int64(0)
    while top > 0:
        top -= 1
        node, depth, key = stack[top, 0], stack[top, 1], keys[top]
        s, e = np.int64(nodes.start[node]), np.int64(nodes.stop[node])
        lower, upper, state = nodes.lower[node], nodes.upper[node], nodes.state[node]
        w, ok = examine(P, lim, s, e, depth, room)
        if not ok:
            continue
        best, f, place, side, t = search(P, lim, s, e, w, lower, upper, key, state, zero, d, room)
        if f < 0 or decrease(P, s, e, w, best, room) < lim.min_decrease:
            continue
        by_level = len(P.levels) > 0 and P.levels[f] > 0
        if by_level:
            n_left, later = mark_levels(P, f, s, e, room.levels.kept, goes_left)
        else:
            n_left, later = mark(P, f, s, e, place, side, goes_left)
        middle = s + n_left
        mask = (np.int64(1) << P.row_bits) - 1
        last = n_keys
        if P.fast == 1:  # two leaves: only their rows must be known, and column 0 tells
            open_left = may_divide(P, lim, f, s, middle, depth + 1)
            last = n_keys if open_left or may_divide(P, lim, f, middle, e, depth + 1) else 1
        skip = f if side == 0 and not by_level else -1
        partition_columns(P.keys, P.code_bits, mask, zero, last, skip, s, e, goes_left, room.moved)
        bounds = child_bounds(P, f, s, middle, e, lower, upper, room)
        nodes.feature[node], nodes.threshold[node], nodes.missing_left[node] = f, t, later
        nodes.left[node], nodes.right[node] = n_nodes, n_nodes + 1
        for k in range(2):
            child = n_nodes + k
            nodes.start[child] = s if k == 0 else middle
            nodes.stop[child] = middle if k == 0 else e
            nodes.lower[child], nodes.upper[child] = bounds[2 * k], bounds[2 * k + 1]
            nodes.state[child] = P.paths[state, f] if len(P.paths) else state
            stack[top, 0], stack[top, 1], keys[top] = child, depth + 1, mix(key, k)
            top += 1
        n_nodes += 2
    return n_nodes


@jit
def preorder(left, right, alias, order):
    """List the nodes from the root, left branch before right; returns their number.

    ``alias[i]`` is the node that stands in the place of i.
    """
    stack = np.empty(len(left) + 1, np.int64)
    stack[0] = 0
    top, n = 1, 0
    while top > 0:
        top -= 1
        node = alias[stack[top]]
        order[n] = node
        n += 1
        if left[node] >= 0:
            stack[top] = right[node]
            stack[top + 1] = left[node]
            top += 2
    return n


class Open(NamedTuple):
    """A node that the driver holds."""

    start: int
    stop: int
    depth: int
    key: int
    lower: float
    upper: float
    state: Any  # of the path, a row of ``Problem.paths``


class Divided(NamedTuple):
    """A node whose best question is known, not yet asked."""

    feature: int
    place: int
    side: int
    threshold: float
    decrease: float
    sides: Any  # of the levels


class Driver:
    """Grows the upper part of a tree node by node, each node's columns shared among threads."""

    def __init__(self, P: Problem, lim: Limits) -> None:
        self.P, self.lim = P, lim
        n, d = P.X.shape
        self.goes_left = np.zeros(n, np.uint8)
        self.records: list[list[Any]] = []  # rows of Nodes
        m = P.keys.shape[1]
        parts = min(thread_count(), d) if m > SMALL and lim.max_features >= d else 1
        cuts = np.linspace(0, d, parts + 1).astype(int)
        self.columns = list(zip(cuts[:-1].tolist(), cuts[1:].tolist(), strict=True))
        n_keys = P.keys.shape[0]
        workers = min(thread_count(), n_keys) if m > SMALL else 1
        cuts = np.linspace(0, n_keys, workers + 1).astype(int)
        self.shares = list(zip(cuts[:-1].tolist(), cuts[1:].tolist(), strict=True))
        self.rooms = [make_scratch(P, m) for _ in range(max(parts, workers))]

    def root(self) -> Open:
        return Open(0, self.P.keys.shape[1], 0, self.lim.seed, -np.inf, np.inf, ALL)

    def add(self, node: Open) -> int:
        """Number a node; a leaf until it is divided."""
        o = self.P.y_rank.shape[0]
        record = [LEAF, LEAF, LEAF, 0.0, 0, *node[:2], *node[4:]]
        self.records.append([*record, np.zeros(o), 0.0])
        return len(self.records) - 1

    def question(self, i: int, node: Open) -> Divided | None:
        """The best question for node i, or None where it stays a leaf."""
        P, lim, room = self.P, self.lim, self.rooms[0]
        s, e = node.start, node.stop
        w, ok = examine(P, lim, s, e, node.depth, room)
        error = 0
        if P.criterion == ABSOLUTE:
            error, self.records[i][11] = node_medians(P, s, e, w, self.records[i][10])
        if not ok:
            return None
        if P.criterion == ABSOLUTE:
            rank_targets(P, s, e)
        kernel = search_absolute if P.criterion == ABSOLUTE else search
        parts = self.columns if e - s > SMALL else [(0, P.X.shape[1])]

        def columns(k: int) -> Any:
            mine = self.rooms[k]
            mine.totals[:] = room.totals
            bounds = (node.lower, node.upper, node.key, node.state)
            return kernel(P, lim, s, e, w, *bounds, *parts[k], mine)

        found = list(map_threads(columns, range(len(parts))))
        best, f, place, side, t = self._best(found)
        if f < 0:
            return None
        whole = P.criterion == ABSOLUTE
        gain = best + error if whole else decrease(P, s, e, w, best, room)
        if gain < lim.min_decrease:
            return None
        owner = next(k for k, (a, b) in enumerate(parts) if a <= f < b)
        return Divided(f, place, side, t, gain, self.rooms[owner].levels.kept.copy())

    @staticmethod
    def _best(found: Any) -> Any:
        best = (-np.inf, NOTHING, NOTHING, 0, 0.0)
        for one in found:  # in the order of the columns: ties go to the lowest
            if one[1] >= 0 and (best[1] < 0 or one[0] > above(best[0])):
                best = one
        return best

    def divide(self, i: int, node: Open, q: Divided) -> tuple[Open, Open]:
        """Ask the question: move the rows, return both sides."""
        P, s, e = self.P, node.start, node.stop
        by_level = len(P.levels) > 0 and P.levels[q.feature] > 0
        if by_level:
            n_left, later = mark_levels(P, q.feature, s, e, q.sides, self.goes_left)
        else:
            n_left, later = mark(P, q.feature, s, e, q.place, q.side, self.goes_left)
        skip = q.feature if q.side == 0 and not by_level else -1
        shares = self.shares if e - s > SMALL else [(0, P.keys.shape[0])]

        def columns(k: int) -> None:
            moved, mask = self.rooms[k].moved, (1 << P.row_bits) - 1
            where = (*shares[k], skip, s, e)
            partition_columns(P.keys, P.code_bits, mask, *where, self.goes_left, moved)

        list(map_threads(columns, range(len(shares))))
        middle = s + n_left
        bounds = self._bounds(q.feature, s, middle, e, node)
        self.records[i][2:5] = [q.feature, q.threshold, later]
        state = P.paths[node.state, q.feature] if len(P.paths) else node.state
        low, high, right_low, right_high = bounds
        left = Open(s, middle, node.depth + 1, mix(node.key, 0), low, high, state)
        right = Open(middle, e, node.depth + 1, mix(node.key, 1), right_low, right_high, state)
        return left, right

    def _bounds(self, f: int, s: int, middle: int, e: int, node: Open) -> Any:
        P, room = self.P, self.rooms[0]
        if P.criterion != ABSOLUTE or len(P.monotone) == 0 or P.monotone[f] == 0:
            return child_bounds(P, f, s, middle, e, node.lower, node.upper, room)
        values = []
        for first, last in ((s, middle), (middle, e)):
            median = np.zeros(P.y_rank.shape[0])
            node_medians(P, first, last, totals(P, first, last, room.left)[0], median)
            values.append(median[0] - P.center)
        return bounds_between(P.monotone[f], *values, node.lower, node.upper)

    def nodes(self) -> Nodes:
        fields = zip(*self.records, strict=True)
        like = empty_nodes(1, self.P.y_rank.shape[0])
        return Nodes(*(np.array(f, a.dtype) for f, a in zip(fields, like, strict=True)))


def grow_whole(driver: Driver) -> Nodes:
    """Every node that may be divided is: large ones here, branches in threads."""
    P, lim = driver.P, driver.lim
    m = P.keys.shape[1]
    cut = m if thread_count() == 1 or m <= SMALL else max(m // 8, SMALL)
    cut = 0 if P.criterion == ABSOLUTE else cut  # its kernels are for single nodes
    waiting, branches = [(driver.add(driver.root()), driver.root())], []
    while waiting:
        i, node = waiting.pop()
        if node.stop - node.start <= cut:
            branches.append((i, node))
            continue
        question = driver.question(i, node)
        if question is None:
            continue
        for k, side in enumerate(driver.divide(i, node, question)):
            child = driver.add(side)
            driver.records[i][k] = child
            waiting.append((child, side))

    def branch(item: tuple[int, Open]) -> Nodes:
        _, node = item
        return _grow_branch(P, lim, node, driver.goes_left)

    branches.sort(key=lambda item: item[1].start - item[1].stop)
    parts = [driver.nodes(), *map_threads(branch, branches)]
    return _join(parts, [i for i, _ in branches])


def _grow_branch(P: Problem, lim: Limits, node: Open, goes_left: Any) -> Nodes:
    m = node.stop - node.start
    nodes = empty_nodes(2 * m - 1, P.y_rank.shape[0])
    nodes.start[0], nodes.stop[0] = node.start, node.stop
    nodes.lower[0], nodes.upper[0], nodes.state[0] = node.lower, node.upper, node.state
    stack, keys = np.empty((m + 1, 2), np.int64), np.empty(m + 1, np.int64)
    room = make_scratch(P, m)
    n = grow_branch(P, lim, nodes, node.depth, node.key, goes_left, room, stack, keys)
    return Nodes(*(field[:n] for field in nodes))


def _in_preorder(nodes: Nodes) -> Nodes:
    """The same tree, its nodes listed from the root, left branch before right."""
    n = len(nodes.left)
    order, number = np.empty(n, np.int64), np.empty(n, np.int32)
    preorder(nodes.left, nodes.right, np.arange(n), order)
    number[order] = np.arange(n, dtype=np.int32)
    found = Nodes(*(field[order] for field in nodes))
    for child in (found.left, found.right):
        inner = child >= 0
        child[inner] = number[child[inner]]
    return found


def _join(parts: list[Nodes], places: list[int]) -> Nodes:
    """One set of nodes in preorder; branch k stands in the place of top node ``places[k]``."""
    begin = np.concatenate([[0], np.cumsum([len(part.left) for part in parts])])
    joined = Nodes(*(np.concatenate(field) for field in zip(*parts, strict=True)))
    for part, at in zip(parts[1:], begin[1:-1], strict=True):
        rows = slice(at, at + len(part.left))
        for child in (joined.left, joined.right):
            child[rows][part.left >= 0] += np.int32(at)
    alias = np.arange(begin[-1])
    alias[places] = begin[1:-1]
    order = np.empty(begin[-1], np.int64)
    order = order[: preorder(joined.left, joined.right, alias, order)]
    number = np.zeros(begin[-1], np.int32)
    number[order] = np.arange(len(order), dtype=np.int32)
    found = Nodes(*(field[order] for field in joined))
    for child in (found.left, found.right):
        inner = child >= 0
        child[inner] = number[alias[child[inner]]]
    return found


def grow_best_first(driver: Driver, max_leaves: int) -> Nodes:
    """Divide the leaf whose question lowers the impurity most until there are enough leaves."""
    heap: list[Any] = []

    def consider(i: int, node: Open) -> None:
        question = driver.question(i, node)
        if question is not None:
            heapq.heappush(heap, (-question.decrease, i, node, question))

    consider(driver.add(driver.root()), driver.root())
    leaves = 1
    while heap and leaves < max_leaves:
        _, i, node, question = heapq.heappop(heap)
        for k, side in enumerate(driver.divide(i, node, question)):
            child = driver.add(side)
            driver.records[i][k] = child
            consider(child, side)
        leaves += 1
    return _join([driver.nodes()], [])


def grow(P: Problem, lim: Limits, max_leaves: int | None = None) -> Nodes:
    """The nodes of the tree in preorder. The keys of P are left in the order of the leaves."""
    if max_leaves is None and P.keys.shape[1] <= SMALL and P.criterion != ABSOLUTE:
        root = Open(0, P.keys.shape[1], 0, lim.seed, -np.inf, np.inf, ALL)
        return _in_preorder(_grow_branch(P, lim, root, np.zeros(len(P.X), np.uint8)))
    driver = Driver(P, lim)
    return grow_whole(driver) if max_leaves is None else grow_best_first(driver, max_leaves)
