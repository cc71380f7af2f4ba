r"""Gradient boosting on binned data: fit a tree to the gradient, add it, repeat.

    F_0    = the best constant
    round  g, h = derivatives of the loss at F;  a tree grows on them, best leaf first;
           F += learning_rate * value of the leaf,  value = -G / (H + l2)

With K > 2 classes there are K trees a round. Losses and leaf values are in ``hist_losses.py``.
"""

import math
import time
from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pellucid.core.arrays.typing import Array
from pellucid.core.runtime.threads import map_threads, thread_count
from pellucid.ensemble.boosting import few_rows
from pellucid.ensemble.boosting.crowd import Crowd
from pellucid.ensemble.boosting.growth_limits import Limits
from pellucid.ensemble.boosting.hist_losses import total_of
from pellucid.ensemble.boosting.kernels.histograms import FOUND
from pellucid.ensemble.boosting.kernels.leafwise import BLOCK, Grown, Rules, Table, Work, grow_tree
from pellucid.ensemble.boosting.kernels.scores import leaf_bits, score_bits, walk_trees

ROWS = 16_384
FEW = 6_000  # rows below which a second thread costs more than it brings
POOL_BYTES = 1 << 29  # for the sums of open leaves
MAX_LEAVES = 65_535
WHOLE = 2.0**30  # total weight up to which whole weights are taken as they are
ROWS_PER_LEAF = 256  # from which on sums of leaves are cheaper than sums of rows
NARROW = 21  # bits of the total weight up to which one number holds gradient and weight


class Trees(NamedTuple):
    """All trees of a model, one after the other; tree t has the nodes node_start[t] and on."""

    node_start: Any  # (T + 1,)
    leaf_start: Any  # (T + 1,)
    feature: Any
    threshold: Any  # bin: codes up to it go left
    missing_left: Any
    left: Any  # a node of the tree, or ~leaf
    right: Any
    category: Any  # a row of ``sets``, or -1 for an ordered column
    sets: Any  # (sets, 4) 256 bits: categories that go left
    gain: Any
    value: Any  # (leaves in all,)
    weight: Any


class Units(NamedTuple):
    """How weights and sums become whole numbers: the same for all trees of a fit."""

    weight_scale: float
    shift: int
    width: int
    keep: bool  # gradients move with their leaves: ``leafwise``


def find_units(
    shape: tuple[int, int], total: float, whole: bool, limits: Limits, flat: bool, moves: bool
) -> Units:
    """The units of a table (rows, columns) with the weight ``total``.

    ``whole``: so are all weights. ``flat``: the curvature of every row is 1, and no gradient
    stands far above all others. ``moves``: the gradient of a row moves with its score.
    """
    n, p = shape
    # weights as whole numbers: exact for whole weights, 20 bits or more for others
    whole = whole and total < WHOLE
    weight_scale = 1.0 if whole else 2.0 ** math.floor(math.log2(WHOLE / total))
    if weight_scale == 1.0 and not whole:
        weight_scale = 0.5
    spill = 2 if whole else n + 2  # what rounding may add
    shift = max(1, math.ceil(math.log2(total * weight_scale + spill)))
    width = 1 if flat and whole and shift <= NARROW else 2
    roomy = pool_slots(p, width, limits.max_leaves) >= limits.max_leaves
    keep = moves and width == 1 and roomy and n >= ROWS_PER_LEAF * limits.max_leaves
    return Units(weight_scale, shift, width, keep)


