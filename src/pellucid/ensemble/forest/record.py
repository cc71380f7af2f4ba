"""All trees of a forest in one set of flat arrays; how they are checked and kept in files.

A model file holds nothing that the shape of the trees implies:

    feature        of questions only, in as few bytes as its numbers need
    missing_left   of questions only, eight to a byte
    threshold      of questions only, where leaves have none; a lean forest has its values there

``right`` tells which nodes are questions. Files from before, with an entry for every node in these
fields or in all but ``threshold``, are read as well.

Values of the nodes follow from the leaves, by sums along the tree that depend on nothing else:

    sizes, weights   n = n_l + n_r,  W = W_l + W_r
    classes          a pure leaf of class k gives its weight to class k; shares = class weights / W
    numbers          mean = sum over the leaves of W_leaf mean_leaf / W
                     S = S_l + S_r + (W_l W_r / W) (mean_l - mean_r)^2,  impurity = S / W
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pellucid.compiled.trees.walk import merge_spreads, sum_up
from pellucid.core.arrays.typing import Array, BoolArray
from pellucid.core.functions.impurities import class_impurity
from pellucid.core.readable import readable
from pellucid.ensemble.forest.kernels import walk
from pellucid.tree.record import NO_LEVELS, NO_SETS, UNDEFINED, Tree, sound_sets

LEAF = -1  # as a child


def left_children(right: NDArray[np.int32]) -> Any:
    """The left child is the next node; -1 in a leaf.

    >>> left_children(np.array([2, -1, -1])).tolist()
    [1, -1, -1]
    """
    return np.where(right >= 0, np.arange(1, len(right) + 1, dtype=np.int32), LEAF).astype(np.int32)


def node_sums(right: NDArray[np.int32], at_leaves: Array) -> Array:
    """Sums (nodes, q) of all leaves below each node, from those at the leaves (leaves, q).

    >>> node_sums(np.array([2, -1, -1], np.int32), np.array([[3.0], [4.0]])).ravel().tolist()
    [7.0, 3.0, 4.0]
    """
    sums = np.zeros((len(right), at_leaves.shape[1]))
    sums[right < 0] = at_leaves
    sum_up(left_children(right), right, sums)
    return sums


def node_means(right: NDArray[np.int32], weight: Array, at_leaves: Array) -> Array:
    """Means (nodes, 1) from those of the leaves (leaves,)."""
    ends = right < 0
    mean = node_sums(right, (weight[ends] * at_leaves)[:, None]) / weight[:, None]
    mean[ends, 0] = at_leaves
    return mean


def class_weights(right: NDArray[np.int32], weight: Array, label: Array, n_classes: int) -> Array:
    """Class weights (nodes, K) where every leaf is of one class, ``label`` (leaves,)."""
    ends = right < 0
    found = np.zeros((len(label), n_classes))
    found[np.arange(len(label)), label.astype(np.int64)] = weight[ends]
    return node_sums(right, found)


def number_impurities(right: NDArray[np.int32], weight: Array, mean: Array) -> Array:
    """Mean squares about the mean (nodes,) where all targets of a leaf are equal."""
    squares = np.zeros((len(right), 1))
    merge_spreads(left_children(right), right, weight, np.ascontiguousarray(mean), squares)
    return squares[:, 0] / weight


KINDS = ("i8", "i4", "i4", "f8", "u1", "f8", "i4", "f4 f8", "f8", "f8", "i8")
MEASURES = ("", "gini", "entropy")  # of the impurities of classes
NARROW = (np.int8, np.int16, np.int32)


@readable
class Forest(NamedTuple):
    """Tree t is the nodes start[t]..start[t + 1] - 1, in preorder: the left child comes next.

    Large forests leave out what follows from the rest (``joining.py``), and have

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
    n_features: int  # columns of the table
    levels: Any = NO_LEVELS  # as in ``Tree``
    sets: Any = NO_SETS  # as in ``Tree``
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

    def _sums(self, stored: NDArray[Any], t: int) -> Array:
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
        found, ends = self.threshold[self.part(t)], self.right[self.part(t)] < 0
        return found if len(self.value) else np.where(ends, UNDEFINED, found)

    def nodes(self, t: int) -> tuple[Any, ...]:
        """The arrays that a walk through tree t reads."""
        parts = self.feature, self.threshold, self.missing_left, self.right
        return (*(field[self.part(t)] for field in parts), self.levels, self.sets)

    def tree(self, t: int) -> Tree:
        """Tree t as scikit-learn lays it out."""
        part = self.part(t)
        right, impurity = self.right[part], self.impurities(t)
        value = self.values(t).reshape(len(right), len(self.n_classes), -1)
        spread = self.spread[part] if len(self.spread) else np.sqrt(impurity)[:, None]
        question = self.feature[part], self.questions(t), self.missing_left[part]
        counts = impurity, self.sizes(t), self.weights(t), value, spread, self.n_classes
        rest = self.n_features, self.levels, self.sets
        return Tree(left_children(right), right, *question, *counts, *rest)

    def at(self, leaves: NDArray[Any]) -> Array:
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
        nodes = self.start, self.feature, self.threshold, self.missing_left, self.right
        return (*nodes, self.levels, self.sets)

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

    def leaves_at(
        self, t: int, X: Array, rows: NDArray[Any], column: int = -1, cells: Array | None = None
    ) -> Any:
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


