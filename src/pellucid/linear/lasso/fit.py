r"""One fit of the lasso or the elastic net, whichever way it is asked for and solved.

``penalised_problem`` chooses between the moments of [X y] and the rows; ``descend`` runs rounds to
the tolerance; ``constrain`` finds the multipliers of a Budget; ``judged`` certifies what a solver
object found.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import lapack

from pellucid.core.algebra.least_squares import gather
from pellucid.core.arrays.typing import Array
from pellucid.core.loops.iterate import iterate
from pellucid.core.loops.statistics import Moments, Rows, Source
from pellucid.core.runtime.threads import single_threaded_blas
from pellucid.linear.budget import Budget
from pellucid.linear.lasso import budget_search
from pellucid.linear.lasso.budget_search import EXACT, Problem, size, squares
from pellucid.linear.lasso.rows import RowsProblem
from pellucid.linear.lasso.sums import State, SumsProblem
from pellucid.linear.solver_fit import LinearDescent

FEW_COLUMNS = 500  # up to which one fit takes all cross-products; a path (many fits) up to
MANY_COLUMNS = 2000

MakeSums = Callable[[], Moments]


class TargetFit(NamedTuple):
    """The fit of one target."""

    coef: Array  # (p,)
    intercept: float
    alpha: float
    l1_ratio: float
    gap: float  # of the objective with 1/(2n)
    n_iter: int
    history: list[dict[str, Any]]
    unique: bool
    weight: float  # n, the sum of the sample weights
    budget: tuple[float, float] = (np.nan, np.nan)  # sum v w^2, sum v |w|
    budget_ols: tuple[float, float] = (np.nan, np.nan)


def penalised_problem(
    rows: Source, sums: MakeSums, unknowns: str, weights: Array, *, positive: bool, many: bool
) -> Problem:
    """The problem by the cheaper route; ``sums()`` makes the moments, ``many``: a whole path."""
    p = len(weights)
    signs = np.full(p, positive)
    if unknowns == "all":  # the intercept is penalised like a coefficient, and keeps its sign
        weights, signs = np.append(1.0, weights), np.append(False, signs)
    memory = isinstance(rows, Rows)
    few = p <= (MANY_COLUMNS if many else FEW_COLUMNS)
    if rows.n_rows > p and (few or not memory):
        total = sums()
        with single_threaded_blas():
            return SumsProblem(total, p, unknowns=unknowns, weights=weights, positive=signs)
    held = rows if isinstance(rows, Rows) else gather(rows)
    Y = held.y if held.y.ndim == 2 else held.y[:, None]
    return RowsProblem(held.X, Y, held.w, unknowns=unknowns, weights=weights, positive=signs)


def is_unique(problem: Problem, state: State, l1: float, l2: float) -> bool:
    """Whether the columns that could be in the support are independent (Tibshirani 2013)."""
    if l2 > 0:
        return True
    E = np.flatnonzero(problem.scores(state.c) >= l1 * (1 - 1e-7))
    if len(E) == 0:
        return True
    if len(E) > problem.n:
        return False
    G = problem.cross_products(E)
    scale = np.sqrt(np.diag(G))
    if not (scale > 0).all():
        return False
    L, info = lapack.dpotrf(G / np.outer(scale, scale), lower=1)
    return bool(info == 0 and np.diag(L).min() ** 2 > 1e-10)


def descend(
    problem: Problem, t: int, strength: tuple[float, float], first: Array, *, tol: float, **how: Any
) -> TargetFit:
    """Rounds from ``first`` until the duality gap of this target is at most tol y'y.

    ``strength`` is alpha and l1_ratio; ``how`` goes to ``iterate`` (max_iter, context, name).
    """
    alpha, ratio = strength
    n, yy, tol = problem.n, problem.yy[t], max(float(tol), EXACT)
    l1, l2 = n * alpha * ratio, n * alpha * (1 - ratio)

    def step(state: State) -> tuple[State, float]:
        state = problem.round(t, state, l1, l2, tol) if l1 > 0 else problem.ridge(t, l2)
        return state, state.gap / yy if yy > 0 else 0.0

    def record(state: State) -> dict[str, Any]:
        row = {"objective": state.value / n, "n_nonzero": int(np.count_nonzero(state.w))}
        return row if problem.Q.shape[1] == 1 else {"target": t, **row}

    if l1 > 0:
        state = problem.start(t, first, l1, l2)
    else:
        state = State(0 * first, problem.target(t), yy / 2, yy / 2)
    run = iterate(step, state, tol=tol, record=record, **how)
    found = run.state
    with single_threaded_blas():
        unique = l1 == 0 or is_unique(problem, found, l1, l2)
        coef, intercept = problem.expand(t, found.w[None, :])
    budget, history = (squares(problem, found.w), size(problem, found.w)), list(run.history)
    place = coef[0], float(intercept[0]), alpha, ratio
    return TargetFit(*place, found.gap / n, run.n_iter, history, unique, n, budget)


def constrain(problem: Problem, t: int, budget: Budget, *, both: bool) -> TargetFit:
    """The multipliers that meet the budget, and their solution; ``both``: of squares too."""
    n, l1, l2, solves = problem.n, 0.0, 0.0, 1
    with single_threaded_blas():
        ols, unique = problem.least_squares(t)
        before = squares(problem, ols), size(problem, ols)
        if both:
            bounds = budget.bounds(*before)
        else:
            bounds = np.inf, float(budget.bound(np.array([before[1]]))[0])
        if before[0] <= bounds[0] and before[1] <= bounds[1]:
            state = problem.start(t, ols, 1.0, 0.0)
            state = state._replace(value=state.value - before[1], gap=0.0)
        elif both:
            l1, l2, state, solves = budget_search.pair_multipliers(problem, t, *bounds, ols)
        else:
            find = budget_search.lasso_multiplier
            l1, l2, state, solves = find(problem, t, bounds[1], l2=0.0, start=0 * ols)
        if l1 + l2 > 0:
            unique = is_unique(problem, state, l1, l2)
        coef, intercept = problem.expand(t, state.w[None, :])
    after = squares(problem, state.w), size(problem, state.w)
    alpha, ratio = (l1 + l2) / n, l1 / (l1 + l2) if l1 + l2 > 0 else 1.0
    gap = state.gap / n
    row = {"step": solves, "objective": state.value / n, "alpha": alpha, "gap": gap, "seconds": 0.0}
    place = coef[0], float(intercept[0]), alpha, ratio
    return TargetFit(*place, gap, 1, [row], unique, n, after, before)


def judged(problem: Problem, t: int, found: LinearDescent, alpha: float, ratio: float) -> TargetFit:
    """The fit of one target by a solver object, with the duality gap of where it ended."""
    n, l1, l2 = problem.n, problem.n * alpha * ratio, problem.n * alpha * (1 - ratio)
    w = found.coef[:, t]
    if problem.unknowns == "all":
        w = np.append(found.intercept[t], w)
    with single_threaded_blas():
        state = problem.start(t, w[problem.columns], l1, l2)
        gap = state.gap if l1 > 0 else state.value - problem.ridge(t, l2).value
        unique = l1 == 0 or is_unique(problem, state, l1, l2)
    rows = [row for row in found.history if row.get("target", 0) == t]
    budget = squares(problem, state.w), size(problem, state.w)
    place = found.coef[:, t].copy(), float(found.intercept[t]), alpha, ratio
    return TargetFit(*place, max(gap, 0.0) / n, len(rows) - 1, rows, unique, n, budget)


def check_precompute(value: Any) -> None:
    """Raise ValueError where scikit-learn does; the Gram matrix itself is not needed."""
    if isinstance(value, bool | np.bool_) or (isinstance(value, str) and value == "auto"):
        return
    if isinstance(value, str) or np.ndim(value) != 2:
        raise ValueError(f"precompute must be 'auto', True, False or a matrix, got {value!r}")


def so_far(problem: Problem, fits: list[TargetFit], state: State, single: bool) -> dict[str, Any]:
    """The attributes as if fit had stopped at ``state`` of the target after those of ``fits``."""
    count, t = problem.Q.shape[1], min(len(fits), problem.Q.shape[1] - 1)
    coef, intercept = problem.expand(t, state.w[None, :])
    if single:
        return {"coef_": coef[0], "intercept_": float(intercept[0]), "n_iter_": 1}
    W, b = np.zeros((count, coef.shape[1])), np.zeros(count)
    for i, fit in enumerate(fits):
        W[i], b[i] = fit.coef, fit.intercept
    W[t], b[t] = coef[0], intercept[0]
    return {"coef_": W, "intercept_": b, "n_iter_": 1}
