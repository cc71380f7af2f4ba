r"""All rows within a radius: by the kd-tree, by a filter in single precision, or by blocks.

The filter is one matrix product: scores |x|^2 - 2 q'x of rows about a common origin. A rounding
bound on them (``packing.query_scores``) says which pairs cannot be within the radius; the others
are measured in double precision, so every way gives the same rows and the same distances.
"""

from typing import Any

import numpy as np
from scipy.sparse import issparse

from pellucid.compiled.distances.brute import DENSE, count_scores, near_pairs
from pellucid.compiled.distances.kd_tree import tree_within
from pellucid.core.arrays.typing import Array, IntArray
from pellucid.core.runtime.threads import map_threads
from pellucid.neighbors.search.metrics import Metric
from pellucid.neighbors.search.packing import over, query_scores

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
        count_scores(scores, bound[part], counts)
        crowd = int(counts.max()) * DENSE > index.n_rows
        columns = index.columns if crowd else NO_COLUMNS
        D, j = np.empty(counts.sum()), np.empty(counts.sum(), np.int64)
        kept = near_pairs(scores, bound[part], rows, columns, E[part], limits[part], counts, D, j)
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
