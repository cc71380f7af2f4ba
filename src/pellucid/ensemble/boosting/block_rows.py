r"""The rows of one shard of a boosting fit: what stays on the worker, and what it is asked.

A row takes stride(p) + p bytes of codes, 24 of target and weights, and for each class 8 of its
score, 16 of derivatives, 8 or 16 of whole numbers, 6 of its place in the tree.

    measure   target alone: counts, weights, range                                   ``Measured``
    begin     codes, scores, derivatives                                             ``Sums``
    root      derivatives as whole numbers; their sums in the bins                   ``Rooted``
    split     rows of some leaves are parted, and those of the smaller children added up
    finish    the last rows are parted; scores move; derivatives at the new scores   ``Sums``
"""

import math
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pellucid.core.algebra.exact_sums import Parts, exact_parts
from pellucid.core.arrays.typing import Array
from pellucid.core.loops.statistics import Rows, unit_weights
from pellucid.core.runtime.splitmix import GOLDEN, splitmix64
from pellucid.ensemble.bins import Bins, aligned, encode
from pellucid.ensemble.blocks.shards import Shard
from pellucid.ensemble.boosting import hist_losses
from pellucid.ensemble.boosting.boosted_trees import Trees, add_scores, part_of
from pellucid.ensemble.boosting.hist_losses import Loss
from pellucid.ensemble.boosting.kernels import derivatives as boosting
from pellucid.ensemble.boosting.kernels import levels
from pellucid.ensemble.boosting.kernels.leafwise import move, quantise


class Aside(NamedTuple):
    """Rows kept aside for early stopping: by their number alone, about ``share`` of them."""

    seed: int
    share: float  # 0: none

    def rows(self, start: int, n: int) -> Any:
        """Whether each of the rows from ``start`` on is kept aside."""
        z = (np.arange(start, start + n, dtype=np.uint64) + np.uint64(self.seed << 33)) * GOLDEN
        return splitmix64.py_func(z) < np.uint64(int(self.share * 2.0**64))


def not_aside(aside: Aside, start: int, rows: Rows) -> Any:
    """Which rows count for the bins, those to learn from; None where all do."""
    use = rows.w > 0
    if aside.share:
        use &= ~aside.rows(start, rows.n_rows)
    return None if use.all() else use


class Targets(NamedTuple):
    """How targets and weights are read."""

    place: Any  # (classes,) the number of each class among those present, or (0,)
    factors: Any  # (classes present,) what their loss is multiplied by, or (0,)
    aside: Aside

    def read(self, start: int, rows: Rows) -> tuple[Any, Array, Array, Array]:
        """(rows to learn from, y, w, c) of all rows with weight; the first is True or False."""
        kept = np.flatnonzero(rows.w > 0)
        y, w = np.asarray(rows.y)[kept], np.asarray(rows.w)[kept]
        if len(self.place):
            y = self.place[y.astype(np.intp)]
        c = self.factors[y.astype(np.intp)] if len(self.factors) else np.ones(len(y))
        learn = np.ones(len(kept), bool)
        if self.aside.share:
            learn = ~self.aside.rows(start, rows.n_rows)[kept]
        return learn, y.astype(np.float64), w, c


class Measured(NamedTuple):
    """What the targets and weights of some rows are."""

    rows: tuple[int, ...]  # to learn from, shard by shard
    held: int
    classes: Any  # (classes,) rows with weight
    low: float  # of y
    high: float
    whole: bool  # all weights are whole
    plain: bool  # all are 1
    sums: tuple[Parts, ...]  # of w (all), w, v, v y (to learn from), v (held); then by class
    ones: bool  # all factors are 1


