r"""DBSCAN: clusters are dense regions, connected by dense rows; the rest is noise.

Model        row i is *core* if the weights within eps of it, its own included, reach min_samples;
             core rows within eps of each other belong together
Labels       clusters are numbered by their first core row; another row within eps of a core row
             takes the lowest such label (a border row), else -1 (noise)
Algorithm    kd-tree, whole leaves at a time (``kernels.py``); parts of the tree that are
             known to be one cluster are passed over. O(n log n) while few columns matter, at most
             O(n^2 p); memory O(n p): no list of neighbours is kept
             other metrics: lists of neighbours, from blocks of the distance matrix

References: Ester, Kriegel, Sander & Xu (1996); Schubert et al. (2017).
"""

from functools import partial
from typing import Any, Self

import numpy as np
from sklearn.base import ClusterMixin
from sklearn.utils.validation import check_is_fitted

from pellucid.base import Estimator, with_callbacks
from pellucid.cluster import dissimilarity
from pellucid.cluster.density import regions
from pellucid.cluster.dissimilarity import MetricLike
from pellucid.cluster.kmeans.kmeans import fit_predict
from pellucid.compiled.distances.kd_building import build_tree
from pellucid.compiled.distances.kd_tree import tree_nearest
from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike, MaybeArray
from pellucid.core.functions.metrics import resolve, warn_of_two_orders
from pellucid.core.loops.iterate import FitContext
from pellucid.core.records import Card


