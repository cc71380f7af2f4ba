"""Base of the trees of clusters: cut them, and measure how well they tell the distances."""

from typing import Any

import numpy as np
from sklearn.base import ClusterMixin
from sklearn.utils.validation import check_is_fitted

from pellucid.base import Estimator
from pellucid.cluster.dissimilarity import is_given
from pellucid.cluster.hierarchy.kernels.dendrogram import joint_heights
from pellucid.cluster.hierarchy.linkage import MergeTree, cut_tree
from pellucid.cluster.kmeans.passes import enough_rows
from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, IntArray

SAMPLE = 500  # rows whose distances are compared with the tree's


def cophenetic_correlation(tree: MergeTree, chosen: IntArray, D: Array) -> float:
    """Correlation of distances with the heights at which rows meet; NaN where one is constant.

    >>> tree = MergeTree(np.array([[0, 1], [2, 3]]), np.array([1.0, 4.0]), np.array([2, 3]))
    >>> x = np.array([0.0, 1.0, 5.0])
    >>> round(cophenetic_correlation(tree, np.arange(3), abs(x[:, None] - x)), 6)
    0.970725
    """
    C = np.zeros(D.shape)
    joint_heights(tree.children, tree.heights, chosen, C)
    upper = np.triu_indices(len(D), 1)
    d, c = D[upper] - D[upper].mean(), C[upper] - C[upper].mean()
    scale = float(np.sqrt((d @ d) * (c @ c)))
    return float(d @ c) / scale if scale > 0 else float("nan")


def sampled_rows(n: int) -> IntArray:
    """All rows, or SAMPLE of them at equal steps."""
    return np.unique(np.linspace(0, n - 1, min(n, SAMPLE)).astype(np.int64))


class Hierarchical(ClusterMixin, Estimator):
    """Keeps a tree of clusters and cuts it."""

    n_clusters: Any
    metric: Any
    distance_threshold: Any

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = is_given(self.metric)
        return tags

    def _check_cut(self) -> None:
        if (self.n_clusters is None) == (self.distance_threshold is None):
            given = f"got {self.n_clusters!r} and {self.distance_threshold!r}"
            raise ValueError(f"Exactly one of n_clusters and distance_threshold is needed, {given}")
        check.whole(**check.given(n_clusters=self.n_clusters))
        check.non_negative(**check.given(distance_threshold=self.distance_threshold))

    def _table(self, X: Any) -> Array:
        """Checked rows; at least two, and enough for the clusters asked for."""
        X = self._check_training(X).X
        n = X.shape[0]
        if n < 2:
            raise ValueError(f"Found array with {n} sample(s) (shape={X.shape}), at least 2 needed")
        enough_rows(self.n_clusters or 1, n)
        return X

    def _tree(self) -> MergeTree:
        check_is_fitted(self)
        n, sizes = self.n_leaves_, [1] * self.n_leaves_
        for a, b in self.children_.tolist():
            sizes.append(sizes[a] + sizes[b])
        return MergeTree(self.children_, self.distances_, np.array(sizes[n:], np.int64))

    @property
    def linkage_matrix_(self) -> Array:
        """The merges in SciPy's layout: two nodes, height, number of rows."""
        return self._tree().matrix

    def cut(self, n_clusters: int | None = None, height: float | None = None) -> IntArray:
        """Labels at another level of the tree, numbered by first row.

        Parameters
        ----------
        n_clusters : int, default=None
            So many clusters; follows the order of the merges.
        height : float, default=None
            As ``distance_threshold``: merges at this height or above are undone.
        """
        tree = self._tree()
        if (n_clusters is None) == (height is None):
            raise ValueError(f"cut needs n_clusters or height, got {n_clusters!r} and {height!r}")
        if height is not None:
            check.non_negative(height=height)
            n_clusters = int((tree.heights >= height).sum()) + 1
        check.whole(n_clusters=n_clusters)
        assert n_clusters is not None
        enough_rows(n_clusters, self.n_leaves_)
        return cut_tree(tree, int(n_clusters))

    def _labels(self) -> IntArray:
        if self.n_clusters is not None:
            return self.cut(n_clusters=self.n_clusters)
        return self.cut(height=self.distance_threshold)

    def _check_state(self) -> None:
        """A tree from a file must be one: every node below its parent."""
        super()._check_state()
        if not hasattr(self, "children_"):
            return
        children, n = self.children_, self.n_leaves_
        below = np.arange(n, 2 * n - 1)[:, None]
        if children.shape != (n - 1, 2) or (children < 0).any() or (children >= below).any():
            raise ValueError("children_ must hold n - 1 pairs of earlier nodes")
        if self.distances_.shape != (n - 1,):
            raise ValueError(f"distances_ must have shape ({n - 1},), got {self.distances_.shape}")
