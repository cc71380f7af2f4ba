r"""Newton's method for support vector problems with a linear score (``margin_problem.py``).

Squared losses are piecewise quadratic with a continuous slope: Newton's method on the rows that
have a loss ends in finitely many steps. Hinge and epsilon-insensitive loss have kinks. There the
proximal method of multipliers solves, for centres p0 and widths sigma,

    min_{w,b} |w|^2/2 + delta (b - b0)^2/2
              + sum v max_p [p e - epsilon |p| - (p - p0)^2/(2 sigma)],   then p0 <- p, b0 <- b

Each of these has a continuous slope and is solved by the same Newton steps (a quadratic programme
again needs finitely many rounds); only rows with p strictly inside its box have curvature, in the
end the few on the margin. sigma grows while a round does not bring the gap down enough.

Along a step the problem is a piecewise quadratic of one variable, minimised by Newton's method
between brackets on the scores alone. Many rows: the first steps are taken on a sample of them. The
gap is (P - D)/P, and ``tol^2`` is asked of it: |w - w*| is then about tol sqrt(P) at most.

Cost         a step: O(n p) to read, O(m p^2) for m rows with curvature

References: Mangasarian (2002), A finite Newton method for classification; Keerthi & DeCoste (2005);
Rockafellar (1976); Li, Sun & Toh (2018), semismooth Newton augmented Lagrangian.
"""

from typing import NamedTuple

import numpy as np

from pellucid.core.arrays.typing import Array
from pellucid.core.runtime.threads import single_threaded_blas
from pellucid.kernel.linear_svm import margin_problem
from pellucid.kernel.linear_svm.line_minimum import line_minimum
from pellucid.kernel.linear_svm.margin_problem import Point, Problem, Smoothing

SEARCHES = 60
FLAT = 0.05  # share of the first slope that a search along a step may leave
INNER = 0.1  # of the gap: a decrement below it means that the centre is what is wrong
GROW, SLOW = 6.0, 0.1  # sigma grows while a round leaves more than this share of the gap
EXACT = 1e-14  # relative gap below which rounding decides
SAMPLE = 100_000  # rows from which a sample is solved first
SHARE = 16  # one row in so many


class NewtonState(NamedTuple):
    """A point, the direction from it, and the smoothing under which both were computed."""

    point: Point
    direction: Array | None  # None: not looked for yet, it may not be needed
    decrement: float  # -slope.direction
    smooth: Smoothing
    before: float  # gap when the centre was last moved
    bound: float  # the largest D seen


def spread(problem: Problem) -> float:
    """The size of a residual: 1 for classes, the deviation of y in regression."""
    if problem.loss.classify:
        return 1.0
    share = problem.v / problem.v.sum()
    size = float(np.sqrt(share @ (problem.y - share @ problem.y) ** 2))
    return size if size > 0 else max(problem.loss.epsilon, 1.0)


def start(problem: Problem, theta: Array | None = None, width: float = 1.0) -> NewtonState:
    """The state at theta, or at zero with the best constant; ``width`` of the first smoothing."""
    n, loss = len(problem.y), problem.loss
    total = float(problem.v.sum())
    if theta is None:
        theta = np.zeros(len(problem.ridge))
        if problem.free and not loss.classify:
            theta[0] = float(problem.v @ problem.y) / total
    if np.isfinite(loss.kappa):
        smooth = Smoothing(np.zeros(n), np.inf, theta[0], 1e-12 * loss.kappa * total)
    else:
        sigma = 0.5 * loss.upper / (spread(problem) * width)  # at zero every row is free
        smooth = Smoothing(np.zeros(n), sigma, theta[0], 1e-9 * sigma * width * total)
    with single_threaded_blas():
        e = problem.y - margin_problem.design_times(problem, theta)
        point = margin_problem.evaluate(problem, theta, e, smooth)
        return aim(problem, point, smooth, np.inf, -np.inf)


def aim(
    problem: Problem, point: Point, smooth: Smoothing, before: float, bound: float
) -> NewtonState:
    """The Newton direction from a point; its gap is judged by the largest bound seen."""
    bound = max(bound, point.objective - point.gap)
    point = point._replace(gap=max(point.objective - bound, 0.0))
    state = NewtonState(point, None, np.inf, smooth, before, bound)
    later = margin_problem.is_costly(problem) and not np.isfinite(smooth.sigma)
    return state if later else turn(problem, state)


def turn(problem: Problem, state: NewtonState) -> NewtonState:
    """The same state with its direction."""
    direction = margin_problem.newton_direction(problem, state.point, state.smooth.delta)
    return state._replace(direction=direction, decrement=-float(state.point.slope @ direction))


