"""All trees of a forest in one set of flat arrays."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from pellucid.compiled import forest_walk as walk
from pellucid.compiled.tree_walk import merge_spreads
from pellucid.core.typing import Array
from pellucid.tree.record import LEAF, NO_LEVELS, NO_SETS, UNDEFINED, Tree, sound_sets


class Forest(NamedTuple):
    """Tree t is the nodes start[t]..start[t + 1] - 1, in preorder: the left child comes next.

    Large forests leave out what follows from the rest (``forest_joining.lean``): ``spread`` has
    no entry where it is the root of the impurity, ``impurity`` none where all leaves are pure and
    it follows from means and weights. ``tree(t)`` has every number, to the bit.

    >>> from pellucid import RandomForestClassifier
    >>> forest = RandomForestClassifier(3, random_state=0).fit([[0.0], [1.0]], [0, 1]).forest_
    >>> forest.n_trees, forest.tree(0).n_features
    (3, 1)
    """

    start: Any  # (trees + 1,) int64
    right: Any  # (nodes,) int32 within the tree, -1 in a leaf
    feature: Any  # (nodes,) int32, -2 in a leaf
    threshold: Array  # (nodes,), -2 in a leaf
    missing_left: Any  # (nodes,) uint8
    impurity: Array  # (nodes,), or (0,)
    size: Any  # (nodes,) int32 rows
    weight: Array  # (nodes,) float64, or float32 where that is exact
    value: Array  # (nodes, outputs * classes)
    spread: Array  # (nodes, outputs) of numbers, or (0, 1); (nodes, 0) of classes
    n_classes: Any  # (outputs,) int64; 1 for numbers
    n_features: int
    levels: Any = NO_LEVELS  # as in ``Tree``
    sets: Any = NO_SETS

    @property
    def n_trees(self) -> int:
        return len(self.start) - 1

    @property
    def width(self) -> int:
        return self.value.shape[1] // len(self.n_classes)

    def part(self, t: int) -> slice:
        """The nodes of tree t."""
        return slice(int(self.start[t]), int(self.start[t + 1]))

    def weights(self, t: int) -> Array:
        """Weight of the rows in every node of tree t."""
        return np.asarray(self.weight[self.part(t)], np.float64)

    def impurities(self, t: int) -> Array:
        """Impurity of every node of tree t; from pure leaves up where it is not stored."""
        part = self.part(t)
        if len(self.impurity):
            return self.impurity[part]
        right, weight = self.right[part], self.weights(t)
        squares = np.zeros((len(right), 1))
        merge_spreads(left_children(right), right, weight, self.value[part], squares)
        return squares[:, 0] / weight

    def spreads(self, t: int) -> Array:
        """Standard deviations of the targets in every node of tree t."""
        stored = len(self.spread) > 0
        return self.spread[self.part(t)] if stored else np.sqrt(self.impurities(t))[:, None]

    def nodes(self, t: int) -> tuple[Any, ...]:
        """The arrays that a walk through tree t reads."""
        part = self.part(t)
        return (
            self.feature[part], self.threshold[part], self.missing_left[part], self.right[part],
            self.levels, self.sets,
        )  # fmt: skip

    def tree(self, t: int) -> Tree:
        """Tree t as scikit-learn lays it out."""
        part = self.part(t)
        right = self.right[part]
        value = self.value[part].reshape(len(right), len(self.n_classes), -1)
        impurity = self.impurities(t)
        spread = self.spread[part] if len(self.spread) else np.sqrt(impurity)[:, None]
        return Tree(
            left_children(right), right, self.feature[part], self.threshold[part],
            self.missing_left[part], impurity, self.size[part].astype(np.int64),
            self.weights(t), value, spread, self.n_classes, self.n_features, self.levels, self.sets,
        )  # fmt: skip

    def leaf_values(self, t: int) -> Array:
        return self.value[self.part(t)]

    def _arrays(self) -> tuple[Any, ...]:
        return (
            self.start, self.feature, self.threshold, self.missing_left, self.right, self.levels,
            self.sets,
        )  # fmt: skip

    def sum_values(self, X: Array) -> Array:
        """The values of the leaves, summed over the trees: (n, outputs * classes)."""
        out = np.zeros((len(X), self.value.shape[1]))
        walk.over_blocks(walk.add_values, writeable(X), *self._arrays(), self.value, out)
        return out

    def count_votes(self, X: Array, output: int, n_classes: int) -> Any:
        """How many trees say each class."""
        first = output * self.width
        label = np.argmax(self.value[:, first : first + n_classes], axis=1)
        out = np.zeros((len(X), n_classes), np.int64)
        walk.over_blocks(walk.add_votes, writeable(X), *self._arrays(), label, out)
        return out

    def apply(self, X: Array) -> Any:
        """The leaf of every row in every tree: (trees, n)."""
        out = np.empty((self.n_trees, len(X)), np.int64)
        walk.over_blocks(walk.all_leaves, writeable(X), *self._arrays(), out)
        return out

    def leaves_at(self, t: int, X: Array, rows: Any, column: int = -1, cells: Any = None) -> Any:
        """The leaves of some rows in tree t, one column perhaps replaced by ``cells``."""
        out = np.empty(len(rows), np.int64)
        cells = np.zeros(0) if cells is None else cells
        walk.listed_leaves(X, rows, *self.nodes(t), column, cells, out)
        return out

    def importances(self) -> Array:
        """Mean decrease of impurity by each feature in each tree: (trees, d), not normalised."""
        total = np.zeros((self.n_trees, self.n_features))
        for t in range(self.n_trees):
            right, weight = self.right[self.part(t)], self.weights(t)
            inner = np.flatnonzero(right >= 0)
            mass = weight * self.impurities(t)
            gain = (mass[inner] - mass[inner + 1] - mass[right[inner]]) / weight[0]
            total[t] = np.bincount(self.feature[self.part(t)][inner], gain, self.n_features)
        return total

    def _to_file(self) -> "Forest":
        """As model files hold it: thresholds of questions only, in leaves they say nothing."""
        inner = self.feature >= 0
        says_nothing = bool((self.threshold == UNDEFINED)[~inner].all())
        return self._replace(threshold=self.threshold[inner]) if says_nothing else self

    def _from_file(self) -> "Forest":
        """The reverse; arrays that do not fit are left to ``check``."""
        inner = self.feature >= 0
        if len(self.threshold) != np.count_nonzero(inner):
            return self
        threshold = np.full(len(inner), float(UNDEFINED))
        threshold[inner] = self.threshold
        return self._replace(threshold=threshold)

    def check(self) -> None:
        """Refuse arrays that do not fit together: compiled code walks them without looking."""
        kinds = ("i8", "i4", "i4", "f8", "u1", "f8", "i4", "f4 f8", "f8", "f8", "i8")
        arrays = self[:11]
        for field, kind in zip(arrays, kinds, strict=True):
            if not isinstance(field, np.ndarray) or all(field.dtype != k for k in kind.split()):
                raise ValueError("the arrays of the forest have other kinds of numbers")
        n, start = len(self.feature), self.start
        if (
            start.ndim != 1
            or len(start) < 2
            or start[0] != 0
            or start[-1] != n
            or (np.diff(start) < 1).any()
            or {len(field) for field in self._stored()} != {n}
            or self.value.ndim != 2
            or self.value.shape[1] == 0
            or self.value.shape[1] % max(len(self.n_classes), 1)
        ):
            raise ValueError("the arrays of the forest do not fit together")
        if not sound_sets(self):
            raise ValueError("the sets of levels of the forest do not fit together")
        stand_in = self.threshold  # nothing is derived from nodes that were not looked at
        nodes = self._replace(impurity=stand_in, spread=stand_in[:, None])
        for t in range(self.n_trees):
            nodes.tree(t).check()

    def _stored(self) -> tuple[Any, ...]:
        """The fields that must have one entry for every node."""
        kept = set(Forest._fields[1:10])
        if self.spread.shape == (0, 1) and self.value.shape[1:] == (1,):
            kept.remove("spread")
            kept -= {"impurity"} if self.impurity.shape == (0,) else set()
        return tuple(getattr(self, name) for name in kept)


def left_children(right: Any) -> Any:
    """The left child is the next node; -1 in a leaf."""
    return np.where(right >= 0, np.arange(1, len(right) + 1, dtype=np.int32), LEAF).astype(np.int32)


JOINED = (*Forest._fields[1:10], "sets")  # the fields that grow with the trees


def writeable(X: Array) -> Array:
    """X as the kernels were compiled for."""
    return X if X.flags.writeable and X.flags.c_contiguous else np.array(X, order="C")


def shifted(threshold: Array, feature: Any, levels: Any, words: int) -> Array:
    """Thresholds when the sets of levels begin ``words`` later."""
    if words == 0:
        return threshold
    asks = (feature >= 0) & (levels[np.maximum(feature, 0)] > 0)
    return np.where(asks, threshold + words, threshold)


def join_trees(trees: Sequence[Tree]) -> Forest:
    """Flat arrays of several trees."""
    first = trees[0]
    sizes = [tree.node_count for tree in trees]
    words = np.cumsum([0, *(len(tree.sets) for tree in trees)]).tolist()
    return Forest(
        np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
        np.concatenate([tree.children_right for tree in trees]),
        np.concatenate([tree.feature for tree in trees]),
        np.concatenate([
            shifted(tree.threshold, tree.feature, first.levels, begin)
            for tree, begin in zip(trees, words, strict=False)
        ]),
        np.concatenate([tree.missing_go_to_left for tree in trees]),
        np.concatenate([tree.impurity for tree in trees]),
        np.concatenate([tree.n_node_samples for tree in trees]).astype(np.int32),
        np.concatenate([tree.weighted_n_node_samples for tree in trees]),
        np.concatenate([tree.value.reshape(tree.node_count, -1) for tree in trees]),
        np.concatenate([tree.spread for tree in trees]),
        np.array(first.n_classes, np.int64),
        first.n_features,
        first.levels,
        np.concatenate([tree.sets for tree in trees]),
    )  # fmt: skip


def join_forests(a: Forest, b: Forest) -> Forest:
    """The trees of a, then those of b."""
    a, b = alike(a, b)
    b = b._replace(threshold=shifted(b.threshold, b.feature, b.levels, len(a.sets)))
    both: dict[str, Any] = {
        name: np.concatenate([getattr(a, name), getattr(b, name)]) for name in JOINED
    }
    return a._replace(start=np.concatenate([a.start, b.start[1:] + a.start[-1]]), **both)


def alike(a: Forest, b: Forest) -> tuple[Forest, Forest]:
    """Both forests with every field that one of them stores."""
    if a.weight.dtype != b.weight.dtype:
        a, b = (f._replace(weight=f.weight.astype(np.float64)) for f in (a, b))
    for name, read in (("spread", Forest.spreads), ("impurity", Forest.impurities)):
        empty = [len(getattr(forest, name)) == 0 for forest in (a, b)]
        if empty[0] != empty[1]:
            a, b = (_complete(forest, name, read) for forest in (a, b))
    return a, b


def _complete(forest: Forest, name: str, read: Callable[[Forest, int], Array]) -> Forest:
    if len(getattr(forest, name)):
        return forest
    found: Any = np.concatenate([read(forest, t) for t in range(forest.n_trees)])
    return forest._replace(**{name: found})
