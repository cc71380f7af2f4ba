"""Joins the trees of a forest while they grow.

Trees are appended in their order as soon as they are grown, made lean (``lean.py``) where the
forest is large, and let go; ``realloc`` enlarges the arrays, which for large ones moves no data.
So the peak is the forest itself and the few trees that are being grown.
"""

import threading
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pellucid.ensemble.forest.lean import lean
from pellucid.ensemble.forest.record import JOINED, Forest, alike, join_trees, shifted
from pellucid.tree.record import Tree

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
