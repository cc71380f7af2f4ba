r"""Isomap: a map that keeps the distances along the rows' own surface.

Graph        each row is joined to its n_neighbors nearest (or all within a radius), an edge is as
             long as the distance of its ends; parts without a path are joined by the shortest edge
             between each two of them
Geodesics    delta_ij = the shortest path from i to j                     (``geodesics.py``)
Map          classical scaling: K = -J delta^2 J/2, J = I - 1/n, and Y = V diag(l)^(1/2) of its
             leading eigenpairs                                           (``kernel_pca.py``)
New rows     delta(x, i) = min over the neighbours j of x of d(x, j) + delta_ij, then as a row of K
Cost         n log n to find neighbours of few columns, n^2 k for the paths, some 30 products with K

References: Tenenbaum, de Silva & Langford (2000); Bengio et al. (2004) for new rows.
"""

from collections.abc import Callable
from typing import Any, NamedTuple, Self

import numpy as np
from scipy.sparse import coo_array, issparse
from scipy.sparse.csgraph import connected_components
from sklearn.base import ClassNamePrefixFeaturesOutMixin
from sklearn.utils.validation import check_is_fitted

from pellucid.base import Transformer, with_callbacks
from pellucid.compiled.distances.search import Index, known_distances, without_own
from pellucid.core.arrays import check
from pellucid.core.arrays.reading import check_array
from pellucid.core.arrays.typing import Array, ArrayLike, IntArray, MaybeArray
from pellucid.core.functions.metrics import resolve
from pellucid.core.loops.iterate import FitContext
from pellucid.core.records import Card
from pellucid.core.runtime.threads import single_threaded_blas
from pellucid.core.runtime.warn import warn
from pellucid.decomposition.kernel_pca import NOTHING, SMALL, KernelPCA, centre_of, eigenmap
from pellucid.decomposition.maps.geodesics import geodesic_distances, undirected

TREE_COLUMNS = 15  # up to which a kd-tree is tried
STEP = 1 << 20  # distances of new rows that are held at once

Edges = tuple[IntArray, IntArray, Array]  # row i, row j, their distance


def edges_of(index: Index, Q: Any, k: int | None, radius: float | None, own: bool) -> Edges:
    """The neighbours of the rows of Q; ``own``: they are the rows of the index, no one's own."""
    m = Q.shape[0]
    if k is not None:
        distance, j = index.nearest(Q, k + own)
        distance, j = without_own(distance, j) if own else (distance, j)
        return np.repeat(np.arange(m), k), j.ravel(), distance.ravel()
    first, distance, j = index.within(Q, np.full(m, float(radius or 0.0)))
    i = np.repeat(np.arange(m), np.diff(first))
    keep = (i != j) if own else np.full(len(i), True)
    return i[keep], j[keep], distance[keep]


def joined(edges: Edges, index: Index, rows: Any, parts: int, label: IntArray) -> Edges:
    """The edges and, for each two parts of the graph, the shortest edge between them."""
    found = []
    members = [np.flatnonzero(label == part) for part in range(parts)]
    for a in range(1, parts):
        D = index.distances(rows[members[a]])
        for b in range(a):
            between = D[:, members[b]]
            i, j = np.unravel_index(between.argmin(), between.shape)
            found.append((members[a][i], members[b][j], between[i, j]))
    first, second, length = (np.array(column) for column in zip(*found, strict=True))
    return np.append(edges[0], first), np.append(edges[1], second), np.append(edges[2], length)


def through_neighbours(edges: Edges, m: int, D: Array) -> Array:
    """Geodesic distances (m, n) of new rows: to a neighbour, then along the graph."""
    out = np.full((m, len(D)), np.inf)
    i, j, d = edges
    first = np.searchsorted(i, np.arange(m + 1))
    for row in range(m):
        for e in range(first[row], first[row + 1]):
            np.minimum(out[row], D[j[e]] + d[e], out=out[row])
    return out


class Neighbours(NamedTuple):
    """What is read of ``nbrs_``, by the names of scikit-learn's NearestNeighbors.

    >>> X = np.array([[0.0], [1.0], [5.0]])
    >>> Neighbours(Index(X, resolve("euclidean", X), "brute"), 1, None, 3).kneighbors([[4.0]])
    (array([[1.]]), array([[2]]))
    """

    search: Index
    n_neighbors: int | None
    radius: float | None
    n_samples_fit_: int

    def kneighbors(self, X: ArrayLike, n_neighbors: int | None = None) -> tuple[Array, IntArray]:
        """Distances and indices of the nearest rows of the fit."""
        k = self.n_neighbors if n_neighbors is None else n_neighbors
        if k is None:
            raise ValueError("n_neighbors must be given: the fit has a radius instead")
        check.whole(n_neighbors=k)
        if k > self.n_samples_fit_:
            sizes = f"n_neighbors = {k}, n_samples_fit = {self.n_samples_fit_}"
            raise ValueError(f"Expected n_neighbors <= n_samples_fit, but {sizes}")
        return self.search.nearest(check_array(X, dtype=np.float64), int(k))