def shifted(
    threshold: Array, feature: NDArray[np.int32], levels: NDArray[Any], words: int
) -> Array:
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
    begun = zip(trees, words, strict=False)
    thresholds = [shifted(t.threshold, t.feature, first.levels, at) for t, at in begun]
    values = [tree.value.reshape(tree.node_count, -1) for tree in trees]

    def joined(name: str) -> Any:
        return np.concatenate([getattr(tree, name) for tree in trees])

    return Forest(
        start=np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
        right=joined("children_right"),
        feature=joined("feature"),
        threshold=np.concatenate(thresholds),
        missing_left=joined("missing_go_to_left"),
        impurity=joined("impurity"),
        size=joined("n_node_samples").astype(np.int32),
        weight=joined("weighted_n_node_samples"),
        value=np.concatenate(values),
        spread=joined("spread"),
        n_classes=np.array(first.n_classes, np.int64),
        n_features=first.n_features,
        levels=first.levels,
        sets=joined("sets"),
    )


def join_forests(a: Forest, b: Forest) -> Forest:
    """The trees of a, then those of b."""
    a, b = alike(a, b)
    b = b._replace(threshold=shifted(b.threshold, b.feature, b.levels, len(a.sets)))
    both: dict[str, Any] = {n: np.concatenate([getattr(a, n), getattr(b, n)]) for n in JOINED}
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


# --- checks: compiled code walks the arrays without looking ---------------------------------------


def check_forest(forest: Forest) -> None:
    """Raise a ValueError where the arrays do not fit together."""
    for field, kind in zip(forest[: len(KINDS)], KINDS, strict=True):
        if not isinstance(field, np.ndarray) or all(field.dtype != k for k in kind.split()):
            raise ValueError("the arrays of the forest have other kinds of numbers")
    if not (sound_start(forest) and sound_shapes(forest) and sound_leaves(forest)):
        raise ValueError("the arrays of the forest do not fit together")
    if not sound_sets(forest):
        raise ValueError("the sets of levels of the forest do not fit together")
    n, width = len(forest.feature), forest.value.shape[1]
    none = np.broadcast_to(0.0, n)  # nothing is derived from nodes that were not looked at
    empty: dict[str, Any] = {"spread": none[:, None], "value": np.broadcast_to(0.0, (n, width))}
    nodes = forest._replace(impurity=none, size=none, weight=none, **empty)
    for t in range(forest.n_trees):
        nodes.tree(t).check()


