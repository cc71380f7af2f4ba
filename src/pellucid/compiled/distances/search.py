r"""Finding the nearest rows: one index, several ways, the same answer.

    nearest(Q, k)   the k rows with the smallest distance, ties by lower index
    within(Q, r)    all rows with a distance of at most r

``brute`` looks at every row, in single precision first where that is faster, confirmed in double
precision (``compiled.distances.brute``); ``kd_tree`` bounds (``compiled.distances.kd_tree``);
metrics without a Minkowski form are computed as blocks of the distance matrix. All rank by the
same reduced distances, so all give the same neighbours, for any number of threads.

Cost of m queries among n rows of d columns: brute O(m n d); kd-tree O(n log n) to build and about
O(m log n) to ask while d is small (it degrades to O(m n d)).

Within a radius, single precision filters by one matrix product: scores |x|^2 - 2 q'x of rows about
a common origin. A rounding bound on them (``packing.query_scores``) says which pairs cannot be near
enough; the others are measured in double precision.

Sparse rows: |a - b|^2 = |a|^2 + |b|^2 - 2 a'b (never below 0; equal rows may keep a rounding error)
and cosine = 1 - a'b / (|a| |b|). Only the products a'b touch the entries. Other metrics have no
sparse form and are computed from dense blocks.
"""

from functools import cached_property
from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse

from pellucid.compiled.distances import brute
from pellucid.compiled.distances.kd_building import Tree, build_tree
from pellucid.compiled.distances.kd_tree import WIDTH, leaves_of, tree_nearest, tree_within
from pellucid.compiled.distances.packing import Packed, over, own, pack_rows, query_scores
from pellucid.core.arrays.sparse import to_dense
from pellucid.core.arrays.typing import Array, IntArray
from pellucid.core.functions.metrics import Metric, warn_zero_rows
from pellucid.core.runtime.threads import map_threads, thread_count


def sparse_distances(A: Any, B: Any, metric: Metric) -> Array:
    """The matrix of distances between the rows of A and of B, at least one of them sparse.

    >>> from pellucid.core.functions.metrics import resolve
    >>> A = csr_array([[3.0, 0.0], [0.0, 4.0]])
    >>> sparse_distances(A, A, resolve("euclidean", A))
    array([[0., 5.],
           [5., 0.]])
    """
    plain = metric.order == 2.0 and metric.embed is None
    if not (plain or metric.name == "cosine"):
        A, B = (np.ascontiguousarray(to_dense(S)) for S in (A, B))
        return Index(B, metric, "brute").distances(A)
    A, B = csr_array(A), csr_array(B)
    products = (A @ B.T).toarray()
    a, b = (np.asarray(S.multiply(S).sum(axis=1)).ravel() for S in (A, B))
    if plain:
        squares = np.maximum(a[:, None] + b - 2 * products, 0.0)
        squares[squares <= 4e-16 * (a[:, None] + b)] = 0.0  # no more than rounding
        return metric.finish(squares)
    if not (a.all() and b.all()):
        warn_zero_rows(int((a == 0).sum() + (b == 0).sum()), "cosine")
    lengths = np.sqrt(np.where(a > 0, a, 1.0))[:, None] * np.sqrt(np.where(b > 0, b, 1.0))
    return np.clip(1 - products / lengths, 0.0, 2.0)


def known_distances(X: Any) -> Array:
    """A matrix of distances; where a sparse one stores none, the rows are not neighbours."""
    if issparse(X):
        entries = X.tocoo()
        full = np.full(X.shape, np.inf)
        full[entries.row, entries.col] = entries.data
        X = full
    if (X < 0).any():
        row, column = np.argwhere(X < 0)[0]
        found = f"{X[row, column]!r} in row {row}, column {column}"
        raise ValueError(f"Negative values in data passed to a precomputed metric: got {found}")
    return X


def without_own(distance: Array, index: IntArray) -> tuple[Array, IntArray]:
    """Neighbours of the training rows themselves, each row taken out of its own list.

    >>> without_own(np.array([[0.0, 1.0], [0.0, 1.0]]), np.array([[0, 1], [1, 0]]))[1].tolist()
    [[1], [0]]
    """
    own = index == np.arange(len(index))[:, None]
    own[~own.any(axis=1), -1] = True  # its equals fill the list: leave the last one out
    shape = (len(index), index.shape[1] - 1)
    return distance[~own].reshape(shape), index[~own].reshape(shape)


