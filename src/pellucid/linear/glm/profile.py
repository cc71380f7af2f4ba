r"""Profile-likelihood intervals: the values of a parameter that the data do not reject.

The interval of c't (a coefficient, or the intercept) has the values z with

    2 (l(t^) - max over c't = z of l(t)) <= cut^2,       l = -half deviance/phi

which is not symmetric and does not depend on how the parameter is written. About t, with V the
inverse curvature of -l, m = V l' and v = V c, the largest l for a move c'd = z is
l + l''m/2 - (z - c'm)^2/(2 c'v), at d = m + v (z - c'm)/(c'v). Steps that make it the wanted value
arrive in a few passes; where one leads nowhere, the maximum for held values is bracketed instead.

Reference: Venzon & Moolgavkar (1988), A method for computing profile-likelihood-based confidence
intervals.
"""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np

from pellucid.core.arrays.typing import Array
from pellucid.core.loops.backtrack import halved
from pellucid.core.runtime.threads import single_threaded_blas
from pellucid.linear.glm.newton import curved_point
from pellucid.linear.glm.sums import Problem
from pellucid.linear.logistic.outcome import inverse_of

EXACT = 1e-8  # of a standard error
JOINT_STEPS = 12
HELD_STEPS = 50
REACH = 12  # doublings of the distance before an end is called infinite


class Hill(NamedTuple):
    """l at t, its slope, and the inverse of its curvature."""

    theta: Array
    value: float
    score: Array  # (q,)
    V: Array  # (q, q)


Climb = Callable[[Array], Hill]  # t -> the hill there


def hill(problem: Problem, phi: float, theta: Array) -> Hill:
    """l and its derivatives at theta; minus infinity where the means overflow."""
    point, scale = curved_point(problem, theta), problem.total / phi
    if not np.isfinite(point.objective):
        return Hill(theta, -np.inf, 0 * theta, np.eye(len(theta)))
    V = inverse_of(point.curvature * scale)
    return Hill(theta, -point.loss / phi, -point.slope * scale, V)


def joint_end(climb: Climb, best: Hill, c: Array, sign: float, drop: float) -> float | None:
    """An end of the interval, by steps that move all parameters; None where they lead nowhere."""
    at, wanted = best, best.value - drop
    for _ in range(JOINT_STEPS):
        m, v = at.V @ at.score, at.V @ c
        above, width = at.value + 0.5 * float(at.score @ m) - wanted, float(c @ v)
        if not (above > 0 and width > 0):
            return None
        away = sign * np.sqrt(2 * width * above)
        off = float(at.score @ m) - float(c @ m) ** 2 / width
        if abs(c @ m + away) <= EXACT * np.sqrt(width) and off <= EXACT:
            return float(c @ at.theta + c @ m + away)
        at = climb(at.theta + m + v * (away / width))
        if not at.value > wanted - 4 * drop:  # far beyond the end
            return None
    return None


def held_maximum(climb: Climb, start: Array, c: Array, value: float) -> Hill:
    """The largest l with c't = value."""
    V = climb(start).V
    at = climb(start + V @ c * ((value - c @ start) / (c @ V @ c)))
    if not np.isfinite(at.value):  # along the axis instead
        at = climb(start + c * ((value - c @ start) / (c @ c)))
    for _ in range(HELD_STEPS):
        v = at.V @ c
        m = at.V @ at.score - v * ((v @ at.score) / (c @ v))
        if not (np.isfinite(at.value) and at.score @ m > EXACT**2):
            break
        origin, step = at.theta, m

        def attempt(t: float, origin: Array = origin, step: Array = step) -> tuple[Hill, float]:
            tried = climb(origin + t * step)
            return tried, -tried.value

        at = halved(attempt, -at.value, most=30, noise=1e-12 * abs(at.value)).point
    return at


def bracketed_end(climb: Climb, best: Hill, c: Array, sign: float, drop: float) -> float:
    """An end of the interval between two values of which one is inside; infinite if none is out."""
    error, warm = float(np.sqrt(c @ best.V @ c)), [best.theta]

    def excess(distance: float) -> float:
        value = float(c @ best.theta) + sign * distance
        found = held_maximum(climb, warm[0], c, value)
        if not np.isfinite(found.value):
            return drop
        warm[0] = found.theta
        return best.value - found.value - drop

    far = 2.0 * error
    for _ in range(REACH):
        if excess(far) > 0:
            break
        far *= 2
    else:
        return float(sign * np.inf)
    warm[0] = best.theta
    from scipy.optimize import brentq  # slow to import, and seldom needed

    return float(c @ best.theta + sign * brentq(excess, 0.0, far, xtol=1e-9 * error, rtol=1e-12))


def profile_ends(climb: Climb, theta: Array, C: Array, drop: float) -> Array:
    """Ends (m, 2) of the intervals of c't for the rows c of C, where l falls by ``drop``."""
    with single_threaded_blas():
        best, ends = climb(theta), np.empty((len(C), 2))
        for j, c in enumerate(C):
            for k, sign in enumerate((-1.0, 1.0)):
                end = joint_end(climb, best, c, sign, drop)
                found = bracketed_end(climb, best, c, sign, drop) if end is None else end
                ends[j, k] = found
    return ends


def profile_intervals(problem: Problem, phi: float, theta: Array, cut: float) -> Array:
    """Ends (q', 2) for the intercept, where there is one, and every coefficient."""
    C = np.eye(len(theta))
    C[0, 1:] = -problem.shift  # b = t_0 - shift.w
    C = C if problem.intercept else C[1:]
    return profile_ends(partial(hill, problem, phi), theta, C, 0.5 * cut**2)
