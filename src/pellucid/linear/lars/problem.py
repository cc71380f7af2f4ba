r"""What a least angle path starts from: cross-products where they cost no digits, else rows.

With the condition of the unit-norm columns at most FACTOR_ABOVE, the moments of [X y] serve as
they are. Otherwise, and for p >= n, the walk orthogonalises the compact rows
(``core.algebra.least_squares.Compact``), which never squares the condition.
"""

from typing import NamedTuple

import numpy as np
from scipy.linalg import lapack

from pellucid.core.algebra import least_squares
from pellucid.core.algebra.least_squares import FACTOR_ABOVE, Compact
from pellucid.core.arrays.typing import Array, Map
from pellucid.core.loops.statistics import Moments, Source
from pellucid.core.runtime.threads import single_threaded_blas


class Problem(NamedTuple):
    """A path to walk: rows A, c or cross-products G, and n."""

    A: Array  # (m, p), or (0, 0) where only the cross-products are known
    G: Array  # (p, p), or (0, 0) where the rows are used
    c: Array  # (m,) or (0,)
    c0: Array  # (p,) A'c
    norm: Array  # (p,)
    yy: float  # c'c
    rest: float  # squares of y that no column explains
    n: float
    rank: int  # at most
    wide: bool = False  # no more rows than columns: these depend on each other anyway


class Problems(NamedTuple):
    """One problem per target, and where the rows were looked at from."""

    parts: list[Problem]
    mean: Array  # (p,)
    y_mean: Array  # (k,)

    def intercept(self, coef: Array) -> Array:
        """The intercepts of coefficients (k, p)."""
        return self.y_mean - coef @ self.mean


def problems(
    source: Source, map_: Map, total: Moments | None, p: int, *, intercept: bool
) -> Problems:
    """By cross-products where they cost no digits, else by compact rows; ``total`` None: n <= p."""
    with single_threaded_blas():
        parts = None if total is None else sums_problems(total, p, intercept=intercept)
        if total is not None and parts is not None:
            at = least_squares.coordinates(total, p, intercept=intercept)
            return Problems(parts, at.shift, at.y_shift)
        small = least_squares.compact_rows(source, map_, total, p, intercept=intercept)
        parts = [part._replace(wide=total is None) for part in compact_problems(small)]
        return Problems(parts, small.mean, small.y_mean)


def compact_problems(small: Compact) -> list[Problem]:
    """One problem per target from compact rows, by cross-products where they cost no digits."""
    A, none = np.ascontiguousarray(small.A), np.zeros((0, 0))
    norm, rest = np.linalg.norm(A, axis=0), np.maximum(np.diag(small.rest), 0.0)
    gram = small.condition <= FACTOR_ABOVE
    G = A.T @ A if gram else none
    found = []
    for c, r in zip(small.c.T, rest, strict=True):
        own = np.zeros(0) if gram else np.ascontiguousarray(c)
        sizes = norm, float(c @ c), float(r), small.weight, min(A.shape)
        found.append(Problem(none if gram else A, G, own, A.T @ c, *sizes))
    return found


def sums_problems(total: Moments, p: int, *, intercept: bool) -> list[Problem] | None:
    """One problem per target from the moments of [X y]; None where they have lost digits."""
    G, B, Y = least_squares.normal_system(total, p, "centred" if intercept else "slopes")
    norm = np.sqrt(np.diag(G))
    live = np.flatnonzero(norm)
    R = G[np.ix_(live, live)] / np.outer(norm[live], norm[live])
    L, info = lapack.dpotrf(R, lower=1)
    if info != 0 or len(live) == 0:
        return None
    rcond, _ = lapack.dpocon(L, np.abs(R).sum(axis=0).max(), uplo="L")
    if rcond * FACTOR_ABOVE**2 < 1:
        return None
    whole, size = (np.zeros((0, 0)), np.ascontiguousarray(G), np.zeros(0)), (0.0, total.weight)
    targets = [(b.copy(), norm, float(yy)) for b, yy in zip(B.T, np.diag(Y), strict=True)]
    return [Problem(*whole, *target, *size, len(live)) for target in targets]