Rows = tuple[IntArray, Array, IntArray]  # first (m + 1,), distances, indices
SCORES = 1 << 20  # held at once by a thread, in single precision: they stay in the cache
NO_COLUMNS = np.empty((0, 0))


def reduced_limit(metric: Metric, radius: Array) -> Array:
    """The largest reduced distance that finishes at no more than the radius."""
    with np.errstate(over="ignore"):
        limit = (radius / metric.factor) ** (1.0 / metric.power)
    for _ in range(4):  # rounding may put it a few steps off
        limit = np.where(metric.finish(limit) > radius, np.nextafter(limit, -np.inf), limit)
        above = np.nextafter(limit, np.inf)
        limit = np.where(metric.finish(above) <= radius, above, limit)
    return limit


def rows_within(index: Any, Q: np.ndarray, radius: Array) -> Rows:
    """Rows of query i at first[i] to first[i + 1], by index; ``index`` is a ``search.Index``."""
    sparse = issparse(Q) or issparse(index.rows)
    if index.method == "kd_tree" and not sparse:
        return by_tree(index, Q, radius)
    if not sparse and index.metric.order == 2.0 and index._filters(Q.shape[0], 1):
        E, zero = index._embed_queries(Q)
        if zero is None:
            return by_filter(index, E, radius)
    return by_matrix(index, Q, radius)


def by_tree(index: Any, Q: Array, radius: Array) -> Rows:
    """Two walks: one counts, one fills."""
    E, _ = index._embed_queries(Q)
    kind, p = index.kind
    limits = reduced_limit(index.metric, radius)
    first = np.zeros(len(E) + 1, np.int64)
    spans = index._chunks(len(E), 500.0 * len(E) * E.shape[1])

    def look(fill: bool, D: Array, j: IntArray) -> None:
        def search(span: tuple[int, int]) -> None:
            tree_within(*index.tree, E, limits, kind, p, *span, first, D, j, fill)

        over(search, spans)

    look(False, np.empty(0), np.empty(0, np.int64))
    np.cumsum(first, out=first)
    D, j = np.empty(first[-1]), np.empty(first[-1], np.int64)
    look(True, D, j)
    row = np.repeat(np.arange(len(E)), np.diff(first))
    order = np.argsort(row * index.n_rows + j)  # one key: the query, then the row
    return first, index.metric.finish(D[order]), j[order]


