r"""The core of stochastic gradient descent for linear models: one epoch, and when to stop.

    one visit    w <- max(0, 1 - eta l2) w - eta l'(y, f) x,   b <- b - eta l'(y, f)
                 then the cumulative truncation of the L1 penalty

An epoch makes progress if its mean objective (or the score on the visits held out) beats the best
one by ``tol``; ``patience`` epochs without progress end the descent, or cut an adaptive rate.
"""

from typing import Any, NamedTuple

import numpy as np

from pellucid.compiled.epochs import sgd_epoch
from pellucid.compiled.visits import Visits
from pellucid.core.losses import Loss
from pellucid.core.typing import Array
from pellucid.solvers.schedules import Schedule

SMALLEST_RATE = 1e-6  # where an adaptive rate gives up


class SGDState(NamedTuple):
    """Where a stochastic descent stands."""

    coef: Array
    intercept: float
    mean: Array  # average of the coefficients
    mean_intercept: float
    t: int  # visits so far + 1
    share: float  # what "adaptive" has left of the rate
    waited: int  # epochs without progress
    best: float  # the best objective, or minus the best score
    objective: float
    score: float
    rate: float


class Problem(NamedTuple):
    """What does not change from epoch to epoch."""

    X: Array
    y: Array
    visits: Visits
    held: Visits | None  # for early stopping
    loss: Loss
    factor: float
    l1: float
    l2: float
    intercept: bool
    average: int
    kind: int
    schedule: Schedule
    shuffle: bool
    patience: int
    tol: float  # -inf: never stop


def epoch_of(problem: Problem, state: SGDState, epoch: int, cut: Array) -> tuple[Array, ...]:
    """Run one compiled epoch; (coef, mean, scalars, sum of objectives, rates)."""
    p = problem
    order = p.visits.order(epoch) if p.shuffle else np.arange(len(p.visits.rows))
    rows = p.visits.rows[order]
    share = p.visits.share[order] if len(p.visits.share) else p.visits.share
    rates = state.share * np.asarray(p.schedule(state.t - 1 + np.arange(len(rows))), dtype=float)
    coef, mean = state.coef.copy(), state.mean.copy()
    scalars = np.array([state.intercept, state.mean_intercept, cut[-1], state.t], dtype=float)
    total = sgd_epoch(
        p.X, p.y, rows, share, rates, coef, mean, cut[:-1], scalars, state.t, p.loss.code,
        p.loss.epsilon, p.factor, p.l2, p.l1, p.intercept, p.average, p.kind,
    )  # fmt: skip
    cut[-1] = scalars[2]
    return coef, mean, scalars, np.array(total / len(rows)), rates


def sgd_step(
    problem: Problem, state: SGDState, epoch: int, cut: Array, limit: float
) -> tuple[SGDState, float]:
    """One epoch and scikit-learn's stopping rule: the gap is the share of patience left."""
    coef, mean, scalars, objective, rates = epoch_of(problem, state, epoch, cut)
    value = float(objective)
    finite = np.isfinite(coef).all() and np.isfinite(scalars[0]) and np.isfinite(value)
    if not finite or (value > limit and mean_loss(problem, coef, scalars[0]) > limit):
        return state, np.inf
    score = held_score(problem, coef, scalars[0]) if problem.held is not None else np.nan
    measure = value if problem.held is None else -score
    waited = state.waited + 1 if measure > state.best - problem.tol else 0
    share, rate = state.share, float(rates[-1])
    gap = 1 - waited / problem.patience
    if waited >= problem.patience and problem.schedule.patience and rate > SMALLEST_RATE:
        share, waited, gap = share / problem.schedule.factor, 0, 1.0
    new = SGDState(
        coef, float(scalars[0]), mean, float(scalars[1]), int(scalars[3]), share, waited,
        min(state.best, measure), value, float(score), rate,
    )  # fmt: skip
    return new, max(gap, 0.0)


def mean_loss(problem: Problem, coef: Array, intercept: float) -> float:
    """The loss over all rows, looked at only where an epoch met huge values on its way."""
    f = problem.X @ coef + intercept
    return problem.factor * float(problem.loss.value(problem.y, f).mean())


def held_score(problem: Problem, coef: Array, intercept: float) -> float:
    """R^2 on the visits held out."""
    held = problem.held
    assert held is not None
    y = problem.y[held.rows]
    w = held.share if len(held.share) else np.ones(len(y))
    r = y - problem.X[held.rows] @ coef - intercept
    total = w @ (y - np.average(y, weights=w)) ** 2
    return float(1 - (w @ r**2) / total) if total > 0 else 0.0


def split_visits(visits: Visits, fraction: float) -> tuple[Visits, Visits]:
    """(training, held out): the first of a random order are held out."""
    order = visits.order(2**32)
    n = int(np.ceil(fraction * len(order)))
    if not 0 < n < len(order):
        raise ValueError(
            f"validation_fraction={fraction!r} of n_samples={len(order)} leaves {len(order) - n} "
            f"to train on and {n} to validate; both need at least one"
        )

    def take(chosen: Any) -> Visits:
        chosen = np.sort(chosen)
        share = visits.share[chosen] if len(visits.share) else visits.share
        return visits._replace(rows=visits.rows[chosen], share=share, keys=visits.keys[chosen])

    return take(order[n:]), take(order[:n])


def fresh_state(coef: Array, intercept: float) -> SGDState:
    """The state before the first visit."""
    return SGDState(
        coef.copy(), intercept, np.zeros(len(coef)), 0.0, 1, 1.0, 0, np.inf, np.nan, np.nan, np.nan
    )


def record_row(state: SGDState) -> dict[str, Any]:
    """The row of the history."""
    return {
        "objective": state.objective,
        "parameters": np.append(state.intercept, state.coef),
        "learning_rate": state.rate,
        "validation_score": state.score,
    }