class DBSCAN(ClusterMixin, Estimator):
    """Density-based clustering with noise.

    Parameters
    ----------
    eps : float, default=0.5
        Rows at most this far apart are neighbours; ``k_distances`` helps to choose it.
    min_samples : int, default=5
        A row with so many neighbours (itself included, weights summed) is core.
    metric : str or callable, default="euclidean"
        Any of ``pellucid.neighbors.pairwise_distances``, ``"precomputed"`` (a matrix, or a sparse
        one that holds the distances of neighbours only) or a function of two rows.
    metric_params : dict, default=None
        Keywords of the metric.
    algorithm : {"auto", "ball_tree", "kd_tree", "brute"}, default="auto"
        Without effect: the answer is the same and the tree is always used where it serves.
    leaf_size : ignored
        For compatibility with scikit-learn.
    p : float, default=None
        Order of ``metric="minkowski"``; None is 2.
    n_jobs : ignored
        Threads are set by ``pellucid``'s own limit; the answer is the same.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        -1 for noise.
    core_sample_indices_ : ndarray of shape (n_core,)
    components_ : ndarray of shape (n_core, n_features)
        The core rows.

    Examples
    --------
    >>> from pellucid import DBSCAN
    >>> X = [[1, 2], [2, 2], [2, 3], [8, 7], [8, 8], [25, 80]]
    >>> DBSCAN(eps=3, min_samples=2).fit(X).labels_
    array([ 0,  0,  0,  1,  1, -1])
    """

    _accepts_sparse = True

    fit_predict = fit_predict

    def __init__(
        self,
        eps: float = 0.5,
        *,
        min_samples: int = 5,
        metric: MetricLike = "euclidean",
        metric_params: dict[str, Any] | None = None,
        algorithm: str = "auto",
        leaf_size: int = 30,
        p: float | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.eps = eps
        self.min_samples = min_samples
        self.metric = metric
        self.metric_params = metric_params
        self.algorithm = algorithm
        self.leaf_size = leaf_size
        self.p = p
        self.n_jobs = n_jobs

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = dissimilarity.is_given(self.metric)
        return tags

    @with_callbacks
    def fit(self, X: ArrayLike, y: MaybeArray = None, sample_weight: MaybeArray = None) -> Self:
        """Find the dense regions of X."""
        self._check_parameters()
        rows = self._check_training(X, None, sample_weight)
        attributes = partial(dissimilarity.attributes_of, self)
        context = FitContext(self, X=X, sample_weight=sample_weight, attributes=attributes)
        found = self._found(rows.X, np.array(rows.w))
        self.labels_ = found.labels
        self.core_sample_indices_ = np.flatnonzero(found.core)
        self.components_ = rows.X[self.core_sample_indices_]
        context.end()
        return self

    def _check_parameters(self) -> None:
        check.positive(eps=self.eps)
        check.whole(min_samples=self.min_samples, leaf_size=self.leaf_size)
        check.one_of(("auto", "ball_tree", "kd_tree", "brute"), algorithm=self.algorithm)
        check.positive(**check.given(p=self.p))
        warn_of_two_orders(self.p, self.metric_params)

    def _found(self, X: ArrayLike, w: Array) -> regions.DensityFit:
        eps, enough = float(self.eps), float(self.min_samples)
        if dissimilarity.is_given(self.metric):
            lists = regions.lists_of_matrix(regions.checked_given(X), eps)
            return regions.fit_by_lists(lists, w, enough)
        X = regions.table_of(X)
        metric = resolve(self.metric, X, self.p, self.metric_params)
        if metric.order is None or metric.power <= 0:
            return regions.fit_by_lists(regions.lists_by_blocks(X, metric, eps), w, enough)
        return regions.fit_by_tree(X, w, metric, eps, enough)

    def card(self) -> Card:
        """What counts as dense, and what was found."""
        check_is_fitted(self)
        noise = int((self.labels_ < 0).sum())
        n, core = len(self.labels_), len(self.core_sample_indices_)
        found = int(self.labels_.max()) + 1
        notes = []
        if not found:
            notes.append("no row is core: raise eps or lower min_samples (see k_distances)")
        elif found == 1 and not noise:
            notes.append("everything is one cluster: lower eps or raise min_samples")
        return Card(
            f"{found} regions of core rows (at least {self.min_samples} rows within "
            f"{self.eps:g}), their borders, and noise",
            "none is minimised: the labels follow from the definition of density",
            "kd-tree search by leaves and a forest of connected core rows; border rows take the "
            "lowest label near them",
            {"clusters": found, "core": core, "border": n - core - noise, "noise": noise},
            warnings=tuple(notes),
        )


def k_distances(X: ArrayLike, k: int = 4, *, metric: MetricLike = "euclidean") -> Array:
    """The distance of every row to its k-th nearest other row, in ascending order.

    Where the curve bends up, rows stop being dense: that height is a good ``eps`` for
    ``DBSCAN(min_samples=k + 1)``.

    Parameters
    ----------
    X : array of shape (n, p)
        The rows.
    k : int, default=4
        Which neighbour, less than the number of rows.
    metric : str or callable, default="euclidean"
        As for ``DBSCAN``.

    Examples
    --------
    >>> from pellucid.cluster import k_distances
    >>> k_distances([[0.0], [1.0], [3.0], [10.0]], 1)
    array([1., 1., 2., 7.])
    """
    rows = np.require(X, np.float64, ["C", "W"])
    check.whole(k=k)
    if rows.ndim != 2 or not np.isfinite(rows).all():
        raise ValueError("X must be a table of finite numbers")
    n = len(rows)
    if k >= n:
        raise ValueError(f"k must be less than the number of rows ({n}), got {k}")
    found = resolve(metric, rows)
    if found.order is None:
        assert found.pairwise is not None
        D = found.pairwise(rows, rows)
        np.fill_diagonal(D, -1.0)
        return np.sort(np.partition(D, k, axis=1)[:, k])
    E, (kind, p) = dissimilarity.mapped_rows(found, rows), dissimilarity.kernel_order(found)
    tree = build_tree(E)
    order = tree.slots.ravel()[tree.slots.ravel() < n]  # neighbours in space after each other
    out, index = np.empty((n, k + 1)), np.empty((n, k + 1), np.int64)

    def search(start: int) -> None:
        stop = min(start + regions.SMALL, n)
        tree_nearest(*tree, E, order, start, stop, kind, p, out, index, np.zeros(1, np.int64))

    regions.run(search, list(range(0, n, regions.SMALL)))
    return np.sort(found.finish(out[:, k]))
