r"""Newton's method for a generalised linear model, which is iteratively reweighted least squares.

    t <- t - s H^-1 g,      s = 1, 1/2, 1/4, ... the first that does not raise the objective

H is the curvature of the objective; where the family is not convex and H is not positive definite,
the information takes its place (Fisher scoring), so every step goes down. A step whose means
overflow has an infinite objective and is halved: no start diverges.

The gap is sqrt(g'H^-1 g / mean(mu^2/V)): by how much (root mean square) the step to come still
changes the means, relative to themselves. It has no units. Near the minimum it is squared at every
step, so the last step is taken without another pass over the data.

Reference: McCullagh & Nelder, Generalized Linear Models, section 2.5.
"""

from typing import NamedTuple

import numpy as np
from scipy.linalg import lapack

from pellucid.core.arrays.typing import Array
from pellucid.core.loops.backtrack import halved
from pellucid.core.loops.statistics import Rows
from pellucid.core.runtime.threads import single_threaded_blas
from pellucid.linear.glm.sums import Point, Problem, evaluate
from pellucid.linear.glm.wide import solve_by_products
from pellucid.linear.logistic.newton import Solved, solve_curvature

ROUNDING = 1e-8  # a gap below it that no longer falls is rounding
ATTEMPTS = 50  # halvings of a step
NOISE = 1e-13  # of the objective and the size of the means: a rise this small is rounding
SAMPLE = 5000  # rows of the sample, or SAMPLE_SHARE per parameter
SAMPLE_SHARE = 50
SAMPLE_GAP = 0.03  # gap at which the sample has told what it can


class NewtonState(NamedTuple):
    """A point, the step from it, and how the last one went."""

    point: Point
    solved: Solved
    gap: float
    share: float  # of the last step that was taken


def positive_definite(H: Array) -> bool:
    """Whether every direction curves upwards.

    >>> positive_definite(np.diag([1.0, 2.0])), positive_definite(np.diag([1.0, -2.0]))
    (True, False)
    """
    s = np.diag(H)
    if not (np.isfinite(H).all() and (s > 0).all()):
        return False
    root = np.sqrt(s)
    return bool(lapack.dpotrf(H / np.outer(root, root), lower=1)[1] == 0)


def curved_point(problem: Problem, theta: Array) -> Point:
    """The derivatives at theta, with a curvature that no step can climb by."""
    point = evaluate(problem, theta, "" if problem.wide else "observed")
    if problem.wide or problem.family.convex or positive_definite(point.curvature):
        return point
    return evaluate(problem, theta, "expected")


def newton_state(problem: Problem, point: Point, share: float, before: float) -> NewtonState:
    """A state from the derivatives at its point; the gap of a point beyond numbers is infinite."""
    if problem.wide:
        solved = solve_by_products(problem, point.theta, point.slope, before)
    else:
        solved = solve_curvature(point.curvature, point.slope)
    fall = max(-float(point.slope @ solved.step), 0.0)
    gap = float(np.sqrt(fall / point.size)) if fall > 0 and point.size > 0 else 0.0
    gap = gap if np.isfinite(point.objective) else np.inf
    return NewtonState(point, solved, gap, share)


def start_newton(problem: Problem, theta: Array) -> NewtonState:
    """The state at theta."""
    with single_threaded_blas():
        return newton_state(problem, curved_point(problem, theta), 1.0, 1.0)


def newton_step(problem: Problem, state: NewtonState) -> tuple[NewtonState, float]:
    """One step, halved while the objective rises."""
    old, d = state.point, state.solved.step

    def attempt(share: float) -> tuple[Point, float]:
        point = curved_point(problem, old.theta + share * d)
        return point, point.objective

    noise = NOISE * (abs(old.objective) + old.size)
    with single_threaded_blas():
        taken = halved(attempt, old.objective, most=ATTEMPTS, noise=noise)
        risen = not taken.point.objective <= old.objective + noise
        new = state if risen else newton_state(problem, taken.point, taken.t, state.gap)
    stuck = new.gap <= ROUNDING and new.gap > 0.5 * state.gap
    return new, 0.0 if stuck else new.gap


def last_step(state: NewtonState) -> Array:
    """theta after the step that is already known, for a state that has converged."""
    return state.point.theta + state.solved.step


def sample_start(problem: Problem, theta: Array) -> Array:
    """A start near the minimum from evenly spaced rows; theta itself where that does not help."""
    rows, size = problem.source, max(SAMPLE, SAMPLE_SHARE * len(theta))
    if problem.wide or not isinstance(rows, Rows) or rows.n_rows < 4 * size:
        return theta
    taken = slice(None, None, rows.n_rows // size)
    some = Rows(rows.X[taken], np.ascontiguousarray(rows.y[taken]), rows.w[taken])
    total = float(some.w.sum())
    if not isinstance(some.X, np.ndarray) or not total > 0:
        return theta
    some = some._replace(X=np.ascontiguousarray(some.X))
    small = problem._replace(source=some, total=total)
    state = start_newton(small, theta)
    for _ in range(12):
        if state.gap <= SAMPLE_GAP or not np.isfinite(state.point.objective):
            break
        state, _ = newton_step(small, state)
    found = state.point.theta
    whole = state.gap <= SAMPLE_GAP and state.solved.rank == len(theta)
    return found if whole and np.isfinite(state.point.objective) else theta
