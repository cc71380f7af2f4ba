r"""Trees of merges: join the two nearest clusters until one is left.

The linkage says how far clusters A and B are apart, with a = |A|, b = |B| and means c:

    single    min d(x, y)      complete  max d(x, y)     average  mean d(x, y)
    centroid  |c_A - c_B|      ward      sqrt(2ab / (a + b)) |c_A - c_B|
    weighted  of A = P + Q: (d(P, B) + d(Q, B)) / 2      median   centres (c_P + c_Q) / 2

Algorithm    single: minimum spanning tree, edges by length                 O(n^2 p), O(n) memory
             ward: nearest-neighbour chain on centres                        O(n^2 p), O(n) memory
             (both skip what lies far: ``near_merges``; a few rows, or where that does not pay,
             Prim's tree)
             complete, average, weighted: chain on the distance matrix       O(n^2), n^2 memory
             centroid, median: least of every cluster's nearest              O(n^2 p), O(n) memory
             with a graph: heap of its edges                                 O(m log m)

Heights are those of ``scipy.cluster.hierarchy.linkage``; ties go to the lower row.

References: Müllner (2011); Murtagh (1983); Gower & Ross (1969).
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.sparse import coo_array, csr_array, issparse
from scipy.sparse.csgraph import connected_components

from pellucid.cluster import dissimilarity
from pellucid.cluster.dissimilarity import MetricLike
from pellucid.cluster.hierarchy.kernels.centres import centre_merges
from pellucid.cluster.hierarchy.kernels.chain import matrix_chain
from pellucid.cluster.hierarchy.kernels.dendrogram import labels_after, number_merges
from pellucid.cluster.hierarchy.kernels.graph import graph_merges
from pellucid.cluster.hierarchy.kernels.rows import matrix_spanning_tree, spanning_tree
from pellucid.cluster.hierarchy.near_merges import near_spanning_tree, ward_tree
from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike, IntArray, MaybeArray
from pellucid.core.functions.metrics import Metric
from pellucid.core.runtime.warn import warn

LINKAGES = ("single", "complete", "average", "weighted", "centroid", "median", "ward")
FROM_CENTRES = ("centroid", "median", "ward")
ON_GRAPHS = ("ward", "complete", "average", "single")
CHAINS = {"complete": 0, "average": 1, "weighted": 2}
GRAPHS = {"complete": 0, "average": 1, "ward": 2}
MANY = 4096  # rows from which single linkage looks at near ones only


class MergeTree(NamedTuple):
    """Merge k joins nodes children[k] to node n + k at heights[k]; nodes below n are rows."""

    children: IntArray  # (n - 1, 2)
    heights: Array  # (n - 1,)
    sizes: IntArray  # (n - 1,)

    @property
    def matrix(self) -> Array:
        """SciPy's layout, for ``scipy.cluster.hierarchy``."""
        return np.column_stack([self.children, self.heights, self.sizes]).astype(np.float64)


def refuse_overflow(heights: Array) -> None:
    if not np.isfinite(heights).all():
        raise ValueError("the distances of X overflow: scale its columns down")


def finished(ends: IntArray, heights: Array, order: IntArray) -> MergeTree:
    """Number the merges of rows in this order."""
    refuse_overflow(heights)
    children, sizes = np.empty(ends.shape, np.int64), np.empty(len(ends), np.int64)
    number_merges(ends, order, children, sizes)
    return MergeTree(children, heights[order], sizes)


def blank(n: int) -> tuple[IntArray, Array]:
    return np.empty((n - 1, 2), np.int64), np.full(n - 1, np.nan)


def tree_of_distances(D: Array, linkage: str, *, own: bool = False) -> MergeTree:
    """The tree of a distance matrix; ``own``: the matrix may be used up.

    >>> x = np.array([0.0, 1, 5, 6.5, 20])
    >>> tree_of_distances(abs(x[:, None] - x), "average").heights
    array([ 1.   ,  1.5  ,  5.25 , 16.875])
    """
    D = np.require(D, np.float64, ["C", "W"])
    ends, heights = blank(len(D))
    if linkage == "single":
        matrix_spanning_tree(D, ends, heights)
    else:
        D = D if own else D.copy()
        np.fill_diagonal(D, np.inf)
        matrix_chain(D, CHAINS[linkage], ends, heights)
    return finished(ends, heights, np.argsort(heights, kind="stable"))


