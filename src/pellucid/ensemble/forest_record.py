"""All trees of a forest in one set of flat arrays."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from pellucid.compiled import forest_walk as walk
from pellucid.core.typing import Array
from pellucid.tree.record import LEAF, NO_LEVELS, NO_SETS, Tree, sound_sets


class Forest(NamedTuple):
    """Tree t is the nodes start[t]..start[t + 1] - 1, in preorder: the left child comes next.

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
    impurity: Array
    size: Any  # (nodes,) int32 rows
    weight: Array
    value: Array  # (nodes, outputs * classes)
    spread: Array  # (nodes, outputs) of numbers, (nodes, 0) of classes
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

    def nodes(self, t: int) -> tuple[Any, ...]:
        """The arrays that a walk through tree t reads."""
        part = slice(int(self.start[t]), int(self.start[t + 1]))
        return (
            self.feature[part], self.threshold[part], self.missing_left[part], self.right[part],
            self.levels, self.sets,
        )  # fmt: skip

    def tree(self, t: int) -> Tree:
        """Tree t as scikit-learn lays it out."""
        part = slice(int(self.start[t]), int(self.start[t + 1]))
        right = self.right[part]
        left = np.where(right >= 0, np.arange(1, len(right) + 1, dtype=np.int32), LEAF)
        value = self.value[part].reshape(len(right), len(self.n_classes), -1)
        return Tree(
            left.astype(np.int32), right, self.feature[part], self.threshold[part],
            self.missing_left[part], self.impurity[part], self.size[part].astype(np.int64),
            self.weight[part], value, self.spread[part], self.n_classes, self.n_features,
            self.levels, self.sets,
        )  # fmt: skip

    def leaf_values(self, t: int) -> Array:
        return self.value[int(self.start[t]) : int(self.start[t + 1])]

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
        inner = np.flatnonzero(self.feature >= 0)
        tree = np.searchsorted(self.start, inner, side="right") - 1
        mass = self.weight * self.impurity
        right = self.start[tree] + self.right[inner]
        gain = mass[inner] - mass[inner + 1] - mass[right]
        gain /= self.weight[self.start[tree]]
        place = tree * self.n_features + self.feature[inner]
        total = np.bincount(place, gain, self.n_trees * self.n_features)
        return total.reshape(self.n_trees, self.n_features).astype(np.float64)

    def check(self) -> None:
        """Refuse arrays that do not fit together: compiled code walks them without looking."""
        kinds = ("i8", "i4", "i4", "f8", "u1", "f8", "i4", "f8", "f8", "f8", "i8")
        arrays = self[:11]
        for field, kind in zip(arrays, kinds, strict=True):
            if not isinstance(field, np.ndarray) or field.dtype != kind:
                raise ValueError("the arrays of the forest have other kinds of numbers")
        n, start = len(self.feature), self.start
        if (
            start.ndim != 1
            or len(start) < 2
            or start[0] != 0
            or start[-1] != n
            or (np.diff(start) < 1).any()
            or {len(field) for field in self[1:10]} != {n}
            or self.value.ndim != 2
            or self.value.shape[1] == 0
            or self.value.shape[1] % max(len(self.n_classes), 1)
        ):
            raise ValueError("the arrays of the forest do not fit together")
        if not sound_sets(self):
            raise ValueError("the sets of levels of the forest do not fit together")
        for t in range(self.n_trees):
            self.tree(t).check()


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
    b = b._replace(threshold=shifted(b.threshold, b.feature, b.levels, len(a.sets)))
    names = (*Forest._fields[1:10], "sets")
    both: dict[str, Any] = {
        name: np.concatenate([getattr(a, name), getattr(b, name)]) for name in names
    }
    return a._replace(start=np.concatenate([a.start, b.start[1:] + a.start[-1]]), **both)
