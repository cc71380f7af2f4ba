r"""OPTICS: visit the rows from dense to thin, and read the clusters off the order of the visits.

Density      core_i = distance to the k-th nearest row (itself counts), infinite beyond max_eps
Visits       the next row is the one with the least reachability
             reach_j = min over visited i with d_ij <= max_eps of max(d_ij, core_i)
             (the lowest index among equals, the lowest unvisited row where none is in reach)
Clusters     valleys of reach in the order of the visits: between steep falls and rises ("xi"), or
             below a height ("dbscan")
Cost         finite max_eps: lists of neighbours by a kd-tree and a heap, O(n log n + m log m) for m
             pairs within it; infinite: O(n^2 p) in one compiled sweep, memory O(n p)

``optics_graph.py`` visits, ``optics_xi.py`` reads the clusters, ``optics_kernels.py`` is compiled.

References: Ankerst, Breunig, Kriegel & Sander (1999); Schubert & Gertz (2018).
"""

from functools import partial
from typing import Any, Self

import numpy as np
from sklearn.base import ClusterMixin
from sklearn.exceptions import DataConversionWarning
from sklearn.utils.validation import check_is_fitted, check_memory

from pellucid.base import Estimator, with_callbacks
from pellucid.cluster.density import optics_graph as graphs
from pellucid.cluster.density.optics_xi import check_xi, cluster_optics_dbscan, cluster_optics_xi
from pellucid.cluster.dissimilarity import MetricLike, attributes_of, is_given
from pellucid.core.arrays import check
from pellucid.core.arrays.typing import ArrayLike, IntArray, MaybeArray
from pellucid.core.functions.dissimilarities import BINARY
from pellucid.core.loops.iterate import FitContext
from pellucid.core.records import Card
from pellucid.core.runtime.warn import warn


