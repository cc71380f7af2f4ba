r"""Finding the nearest rows: one index, several ways, the same answer.

    nearest(Q, k)   the k rows with the smallest distance, ties by lower index
    within(Q, r)    all rows with a distance of at most r

``brute`` looks at every row, in single precision first where that is faster, confirmed in double
precision (``compiled.neighbours_brute``); ``kd_tree`` bounds (``compiled.neighbours_tree``);
metrics without a Minkowski form are computed as blocks of the distance matrix. All rank by the
same reduced distances, so all give the same neighbours, for any number of threads.

Cost of m queries among n rows of d columns: brute O(m n d); kd-tree O(n log n) to build and about
O(m log n) to ask while d is small (it degrades to O(m n d)).
"""

from collections.abc import Callable
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import issparse

from pellucid.compiled.neighbours_brute import (
    direct_distances,
    direct_nearest,
    filtered_nearest,
    smallest_of_rows,
)
from pellucid.compiled.neighbours_tree import WIDTH, leaves_of, tree_nearest, tree_within
from pellucid.compiled.tree_building import Tree, build_tree
from pellucid.core.simd_single import COLUMNS
from pellucid.core.threads import map_threads, thread_count
from pellucid.core.typing import Array, IntArray
from pellucid.neighbors.metrics import Metric, warn_zero_rows

SMALL_WORK = 1 << 18  # products below which threads cost more than they save
FILTER_ROWS = 1024  # from here on single precision pays
LISTED = 512  # more neighbours than this are found by sorting
PROBES = 32  # queries that try the tree
LOST = 0.06  # share of the leaves: a leaf of 16 costs what the filter spends on 200 rows
BLOCK_VALUES = 1 << 21  # distances held at once: 16 MB


class Packed(NamedTuple):
    """Rows in single precision, ready for ``filtered_nearest``."""

    origin: Array  # (d,)
    unit: float  # squared distances are divided by it
    tiles: Any  # (blocks, d + 1, COLUMNS) float32
    longest: float  # of the rows about the origin, in these units
    blur: float  # what centring may cost per row: 2^-52 times the largest number