def measure(targets: Targets, n_classes: int, shard: Shard) -> Measured:
    """The targets of one shard, stretch by stretch."""
    rows, held, counts = 0, 0, np.zeros(n_classes, np.int64)
    low, high, whole, plain, ones = math.inf, -math.inf, True, True, True
    parts: list[list[float]] = [[] for _ in range(5 + 2 * n_classes)]
    for start, read in shard.stretches():
        learn, y, w, c = targets.read(start, read)
        if not len(y):
            continue
        low, high = min(low, float(y.min())), max(high, float(y.max()))
        whole, plain = whole and bool((w == np.floor(w)).all()), plain and bool((w == 1).all())
        ones = ones and bool((c == 1).all())
        rows, held = rows + int(learn.sum()), held + int((~learn).sum())
        v = w * c
        at, aside = (y, w, v), v[~learn]
        if not learn.all():
            at = y[learn], w[learn], v[learn]
        sums = [w.sum(), at[1].sum(), at[2].sum(), (at[0] * at[2]).sum(), aside.sum()]
        if n_classes:
            codes = y.astype(np.intp)
            counts += np.bincount(codes, minlength=n_classes)
            sums += np.bincount(codes, w, n_classes).tolist()
            sums += np.bincount(at[0].astype(np.intp), at[2], n_classes).tolist()
        for part, value in zip(parts, sums, strict=True):
            part.append(float(value))
    known = tuple(map(exact_parts, parts))
    return Measured((rows,), held, counts, low, high, whole, plain, known, ones)


def join_measured(a: Measured, b: Measured) -> Measured:
    """The same of two shards in a row."""
    return Measured(
        a.rows + b.rows,
        a.held + b.held,
        a.classes + b.classes,
        min(a.low, b.low),
        max(a.high, b.high),
        a.whole and b.whole,
        a.plain and b.plain,
        join_parts(a.sums, b.sums),
        a.ones and b.ones,
    )


def join_parts(a: tuple[Parts, ...], b: tuple[Parts, ...]) -> tuple[Parts, ...]:
    """Exact sums, one by one."""
    return tuple(exact_parts(x + y) for x, y in zip(a, b, strict=True))


class Setup(NamedTuple):
    """What all shards of a fit share."""

    targets: Targets
    bins: Bins
    loss: Loss
    baseline: Array
    unit: float  # of the curvature
    plain: bool  # all weights are 1


class Cells(NamedTuple):
    """How the derivatives of one class become whole numbers at the root of a tree."""

    scale: Array
    shift: int
    width: int
    again: bool  # they move with the leaves of the tree before
    steps: Any  # by how much


class Asked(NamedTuple):
    """Part the rows of a place; add up those of ``sides``."""

    place: int
    left: int
    right: int
    found: Any  # (FOUND,)
    sides: tuple[int, ...]


class Ending(NamedTuple):
    """The end of a tree: splits without sums, the places of the leaves, and what they add."""

    splits: list[Asked]
    places: Any
    value: Array


class History(NamedTuple):
    """What has been decided so far: enough to make the state of a shard anew.

    Whole numbers that move with their leaves were last rounded at the root of round ``origin``;
    ``roots`` roots were asked for, ``moved`` are the steps of the rounds from ``origin`` on.
    """

    trees: Trees
    cells: tuple[Cells, ...]  # of the last root, one for every class; () before the first
    origin: int
    roots: int
    moved: tuple[Any, ...]
    splits: tuple[tuple[Asked, ...], ...]  # of the trees that grow now, class by class


class Sums(NamedTuple):
    """Sums over some rows."""

    parts: tuple[Parts, ...]  # w |g| and w h of every class, the loss, the loss of held rows
    residual: Parts  # sum of |y - baseline|
    largest: float  # of these


class Rooted(NamedTuple):
    """Whole numbers of all rows of a shard."""

    sums: Any  # (classes, cells in use)
    totals: Any  # (classes, 2)


def cells_in_use(bins: Bins, width: int) -> Any:
    """Where the sums of the bins that the columns have, and of missing cells, are among all."""
    places = [256 * f + np.append(np.arange(int(n)), 255) for f, n in enumerate(bins.n_bins)]
    return (np.concatenate(places)[:, None] * width + np.arange(width)).reshape(-1)


