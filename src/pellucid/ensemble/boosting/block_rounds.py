r"""Rounds of boosting on blocks: decisions here, rows and their codes where they were read.

Before the first round the target is read twice (measures, then sums that need these) and the
features twice (the sample for the bins, then the codes). After that no file is read again, unless a
worker is lost. A round of K trees takes

    1 pass    the last trees are added to the scores; derivatives; their sums
    1 pass    roots: sums in bins
    D passes  the children of all leaves that may still be split, level by level

and of the sums in bins at most S = 8 width (bins in use + p) bytes for each leaf that is looked at
come back, width 2, or 1 for squared errors: K S for the roots, then S for every split that is
looked at, since the larger child follows by subtraction. With ``max_leaf_nodes`` = L a pass looks
at no more leaves than splits are left, so S L^2 / 2 for a tree is never passed; the tests hold it
below S L log2(L). D is the depth of the deepest tree of the round in the tests, and L - 1 at most.

``Growing`` makes the splits of one tree in the order of the grower in memory
(``kernels/levels.py``), from the same sums: the trees are the same.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from heapq import heappop, heappush
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pellucid.core.algebra.exact_sums import exact_sum
from pellucid.core.arrays.typing import Array, Map
from pellucid.core.loops.statistics import Source
from pellucid.ensemble.blocks.shards import Recipe, Shards
from pellucid.ensemble.boosting import block_rows as on_worker
from pellucid.ensemble.boosting.block_rows import Asked, Cells, Ending, History, Setup, cells_in_use
from pellucid.ensemble.boosting.boosted_trees import (
    POOL_BYTES,
    Scales,
    Trees,
    cut_tree,
    empty_tree,
    extend,
    find_units,
    join,
)
from pellucid.ensemble.boosting.growth_limits import Limits
from pellucid.ensemble.boosting.hist_losses import Derivatives, not_lone
from pellucid.ensemble.boosting.kernels import derivatives as boosting
from pellucid.ensemble.boosting.kernels import levels
from pellucid.ensemble.boosting.kernels.histograms import FOUND
from pellucid.ensemble.boosting.kernels.leafwise import (
    GAIN,
    LEAF_TIE_BITS,
    SUM_G,
    SUM_W,
    Grown,
    Rules,
    Table,
    Work,
    no_leaves,
)

Whole: TypeAlias = NDArray[np.int64]
PASS_BYTES = 1 << 26  # of sums that one pass brings at most, for each tree


class Facts(NamedTuple):
    """What is known of all rows before the first tree."""

    n: int
    total: float  # weight of the rows to learn from
    scaled: float  # the same times the factors of the loss
    held: float  # that of the rows kept aside; 0: there are none
    whole: bool  # all weights are whole
    ones: bool  # all factors are 1


class Growing:
    """One tree: places looked at so far, and the leaves that it has."""

    def __init__(self, table: Table, rules: Rules, use: Whole, sums: Whole, totals: Whole) -> None:
        self.table, self.rules, self.use = table, rules, use
        size = len(table.n_bins) * 256 * rules.width
        self.flat = np.zeros((1, size), np.int64)
        self.work = client_work(rules.width, self.flat)
        top = rules.max_leaves
        self.places, self.children = no_leaves(min(2 * top, 1024), 1), np.full((1024, 2), -1)
        self.leaves, self.at = no_leaves(top, 1), np.zeros(top, np.int64)
        self.tree, self.new, self.n_places = empty_tree(top), 1, 1
        self.sums: dict[int, Any] = {}
        self.room = max(1, POOL_BYTES // (8 * len(use)))
        self.asked: list[Asked] = []
        self.loose: list[Asked] = []
        self.places.whole[0, SUM_G], self.places.whole[0, SUM_W] = totals
        self._judge(0, sums)
        for part, place in zip(self.leaves[:3], self.places[:3], strict=True):
            part[0] = place[0]

    def _judge(self, k: int, sums: Whole) -> None:
        """Find the best split of a place; its sums are kept if it may be split."""
        self.flat[0, self.use] = sums
        levels.judge(self.table, self.rules, self.work, self.places, k)
        if self.places.real[k, GAIN] > 0 and len(self.sums) < self.room:
            self.sums[k] = sums

    def _two_places(self) -> tuple[int, int]:
        """Two more places."""
        if self.n_places + 2 > len(self.places.whole):
            more = no_leaves(len(self.places.whole), 1)
            joined = [np.concatenate(pair) for pair in zip(self.places[:3], more[:3], strict=True)]
            self.places = self.places._replace(whole=joined[0], real=joined[1], found=joined[2])
        while len(self.places.whole) > len(self.children):
            self.children = np.concatenate([self.children, np.full_like(self.children, -1)])
        self.n_places += 2
        return self.n_places - 2, self.n_places - 1

    def ask(self) -> tuple[Asked, ...]:
        """What must be known next of the rows; nothing when the tree is done."""
        self.asked = []
        while not self.asked:
            known = self.rules, self.places, self.children, self.leaves, self.at
            self.new = levels.settle_splits(*known, self.new, self.tree)
            if not self._look_ahead():
                break
        return tuple(self.asked)

    def _look_ahead(self) -> bool:
        """Split as long as splits are left, a leaf with unknown children as if it had none.

        What comes up on the way may be split, nothing else can. Returns whether anything did.
        """
        most = max(1, PASS_BYTES // (8 * len(self.use)))
        left, new = self.rules.max_leaves - self.new, self.new
        heap: list[tuple[int, int, int]] = []
        for leaf in range(new):
            self._push(heap, leaf, int(self.at[leaf]))
        came_up = False
        while heap and left > 0 and len(self.asked) < most:
            _, leaf, place = heappop(heap)
            if self.children[place, 0] < 0:
                self._bear(place, left == 1)
                came_up = True
            else:  # the left child keeps the number of the leaf, the right one gets the next
                for number, child in zip((leaf, new), self.children[place].tolist(), strict=True):
                    self._push(heap, number, child)
            left, new = left - 1, new + 1
        return came_up

    def _push(self, heap: list[tuple[int, int, int]], leaf: int, place: int) -> None:
        gain = self.places.real[place, GAIN : GAIN + 1]
        if gain[0] > 0:  # the order of ``best_leaf``: greatest gain, then the oldest leaf
            bits = int(gain.view(np.int64)[0]) + (1 << (LEAF_TIE_BITS - 1)) >> LEAF_TIE_BITS
            heappush(heap, (-bits, leaf, place))

    def _bear(self, place: int, last: bool) -> None:
        """Ask for the children of a place, unless they stay leaves in any case."""
        a, b = self._two_places()
        again = levels.bear(self.rules, self.places, place, a, b)
        found = self.places.found[place].copy()
        if last or not again:
            self.children[place] = a, b
            self.loose.append(Asked(place, a, b, found, ()))
            return
        mask = (1 << self.rules.shift) - 1
        weight = [int(self.places.whole[k, SUM_W]) & mask for k in (a, b)]
        sides = (b, a) if weight[0] > weight[1] else (a, b)
        self.asked.append(Asked(place, a, b, found, sides[:1] if place in self.sums else sides))

    def take(self, sums: Iterator[Any]) -> None:
        """The sums that were asked for."""
        for one in self.asked:
            small = one.sides[0]
            first, parent = next(sums), self.sums.pop(one.place, None)
            second = next(sums) if len(one.sides) == 2 else parent - first
            self._judge(small, first)
            self._judge(one.left + one.right - small, second)
            self.children[one.place] = one.left, one.right

    def done(self) -> tuple[Grown, Any, Any]:
        """The tree, the steps of its leaves and their places."""
        steps = np.zeros(self.rules.max_leaves, np.int64)
        levels.close_tree(self.rules, self.leaves, self.new, self.tree, steps)
        return cut_tree(self.tree, self.new), steps, self.at[: self.new].copy()


def client_work(width: int, flat: Whole) -> Work:
    """The memory of ``leafwise`` as far as a search of given sums needs it."""
    none = np.zeros(0, np.int64)
    rows = np.zeros(0, np.int32), np.zeros((1, 2), np.int64), np.zeros(0, np.uint16)
    best = np.zeros((1, 2)), np.zeros((1, 2, FOUND), np.int64), np.zeros((1, 2), np.int64)
    cells, private = np.zeros((0, width), np.int64), np.zeros((1, 0), np.int64)
    return Work(np.zeros(8, np.int64), cells, *rows, private, flat, *best, none, none)


class BlockRounds:
    """The rounds of ``hist_model.Rounds``, on shards."""

    rows = None  # nothing that a callback could be given

    def __init__(
        self,
        source: Source,
        map_: Map,
        setup: Setup,
        facts: Facts,
        rules: tuple[Limits, float, Trees, int],
    ) -> None:
        self.limits, self.rate, self.old, self.seed = rules
        self.setup, self.facts, self.loss = setup, facts, setup.loss
        self.K = len(setup.baseline)
        self.held = facts.held > 0
        self.held_loss = np.nan
        self.new: list[Grown] = []
        self.scales: Scales | None = None
        n_bins, categorical = setup.bins.n_bins, setup.bins.categorical
        p = len(n_bins)
        empty = np.zeros((0, 64), np.uint8), np.zeros((p, 0), np.uint8)
        self.table = Table(*empty, n_bins, categorical)
        self.cells: tuple[Cells, ...] = ()
        self.moved: tuple[Any, ...] = ()
        self.origin = self.roots = self._done()
        self.splits: list[list[Asked]] = []
        self.shards = Shards(source, map_, self._recipe)

    def _done(self) -> int:
        """Rounds there are, those before this fit among them."""
        return (len(self.old.node_start) - 1 + len(self.new)) // self.K

    def _recipe(self) -> Recipe:
        splits = tuple(map(tuple, self.splits)) if self.roots > self._done() else ()
        where = self.origin, self.roots, self.moved
        history = History(self.trees(), self.cells, *where, splits)
        return partial(on_worker.BlockRows, self.setup, history)

    @contextmanager
    def working(self) -> Iterator[None]:
        """The states of the shards are let go at the end."""
        try:
            yield
        finally:
            self.shards.close()

    def _state(self, sums: on_worker.Sums) -> Derivatives:
        numbers = [exact_sum(parts) for parts in sums.parts]
        of_classes: Array = np.array(numbers[: 2 * self.K]).reshape(self.K, 2)
        if self.held:
            self.held_loss = numbers[-1] / self.facts.held
        none = np.zeros((0, 0))
        scaled = self.facts.scaled
        return Derivatives(none, none, of_classes, numbers[-2] / scaled, scaled)

    def begin(self) -> Derivatives:
        """The derivatives before the first tree of this fit."""
        sums = self.shards.each(on_worker.begin, None, on_worker.join_sums)
        facts, code = self.facts, self.loss.code
        flat = code == boosting.SQUARED and facts.ones and self.setup.unit == 1.0
        flat = flat and not_lone(sums.largest, exact_sum(sums.residual), facts.n)
        shape = facts.n, len(self.table.n_bins)
        moves = code == boosting.SQUARED
        units = find_units(shape, facts.total, facts.whole, self.limits, flat, moves)
        self.scales = Scales(units, self.limits, self.rate)
        return self._state(sums)

    def step(self, state: Derivatives) -> Derivatives:
        """One tree per class, and the derivatives after them."""
        growing = self._roots(state)
        while any(asked := tuple(tree.ask() for tree in growing)):
            got = iter(self.shards.each(on_worker.split, asked, on_worker.join_arrays))
            for tree in growing:
                tree.take(got)
            for k, several in enumerate(asked):
                self.splits[k] += several
        fresh, endings, steps = [], [], np.zeros(0, np.int64)
        for tree in growing:
            grown, steps, places = tree.done()
            fresh.append(grown._replace(value=self.rate * grown.value))
            endings.append(Ending(tree.loose, places, fresh[-1].value))
        payload = tuple(endings), join(fresh)
        sums = self.shards.each(on_worker.finish, payload, on_worker.join_sums)
        self.new += fresh
        if growing[0].rules.keep:
            self.moved += (steps,)
        return self._state(sums)

    def _roots(self, state: Derivatives) -> list[Growing]:
        """The roots of a round's trees."""
        assert self.scales is not None
        number = self._done() * self.K
        pairs = [
            self.scales.rules(float(sum_g), float(sum_h), self.seed + number + k)
            for k, (sum_g, sum_h) in enumerate(state.sums)
        ]
        units = self.scales.units
        steps = self.moved[-1] if self.moved else np.zeros(0, np.int64)
        cells = tuple(
            Cells(scale, units.shift, units.width, rules.again, steps) for scale, rules in pairs
        )
        got = self.shards.each(on_worker.root, cells, on_worker.join_rooted)
        if not cells[0].again:
            self.origin, self.moved = self._done(), ()
        self.cells, self.roots = cells, self._done() + 1
        self.splits = [[] for _ in range(self.K)]
        use = cells_in_use(self.setup.bins, units.width)
        return [
            Growing(self.table, rules, use, sums, totals)
            for (_, rules), sums, totals in zip(pairs, *got, strict=True)
        ]

    def trees(self, n_rounds: int | None = None) -> Trees:
        """All trees, or those of the first ``n_rounds`` new rounds."""
        last = None if n_rounds is None else n_rounds * self.K
        return extend(self.old, self.new[:last])
