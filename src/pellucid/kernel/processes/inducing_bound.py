r"""Titsias's bound of the log evidence, its slope, and the points: sums over rows of any number.

With K_mm = LL' and V = L^-1 K_mn every leaf of rows gives VV', Vy, y'y and its part of tr K; its
kernel is made, used and dropped. The slope is a second pass: dF/dK_nm, dF/dK_mm and dF/d diag K in
closed form, pulled through the kernel of each leaf. ``sparse_gaussian_process_regressor`` says what
the bound is, and why.

References: Titsias (2009); Burt, Rasmussen & van der Wilk (2020).
"""

import operator
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import lapack

from pellucid.core.arrays.typing import Array, IntArray, Map, Rng
from pellucid.core.loops.statistics import (
    Rows,
    Source,
    Statistic,
    add_records,
    reduce_rows,
)
from pellucid.kernel.processes.covariance import Covariance, covariance, diagonal
from pellucid.kernel.processes.evidence import HALF_LOG_TWO_PI, inverse

JITTER = 1e-8  # of the mean diagonal of K_mm: points may lie close together
JITTERS = tuple(JITTER * 10.0**i for i in range(7))  # tried in turn until the factors exist


class Unit(NamedTuple):
    """y is standardised where it is read."""

    mean: float
    size: float

    def of(self, y: Array) -> Array:
        return np.asarray((y - self.mean) / self.size)


class Sums(NamedTuple):
    """What the rows add up to, V = L^-1 K_mn."""

    P: Array  # (m, m)  VV'
    v: Array  # (m,)  Vy
    trace: float
    square: float  # y'y
    n: int


def leaf_sums(kernel: Covariance, Z: Array, L: Array, unit: Unit, rows: Rows) -> Sums:
    """The sums of one leaf."""
    X, y = rows.X, unit.of(rows.y)
    V = lapack.dtrtrs(L, covariance(kernel, X, Z).K.T, lower=1)[0]
    return Sums(V @ V.T, V @ y, float(diagonal(kernel, X).K.sum()), float(y @ y), len(y))


class Data(NamedTuple):
    """Rows of any number, read again for every sum."""

    rows: Source
    map_: Map
    unit: Unit

    def total(self, leaf: Callable[..., Any], merge: Callable[..., Any], *given: Any) -> Any:
        """One pass: a leaf function with what it is given, and the unit of y."""
        return reduce_rows(Statistic(partial(leaf, *given, self.unit), merge), self.rows, self.map_)


class Bound(NamedTuple):
    """The bound at one kernel, and the factors that predictions need."""

    value: float
    L: Array  # (m, m), of K_mm
    B: Array  # (m, m), of I + P/s^2
    beta: Array  # (m,): the mean is k_m'beta
    sums: Sums
    jitter: float  # of the mean diagonal, in K_mm


def lifted_factor(K: Array) -> tuple[Array, float] | None:
    """Factor of K a little above itself, and by which share of its mean diagonal.

    Rounding may take the least share away: it grows until the factor exists. Points seen through
    noise give a bound as well, a lower one.

    >>> lifted_factor(np.ones((2, 2)))[1], lifted_factor(-np.eye(2))
    (1e-08, None)
    """
    mean = np.trace(K) / len(K)
    for jitter in JITTERS:
        L, bad = lapack.dpotrf((K + jitter * mean * np.eye(len(K))).T, lower=1, clean=1)
        if not bad:
            return L, jitter
    return None


def lower_bound(kernel: Covariance, noise: float, data: Data, Z: Array) -> Bound | None:
    """F, or None where K_mm is not positive definite."""
    factor = lifted_factor(covariance(kernel, Z).K)
    if factor is None:
        return None
    L, jitter = factor
    sums: Sums = data.total(leaf_sums, add_records, kernel, Z, L)
    B, bad = lapack.dpotrf(np.eye(len(Z)) + sums.P / noise, lower=1, clean=1)
    if bad:
        return None
    half = lapack.dtrtrs(B, sums.v / noise, lower=1)[0]
    beta = lapack.dtrtrs(L, lapack.dtrtrs(B, half, lower=1, trans=1)[0], lower=1, trans=1)[0]
    fit, n = sums.square / noise - float(half @ half), sums.n
    value = -float(np.log(np.diag(B)).sum()) - 0.5 * n * np.log(noise) - n * HALF_LOG_TWO_PI
    value -= 0.5 * fit + 0.5 * (sums.trace - float(np.trace(sums.P))) / noise
    return Bound(float(value), L, B, beta, sums, jitter)


def leaf_slope(
    kernel: Covariance, Z: Array, noise: float, dS: Array, dv: Array, unit: Unit, rows: Rows
) -> Array:
    """What one leaf adds to the derivatives in the kernel's numbers."""
    K, pull, _ = covariance(kernel, rows.X, Z)
    W = 2.0 * (K @ dS) + np.outer(unit.of(rows.y), dv)
    return pull(W) + diagonal(kernel, rows.X).pull(np.full(len(K), -0.5 / noise))


def bound_slope(kernel: Covariance, noise: float, data: Data, Z: Array, at: Bound) -> Array:
    """Derivatives in the logarithms of the kernel's numbers and of the noise."""
    n, m = at.sums.n, len(Z)
    P, Binv = at.sums.P, inverse(at.B)

    def around(M: Array) -> Array:  # L^-T M L^-1, M symmetric
        half = lapack.dtrtrs(at.L, M, lower=1, trans=1)[0]
        return lapack.dtrtrs(at.L, half.T, lower=1, trans=1)[0]

    # dF/dS, S = K_mn K_nm, and dF/dK_mm, from the terms of F one by one
    gone = around(np.eye(m) - Binv) - np.outer(at.beta, at.beta)
    dS, dK = 0.5 / noise * gone, 0.5 * gone - 0.5 / noise * around(P)
    total = data.total(leaf_slope, operator.add, kernel, Z, noise, dS, at.beta / noise)
    corner = covariance(kernel, Z)
    lift = at.jitter * np.trace(dK) / m * np.eye(m)
    numbers = total + corner.pull(dK + lift)
    w = at.L.T @ at.beta
    spread = at.sums.square - 2.0 * float(at.sums.v @ w) + float(w @ P @ w)
    left = at.sums.trace - float(np.trace(P))
    known = m - float(np.trace(Binv))
    return np.append(numbers, 0.5 * (known - n + (spread + left) / noise))


def most_variance(kernel: Covariance, X: Array, m: int, rng: Rng) -> IntArray:
    """Rows chosen one at a time: the next is where the points so far leave most variance.

    It is the pivoted Cholesky factorisation of K: n m^2 flops, m columns of K.
    """
    left = diagonal(kernel, X).K.copy()
    C, chosen = np.empty((m, len(X))), np.empty(m, dtype=np.intp)
    tiny = JITTER * float(left.max())
    for j in range(m):
        i = int(left.argmax())
        if not left[i] > tiny:  # the rows are spanned: any others will do
            rest = np.setdiff1d(np.arange(len(X)), chosen[:j])
            return np.append(chosen[:j], rng.choice(rest, min(m - j, len(rest)), replace=False))
        chosen[j] = i
        column = covariance(kernel, X, X[i : i + 1]).K[:, 0] - C[:j].T @ C[:j, i]
        C[j] = column / np.sqrt(left[i])
        left = np.maximum(left - C[j] ** 2, 0.0)
        left[i] = 0.0
    return chosen