def pack_rows(X: Array) -> Packed:
    """Centre, scale to at most 1 and store by blocks, the squared length as last coordinate."""
    n, d = X.shape
    origin = X.mean(axis=0)
    C = X - origin
    scale = float(np.abs(C).max()) or 1.0
    C /= scale
    squares = np.einsum("it,it->i", C, C)
    blocks = -(-n // COLUMNS)
    padded = np.zeros((blocks * COLUMNS, d + 1), np.float32)
    padded[:n, :d] = C
    padded[:n, d] = squares
    padded[n:, d] = 1e32  # never among the best
    tiles = padded.reshape(blocks, COLUMNS, d + 1).transpose(0, 2, 1)
    blur = float(np.abs(X).max()) * 2.0**-51 / scale
    return Packed(
        origin, scale * scale, np.ascontiguousarray(tiles), float(np.sqrt(squares.max())), blur
    )


def query_scores(packed: Packed, Q: Array) -> tuple[Any, Array]:
    """Queries as (-2 q, 1) in single precision, and |q|^2 - margin.

    A score sums d + 1 products of rounded numbers: its error is below (d + 5) 2^-24 times the sum
    of their sizes, |x|^2 + 2 |q| |x|. Centring moved both rows by at most ``blur`` per coordinate.
    """
    m, d = Q.shape
    C = (Q - packed.origin) / np.sqrt(packed.unit)
    S = np.ones((m, d + 1), np.float32)
    with np.errstate(over="ignore"):
        S[:, :d] = -2 * C
    length = np.sqrt(np.einsum("it,it->i", C, C))
    far = packed.longest
    single = (d + 5) * 2.0**-24 * 1.01 * (far * far + 2 * length * far)
    moved = 2 * np.sqrt(d) * (packed.blur + np.abs(Q).max(axis=1) * 2.0**-51 / packed.unit**0.5)
    margin = single + 4 * (length + far) * moved + 4 * moved**2 + d * 1e-37
    margin += 1e-13 * (length + far) ** 2
    return S, np.where(length < 1e14, length**2 - margin, np.nan)


class Index:
    """Rows prepared for searching with one metric and one method.

    >>> from pellucid.neighbors.metrics import resolve
    >>> X = np.array([[0.0], [1.0], [5.0]])
    >>> distance, index = Index(X, resolve("euclidean", X), "brute").nearest(np.array([[4.0]]), 2)
    >>> distance.tolist(), index.tolist()
    ([[1.0, 3.0]], [[2, 1]])
    """

    def __init__(
        self,
        X: Any,
        metric: Metric,
        method: str,
        leaf_size: int = WIDTH,
        adaptive: bool = False,
    ) -> None:
        self.metric = metric
        self.method = method
        self.leaf_size = leaf_size
        self.adaptive = adaptive  # leave the tree where looking at all rows is quicker
        self.n_rows = X.shape[0]
        self.rows = X if issparse(X) else self._embed_training(X)
        self.visited = 0  # leaves that the last search looked at
        if method == "kd_tree":
            _ = self.tree

    def _embed_training(self, X: Array) -> Array:
        embed = self.metric.embed
        self.extra = False
        if embed is None:
            return own(X)
        E = embed(X)
        if self.metric.directions:
            zero = ~E.any(axis=1)
            if zero.any():  # a direction of their own, at right angles to all others
                warn_zero_rows(int(zero.sum()), self.metric.name)
                self.extra = True
                E = np.column_stack([E, zero])
        return np.ascontiguousarray(E, dtype=np.float64)

    @cached_property
    def tree(self) -> Tree:
        return build_tree(self.rows, self.leaf_size)

    @cached_property
    def columns(self) -> Array:
        return own(self.rows.T)

    @cached_property
    def packed(self) -> Packed:
        return pack_rows(self.rows)

    @cached_property
    def kind(self) -> tuple[int, float]:
        """The kernels' number of the order, and the order."""
        order = self.metric.order
        assert order is not None
        return {np.inf: 0, 1.0: 1, 2.0: 2}.get(order, 3), float(order)

    def nearest(self, Q: Any, k: int) -> tuple[Array, IntArray]:
        """Distances and indices of the k nearest rows of every query, nearest first."""
        if self.metric.order is None or issparse(self.rows) or issparse(Q):
            return self._by_matrix(Q, k)
        E, zero = self._embed_queries(Q)
        out, index = np.empty((len(E), k)), np.zeros((len(E), k), np.int64)
        if self.method == "kd_tree" and not self._tree_is_lost(E, k):
            self._by_tree(E, out, index)
        elif k > LISTED:
            self._by_sorting(E, out, index)
        elif self._filters(len(E), k):
            self._by_filter(E, out, index)
        else:
            self._direct(E, np.arange(len(E)), out, index)
        distance = self.metric.finish(out)
        if zero is not None:
            distance[zero], index[zero] = 1.0, np.arange(k)
        return distance, index

    def _embed_queries(self, Q: Array) -> tuple[Array, Any]:
        """Mapped queries, and which of them have no direction (or None)."""
        if self.metric.embed is None:
            return own(Q), None
        E = self.metric.embed(Q)
        zero = None
        if self.metric.directions:
            zero = ~E.any(axis=1)
            if zero.any():
                warn_zero_rows(int(zero.sum()), self.metric.name)
            else:
                zero = None
            if self.extra:
                E = np.column_stack([E, np.zeros(len(E))])
        return np.ascontiguousarray(E, dtype=np.float64), zero

    def _tree_is_lost(self, E: Array, k: int) -> bool:
        """Whether a few queries look at so many leaves that the filter over all rows is quicker."""
        m, d = E.shape
        if not (self.adaptive and d >= 6 and m >= 4 * PROBES and self._filters(m, k)):
            return False
        probes = np.ascontiguousarray(E[:: m // PROBES][:PROBES])
        self._by_tree(probes, np.empty((PROBES, k)), np.empty((PROBES, k), np.int64))
        return self.visited > LOST * PROBES * len(self.tree.axis)

    def _filters(self, m: int, k: int) -> bool:
        n, d = self.rows.shape
        large = n >= max(FILTER_ROWS, 8 * k) and m * n * d >= 4 * SMALL_WORK and m >= 4
        return self.kind[0] == 2 and d >= 4 and large

    def _chunks(self, m: int, work: float, multiple: int = 1) -> list[tuple[int, int]]:
        """Ranges of queries: one when there is little to do."""
        if work < SMALL_WORK:
            return [(0, m)]
        parts = 8 * thread_count() if m >= 64 else m
        step = max(1, -(-m // parts))
        step = -(-step // multiple) * multiple
        return [(a, min(a + step, m)) for a in range(0, m, step)]

    def _direct(self, E: Array, which: IntArray, out: Array, index: IntArray) -> None:
        kind, p = self.kind
        n, d = self.rows.shape

        def search(span: tuple[int, int]) -> None:
            direct_nearest(self.columns, E, which[span[0] : span[1]], kind, p, out, index)

        over(search, self._chunks(len(which), float(len(which)) * n * d))

    def _by_filter(self, E: Array, out: Array, index: IntArray) -> None:
        packed = self.packed
        S, floor = query_scores(packed, E)
        failed = np.zeros(len(E), np.bool_)
        extra = 6 + out.shape[1] // 8

        def search(span: tuple[int, int]) -> None:
            filtered_nearest(
                S, packed.tiles, self.rows, E, floor, packed.unit, extra, *span, out, index, failed
            )

        over(search, self._chunks(len(E), np.inf, 120))
        if failed.any():
            self._direct(E, np.flatnonzero(failed), out, index)

    def _by_sorting(self, E: Array, out: Array, index: IntArray) -> None:
        k = out.shape[1]
        for a, b, D in self._reduced_blocks(E):
            order = np.argsort(D, axis=1, kind="stable")[:, :k]
            index[a:b], out[a:b] = order, np.take_along_axis(D, order, axis=1)

    def _reduced_blocks(self, E: Array) -> Any:
        """(a, b, reduced distances of queries a to b) a few queries at a time."""
        kind, p = self.kind
        n, d = self.rows.shape
        step = max(1, BLOCK_VALUES // n)
        for a in range(0, len(E), step):
            b = min(a + step, len(E))
            D = np.empty((b - a, n))
            part = E[a:b]

            def fill(span: tuple[int, int], part: Array = part, D: Array = D) -> None:
                direct_distances(self.columns, part, *span, kind, p, D)

            over(fill, self._chunks(b - a, float(b - a) * n * d))
            yield a, b, D

    def _by_tree(self, E: Array, out: Array, index: IntArray) -> None:
        tree, (kind, p) = self.tree, self.kind
        order = np.arange(len(E))
        if len(E) > 256:  # neighbours in space after each other: the cache knows the way
            leaves = np.empty(len(E), np.int64)
            leaves_of(E, tree.axis, tree.cut, len(tree.axis), leaves)
            order = np.argsort(leaves, kind="stable")
        spans = self._chunks(len(E), 500.0 * len(E) * E.shape[1])
        visited = np.zeros((len(spans), 8), np.int64)  # each in a line of the cache of its own

        def search(i: int) -> None:
            tree_nearest(*tree, E, order, *spans[i], kind, p, out, index, visited[i])

        over(search, range(len(spans)))
        self.visited = int(visited.sum())

    def _by_matrix(self, Q: Any, k: int) -> tuple[Array, IntArray]:
        m = Q.shape[0]
        out, index = np.empty((m, k)), np.zeros((m, k), np.int64)
        for a, b, D in self._matrix_blocks(Q):
            if np.isnan(D).any():  # rows that share no coordinate come last
                D = np.where(np.isnan(D), np.inf, D)
            if k > LISTED:
                index[a:b] = np.argsort(D, axis=1, kind="stable")[:, :k]
                out[a:b] = np.take_along_axis(D, index[a:b], axis=1)
            else:
                smallest_of_rows(np.ascontiguousarray(D), out[a:b], index[a:b])
        return out, index

    def _matrix_blocks(self, Q: Any) -> Any:
        """(a, b, distances of queries a to b) a few queries at a time."""
        m = Q.shape[0]
        step = max(1, BLOCK_VALUES // max(1, self.n_rows))
        for a in range(0, m, step):
            b = min(a + step, m)
            yield a, b, self.distances(Q[a:b])

    def distances(self, Q: Any) -> Array:
        """The whole matrix of distances."""
        if self.metric.name == "precomputed":
            return np.asarray(Q)
        if issparse(self.rows) or issparse(Q):
            from pellucid.neighbors.sparse import sparse_distances

            return sparse_distances(Q, self.rows, self.metric)
        if self.metric.order is None:
            assert self.metric.pairwise is not None
            return self.metric.pairwise(Q, self.rows)
        E, zero = self._embed_queries(Q)
        out = np.empty((len(E), self.n_rows))
        for a, b, D in self._reduced_blocks(E):
            out[a:b] = self.metric.finish(D)
        if zero is not None:
            out[zero] = 1.0
        return out

    def within(self, Q: Any, radius: Array) -> tuple[IntArray, Array, IntArray]:
        """(first, distances, indices): rows of query i at first[i] to first[i + 1], by index."""
        tree_serves = self.method == "kd_tree" and not (issparse(Q) or issparse(self.rows))
        if not tree_serves:
            return self._within_matrix(Q, radius)
        E, _ = self._embed_queries(Q)
        kind, p = self.kind
        limits = reduced_limit(self.metric, radius)
        first = np.zeros(len(E) + 1, np.int64)
        nothing, none = np.empty(0), np.empty(0, np.int64)
        spans = self._chunks(len(E), 500.0 * len(E) * E.shape[1])

        def look(fill: bool, D: Array, j: IntArray) -> None:
            def search(span: tuple[int, int]) -> None:
                tree_within(*self.tree, E, limits, kind, p, *span, first, D, j, fill)

            over(search, spans)

        look(False, nothing, none)
        np.cumsum(first, out=first)
        D, j = np.empty(first[-1]), np.empty(first[-1], np.int64)
        look(True, D, j)
        row = np.repeat(np.arange(len(E)), np.diff(first))
        order = np.lexsort((j, row))
        return first, self.metric.finish(D[order]), j[order]

    def _within_matrix(self, Q: Any, radius: Array) -> tuple[IntArray, Array, IntArray]:
        counts, distances, indices = [np.zeros(1, np.int64)], [], []
        for a, b, D in self._matrix_blocks(Q):
            row, column = np.nonzero(radius[a:b, None] >= D)
            counts.append(np.bincount(row, minlength=b - a))
            distances.append(D[row, column])
            indices.append(column)
        first = np.cumsum(np.concatenate(counts))
        return first, np.concatenate(distances), np.concatenate(indices)


def own(A: Array) -> Array:
    """The same rows as the kernels want them: in order and writeable, else they compile anew."""
    return np.require(A, np.float64, ["C", "W"])


def reduced_limit(metric: Metric, radius: Array) -> Array:
    """The largest reduced distance that finishes at no more than the radius."""
    with np.errstate(over="ignore"):
        limit = (radius / metric.factor) ** (1.0 / metric.power)
    for _ in range(4):  # rounding may put it a few steps off
        limit = np.where(metric.finish(limit) > radius, np.nextafter(limit, -np.inf), limit)
        above = np.nextafter(limit, np.inf)
        limit = np.where(metric.finish(above) <= radius, above, limit)
    return limit


def over(function: Callable[[Any], None], items: Any) -> None:
    """Run in threads, or here when there is one item: holding BLAS back costs more than it."""
    if len(items) == 1:
        function(items[0])
    else:
        list(map_threads(function, items))
