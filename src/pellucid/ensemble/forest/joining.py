"""Joins the trees of a forest while they grow.

Trees are appended in their order as soon as they are grown, made lean where the forest is
large, and let go; ``realloc`` enlarges the arrays, which for large ones moves no data.
So the peak is the forest itself and the few trees that are being grown.

A forest of 100 whole trees on a million rows of numbers has 126 million nodes, half of them
leaves. Only what is needed of every node of a large forest is stored:

    right 4, feature 4, threshold 8, missing_left 1           17 bytes a node
    size, weight   8 a leaf: those of the other nodes are sums; a weight has 4 bytes where these
                   are exact (whole numbers below 2^24), else 8
    value          0: leaves have no threshold, so their value is there; the nodes above are means
                   of leaves. Of classes where all leaves are pure: the number of the class
    spread         0 where it is the root of the impurity (squared errors)
    impurity       0 where all leaves are pure: it follows from weights and values

21 bytes instead of 53, and the same for any number of classes. What is left out was compared with
what is derived, bit by bit, when the tree came; where a number differs, it is stored.
"""

import threading
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pellucid.core.arrays.typing import Array, BoolArray
from pellucid.core.functions.impurities import class_impurity
from pellucid.ensemble.forest.record import (
    JOINED,
    Forest,
    alike,
    class_weights,
    join_trees,
    node_means,
    node_sums,
    number_impurities,
    shifted,
)
from pellucid.tree.record import UNDEFINED, Tree

STORED, SQUARES = "stored", ""  # beside the measures of classes


def lean(forest: Forest) -> Forest:
    """The forest without numbers that follow from the others, to the bit.

    >>> from pellucid import RandomForestRegressor
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0.0, 1.0, 4.0, 9.0]
    >>> forest = RandomForestRegressor(2, random_state=0).fit(X, y).forest_
    >>> small = lean(forest)
    >>> small.weight.dtype.name, len(small.value), len(small.spread), len(small.impurity)
    ('float32', 0, 0, 0)
    >>> bool((small.tree(1).impurity == forest.tree(1).impurity).all())
    True
    """
    ends = forest.right < 0
    with np.errstate(over="ignore", invalid="ignore"):
        answer = leaf_answers(forest, ends)
        trees = [what_follows(forest, t, answer) for t in range(forest.n_trees)]
        light = forest.weight.astype(np.float32)
    short: dict[str, Any] = {}
    if np.array_equal(light, forest.weight):
        short["weight"] = light
    if all(tree.sums for tree in trees):
        short["weight"] = short.get("weight", forest.weight)[ends]
        short["size"] = forest.size[ends]
    if answer is not None and all(tree.value for tree in trees):
        short["value"] = np.zeros((0, forest.value.shape[1]))
        short["threshold"] = np.where(ends, answer, forest.threshold)
    if all(tree.spread for tree in trees):
        short["spread"] = np.zeros((0, 1))
    measures = {tree.impurity for tree in trees}
    if len(measures) == 1 and STORED not in measures:
        short |= {"impurity": np.zeros(0), "measure": measures.pop()}
    return forest._replace(**short)


def leaf_answers(forest: Forest, ends: BoolArray) -> Array | None:
    """(nodes,): the value of a leaf, or the class of a pure one; None where there is no such."""
    if len(forest.n_classes) > 1 or (forest.threshold[ends] != UNDEFINED).any():
        return None
    if forest.of_numbers:
        return forest.value[:, 0]
    pure = np.count_nonzero(forest.value[ends] == 1.0) == np.count_nonzero(ends)
    return forest.value @ np.arange(float(forest.value.shape[1])) if pure else None


class Follows(NamedTuple):
    """What follows from the leaves in one tree, to the bit."""

    sums: bool  # sizes and weights
    value: bool
    spread: bool
    impurity: str  # how, or STORED


