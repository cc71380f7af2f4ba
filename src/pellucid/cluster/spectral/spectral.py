r"""Spectral clustering: cut a graph of similar rows where it is thin.

Graph        W_ij >= 0, the similarity of rows i and j; D its row sums (diagonal left out)
Objective    few and weak edges between groups of similar size: the normalised cut
             sum_k cut(A_k, rest)/vol(A_k), relaxed to  min tr H'L H,  H'H = I
Solution     the k smallest eigenvectors of the Laplacian (``maps.py``): the rows of H
             symmetric: rows scaled to length 1;  random_walk, unnormalized: as they are
Groups       k-means of these rows, or ``labels.py``
Parts        a graph in c parts has the eigenvalue 0 c times; its vectors tell the parts apart

n^2 weights for kernels, n k for neighbours; some hundred products with the graph.

References: Shi & Malik (2000); Ng, Jordan & Weiss (2002); von Luxburg (2007).
"""

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from scipy.sparse import issparse
from sklearn.base import ClusterMixin
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.utils.validation import check_is_fitted

from pellucid.base import Estimator, with_callbacks
from pellucid.cluster.kmeans.kmeans import KMeans
from pellucid.cluster.spectral.labels import cluster_qr, discretize
from pellucid.cluster.spectral.maps import Graph, laplacian_maps
from pellucid.compiled.distances.nearest import nearest
from pellucid.core.algebra.graph import knn_weights, rbf_weights
from pellucid.core.arrays import check
from pellucid.core.arrays.sparse import to_dense
from pellucid.core.arrays.typing import ArrayLike, IntArray, MaybeArray, Seed
from pellucid.core.functions.kernels import kernel_from
from pellucid.core.loops.iterate import FitContext
from pellucid.core.records import Card
from pellucid.core.runtime.random import generator
from pellucid.core.runtime.threads import single_threaded_blas
from pellucid.core.runtime.warn import warn

KERNELS = ("rbf", "linear", "poly", "polynomial", "sigmoid", "laplacian")
OTHERS = ("cosine", "chi2", "additive_chi2")
GIVEN = ("nearest_neighbors", "precomputed", "precomputed_nearest_neighbors")
LAPLACIANS = ("symmetric", "random_walk", "unnormalized")
LOOK = 11  # eigenvalues among which the largest gap is looked for, at least


class DisconnectedWarning(UserWarning):
    """The graph has more parts than clusters were asked for."""


def known_neighbours(D: Graph, k: int) -> IntArray:
    """The k nearest of a matrix of distances; the row itself counts."""
    n = D.shape[0]
    if issparse(D):
        stored = D.tocoo()
        full = np.full(D.shape, np.inf)
        full[stored.row, stored.col] = stored.data
        np.fill_diagonal(full, 0.0)
        D = full
    if np.isinf(np.sort(D, axis=1)[:, k - 1]).any():
        raise ValueError(f"some rows have fewer than n_neighbors={k} stored distances")
    return np.argsort(D, axis=1, kind="stable")[:, :k].reshape(n, k)


