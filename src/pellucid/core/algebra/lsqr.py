r"""Least squares from products alone: LSQR of Paige and Saunders.

Golub and Kahan's bidiagonalisation of A, started at b, gives orthonormal U, V and a lower
bidiagonal B with  A V = U B;  the point of the Krylov space with the smallest residual follows by
one rotation a step:

    min |b - A x|  over  x in span(A'b, (A'A) A'b, ...)                     two products a step

From x = 0 it ends at the solution of least norm, and equals conjugate gradients on A'A x = A'b
without squaring the condition. Steps needed: about cond(A) log(1/tol).

It stops when  |A'r| <= tol |A| |r|  (the gradient is rounding) or  |r| <= tol (|b| + |A| |x|)
(the equations are solved), |A| being the Frobenius norm of B so far.

Reference: Paige & Saunders (1982), LSQR: an algorithm for sparse linear equations and sparse least
squares.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from pellucid.core.arrays.typing import Array

Product = Callable[[Array], Array]


class Lsqr(NamedTuple):
    """Where the iteration stands."""

    x: Array  # (p,)
    u: Array  # (m,) and v (p,): the last vectors of the two bases
    v: Array
    w: Array  # (p,) the direction of the next step
    alpha: float  # the last entry of the diagonal of B
    rho: float  # the entry of its rotated form
    phi: float  # |r|
    size: float  # |A|, from the entries of B so far
    inverse: float  # of A over the space so far: size x inverse estimates the condition
    slope: float  # |A'r|

    @property
    def objective(self) -> float:
        """The squared residual."""
        return self.phi**2

    @property
    def condition(self) -> float:
        """An estimate from below of the condition of A."""
        return self.size * self.inverse


def start(b: Array, transposed: Product, p: int) -> Lsqr:
    """x = 0, and the first vectors of the two bases."""
    beta = float(np.linalg.norm(b))
    u = b / beta if beta > 0 else b
    v = transposed(u) if beta > 0 else np.zeros(p)
    alpha = float(np.linalg.norm(v))
    v = v / alpha if alpha > 0 else v
    return Lsqr(np.zeros(p), u, v, v.copy(), alpha, alpha, beta, alpha, 0.0, alpha * beta)


def step(times: Product, transposed: Product, size_b: float, s: Lsqr) -> tuple[Lsqr, float]:
    """One step, and how far it is from the end: compare with ``tol``."""
    if s.slope == 0.0:
        return s, 0.0
    u = times(s.v) - s.alpha * s.u
    beta = float(np.linalg.norm(u))
    u = u / beta if beta > 0 else u
    v = transposed(u) - beta * s.v
    alpha = float(np.linalg.norm(v))
    v = v / alpha if alpha > 0 else v
    rho = float(np.hypot(s.rho, beta))
    c, sine = s.rho / rho, beta / rho
    theta, bar = sine * alpha, -c * alpha
    x = s.x + (c * s.phi / rho) * s.w
    inverse = float(np.hypot(s.inverse, np.linalg.norm(s.w) / rho))
    w = v - (theta / rho) * s.w
    size = float(np.sqrt(s.size**2 + alpha**2 + beta**2))
    phi = sine * s.phi
    slope = phi * abs(bar)
    new = Lsqr(x, u, v, w, alpha, bar, phi, size, inverse, slope)
    solved = phi / (size_b + size * float(np.linalg.norm(x)))
    flat = slope / (size * phi) if size * phi > 0 else 0.0
    return new, min(solved, flat)
