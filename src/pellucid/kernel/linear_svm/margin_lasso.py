r"""Squared hinge loss with an L1 penalty: exact zeros by proximal Newton steps.

Objective    F(w, b) = |w|_1 + C sum_i v_i (1 - y_i f(x_i))_+^2,   b free
Step         the loss is quadratic while the same rows have one; the intercept is eliminated and
             the lasso that is left is solved by coordinate descent (``solve_model``); then go back
             towards the old point until F has fallen
Working set  of many columns, or sparse ones, only those that are not zero or have a slope above 1
             take part; a step solves on them and looks at all columns
Certificate  p = 2 C (1 - y f)_+ y, balanced so that it sums to 0 and scaled so that
             |sum v p x_j| <= 1: D = sum v p y - sum v p^2/(4C) <= min F

Reference: Yuan, Chang, Hsieh & Lin (2010), A comparison of optimization methods for large-scale
L1-regularized linear classification.
"""

from typing import Any, NamedTuple

import numpy as np

from pellucid.compiled.epochs.logistic_coordinate import solve_model
from pellucid.core.arrays.sparse import to_dense
from pellucid.core.arrays.typing import Array, IntArray
from pellucid.core.loops.backtrack import backtrack
from pellucid.core.runtime.threads import single_threaded_blas
from pellucid.kernel.linear_svm import margin_problem
from pellucid.kernel.linear_svm.margin_problem import FreeRows, Point, Problem, Smoothing

HALVINGS = 40
ENOUGH = 1e-3
FIRST = 100  # columns that may join in one step
INNER = 30  # Newton steps on a working set
EXACT = 1e-14
SWEEPS = 2000


class LassoState(NamedTuple):
    point: Point
    bound: float  # the largest D seen


def smoothing(problem: Problem) -> Smoothing:
    """None: the loss has a continuous slope."""
    return Smoothing(np.zeros(len(problem.y)), np.inf, 0.0, 0.0)


def penalised(problem: Problem, theta: Array) -> float:
    """|w|_1, with the intercept where it is shrunk."""
    return float(np.abs(theta[1:]).sum() + (0.0 if problem.free else abs(theta[0])))


def lower_bound(problem: Problem, point: Point) -> float:
    """D at the feasible point next to that of the current residuals."""
    q = problem.v * point.P
    up, down = float(q[q > 0].sum()), -float(q[q < 0].sum())
    if problem.free and problem.ones:
        least = min(up, down)
        if least <= 0:
            return 0.0
        q = np.where(q > 0, q * (least / up), q * (least / down))
    g = problem.X.T @ q - q.sum() * problem.shift
    largest = float(np.abs(g).max(initial=0.0))
    if not problem.free:
        largest = max(largest, abs(problem.ones * float(q.sum())))
    seen = problem.v > 0
    line = float(q @ problem.y)
    quad = float((q[seen] ** 2 / problem.v[seen]).sum()) / problem.loss.kappa
    s = min(line / max(quad, 1e-300), 1.0 / max(largest, 1e-300))
    return s * line - 0.5 * s * s * quad


def look(problem: Problem, theta: Array, e: Array) -> Point:
    """The loss at theta, its objective with the penalty."""
    point = margin_problem.evaluate(unpenalised(problem), theta, e, smoothing(problem))
    value = point.value + penalised(problem, theta)
    return point._replace(value=value, objective=value)


def unpenalised(problem: Problem) -> Problem:
    """The loss alone."""
    return problem._replace(ridge=np.zeros(len(problem.ridge)))


def certified(problem: Problem, point: Point, bound: float) -> LassoState:
    bound = max(bound, lower_bound(problem, point))
    return LassoState(point._replace(gap=max(point.objective - bound, 0.0)), bound)


def start_lasso(problem: Problem) -> LassoState:
    """The state at zero."""
    theta = np.zeros(problem.X.shape[1] + 1)
    with single_threaded_blas():
        return certified(problem, look(problem, theta, problem.y.copy()), -np.inf)


