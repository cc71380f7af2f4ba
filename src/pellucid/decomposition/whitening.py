r"""Rows of unit covariance, from one pass over rows of any number.

Whitened     Z = sqrt(n) (X - m) K',  K = D^-1 V' of  C = U D V',  C = sqrt(w) (X - m)
Triangle     C = Q R has the same D and V, and triangles merge: those of two sets of rows stacked,
             with the way between their means,  R'R = A'A + B'B + (b - a)(b - a)' Wa Wb / W

By the triangle nothing is squared, so that directions keep their digits down to eps times the
largest; by the cross-products of X they keep half as many, in half the time.
"""

from typing import NamedTuple

import numpy as np

from pellucid.core.algebra.linalg import EPS, triangle
from pellucid.core.arrays.scale import is_extreme, scaled, unit_exponent
from pellucid.core.arrays.tensors import namespace
from pellucid.core.arrays.typing import Array, Map
from pellucid.core.loops.device import DeviceRows, centred, on_device
from pellucid.core.loops.statistics import (
    Moments,
    Rows,
    Source,
    Statistic,
    is_unit,
    merge_moments,
    reduce_rows,
)
from pellucid.core.runtime.threads import single_threaded_blas
from pellucid.core.runtime.warn import warn
from pellucid.decomposition import row_sums

TINY = float(np.finfo(np.float64).tiny)


class Factor(NamedTuple):
    """Weight and mean of some rows, and R'R = sum w (x - mean)(x - mean)'."""

    weight: float
    mean: Array  # (p,)
    R: Array  # (at most p, p)


def compact(C: Array) -> Array:
    """The triangle of C where it has fewer rows; LAPACK loses its way among denormal numbers."""
    if len(C) <= C.shape[1]:
        return C
    shift = unit_exponent(C)
    return scaled(triangle(scaled(C, shift)), -shift)


def leaf_factor(rows: Rows) -> Factor:
    """The factor of one leaf.

    >>> leaf_factor(Rows(np.array([[1.0], [3.0]]), None, np.ones(2))).R.round(3)
    array([[1.414]])
    """
    X, w = rows.X, rows.w
    with np.errstate(over="ignore"):
        row_sums.refuse_overflow(np.square(X).sum())
    weight = float(w.sum())
    if weight == 0:
        return Factor(0.0, np.zeros(X.shape[1]), np.zeros((0, X.shape[1])))
    origin = X[0] if is_unit(w) else X[np.argmax(w)]
    C = X - origin
    offset = (C.sum(axis=0) if is_unit(w) else w @ C) / weight
    C -= offset
    if not is_unit(w):
        C *= np.sqrt(w)[:, None]
    return Factor(weight, origin + offset, compact(C))


@on_device(leaf_factor)
def device_factor(rows: DeviceRows) -> Factor:
    """The same of tensors."""
    xp = namespace(rows.X)
    mean, C = centred(rows.X, rows.w)
    C = C if rows.w is None else C * xp.sqrt(rows.w)[:, None]
    R = C if C.shape[0] <= C.shape[1] else xp.linalg.qr(C, mode="reduced").R
    return Factor(float(xp.sum(rows.weights())), mean[0, :], R)


def merge_factors(a: Factor, b: Factor) -> Factor:
    """The factor of two sets of rows taken together."""
    if a.weight == 0 or b.weight == 0:
        return b if a.weight == 0 else a
    weight, gap = a.weight + b.weight, b.mean - a.mean
    way = gap * np.sqrt(a.weight * (b.weight / weight))
    return Factor(weight, a.mean + gap * (b.weight / weight), compact(np.vstack([a.R, b.R, way])))


FACTORS = Statistic(leaf_factor, merge_factors)
MOMENTS = Statistic(row_sums.leaf_moments, merge_moments)


class Whitening(NamedTuple):
    """How rows become white, and how long the sources of all rows are."""

    K: Array  # (k, p) of rows divided by 2**shift
    shift: int
    mean: Array  # (p,)
    n: float
    half: Array  # (r, k): half'half = K C'C K'

    @property
    def matrix(self) -> Array:
        """K of the rows as they are."""
        K = scaled(self.K, self.shift)
        if not np.isfinite(K).all():
            raise ValueError(
                f"the columns vary by {np.ldexp(1.0, self.shift):.3g} at most, too little to be "
                "scaled to unit variance: multiply X by a large number"
            )
        return K

    def of(self, X: Array) -> Array:
        """The white rows (n, k) of X."""
        return np.asarray(scaled(X - self.mean, self.shift) @ self.K.T * np.sqrt(self.n))

    def spread(self, W: Array) -> Array:
        """The standard deviation over the rows of every source W z / sqrt(n)."""
        return np.asarray(np.linalg.norm(self.half @ W.T, axis=0) / np.sqrt(self.n))


def whitening(rows: Source, map_: Map, k: int, solver: str) -> Whitening:
    """By the triangle of the centred rows ("svd"), or by the eigenvectors of X'X ("eigh")."""
    weight, mean, R, shift = summed(rows, map_, solver)
    if not R.any():
        raise ValueError("no column varies, so there is nothing to unmix")
    with single_threaded_blas():
        d, V = by_squares(R) if solver == "eigh" else np.linalg.svd(R, full_matrices=False)[1:]
    signs = np.where(V[:, :1] < 0, -1.0, 1.0)
    K = (signs * V)[:k] / np.maximum(d[:k], EPS * max(float(d[0]), TINY))[:, None]
    return Whitening(K, shift, mean, weight, R @ K.T)


class Summed(NamedTuple):
    """Weight and mean of the rows, and C'C = 4**shift R'R."""

    weight: float
    mean: Array  # (p,)
    R: Array
    shift: int


def summed(rows: Source, map_: Map, solver: str) -> Summed:
    """One pass; a second by the triangle where squares would vanish."""
    if solver == "eigh":
        total: Moments = reduce_rows(MOMENTS, rows, map_)
        row_sums.refuse_overflow(total.scatter)
        largest = float(np.diag(total.scatter).max())
        shift = unit_exponent(np.sqrt(largest))
        if largest > 0 and not is_extreme(shift):
            squares, U = np.linalg.eigh(scaled(total.scatter, 2 * shift))
            R = np.sqrt(np.maximum(squares, 0.0))[:, None] * U.T
            return Summed(total.weight, total.mean, R, shift)
    weight, mean, R = reduce_rows(FACTORS, rows, map_)
    shift = unit_exponent(R)
    return Summed(weight, mean, scaled(R, shift), shift)


def by_squares(R: Array) -> tuple[Array, Array]:
    """Lengths and directions from R'R, as scikit-learn's solver "eigh" has them."""
    squares, U = np.linalg.eigh(R.T @ R)
    floor = 10 * EPS * max(float(squares[-1]), TINY)
    if (squares < floor).any():
        warn(
            "There are some small singular values, using whiten_solver = 'svd' might lead to "
            "more accurate results."
        )
    return np.sqrt(np.maximum(squares, floor))[::-1], U.T[::-1]
