r"""From a table to the trees of a forest.

Three growers, one answer in kind:

- coded columns (``kernels/growth.py``), for gini, entropy and squared error of one output:
  up to ``EXACT_ROWS`` rows every distinct value is a bin, so the splits are those of the exact
  tree; on larger tables a column has at most 255 bins of about equal weight;
- cells as they are (``kernels/extra_growth.py``) for the same criteria with random thresholds and
  nothing missing: least, largest and one drawn cut for every column, nothing coded or sorted;
- sorted columns (``tree.growing``) for everything else: absolute errors, Poisson, several
  outputs, monotonic constraints, best-first growth.

Tree b depends on (seed, b) only, so the forest is the same for any number of threads, and a
larger forest begins with the trees of a smaller one.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pellucid.compiled.trees.presort import presort
from pellucid.compiled.trees.search import mix
from pellucid.compiled.trees.walk import merge_spreads
from pellucid.core.arrays.typing import Array
from pellucid.core.functions.impurities import class_impurity
from pellucid.core.runtime.random import stream
from pellucid.core.runtime.threads import map_threads, thread_count
from pellucid.ensemble.bins import encode, find_bins
from pellucid.ensemble.committees.bootstrap import Sampler
from pellucid.ensemble.forest.joining import Joiner
from pellucid.ensemble.forest.kernels import extra_growth as extra
from pellucid.ensemble.forest.kernels import growth as coded
from pellucid.ensemble.forest.record import Forest, left_children, node_means
from pellucid.tree.growing import ALMOST, ROOM, Classes, Growth, grow_tree, unit_for, whole_weights
from pellucid.tree.pruning import prune_at
from pellucid.tree.record import UNDEFINED, Tree

EXACT_ROWS = 4096  # tables up to this size: one bin for every distinct value
BINS = 255
AT_ONCE = 2**18  # rows of the trees that one thread grows in a row
SMALL = 2.0**31  # total weight up to which weight and sum fit one number
CRITERIA = {
    "gini": coded.GINI,
    "entropy": coded.ENTROPY,
    "log_loss": coded.ENTROPY,
    "squared_error": coded.SQUARED,
    "friedman_mse": coded.SQUARED,
}
KEY = 3  # the purpose of the stream that seeds the nodes


class Plan(NamedTuple):
    """What all trees share."""

    growth: Growth
    ccp_alpha: float
    factor: Callable[[Array], Array] | None  # class factors of the rows, given how often seen


def is_coded(growth: Growth, target: Classes | Array) -> bool:
    """Whether the fast grower can do what is asked."""
    outputs = len(target.n_classes) if isinstance(target, Classes) else target.shape[1]
    special = growth.max_leaf_nodes, growth.monotone, growth.levels, growth.paths
    plain = growth.criterion in CRITERIA and growth.threshold == "midpoint"
    return plain and all(value is None for value in special) and outputs == 1


def code_table(X: Array, w: Array, seed: int) -> coded.Coded:
    """Columns as bin numbers; rows of weight 0 have no say in the bins."""
    n, d = X.shape
    kept = w > 0
    if n > EXACT_ROWS:
        whole = bool(kept.all())
        weight = None if (w[kept] == 1).all() else w[kept]
        numbers: Any = np.zeros(d, np.uint8)
        bins = find_bins(X if whole else X[kept], weight, numbers, BINS, stream(seed, KEY))
        codes = encode(X, bins, by_row=False).by_column.astype(np.uint16)
        bottom = np.concatenate([np.full((d, 1), -np.inf), bins.edges[:, :-1]], axis=1)
        return coded.Coded(codes, bottom, np.array(bins.edges), BINS)
    rows = np.flatnonzero(kept)
    data = presort(X[rows])
    bins_ = int(data.missing.max()) if len(rows) else 0
    codes, values = np.zeros((d, n), np.uint16), np.full((d, max(bins_, 1)), np.inf)
    for j in range(d):
        rank = data.rank[j].astype(np.int64)
        missing = rank >= data.missing[j]
        listed = rows[data.order[j]]
        codes[j, listed] = np.where(missing, bins_, rank)
        known = listed[~missing]
        values[j, rank[~missing]] = X[known, j]
    return coded.Coded(codes, values, values.copy(), bins_)


def asked(growth: Growth, d: int) -> int:
    """How many columns a node looks at."""
    return d if growth.max_features is None else growth.max_features


class Member(NamedTuple):
    """Whole numbers of one tree."""

    bag: coded.Bag
    weight_unit: float
    stat_unit: float
    center: float


class Members:
    """What each tree sees, as whole numbers, and its record once it is grown."""

    def __init__(self, d: int, target: Any, plan: Plan, sampler: Sampler, lost: bool) -> None:
        self.d, self.target, self.plan, self.sampler = d, target, plan, sampler
        self.classes = isinstance(target, Classes)
        self.n_classes = max(int(target.n_classes[0]), 2) if self.classes else 2
        self.y = (target.codes if self.classes else target)[:, 0]
        self.plain = np.ascontiguousarray(self.y, np.float64)
        growth = plan.growth
        free = growth.min_weight_leaf == growth.min_impurity_decrease == 0
        free = free and growth.min_samples_leaf <= 1 and growth.splitter == "best" and not lost
        gini = growth.criterion == "gini"
        self.packable = self.classes and self.n_classes == 2 and gini and free
        if not self.classes:
            self._scale_targets()

    def _scale_targets(self) -> None:
        """y as whole numbers about the middle of its range; counts times these fit 63 bits."""
        y, weight = self.plain, self.sampler.weight
        if len(weight):  # rows of weight 0 have no say
            y = np.where(weight > 0, y, y[np.argmax(weight)])
        self.center = 0.5 * float(y.min()) + 0.5 * float(y.max())
        self.reach = float(np.abs(y - self.center).max())
        self.unit = unit_for(self.reach * max(self.sampler.draws, 1), ROOM)
        self.whole = np.rint((y - self.center) / self.unit).astype(np.int64)

    def member(self, b: int) -> tuple[Member, Array]:
        """What tree b sees, and its weights as they are."""
        counts = self.sampler.counts(b)
        y, plain = self.y, self.plain
        w = counts if self.plan.factor is None else counts * self.plan.factor(counts)
        noisy = self.sampler.label_noise > 0
        if noisy:
            y = redraw(y, self.sampler, b)
            plain = np.ascontiguousarray(y, np.float64)
        rows = np.flatnonzero(w > 0).astype(np.int32)
        found = whole_weights(w[rows]) if self.plan.factor or self.sampler.kind == "all" else None
        weight, unit, center, stat_unit = counts.astype(np.int64), 1.0, 0.0, 1.0
        if found is not None:
            weight, unit = np.zeros(len(w), np.int64), found.unit
            weight[rows] = found.values if len(found.values) else 1
        if self.classes:
            stat = weight * y if self.n_classes == 2 else np.ascontiguousarray(y, np.int64)
        else:
            center = self.center
            stat, stat_unit = self._numbers(w, weight, unit, plain, noisy)
        return Member(coded.Bag(rows, weight, stat, plain), unit, stat_unit, center), w

    def _numbers(
        self, w: Array, weight: NDArray[np.int64], unit: float, y: Array, noisy: bool
    ) -> tuple[Any, float]:
        """Weight times number as whole numbers, and their unit."""
        if unit == 1.0 and float(weight.sum()) <= max(self.sampler.draws, 1):
            scaled = np.where(w > 0, y - self.center, 0.0) / self.unit
            whole = np.rint(scaled).astype(np.int64) if noisy else self.whole
            return weight * whole, self.unit
        fine = unit_for(self.reach * float(w.sum()), ROOM)
        y = np.where(w > 0, y, self.center)
        return np.rint(w * (y - self.center) / fine).astype(np.int64), fine

    def task(self, b: int, member: Member, w: Array) -> coded.Task:
        """What tree b is asked to be."""
        growth = self.plan.growth
        factor = self._score_factor(member, float(w.sum()))
        least = -np.inf
        if growth.min_impurity_decrease > 0:
            least = growth.min_impurity_decrease * (1 - ALMOST) / factor
        lightest = growth.min_weight_leaf * (1 - ALMOST) / member.weight_unit
        limits = growth.max_depth, growth.min_samples_split, growth.min_samples_leaf
        packed = int(self.packable and float(member.bag.weight.sum()) < SMALL)
        sides = max(int(np.ceil(lightest)), 1), asked(growth, self.d), least
        kind = CRITERIA[growth.criterion], self.n_classes, int(not self.classes)
        drawn = int(growth.splitter == "random"), mix(self.sampler.seed, b)
        return coded.Task(*kind, *limits, *sides, packed, *drawn)

    def _score_factor(self, member: Member, total: float) -> float:
        """What turns a difference of scores into one of mean impurity."""
        if not self.classes:
            return member.stat_unit**2 / (member.weight_unit * total)
        two = self.n_classes == 2 and self.plan.growth.criterion == "gini"
        return (2.0 if two else 1.0) * member.weight_unit / total

    def finish(self, out: coded.Grown, n: int, member: Member, w: Array) -> Tree:
        """The record: values and impurities from the sums of the nodes."""
        right, size = out.right[:n].copy(), out.size[:n].copy()
        inner = right >= 0
        left = left_children(right)
        sums = out.sums[:n]
        if self.classes:
            k = int(self.target.n_classes[0])
            if self.n_classes == 2:
                counts = np.stack([sums[:, 0] - sums[:, 1], sums[:, 1]], axis=1)[:, :k]
            else:
                counts = sums.copy()
            total = counts.sum(axis=1)
            value = counts / total[:, None]
            impurity = class_impurity(counts, self.plan.growth.criterion)
            weight, spread = total * member.weight_unit, np.zeros((n, 0))
        else:
            weight = sums[:, 0] * member.weight_unit
            value, impurity = self._moments(out, member, w, left, right, weight)
            spread = np.sqrt(impurity)[:, None]
        feature = np.where(inner, out.feature[:n], UNDEFINED).astype(np.int32)
        threshold = np.where(inner, out.threshold[:n], UNDEFINED)
        question = left, right, feature, threshold, out.missing_left[:n].copy()
        answers = impurity, size, weight, value[:, None, :], spread, np.array([value.shape[1]])
        tree = Tree(*question, *answers, self.d)
        return prune_at(tree, self.plan.ccp_alpha) if self.plan.ccp_alpha > 0 else tree

    def _moments(
        self, out: coded.Grown, member: Member, w: Array, left: Any, right: Any, weight: Array
    ) -> tuple[Array, Array]:
        """Mean and variance of every node, from the leaves up."""
        bag, ends = member.bag, np.flatnonzero(right < 0)
        pure = out.pure[ends]
        at_leaves = member.center + out.sums[ends, 1] * member.stat_unit / weight[ends]
        at_leaves = np.where(pure >= 0, bag.target[pure], at_leaves)  # equal numbers: that number
        leaf = np.repeat(np.arange(len(ends)), out.size[ends])
        gap = bag.target[bag.rows] - at_leaves[leaf]
        squares = np.zeros((len(right), 1))
        squares[ends, 0] = np.bincount(leaf, w[bag.rows] * gap * gap, len(ends))
        mean = node_means(right, weight, at_leaves)
        merge_spreads(left, right, weight, mean, squares)
        return mean, squares[:, 0] / weight


class CodedGrower(Members):
    """Grows single trees from coded columns, or from cells as they are; one per thread."""

    def __init__(self, table: Any, target: Any, plan: Plan, sampler: Sampler, lost: bool) -> None:
        self.table, self.block = table, None
        if isinstance(table, extra.Cells):
            n, d, bins = table.n, table.d, 1
            self.block = extra.make_block(n)
        else:
            (d, n), bins = table.codes.shape, table.missing + 1
        super().__init__(d, target, plan, sampler, lost)
        self.room = coded.make_room(n, d, bins, self.n_classes)
        self.out = coded.empty_grown(n, self.n_classes)

    def grow(self, b: int) -> tuple[Tree, Any]:
        """Tree b, and its rows in the order of the leaves."""
        member, w = self.member(b)
        task = self.task(b, member, w)
        if self.block is None:
            n = coded.grow_coded(task, self.table, member.bag, self.room, self.out)
        else:
            own = extra.in_order(member.bag)
            n = extra.grow_random(task, self.table, own, self.room, self.block, self.out)
        return self.finish(self.out, n, member, w), member.bag.rows


def redraw(y: np.ndarray, sampler: Sampler, b: int) -> Any:
    """Some targets replaced by others drawn from all of them."""
    rng = sampler.noise(b)
    changed = rng.random(len(y)) < sampler.label_noise
    return np.where(changed, y[rng.integers(0, len(y), len(y))], y)


class Grown(NamedTuple):
    """A forest and the rows of its leaves, tree after tree, where they are kept."""

    forest: Forest
    rows: Any  # (rows in all trees,) int32, or (0,)


def grow_forest(
    X: Array, target: Any, w: Array, plan: Plan, sampler: Sampler, new: range, keep: bool = True
) -> Grown:
    """The trees ``new`` on the rows of X; ``w`` are the rows' own weights."""
    joiner = Joiner(new.start, keep_rows=keep)
    if is_coded(plan.growth, target):
        lost = bool((np.isnan(X).any(axis=1) & (w > 0)).any())
        plain = plan.growth.splitter == "random" and not lost
        d = X.shape[1]
        table = extra.lay_out(X, asked(plan.growth, d)) if plain else code_table(X, w, sampler.seed)
        size = max(1, min(8, len(new) // (4 * thread_count()), AT_ONCE // len(X)))

        def some(begin: int) -> None:
            grower = CodedGrower(table, target, plan, sampler, lost)
            for b in range(begin, min(begin + size, new.stop)):
                joiner.add(b, *grower.grow(b))

        list(map_threads(some, range(new.start, new.stop, size)))
        return Grown(joiner.forest(), joiner.rows)
    data = presort(X)

    def one(b: int) -> None:
        counts = sampler.counts(b)
        weights = counts if plan.factor is None else counts * plan.factor(counts)
        seen = target
        if sampler.label_noise > 0:
            seen = _redraw_all(target, sampler, b)
        tree = grow_tree(data, seen, weights, plan.growth, mix(sampler.seed, b))
        tree = prune_at(tree, plan.ccp_alpha) if plan.ccp_alpha > 0 else tree
        seen_rows = np.flatnonzero(weights > 0)
        leaf = tree.apply(data.X[seen_rows])
        in_leaves = seen_rows[np.argsort(leaf, kind="stable")].astype(np.int32)
        joiner.add(b, tree, in_leaves)

    list(map_threads(one, new))
    return Grown(joiner.forest(), joiner.rows)


def _redraw_all(target: Classes | Array, sampler: Sampler, b: int) -> Any:
    if isinstance(target, Classes):
        columns = [redraw(column, sampler, b) for column in target.codes.T]
        return Classes(np.stack(columns, axis=1), target.n_classes)
    return np.stack([redraw(column, sampler, b) for column in target.T], axis=1)