def sound_start(forest: Forest) -> bool:
    """Whether the trees cover the nodes."""
    start = forest.start
    if start.ndim != 1 or len(start) < 2 or start[0] != 0:
        return False
    return bool(start[-1] == len(forest.feature) and (np.diff(start) > 0).all())


def sound_shapes(forest: Forest) -> bool:
    """Whether each field has an entry for every node, or is left out as it may be."""
    n, leaves = len(forest.feature), (len(forest.feature) + forest.n_trees) // 2
    value, spread, outputs = forest.value, forest.spread, len(forest.n_classes)
    if {field.ndim for field in forest[1:8]} != {1} or (value.ndim, spread.ndim) != (2, 2):
        return False
    of_squares = spread.shape == (0, 1) and value.shape[1] == 1
    of_pure = forest.measure != "" and len(value) == 0 and spread.shape[1] == 0
    return (
        {len(field) for field in forest[1:5]} == {n}
        and {len(forest.size), len(forest.weight)} <= {n, leaves}
        and outputs > 0
        and value.shape[1] > 0
        and value.shape[1] % outputs == 0
        and (len(value) == n or (len(value) == 0 and outputs == 1))
        and (len(spread) == n or of_squares)
        and forest.measure in MEASURES
        and (len(forest.impurity) == n or (len(forest.impurity) == 0 and (of_squares or of_pure)))
    )


def sound_leaves(forest: Forest) -> bool:
    """Whether every tree has one leaf more than questions, and leaves name classes there are."""
    ends = forest.right < 0
    leaves = np.add.reduceat(ends, forest.start[:-1], dtype=np.int64)
    if (2 * leaves - 1 != np.diff(forest.start)).any():
        return False
    if len(forest.value) or forest.of_numbers:
        return True
    label = forest.threshold[ends]
    known = (label >= 0) & (label < forest.value.shape[1]) & (label == np.floor(label))
    return bool(known.all())


# --- model files ---------------------------------------------------------------------------------


def shorten(forest: Forest) -> Any:
    """The forest with short fields, or as it is where they would not say the same."""
    asks, feature, missing = forest.right >= 0, forest.feature, forest.missing_left
    leaves_say_nothing = np.array_equal(feature != UNDEFINED, asks)
    if not (leaves_say_nothing and np.array_equal(feature >= 0, asks)):
        return forest
    short = {"feature": narrow(feature)[asks]}
    if missing.max() <= 1 and not missing[~asks].any():
        short["missing_left"] = np.packbits(missing[asks])
    if len(forest.value) and (forest.threshold[~asks] == UNDEFINED).all():
        short["threshold"] = forest.threshold[asks]
    return forest._replace(**short)


def narrow(numbers: NDArray[Any]) -> Any:
    """Whole numbers >= -2 in as few bytes as they need.

    >>> narrow(np.array([-2, 100], np.int32)).dtype, narrow(np.array([3, 1000], np.int32)).dtype
    (dtype('int8'), dtype('int16'))
    """
    most = int(numbers.max())
    return numbers.astype(next(kind for kind in NARROW if most <= np.iinfo(kind).max))


def lengthen(forest: Forest) -> Any:
    """The reverse; arrays that do not fit are left to ``check``."""
    asks = forest.right >= 0
    n = int(np.count_nonzero(asks))
    long: dict[str, Any] = {}
    if len(forest.feature) == n and forest.feature.dtype in NARROW:
        long["feature"] = _spread(forest.feature.astype(np.int32), asks, UNDEFINED)
    if len(forest.missing_left) == -(-n // 8) and forest.missing_left.dtype == np.uint8:
        long["missing_left"] = _spread(np.unpackbits(forest.missing_left, count=n), asks, 0)
    if len(forest.threshold) == n:
        long["threshold"] = _spread(forest.threshold, asks, UNDEFINED)
    return forest._replace(**long)


def _spread(numbers: NDArray[Any], asks: BoolArray, otherwise: int) -> Any:
    found = np.full(len(asks), otherwise, numbers.dtype)
    found[asks] = numbers
    return found
