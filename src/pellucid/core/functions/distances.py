r"""Distances between rows: a small registry of pure functions.

    pairwise(A, B)[i, j] = d(a_i, b_j)        A (n, p), B (m, p) -> (n, m)

Each is computed in row blocks, so the memory beyond the answer is small, and each entry depends
on its own two rows only, so cutting A into blocks does not change a bit.

    euclidean     |a - b|                      manhattan   sum_t |a_t - b_t|
    sqeuclidean   |a - b|^2                    chebyshev   max_t |a_t - b_t|
    cosine        1 - a'b / (|a| |b|)          hamming     share of t with a_t != b_t
    canberra      sum_t |a_t - b_t| / (|a_t| + |b_t|), 0/0 = 0
    minkowski(q)  (sum_t |a_t - b_t|^q)^(1/q)

``center`` names the rule that minimises the sum of the distances of a group to one point, where
there is one in closed form: the ``mean`` (sqeuclidean), the coordinate-wise ``median``
(manhattan), the mean ``direction`` (cosine).
"""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np

from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array

BLOCK_VALUES = 1 << 18  # differences held at once: 2 MB

Pairwise = Callable[[Array, Array], Array]


class Distance(NamedTuple):
    """A distance between rows, and the centre that goes with it.

    >>> manhattan.pairwise(np.array([[0.0, 0.0]]), np.array([[1.0, 2.0], [3.0, 0.0]]))
    array([[3., 3.]])
    """

    name: str
    pairwise: Pairwise
    center: str | None = None


def row_blocks(function: Callable[[Array], Array], A: Array, B: Array) -> Array:
    """``function`` of a few rows of A at a time, (rows, 1, p) -> (rows, m)."""
    out = np.empty((len(A), len(B)))
    step = max(1, BLOCK_VALUES // max(1, B.size))
    for start in range(0, len(A), step):
        out[start : start + step] = function(A[start : start + step, None, :])
    return out


def by_blocks(reduce: Callable[[Array], Array], A: Array, B: Array) -> Array:
    """Apply ``reduce`` to the differences a - b, shape (rows, m, p), a few rows at a time."""
    return row_blocks(lambda a: reduce(a - B), A, B)


def pairwise_sqeuclidean(A: Array, B: Array) -> Array:
    """Squared Euclidean distances from direct differences: no digits are lost to cancellation.

    >>> pairwise_sqeuclidean(np.array([[1e8, 1.0]]), np.array([[1e8, 4.0]]))
    array([[9.]])
    """
    return by_blocks(lambda E: np.einsum("imt,imt->im", E, E), A, B)


def pairwise_euclidean(A: Array, B: Array) -> Array:
    """Euclidean distances.

    >>> pairwise_euclidean(np.array([[0.0, 0.0]]), np.array([[3.0, 4.0]]))
    array([[5.]])
    """
    return np.sqrt(pairwise_sqeuclidean(A, B))


def pairwise_manhattan(A: Array, B: Array) -> Array:
    """Sums of absolute differences.

    >>> pairwise_manhattan(np.array([[0.0, 0.0]]), np.array([[3.0, -4.0]]))
    array([[7.]])
    """
    return by_blocks(lambda E: np.abs(E, out=E).sum(axis=2), A, B)


def pairwise_chebyshev(A: Array, B: Array) -> Array:
    """Largest absolute differences.

    >>> pairwise_chebyshev(np.array([[0.0, 0.0]]), np.array([[3.0, -4.0]]))
    array([[4.]])
    """
    return by_blocks(lambda E: np.abs(E, out=E).max(axis=2), A, B)


def pairwise_hamming(A: Array, B: Array) -> Array:
    """Shares of coordinates that differ.

    >>> pairwise_hamming(np.array([[0.0, 1.0]]), np.array([[0.0, 2.0]]))
    array([[0.5]])
    """
    return by_blocks(lambda E: (E != 0).mean(axis=2), A, B)


def pairwise_canberra(A: Array, B: Array) -> Array:
    """Sums of relative differences; a coordinate where both are zero counts nothing.

    >>> pairwise_canberra(np.array([[0.0, 1.0]]), np.array([[0.0, 3.0]]))
    array([[0.5]])
    """

    def total(a: Array) -> Array:
        size = np.abs(a) + np.abs(B)
        share = np.divide(np.abs(a - B), size, out=np.zeros_like(size), where=size > 0)
        return share.sum(axis=2)

    return row_blocks(total, A, B)


def pairwise_minkowski(A: Array, B: Array, *, q: float) -> Array:
    """The q-th root of the sum of q-th powers, scaled so that no power overflows.

    >>> pairwise_minkowski(np.array([[0.0, 0.0]]), np.array([[3.0, 4.0]]), q=2).round(12)
    array([[5.]])
    """

    def norm(E: Array) -> Array:
        E = np.abs(E, out=E)
        largest = E.max(axis=2, keepdims=True)
        E = np.divide(E, largest, out=np.zeros_like(E), where=largest > 0)
        return largest[..., 0] * (E**q).sum(axis=2) ** (1.0 / q)

    return by_blocks(norm, A, B)


def unit_rows(A: Array) -> Array:
    """Each row divided by its length; a row of zeros has no direction and is refused.

    >>> unit_rows(np.array([[3.0, 4.0]]))
    array([[0.6, 0.8]])
    """
    largest = np.abs(A).max(axis=1, keepdims=True)  # so that no square overflows or vanishes
    if not largest.all():
        row = int(np.argmin(largest[:, 0]))
        raise ValueError(f"cosine needs rows that are not all zero, got zeros in row {row}")
    A = A / largest
    return A / np.sqrt(np.einsum("it,it->i", A, A))[:, None]


def pairwise_cosine(A: Array, B: Array) -> Array:
    """1 - cos of the angle, as half the squared distance of the unit rows: never negative.

    >>> pairwise_cosine(np.array([[1.0, 0.0]]), np.array([[0.0, 2.0], [3.0, 0.0]]))
    array([[1., 0.]])
    """
    return 0.5 * pairwise_sqeuclidean(unit_rows(A), unit_rows(B))


euclidean = Distance("euclidean", pairwise_euclidean)
sqeuclidean = Distance("sqeuclidean", pairwise_sqeuclidean, "mean")
manhattan = Distance("manhattan", pairwise_manhattan, "median")
cosine = Distance("cosine", pairwise_cosine, "direction")
chebyshev = Distance("chebyshev", pairwise_chebyshev)
hamming = Distance("hamming", pairwise_hamming)
canberra = Distance("canberra", pairwise_canberra)


def minkowski(q: float) -> Distance:
    """The Minkowski distance of order q >= 1.

    >>> minkowski(3.0).name
    'minkowski(3)'
    """
    check.positive(q=q)
    if q < 1:
        raise ValueError(f"q must be >= 1 for a distance, got {q!r}")
    return Distance(f"minkowski({q:g})", partial(pairwise_minkowski, q=q))


DISTANCES = {
    d.name: d for d in (euclidean, sqeuclidean, manhattan, cosine, chebyshev, hamming, canberra)
}
ALIASES = {"l2": "euclidean", "l1": "manhattan", "cityblock": "manhattan"}


def distance(name: str | Distance) -> Distance:
    """The distance of that name; a ``Distance`` of one's own passes through.

    >>> distance("cityblock").name
    'manhattan'
    """
    if isinstance(name, Distance):
        return name
    word = ALIASES.get(name, name) if isinstance(name, str) else name
    check.one_of(tuple(DISTANCES), distance=word)
    return DISTANCES[word]
