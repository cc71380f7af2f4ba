r"""HDBSCAN: the dense regions of DBSCAN at every level at once, and the most persistent of them.

Density      core_k(i) = distance to the k-th nearest row (itself counts);
             reach(i, j) = max(d_ij / alpha, core_i, core_j); lambda = 1 / reach
Tree         single linkage of reach: cut at a height eps it is DBSCAN without border rows
Condensed    clusters of fewer than ``min_cluster_size`` rows are rows that fall out of a cluster
Choice       excess of mass: the clusters that live longest, weighted by their rows
Strength     lambda at which a row leaves its cluster / lambda at which the last one does
Cost         kd-tree for the core distances, Prim without a matrix: O(n^2 p), memory O(n p)

The cores are in ``reachability_tree.py``, the kernels in ``reachability_kernels.py``.

References: Campello, Moulavi & Sander (2013); McInnes & Healy (2017).
"""

from functools import partial
from typing import Any, Self

import numpy as np
from scipy.sparse import issparse
from sklearn.base import ClusterMixin
from sklearn.utils.validation import check_is_fitted

from pellucid.base import Estimator, with_callbacks
from pellucid.cluster import dissimilarity
from pellucid.cluster.density import reachability_tree as reach
from pellucid.cluster.density.regions import table_of
from pellucid.cluster.dissimilarity import MetricLike, attributes_of, is_given, matrix_of
from pellucid.cluster.hierarchy.kernels.dendrogram import labels_after
from pellucid.cluster.hierarchy.linkage import MergeTree
from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike, IntArray, MaybeArray
from pellucid.core.functions.metrics import resolve
from pellucid.core.loops.iterate import FitContext
from pellucid.core.records import Card

MISSING = -3  # label of a row with missing cells


