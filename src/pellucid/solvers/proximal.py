r"""Proximal gradient: a gradient step on the smooth part, then the prox of the penalty.

    w <- prox_{eta P}(w - eta grad f(w)),     L1: soft threshold, exact zeros
    accelerated (FISTA): the gradient is taken at z = w_t + ((a_t - 1)/a_(t+1)) (w_t - w_(t-1)),
    a_(t+1) = (1 + sqrt(1 + 4 a_t^2))/2, restarted whenever the momentum points uphill

With rate 1/L the value is within O(1/t) of the minimum, accelerated O(1/t^2).

References: Beck & Teboulle (2009); O'Donoghue & Candès (2015) for the restart.
"""

from typing import Any, Literal, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator

from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array
from pellucid.core.runtime.random import generator
from pellucid.solvers import minimum
from pellucid.solvers.gradient_descent import get_rate
from pellucid.solvers.line_search import LineSearch
from pellucid.solvers.minimum import Minimum
from pellucid.solvers.schedules import Schedule


class State(NamedTuple):
    """A point of the iteration."""

    x: Array
    value: float
    norm: float  # of the shortest subgradient
    z: Array  # where the next gradient is taken
    a: float
    rate: float
    t: int
    best_x: Array
    best_value: float


class ProximalGradient(BaseEstimator):
    """Proximal gradient descent, accelerated or not.

    Parameters
    ----------
    learning_rate : float, schedule or "auto", default="auto"
        "auto" is 1/L, L the Lipschitz constant of the gradient of the smooth part.
    accelerated : bool, default=True
        Nesterov's momentum, restarted where it points uphill.
    max_iter : int, default=1000
        Most iterations.
    tol : float or None, default=1e-8
        Norm of the shortest subgradient at which it has converged; None: exactly max_iter steps.

    Examples
    --------
    >>> from pellucid.solvers import L1, LinearObjective, ProximalGradient
    >>> f = LinearObjective(np.eye(3), [3.0, -0.4, 1.0], penalty=L1(0.5), scale="half_sum")
    >>> ProximalGradient().minimise(f, "zeros").x
    array([2.5, 0. , 0.5])
    """

    def __init__(
        self,
        learning_rate: float | Schedule | Literal["auto"] = "auto",
        accelerated: bool = True,
        max_iter: int = 1000,
        tol: float | None = 1e-8,
    ) -> None:
        self.learning_rate = learning_rate
        self.accelerated = accelerated
        self.max_iter = max_iter
        self.tol = tol

    def minimise(
        self, objective: Any, start: Any, record: str | None = "epoch", *, context: Any = None
    ) -> Minimum:
        """Descend from ``start``."""
        check.whole(max_iter=self.max_iter)
        check.boolean(accelerated=self.accelerated)
        x = minimum.starting_point(start, objective.size, generator(0))
        rate = get_rate(self.learning_rate, objective, x)
        if isinstance(rate, LineSearch):
            raise ValueError("ProximalGradient takes a rate, a schedule or 'auto', no line search")
        value = objective.value(x)
        minimum.finite_start(value)
        last = [rate(0)]

        def step(state: State) -> tuple[State, float]:
            eta = last[0] = rate(state.t)
            with np.errstate(all="ignore"):
                new = objective.prox(state.z - eta * objective.loss_gradient(state.z), eta)
                f = objective.value(new)
            if minimum.runs_away(f, value):
                return state, np.inf
            moved = self._accelerate(state, new)
            norm = objective.optimality(new)
            best = (new, f) if f < state.best_value else (state.best_x, state.best_value)
            return State(new, f, norm, *moved, eta, state.t + 1, *best), norm

        first = State(x, value, objective.optimality(x), x, 1.0, rate(0), 0, x, value)

        def explain(_: State) -> str:
            return minimum.rate_sentence(last[0], objective.lipschitz)

        says = {"record": None if record is None else describe, "explain": explain}
        run = minimum.run_solver(self, step, first, context=context, **says)
        state = run.state
        minimum.warn_slow(type(self).__name__, run, state.norm, self.tol)
        x = state.best_x if run.reason == "diverged" else state.x
        return minimum.conclude(objective, x, run, n_updates=state.t, tol=self.tol)

    def _accelerate(self, state: State, new: Array) -> tuple[Array, float]:
        """The next point to take the gradient at, and the next a."""
        uphill = self.accelerated and (state.z - new) @ (new - state.x) > 0  # then start anew
        if uphill or not self.accelerated:
            return new, 1.0
        a = (1 + np.sqrt(1 + 4 * state.a**2)) / 2
        return new + (state.a - 1) / a * (new - state.x), float(a)


def describe(state: State) -> dict[str, Any]:
    """The row of the history."""
    point = {"x": state.x, "value": state.value}
    return {**point, "gradient_norm": state.norm, "learning_rate": state.rate}
