r"""The order in which OPTICS visits the rows, by whatever gives the distances.

Rows under a Minkowski metric: core distances by the kd-tree; with a finite ``max_eps`` lists of
neighbours by the tree and a heap, else a compiled sweep over the rows that are left (O(n^2 p) time,
O(n p) memory). Other metrics and given matrices: one row of distances at a time. A sparse matrix
holds the lists itself.
"""

from collections.abc import Callable
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import issparse

from pellucid.cluster.density import regions
from pellucid.cluster.density.optics_kernels import SPLIT, order_by_lists, order_by_sweep
from pellucid.cluster.density.reachability_tree import core_distances
from pellucid.cluster.dissimilarity import MetricLike, is_given, kernel_order, mapped_rows
from pellucid.compiled.distances.kd_building import build_tree
from pellucid.compiled.distances.kd_tree import tree_within
from pellucid.core.arrays import check
from pellucid.core.arrays.reading import check_array
from pellucid.core.arrays.typing import Array, ArrayLike, IntArray
from pellucid.core.functions.metrics import Metric, resolve
from pellucid.core.readable import readable
from pellucid.core.runtime.warn import warn

PAIRS = 1 << 24  # neighbours that are kept as lists at most: 256 MB
ALGORITHMS = ("auto", "ball_tree", "kd_tree", "brute")
SHARE = 16  # and at most one pair in so many: beyond it the sweep is quicker


@readable
class OpticsGraph(NamedTuple):
    """The visits of OPTICS: their order, and how near each row was when it was reached.

    Examples
    --------
    >>> from pellucid.cluster import OpticsGraph, compute_optics_graph
    >>> graph = compute_optics_graph([[0.0], [1.0], [9.0]], min_samples=2)
    >>> isinstance(graph, OpticsGraph), graph.reachability
    (True, array([inf,  1.,  8.]))
    """

    ordering: IntArray  # (n,) rows in the order of the visits
    core_distances: Array  # (n,) inf where fewer than min_samples rows are within max_eps
    reachability: Array  # (n,) inf where no visit reached the row
    predecessor: IntArray  # (n,) the row that it was reached from, or -1


def rounded(values: Array) -> Array:
    """As ``optics_kernels.rounded``, for arrays."""
    with np.errstate(invalid="ignore", over="ignore"):
        long = values * SPLIT
        short = long - (long - values)
    return np.where(np.isfinite(short), short, values)


def check_size(n: int | None = None, **sizes: Any) -> None:
    """Sizes are whole numbers of at least 2, or shares of the n rows; at most n."""
    for name, value in sizes.items():
        number = isinstance(value, Real) and not isinstance(value, bool)
        least, most = (2, np.inf) if isinstance(value, Integral) else (0, 1)
        if not number or not least <= float(value) <= most:
            accepted = "a whole number of at least 2 or a share from 0 to 1"
            raise ValueError(f"{name} must be {accepted}, got {value!r}")
        if n is not None and value > n:
            limit = f"no greater than the number of samples (n_samples = {n})"
            raise ValueError(f"{name} must be {limit}, got {value}")


def rows_of_size(size: float, n: int) -> int:
    """A size as a number of rows, at least 2.

    >>> rows_of_size(0.1, 50), rows_of_size(0.1, 5), rows_of_size(7, 50)
    (5, 2, 7)
    """
    return max(2, int(size * n)) if size <= 1 else int(size)


def settled_cores(core: Array, max_eps: float) -> Array:
    """Core distances beyond max_eps are infinite."""
    return np.where(core > max_eps, np.inf, rounded(core))


def blank(n: int) -> tuple[IntArray, Array, IntArray]:
    return np.zeros(n, np.int64), np.full(n, np.inf), np.full(n, -1, np.int64)