def tree_of_rows(X: Array, linkage: str, metric: Metric) -> MergeTree:
    """The tree of rows under a metric with a Minkowski form, or pair by pair.

    >>> from pellucid.core.functions.metrics import resolve
    >>> X = np.array([[0.0], [1], [5], [6.5], [20]])
    >>> tree_of_rows(X, "ward", resolve("euclidean", X)).heights.round(6)
    array([ 1.      ,  1.5     ,  7.424621, 21.345374])
    """
    ends, heights = blank(len(X))
    if linkage in CHAINS or metric.order is None:
        return tree_of_distances(dissimilarity.matrix_of(X, metric, linkage), linkage, own=True)
    E = dissimilarity.mapped_rows(metric, X)
    if linkage == "ward":
        ward_tree(E, ends, heights)
        heights = np.sqrt(heights)
    elif linkage == "single":
        if len(E) >= MANY and metric.order == 2.0 and near_spanning_tree(E, ends, heights):
            heights = metric.finish(heights)
            return finished(ends, heights, np.lexsort((*ends.T[::-1], heights)))
        spanning_tree(np.array(E.T, order="C"), *dissimilarity.kernel_order(metric), ends, heights)
        heights = metric.finish(heights)
    else:  # the kernel uses its copy up
        centre_merges(np.array(E.T, order="C"), linkage == "median", ends, heights)
        return in_order(ends, np.sqrt(heights))
    return finished(ends, heights, np.argsort(heights, kind="stable"))


def in_order(ends: IntArray, heights: Array) -> MergeTree:
    """Merges of nodes as they happened, heights falling or not."""
    refuse_overflow(heights)
    n = len(ends) + 1
    sizes = np.ones(2 * n - 1, np.int64)
    for k, (a, b) in enumerate(ends.tolist(), n):
        sizes[k] = sizes[a] + sizes[b]
    return MergeTree(ends, heights, sizes[n:])


class Graph(NamedTuple):
    """Edges a > b between rows."""

    a: IntArray
    b: IntArray
    n_components: int  # before they were joined


def graph_of(
    connectivity: MaybeArray, n: int, between: Callable[[IntArray, IntArray], Array]
) -> Graph:
    """The edges of a connectivity matrix; separate parts are joined by their nearest pairs.

    ``between(rows, others)`` gives distances.
    """
    G = coo_array(connectivity if issparse(connectivity) else csr_array(np.asarray(connectivity)))
    if G.shape != (n, n):
        raise ValueError(f"Wrong shape for connectivity matrix: {G.shape}, X has {n} rows")
    ends = np.column_stack([np.maximum(G.row, G.col), np.minimum(G.row, G.col)])
    edges = np.unique(ends[G.data != 0], axis=0).astype(np.int64)
    edges = edges[edges[:, 0] > edges[:, 1]]
    links = csr_array((np.ones(len(edges)), (edges[:, 0], edges[:, 1])), shape=(n, n))
    parts, label = connected_components(links, directed=False)
    if parts > 1:
        what = "the number of connected components of the connectivity matrix"
        stop = "Completing it to avoid stopping the tree early"
        warn(f"{what} is {parts} > 1. {stop}: they are joined by their nearest rows")
        groups = [np.flatnonzero(label == c) for c in range(parts)]
        bridges = []
        for c in range(parts):
            for d in range(c):
                D = between(groups[c], groups[d])
                i, j = np.unravel_index(np.argmin(D), D.shape)
                pair = int(groups[c][i]), int(groups[d][j])
                bridges.append((max(pair), min(pair)))
        edges = np.unique(np.concatenate([edges, np.array(bridges, np.int64)]), axis=0)
    return Graph(np.ascontiguousarray(edges[:, 0]), np.ascontiguousarray(edges[:, 1]), int(parts))