class BlockRows:
    """The state of one shard."""

    def __init__(self, setup: Setup, history: History, shard: Shard, _: None = None) -> None:
        self.setup = setup
        self._read(shard)
        K, n = len(setup.baseline), len(self.y)
        self.F = np.repeat(setup.baseline[:, None], n, axis=1)
        self.F_held = np.repeat(setup.baseline[:, None], len(self.held_y), axis=1)
        self.g, self.h = np.empty((K, n)), np.empty((K, n))
        self.leaf = np.zeros((K, n), np.uint16)
        self.rows = np.empty((K, n), np.int32)
        self.cells: list[Any] = []
        self.spots: list[dict[int, tuple[int, int]]] = [{} for _ in range(K)]
        self._catch_up(history)

    def _read(self, shard: Shard) -> None:
        """Codes, targets and weights; where every stretch begins and ends."""
        targets, bins = self.setup.targets, self.setup.bins
        parts: list[tuple[Any, ...]] = []
        held: list[tuple[Any, ...]] = []
        for start, read in shard.stretches():
            learn, y, w, c = targets.read(start, read)
            X = read.X if len(y) == read.n_rows else read.X[read.w > 0]
            if learn.all():
                codes = encode(X, bins, by_row=True)
                parts.append((codes.by_row, codes.by_column, y, w, c))
                continue
            codes = encode(X[learn], bins, by_row=True)
            parts.append((codes.by_row, codes.by_column, y[learn], w[learn], c[learn]))
            aside = encode(X[~learn], bins, by_row=False).by_column
            held.append((aside, y[~learn], (w * c)[~learn]))
        sizes = np.cumsum([0, *(len(part[2]) for part in parts)]).tolist()
        self.tasks = [(a, b) for a, b in pairwise(sizes) if b > a]
        n = sizes[-1]
        self.by_row = aligned(n, parts[0][0].shape[1])
        for (a, b), part in zip(pairwise(sizes), parts, strict=True):
            self.by_row[a:b] = part[0]
        self.by_column = np.concatenate([part[1] for part in parts], axis=1)
        self.y, w, c = (np.concatenate([part[k] for part in parts]) for k in (2, 3, 4))
        self.w = unit_weights(n) if self.setup.plain else w
        self.c = c if self.setup.unit == 1.0 else c / self.setup.unit
        ends = np.cumsum([0, *(len(part[1]) for part in held)]).tolist()
        self.held_tasks = list(pairwise(ends))
        none = np.zeros((self.by_column.shape[0], 0), np.uint8)
        self.held_codes = np.concatenate([none, *(part[0] for part in held)], axis=1)
        self.held_y = np.concatenate([np.zeros(0), *(part[1] for part in held)])
        self.held_v = np.concatenate([np.zeros(0), *(part[2] for part in held)])

    def _catch_up(self, history: History) -> None:
        """Scores, whole numbers and parted rows as they were after the last order."""
        trees, K = history.trees, len(self.F)
        done = (len(trees.node_start) - 1) // K
        origin = history.origin if history.moved else done
        add_scores(part_of(trees, 0, origin * K), self.by_column, self.F)
        add_scores(trees, self.held_codes, self.F_held)
        if history.moved:
            self._derive(None)
            self._quantise(0, history.cells[0]._replace(again=False))
            for t in range(origin, done):
                tree = part_of(trees, t, t + 1)
                self.leaf[0] = leaves_of(tree, self.by_column)
                hist_losses.add_tree(self.F[0], self.leaf[0], tree.value)
                if t + 1 < history.roots:
                    steps, shift = history.moved[t - origin], history.cells[0].shift
                    move(self.cells[0], self.leaf[0], steps, shift)
        self.last = self._derive(None)
        if history.roots > done and not history.moved:
            for k, cells in enumerate(history.cells):
                self._quantise(k, cells)
        if history.roots > done:
            for k in range(K):
                self._all_rows(k)
                for one in history.splits[k]:
                    self._part(k, one)

    def _derive(self, tree: tuple[Any, Array] | None) -> list[tuple[Array, float]]:
        """The derivatives at the present scores."""
        rows, out = (self.y, self.F, self.w, self.c), (self.g, self.h)
        return hist_losses.derivative_parts(self.setup.loss, rows, out, tree, self.tasks)

    def _quantise(self, k: int, cells: Cells) -> None:
        while len(self.cells) <= k:
            self.cells.append(np.zeros((len(self.y), cells.width), np.int64))
        quantise(self.g[k], self.h[k], self.w, cells.scale, cells.shift, self.cells[k])

    def _all_rows(self, k: int) -> None:
        self.rows[k] = np.arange(len(self.y))
        self.spots[k] = {0: (0, len(self.y))}

    def _part(self, k: int, one: Asked) -> None:
        begin, end = self.spots[k][one.place]
        column = self.by_column[one.found[0]]
        middle = levels.part_leaf(self.rows[k], begin, end, column, one.found)
        self.spots[k][one.left], self.spots[k][one.right] = (begin, middle), (middle, end)

    def sums(self, parts: list[tuple[Array, float]]) -> Sums:
        """What comes back of derivatives."""
        K = len(self.F)
        columns = [[part[0][k, j] for part in parts] for k in range(K) for j in (0, 1)]
        columns += [[part[1] for part in parts], [self._held_loss(*t) for t in self.held_tasks]]
        return Sums(tuple(map(exact_parts, columns)), (), 0.0)

    def _held_loss(self, begin: int, end: int) -> float:
        loss, y, v = self.setup.loss, self.held_y, self.held_v
        if loss.code == boosting.SOFTMAX:
            return boosting.softmax_losses(y, self.F_held, v, begin, end)
        return boosting.losses(loss.code, loss.level, y, self.F_held[0], v, begin, end)