class HDBSCAN(ClusterMixin, Estimator):
    """Density-based clusters of any density, with noise, without a radius to choose.

    Parameters
    ----------
    min_cluster_size : int, default=5
        Smaller groups are rows that fall out of a cluster, >= 2.
    min_samples : int, default=None
        Rows of a neighbourhood, the row itself included; None is ``min_cluster_size``. More make
        more noise.
    cluster_selection_epsilon : float, default=0.0
        Clusters that split off at a smaller distance are not told apart.
    max_cluster_size : int, default=None
        Larger clusters are not chosen by "eom".
    metric : str or callable, default="euclidean"
        Any of ``pellucid.neighbors.pairwise_distances``, or ``"precomputed"`` (a dense matrix).
    metric_params : dict, default=None
        Keywords of the metric.
    alpha : float, default=1.0
        Distances are divided by it.
    algorithm : {"auto", "brute", "kd_tree", "ball_tree"}, default="auto"
        Without effect: the tree is used where it serves.
    leaf_size, n_jobs, copy : ignored
        For compatibility with scikit-learn; X is never changed.
    cluster_selection_method : {"eom", "leaf"}, default="eom"
        Excess of mass, or the smallest clusters.
    allow_single_cluster : bool, default=False
        All rows may be one cluster.
    store_centers : {None, "centroid", "medoid", "both"}, default=None
        Which centres of the clusters to compute.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Numbered by first row; -1 for noise, -3 for rows with missing cells.
    probabilities_ : ndarray of shape (n_samples,)
        How firmly a row belongs to its cluster; 0 for noise, NaN for rows with missing cells.
    stabilities_ : ndarray of shape (n_clusters,)
        Excess of mass of each cluster.
    children_, distances_ : ndarray
        The single-linkage tree of the complete rows, as in ``AgglomerativeClustering``.
    centroids_, medoids_ : ndarray of shape (n_clusters, n_features)
        With ``store_centers``.

    Examples
    --------
    >>> from pellucid import HDBSCAN
    >>> X = [[0.0], [0.1], [0.2], [5.0], [5.1], [5.2], [99.0]]
    >>> HDBSCAN(min_cluster_size=3, min_samples=2).fit(X).labels_
    array([ 0,  0,  0,  1,  1,  1, -1])
    """

    _accepts_sparse = True

    def __init__(
        self,
        min_cluster_size: int = 5,
        min_samples: int | None = None,
        cluster_selection_epsilon: float = 0.0,
        max_cluster_size: int | None = None,
        metric: MetricLike = "euclidean",
        metric_params: dict[str, Any] | None = None,
        alpha: float = 1.0,
        algorithm: str = "auto",
        leaf_size: int = 40,
        n_jobs: int | None = None,
        cluster_selection_method: str = "eom",
        allow_single_cluster: bool = False,
        store_centers: str | None = None,
        copy: bool = True,
    ) -> None:
        self.min_cluster_size = min_cluster_size
        self.min_samples = min_samples
        self.cluster_selection_epsilon = cluster_selection_epsilon
        self.max_cluster_size = max_cluster_size
        self.metric = metric
        self.metric_params = metric_params
        self.alpha = alpha
        self.algorithm = algorithm
        self.leaf_size = leaf_size
        self.n_jobs = n_jobs
        self.cluster_selection_method = cluster_selection_method
        self.allow_single_cluster = allow_single_cluster
        self.store_centers = store_centers
        self.copy = copy

    @property
    def _accepts_nan(self) -> bool:  # type: ignore[override]
        return not is_given(self.metric)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = is_given(self.metric)
        return tags

    @with_callbacks
    def fit(self, X: ArrayLike, y: MaybeArray = None) -> Self:
        """Find the clusters of X that persist over densities."""
        self._check_parameters()
        rows = self._check_training(X).X
        context = FitContext(self, X=X, attributes=partial(attributes_of, self))
        if is_given(self.metric) and issparse(rows):
            raise ValueError("precomputed distances must be a dense matrix, got a sparse one")
        rows = table_of(rows)
        whole = ~np.isnan(rows).any(axis=1)
        inside = rows if whole.all() else rows[whole]
        tree = self._tree(inside)
        self.children_, self.distances_, self._sizes = tree
        clusters = reach.condensed(tree, self.min_cluster_size)
        epsilon, single = float(self.cluster_selection_epsilon), bool(self.allow_single_cluster)
        largest = len(inside) + 1 if self.max_cluster_size is None else self.max_cluster_size
        found = reach.select(clusters, self.cluster_selection_method, epsilon, largest, single)
        self.labels_ = np.full(len(rows), MISSING)
        self.probabilities_ = np.full(len(rows), np.nan)
        self.labels_[whole], self.probabilities_[whole] = found.labels, found.strength
        self.stabilities_ = reach.stabilities(clusters)[found.clusters]
        self._condensed_clusters = len(clusters.parent)
        self._keep_centres(inside, found.labels, found.strength)
        context.end()
        return self

    def _check_parameters(self) -> None:
        check.whole(at_least=2, min_cluster_size=self.min_cluster_size)
        check.whole(leaf_size=self.leaf_size)
        for name in ("min_samples", "max_cluster_size"):
            if getattr(self, name) is not None:
                check.whole(**{name: getattr(self, name)})
        check.non_negative(cluster_selection_epsilon=self.cluster_selection_epsilon)
        check.positive(alpha=self.alpha)
        check.one_of(("auto", "brute", "kd_tree", "ball_tree"), algorithm=self.algorithm)
        check.one_of(("eom", "leaf"), cluster_selection_method=self.cluster_selection_method)
        check.boolean(allow_single_cluster=self.allow_single_cluster, copy=self.copy)
        if self.store_centers is not None:
            check.one_of(("centroid", "medoid", "both"), store_centers=self.store_centers)
            if is_given(self.metric):
                what = "Cannot store centers when using a precomputed distance matrix"
                raise ValueError(f"{what}: they are made of rows")

    def _tree(self, rows: Array) -> MergeTree:
        n = len(rows)
        if n < 2:
            raise ValueError(f"HDBSCAN needs at least 2 complete rows, got n_samples = {n}")
        k = self.min_cluster_size if self.min_samples is None else self.min_samples
        if k > n:
            raise ValueError(f"min_samples ({k}) must be at most the number of samples in X ({n})")
        alpha = float(self.alpha)
        if is_given(self.metric):
            return reach.reachability_tree_of(dissimilarity.checked_matrix(rows), k, alpha)
        metric = resolve(self.metric, rows, None, self.metric_params)
        if metric.order is None or metric.power <= 0:
            return reach.reachability_tree_of(matrix_of(rows, metric, "HDBSCAN"), k, alpha)
        return reach.reachability_tree(rows, metric, k, alpha)

    def _keep_centres(self, X: Array, labels: IntArray, strength: Array) -> None:
        self.__dict__.pop("centroids_", None)
        self.__dict__.pop("medoids_", None)
        groups = [labels == c for c in range(len(self.stabilities_))]
        p = X.shape[1]
        if self.store_centers in ("centroid", "both"):
            means = [np.average(X[g], axis=0, weights=strength[g]) for g in groups]
            self.centroids_ = np.array(means).reshape(-1, p)
        if self.store_centers in ("medoid", "both"):
            metric = resolve(self.metric, X, None, self.metric_params)
            distances = partial(matrix_of, metric=metric)
            medoids = [reach.centre_of(X[g], strength[g], distances) for g in groups]
            self.medoids_ = np.array(medoids).reshape(-1, p)

    def fit_predict(self, X: ArrayLike, y: MaybeArray = None) -> IntArray:
        """``fit(X).labels_``."""
        return self.fit(X).labels_

    def dbscan_clustering(self, cut_distance: float, min_cluster_size: int = 5) -> IntArray:
        """The clusters of DBSCAN without border rows at one radius, from the same tree.

        >>> model = HDBSCAN(2).fit([[0.0], [1.0], [5.0], [6.0], [50.0]])
        >>> model.dbscan_clustering(2.0, min_cluster_size=2)
        array([ 0,  0,  1,  1, -1])
        """
        check_is_fitted(self)
        check.non_negative(cut_distance=cut_distance)
        check.whole(min_cluster_size=min_cluster_size)
        whole = self.labels_ != MISSING
        merges = int((self.distances_ < cut_distance).sum())
        groups = np.empty(int(whole.sum()), np.int64)
        labels_after(self.children_, len(groups), merges, groups)
        labels = np.full(len(whole), MISSING)
        labels[whole] = reach.cut_labels(groups, min_cluster_size)
        return labels

    def card(self) -> Card:
        """What was kept of the tree of densities."""
        check_is_fitted(self)
        found, noise = len(self.stabilities_), int((self.labels_ == -1).sum())
        k = self.min_cluster_size if self.min_samples is None else self.min_samples
        notes = []
        if not found:
            notes.append("no cluster persists: lower min_cluster_size, or allow_single_cluster")
        choice = "the smallest clusters of the tree"
        if self.cluster_selection_method == "eom":
            gain = "(lambda_leaves - lambda_born), lambda = 1 / distance"
            choice = f"excess of mass: sum over the rows of a cluster of {gain}"
        return Card(
            f"{found} clusters of at least {self.min_cluster_size} rows, and noise",
            choice,
            f"spanning tree of reachability (neighbourhoods of {k} rows); exact choice from the "
            f"leaves up among {self._condensed_clusters} clusters",
            {
                "clusters": found,
                "noise": noise,
                "rows with missing cells": int((self.labels_ == MISSING).sum()),
                "candidates": self._condensed_clusters,
            },
            warnings=tuple(notes),
        )
