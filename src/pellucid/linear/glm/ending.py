r"""What a fit leaves: deviance, Pearson's statistic, likelihood, information, vanishing means.

    Pearson          X^2 = sum w (y - mu)^2/V,        phi = X^2/(n - q)
    information      sum w mu'^2/V d d';              Cov(t) = phi information^-1

A mean runs to 0 where the likelihood has no finite maximum: rows with y = 0 whose eta can fall for
ever while the others keep theirs (a level without any count). Newton's step then moves their eta
by about -1 each time, however small its weight has become: at a finite minimum every row stands
still, so a row that still moves at the end is the proof.

Reference: Correia, Guimaraes & Zylkin (2020), on the existence of estimates of Poisson regression.
"""

from functools import partial
from typing import NamedTuple

import numpy as np

from pellucid.core.arrays.typing import Array
from pellucid.core.loops.iterate import Iteration
from pellucid.core.loops.statistics import Rows, Statistic, reduce_rows
from pellucid.linear.glm.families import Family
from pellucid.linear.glm.newton import (
    NewtonState,
    last_step,
    newton_step,
    positive_definite,
    start_newton,
)
from pellucid.linear.glm.sums import Problem, evaluate, leaf_curvature, linear_scores, open_leaf
from pellucid.linear.logistic.outcome import inverse_of

MOVES = 0.1  # movement of eta that no row makes at a minimum
NEAR = 1e-3  # gap from which the rows are watched
MANY = 12  # steps that Newton hardly needs where there is a minimum
MORE_STEPS = 8  # in which a row that moves must go on moving


class Closing(NamedTuple):
    """Sums over the rows at the last t."""

    deviance: float
    pearson: float
    base: float  # sum of Likelihood.base
    largest: float  # movement of eta by the last step
    information: Array  # (q, q), or (0, 0) where it was not asked for


class Outcome(NamedTuple):
    """The end of a fit."""

    theta: Array  # (q,) in shifted columns
    converged: bool
    vanishing: bool  # some mean runs to 0
    dependent: tuple[int, ...]  # columns in exact relations
    rank: int
    closing: Closing
    covariance: Array | None  # (q', q') for phi = 1 in the units of X, without a missing intercept
    df: float  # of the fit: rank, less what the penalty takes
    certificate: str
    how: str


def leaf_closing(
    theta: Array, step: Array, shift: Array, ones: float, family: Family, curved: bool, rows: Rows
) -> Closing:
    """The sums of one leaf."""
    leaf = open_leaf(rows)
    with np.errstate(all="ignore"):
        eta = linear_scores(theta, shift, ones, leaf)
        mu = family.mean(eta)
        deviance = 2 * float(leaf.w @ family.loss(leaf.y, mu))
        pearson = float(leaf.w @ family.pearson(leaf.y, mu))
        base = float(leaf.w @ family.likelihood.base(leaf.y))
        moved = np.abs(linear_scores(step, shift, ones, leaf._replace(offset=0.0)))
        h = leaf.w * family.information(mu)
    H = leaf_curvature(leaf, shift, ones, h) if curved else np.zeros((0, 0))
    return Closing(deviance, pearson, base, float(moved.max(initial=0.0)), H)


def merge_closing(a: Closing, b: Closing) -> Closing:
    """The sums of two sets of rows."""
    parts = a.deviance + b.deviance, a.pearson + b.pearson, a.base + b.base
    return Closing(*parts, max(a.largest, b.largest), a.information + b.information)


def close(problem: Problem, theta: Array, step: Array, *, curved: bool) -> Closing:
    """One pass over the data at the last t."""
    at = theta, step, problem.shift, float(problem.intercept), problem.family, curved
    statistic = Statistic(partial(leaf_closing, *at), merge_closing)
    return reduce_rows(statistic, problem.source, problem.map_)


def middle_state(problem: Problem, run: Iteration) -> NewtonState:
    """The state of the first step near the end, while every row still has digits in the sums."""
    near = [r for r in run.history if r["gap"] is not None and 0 < r["gap"] <= NEAR]
    if not near or "parameters" not in near[0]:
        return run.state
    theta = near[0]["parameters"] if problem.intercept else np.append(0.0, near[0]["parameters"])
    theta = np.append(theta[0] + problem.shift @ theta[1:], theta[1:])
    return start_newton(problem, theta)


def still_moves(problem: Problem, state: NewtonState) -> bool:
    """Whether some row's eta goes on moving, step after step."""
    for _ in range(MORE_STEPS):
        moved = close(problem, state.point.theta, state.solved.step, curved=False).largest
        if not moved > MOVES:
            return False
        state, _ = newton_step(problem, state)
    return True


def glm_outcome(
    problem: Problem, run: Iteration, rank: int, dependent: tuple[int, ...], sampled: bool
) -> Outcome:
    """The outcome of a Newton run; rank and dependent columns are those of the first state."""
    state: NewtonState = run.state
    point, penalised = state.point, bool(problem.ridge[1:].any())
    theta = last_step(state) if run.converged else point.theta
    closing = close(problem, theta, state.solved.step, curved=not problem.wide)
    vanishing = False
    if not penalised and problem.family.link == "log" and np.isfinite(problem.family.lowest):
        odd = state.solved.rank < rank or closing.largest > MOVES or run.n_iter >= MANY
        vanishing = odd and still_moves(problem, middle_state(problem, run))
    definite = rank == len(theta)
    fit_df, covariance = float(rank - (not problem.intercept)), None
    if problem.wide:
        fit_df = np.nan  # needs the curvature
    elif penalised:
        H = closing.information / problem.total + np.diag(problem.ridge)
        inverse = inverse_of(H)
        fit_df = float(len(theta) - np.diag(inverse) @ problem.ridge)
    elif definite and run.converged and not vanishing:
        covariance = parameter_covariance(problem, closing.information)
    how = f"Newton (iteratively reweighted least squares) with step halving: {run.n_iter} steps"
    how += " by conjugate gradients" if problem.wide else ""
    how += " after a start on a sample of the rows" if sampled else ""
    how += f", relative change of the means to come {state.gap:.2g}"
    found = theta, run.converged, vanishing, dependent, rank, closing, covariance, fit_df
    end = certify(problem, theta, definite or penalised, vanishing)
    if not (run.converged or vanishing):
        end = "ended before it converged"
    return Outcome(*found, end, how)


def certify(problem: Problem, theta: Array, definite: bool, vanishing: bool) -> str:
    """What kind of point the fit is."""
    if vanishing:
        return "no finite minimum: some means run to 0"
    if problem.wide:
        return "convex: the minimum is global" if problem.family.convex else "a stationary point"
    if not definite:
        return "the Hessian is only positive semidefinite (dependent columns): one of many minima"
    if problem.family.convex:
        return "the Hessian is positive definite and the objective convex: the only minimum"
    why = f"the {problem.family.name} deviance is not convex with this link"
    if positive_definite(evaluate(problem, theta, "observed").curvature):
        return f"the Hessian is positive definite: a local minimum ({why})"
    return f"the Hessian is not positive definite: not a minimum ({why})"


def parameter_covariance(problem: Problem, information: Array) -> Array:
    """The inverse information in the units of X, the intercept first where there is one."""
    q = len(problem.ridge)
    if not problem.intercept:
        return inverse_of(information[1:, 1:])
    A = np.eye(q)
    A[0, 1:] = -problem.shift  # b = b' - shift.w
    return A @ inverse_of(information) @ A.T