def leaves_of(tree: Trees, codes: NDArray[np.uint8]) -> Any:
    """The leaf of every row in one tree."""
    found = np.zeros((1, codes.shape[1]))
    add_scores(tree._replace(value=np.arange(float(len(tree.value)))), codes, found)
    return found[0].astype(np.uint16)


def join_sums(a: Sums, b: Sums) -> Sums:
    """The sums of two sets of rows."""
    residual = exact_parts(a.residual + b.residual)
    return Sums(join_parts(a.parts, b.parts), residual, max(a.largest, b.largest))


def join_rooted(a: Rooted, b: Rooted) -> Rooted:
    """Whole numbers are added."""
    return Rooted(a.sums + b.sums, a.totals + b.totals)


def join_arrays(a: NDArray[np.int64], b: NDArray[np.int64]) -> Any:
    """Whole numbers are added."""
    return a + b


def begin(state: BlockRows, _: None) -> Sums:
    """The derivatives before the first tree."""
    r = np.abs(state.y - state.setup.baseline[0])
    residual = exact_parts(float(r[a:b].sum()) for a, b in state.tasks)
    return Sums(state.sums(state.last).parts, residual, float(r.max()) if len(r) else 0.0)


def root(state: BlockRows, asked: tuple[Cells, ...]) -> Rooted:
    """Whole numbers at the root of one tree for each class, and their sums."""
    p = len(state.by_column)
    found, totals = [], []
    for k, cells in enumerate(asked):
        flat = np.zeros(p * 256 * cells.width, np.int64)
        if cells.again:
            move(state.cells[k], state.leaf[k], cells.steps, cells.shift)
        else:
            state._quantise(k, cells)
        totals.append(levels.add_root(state.by_row, p, state.cells[k], cells.shift, flat))
        state._all_rows(k)
        found.append(flat[cells_in_use(state.setup.bins, cells.width)])
    return Rooted(np.array(found), np.array(totals, np.int64).reshape(len(asked), 2))


def split(state: BlockRows, asked: tuple[tuple[Asked, ...], ...]) -> Any:
    """Part the rows of some places of every tree; the sums of the sides asked for, in order."""
    p, found = len(state.by_column), []
    for k, several in enumerate(asked):
        width = state.cells[k].shape[1]
        use = cells_in_use(state.setup.bins, width)
        flat = np.zeros(p * 256 * width, np.int64)
        for one in several:
            state._part(k, one)
            for side in one.sides:
                spot = state.spots[k][side]
                levels.add_leaf(state.by_row, p, state.cells[k], state.rows[k], *spot, flat)
                found.append(flat[use])
    return np.array(found)


def finish(state: BlockRows, asked: tuple[tuple[Ending, ...], Trees]) -> Sums:
    """The trees of a round are done: scores and derivatives after them."""
    endings, trees = asked
    for k, ending in enumerate(endings):
        for one in ending.splits:
            state._part(k, one)
        for leaf, place in enumerate(ending.places):
            levels.write_leaf(state.rows[k], *state.spots[k][int(place)], leaf, state.leaf[k])
        if len(endings) > 1:
            hist_losses.add_tree(state.F[k], state.leaf[k], ending.value)
    add_scores(trees, state.held_codes, state.F_held)
    tree = (state.leaf[0], endings[0].value) if len(endings) == 1 else None
    return state.sums(state._derive(tree))