def pool_slots(p: int, width: int, max_leaves: int) -> int:
    """How many leaves keep their sums at the same time."""
    return max(2, min(max_leaves, POOL_BYTES // (8 * p * 256 * width)))


class Scales:
    """The scale of the gradients of each tree; in narrow cells that of the tree before may stay."""

    def __init__(self, units: Units, limits: Limits, rate: float) -> None:
        self.units, self.limits, self.rate = units, limits, float(rate)
        self.last = math.inf

    def rules(self, sum_g: float, sum_h: float, seed: int) -> tuple[Array, Rules]:
        """What turns (g, h, weight) into whole numbers, and the rules of the next tree."""
        weight_scale, shift, width, keep = self.units
        scale = np.array([_power(61, sum_g), _power(62 - shift, sum_h), weight_scale])
        again = False
        if width == 1:
            fine = _power(61 - shift, sum_g)
            again = keep and fine / 16 <= self.last <= 2 * fine
            self.last = self.last if again else fine
            scale = np.array([self.last, 1.0, 1.0])
        q = self.limits
        limits = q.max_leaves, q.max_depth, q.min_leaf, q.l2, q.min_gain, q.tries
        state = seed, width, self.rate, keep, again
        return scale, Rules(1 / scale, q.monotone, q.paths, shift, *limits, *state)


def empty_tree(k: int) -> Grown:
    """Memory for a tree of up to ``k`` leaves."""
    split, sides = np.zeros((max(k - 1, 1), FOUND), np.int64), np.zeros(k, np.uint8)
    return Grown(split, sides, *np.zeros((2, k), np.int32), *np.zeros((3, k)))


def cut_tree(tree: Grown, leaves: int) -> Grown:
    """The part of the memory that a tree of so many leaves has filled."""
    return Grown(*(part[: leaves - 1] for part in tree[:5]), *(part[:leaves] for part in tree[5:]))


class Grower:
    """Memory for growing tree after tree on one binned table."""

    def __init__(
        self, table: Table, w: Array, limits: Limits, *, flat: bool, moves: bool, rate: float
    ) -> None:
        p, n = table.by_column.shape
        self.table, self.w, self.limits = table, w, limits
        self.n_threads = 1 if n < FEW else min(thread_count(), max(1, p))
        self.crowd = Crowd(self.n_threads)
        whole = bool((w == np.floor(w)).all())
        units = find_units((n, p), total_of(w), whole, limits, flat, moves)
        self.scales = Scales(units, limits, rate)
        self.work = self._memory(n, p, units.width)

    def _memory(self, n: int, p: int, width: int) -> Work:
        t, size = self.n_threads, p * 256 * width
        slots = pool_slots(p, width, self.limits.max_leaves)
        counter, cells = np.zeros(8, np.int64), np.zeros((n, width), np.int64)
        rows = np.zeros(n + 64 * t, np.int32), stretches(n, t), np.zeros(n, np.uint16)
        sums = np.zeros((t, size), np.int64), np.zeros((slots + 1, size), np.int64)
        best = np.zeros((t, 2)), np.zeros((t, 2, FOUND), np.int64), np.zeros((t, 2), np.int64)
        root, steps = np.zeros(size, np.int64), np.zeros(self.limits.max_leaves, np.int64)
        return Work(counter, cells, *rows, *sums, *best, root, steps)

    def grow(
        self, run: Callable[..., Any], g: Array, h: Array, sum_g: float, sum_h: float, seed: int
    ) -> Grown:
        """One tree; ``run`` is a gang of ``n_threads``, g and h are those of unit weight."""
        scale, rules = self.scales.rules(sum_g, sum_h, seed)
        tree = empty_tree(self.limits.max_leaves)
        if self.n_threads == 1:
            self.work.counter[0] = 0
            leaves = grow_tree(0, 1, self.table, rules, scale, g, h, self.w, self.work, tree)
        else:
            leaves = self._run(run, rules, scale, g, h, tree)
        return cut_tree(tree, leaves)

    def _run(
        self, run: Callable[..., Any], rules: Rules, scale: Array, g: Array, h: Array, tree: Grown
    ) -> int:
        """Grow one tree, with as many threads as the machine has room for."""
        t = self.crowd.at_work
        work = self.work._replace(stretch=stretches(len(self.w), t))
        work.counter[:] = 0

        def release() -> None:
            work.counter[0] = 1 << 60

        def grow(thread: int) -> int:
            if thread >= t:
                return 0
            return grow_tree(thread, t, self.table, rules, scale, g, h, self.w, work, tree)

        wall, cpu = time.perf_counter(), time.process_time()
        leaves = run(grow, release)[0]
        self.crowd.note(time.perf_counter() - wall, time.process_time() - cpu)
        return leaves


@lru_cache(maxsize=64)
def stretches(n: int, n_threads: int) -> Any:
    """Where the rows of each thread begin and end, (threads, 2), with 64 places after each."""
    owned = [
        sum(min(n, b + BLOCK) - b for b in range(k * BLOCK, n, n_threads * BLOCK))
        for k in range(n_threads)
    ]
    ends = np.cumsum([size + 64 for size in owned]) - 64
    return np.array([[end - size, end] for end, size in zip(ends, owned, strict=True)])


def _power(bits: int, total: float) -> float:
    """The power of two that brings ``total`` just below 2^bits."""
    return 2.0 ** min(bits - 1 - math.frexp(max(total, 1e-300))[1], 1000)


def join(trees: list[Grown]) -> Trees:
    """Flat arrays of a list of trees."""
    none = np.zeros((0, FOUND), np.int64), np.zeros(0, np.uint8), *np.zeros((2, 0), np.int32)
    found = Grown(*none, *np.zeros((3, 0)))
    if trees:
        found = Grown(*(np.concatenate(parts) for parts in zip(*trees, strict=True)))
    split = found.split
    first = np.cumsum([0, *(len(t.left) for t in trees)])
    second = np.cumsum([0, *(len(t.value) for t in trees)])
    is_set = split[:, 5] == 1
    category = np.where(is_set, np.cumsum(is_set) - 1, -1).astype(np.int32)
    asked = split[:, 0].astype(np.int32), split[:, 1].astype(np.uint8)
    sets = np.ascontiguousarray(split[is_set, 6:])
    ways = found.missing_left, found.left, found.right
    numbers = found.gain, found.value, found.weight
    return Trees(first, second, *asked, *ways, category, sets, *numbers)


def extend(old: Trees, new: list[Grown]) -> Trees:
    """``old`` with more trees behind them."""
    more = join(new)
    if len(old.node_start) == 1:
        return more
    moved = more._replace(
        node_start=more.node_start[1:] + old.node_start[-1],
        leaf_start=more.leaf_start[1:] + old.leaf_start[-1],
        category=np.where(more.category >= 0, more.category + len(old.sets), -1).astype(np.int32),
    )
    return Trees(*(np.concatenate([a, b]) for a, b in zip(old, moved, strict=True)))


def part_of(trees: Trees, first: int, last: int) -> Trees:
    """The trees [first, last) on their own."""
    n0, n1 = trees.node_start[first], trees.node_start[last]
    l0, l1 = trees.leaf_start[first], trees.leaf_start[last]
    nodes = ("feature", "threshold", "missing_left", "left", "right", "category", "gain")
    return trees._replace(
        node_start=trees.node_start[first : last + 1] - n0,
        leaf_start=trees.leaf_start[first : last + 1] - l0,
        value=trees.value[l0:l1],
        weight=trees.weight[l0:l1],
        **{name: getattr(trees, name)[n0:n1] for name in nodes},
    )


def add_scores(trees: Trees, codes: Any, F: Array) -> None:
    """F (K, n) += the sum of the trees; tree t belongs to class t mod K."""
    K, n = F.shape
    if few_rows.is_light(trees, n):
        few_rows.spread_rows(trees, codes, F)
        return
    most = int(np.diff(trees.leaf_start).max()) if len(trees.leaf_start) > 1 else 0
    small = 0 < most <= 64
    if small:
        masks, ordered = np.zeros(len(trees.left), np.uint64), np.zeros(len(trees.value))
        shape = trees.node_start, trees.leaf_start, trees.left, trees.right
        leaf_bits(*shape, trees.value, masks, ordered)
        masks = masks.astype(np.uint32 if most <= 32 else np.uint64)

    def work(task: tuple[int, int]) -> None:
        for k in range(K):
            if small:
                score_bits(trees, masks, ordered, codes, k, K, F[k], *task)
            else:
                walk_trees(trees, codes, k, K, F[k], *task)

    if n <= ROWS:
        work((0, n))
    else:
        list(map_threads(work, [(a, min(a + ROWS, n)) for a in range(0, n, ROWS)]))


def check_trees(trees: Any, p: int) -> bool:
    """Whether trees from a file fit together: compiled code must not leave its arrays."""
    t = trees
    if not (isinstance(t, Trees) and t.sets.ndim == 2 and t.sets.shape[1] == 4):
        return False
    if not (_starts(t.node_start, len(t.feature)) and _starts(t.leaf_start, len(t.value))):
        return False
    if len({len(part) for part in t[2:8]} | {len(t.gain)}) != 1 or len(t.weight) != len(t.value):
        return False
    nodes = np.diff(t.node_start)
    if not np.array_equal(np.diff(t.leaf_start), nodes + 1):
        return False
    if not (((t.feature >= 0) & (t.feature < p)).all() and (t.category < len(t.sets)).all()):
        return False
    first = np.repeat(t.node_start[:-1], nodes)
    own, size = np.arange(len(t.feature)) - first, np.repeat(nodes, nodes)
    children = []
    for child in (t.left, t.right):  # deeper nodes come later, so that a walk must end
        if not ((child < size) & (~child <= size) & ((child < 0) | (child > own))).all():
            return False
        leaf = np.repeat(t.leaf_start[:-1], nodes) + ~child
        children.append(np.where(child < 0, len(own) + leaf, first + child))
    return len(np.unique(np.concatenate(children))) == 2 * len(own)  # each has one parent


def _starts(values: NDArray[Any], last: int) -> bool:
    """Whether ``values`` climb from 0 to ``last``."""
    climbs = values.ndim == 1 and len(values) > 0 and bool((np.diff(values) >= 0).all())
    return bool(climbs and values[0] == 0 and values[-1] == last)
