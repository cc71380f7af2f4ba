r"""The core of stochastic gradient descent for linear models: one epoch, and when to stop.

    one visit    w <- max(0, 1 - eta l2) w - eta l'(y, f) x,   b <- b - eta l'(y, f)
                 then the cumulative truncation of the L1 penalty

An epoch makes progress if its mean objective (or the score on the visits held out) beats the best
one by ``tol``; ``patience`` epochs without progress end the descent, or cut an adaptive rate.
Several targets (one for each class) descend side by side over the same order of rows.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import issparse

from pellucid.compiled.epochs.epochs import sgd_epoch
from pellucid.compiled.epochs.visits import Visits
from pellucid.core.arrays.typing import Array, IntArray
from pellucid.core.functions.losses import Loss
from pellucid.core.runtime.threads import map_threads
from pellucid.linear.stochastic.sparse_kernels import run_sparse_epoch
from pellucid.solvers.schedules import Schedule

SMALLEST_RATE = 1e-6  # where an adaptive rate gives up


class SGDState(NamedTuple):
    """The state of one stochastic descent."""

    coef: Array
    intercept: float
    mean: Array  # average of the coefficients
    mean_intercept: float = 0.0
    t: int = 1  # visits so far + 1
    share: float = 1.0  # what "adaptive" has left of the rate
    waited: int = 0  # epochs without progress
    best: float = np.inf  # the best objective, or minus the best score
    objective: float = np.nan
    score: float = np.nan
    rate: float = np.nan
    steps: int = 0  # visits of the last epoch that moved the weights


class Problem(NamedTuple):
    """What does not change from epoch to epoch."""

    X: Any  # dense, or CSR
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
    row_weight: Array  # (n,) multiplies the steps of a row, or (0,)
    labels: bool  # y are -1 and +1 (0 and 1): the score of rows held out is their accuracy


Order = IntArray | slice  # of the visits of an epoch
Advance = Callable[[int, SGDState, Order, Array], tuple[SGDState, float]]


class Joint(NamedTuple):
    """Where the descents of all targets stand; a gap of 0 says that one has ended."""

    states: tuple[SGDState, ...]
    gaps: tuple[float, ...]


def fresh_joint(states: tuple[SGDState, ...]) -> Joint:
    """The start of a loop."""
    return Joint(states, (1.0,) * len(states))


def joint_step(problem: Problem, advance: Advance, joint: Joint, epoch: int) -> tuple[Joint, float]:
    """One epoch of every target that has not ended, in the same order of rows, in threads.

    ``problem`` is that of any target; ``advance(k, state, order, rates)`` takes target k through
    the epoch.
    """
    p = problem
    order: Order = p.visits.order(epoch) if p.shuffle else slice(None)
    t = max(state.t for state in joint.states)
    rates = p.schedule.rates(t - 1, len(p.visits.rows))

    def one(k: int) -> tuple[SGDState, float]:
        if joint.gaps[k] == 0:
            return joint.states[k], 0.0
        return advance(k, joint.states[k], order, rates)

    found = list(map_threads(one, range(len(joint.states))))
    states, gaps = tuple(state for state, _ in found), tuple(gap for _, gap in found)
    return Joint(states, gaps), max(gaps)


def epoch_of(
    problem: Problem, state: SGDState, order: Order, rates: Array, cut: Array
) -> tuple[Array, Array, Array, float]:
    """Run one compiled epoch; (coef, mean, scalars, mean objective)."""
    p = problem
    rows = p.visits.rows[order]
    share = p.visits.share[order] if len(p.visits.share) else p.visits.share
    if len(p.row_weight):
        share = p.row_weight[rows] * (share if len(share) else 1.0)
    coef, mean = state.coef.copy(), state.mean.copy()
    scalars = np.array([state.intercept, state.mean_intercept, cut[-1], state.t, 0], dtype=float)
    moved = p.y, rows, share, rates, coef, mean, cut[:-1], scalars, state.t
    how = p.loss.code, p.loss.epsilon, p.factor, p.l2, p.l1, p.intercept, p.average, p.kind
    total = (run_sparse_epoch if issparse(p.X) else sgd_epoch)(p.X, *moved, *how)
    cut[-1] = scalars[2]
    return coef, mean, scalars, total / len(rows)


def sgd_step(
    problem: Problem, state: SGDState, order: Order, rates: Array, cut: Array, limit: float
) -> tuple[SGDState, float]:
    """One epoch and scikit-learn's stopping rule: the gap is the share of patience left."""
    rates = rates if state.share == 1 else state.share * rates
    coef, mean, scalars, value = epoch_of(problem, state, order, rates, cut)
    finite = np.isfinite(coef).all() and np.isfinite(scalars[0]) and np.isfinite(value)
    if not finite or (value > limit and mean_loss(problem, coef, scalars[0]) > limit):
        return state, np.inf
    score = held_score(problem, coef, scalars[0]) if problem.held is not None else np.nan
    measure = value if problem.held is None else -score
    waited, gap = patience_left(problem, state, measure)
    share, rate = state.share, float(rates[-1])
    if waited >= problem.patience and problem.schedule.patience and rate > SMALLEST_RATE:
        share, waited, gap = share / problem.schedule.factor, 0, 1.0
    b, mean_b, t, steps = float(scalars[0]), float(scalars[1]), int(scalars[3]), int(scalars[4])
    best, value, score = min(state.best, measure), float(value), float(score)
    new = SGDState(coef, b, mean, mean_b, t, share, waited, best, value, score, rate, steps)
    return new, max(gap, 0.0)