def what_follows(forest: Forest, t: int, answer: Array | None) -> Follows:
    """Derive all that can be derived of tree t, and compare."""
    part = forest.part(t)
    right, weight, value = forest.right[part], forest.weight[part], forest.value[part]
    ends = right < 0
    both = np.stack([forest.size[part], weight], axis=1)
    sums = np.array_equal(node_sums(right, both[ends]), both)
    if answer is None:
        return Follows(sums, False, *_spread_follows(forest, part))
    at_leaves = answer[part][ends]
    if forest.of_numbers:
        same = np.array_equal(node_means(right, weight, at_leaves), value)
        return Follows(sums, same, *_spread_follows(forest, part))
    counts = class_weights(right, weight, at_leaves, value.shape[1])
    if not np.array_equal(counts / weight[:, None], value):
        return Follows(sums, False, False, STORED)
    for measure in ("gini", "entropy"):
        if np.array_equal(class_impurity(counts, measure), forest.impurity[part]):
            return Follows(sums, True, False, measure)
    return Follows(sums, True, False, STORED)


def _spread_follows(forest: Forest, part: slice) -> tuple[bool, str]:
    """Of numbers: whether spreads are roots of impurities, and how these follow."""
    impurity, spread = forest.impurity[part], forest.spread[part]
    if forest.value.shape[1] > 1 or spread.shape[1] == 0 or not np.isfinite(impurity).all():
        return False, STORED
    if not np.array_equal(np.sqrt(impurity), spread[:, 0]):
        return False, STORED
    found = number_impurities(forest.right[part], forest.weight[part], forest.value[part])
    return True, SQUARES if np.array_equal(found, impurity) else STORED


LARGE = 2**16  # nodes; smaller forests are stored as they are


class Joiner:
    """Takes trees from several threads in any order; the forest has them in the order of b.

    ``rows`` (all rows in the trees,) int32 are those of the leaves, tree after tree, where they
    are kept.
    """

    def __init__(self, first: int, *, keep_rows: bool = True) -> None:
        self._lock = threading.Lock()
        self._next = first
        self._early: dict[int, tuple[Tree, Any]] = {}  # grown before a tree of a smaller number
        self._batch: list[Tree] = []
        self._nodes = 0  # of the batch
        self._forest: Forest | None = None
        self._keep_rows = keep_rows
        self.rows = np.zeros(0, np.int32)

    def add(self, b: int, tree: Tree, rows: NDArray[np.int32]) -> None:
        """Tree b, and its rows in the order of the leaves."""
        with self._lock:
            self._early[b] = tree, rows
            while self._next in self._early:
                found, listed = self._early.pop(self._next)
                if self._keep_rows:
                    extend(self.rows, listed)
                self._batch.append(found)
                self._nodes += found.node_count
                self._next += 1
                if self._nodes >= LARGE:
                    self._flush()

    def _flush(self) -> None:
        new = join_trees(self._batch)
        self._batch, self._nodes = [], 0
        new = lean(new)
        self._forest = new if self._forest is None else append(self._forest, new)

    def forest(self) -> Forest:
        """All trees that were added."""
        if self._forest is None:
            return join_trees(self._batch)
        if self._batch:
            self._flush()
        return self._forest


def append(a: Forest, b: Forest) -> Forest:
    """The trees of a, then those of b; the arrays of a are enlarged where they are."""
    a, b = alike(a, b)
    b = b._replace(threshold=shifted(b.threshold, b.feature, b.levels, len(a.sets)))
    for name in JOINED:
        extend(getattr(a, name), getattr(b, name))
    return a._replace(start=np.concatenate([a.start, b.start[1:] + a.start[-1]]))


def extend(whole: NDArray[Any], part: NDArray[Any]) -> None:
    """Add the rows of ``part`` to the array ``whole``, which nobody else may look at."""
    n = len(whole)
    whole.resize((n + len(part), *whole.shape[1:]), refcheck=False)
    whole[n:] = part