class Isomap(ClassNamePrefixFeaturesOutMixin, Transformer):
    """A map that keeps the distances along a curved surface on which the rows lie.

    Parameters
    ----------
    n_neighbors : int or None, default=5
        Nearest rows that each row is joined to. None: ``radius`` says.
    radius : float or None, default=None
        Join all rows within this distance; needs ``n_neighbors=None``.
    n_components : int, default=2
        Dimensions of the map.
    eigen_solver : {"auto", "arpack", "dense"}, default="auto"
        "dense": all eigenvalues. "auto": all of up to 600 rows; of more, the leading ones by a
        block Krylov space or Lanczos, as "arpack" does for any number of rows.
    tol, max_iter : default=0, None
        Of Lanczos.
    path_method : {"auto", "FW", "D"}, default="auto"
        No effect: Dijkstra's paths are the answer of all of them.
    neighbors_algorithm : {"auto", "brute", "kd_tree", "ball_tree"}, default="auto"
        How neighbours are found; no answer depends on it. "ball_tree" is the kd-tree where there
        is one.
    n_jobs : ignored
        Blocks of rows have the threads.
    metric : str or callable, default="minkowski"
        Distance of two rows, as ``NearestNeighbors`` takes it; "precomputed": X holds distances,
        or is a sparse graph of neighbours.
    p : float, default=2
        The order of "minkowski", at least 1.
    metric_params : dict or None, default=None
        Further keywords of the metric.

    Attributes
    ----------
    embedding_ : ndarray of shape (n, n_components), the map
    dist_matrix_ : ndarray of shape (n, n), geodesic distances
    eigenvalues_ : ndarray of shape (n_components,)
        Of the centred matrix of geodesic distances, falling; negative ones count as 0.
    kernel_pca_, nbrs_ : KernelPCA, and a search with ``n_neighbors`` and ``kneighbors``
        Made when they are asked for, for code that reads them.

    Examples
    --------
    >>> import numpy as np
    >>> from pellucid import Isomap
    >>> turn = np.linspace(0, 6, 40)
    >>> spiral = np.c_[turn * np.cos(turn), turn * np.sin(turn)]
    >>> line = Isomap(n_neighbors=2, n_components=1).fit_transform(spiral)[:, 0]
    >>> bool((np.diff(line) > 0).all() or (np.diff(line) < 0).all())
    True
    """

    _accepts_sparse = True
    _squares_x = True

    def __init__(
        self,
        *,
        n_neighbors: int | None = 5,
        radius: float | None = None,
        n_components: int = 2,
        eigen_solver: str = "auto",
        tol: float = 0,
        max_iter: int | None = None,
        path_method: str = "auto",
        neighbors_algorithm: str = "auto",
        n_jobs: int | None = None,
        metric: str | Callable[..., Any] = "minkowski",
        p: float = 2,
        metric_params: dict[str, Any] | None = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.radius = radius
        self.n_components = n_components
        self.eigen_solver = eigen_solver
        self.tol = tol
        self.max_iter = max_iter
        self.path_method = path_method
        self.neighbors_algorithm = neighbors_algorithm
        self.n_jobs = n_jobs
        self.metric = metric
        self.p = p
        self.metric_params = metric_params

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self._precomputed
        return tags

    @property
    def _precomputed(self) -> bool:
        return isinstance(self.metric, str) and self.metric == "precomputed"

    def _check_parameters(self) -> None:
        check.whole(n_components=self.n_components, **check.given(max_iter=self.max_iter))
        check.whole(**check.given(n_neighbors=self.n_neighbors))
        check.non_negative(tol=self.tol)
        if self.radius is not None and self.radius != np.inf:
            check.non_negative(radius=self.radius)
        check.one_of(("auto", "arpack", "dense"), eigen_solver=self.eigen_solver)
        check.one_of(("auto", "FW", "D"), path_method=self.path_method)
        ways = ("auto", "brute", "kd_tree", "ball_tree")
        check.one_of(ways, neighbors_algorithm=self.neighbors_algorithm)
        check.positive(p=self.p)
        if self.p < 1:
            raise ValueError(f"p must be >= 1, got {self.p!r}")
        if self.metric_params is not None and not isinstance(self.metric_params, dict):
            raise ValueError(f"metric_params must be a dict or None, got {self.metric_params!r}")
        if self.n_neighbors is not None and self.radius is not None:
            use = f"Isomap(radius={self.radius}, n_neighbors=None)"
            what = f"Use {use} if intended to use radius-based neighbors"
            raise ValueError(f"Both n_neighbors and radius are provided. {what}")
        if self.n_neighbors is None and self.radius is None:
            raise ValueError("n_neighbors or radius must be given, got None for both")

    def fit(self, X: Any, y: MaybeArray = None) -> Self:
        """Draw the map of X: rows, distances, or a fitted tree or NearestNeighbors."""
        self.fit_transform(X)
        return self

    @with_callbacks
    def fit_transform(self, X: Any, y: MaybeArray = None) -> Array:
        """Draw the map and return it."""
        self._check_parameters()
        if hasattr(X, "query_radius") and hasattr(X, "data"):  # a tree of scikit-learn
            X = np.asarray(X.data)
        X = getattr(X, "_fit_X", X)  # a fitted search
        rows = self._check_training(X).X
        sparse, n = issparse(rows), rows.shape[0]
        if self._precomputed and rows.shape[1] != n:
            raise ValueError(f"Precomputed matrix must be square, got shape {rows.shape}")
        rows = self._known(rows) if self._precomputed else rows.copy()
        self._check_neighbours(n)
        context = FitContext(self, X=X)
        self._rows = np.empty((0, 0)) if self._precomputed else rows
        self.dist_matrix_ = self._geodesics(rows, n, sparse)
        K = -0.5 * self.dist_matrix_**2
        dense = self.eigen_solver == "dense" or (self.eigen_solver == "auto" and n <= SMALL)
        d = min(int(self.n_components), n)
        with single_threaded_blas():
            found = eigenmap(K, d, dense, float(self.tol), self.max_iter)
        self.eigenvalues_, self._negative = found.values, found.negative
        self.embedding_ = np.ascontiguousarray(found.vectors * np.sqrt(found.values))
        context.end()
        return self.embedding_

    def _check_neighbours(self, n: int) -> None:
        check.whole(**check.given(n_neighbors=self.n_neighbors))
        if self.n_neighbors is not None and self.n_neighbors >= n:
            most = f"n_neighbors must be below n_samples = {n}"
            raise ValueError(f"{most}: a row is no neighbour of its own, got {self.n_neighbors}")

    def _known(self, rows: Any) -> Array:
        """Given distances; a row without enough of them is refused."""
        D = known_distances(rows)
        if issparse(rows) and self.n_neighbors is not None:
            least = int(np.isfinite(D).sum(axis=1).min())
            if least < self.n_neighbors:
                what = f"{self.n_neighbors} neighbors are required for some samples"
                raise ValueError(f"{what}, but some samples have only {least} of them in X")
        return D

    def _index(self, rows: Any) -> Index:
        metric = resolve(self.metric, rows, self.p, self.metric_params)
        trees = metric.order is not None and not issparse(rows)
        if self.neighbors_algorithm == "kd_tree" and metric.order is None:
            what = f"a metric of Minkowski's form, got {self.metric!r}"
            raise ValueError(f"neighbors_algorithm='kd_tree' needs {what}")
        auto = self.neighbors_algorithm == "auto"
        wanted = rows.shape[1] <= TREE_COLUMNS if auto else self.neighbors_algorithm != "brute"
        return Index(rows, metric, "kd_tree" if trees and wanted else "brute", adaptive=auto)

    def _geodesics(self, rows: Any, n: int, sparse: bool) -> Array:
        """Neighbours, one graph of them, and all shortest paths."""
        index = self._index(rows)
        edges = edges_of(index, rows, self.n_neighbors, self.radius, own=True)
        near = np.isfinite(edges[2])  # a sparse graph may store fewer than it is asked for
        i, j, d = edges[0][near], edges[1][near], edges[2][near]
        links = coo_array((np.ones(len(i)), (i, j)), shape=(n, n))
        parts, label = connected_components(links, directed=False)
        self._parts = int(parts)
        if parts > 1:
            what = f"The number of connected components of the neighbors graph is {parts} > 1"
            if self._precomputed and sparse:
                raise RuntimeError(
                    f"{what}. A sparse graph holds no distances to join them by: increase the "
                    "number of neighbors, or pass the full matrix of distances"
                )
            warn(
                f"{what}. Each two of them are joined by their shortest edge, which may be far "
                "from the surface. Increase the number of neighbors to avoid this"
            )
            i, j, d = joined((i, j, d), index, rows, parts, label)
        graph = undirected(i, j, d, n)
        self._edges = len(graph.to) // 2
        return geodesic_distances(graph)

    @property
    def _n_features_out(self) -> int:
        return self.embedding_.shape[1]

    def transform(self, X: ArrayLike) -> Any:
        """Places of new rows on the map: their paths go through their neighbours in the fit.

        With ``metric="precomputed"`` X holds their distances from the rows of the fit, or a sparse
        graph of neighbours.
        """
        Q = self._check_input(X)
        if self._precomputed:
            Q = self._known(Q)
        D, values = self.dist_matrix_, self.eigenvalues_
        self._check_neighbours(len(D))  # the parameter may have been set since the fit
        index = self._index(Q if self._precomputed else self._rows)
        projection = np.zeros_like(self.embedding_)
        np.divide(self.embedding_, values, out=projection, where=values > 0)
        centre = centre_of(-0.5 * D**2)
        out = np.empty((Q.shape[0], projection.shape[1]))
        step = max(1, STEP // len(D))
        for a in range(0, len(out), step):
            part = Q[a : a + step]
            edges = edges_of(index, part, self.n_neighbors, self.radius, own=False)
            if len(lonely := np.setdiff1d(np.arange(part.shape[0]), edges[0])):
                what = f"row {a + int(lonely[0])} has no neighbour in the fit"
                raise ValueError(f"{what} within radius={self.radius}; use a larger one")
            geodesic = through_neighbours(edges, part.shape[0], D)
            with single_threaded_blas():
                out[a : a + step] = centre.of(-0.5 * geodesic**2) @ projection
        return out

    def reconstruction_error(self) -> float:
        """|K - K_map|/n: the centred matrices of the geodesic and of the map's squared distances.

        Both are -J d^2 J/2; 0 says that the map keeps every geodesic distance.
        """
        check_is_fitted(self)
        K = -0.5 * self.dist_matrix_**2
        with single_threaded_blas():
            left = centre_of(K).of(K) - self.embedding_ @ self.embedding_.T
        return float(np.linalg.norm(left)) / len(K)

    @property
    def kernel_pca_(self) -> KernelPCA:
        """The eigenpairs as a fitted ``KernelPCA`` of -dist_matrix_^2/2."""
        if "embedding_" not in self.__dict__:
            raise AttributeError("kernel_pca_ is there after fit")
        K = -0.5 * self.dist_matrix_**2
        model = KernelPCA(self.n_components, kernel="precomputed", eigen_solver=self.eigen_solver)
        model.X_fit_, model.n_features_in_, model.gamma_ = K, len(K), 1.0 / len(K)
        model._centre, model._negative = centre_of(K), self._negative
        model.eigenvalues_ = self.eigenvalues_
        root = np.sqrt(self.eigenvalues_)
        inverse = np.divide(1.0, root, out=np.zeros_like(root), where=root > 0)
        model.eigenvectors_ = self.embedding_ * inverse
        model._projection = model.eigenvectors_ * inverse
        return model

    @property
    def nbrs_(self) -> "Neighbours":
        """The search over the rows of the fit, for code that asks it for neighbours."""
        if "embedding_" not in self.__dict__:
            raise AttributeError("nbrs_ is there after fit")
        if self._precomputed:
            raise AttributeError("nbrs_ needs rows: with metric='precomputed' none are kept")
        n = self._rows.shape[0]
        return Neighbours(self._index(self._rows), self.n_neighbors, self.radius, n)

    def _check_state(self) -> None:
        if "embedding_" in self.__dict__:
            n = len(self.embedding_)
            known = self._precomputed or self._rows.shape == (n, self.n_features_in_)
            fits = len(self.eigenvalues_) == self.embedding_.shape[1]
            if not (known and fits) or self.dist_matrix_.shape != (n, n):
                raise ValueError("embedding_, dist_matrix_, eigenvalues_ and the rows do not fit")
            self._check_neighbours(n)

    def card(self) -> Card:
        """The graph, the spectrum, and how well the map keeps the geodesic distances."""
        n, d = self.embedding_.shape
        K = -0.5 * self.dist_matrix_**2
        size = float(np.linalg.norm(centre_of(K).of(K))) / n
        error = self.reconstruction_error()
        near = f"{self.n_neighbors} nearest rows" if self.n_neighbors else "rows in the radius"
        notes = ["turning or mirroring the map changes nothing"]
        if self._parts > 1:
            notes.append(f"the graph had {self._parts} parts, joined by their shortest edges")
        if self._negative > NOTHING * n:
            what = f"an eigenvalue is {-self._negative:.3g} times the largest"
            notes.append(f"no flat space has these geodesic distances: {what}")
        return Card(
            f"{n} points in {d} dimensions; distances along a graph that joins the {near}",
            f"|K - K_map|/n = {error:.6g} of |K|/n = {size:.6g}, K = -J delta^2 J/2",
            "Dijkstra's shortest paths and leading eigenvectors: exact",
            {
                "rows": n,
                "dimensions": d,
                "edges": self._edges,
                "parts of the graph": self._parts,
                "reconstruction error": error,
                "first eigenvalue / n": float(self.eigenvalues_[0] / n),
                "last eigenvalue / n": float(self.eigenvalues_[-1] / n),
            },
            warnings=tuple(notes),
        )
