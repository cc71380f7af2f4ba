r"""Joins the trees of a large forest while they grow, and keeps of every node only what is needed.

A forest of 100 whole trees on a million rows of numbers has 127 million nodes. Its memory is

    right 4, feature 4, threshold 8, missing_left 1, size 4, value 8         29 bytes a node
    weight       4, as float32 where every weight is exact (whole numbers below 2^24), else 8
    spread       0 where it is the root of the impurity (squared errors), else 8
    impurity     0 where all leaves are pure, else 8: then from the leaves up
                 S = S_l + S_r + (W_l W_r / W) (mean_l - mean_r)^2,  impurity = S / W

33 bytes instead of 53. What is left out was compared with what is derived, bit by bit, when the
tree came. Trees are appended in their order as soon as they are grown and let go; ``realloc``
enlarges the arrays, which for large ones moves no data. So the peak is the forest itself and the
few trees that are being grown.
"""

import threading
from typing import Any

import numpy as np

from pellucid.ensemble.forest_record import JOINED, Forest, alike, join_trees, shifted
from pellucid.tree.record import Tree

LARGE = 2**16  # nodes; smaller forests are stored as they are


def lean(forest: Forest) -> Forest:
    """The forest without numbers that follow from the others, to the bit.

    >>> from pellucid import RandomForestRegressor
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0.0, 1.0, 4.0, 9.0]
    >>> forest = RandomForestRegressor(2, random_state=0).fit(X, y).forest_
    >>> small = lean(forest)
    >>> small.weight.dtype.name, len(small.spread), len(small.impurity)
    ('float32', 0, 0)
    >>> bool((small.tree(1).impurity == forest.tree(1).impurity).all())
    True
    """
    with np.errstate(over="ignore", invalid="ignore"):
        light: Any = forest.weight.astype(np.float32)
        if np.array_equal(light, forest.weight):
            forest = forest._replace(weight=light)
        numbers = forest.value.shape[1] == 1 and forest.spread.shape == (len(forest.value), 1)
        if not (numbers and np.isfinite(forest.impurity).all()):
            return forest
        if not np.array_equal(np.sqrt(forest.impurity), forest.spread[:, 0]):
            return forest
        forest = forest._replace(spread=np.zeros((0, 1)))
        without = forest._replace(impurity=np.zeros(0))
        same = (
            np.array_equal(without.impurities(t), forest.impurities(t))
            for t in range(forest.n_trees)
        )
        return without if all(same) else forest


class Joiner:
    """Takes trees from several threads in any order; the forest has them in the order of b."""

    def __init__(self, first: int) -> None:
        self._lock = threading.Lock()
        self._next = first
        self._early: dict[int, Tree] = {}  # grown before a tree of a smaller number
        self._batch: list[Tree] = []
        self._nodes = 0  # of the batch
        self._forest: Forest | None = None

    def add(self, b: int, tree: Tree, rows: Any) -> Any:
        """Tree b; returns ``rows``."""
        with self._lock:
            self._early[b] = tree
            while self._next in self._early:
                found = self._early.pop(self._next)
                self._batch.append(found)
                self._nodes += found.node_count
                self._next += 1
                if self._nodes >= LARGE:
                    self._flush()
        return rows

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
        whole, part = getattr(a, name), getattr(b, name)
        n = len(whole)
        whole.resize((n + len(part), *whole.shape[1:]), refcheck=False)
        whole[n:] = part
    return a._replace(start=np.concatenate([a.start, b.start[1:] + a.start[-1]]))