def by_filter(index: Any, E: Array, radius: Array) -> Rows:
    """Pairs that single precision cannot rule out, measured in double precision."""
    S, floor = query_scores(index.packed, E)
    limits = reduced_limit(index.metric, radius)
    with np.errstate(over="ignore", invalid="ignore"):
        bound = limits / index.packed.unit - floor
    bound = np.where(np.isnan(bound), np.inf, bound)  # too long for single precision: all
    bound = np.nextafter(bound.astype(np.float32), np.float32(np.inf))
    step = max(1, SCORES // index.n_rows)
    single, rows = index.single, index.rows

    def look(a: int) -> Rows:
        part = slice(a, a + step)
        with np.errstate(over="ignore", invalid="ignore"):
            scores = S[part] @ single.T
        counts = np.empty(len(scores), np.int64)
        brute.count_scores(scores, bound[part], counts)
        crowd = int(counts.max()) * brute.DENSE > index.n_rows
        columns = index.columns if crowd else NO_COLUMNS
        D, j = np.empty(counts.sum()), np.empty(counts.sum(), np.int64)
        kept = brute.near_pairs(
            scores, bound[part], rows, columns, E[part], limits[part], counts, D, j
        )
        return counts, index.metric.finish(D[:kept]), j[:kept]

    parts = list(map_threads(look, range(0, len(E), step)))
    counts, D, j = (np.concatenate(column) for column in zip(*parts, strict=True))
    return np.append(0, np.cumsum(counts)), D, j


def by_matrix(index: Any, Q: np.ndarray, radius: Array) -> Rows:
    """Blocks of the matrix of distances, for any metric."""
    counts, distances, indices = [np.zeros(1, np.int64)], [], []
    for a, b, D in index._matrix_blocks(Q):
        row, column = np.nonzero(radius[a:b, None] >= D)
        counts.append(np.bincount(row, minlength=b - a))
        distances.append(D[row, column])
        indices.append(column)
    first = np.cumsum(np.concatenate(counts))
    return first, np.concatenate(distances), np.concatenate(indices)


SMALL_WORK = 1 << 18  # products below which threads cost more than they save
FILTER_ROWS = 1024  # from here on single precision pays
LISTED = 512  # more neighbours than this are found by sorting
PROBES = 32  # queries that try the tree
LOST = 0.06  # share of the leaves: a leaf of 16 costs what the filter spends on 200 rows
BLOCK_VALUES = 1 << 21  # distances held at once: 16 MB


class Index:
    """Rows prepared for searching with one metric and one method.

    >>> from pellucid.core.functions.metrics import resolve
    >>> X = np.array([[0.0], [1.0], [5.0]])
    >>> distance, index = Index(X, resolve("euclidean", X), "brute").nearest(np.array([[4.0]]), 2)
    >>> distance.tolist(), index.tolist()
    ([[1.0, 3.0]], [[2, 1]])
    """

    def __init__(
        self, X: Any, metric: Metric, method: str, leaf_size: int = WIDTH, adaptive: bool = False
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
    def single(self) -> Any:
        """(x, |x|^2) of the packed rows, one after the other: (n, d + 1) float32."""
        rows = self.packed.tiles.transpose(0, 2, 1).reshape(-1, self.rows.shape[1] + 1)
        return np.ascontiguousarray(rows[: self.n_rows])

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
        if not 0 < k <= self.n_rows:  # compiled code trusts it
            raise ValueError(f"neighbours must be 1 to {self.n_rows}, the number of rows, got {k}")
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
        if not (self.adaptive and d >= 6 and m >= 4 * PROBES and self._large(m, k)):
            return False
        probes = np.ascontiguousarray(E[:: m // PROBES][:PROBES])
        self._by_tree(probes, np.empty((PROBES, k)), np.empty((PROBES, k), np.int64))
        return self.visited > LOST * PROBES * len(self.tree.axis)

    def _filters(self, m: int, k: int) -> bool:
        """Whether rows are ranked in single precision first."""
        return self._large(m, k) and self.packed.sound

    def _large(self, m: int, k: int) -> bool:
        """Whether single precision would pay."""
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
            brute.direct_nearest(self.columns, E, which[span[0] : span[1]], kind, p, out, index)

        over(search, self._chunks(len(which), float(len(which)) * n * d))

    def _by_filter(self, E: Array, out: Array, index: IntArray) -> None:
        packed = self.packed
        S, floor = query_scores(packed, E)
        failed = np.zeros(len(E), np.bool_)
        extra = 6 + out.shape[1] // 8

        def search(span: tuple[int, int]) -> None:
            brute.filtered_nearest(
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
                brute.direct_distances(self.columns, part, *span, kind, p, D)

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

    def _by_matrix(self, Q: np.ndarray, k: int) -> tuple[Array, IntArray]:
        m = Q.shape[0]
        out, index = np.empty((m, k)), np.zeros((m, k), np.int64)
        for a, b, D in self._matrix_blocks(Q):
            if np.isnan(D).any():  # rows that share no coordinate come last
                D = np.where(np.isnan(D), np.inf, D)
            if k > LISTED:
                index[a:b] = np.argsort(D, axis=1, kind="stable")[:, :k]
                out[a:b] = np.take_along_axis(D, index[a:b], axis=1)
            else:
                brute.smallest_of_rows(np.ascontiguousarray(D), out[a:b], index[a:b])
        return out, index

    def _matrix_blocks(self, Q: np.ndarray) -> Any:
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

    def within(self, Q: np.ndarray, radius: Array) -> tuple[IntArray, Array, IntArray]:
        """(first, distances, indices): rows of query i at first[i] to first[i + 1], by index."""
        return rows_within(self, Q, radius)