class SpectralClustering(ClusterMixin, Estimator):
    """Clusters of a graph of similar rows.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of groups, at most the number of rows.
    eigen_solver : {None, "arpack", "lobpcg", "amg"}, default=None
        Without effect: parts of up to 600 rows are decomposed whole, larger ones by Lanczos.
    n_components : int or None, default=None
        Eigenvectors to use; None: ``n_clusters``.
    random_state : int, RandomState, Generator or None
        Of k-means and "discretize"; the eigenvectors do not depend on it.
    n_init : int, default=10
        Starts of k-means.
    gamma : float, default=1.0
        Of the kernels "rbf", "poly", "sigmoid", "laplacian" and "chi2".
    affinity : str or callable, default="rbf"
        A kernel ("rbf", "poly", "polynomial", "sigmoid", "linear", "laplacian", "cosine", "chi2",
        "additive_chi2"); "nearest_neighbors"; "precomputed" (X are the similarities);
        "precomputed_nearest_neighbors" (X are distances); or a function of two tables (or, with
        scikit-learn's meaning, of two rows).
    n_neighbors : int, default=10
        Of the neighbour graphs; a row counts as its own neighbour.
    eigen_tol : float or "auto", default="auto"
        Of Lanczos; auto is 1e-10.
    assign_labels : {"kmeans", "discretize", "cluster_qr"}, default="kmeans"
        How rows of eigenvectors become groups.
    degree, coef0 : default=3, 1
        Of the kernel "poly"; ``coef0`` of "sigmoid" too.
    kernel_params : dict or None, default=None
        Keywords of a function given as ``affinity``.
    n_jobs, verbose : ignored
        For compatibility with scikit-learn.
    laplacian : {"symmetric", "random_walk", "unnormalized"}, default="symmetric"
        "symmetric" scales the rows of the embedding to length 1; "random_walk" is what
        scikit-learn does.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
    affinity_matrix_ : array or sparse matrix of shape (n_samples, n_samples)
    embedding_ : ndarray of shape (n_samples, n_components)
    eigenvalues_ : ndarray
        The smallest eigenvalues of the Laplacian, some more than are used.
    eigengap_ : int
        The number of clusters at the largest gap among them.
    n_parts_ : int
        Connected parts of the graph.

    Examples
    --------
    >>> from pellucid import SpectralClustering
    >>> X = [[0.0], [0.2], [0.4], [5.0], [5.1], [5.3]]
    >>> model = SpectralClustering(2, random_state=0).fit(X)
    >>> bool(model.labels_[0] == model.labels_[2] != model.labels_[5]), model.eigengap_
    (True, 2)
    """

    _accepts_sparse = True
    _training_state = ("affinity_matrix_", "embedding_")

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        eigen_solver: str | None = None,
        n_components: int | None = None,
        random_state: Seed = None,
        n_init: int = 10,
        gamma: float = 1.0,
        affinity: str | Callable[..., Any] = "rbf",
        n_neighbors: int = 10,
        eigen_tol: float | str = "auto",
        assign_labels: str = "kmeans",
        degree: int = 3,
        coef0: float = 1,
        kernel_params: dict[str, Any] | None = None,
        n_jobs: int | None = None,
        verbose: bool = False,
        laplacian: str = "symmetric",
    ) -> None:
        self.n_clusters = n_clusters
        self.eigen_solver = eigen_solver
        self.n_components = n_components
        self.random_state = random_state
        self.n_init = n_init
        self.gamma = gamma
        self.affinity = affinity
        self.n_neighbors = n_neighbors
        self.eigen_tol = eigen_tol
        self.assign_labels = assign_labels
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.laplacian = laplacian

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self._given_matrix
        return tags

    @property
    def _given_matrix(self) -> bool:
        return isinstance(self.affinity, str) and self.affinity.startswith("precomputed")

    @with_callbacks
    def fit(self, X: ArrayLike, y: MaybeArray = None) -> Self:
        """Group the rows of X (or those whose similarities X are)."""
        self._check_parameters()
        rows = self._check_training(X).X
        n = rows.shape[0]
        if n < 2 or self.n_clusters > n:
            many = f"n_clusters={self.n_clusters} needs that many rows, at least 2"
            raise ValueError(f"{many}, got n_samples={n}")
        context = FitContext(self, X=X)
        with single_threaded_blas():
            self.affinity_matrix_ = self._affinities(rows)
            self._embed(n)
            self.labels_ = self._groups()
        context.end()
        if self.n_parts_ > self.n_clusters:
            parts = f"{self.n_parts_} parts without an edge between them"
            more = f"more than n_clusters={self.n_clusters}: small parts were put with others"
            warn(f"the graph has {parts}, {more} at will", DisconnectedWarning)
        return self

    def _check_parameters(self) -> None:
        check.whole(n_clusters=self.n_clusters, n_init=self.n_init, n_neighbors=self.n_neighbors)
        check.non_negative(gamma=self.gamma, degree=self.degree)
        check.one_of(("kmeans", "discretize", "cluster_qr"), assign_labels=self.assign_labels)
        check.one_of(LAPLACIANS, laplacian=self.laplacian)
        check.one_of(("arpack", "lobpcg", "amg"), **check.given(eigen_solver=self.eigen_solver))
        check.whole(**check.given(n_components=self.n_components))
        if self.eigen_tol != "auto":
            check.non_negative(eigen_tol=self.eigen_tol)
        if not callable(self.affinity):
            check.one_of((*KERNELS, *OTHERS, *GIVEN), affinity=self.affinity)
        if not isinstance(self.coef0, int | float | np.number) or self.coef0 != self.coef0:
            raise ValueError(f"coef0 must be a number, got {self.coef0!r}")
        if self.kernel_params is not None and not isinstance(self.kernel_params, dict):
            raise ValueError(f"kernel_params must be a dict or None, got {self.kernel_params!r}")

    def _affinities(self, X: Any) -> Any:
        """W, symmetric."""
        n, name = X.shape[0], self.affinity
        if self._given_matrix and X.shape[0] != X.shape[1]:
            raise ValueError(f"affinity={name!r} needs a square matrix, got shape {X.shape}")
        if not callable(name) and name.endswith("nearest_neighbors"):
            if self.n_neighbors > n:
                k = self.n_neighbors
                raise ValueError(f"n_neighbors must be at most n_samples={n}, got {k}")
            if name == "nearest_neighbors":
                rows = to_dense(X)
                index = nearest(rows, rows, self.n_neighbors)[1]
            else:
                index = known_neighbours(X, self.n_neighbors)
            C = knn_weights(index, n)
            return (0.5 * (C + C.T)).tocsr()  # the mean of both directions of an edge
        if callable(name) or name in OTHERS:
            extra = dict(self.kernel_params or {})
            if name == "chi2":
                extra["gamma"] = self.gamma
            return symmetric(np.asarray(pairwise_kernels(X, metric=name, **extra)))
        if name == "precomputed":
            return symmetric(X.tocsr() if issparse(X) else X)
        if name == "rbf":
            return rbf_weights(X, float(self.gamma))
        kind = "poly" if name == "polynomial" else name
        kernel = kernel_from(kind, gamma=self.gamma, degree=self.degree, coef0=self.coef0)
        return symmetric(kernel(X))

    def _embed(self, n: int) -> None:
        m = self.n_clusters if self.n_components is None else self.n_components
        m = min(m, n)
        tol = 1e-10 if self.eigen_tol == "auto" else float(self.eigen_tol)
        W = without_diagonal(self.affinity_matrix_)
        found = laplacian_maps(W, min(n, max(m + 1, LOOK)), self.laplacian, tol)
        H = found.vectors[:, :m]
        if self.laplacian == "random_walk":
            H = H / np.sqrt(np.where(found.degree > 0, found.degree, 1.0))[:, None]
        elif self.laplacian == "symmetric":
            lengths = np.linalg.norm(H, axis=1)
            H = H / np.where(lengths > 0, lengths, 1.0)[:, None]
        self.embedding_, self.eigenvalues_ = np.ascontiguousarray(H), found.values
        self.n_parts_ = int(found.parts.max()) + 1
        gaps = np.diff(found.values)
        self.eigengap_ = int(np.argmax(gaps)) + 1 if len(gaps) else 1

    def _groups(self) -> IntArray:
        H, k = self.embedding_, self.n_clusters
        if self.assign_labels == "cluster_qr":
            return cluster_qr(H)
        rng = generator(self.random_state)
        if self.assign_labels == "discretize":
            return discretize(H, rng)[0]
        return KMeans(k, n_init=self.n_init, stop="labels", random_state=rng).fit(H).labels_

    def fit_predict(self, X: ArrayLike, y: MaybeArray = None) -> IntArray:
        """``fit(X).labels_``."""
        return self.fit(X).labels_

    def card(self) -> Card:
        """The graph, the cut and the eigenvalues."""
        check_is_fitted(self)
        name = getattr(self.affinity, "__name__", self.affinity)
        notes = []
        if self.n_parts_ > 1:
            notes.append(f"the graph has {self.n_parts_} parts without an edge between them")
        k = len(np.unique(self.labels_))
        return Card(
            f"{k} groups of a graph of {len(self.labels_)} rows, edges by {name!r}",
            f"the cut between the groups, relaxed: sum of the {self.embedding_.shape[1]} smallest "
            f"eigenvalues of the {self.laplacian} Laplacian",
            f"eigenvectors part by part (whole, or Lanczos), then {self.assign_labels}",
            {
                "clusters": k,
                "parts": self.n_parts_,
                "clusters at the largest eigengap": self.eigengap_,
                "sum of eigenvalues": float(self.eigenvalues_[: self.embedding_.shape[1]].sum()),
            },
            warnings=tuple(notes),
        )


def symmetric(W: Graph) -> Any:
    """W, if it is a finite symmetric matrix; the mean of W and W' otherwise, and it is said."""
    W = W.astype(np.float64)
    gap = abs(W - W.T).max() if W.shape[0] else 0.0
    if gap <= 1e-10 * max(float(abs(W).max()), 1e-300):
        return W
    warn("the similarities are not symmetric: the mean of both directions is used")
    return (0.5 * (W + W.T)).tocsr() if issparse(W) else 0.5 * (W + W.T)


def without_diagonal(W: Graph) -> Any:
    """A copy with a diagonal of 0; rows whose similarities sum to less than 0 are refused."""
    if issparse(W):
        W = W.tocsr().copy()
        W.setdiag(0.0)
        W.eliminate_zeros()
        W.sort_indices()
    else:
        W = W.copy()
        np.fill_diagonal(W, 0.0)
    degree = np.asarray(W.sum(axis=1)).ravel()
    if not (degree >= 0).all():
        row = int(np.argmin(degree))
        raise ValueError(f"the similarities of row {row} sum to {degree[row]:.4g}; sums >= 0 only")
    return W