def graph_of_rows(X: Array, metric: Metric, k: int, max_eps: float) -> OpticsGraph:
    """Visits of rows under a Minkowski metric.

    >>> X = np.array([[0.0], [10.0], [-10.0], [25.0]])
    >>> graph_of_rows(X, resolve("euclidean", X), 3, 15.0).reachability
    array([inf, 10., 10., 15.])
    """
    E, (kind, order) = mapped_rows(metric, X), kernel_order(metric)
    core = settled_cores(metric.finish(core_distances(E, kind, order, k)), max_eps)
    limit = regions.reduced_eps(metric, max_eps)
    lists = near_lists(E, core, kind, order, limit) if limit < np.inf else None
    if lists is not None:
        first, neighbour, gap = lists
        return graph_of_lists(regions.Lists(first, neighbour), rounded(metric.finish(gap)), core)
    ordering, reach, source = blank(len(E))
    XT = np.array(E.T, order="C")
    form = (kind, order, float(metric.power), float(metric.factor), limit)
    order_by_sweep(XT, *form, core, ordering, reach, source)
    return OpticsGraph(ordering, core, reach, source)


def near_lists(
    E: Array, core: Array, kind: int, order: float, limit: float
) -> tuple[IntArray, IntArray, Array] | None:
    """Neighbours of the core rows within the limit, or None where they are too many."""
    n, tree = len(E), build_tree(E)
    limits = np.where(np.isfinite(core), limit, -1.0)  # other rows reach nobody
    first = np.zeros(n + 1, np.int64)
    starts = list(range(0, n, regions.SMALL))

    def search(start: int, gap: Array, index: IntArray, fill: bool) -> None:
        stop = min(start + regions.SMALL, n)
        tree_within(*tree, E, limits, kind, order, start, stop, first, gap, index, fill)

    none = np.empty(0), np.empty(0, np.int64)
    regions.run(lambda start: search(start, *none, False), starts)
    first = np.cumsum(first)
    if first[-1] > min(PAIRS, max(n * n // SHARE, n)):
        return None
    gap, index = np.empty(first[-1]), np.empty(first[-1], np.int64)
    regions.run(lambda start: search(start, gap, index, True), starts)
    return first, index, gap


def graph_of_lists(lists: regions.Lists, gap: Array, core: Array) -> OpticsGraph:
    """Visits along given neighbours."""
    ordering, reach, source = blank(len(core))
    order_by_lists(*lists, gap, core, ordering, reach, source)
    return OpticsGraph(ordering, core, reach, source)


def graph_by_blocks(
    n: int, block: Callable[[int, int], Array], k: int, max_eps: float
) -> OpticsGraph:
    """Visits where ``block(a, b)`` gives the distances of rows a to b to all rows."""
    step, core = max(1, regions.BLOCK_VALUES // n), np.empty(n)
    for a in range(0, n, step):
        b = min(a + step, n)
        core[a:b] = np.partition(block(a, b), k - 1, axis=1)[:, k - 1]
    core = settled_cores(core, max_eps)
    ordering, reach, source = blank(n)
    left = np.full(n, np.inf)  # reachabilities of the rows that are not visited
    alive = np.ones(n, dtype=bool)
    for i in range(n):
        row = int(np.argmin(left))
        row = row if left[row] < np.inf else int(np.argmax(alive))
        ordering[i], reach[row], alive[row], left[row] = row, left[row], False, np.inf
        if core[row] < np.inf:
            d = block(row, row + 1)[0]
            far = np.maximum(rounded(d), core[row])
            closer = alive & (d <= max_eps) & (far < left)
            left[closer], source[closer] = far[closer], row
    return OpticsGraph(ordering, core, reach, source)


def graph_of_sparse(D: Any, k: int, max_eps: float) -> OpticsGraph:
    """Visits along the entries of a sparse matrix; a row is its own neighbour."""
    n = D.shape[0]
    G = D.tocoo()
    other, own = G.row != G.col, np.arange(n)
    i, j = np.append(G.row[other], own), np.append(G.col[other], own)
    gap = np.append(G.data[other], D.diagonal())
    order = np.lexsort((gap, i))
    i, j, gap = i[order], j[order].astype(np.int64), gap[order]
    first = np.append(0, np.cumsum(np.bincount(i, minlength=n)))
    if (few := np.diff(first)).min() < k:
        what = f"{k} neighbors are required for each samples, but some samples have only"
        raise ValueError(f"{what} {few.min()} neighbors in the precomputed sparse matrix")
    core = settled_cores(gap[first[:-1] + k - 1], max_eps)
    near = gap <= max_eps
    kept = np.append(0, np.cumsum(near))[first].astype(np.int64)
    return graph_of_lists(regions.Lists(kept, j[near]), rounded(gap[near]), core)


def optics_graph(
    X: Any, k: int, max_eps: float, metric: MetricLike, p: float | None, keywords: Any
) -> OpticsGraph:
    """The visits for any ``metric=``; X is a checked table, dense or a sparse matrix."""
    if is_given(metric):
        D = regions.checked_given(X)
        if issparse(D):
            return graph_of_sparse(D, k, max_eps)
        return graph_by_blocks(len(D), lambda a, b: D[a:b], k, max_eps)
    X = regions.table_of(X)
    found = resolve(metric, X, p, keywords)
    if found.order is None or found.power <= 0:
        pairwise = found.pairwise
        assert pairwise is not None
        return graph_by_blocks(len(X), lambda a, b: pairwise(X[a:b], X), k, max_eps)
    return graph_of_rows(X, found, k, max_eps)


def warn_unreached(graph: OpticsGraph) -> None:
    """Say that no row reached another."""
    if np.isinf(graph.reachability).all():
        say = "All reachability values are inf. Set a larger max_eps"
        warn(f"{say} or all data will be considered outliers.", UserWarning)


def compute_optics_graph(
    X: ArrayLike,
    *,
    min_samples: float = 5,
    max_eps: float = np.inf,
    metric: MetricLike = "minkowski",
    p: float | None = 2,
    metric_params: dict[str, Any] | None = None,
    algorithm: str = "auto",
    leaf_size: int = 30,
    n_jobs: int | None = None,
) -> OpticsGraph:
    """The visits of OPTICS without a choice of clusters.

    Parameters
    ----------
    X : array or sparse matrix of shape (n, p)
        The rows, or their distances with ``metric="precomputed"``.
    min_samples : int or float, default=5
        Rows of a neighbourhood, the row itself included, or their share of all rows.
    max_eps : float, default=inf
        Rows farther apart are not neighbours.
    metric : str or callable, default="minkowski"
        As in ``OPTICS``.
    p : float, default=2
        Order of ``metric="minkowski"``.
    metric_params : dict, default=None
        Keywords of the metric.
    algorithm : {"auto", "ball_tree", "kd_tree", "brute"}, default="auto"
        Without effect on the answer.
    leaf_size, n_jobs : ignored
        For compatibility with scikit-learn.

    Returns
    -------
    ordering, core_distances, reachability, predecessor : ndarray of shape (n,)
        As the attributes of ``OPTICS``, all but the first in the order of the rows.

    Examples
    --------
    >>> from pellucid.cluster import compute_optics_graph
    >>> graph = compute_optics_graph([[0.0], [10.0], [-10.0], [25.0]], min_samples=3, max_eps=15)
    >>> graph.ordering, graph.reachability
    (array([0, 1, 2, 3]), array([inf, 10., 10., 15.]))
    """
    check_size(min_samples=min_samples)
    check.non_negative(max_eps=max_eps)
    check.one_of(ALGORITHMS, algorithm=algorithm)
    check.whole(leaf_size=leaf_size)
    table = check_array(X, accept_sparse="csr", dtype=np.float64, order="C")
    n = table.shape[0]
    check_size(n, min_samples=min_samples)
    k = rows_of_size(min_samples, n)
    graph = optics_graph(table, k, float(max_eps), metric, p, metric_params)
    warn_unreached(graph)
    return graph