def quadratic_step(problem: Problem, point: Point) -> Point | None:
    """One proximal Newton step; None where none lowers the objective."""
    H = point.curvature
    H = H.matrix(problem) if isinstance(H, FreeRows) else H
    theta, c = point.theta, -point.slope
    free = problem.free and problem.ones and H[0, 0] > 0
    first = 0 if not problem.free and problem.ones else 1
    G, r = H[first:, first:], c[first:]
    if free:
        G = G - np.outer(H[1:, 0], H[0, 1:]) / H[0, 0]
        r = r - H[1:, 0] * (c[0] / H[0, 0])
    w = theta[first:].copy()
    threshold = 1e-14 * max(point.objective, 1e-300)
    solve_model(np.ascontiguousarray(G), r.copy(), w, 1.0, 0.0, threshold, SWEEPS)
    d = np.zeros(len(theta))
    d[first:] = w - theta[first:]
    if free:
        d[0] = (c[0] - H[0, 1:] @ d[1:]) / H[0, 0]
    promise = float(point.slope @ d) + penalised(problem, theta + d) - penalised(problem, theta)
    if not promise < -1e-16 * point.objective:
        return None
    f = margin_problem.design_times(problem, d)

    def attempt(t: float) -> tuple[Point, float]:
        end = theta + t * d
        if t == 1.0:
            end[first:] = w  # exact zeros
        new = look(problem, end, point.e - t * f)
        return new, new.objective

    found = backtrack(attempt, point.objective, promise, c=ENOUGH, most=HALVINGS)
    return None if found is None else found.point


def working_set(problem: Problem, point: Point) -> IntArray:
    """Columns that are not zero, and the worst of those that should not be."""
    w, size = point.theta[1:], np.abs(point.slope[1:])
    live = w != 0
    outside = np.where(live, -np.inf, size - 1.0)
    join = np.flatnonzero(outside > 0)
    room = max(FIRST, int(live.sum()))
    join = join[np.argsort(-outside[join], kind="stable")[:room]]
    return np.sort(np.concatenate([np.flatnonzero(live), join]))


def on_columns(problem: Problem, chosen: IntArray) -> Problem:
    """The problem with some of the columns."""
    X: Any = problem.X[:, chosen]
    X = to_dense(X)
    ridge, shift = np.append(problem.ridge[:1], np.ones(len(chosen))), problem.shift[chosen]
    return problem._replace(X=np.ascontiguousarray(X), ridge=ridge, shift=shift, sparse=None)


def working_step(problem: Problem, state: LassoState) -> Point | None:
    """Solve on the working set."""
    point = state.point
    chosen = working_set(problem, point)
    small = on_columns(problem, chosen)
    inner = look(small, np.concatenate([point.theta[:1], point.theta[1:][chosen]]), point.e)
    before = inner.objective
    for _ in range(INNER):
        new = quadratic_step(small, inner)
        if new is None:
            break
        inner = new
        if inner.objective - lower_bound(small, inner) <= 1e-3 * state.point.gap:
            break
    if not inner.objective < before:
        return None
    theta = np.zeros(len(point.theta))
    theta[0] = inner.theta[0]
    theta[1 + chosen] = inner.theta[1:]
    return look(problem, theta, inner.e)


def lasso_step(problem: Problem, state: LassoState) -> tuple[LassoState, float]:
    """One step; the gap is (F - D)/F, 0 where rounding leaves nothing to gain."""
    with single_threaded_blas():
        tiled = margin_problem.is_tiled(problem.X)
        point = quadratic_step(problem, state.point) if tiled else working_step(problem, state)
        if point is None:
            return state, 0.0
        new = certified(problem, point, state.bound)
    gap = new.point.gap / max(new.point.objective, 1e-300)
    return new, gap if gap > EXACT else 0.0