class OPTICS(ClusterMixin, Estimator):
    """Density-based clusters at all radii, from an order of the rows.

    Parameters
    ----------
    min_samples : int or float, default=5
        Rows of a neighbourhood, the row itself included, >= 2; a share of all rows between 0 and 1.
    max_eps : float, default=inf
        Rows farther apart are not neighbours; a finite radius is quicker.
    metric : str or callable, default="minkowski"
        Any of ``pellucid.neighbors.pairwise_distances``, ``"precomputed"`` (a matrix, or a sparse
        one that holds the distances of neighbours only) or a function of two rows.
    p : float, default=2
        Order of ``metric="minkowski"``, >= 1.
    metric_params : dict, default=None
        Keywords of the metric.
    cluster_method : {"xi", "dbscan"}, default="xi"
        Clusters between steep changes of reachability, or below ``eps``.
    eps : float, default=None
        With "dbscan", at most ``max_eps``; None is ``max_eps``.
    xi : float, default=0.05
        With "xi", the change from one visit to the next, as a share, that is steep.
    predecessor_correction : bool, default=True
        With "xi", leave out last rows that were reached from outside the cluster.
    min_cluster_size : int or float, default=None
        With "xi", rows (or share of the rows) of a cluster at least; None is ``min_samples``.
    algorithm : {"auto", "ball_tree", "kd_tree", "brute"}, default="auto"
        Without effect: the answer is the same and the tree is used where it serves.
    leaf_size, n_jobs : ignored
        For compatibility with scikit-learn.
    memory : str or object with ``cache``, default=None
        Where joblib keeps the visits, so that a fit with another choice of clusters is quick.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        -1 for noise.
    ordering_ : ndarray of shape (n_samples,)
        The rows in the order of the visits.
    reachability_, core_distances_ : ndarray of shape (n_samples,)
        By row; infinite for a row that no visit reached, or that is not core.
    predecessor_ : ndarray of shape (n_samples,)
        The row that a row was reached from, or -1.
    cluster_hierarchy_ : ndarray of shape (n_clusters, 2)
        With "xi": first and last visit of every cluster, those inside others first.

    Examples
    --------
    >>> from pellucid import OPTICS
    >>> X = [[1, 2], [2, 5], [3, 6], [8, 7], [8, 8], [7, 3]]
    >>> OPTICS(min_samples=2).fit(X).labels_
    array([0, 0, 0, 1, 1, 1])
    """

    _accepts_sparse = True

    def __init__(
        self,
        *,
        min_samples: float = 5,
        max_eps: float = np.inf,
        metric: MetricLike = "minkowski",
        p: float = 2,
        metric_params: dict[str, Any] | None = None,
        cluster_method: str = "xi",
        eps: float | None = None,
        xi: float = 0.05,
        predecessor_correction: bool = True,
        min_cluster_size: float | None = None,
        algorithm: str = "auto",
        leaf_size: int = 30,
        memory: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.min_samples = min_samples
        self.max_eps = max_eps
        self.metric = metric
        self.p = p
        self.metric_params = metric_params
        self.cluster_method = cluster_method
        self.eps = eps
        self.xi = xi
        self.predecessor_correction = predecessor_correction
        self.min_cluster_size = min_cluster_size
        self.algorithm = algorithm
        self.leaf_size = leaf_size
        self.memory = memory
        self.n_jobs = n_jobs

    @property
    def _squares_x(self) -> bool:  # type: ignore[override]
        return not is_given(self.metric)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = is_given(self.metric)
        return tags

    @with_callbacks
    def fit(self, X: ArrayLike, y: MaybeArray = None) -> Self:
        """Visit the rows of X and read off the clusters."""
        self._check_parameters()
        truths = isinstance(self.metric, str) and self.metric in BINARY
        if truths and getattr(getattr(X, "dtype", None), "kind", "") != "b":
            say = f"Data will be converted to boolean for metric {self.metric}"
            warn(f"{say}; a table of booleans avoids this warning", DataConversionWarning)
        rows = self._check_training(X).X
        context = FitContext(self, X=X, attributes=partial(attributes_of, self))
        n = rows.shape[0]
        graphs.check_size(n, **check.given(**self._sizes()))
        k = graphs.rows_of_size(self.min_samples, n)
        visit = check_memory(self.memory).cache(graphs.optics_graph)
        form = (self.metric, self.p, self.metric_params)
        graph = graphs.OpticsGraph(*visit(rows, k, float(self.max_eps), *form))
        graphs.warn_unreached(graph)
        self.ordering_, self.core_distances_, self.reachability_, self.predecessor_ = graph
        self.labels_ = self._clusters()
        context.end()
        return self

    def _sizes(self) -> dict[str, Any]:
        return {"min_samples": self.min_samples, "min_cluster_size": self.min_cluster_size}

    def _check_parameters(self) -> None:
        graphs.check_size(**check.given(**self._sizes()))
        check.non_negative(max_eps=self.max_eps, **check.given(eps=self.eps))
        check_xi(self.xi)
        check.whole(leaf_size=self.leaf_size)
        check.one_of(graphs.ALGORITHMS, algorithm=self.algorithm)
        check.one_of(("xi", "dbscan"), cluster_method=self.cluster_method)
        check.boolean(predecessor_correction=self.predecessor_correction)
        check.positive(p=self.p)
        if self.p < 1:
            raise ValueError(f"p must be at least 1, got {self.p!r}")
        if self.cluster_method == "dbscan" and self.eps is not None and self.eps > self.max_eps:
            raise ValueError(f"Specify an epsilon smaller than {self.max_eps}. Got {self.eps}.")

    def _clusters(self) -> IntArray:
        """Labels by the chosen method; the hierarchy where it has one."""
        visits: dict[str, Any] = {"reachability": self.reachability_, "ordering": self.ordering_}
        self.__dict__.pop("cluster_hierarchy_", None)
        if self.cluster_method == "dbscan":
            eps = self.max_eps if self.eps is None else self.eps
            return cluster_optics_dbscan(**visits, core_distances=self.core_distances_, eps=eps)
        labels, self.cluster_hierarchy_ = cluster_optics_xi(
            **visits,
            **self._sizes(),
            predecessor=self.predecessor_,
            xi=self.xi,
            predecessor_correction=self.predecessor_correction,
        )
        return labels

    def fit_predict(self, X: ArrayLike, y: MaybeArray = None) -> IntArray:
        """``fit(X).labels_``."""
        return self.fit(X).labels_

    def card(self) -> Card:
        """How the rows were visited, and which clusters were read off."""
        check_is_fitted(self)
        n, found = len(self.labels_), int(self.labels_.max()) + 1
        noise, never = int((self.labels_ < 0).sum()), int(np.isinf(self.core_distances_).sum())
        k = graphs.rows_of_size(self.min_samples, n)
        counts = {"clusters": found, "noise": noise, "rows that are not core": never}
        height = self.max_eps if self.eps is None else self.eps
        choice = f"valleys below {height:g}: those of DBSCAN, but for border rows"
        if self.cluster_method == "xi":
            choice = f"valleys between falls and rises of at least {self.xi:g} from visit to visit"
            counts["clusters, nested ones included"] = len(self.cluster_hierarchy_)
        notes = [] if found else ["no cluster was found: raise max_eps, or lower min_samples"]
        return Card(
            f"{found} clusters in the order of reachability (neighbourhoods of {k} rows within "
            f"{self.max_eps:g}), and noise",
            f"none is minimised: {choice}",
            "the next row is the one with the least reachability, ties by lower row",
            counts,
            warnings=tuple(notes),
        )
