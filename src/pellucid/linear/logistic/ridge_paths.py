r"""Logistic regression with an L2 penalty, or none, for a whole grid of C.

Each C starts at the minimum of the one before and takes the Newton steps of ``logistic_newton``.
With more columns than rows the penalty allows a rotation: with X - m = U S V', the minimiser is
W = V a, and a solves the same problem on the n rows of U S, so that the whole grid costs one
decomposition and Newton steps of size n. Beyond a few thousand unknowns L-BFGS takes over.
"""

from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import issparse

from pellucid.core.arrays.typing import Array, IntArray
from pellucid.core.loops.statistics import Rows
from pellucid.core.runtime.threads import single_threaded_blas
from pellucid.linear.logistic.newton import (
    ATTEMPTS,
    last_step,
    newton_step,
    sample_start,
    start_newton,
)
from pellucid.linear.logistic.sums import Problem, evaluate, plain_problem, typical_row
from pellucid.solvers.lbfgs import lbfgsb

NEWTON_SIZE = 2000  # unknowns up to which Newton steps are quicker than L-BFGS
SHORTEST = 0.5 ** (ATTEMPTS - 1)  # of a step, after all its halvings


class RidgePath(NamedTuple):
    """Weights along a grid of C (rising); ``gaps`` are those of the last step."""

    coefs: Array  # (L, k, p)
    intercepts: Array  # (L, k)
    gaps: Array  # (L,)
    n_iter: IntArray  # (L,)
    converged: bool


def rotate(X: Array, shift: Array, w: Array) -> tuple[Array, Array]:
    """U S and V of the rows about the shift, those of weight 0 left out of the choice."""
    Z = (X - shift)[w > 0]
    d, U = np.linalg.eigh(Z @ Z.T)
    kept = d > len(Z) * np.finfo(float).eps * max(float(d[-1]), 0.0)
    V = Z.T @ (U[:, kept] / np.sqrt(d[kept]))  # (p, r)
    V, _ = np.linalg.qr(V)
    return (X - shift) @ V, V


def fit_ridge_path(
    X: Any,
    codes: IntArray,
    n_classes: int,
    w: Array,
    Cs: Array,
    *,
    fit_intercept: bool,
    tol: float,
    max_iter: int,
) -> RidgePath:
    """Minimise C sum w loss + |W|^2/2 for every C of a rising grid (inf: no penalty)."""
    n, p = X.shape
    V, shift = None, np.zeros(p)
    with single_threaded_blas():
        if fit_intercept and not issparse(X):
            shift = typical_row(X, w)
        if p > n and not issparse(X):
            X, V = rotate(X, shift, w)
        centre = np.zeros(X.shape[1]) if V is not None else shift
    source = Rows(X if issparse(X) else np.ascontiguousarray(X), codes, w)
    problem = plain_problem(source, n_classes, centre, fit_intercept)
    theta = np.zeros((problem.n_scores, X.shape[1] + 1))
    found, gaps, rounds, fine = [], np.zeros(len(Cs)), np.zeros(len(Cs), np.intp), True
    for i, C in enumerate(Cs):
        at = problem.shrunk(1 / (C * problem.total))
        solve = newton_point if theta.size <= NEWTON_SIZE else lbfgs_point
        theta, gaps[i], rounds[i], done = solve(at, theta, tol, max_iter, i == 0)
        fine &= done
        found.append(theta)
    T = np.array(found)  # (L, k, q)
    coefs = T[:, :, 1:] if V is None else T[:, :, 1:] @ V.T
    intercepts = T[:, :, 0] - coefs @ shift if fit_intercept else np.zeros(T.shape[:2])
    return RidgePath(coefs, intercepts, gaps, rounds, fine)


def newton_point(
    problem: Problem, theta: Array, tol: float, max_iter: int, first: bool
) -> tuple[Array, float, int, bool]:
    """Newton steps until the gap is at most tol, and the step that is then known."""
    if first:
        theta = sample_start(problem, theta, newton_step)
    state = start_newton(problem, theta)
    for done in range(max_iter + 1):
        if state.gap <= tol:
            return last_step(state), state.gap, max(done, 1), True
        if done < max_iter:
            new, _ = newton_step(problem, state)
            lost = not np.isfinite(new.gap) or new.share <= SHORTEST
            if lost:  # it diverged, or no length of a step lowers the objective: none ever will
                return state.point.theta, state.gap, done + 1, False
            state = new
    return state.point.theta, state.gap, max_iter, False


def lbfgs_point(
    problem: Problem, theta: Array, tol: float, max_iter: int, first: bool
) -> tuple[Array, float, int, bool]:
    """Quasi-Newton steps until no entry of the slope is above tol (the scale is the mean loss)."""

    slopes = np.arange(theta.shape[1]) > 0

    def value_slope(t: Array) -> tuple[float, Array]:
        point = evaluate(problem, t.reshape(theta.shape), curved=False)
        slope = point.slope if problem.intercept else point.slope * slopes
        return point.objective, slope.ravel()

    limits: dict[str, Any] = {"maxiter": 10 * max_iter, "gtol": tol, "ftol": 1e-14, "maxcor": 20}
    run = lbfgsb(value_slope, theta.ravel(), **limits)
    gap = float(np.abs(run.jac).max())
    return run.x.reshape(theta.shape), gap, max(int(run.nit), 1), bool(run.success)
