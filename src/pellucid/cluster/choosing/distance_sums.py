r"""Sums of distances from every row to every cluster, without an n x n matrix.

    total[i, c] = sum_{j in c} w_j d(x_i, x_j)

euclidean, manhattan   every pair of rows is visited once: rows are sorted by cluster and cut into
                       an even number of blocks, and the pairs of blocks are played like a
                       tournament, whose rounds have no block twice. So threads never write to the
                       same rows, and every row adds up its sums in the same order whatever the
                       number of threads. Few columns: differences; many: matrix products.
sqeuclidean, cosine    need no pairs: with n_c, m_c, W_c the weight, mean and squares within c,
                       sum_j w_j |x_i - x_j|^2 = n_c |x_i - m_c|^2 + W_c     (cosine: half of it)
others                 some rows against all, block after block
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from pellucid.compiled.distances.silhouettes import absolute_tile, direct_tile, product_tile
from pellucid.core.arrays.typing import Array, IntArray
from pellucid.core.functions.distances import pairwise_sqeuclidean, unit_rows
from pellucid.core.runtime.threads import map_threads

DIRECT_COLUMNS = 24  # up to here differences are as fast as a matrix product
BLOCK = 1024
BLOCK_VALUES = 1 << 21  # distances held at once by one thread: 16 MB


def euclidean_sums(X: Array, w: Array, label: IntArray, k: int) -> Array:
    """Sums of Euclidean distances; rows are sorted by label and centred.

    >>> euclidean_sums(np.array([[0.0], [1.0], [5.0]]), np.ones(3), np.array([0, 0, 1]), 2)
    array([[1., 5.],
           [1., 4.],
           [9., 0.]])
    """
    columns = np.ascontiguousarray(X.T)
    norm = np.einsum("ij,ij->i", X, X)

    def play(i0: int, i1: int, j0: int, j1: int, total: Array) -> None:
        if X.shape[1] <= DIRECT_COLUMNS:
            direct_tile(columns, w, label, i0, i1, j0, j1, i0 == j0, total)
        else:
            inner = X[i0:i1] @ X[j0:j1].T
            product_tile(X, inner, norm, w, label, i0, i1, j0, j1, i0 == j0, total)

    return _played(play, len(X), k)


def manhattan_sums(X: Array, w: Array, label: IntArray, k: int) -> Array:
    """Sums of Manhattan distances; rows are sorted by label."""
    columns = np.ascontiguousarray(X.T)

    def play(i0: int, i1: int, j0: int, j1: int, total: Array) -> None:
        absolute_tile(columns, w, label, i0, i1, j0, j1, i0 == j0, total)

    return _played(play, len(X), k)


def _played(play: Callable[..., None], n: int, k: int) -> Array:
    total = np.zeros((n, k))
    n_blocks = 2 * max(1, -(-n // (2 * BLOCK)))
    cuts = np.linspace(0, n, n_blocks + 1).astype(np.intp)
    for games in tournament(n_blocks):
        pairs = [(min(game), max(game)) for game in games]
        spans = [(cuts[a], cuts[a + 1], cuts[b], cuts[b + 1]) for a, b in pairs]
        some = [span for span in spans if span[0] < span[1] and span[2] < span[3]]
        list(map_threads(lambda span: play(*span, total), some))
    return total


def tournament(n: int) -> list[list[tuple[int, int]]]:
    """Rounds in which each of n (even) players meets once; first everyone meets himself.

    >>> tournament(4)
    [[(0, 0), (1, 1), (2, 2), (3, 3)], [(0, 3), (1, 2)], [(0, 2), (3, 1)], [(0, 1), (2, 3)]]
    """
    circle = list(range(n))
    rounds = [[(i, i) for i in circle]]
    for _ in range(n - 1):
        rounds.append([(circle[i], circle[n - 1 - i]) for i in range(n // 2)])
        circle = [circle[0], circle[-1], *circle[1:-1]]
    return rounds


def squared_sums(X: Array, w: Array, label: IntArray, k: int) -> Array:
    """Sums of squared Euclidean distances, from the means and the squares within.

    >>> squared_sums(np.array([[0.0], [1.0], [5.0]]), np.ones(3), np.array([0, 0, 1]), 2)
    array([[ 1., 25.],
           [ 1., 16.],
           [41.,  0.]])
    """
    size = np.bincount(label, weights=w, minlength=k)
    part = np.where(size > 0, size, 1.0)
    sums = np.column_stack([np.bincount(label, weights=w * x, minlength=k) for x in X.T])
    mean = sums / part[:, None]
    own = ((X - mean[label]) ** 2).sum(axis=1)
    within = np.bincount(label, weights=w * own, minlength=k)
    return size * pairwise_sqeuclidean(X, mean) + within


def cosine_sums(X: Array, w: Array, label: IntArray, k: int) -> Array:
    """Sums of 1 - cos: half the squared distances of the unit rows."""
    return 0.5 * squared_sums(unit_rows(X), w, label, k)


def any_sums(
    pairwise: Callable[[Any, Any], Array], X: Any, w: Array, label: IntArray, k: int
) -> Array:
    """Sums of any distance, some rows against all at a time; rows are sorted by label."""
    n = len(X)
    starts = np.searchsorted(label, np.arange(k))
    total = np.zeros((n, k))
    step = max(1, BLOCK_VALUES // n)

    def part(start: int) -> None:
        D = pairwise(X[start : start + step], X) * w
        total[start : start + step] = np.add.reduceat(D, starts, axis=1)

    list(map_threads(part, range(0, n, step)))
    return total
