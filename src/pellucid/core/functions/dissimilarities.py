r"""Further distances between rows, in the form of those of ``core.functions.distances``.

Of truth values (a cell counts as true when it is not 0), with the numbers of coordinates
tt both true, tf and ft only one, ff none, and u = tf + ft:

    jaccard     u / (tt + u)            dice            u / (2 tt + u)
    russellrao  (p - tt) / p            rogerstanimoto  2u / (tt + ff + 2u)
    sokalsneath 2u / (tt + 2u)          yule            2 tf ft / (tt ff + tf ft)

0/0 is 0. The counts are exact, so these agree with any other way of counting.

    braycurtis     sum |a - b| / sum |a + b|
    haversine      the angle between two points (latitude, longitude) on a sphere, in radians
    nan_euclidean  sqrt(p / |T| sum_T (a_t - b_t)^2) over the coordinates T that both have
"""

from collections.abc import Callable

import numpy as np

from pellucid.core.arrays.typing import Array
from pellucid.core.functions.distances import Pairwise, row_blocks

Counts = tuple[Array, Array, Array, Array, Array, int]


def truth_counts(A: Array, B: Array) -> Counts:
    """tt, u, tf, ft, ff (each (n, m)) and the number of coordinates."""
    a, b = (A != 0).astype(np.float64), (B != 0).astype(np.float64)
    tt = a @ b.T
    tf = a.sum(axis=1)[:, None] - tt
    ft = b.sum(axis=1)[None, :] - tt
    p = A.shape[1]
    return tt, tf + ft, tf, ft, p - tt - tf - ft, p


def _share(part: Array, whole: Array) -> Array:
    return np.divide(part, whole, out=np.zeros_like(part), where=whole > 0)


BINARY: dict[str, Callable[..., Array]] = {
    "jaccard": lambda tt, u, tf, ft, ff, p: _share(u, tt + u),
    "dice": lambda tt, u, tf, ft, ff, p: _share(u, 2 * tt + u),
    "russellrao": lambda tt, u, tf, ft, ff, p: (p - tt) / p,
    "rogerstanimoto": lambda tt, u, tf, ft, ff, p: 2 * u / (tt + ff + 2 * u),
    "sokalmichener": lambda tt, u, tf, ft, ff, p: 2 * u / (tt + ff + 2 * u),
    "sokalsneath": lambda tt, u, tf, ft, ff, p: _share(2 * u, tt + 2 * u),
    "yule": lambda tt, u, tf, ft, ff, p: _share(2 * tf * ft, tt * ff + tf * ft),
}


def pairwise_binary(A: Array, B: Array, *, name: str) -> Array:
    """A distance of truth values.

    >>> A = np.array([[1.0, 1.0, 0.0]])
    >>> pairwise_binary(A, np.array([[1.0, 0.0, 0.0]]), name="jaccard")
    array([[0.5]])
    """
    return BINARY[name](*truth_counts(A, B))


def pairwise_braycurtis(A: Array, B: Array) -> Array:
    """Sum of differences by the sum of sums; 0 where both are zero.

    >>> pairwise_braycurtis(np.array([[1.0, 2.0]]), np.array([[3.0, 2.0]]))
    array([[0.25]])
    """

    def share(a: Array) -> Array:
        return _share(np.abs(a - B).sum(axis=2), np.abs(a + B).sum(axis=2))

    return row_blocks(share, A, B)


def pairwise_haversine(A: Array, B: Array) -> Array:
    """Angles between points on a sphere; rows are (latitude, longitude) in radians.

    >>> pairwise_haversine(np.array([[0.0, 0.0]]), np.array([[0.0, 0.5]]))
    array([[0.5]])
    """
    if A.shape[1] != 2:
        raise ValueError(f"haversine needs 2 columns, latitude and longitude, got {A.shape[1]}")
    sines = np.sin(0.5 * (A[:, None, :] - B)) ** 2
    across = np.cos(A[:, 0])[:, None] * np.cos(B[:, 0]) * sines[..., 1]
    return 2 * np.arcsin(np.sqrt(sines[..., 0] + across))


def pairwise_nan_euclidean(A: Array, B: Array) -> Array:
    """Euclidean over the coordinates that both rows have, scaled up; NaN where there is none.

    >>> pairwise_nan_euclidean(np.array([[0.0, np.nan]]), np.array([[3.0, 1.0]])).round(4)
    array([[4.2426]])
    """

    def scaled(a: Array) -> Array:
        E = a - B
        there = ~np.isnan(E)
        total = np.where(there, E, 0.0)
        count = there.sum(axis=2)
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.sqrt(A.shape[1] / count * np.einsum("imt,imt->im", total, total))

    return row_blocks(scaled, A, B)


FURTHER: dict[str, Pairwise] = {
    "braycurtis": pairwise_braycurtis,
    "haversine": pairwise_haversine,
    "nan_euclidean": pairwise_nan_euclidean,
}
