r"""A primal-dual interior-point method for convex quadratic programmes.

    min 1/2 x'P x + q'x     A x = b,   G x + s = h,   s >= 0

    P x + q + A'y + G'z = 0,   A x = b,   G x + s = h,   s_i z_i = mu,   s, z > 0,  mu -> 0

Every step is Newton's on these equations, with Mehrotra's predictor (mu = 0) and corrector; with
D = diag(z / s) it needs one factor of H = P + G'D G, which the problem brings as ``factor(D)`` so
that its structure is used. Costs and residuals are those of cvxopt's table:

    pcost 1/2 x'Px + q'x     gap s'z     dcost = Lagrangian at (x, y, z) = pcost - gap - residuals
    pres, dres  relative residuals of the constraints and of the gradient
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from pellucid.core.arrays.typing import Array

ROUNDING = 1e-10  # residuals that no step makes smaller once the gap is gone


class Programme(NamedTuple):
    """The pieces of a quadratic programme, as functions where they have structure."""

    P: Callable[[Array], Array]
    q: Array
    G: Callable[[Array], Array]
    Gt: Callable[[Array], Array]
    h: Array
    A: Array  # (m, n), may have no rows
    b: Array
    factor: Callable[[Array], Callable[[Array], Array]]  # D -> (r -> H^-1 r)


class Point(NamedTuple):
    """An iterate with its costs and residuals."""

    x: Array
    y: Array
    s: Array
    z: Array
    pcost: float
    dcost: float
    gap: float
    pres: float
    dres: float

    def row(self) -> dict[str, Any]:
        """The row of the history."""
        names = ("pcost", "dcost", "pres", "dres")
        return {"objective": self.pcost, **{name: getattr(self, name) for name in names}}


def measure(f: Programme, x: Array, y: Array, s: Array, z: Array) -> Point:
    """Costs and residuals of a point."""
    Px = f.P(x)
    pcost = 0.5 * float(x @ Px) + float(f.q @ x)
    equality, inequality = f.A @ x - f.b, f.G(x) + s - f.h
    dual = Px + f.q + f.A.T @ y + f.Gt(z)
    size = max(1.0, float(np.linalg.norm(np.concatenate([f.b, f.h]))))
    pres = float(np.linalg.norm(np.concatenate([equality, inequality]))) / size
    dres = float(np.linalg.norm(dual)) / max(1.0, float(np.linalg.norm(f.q)))
    dcost = pcost + float(y @ equality) + float(z @ (inequality - s))
    return Point(x, y, s, z, pcost, dcost, float(s @ z), pres, dres)


def solve_newton(
    f: Programme, solve: Callable[[Array], Array], D: Array, rx: Array, ry: Array, rz: Array
) -> tuple[Array, Array, Array]:
    """dx, dy, dz of  P dx + A'dy + G'dz = rx,  A dx = ry,  G dx - dz / D = rz."""
    right = rx + f.Gt(D * rz)
    u = solve(right)
    if len(f.b):
        V = np.column_stack([solve(row) for row in f.A])
        dy: Array = np.linalg.lstsq(f.A @ V, f.A @ u - ry, rcond=None)[0].astype(np.float64)
        dx = u - V @ dy
    else:
        dy, dx = np.zeros(0), u
    return dx, dy, D * (f.G(dx) - rz)


def longest(v: Array, dv: Array) -> float:
    """The largest step in [0, 1] that keeps v + step dv >= 0."""
    falling = dv < 0
    return float(min(1.0, (-v[falling] / dv[falling]).min(initial=np.inf)))


def start(f: Programme, x: Array) -> Point:
    """Solve with D = 1, then move s and z into the positive orthant."""
    D = np.ones_like(f.h)
    zero = np.zeros(len(f.q))
    dx, y, z = solve_newton(f, f.factor(D), D, zero - f.q, f.b, f.h)
    s = -z
    x = x + dx
    for v in (s, z):
        least = float(v.min())
        if least <= 1e-8 * max(1.0, float(np.abs(v).max())):
            v += 1.0 - least
    return measure(f, x, y, s, z)


def interior_step(f: Programme, p: Point) -> Point:
    """One predictor and corrector step."""
    D = p.z / p.s
    solve = f.factor(D)
    rx = -(f.P(p.x) + f.q + f.A.T @ p.y + f.Gt(p.z))
    ry, rz = f.b - f.A @ p.x, f.h - f.G(p.x) - p.s
    mu = p.gap / len(p.s)

    def direction(target: Array) -> tuple[Array, Array, Array, Array]:
        """Newton's direction to s z = z s + target, ds from the linearised product."""
        dx, dy, dz = solve_newton(f, solve, D, rx, ry, rz - target / p.z)
        return dx, dy, (target - p.s * dz) / p.z, dz

    _, _, ds, dz = direction(-p.s * p.z)
    step = min(longest(p.s, ds), longest(p.z, dz))
    centre = (1.0 - step) ** 3
    dx, dy, ds, dz = direction(centre * mu - p.s * p.z - ds * dz)
    step = min(1.0, 0.99 * longest(p.s, ds), 0.99 * longest(p.z, dz))
    if min(longest(p.s, ds), longest(p.z, dz)) >= 1.0:
        step = 1.0
    small = np.finfo(float).tiny
    s, z = np.maximum(p.s + step * ds, small), np.maximum(p.z + step * dz, small)
    return measure(f, p.x + step * dx, p.y + step * dy, s, z)


def distance_to_go(p: Point, tol: float, floor: float = 1.0) -> float:
    """The gap s'z, at most ``tol`` exactly when the relative gap and the residuals are.

    They are relative to the cost, or to ``floor`` where the cost is smaller.

    >>> nothing = np.zeros(0)
    >>> distance_to_go(Point(nothing, nothing, nothing, nothing, 100, 100, 1e-7, 0, 0), 1e-8)
    1e-08
    """
    scale = max(floor, abs(p.pcost))
    reach = max(tol * min(1.0, scale), 1e-13)  # rounding hides what is smaller
    done = p.gap <= max(tol * scale, 1e-16) and p.pres <= tol and p.dres <= reach
    done = done or (p.gap <= 1e-15 * scale and max(p.pres, p.dres) <= ROUNDING)  # tol too small
    return min(p.gap, tol) if done else max(p.gap, 1.01 * tol)