def tree_on_graph(graph: Graph, lengths: Array, X: Array, linkage: str) -> MergeTree:
    """The tree of merges along edges of these lengths (Ward's: squared heights from X)."""
    n = len(X)
    ends, heights = blank(n)
    if linkage == "single":
        order = np.argsort(lengths, kind="stable")
        kept = spanning_edges(graph.a[order], graph.b[order], n)
        ends = np.column_stack([graph.a, graph.b])[order[kept]]
        return finished(ends, lengths[order[kept]], np.arange(n - 1))
    ward = linkage == "ward"
    S = np.zeros((2 * n - 1, X.shape[1] if ward else 0))
    if ward:
        S[:n] = X
    graph_merges(graph.a, graph.b, lengths, S, GRAPHS[linkage], ends, heights)
    return in_order(ends, np.sqrt(heights) if ward else heights)


def spanning_edges(a: IntArray, b: IntArray, n: int) -> IntArray:
    """The edges, taken in order, that join what was apart (Kruskal)."""
    parent = list(range(n))

    def root(i: int) -> int:
        while parent[i] != i:
            parent[i] = parent[parent[i]]
            i = parent[i]
        return i

    kept = []
    for e, (i, j) in enumerate(zip(a.tolist(), b.tolist(), strict=True)):
        i, j = root(i), root(j)
        if i != j:
            parent[i] = j
            kept.append(e)
    return np.array(kept, np.int64)


def cut_tree(tree: MergeTree, n_clusters: int) -> IntArray:
    """Labels after all but the last n_clusters - 1 merges, numbered by first row.

    >>> x = np.array([0.0, 1, 5, 6.5, 20])
    >>> cut_tree(tree_of_distances(abs(x[:, None] - x), "single"), 3)
    array([0, 0, 1, 1, 2])
    """
    n = len(tree.children) + 1
    labels = np.empty(n, np.int64)
    labels_after(tree.children, n, n - n_clusters, labels)
    return labels


def linkage_distance(
    A: ArrayLike, B: ArrayLike, linkage: str = "single", metric: MetricLike = "euclidean"
) -> float:
    """How far two groups of rows are apart.

    Parameters
    ----------
    A, B : arrays of shape (n, p) and (m, p)
        The rows of the two groups.
    linkage : {"single", "complete", "average", "centroid", "ward"}, default="single"
        weighted and median depend on how the groups came about, so two groups have none.
    metric : str or callable, default="euclidean"
        centroid and ward take "euclidean" only.

    Examples
    --------
    >>> from pellucid.cluster import linkage_distance
    >>> A, B = [[0, 0], [1, 0]], [[4, 0], [6, 0]]
    >>> [linkage_distance(A, B, linkage) for linkage in ("single", "complete", "average")]
    [3.0, 6.0, 4.5]
    """
    check.one_of(("single", "complete", "average", "centroid", "ward"), linkage=linkage)
    rows, others = (np.atleast_2d(np.asarray(G, dtype=np.float64)) for G in (A, B))
    for name, group in (("A", rows), ("B", others)):
        if group.ndim != 2 or not group.size or not np.isfinite(group).all():
            raise ValueError(f"{name} must be a table of finite numbers with at least one row")
    if rows.shape[1] != others.shape[1]:
        raise ValueError(f"A and B need as many columns, got {rows.shape[1]} and {others.shape[1]}")
    n, m = len(rows), len(others)
    if linkage in FROM_CENTRES:
        euclidean_only(metric, linkage)
        gap = float(np.linalg.norm(rows.mean(axis=0) - others.mean(axis=0)))
        return gap if linkage == "centroid" else float(np.sqrt(2 * n * m / (n + m))) * gap
    D = dissimilarity.distances_of(np.concatenate([rows, others]), metric)[:n, n:]
    if linkage == "average":
        return float(D.mean())
    return float(D.min() if linkage == "single" else D.max())


def euclidean_only(metric: MetricLike, linkage: str) -> None:
    """Refuse another metric where centres are averaged."""
    if not (isinstance(metric, str) and metric in ("euclidean", "l2")):
        raise ValueError(f"linkage={linkage!r} works with metric='euclidean' only, got {metric!r}")
