"""All trees of a forest in one set of flat arrays."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from pellucid.core.arrays.typing import Array
from pellucid.core.functions.impurities import class_impurity
from pellucid.ensemble.forest.checks import check_forest
from pellucid.ensemble.forest.file import lengthen, shorten
from pellucid.ensemble.forest.kernels import walk
from pellucid.ensemble.forest.node_values import (
    class_weights,
    left_children,
    node_means,
    node_sums,
    number_impurities,
)
from pellucid.tree.record import NO_LEVELS, NO_SETS, UNDEFINED, Tree


class Forest(NamedTuple):
    """Tree t is the nodes start[t]..start[t + 1] - 1, in preorder: the left child comes next.

    Large forests leave out what follows from the rest (``forest_joining.lean``), and have

    - ``size`` and ``weight`` of the leaves only, the others being sums;
    - no ``value``: that of a leaf is its ``threshold``, or the number of its class where all
      leaves are pure; those above are means of leaves;
    - no ``spread`` where it is the root of the impurity, no ``impurity`` where all leaves are pure.

    ``tree(t)`` has every number, to the bit.

    >>> from pellucid import RandomForestClassifier
    >>> forest = RandomForestClassifier(3, random_state=0).fit([[0.0], [1.0]], [0, 1]).forest_
    >>> forest.n_trees, forest.tree(0).n_features
    (3, 1)
    """

    start: Any  # (trees + 1,) int64
    right: Any  # (nodes,) int32 within the tree, -1 in a leaf
    feature: Any  # (nodes,) int32, -2 in a leaf
    threshold: Array  # (nodes,), -2 in a leaf; without ``value``: the answer of a leaf
    missing_left: Any  # (nodes,) uint8
    impurity: Array  # (nodes,), or (0,)
    size: Any  # (nodes,) or (leaves,) int32 rows
    weight: Array  # (nodes,) or (leaves,) float64, or float32 where that is exact
    value: Array  # (nodes, outputs * classes), or (0, classes)
    spread: Array  # (nodes, outputs) of numbers, or (0, 1); (nodes, 0) of classes
    n_classes: Any  # (outputs,) int64; 1 for numbers
    n_features: int
    levels: Any = NO_LEVELS  # as in ``Tree``
    sets: Any = NO_SETS
    measure: str = ""  # of the impurities of classes that are left out

    @property
    def n_trees(self) -> int:
        return len(self.start) - 1

    @property
    def width(self) -> int:
        return self.value.shape[1] // len(self.n_classes)

    @property
    def of_numbers(self) -> bool:
        """Whether the targets are numbers."""
        return self.spread.shape[1] > 0

    def part(self, t: int) -> slice:
        """The nodes of tree t."""
        return slice(int(self.start[t]), int(self.start[t + 1]))

    def _sums(self, stored: Any, t: int) -> Array:
        """A field that is stored for all nodes or for the leaves: its numbers in tree t."""
        part = self.part(t)
        if len(stored) == len(self.right):
            return np.asarray(stored[part], np.float64)
        first, last = (part.start + t) // 2, (part.stop + t + 1) // 2  # m leaves: 2 m - 1 nodes
        return node_sums(self.right[part], stored[first:last, None])[:, 0]

    def sizes(self, t: int) -> Any:
        """Rows in every node of tree t."""
        return self._sums(self.size, t).astype(np.int64)

    def weights(self, t: int) -> Array:
        """Weight of the rows in every node of tree t."""
        return self._sums(self.weight, t)

    def leaf_sizes(self) -> Any:
        """Rows in every leaf of all trees."""
        return self.size if len(self.size) < len(self.right) else self.size[self.right < 0]

    def values(self, t: int) -> Array:
        """Means or class shares in every node of tree t: (nodes, outputs * classes)."""
        if len(self.value):
            return self.value[self.part(t)]
        right, weight = self.right[self.part(t)], self.weights(t)
        if self.of_numbers:
            return node_means(right, weight, self.threshold[self.part(t)][right < 0])
        return self._class_weights(t) / weight[:, None]

    def _class_weights(self, t: int) -> Array:
        right, weight = self.right[self.part(t)], self.weights(t)
        label = self.threshold[self.part(t)][right < 0]
        return class_weights(right, weight, label, self.value.shape[1])

    def impurities(self, t: int) -> Array:
        """Impurity of every node of tree t; from pure leaves up where it is not stored."""
        if len(self.impurity):
            return self.impurity[self.part(t)]
        if self.measure:
            return class_impurity(self._class_weights(t), self.measure)
        return number_impurities(self.right[self.part(t)], self.weights(t), self.values(t))

    def spreads(self, t: int) -> Array:
        """Standard deviations of the targets in every node of tree t."""
        stored = len(self.spread) > 0
        return self.spread[self.part(t)] if stored else np.sqrt(self.impurities(t))[:, None]

    def questions(self, t: int) -> Array:
        """Threshold of every node of tree t, -2 in a leaf."""
        found = self.threshold[self.part(t)]
        return (
            found if len(self.value) else np.where(self.right[self.part(t)] < 0, UNDEFINED, found)
        )

    def nodes(self, t: int) -> tuple[Any, ...]:
        """The arrays that a walk through tree t reads."""
        part = self.part(t)
        return (
            self.feature[part],
            self.threshold[part],
            self.missing_left[part],
            self.right[part],
            self.levels,
            self.sets,
        )

    def tree(self, t: int) -> Tree:
        """Tree t as scikit-learn lays it out."""
        part = self.part(t)
        right, impurity = self.right[part], self.impurities(t)
        value = self.values(t).reshape(len(right), len(self.n_classes), -1)
        spread = self.spread[part] if len(self.spread) else np.sqrt(impurity)[:, None]
        return Tree(
            left_children(right),
            right,
            self.feature[part],
            self.questions(t),
            self.missing_left[part],
            impurity,
            self.sizes(t),
            self.weights(t),
            value,
            spread,
            self.n_classes,
            self.n_features,
            self.levels,
            self.sets,
        )

    def at(self, leaves: Any) -> Array:
        """The values (..., outputs * classes) of leaves, counted over all trees."""
        if len(self.value):
            return self.value[leaves]
        found = self.threshold[leaves]
        return found[..., None] if self.of_numbers else np.eye(self.width)[found.astype(np.int64)]

    def answers(self) -> Array:
        """(nodes, outputs * classes): the values of all leaves; what is above says nothing."""
        if len(self.value):
            return self.value
        found, ends = np.zeros((len(self.right), self.value.shape[1])), self.right < 0
        found[ends] = self.at(np.flatnonzero(ends))
        return found

    def _arrays(self) -> tuple[Any, ...]:
        return (
            self.start,
            self.feature,
            self.threshold,
            self.missing_left,
            self.right,
            self.levels,
            self.sets,
        )

    def sum_values(self, X: Array) -> Array:
        """The values of the leaves, summed over the trees: (n, outputs * classes)."""
        out = np.zeros((len(X), self.value.shape[1]))
        kernel: Any = walk.add_values
        value = self.value
        if not len(value):
            kernel = walk.add_values if self.of_numbers else walk.add_votes
            value = self.threshold.reshape(-1, 1) if self.of_numbers else self.threshold
        walk.over_blocks(kernel, writeable(X), *self._arrays(), value, out)
        return out

    def count_votes(self, X: Array, output: int, n_classes: int) -> Any:
        """How many trees say each class."""
        label = self.threshold
        if len(self.value):
            first = output * self.width
            label = np.argmax(self.value[:, first : first + n_classes], axis=1).astype(np.float64)
        out = np.zeros((len(X), n_classes))
        walk.over_blocks(walk.add_votes, writeable(X), *self._arrays(), label, out)
        return out.astype(np.int64)

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
        """As model files hold it."""
        return shorten(self)

    def _from_file(self) -> "Forest":
        """The reverse."""
        return lengthen(self)

    def check(self) -> None:
        """Refuse arrays that do not fit together: compiled code walks them without looking."""
        check_forest(self)


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
        np.concatenate(
            [
                shifted(tree.threshold, tree.feature, first.levels, begin)
                for tree, begin in zip(trees, words, strict=False)
            ]
        ),
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
    )


def join_forests(a: Forest, b: Forest) -> Forest:
    """The trees of a, then those of b."""
    a, b = alike(a, b)
    b = b._replace(threshold=shifted(b.threshold, b.feature, b.levels, len(a.sets)))
    both: dict[str, Any] = {
        name: np.concatenate([getattr(a, name), getattr(b, name)]) for name in JOINED
    }
    return a._replace(start=np.concatenate([a.start, b.start[1:] + a.start[-1]]), **both)


DERIVED: dict[str, Callable[[Forest, int], Any]] = {  # fields that may be left out
    "spread": Forest.spreads,
    "impurity": Forest.impurities,
    "value": Forest.values,
    "size": Forest.sizes,
    "weight": Forest.weights,
}


def alike(a: Forest, b: Forest) -> tuple[Forest, Forest]:
    """Both forests with every field that one of them stores."""
    if a.weight.dtype != b.weight.dtype:
        a, b = (f._replace(weight=f.weight.astype(np.float64)) for f in (a, b))
    for name in DERIVED:
        other = name == "impurity" and a.measure != b.measure
        if other or _stores(a, name) != _stores(b, name):
            a, b = (_complete(forest, name) for forest in (a, b))
    return a, b


def _stores(forest: Forest, name: str) -> bool:
    return len(getattr(forest, name)) == len(forest.right)


def _complete(forest: Forest, name: str) -> Forest:
    """The forest with an entry of this field for every node."""
    if _stores(forest, name):
        return forest
    trees = range(forest.n_trees)
    found: Any = np.concatenate([DERIVED[name](forest, t) for t in trees])
    full = {name: found.astype(getattr(forest, name).dtype)}
    if name == "value":
        full["threshold"] = np.concatenate([forest.questions(t) for t in trees])
    found = forest._replace(**full)
    return found._replace(measure="") if name == "impurity" else found
