r"""Intervals for quantile regression by inverting the rank score test.

To test b_j = b, fit y - b x_j by the other columns. With a_i(b) the dual values of that fit,

    T(b) = sum w_i x_ij a_i(b) / sqrt(tau (1 - tau) sum w_i z_ij^2)  ~  N(0, 1)

where z_j is what is left of x_j after a regression on the other columns, weighted by the density of
each row (all equal for "rank-iid"). T falls with b in steps: between two steps no row changes
sides. The interval is where |T| stays under the critical value of t(n - q), with the ends
interpolated between steps as R's quantreg does. No density enters T when the noise is iid, and the
interval need not be symmetric.

References: Gutenbrunner, Jureckova, Koenker & Portnoy (1993); Koenker & Machado (1999).
"""

from typing import NamedTuple

import numpy as np

from pellucid.core.arrays.typing import Array
from pellucid.linear.robust.quantile_programme import Rows, State, dual_point, optimum


class Step(NamedTuple):
    """The statistic between two steps."""

    low: float
    high: float
    statistic: float


class Restricted(NamedTuple):
    """One column against the others."""

    column: Array  # (n,)
    rows: Rows  # the other columns, y, and the prices of a residual
    w: Array
    spread: float  # sqrt(tau (1 - tau) sum w z^2)


def restrict(column: Array, rows: Rows, w: Array, f: Array, tau: float) -> Restricted:
    """The test of one column; f are the densities of the rows."""
    root = np.sqrt(w * f)
    slope = np.linalg.lstsq(root[:, None] * rows.D, root * column, rcond=None)[0]
    z = column - rows.D @ slope
    return Restricted(column, rows, w, float(np.sqrt(tau * (1 - tau) * (w @ z**2))))


def step_at(problem: Restricted, b: float, state: State | None, tau: float) -> tuple[Step, State]:
    """The statistic at b, and how far it stays the same."""
    column, rows = problem.column, problem.rows
    moved = rows._replace(y=rows.y - b * column)
    state = optimum(moved, state, tau=tau)
    scale = float(np.abs(moved.y).max()) or 1.0
    point = dual_point(moved, state, scale)
    v = column - rows.D @ (point.inverse @ column[state.basis])
    r = moved.y - rows.D @ state.theta
    free = np.abs(v) > 1e-12 * np.abs(column).max()
    free[state.basis] = False
    away = r[free] / v[free]
    up, down = away[away > 0], away[away < 0]
    low = b + down.max() if len(down) else -np.inf
    high = b + up.min() if len(up) else np.inf
    statistic = float(column @ point.a) / problem.spread
    return Step(float(low), float(high), statistic), state


def end(problem: Restricted, start: float, size: float, cut: float, tau: float) -> float:
    """Where the statistic leaves [-cut, cut], above ``start`` for size > 0, else below it."""
    side = np.sign(size)
    inner, state = step_at(problem, start, None, tau)
    outer, distance = inner, abs(size)
    while abs(outer.statistic) <= cut:
        inner = outer
        at = start + side * distance
        outer, state = step_at(problem, at, state, tau)
        distance *= 2
        reach = outer.high if side > 0 else outer.low
        if abs(outer.statistic) <= cut and (not np.isfinite(reach) or distance > 1e9 * abs(size)):
            return float(side * np.inf)
    for _ in range(200):
        near, far = (inner.high, outer.low) if side > 0 else (outer.high, inner.low)
        if not near < far - 1e-12 * max(abs(near), abs(far)):
            break
        middle, state = step_at(problem, (near + far) / 2, state, tau)
        if abs(middle.statistic) <= cut:
            inner = middle
        else:
            outer = middle
    return between(inner, outer, side, cut)


def between(inner: Step, outer: Step, side: float, cut: float) -> float:
    """Linear between the ends of the last step inside."""
    a, b = abs(inner.statistic), abs(outer.statistic)
    first, last = (inner.low, inner.high) if side > 0 else (inner.high, inner.low)
    share = (cut - a) / (b - a) if b > a else 1.0
    return float(last if not np.isfinite(first) else first + share * (last - first))
