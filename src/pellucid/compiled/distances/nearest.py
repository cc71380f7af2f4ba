"""The nearest rows of a table by Euclidean distance: exact, the same for any number of threads.

Few columns: a kd-tree. Many rows: single precision ranks, double precision confirms. Otherwise all
rows are looked at. Each way ranks by the same sums of squares, ties by lower index.
"""

import numpy as np

from pellucid.compiled.distances import brute
from pellucid.compiled.distances.kd_building import build_tree
from pellucid.compiled.distances.kd_tree import tree_nearest
from pellucid.compiled.distances.packing import pack_rows, query_scores
from pellucid.core.arrays.typing import Array, IntArray
from pellucid.core.runtime.threads import map_threads

TREE_COLUMNS = 8  # up to which a tree leaves most rows aside
FILTER_ROWS = 1024  # from here on single precision pays
LISTED = 512  # more neighbours than this are found by sorting
SPAN = 480  # queries a thread takes at a time
CELLS = 1 << 21  # distances held at once by a thread: 16 MB


def nearest(X: Array, Q: Array, k: int) -> tuple[Array, IntArray]:
    """Squared distances and indices (m, k) of the rows of X nearest to each row of Q.

    >>> squares, index = nearest(np.array([[0.0], [1.0], [5.0]]), np.array([[4.0]]), 2)
    >>> squares.tolist(), index.tolist()
    ([[1.0, 9.0]], [[2, 1]])
    """
    n, d = X.shape
    out, index = np.empty((len(Q), k)), np.zeros((len(Q), k), np.int64)
    if k > LISTED:
        _by_sorting(X, Q, out, index)
    elif d <= TREE_COLUMNS:
        tree = build_tree(X)
        order = np.arange(len(Q))

        def search(first: int) -> None:
            span = (first, min(first + SPAN, len(Q)))
            tree_nearest(*tree, Q, order, *span, 2, 2.0, out, index, np.zeros(1, np.int64))

        list(map_threads(search, range(0, len(Q), SPAN)))
    else:
        missed = np.arange(len(Q))
        if n >= max(FILTER_ROWS, 8 * k):
            missed = _by_filter(X, Q, out, index)
        columns = np.ascontiguousarray(X.T)
        parts = [missed[a : a + SPAN] for a in range(0, len(missed), SPAN)]
        list(
            map_threads(
                lambda which: brute.direct_nearest(columns, Q, which, 2, 2.0, out, index), parts
            )
        )
    return out, index


def nearest_others(X: Array, k: int) -> tuple[Array, IntArray]:
    """The same for every row of X among the others: a row is no neighbour of its own.

    >>> nearest_others(np.array([[0.0], [1.0], [5.0]]), 1)[1].ravel().tolist()
    [1, 0, 1]
    """
    squares, index = nearest(X, X, k + 1)
    own = index == np.arange(len(X))[:, None]
    own[~own.any(axis=1), k] = True  # more than k equal rows before it: the last one goes
    return squares[~own].reshape(-1, k), index[~own].reshape(-1, k)


def _by_filter(X: Array, Q: Array, out: Array, index: IntArray) -> IntArray:
    """Fill what single precision can settle; return the queries that it could not."""
    packed = pack_rows(X)
    if not packed.sound:
        return np.arange(len(Q))
    S, floor = query_scores(packed, Q)
    failed = np.zeros(len(Q), np.bool_)
    extra = 6 + out.shape[1] // 8

    def search(first: int) -> None:
        span = (first, min(first + SPAN, len(Q)))
        brute.filtered_nearest(
            S, packed.tiles, X, Q, floor, packed.unit, extra, *span, out, index, failed
        )

    list(map_threads(search, range(0, len(Q), SPAN)))
    return np.flatnonzero(failed)


def _by_sorting(X: Array, Q: Array, out: Array, index: IntArray) -> None:
    columns, k = np.ascontiguousarray(X.T), out.shape[1]
    step = max(1, CELLS // len(X))

    def search(first: int) -> None:
        part = slice(first, first + step)
        D = np.empty((len(Q[part]), len(X)))
        brute.direct_distances(columns, Q[part], 0, len(D), 2, 2.0, D)
        index[part] = np.argsort(D, axis=1, kind="stable")[:, :k]
        out[part] = np.take_along_axis(D, index[part], axis=1)

    list(map_threads(search, range(0, len(Q), step)))
