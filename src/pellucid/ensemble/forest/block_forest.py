r"""The trees of a forest on blocks: level by level, sums of whole numbers from the shards.

Targets, weights and the draws of every tree are here (24 bytes a row), codes are not. A few trees
grow at a time. Each pass asks of the nodes that are open

    more than FEW_ROWS rows   8 x 256 x (classes + 1) bytes for every column that the node looks at
                              (3 instead of classes + 1 for two classes and for numbers)
    fewer                     their numbers and codes, 8 + p bytes a row; the rest of the branch
                              grows here with the grower in memory
    leaves of numbers         8 bytes a row: the record of a regressor lists them

and deals out how often each tree sees each row, 1 byte as a rule. So a tree of depth D takes D + 1
passes above FEW_ROWS, and as a rule (8 + p) n bytes in all; with ``max_depth`` or
``min_samples_leaf`` that end it before, far fewer.

What a node decides depends on its rows and its key alone, so the trees are those of ``growing.py``.
"""

from collections.abc import Iterator
from functools import partial
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pellucid.compiled.trees.search import mix
from pellucid.core.arrays.typing import Array, Map
from pellucid.core.loops.statistics import Source
from pellucid.core.runtime.threads import map_threads
from pellucid.ensemble.bins import Bins
from pellucid.ensemble.blocks.shards import Recipe, Shards
from pellucid.ensemble.forest import block_bags as on_worker
from pellucid.ensemble.forest.block_bags import Asked, Bag, Dealt, History, Split
from pellucid.ensemble.forest.growing import BINS, Grown, Member, Members
from pellucid.ensemble.forest.joining import Joiner
from pellucid.ensemble.forest.kernels import growth as coded
from pellucid.ensemble.forest.kernels.given_sums import (
    best_given,
    best_given_packed,
    drawn_columns,
)

Whole: TypeAlias = NDArray[np.int64]
FEW_ROWS = 1 << 14  # of a node whose rows are brought together
TOGETHER = 1 << 24  # rows of all trees that grow at the same time
AT_MOST = 16  # of these trees
PASS_BYTES = 1 << 26  # that one pass brings


class Node:
    """A node of a tree that grows."""

    def __init__(self, number: int, key: int, depth: int, sums: Whole) -> None:
        self.number, self.key, self.depth = number, key, depth
        self.sums = sums  # (K + 1,) with the number of rows at the end
        self.all_columns = False
        self.column, self.threshold, self.missing_left = coded.LEAF, 0.0, 0
        self.children: tuple[Node, Node] | None = None
        self.rows: Any = None  # of a leaf, in their order
        self.branch: coded.Grown | None = None  # grown here, with rows in the order of its leaves

    @property
    def size(self) -> int:
        return int(self.sums[-1])


class Growing(NamedTuple):
    """One tree."""

    member: Member
    weights: Array
    task: coded.Task
    root: Node