def search(problem: Problem, state: NewtonState) -> Point:
    """The point where the smoothed problem is lowest along the direction."""
    point, d, smooth = state.point, state.direction, state.smooth
    assert d is not None
    f = margin_problem.design_times(problem, d)
    theta, ridge = point.theta, problem.ridge
    bend0 = float(ridge @ d**2)
    slope0 = float((ridge * theta) @ d)
    if problem.free:
        bend0 += smooth.delta * d[0] ** 2
        slope0 += smooth.delta * (theta[0] - smooth.b0) * d[0]

    def slopes(t: float) -> tuple[float, float]:
        slope, bend = margin_problem.line_slopes(problem, point.e, f, t, smooth)
        return slope0 + t * bend0 - slope, bend0 + bend

    t = line_minimum(slopes, FLAT * state.decrement, most=SEARCHES)
    return margin_problem.evaluate(problem, theta + t * d, point.e - t * f, smooth)


def recentre(problem: Problem, state: NewtonState) -> NewtonState:
    """Move the centres to the point, and grow sigma where the last round brought little."""
    point, smooth = state.point, state.smooth
    sigma = smooth.sigma
    if point.gap > SLOW * state.before or not np.isfinite(state.before):
        sigma *= GROW
    smooth = Smoothing(point.P, sigma, float(point.theta[0]), smooth.delta)
    moved = margin_problem.evaluate(problem, point.theta, point.e, smooth)
    return aim(problem, moved, smooth, point.gap, state.bound)


def relative_gap(point: Point) -> float:
    """(P - D)/P; 0 where rounding decides."""
    gap = point.gap / max(point.objective, 1e-300)
    return gap if gap > EXACT else 0.0


def newton_step(problem: Problem, state: NewtonState) -> tuple[NewtonState, float]:
    """One Newton step; new centres where the smoothed problem is solved well enough."""
    kinked = np.isfinite(state.smooth.sigma)
    with single_threaded_blas():
        if state.direction is None:
            state = turn(problem, state)
            if state.decrement <= EXACT * state.point.objective:
                return state, 0.0
        new = aim(problem, search(problem, state), state.smooth, state.before, state.bound)
        point = new.point
        gap = relative_gap(point)
        if not kinked:
            done = new.decrement <= EXACT * point.objective  # no step changes the value
            return new, 0.0 if done else gap
        if gap > 0 and new.decrement <= INNER * max(point.objective - point.value, 0.0):
            new = recentre(problem, new)
    return new, gap


def sample_start(problem: Problem, tol: float) -> NewtonState:
    """Where to start: at the solution of every SHARE-th row where there are many."""
    n = len(problem.y)
    if n < SAMPLE or not isinstance(problem.X, np.ndarray):
        return start(problem)
    part = slice(None, None, SHARE)
    X, y, v = (np.ascontiguousarray(A[part]) for A in (problem.X, problem.y, problem.v))
    total = float(v.sum())
    if total == 0 or len(np.unique(y)) < 2:
        return start(problem)
    small = problem._replace(X=X, y=y, v=v * (float(problem.v.sum()) / total))
    state = sample_start(small, tol)
    for _ in range(60):
        state, gap = newton_step(small, state)
        if gap <= max(tol**2, 1e-5):
            break
    return start(problem, state.point.theta, width=0.05)


def middle_intercept(problem: Problem, point: Point) -> float:
    """b; the middle of the interval of minima where no row on the margin fixes it.

    The slope of sum v l(y - z - b) in b is a staircase; a step of height 0 is such an interval.
    """
    loss, b = problem.loss, float(point.theta[0])
    if not problem.free or np.isfinite(loss.kappa) or len(problem.y) > SAMPLE:
        return b
    size = np.abs(point.P)
    inside = (size > 1e-6 * loss.upper) & (size < (1 - 1e-6) * loss.upper) & (problem.v > 0)
    if inside.any():
        return b
    z = problem.X @ point.theta[1:] - problem.shift @ point.theta[1:]
    e, v, y = problem.y - z, problem.v, problem.y
    if loss.classify:  # the slope rises by v at b = e: towards 0 for y = 1, from 0 for y = -1
        ends, rises, first = e, v, -float(v[y > 0].sum())
    else:
        ends = np.concatenate([e - loss.epsilon, e + loss.epsilon])
        rises, first = np.concatenate([v, v]), -float(v.sum())
    order = np.argsort(ends, kind="stable")
    heights = first + np.cumsum(rises[order])
    flat = np.flatnonzero(np.abs(heights) <= 1e-9 * v.sum())
    if len(flat) == 0 or flat[-1] + 1 >= len(order):
        return b
    return 0.5 * float(ends[order[flat[0]]] + ends[order[flat[-1] + 1]])
