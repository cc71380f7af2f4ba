"""The cores of DBSCAN: by a kd-tree (``kernels.py``), and by given lists of neighbours."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array, issparse, sparray

from pellucid.cluster.density import kernels
from pellucid.cluster.dissimilarity import kernel_order, mapped_rows
from pellucid.compiled.distances.kd_building import build_tree
from pellucid.compiled.distances.kd_tree import WIDTH
from pellucid.core.arrays.typing import Array, BoolArray, IntArray
from pellucid.core.functions.metrics import Metric
from pellucid.core.runtime.threads import map_threads, thread_count

SMALL = 1 << 12  # rows below which threads cost more than they save
BLOCK_VALUES = 1 << 21  # distances held at once: 16 MB
DENSE_VALUES = 50_000_000  # a sparse X with more values is refused


class DensityFit(NamedTuple):
    """Labels of the rows, -1 for noise, and which rows are core."""

    labels: IntArray
    core: BoolArray


def spans(bottom: int, n: int) -> list[tuple[int, int]]:
    """Ranges of leaves, one or a few per thread."""
    return ranges(bottom, 1 if n < SMALL else 4 * thread_count())


def ranges(bottom: int, parts: int) -> list[tuple[int, int]]:
    """The leaves in at most so many ranges."""
    edges = np.linspace(0, bottom, min(parts, bottom) + 1).astype(int)
    return list(zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True))


def run(function: Callable[[Any], Any], items: list[Any]) -> list[Any]:
    return [function(items[0])] if len(items) == 1 else list(map_threads(function, items))


def reduced_eps(metric: Metric, eps: float) -> float:
    """The reduced distance that eps stands for.

    >>> reduced_eps(Metric("euclidean", 2.0, None, 0.5), 3.0)
    9.0
    """
    eps = eps / metric.factor
    return eps * eps if metric.power == 0.5 else float(eps ** (1.0 / metric.power))


class Boxes(NamedTuple):
    """A kd-tree with the box of every node, as the kernels take it."""

    tiles: Array  # (leaves, p, WIDTH)
    slots: IntArray  # (leaves, WIDTH)
    n: int
    low: Array  # (nodes, p)
    high: Array


def boxes_of(rows: Array) -> Boxes:
    """The tree of the rows."""
    n, p = rows.shape
    tree = build_tree(rows)
    low, high = (np.empty((2 * len(tree.tiles), p)) for _ in range(2))
    kernels.node_boxes(tree.tiles, tree.slots, n, low, high)
    return Boxes(tree.tiles, tree.slots, n, low, high)


def dense_rows(boxes: Boxes, near: tuple[int, float, float], w: Array, enough: float) -> BoolArray:
    """Which places hold a core row; near = (kind, order, reduced eps)."""
    flat = boxes.slots.ravel()
    weight, dense = np.append(w, 0.0)[flat], np.zeros(len(flat), np.bool_)

    def look(part: tuple[int, int]) -> None:
        kernels.dense_places(*boxes, weight, *near, enough, *part, dense)

    run(look, spans(len(boxes.tiles), boxes.n))
    return dense


def connected(boxes: Boxes, near: tuple[int, float, float], dense: BoolArray) -> IntArray:
    """The forest whose trees are the clusters of core rows."""
    tiles, _, n, low, high = boxes
    bottom = len(tiles)
    some = np.empty(2 * bottom, np.int64)
    kernels.some_dense(dense, bottom, some)

    def forest(part: tuple[int, int]) -> IntArray:
        parent = np.arange(len(dense))
        kernels.unite_dense(tiles, low, high, *near, dense, parent, some, *part)
        return parent

    parts = 1 if n < SMALL else thread_count()  # each needs a forest of its own
    whole, *others = run(forest, ranges(bottom, parts))
    for other in others:
        kernels.merge_forests(whole, other)
    return whole


def fit_by_tree(X: Array, w: Array, metric: Metric, eps: float, min_samples: float) -> DensityFit:
    """DBSCAN of rows under a Minkowski metric.

    >>> from pellucid.core.functions.metrics import resolve
    >>> X = np.array([[0.0], [1.0], [2.0], [9.0]])
    >>> fit_by_tree(X, np.ones(4), resolve("euclidean", X), 1.0, 3).labels
    array([ 0,  0,  0, -1])
    """
    boxes = boxes_of(mapped_rows(metric, X))
    near = (*kernel_order(metric), reduced_eps(metric, eps))
    n, bottom, flat = len(X), len(boxes.tiles), boxes.slots.ravel()
    place = np.empty(n, np.int64)
    place[flat[flat < n]] = np.flatnonzero(flat < n)
    dense = dense_rows(boxes, near, w, min_samples)
    labels = np.empty(len(flat), np.int64)
    kernels.number_dense(connected(boxes, near, dense), dense, place, labels)
    lowest = lowest_labels(labels, bottom, n)

    def look(part: tuple[int, int]) -> None:
        kernels.border_labels(*boxes, *near, dense, labels, lowest, *part)

    run(look, spans(bottom, n))
    return DensityFit(labels[place], dense[place])


def lowest_labels(labels: IntArray, bottom: int, n: int) -> IntArray:
    """The lowest label in every node of the tree; n where there is none."""
    lowest = np.full(2 * bottom, n, np.int64)
    lowest[bottom:] = np.where(labels < 0, n, labels).reshape(bottom, WIDTH).min(axis=1)
    first = bottom
    while first > 1:
        lowest[first // 2 : first] = lowest[first : 2 * first].reshape(-1, 2).min(axis=1)
        first //= 2
    return lowest


def table_of(X: Any) -> Array:
    """A dense table; a sparse one beyond the limit is refused."""
    if not issparse(X):
        return X
    if np.prod(X.shape, dtype=np.float64) > DENSE_VALUES:
        instead = "give sparse distances of neighbours with metric='precomputed'"
        raise ValueError(f"a sparse X of shape {X.shape} has no room as a table; {instead}")
    return X.toarray()


def checked_given(D: Any) -> Any:
    """Precomputed distances, dense or sparse: square, none negative."""
    if D.shape[0] != D.shape[1]:
        raise ValueError(f"precomputed distances must be square, got shape {D.shape}")
    if ((D.data if issparse(D) else D) < 0).any():
        raise ValueError("Negative values in data passed to a precomputed metric of distances")
    return D


class Lists(NamedTuple):
    """Neighbours of row i: neighbour[first[i]:first[i + 1]]."""

    first: IntArray
    neighbour: IntArray


def lists_of_matrix(D: Array | sparray, eps: float) -> Lists:
    """Neighbours in a matrix of distances; a sparse one holds those that were looked at."""
    n = D.shape[0]
    if issparse(D):
        G = csr_array(D).tocoo()
        near = (G.data <= eps) & (G.row != G.col)
        own = np.arange(n)
        i, j = np.append(G.row[near], own), np.append(G.col[near], own)
        order = np.lexsort((j, i))
        i, j = i[order], j[order]
    else:
        i, j = np.nonzero(eps >= D)
    first = np.append(0, np.cumsum(np.bincount(i, minlength=n)))
    return Lists(first.astype(np.int64), j.astype(np.int64))


def lists_by_blocks(X: Array, metric: Metric, eps: float) -> Lists:
    """Neighbours of rows under a metric without a Minkowski form."""
    assert metric.pairwise is not None
    n = len(X)
    counts, found = [np.zeros(1, np.int64)], []
    step = max(1, BLOCK_VALUES // n)
    for start in range(0, n, step):
        i, j = np.nonzero(metric.pairwise(X[start : start + step], X) <= eps)
        counts.append(np.bincount(i, minlength=min(step, n - start)))
        found.append(j)
    first = np.cumsum(np.concatenate(counts))
    return Lists(first.astype(np.int64), np.concatenate(found).astype(np.int64))


def fit_by_lists(lists: Lists, w: Array, min_samples: float) -> DensityFit:
    """DBSCAN of given neighbours.

    >>> D = np.array([[0.0, 1, 9], [1, 0, 9], [9, 9, 0]])
    >>> fit_by_lists(lists_of_matrix(D, 2.0), np.ones(3), 2).labels
    array([ 0,  0, -1])
    """
    total = np.add.reduceat(w[lists.neighbour], lists.first[:-1]) if len(lists.neighbour) else 0
    total = np.where(np.diff(lists.first) > 0, total, 0.0)
    core = total >= min_samples
    labels = np.full(len(w), -1, np.int64)
    kernels.spread_labels(lists.first, lists.neighbour, core, labels)
    return DensityFit(labels, core)