def grow_on_blocks(
    source: Source, map_: Map, bins: Bins, members: Members, new: range, keep: bool
) -> Grown:
    """The trees ``new``; the rows of their leaves where ``keep``."""
    joiner = Joiner(new.start, keep_rows=keep)
    some = max(1, min(AT_MOST, TOGETHER // members.sampler.n))
    forest = BlockForest(source, map_, bins, members)
    try:
        for first in range(new.start, new.stop, some):
            numbers = range(first, min(first + some, new.stop))
            for b, tree in zip(numbers, forest.grow(numbers), strict=True):
                joiner.add(b, *tree)
    finally:
        forest.shards.close()
    return Grown(joiner.forest(), joiner.rows)


class BlockForest:
    """Some trees at a time, on all shards."""

    def __init__(self, source: Source, map_: Map, bins: Bins, members: Members) -> None:
        self.members, self.bins = members, bins
        d = members.d
        bottom = np.concatenate([np.full((d, 1), -np.inf), bins.edges[:, :-1]], axis=1)
        self.table = coded.Coded(np.zeros((d, 0), np.uint16), bottom, np.array(bins.edges), BINS)
        self.room = coded.make_room(1, d, BINS + 1, members.n_classes)
        self.dealt: Dealt | None = None
        self.splits: list[Split] = []  # of the trees that grow now, as the shards know them
        self.fresh: list[Split] = []  # that they have not been told
        self.bags: list[Bag] = []
        self.trees: list[Growing] = []
        self.places: list[int] = []  # numbers given to the nodes of each tree
        self.shards = Shards(source, map_, self._recipe, lambda i: self._slices(self.bags, i))
        starts = [shard.start for shard in self.shards.shards]
        self.ends = [*starts[1:], members.sampler.n]
        self.classes = max(int(members.target.n_classes[0]), 2) if members.classes else 0

    def _recipe(self) -> Recipe:
        history = History(self.dealt, tuple(self.splits))
        return partial(on_worker.make_rows, self.bins, history)

    def _slices(self, bags: list[Bag], i: int) -> list[Bag]:
        """The part of shard i."""
        rows = slice(self.shards.shards[i].start, self.ends[i])
        return [Bag(w[rows], None if s is None else s[rows]) for w, s in bags]

    def grow(self, numbers: range) -> Iterator[tuple[Any, Any]]:
        """The trees of these numbers, each with its rows in the order of the leaves."""
        waiting = self._deal(numbers)
        while waiting:
            waiting = self._pass(waiting)
        for b, tree in zip(numbers, self.trees, strict=True):
            yield self._finish(b, tree)

    def _deal(self, numbers: range) -> list[tuple[int, Node]]:
        """The bags of some trees; their roots."""
        found = [self.members.member(b) for b in numbers]
        dealt = self._dealt()
        bags = [self._bag(member) for member, _ in found]
        given = partial(self._slices, bags)
        got = self.shards.each(on_worker.deal, dealt, on_worker.join_looked, given)
        self.bags, self.dealt, self.splits, self.fresh = bags, dealt, [], []
        sums = got.sums.reshape(len(bags), -1)
        self.trees, self.places = [], [1] * len(bags)
        for k, (member, w) in enumerate(found):
            task = self.members.task(numbers[k], member, w)
            self.trees.append(Growing(member, w, task, Node(0, task.seed, 0, sums[k])))
        return [(k, tree.root) for k, tree in enumerate(self.trees)]

    def _dealt(self) -> Dealt:
        if self.members.classes:
            return Dealt(self.classes, 0.0, 1.0)
        return Dealt(0, self.members.center, self.members.unit)

    def _bag(self, member: Member) -> Bag:
        """What the shards must be told of a tree."""
        weight, stat = member.bag.weight, member.bag.stat
        kind = np.min_scalar_type(int(weight.max()))
        follows = self.members.classes or np.array_equal(stat, weight * self.members.whole)
        return Bag(weight.astype(kind), None if follows else stat)

    def _pass(self, waiting: list[tuple[int, Node]]) -> list[tuple[int, Node]]:
        """One pass over the shards; returns the nodes that are still open."""
        sums, rows, later, cost = [], [], [], 0
        for k, node in waiting:
            price = self._price(k, node)
            if cost + price > PASS_BYTES and cost:
                later.append((k, node))
                continue
            cost += price
            if self._ends(k, node) or node.size <= FEW_ROWS:
                if not (self.members.classes and self._ends(k, node)):
                    rows.append((k, node))
            else:
                sums.append((k, node, self._columns(k, node)))
        if not sums and not rows:
            return later
        order = Asked(
            tuple(self.fresh),
            tuple((k, node.number, columns) for k, node, columns in sums),
            tuple((k, node.number, not self._ends(k, node)) for k, node in rows),
        )
        payload = order, self.classes
        got = self.shards.each(on_worker.look, payload, on_worker.join_looked)
        self.splits += self.fresh
        self.fresh = []
        self._take_rows(rows, got.parts)
        more, at = [], 0
        for i, (k, node, columns) in enumerate(sums):
            shape = len(columns), 256, len(node.sums)
            size = shape[0] * shape[1] * shape[2]
            ends = got.low[i], got.high[i]
            more += self._decide(k, node, columns, got.sums[at : at + size].reshape(shape), ends)
            at += size
        return later + more

    def _price(self, k: int, node: Node) -> int:
        """The bytes that a node asks for."""
        if self._ends(k, node):
            return 0 if self.members.classes else 8 * node.size
        if node.size <= FEW_ROWS:
            return (8 + self.members.d) * node.size
        return 8 * 256 * len(node.sums) * len(self._columns(k, node))

    def _columns(self, k: int, node: Node) -> Any:
        """The columns that a node looks at first, or all of them."""
        d, asked = self.members.d, self.trees[k].task.max_features
        if asked >= d:
            return np.arange(d)
        return drawn_columns(d, d if node.all_columns else asked, node.key)

    def _ends(self, k: int, node: Node) -> bool:
        """Whether a node stays a leaf whatever its cells."""
        task, size = self.trees[k].task, node.size
        few = size < task.min_split or size < 2 * task.min_leaf or node.depth >= task.max_depth
        if self.members.classes:
            counts = node.sums[:-1]
            pure = counts[1] in (0, counts[0]) if self.classes == 2 else (counts > 0).sum() <= 1
            few = few or bool(pure)
        return few or self._weight(node) < 2 * task.min_weight

    def _weight(self, node: Node) -> int:
        """The weight of a node, as a whole number."""
        return int(node.sums[0] if self.classes <= 2 else node.sums[:-1].sum())

    def _take_rows(self, asked: list[tuple[int, Node]], parts: tuple[Any, ...]) -> None:
        """Rows of leaves, and branches that grow here."""
        parts = tuple(sorted(parts, key=lambda part: part[0]))
        for i, (_, node) in enumerate(asked):
            node.rows = np.concatenate([part[1][i][0] for part in parts])

        def branch(i: int) -> None:
            k, node = asked[i]
            if not self._ends(k, node):
                codes = np.concatenate([part[1][i][1] for part in parts], axis=1)
                self._grow_branch(self.trees[k], node, np.ascontiguousarray(codes, np.uint16))

        list(map_threads(branch, range(len(asked))))

    def _grow_branch(self, tree: Growing, node: Node, codes: NDArray[np.uint16]) -> None:
        """The rest of a branch, by the grower in memory."""
        m, bag = node.size, tree.member.bag
        own = (part[node.rows] for part in bag[1:])
        small = coded.Bag(np.arange(m, dtype=np.int32), *own)
        depth = tree.task.max_depth - node.depth
        task = tree.task._replace(max_depth=depth, seed=node.key)
        room = coded.make_room(m, self.members.d, BINS + 1, self.members.n_classes)
        out = coded.empty_grown(m, self.members.n_classes)
        n = coded.grow_coded(task, self.table._replace(codes=codes), small, room, out)
        node.branch = coded.Grown(*(part[:n].copy() for part in out))
        pure = node.branch.pure
        node.branch.pure[:] = np.where(pure >= 0, node.rows[np.maximum(pure, 0)], -1)
        node.rows = node.rows[small.rows]

    def _decide(
        self, k: int, node: Node, columns: Whole, sums: Whole, ends: tuple[float, float]
    ) -> list[tuple[int, Node]]:
        """The question of a node; its children, or the node itself where more must be known."""
        tree, w = self.trees[k], self._weight(node)
        if ends[0] == ends[1]:  # equal targets: a leaf, whose rows are asked for next
            return self._leaf(k, node)
        self.room.total[:] = node.sums
        if tree.task.packed:
            found = best_given_packed(tree.task, columns, sums, w, self.room)
        else:
            found = best_given(tree.task, self.table, columns, sums, w, node.key, self.room)
        best, f, place, after, to, t, varied = found
        if not varied and len(columns) < self.members.d:
            node.all_columns = True
            return [(k, node)]
        if f < 0 or best < tree.task.min_decrease:
            return self._leaf(k, node)
        cells = sums[int(np.flatnonzero(columns == f)[0])]
        left = cells[: place + 1].sum(axis=0) + (cells[BINS] if to == 1 else 0)
        lost = cells[BINS, -1] > 0
        random = tree.task.random
        node.column = int(f)
        node.threshold = coded.threshold_between(self.table, f, place, after, random, t)
        node.missing_left = int(to) if lost else int(2 * left[-1] > node.size)
        a = self.places[k]
        self.places[k] += 2
        self.fresh.append(Split(k, node.number, a, a + 1, int(f), int(place), int(to)))
        depth = node.depth + 1
        node.children = (
            Node(a, mix(node.key, 0), depth, left),
            Node(a + 1, mix(node.key, 1), depth, node.sums - left),
        )
        return [(k, child) for child in node.children]

    def _leaf(self, k: int, node: Node) -> list[tuple[int, Node]]:
        """A leaf; of numbers its rows are wanted."""
        node.depth = 2**31  # deeper than any node may be
        return [] if self.members.classes else [(k, node)]

    def _finish(self, b: int, tree: Growing) -> tuple[Any, Any]:
        """The record of a tree, nodes in preorder."""
        parts: list[coded.Grown] = []
        rows: list[Any] = []
        rights: list[tuple[int, int]] = []  # (node, its right child)
        count = 0
        stack: list[tuple[Node, int]] = [(tree.root, -1)]
        while stack:
            node, parent = stack.pop()
            if parent >= 0:
                rights.append((parent, count))
            if node.branch is not None:
                right = node.branch.right
                moved = np.where(right >= 0, right + count, coded.LEAF).astype(np.int32)
                parts.append(node.branch._replace(right=moved))
            else:
                parts.append(self._one(node))
            if node.rows is not None:
                rows.append(node.rows)
            if node.children is not None:
                stack += [(node.children[1], count), (node.children[0], -1)]
            count += len(parts[-1].right)
        out = coded.Grown(*(np.concatenate(part) for part in zip(*parts, strict=True)))
        for node_, child in rights:
            out.right[node_] = child
        member = tree.member
        if not self.members.classes:
            ordered = np.concatenate(rows).astype(np.int32)
            member = member._replace(bag=member.bag._replace(rows=ordered))
        return self.members.finish(out, count, member, tree.weights), member.bag.rows

    def _one(self, node: Node) -> coded.Grown:
        """A node on its own."""
        i4 = np.int32
        pure = -1
        if node.rows is not None:
            y = self.members.plain[node.rows]
            pure = int(node.rows[0]) if (y == y[0]).all() else -1
        sums = node.sums[:-1].astype(np.float64)[None]
        asked = np.array([coded.LEAF], i4), np.array([node.column], i4), np.array([node.threshold])
        side, size = np.array([node.missing_left], np.uint8), np.array([node.size], i4)
        return coded.Grown(*asked, side, size, sums, np.array([pure], i4))
