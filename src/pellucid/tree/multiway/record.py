"""A tree with one branch for every category, as arrays."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from pellucid.core.arrays.typing import Array, IntArray


class MultiwayTree(NamedTuple):
    """Nodes in preorder; node 0 is the root.

    >>> from pellucid.tree import MultiwayTreeClassifier
    >>> MultiwayTreeClassifier("gini").fit([["a"], ["b"], ["c"]], [0, 1, 1]).tree_.node_count
    4
    """

    parent: Any  # (nodes,) int32, -1 for the root
    feature: Any  # (nodes,) int32, -2 in a leaf
    threshold: Array  # (nodes,) of a numeric question, else NaN
    branch: Any  # (nodes,) int32: the category, or 0 for <= and 1 for >, that leads here
    share: Array  # (nodes,) share of the parent's examples with known value
    default: Any  # (nodes,) int32: the child of a missing cell under missing="mode", -1 in a leaf
    impurity: Array  # (nodes,)
    gain: Array  # (nodes,) decrease of impurity by the question, 0 in a leaf
    n_node_samples: Any  # (nodes,) int64
    weighted_n_node_samples: Array  # (nodes,)
    value: Array  # (nodes, 1, classes): class shares; numbers: (nodes, 1, 1)
    spread: Array  # (nodes, 1) standard deviation of the targets; classes: (nodes, 0)
    n_features: int

    @property
    def node_count(self) -> int:
        return len(self.feature)

    @property
    def n_leaves(self) -> int:
        return int(np.count_nonzero(self.feature < 0))

    @property
    def max_depth(self) -> int:
        depth = np.zeros(self.node_count, np.int64)
        for i in range(1, self.node_count):
            depth[i] = depth[self.parent[i]] + 1
        return int(depth.max())

    def children_of(self, node: int) -> Any:
        """The children of a node, in the order of their branches."""
        return np.flatnonzero(self.parent == node)

    def child_lists(self) -> list[list[int]]:
        """The children of every node."""
        found: list[list[int]] = [[] for _ in range(self.node_count)]
        for i, parent in enumerate(self.parent.tolist()):
            if parent >= 0:
                found[parent].append(i)
        return found

    def importances(self) -> Array:
        """Share of each feature in the total decrease of impurity."""
        inner = self.feature >= 0
        gain = self.gain[inner] * self.weighted_n_node_samples[inner]
        total = np.bincount(self.feature[inner], gain, self.n_features).astype(np.float64)
        return total / total.sum() if total.sum() > 0 else total

    def with_leaves(self, nodes: Sequence[int] | IntArray) -> "MultiwayTree":
        """The tree in which these nodes are leaves, renumbered."""
        leaf = self.feature < 0
        leaf[nodes] = True
        kept = np.ones(self.node_count, bool)
        for i in range(1, self.node_count):
            kept[i] = kept[self.parent[i]] and not leaf[self.parent[i]]
        number = (np.cumsum(kept) - 1).astype(np.int32)
        fields = [field[kept] for field in self[:-1]]
        made = MultiwayTree._make([*fields, self.n_features])
        inner = ~leaf[kept]
        above, default = made.parent, made.default
        return made._replace(
            parent=np.where(above >= 0, number[above], -1).astype(np.int32),
            feature=np.where(inner, made.feature, -2).astype(np.int32),
            threshold=np.where(inner, made.threshold, np.nan),
            default=np.where(inner, number[default], -1).astype(np.int32),
            gain=np.where(inner, made.gain, 0.0),
        )

    def check(self) -> None:
        """Raise ValueError for arrays that do not fit together."""
        n = self.node_count
        places = np.arange(n)
        sound = (
            n > 0
            and {len(field) for field in self[:-1]} == {n}
            and self.parent[0] == -1
            and bool(((self.parent[1:] >= 0) & (self.parent[1:] < places[1:])).all())
            and bool((self.feature < self.n_features).all() and (self.default < n).all())
            and self.value.ndim == 3
        )
        if sound:  # a default that is no child could lead round in a circle
            asks = np.flatnonzero((self.feature >= 0) & (self.default >= 0))
            sound = bool((self.parent[self.default[asks]] == asks).all())
        if not sound:
            raise ValueError("the arrays of the tree do not fit together")
