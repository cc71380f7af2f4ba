r"""The rows of one shard of a forest on blocks: what stays on the worker, and what it is asked.

    deal    how often some trees see each row; the sums of these rows          ``Looked``
    look    rows of some nodes are parted; sums of others in the bins of the columns asked for,
            or, of nodes with few rows, the rows themselves: their numbers and codes

A row takes p bytes of codes, 8 of its target, and 20 for every tree that grows.
"""

from typing import Any, NamedTuple

import numpy as np

from pellucid.core.arrays.typing import Array
from pellucid.core.runtime.jit import jit
from pellucid.ensemble.bins import Bins, encode
from pellucid.ensemble.blocks.shards import Shard
from pellucid.ensemble.forest.kernels.growth import divide

MISSING = 255


@jit
def add_node(codes, rows, s, e, weight, stat, classes, hist):
    """Sums of the rows of a node in every bin of a column; the last is the number of rows."""
    last = hist.shape[1] - 1
    for i in range(s, e):
        r = rows[i]
        c = np.int64(codes[r])
        if classes:
            hist[c, stat[r]] += weight[r]
        else:
            hist[c, 0] += weight[r]
            hist[c, 1] += stat[r]
        hist[c, last] += 1


class Bag(NamedTuple):
    """How often a tree sees the rows of a shard."""

    weight: Any  # (n,) small whole numbers
    stat: Any  # (n,) int64, or None where it follows from the target


class Dealt(NamedTuple):
    """How the targets of the trees that are dealt become whole numbers."""

    n_classes: int  # 0: numbers
    center: float
    unit: float


class Split(NamedTuple):
    """The rows of a node in bins up to ``place`` go to the left."""

    tree: int
    node: int
    left: int
    right: int
    column: int
    place: int
    to: int  # 1: missing cells too


class Asked(NamedTuple):
    """One pass."""

    splits: tuple[Split, ...]
    sums: tuple[tuple[int, int, Any], ...]  # (tree, node, columns)
    rows: tuple[tuple[int, int, bool], ...]  # (tree, node, with their codes)


class Looked(NamedTuple):
    """What comes back."""

    sums: Any  # int64, node after node
    low: Any  # least target of every node
    high: Any
    parts: tuple[Any, ...]  # (first row of the shard, [(row numbers, codes)])


class History(NamedTuple):
    """What has been decided of the trees that grow now."""

    dealt: Dealt | None
    splits: tuple[Split, ...]


class BagRows:
    """The state of one shard."""

    def __init__(self, bins: Bins, shard: Shard) -> None:
        parts, targets = [], []
        for _, rows in shard.stretches():
            parts.append(encode(rows.X, bins, by_row=False).by_column)
            targets.append(np.asarray(rows.y, np.float64))
        self.start = shard.start
        self.codes = np.concatenate(parts, axis=1)
        self.y = np.concatenate(targets)
        self.trees: list[tuple[Any, Any, Any]] = []
        self.spots: list[dict[int, tuple[int, int]]] = []

    def deal(self, dealt: Dealt, bags: list[Bag]) -> None:
        """Other trees."""
        self.trees, self.spots = [], []
        for bag in bags:
            weight = bag.weight.astype(np.int64)
            rows = np.flatnonzero(weight > 0).astype(np.int32)
            stat = bag.stat
            if stat is None and dealt.n_classes > 2:
                stat = self.y.astype(np.int64)
            elif stat is None and dealt.n_classes:
                stat = weight * self.y.astype(np.int64)
            elif stat is None:
                scaled = np.where(weight > 0, self.y - dealt.center, 0.0) / dealt.unit
                stat = weight * np.rint(scaled).astype(np.int64)
            self.trees.append((rows, weight, stat))
            self.spots.append({0: (0, len(rows))})

    def part(self, one: Split) -> None:
        """Divide the rows of a node."""
        s, e = self.spots[one.tree].pop(one.node)
        rows, moved = self.trees[one.tree][0], np.empty(e - s + 1, np.int32)
        codes = self.codes[one.column]
        size, _ = divide(codes, rows, s, e, one.place, one.to, MISSING, moved)
        self.spots[one.tree][one.left] = s, s + size
        self.spots[one.tree][one.right] = s + size, e


def make_rows(bins: Bins, history: History, shard: Shard, bags: list[Bag]) -> BagRows:
    """A recipe: rows, then what was dealt, then what was parted."""
    state = BagRows(bins, shard)
    if history.dealt is not None:
        state.deal(history.dealt, bags)
        for one in history.splits:
            state.part(one)
    return state


def deal(state: BagRows, asked: tuple[Dealt, list[Bag]]) -> Looked:
    """The bags of other trees; sums and range of the targets of each."""
    dealt, bags = asked
    state.deal(dealt, bags)
    found = []
    for rows, weight, stat in state.trees:
        if dealt.n_classes > 2:
            sums = np.bincount(stat[rows], weight[rows], dealt.n_classes).astype(np.int64)
        else:
            sums = np.array([weight[rows].sum(), stat[rows].sum()])
        found.append(np.append(sums, len(rows)))
    spots = [(k, 0) for k in range(len(bags))]
    return Looked(np.concatenate(found), *ranges(state, spots), ())


def ranges(state: BagRows, nodes: list[tuple[int, int]]) -> tuple[Array, Array]:
    """The least and the largest target of some nodes."""
    low, high = np.full(len(nodes), np.inf), np.full(len(nodes), -np.inf)
    for i, (tree, node) in enumerate(nodes):
        s, e = state.spots[tree][node]
        if e > s:
            y = state.y[state.trees[tree][0][s:e]]
            low[i], high[i] = y.min(), y.max()
    return low, high


def look(state: BagRows, asked: tuple[Asked, int]) -> Looked:
    """Part the rows of some nodes; sums of some, rows of others."""
    order, n_classes = asked
    for one in order.splits:
        state.part(one)
    width, found = max(n_classes, 2) + 1, []
    for tree, node, columns in order.sums:
        rows, weight, stat = state.trees[tree]
        s, e = state.spots[tree][node]
        hist = np.zeros((len(columns), 256, width), np.int64)
        for j, f in enumerate(columns):
            add_node(state.codes[f], rows, s, e, weight, stat, n_classes > 2, hist[j])
        found.append(hist.reshape(-1))
    taken = []
    for tree, node, coded in order.rows:
        s, e = state.spots[tree][node]
        rows = state.trees[tree][0][s:e]
        codes = state.codes[:, rows] if coded else None
        taken.append((rows.astype(np.int64) + state.start, codes))
    sums = np.concatenate(found) if found else np.zeros(0, np.int64)
    spots = [(tree, node) for tree, node, _ in order.sums]
    parts = ((state.start, taken),) if taken else ()
    return Looked(sums, *ranges(state, spots), parts)


def join_looked(a: Looked, b: Looked) -> Looked:
    """Two sets of rows."""
    low, high = np.minimum(a.low, b.low), np.maximum(a.high, b.high)
    return Looked(a.sums + b.sums, low, high, a.parts + b.parts)
