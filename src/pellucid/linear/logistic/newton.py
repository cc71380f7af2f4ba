r"""Newton's method for the logistic loss, which is iteratively reweighted least squares.

    t <- t - H^-1 g,     H = D'W D,  g = D'(p - y):   t is the least-squares fit of
                         z = D t + W^-1 (y - p) with weights W = p (1 - p)

The gap is sqrt(g'H^-1 g): how far (root mean square, weighted by p (1 - p)) the step still to be
taken moves the log-odds. Near the minimum it is squared at every step, so the last step is taken
without another pass over the data. A step that raises the objective is halved. Many rows: the first
steps are taken on a sample of them.

Where H is singular (dependent columns; the symmetric softmax, in which adding one vector to all
classes changes nothing) the steps stay in the space that the data determine: the least-norm
minimum, with coefficients that sum to 0 over the classes.

References: Hastie, Tibshirani, Friedman, ESL, section 4.4; Boehning (1992).
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import lapack

from pellucid.core.algebra.linalg import EPS
from pellucid.core.arrays.typing import Array
from pellucid.core.loops.backtrack import halved
from pellucid.core.loops.statistics import Rows
from pellucid.core.runtime.threads import single_threaded_blas
from pellucid.linear.logistic.sums import Point, Problem, evaluate

SAMPLE = 5000  # rows of the sample, or SAMPLE_SHARE per parameter
SAMPLE_SHARE = 50
SAMPLE_GAP = 0.03  # gap at which the sample has told what it can
ROUNDING = 1e-8  # a gap below it that no longer falls is rounding
ATTEMPTS = 35  # halvings of a step, to 6e-11 of it


class Solved(NamedTuple):
    """A Newton step, and which parameters its curvature determines."""

    step: Array  # (m,)
    rank: int
    dependent: tuple[int, ...]  # parameters that take part in an exact relation


class NewtonState(NamedTuple):
    """A point, the step from it, and how the last one went."""

    point: Point
    solved: Solved
    gap: float
    share: float  # of the last step that was taken
    before: float  # the gap one step earlier


def solve_curvature(H: Array, g: Array) -> Solved:
    """-H^-1 g by Cholesky; the least-norm step where H is singular.

    >>> solve_curvature(np.diag([2.0, 0.0]), np.array([2.0, 0.0])).step
    array([-1.,  0.])
    """
    if not (np.isfinite(H).all() and np.isfinite(g).all()):
        return Solved(np.zeros(len(H)), 0, ())
    s = np.sqrt(np.maximum(np.diag(H), 0.0))
    live = np.flatnonzero(s > 0)
    dead = tuple(int(j) for j in np.flatnonzero(s == 0))
    step = np.zeros(len(H))
    if len(live) == 0:
        return Solved(step, 0, dead)
    s = s[live]
    A = H if not dead else H[np.ix_(live, live)]
    A = A / np.outer(s, s)
    limit = 4 * len(live) * EPS
    L, info = lapack.dpotrf(A, lower=1)
    if info == 0:
        rcond, _ = lapack.dpocon(L, np.abs(A).sum(axis=0).max(), uplo="L")
        if rcond > limit:
            step[live] = -lapack.dpotrs(L, g[live] / s, lower=1)[0] / s
            return Solved(step, len(live), dead)
    d, V = np.linalg.eigh(A)
    kept = d > limit * d[-1]
    T = V[:, kept] / np.sqrt(d[kept]) / s[:, None]
    move = -T @ (T.T @ g[live])
    if not kept.all():
        N = np.linalg.qr(V[:, ~kept] / s[:, None])[0]
        move -= N @ (N.T @ move)
    step[live] = move
    related = live[(V[:, ~kept] ** 2).sum(axis=1) > np.sqrt(EPS)]
    return Solved(step, int(kept.sum()), tuple(sorted((*dead, *(int(j) for j in related)))))


def lift_null_space(H: Array, ridge: Array, n_scores: int) -> Array:
    """H with curvature along the vectors that are the same for all classes, where unpenalised.

    The slope has no part along them, so the Newton step stays what it was and sums to 0.
    """
    free = np.flatnonzero(ridge == 0)
    if n_scores == 1 or len(free) == 0:
        return H
    H, q = H.copy(), len(ridge)
    places = np.arange(n_scores)[:, None] * q + free  # (K, number of free)
    height = np.diag(H)[places].mean(axis=0) / n_scores
    for k in places:
        for l in places:  # noqa: E741  the letter of the formula
            H[k, l] += height
    return H


def newton_state(problem: Problem, point: Point, share: float, before: float) -> NewtonState:
    """A state from the derivatives at its point."""
    H = lift_null_space(point.curvature, problem.ridge, len(point.theta))
    g = point.slope.ravel()
    solved = solve_curvature(H, g)
    with np.errstate(over="ignore", invalid="ignore"):  # no finite gap: the fit has not converged
        gap = float(np.sqrt(max(-float(g @ solved.step), 0.0)))
    return NewtonState(point, solved, gap, share, before)


def start_newton(problem: Problem, theta: Array) -> NewtonState:
    """The state at theta."""
    with single_threaded_blas():
        return newton_state(problem, evaluate(problem, theta, curved=True), 1.0, np.inf)


def newton_step(problem: Problem, state: NewtonState) -> tuple[NewtonState, float]:
    """One step, halved while the objective rises."""
    old, d = state.point, state.solved.step.reshape(state.point.theta.shape)

    def attempt(share: float) -> tuple[Point, float]:
        point = evaluate(problem, old.theta + share * d, curved=True)
        return point, point.objective

    noise = 1e-12 * max(abs(old.objective), 1e-3)  # a rise this small is rounding
    with single_threaded_blas():
        taken = halved(attempt, old.objective, most=ATTEMPTS, noise=noise)
        new = newton_state(problem, taken.point, taken.t, state.gap)
    stuck = new.gap <= ROUNDING and new.gap > 0.5 * state.gap
    return new, 0.0 if stuck else new.gap


def last_step(state: NewtonState) -> Array:
    """theta after the step that is already known, for a state that has converged."""
    return state.point.theta + state.solved.step.reshape(state.point.theta.shape)


def sample_problem(problem: Problem, n_parameters: int) -> Problem | None:
    """The same problem on evenly spaced rows, or None where all of them are as quick."""
    rows = problem.source
    size = max(SAMPLE, SAMPLE_SHARE * n_parameters)
    if not isinstance(rows, Rows) or rows.n_rows < 4 * size:
        return None
    taken = slice(None, None, rows.n_rows // size)
    some = Rows(rows.X[taken], np.ascontiguousarray(rows.y[taken]), rows.w[taken])
    if not isinstance(some.X, np.ndarray):
        return None
    some = some._replace(X=np.ascontiguousarray(some.X, dtype=np.float64))
    weight = np.bincount(some.y, weights=some.w, minlength=problem.n_classes).astype(np.float64)
    if problem.class_weight is not None:
        weight = weight * problem.class_weight
    if (weight == 0).any():
        return None
    return problem._replace(source=some, counts=weight)


def sample_start(
    problem: Problem, theta: Array, step: Callable[[Problem, Any], tuple[Any, float]]
) -> Array:
    """A start near the minimum from a sample of the rows; theta itself where that does not help."""
    small = sample_problem(problem, theta.size)
    if small is None:
        return theta
    state = start_newton(small, theta)
    for _ in range(12):
        if state.gap <= SAMPLE_GAP or state.point.wrong == 0:
            break
        state, _ = step(small, state)
    useful = state.point.wrong > 0 and np.isfinite(state.point.loss)
    return last_step(state) if useful else theta