def patience_left(problem: Problem, state: SGDState, measure: float) -> tuple[int, float]:
    """Epochs without progress if this one ended at ``measure``, and the share of patience left."""
    waited = state.waited + 1 if measure > state.best - problem.tol else 0
    return waited, 1 - waited / problem.patience


def mean_loss(problem: Problem, coef: Array, intercept: float) -> float:
    """The loss over all rows, looked at only where an epoch met huge values on its way."""
    f = problem.X @ coef + intercept
    return problem.factor * float(problem.loss.value(problem.y, f).mean())


def start_loss(problem: Problem, start: SGDState) -> float:
    """The mean loss of the visits before the first, or that of w = 0 where it is greater."""
    y = problem.y[problem.visits.rows]
    zero = problem.factor * float(problem.loss.value(y, np.zeros(len(y))).mean())
    if not start.coef.any() and start.intercept == 0:
        return zero
    return max(zero, mean_loss(problem, start.coef, start.intercept))


def loss_and_error(problem: Problem, coef: Array, intercept: float) -> tuple[float, float]:
    """The mean loss over all rows and its standard error."""
    with np.errstate(over="ignore", invalid="ignore"):
        losses = problem.loss.value(problem.y, problem.X @ coef + intercept)
        mean, spread = losses.mean(), losses.std()
    return problem.factor * float(mean), problem.factor * float(spread) / np.sqrt(len(losses))


def held_score(problem: Problem, coef: Array, intercept: float) -> float:
    """R^2, or for labels the accuracy, on the visits held out."""
    held = problem.held
    assert held is not None
    y = problem.y[held.rows]
    w = held.share if len(held.share) else np.ones(len(y))
    f = problem.X[held.rows] @ coef + intercept
    if problem.labels:
        return float(w @ ((f > 0) == (y > 0)) / w.sum())
    total = w @ (y - np.average(y, weights=w)) ** 2
    return float(1 - (w @ (y - f) ** 2) / total) if total > 0 else 0.0


def split_visits(
    visits: Visits, fraction: float, groups: IntArray | None = None
) -> tuple[Visits, Visits]:
    """(training, held out): the first of a random order are held out, the same share of a group."""
    order = visits.order(2**32)
    n = int(np.ceil(fraction * len(order)))
    if not 0 < n < len(order):
        share = f"validation_fraction={fraction!r} of n_samples={len(order)}"
        left = f"{len(order) - n} to train on and {n} to validate"
        raise ValueError(f"{share} leaves {left}; both need at least one")
    if groups is not None:
        order = order[np.argsort(rank_in_group(groups[visits.rows[order]]), kind="stable")]

    def take(chosen: IntArray) -> Visits:
        chosen = np.sort(chosen)
        share = visits.share[chosen] if len(visits.share) else visits.share
        rows, keys = visits.rows[chosen], visits.keys[chosen]
        return visits._replace(rows=rows, share=share, keys=keys, first=np.arange(0))

    return take(order[n:]), take(order[:n])


def rank_in_group(group: IntArray) -> Array:
    """How far each member comes in its own group, between 0 and 1.

    >>> rank_in_group(np.array([0, 1, 0]))
    array([0.25, 0.5 , 0.75])
    """
    rank = np.empty(len(group))
    for g in np.unique(group):
        at = np.flatnonzero(group == g)
        rank[at] = (np.arange(len(at)) + 0.5) / len(at)
    return rank


def fresh_state(coef: Array, intercept: float) -> SGDState:
    """The state before the first visit."""
    return SGDState(coef.copy(), intercept, np.zeros(len(coef)))


def record_row(joint: Joint) -> dict[str, Any]:
    """The row of the history; with several targets sums, means and a row of parameters each."""
    states = joint.states
    parameters = np.array([np.append(state.intercept, state.coef) for state in states])
    row: dict[str, Any] = {"objective": sum(state.objective for state in states)}
    row["parameters"] = parameters[0] if len(states) == 1 else parameters
    row["learning_rate"] = max(state.rate for state in states)
    return {**row, "validation_score": float(np.mean([state.score for state in states]))}
