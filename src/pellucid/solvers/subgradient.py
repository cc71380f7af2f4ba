r"""Subgradient descent for functions with kinks, and the test of optimality with an L1 penalty.

    w_(t+1) = w_t - eta_t g_t,    g_t any subgradient (sign(0) = 0)

The value need not fall at every step, so the best point met is returned. With rates that fall like
1/sqrt(t) its value approaches the minimum like 1/sqrt(t). A step never lands on a kink: the lasso's
zeros come out small, not exact; ``ProximalGradient`` and ``CoordinateDescent`` give exact zeros.

Pegasos is this method on hinge + (lambda/2)|w|^2 with rates 1/(lambda (t + 1)).

References: Shor (1985); Nesterov, Lectures on Convex Optimization, section 3.2; Shalev-Shwartz,
Singer & Srebro (2007), Pegasos.
"""

from typing import Any, Literal, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator

from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike, BoolArray
from pellucid.core.runtime.random import generator
from pellucid.solvers import minimum
from pellucid.solvers.gradient_descent import get_rate
from pellucid.solvers.line_search import LineSearch
from pellucid.solvers.minimum import Minimum
from pellucid.solvers.schedules import InverseScaling, Schedule


class State(NamedTuple):
    """The current point, the average of the points so far, and the best point met."""

    current: Array
    value: float
    gradient: Array
    mean: Array
    t: int
    rate: float
    x: Array  # the best
    best_value: float


class SubgradientDescent(BaseEstimator):
    """Subgradient descent; returns the best iterate.

    Parameters
    ----------
    learning_rate : float, schedule or "auto", default=InverseScaling(0.1)
        Length of the steps.
    max_iter : int, default=1000
        Number of steps; there is no stopping rule, since a subgradient need not become small.
    average : bool, default=False
        Also try the average of the iterates as the best point.

    Examples
    --------
    >>> from pellucid.solvers import InverseScaling, LinearObjective, SubgradientDescent
    >>> f = LinearObjective(np.ones((5, 1)), [1, 2, 3, 4, 100], loss="absolute")
    >>> SubgradientDescent(InverseScaling(1.0), max_iter=2000).minimise(f, [0.0]).x.round(1)
    array([3.])
    """

    def __init__(
        self,
        learning_rate: float | Schedule | Literal["auto"] | None = None,
        max_iter: int = 1000,
        average: bool = False,
    ) -> None:
        self.learning_rate = learning_rate
        self.max_iter = max_iter
        self.average = average

    def minimise(
        self, objective: Any, start: Any, record: str | None = "epoch", *, context: Any = None
    ) -> Minimum:
        """Descend from ``start`` for max_iter steps; ``record=None`` keeps no history."""
        check.whole(max_iter=self.max_iter)
        check.boolean(average=self.average)
        x = minimum.starting_point(start, objective.size, generator(0))
        chosen = InverseScaling(0.1) if self.learning_rate is None else self.learning_rate
        rate = get_rate(chosen, objective, x)
        if isinstance(rate, LineSearch):
            raise ValueError("a subgradient need not point downhill: a line search has no use here")
        value, g = objective.value_gradient(x)
        minimum.finite_start(value)
        last = [0.0]

        def step(state: State) -> tuple[State, float]:
            eta = last[0] = rate(state.t)
            with np.errstate(all="ignore"):
                new = state.current - eta * state.gradient
                f, slope = objective.value_gradient(new)
            if minimum.runs_away(f, value):
                return state, np.inf
            t = state.t + 1
            mean = state.mean + (new - state.mean) / t
            best, least = (new, f) if f < state.best_value else (state.x, state.best_value)
            if self.average and (at := objective.value(mean)) < least:
                best, least = mean, at
            return State(new, f, slope, mean, t, eta, best, least), state.best_value - least

        def explain(_: State) -> str:
            return minimum.rate_sentence(last[0], objective.lipschitz)

        says = {"record": None if record is None else describe, "explain": explain}
        first = State(x, value, g, x, 0, rate(0), x, value)
        run = minimum.run_solver(self, step, first, context=context, **says)
        return minimum.conclude(objective, run.state.x, run, n_updates=run.state.t, tol=None)


def describe(state: State) -> dict[str, Any]:
    """The row of the history."""
    norm = minimum.norm_of(state.gradient)
    point = {"x": state.current, "value": state.value, "gradient_norm": norm}
    return {**point, "learning_rate": state.rate, "best_value": state.best_value}


class SubgradientReport(NamedTuple):
    """Whether 0 is a subgradient of f + l1 |x|_1, and by how much each coordinate misses it."""

    satisfied: bool
    violation: Array
    zero: BoolArray

    def __str__(self) -> str:
        verdict = "optimal" if self.satisfied else "not optimal"
        worst = float(self.violation.max(initial=0.0))
        zeros = int(self.zero.sum())
        sign = "is" if self.satisfied else "is not"
        many = f"{zeros} exact zero{'s' * (zeros != 1)}"
        return f"{verdict}: 0 {sign} a subgradient (largest violation {worst:.3g}); {many}"


def subgradient_report(
    gradient: ArrayLike, x: ArrayLike, l1: float, tol: float = 1e-8
) -> SubgradientReport:
    """Check the optimality conditions of f + ``l1`` |x|_1 at ``x``, given the ``gradient`` of f.

    x_j != 0 needs g_j = -l1 sign(x_j); x_j = 0 needs |g_j| <= l1.

    ``tol`` is the violation that counts as rounding.

    Examples
    --------
    >>> from pellucid.solvers import subgradient_report
    >>> subgradient_report([-1.0, 0.3], [2.0, 0.0], l1=1.0).satisfied
    True
    """
    check.non_negative(l1=l1, tol=tol)
    g, x = np.atleast_1d(np.asarray(gradient, float)), np.atleast_1d(np.asarray(x, float))
    if g.shape != x.shape:
        raise ValueError(f"gradient and x must have the same shape, got {g.shape} and {x.shape}")
    zero = x == 0
    violation = np.where(zero, np.maximum(np.abs(g) - l1, 0.0), np.abs(g + l1 * np.sign(x)))
    return SubgradientReport(bool((violation <= tol).all()), violation, zero)
