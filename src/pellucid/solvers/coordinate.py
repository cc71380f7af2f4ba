r"""Coordinate descent: one parameter at a time to its minimum, the others held.

For s sum v_i l(y_i, x_i'w) + P(w) with separable P the step of parameter j is

    w_j <- prox_{P / L_j}(w_j - g_j / L_j),    L_j = s sup l'' sum_i v_i x_ij^2

which is the exact minimum for the squared loss (soft threshold for the lasso) and a minimum of an
upper bound otherwise, so the value never rises. Any other smooth function is minimised along each
axis by Brent's method.

References: Tseng (2001); Friedman, Hastie, Höfling & Tibshirani (2007).
"""

from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import minimize_scalar
from sklearn.base import BaseEstimator

from pellucid.compiled.epochs.epochs import coordinate_sweep
from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, IntArray, Seed
from pellucid.core.functions.penalties import L1L2
from pellucid.core.runtime.random import generator
from pellucid.solvers import minimum
from pellucid.solvers.minimum import Minimum
from pellucid.solvers.objective import LinearObjective, Objective


class State(NamedTuple):
    """A point of the iteration."""

    x: Array
    value: float
    norm: float  # of the shortest subgradient


class CoordinateDescent(BaseEstimator):
    """One parameter at a time; exact for quadratics with a separable penalty.

    Parameters
    ----------
    max_iter : int, default=1000
        Largest number of rounds over all parameters.
    tol : float or None, default=1e-8
        Norm of the shortest subgradient at which it has converged; None: exactly max_iter rounds.
    selection : {"cyclic", "random"}, default="cyclic"
        Order of the parameters in a round.
    random_state : None, int, RandomState or Generator
        Seed of the random numbers.

    Examples
    --------
    >>> from pellucid.solvers import CoordinateDescent, L1, LinearObjective
    >>> f = LinearObjective(np.eye(3), [3.0, -0.4, 1.0], penalty=L1(0.5), scale="half_sum")
    >>> CoordinateDescent().minimise(f, "zeros").x
    array([2.5, 0. , 0.5])
    """

    def __init__(
        self,
        max_iter: int = 1000,
        tol: float | None = 1e-8,
        selection: str = "cyclic",
        random_state: Seed = None,
    ) -> None:
        self.max_iter = max_iter
        self.tol = tol
        self.selection = selection
        self.random_state = random_state

    def minimise(
        self, objective: Any, start: Any, record: str | None = "epoch", *, context: Any = None
    ) -> Minimum:
        """Go round the parameters from ``start``."""
        check.whole(max_iter=self.max_iter)
        check.one_of(("cyclic", "random"), selection=self.selection)
        rng = generator(self.random_state)
        x = minimum.starting_point(start, objective.size, rng)
        sweep = make_sweep(objective)
        value = objective.value(x)
        minimum.finite_start(value)

        def step(state: State) -> tuple[State, float]:
            p = len(state.x)
            order = rng.permutation(p) if self.selection == "random" else np.arange(p)
            with np.errstate(all="ignore"):
                x = sweep(state.x, order)
                new = State(x, objective.value(x), objective.optimality(x))
            return (state, np.inf) if minimum.runs_away(new.value, value) else (new, new.norm)

        first, name = State(x, value, objective.optimality(x)), type(self).__name__
        why = minimum.bottomless(name)
        says = {"record": None if record is None else describe, "explain": lambda state: why}
        run = minimum.run_solver(self, step, first, context=context, **says)
        minimum.warn_slow(name, run, run.state.norm, self.tol)
        updates = run.n_iter * len(x)
        return minimum.conclude(objective, run.state.x, run, n_updates=updates, tol=self.tol)


def describe(state: State) -> dict[str, Any]:
    """The row of the history."""
    return {"x": state.x, "value": state.value, "gradient_norm": state.norm}


def make_sweep(objective: Objective) -> Any:
    """The function that goes round all parameters once."""
    penalty = objective.penalty
    simple = penalty is None or isinstance(penalty, L1L2)
    if isinstance(objective, LinearObjective) and simple and np.isfinite(objective.loss.bound):
        return compiled_sweep(objective, penalty or L1L2())
    if not objective.smooth and penalty is None:
        raise ValueError("coordinate descent sticks at a kink of the loss; use SubgradientDescent")

    def sweep(x: Array, order: IntArray) -> Array:
        x = x.copy()
        for j in order:
            axis, base = np.eye(len(x))[j], x.copy()
            found = minimize_scalar(lambda t, at=base, e=axis: objective.value(at + t * e))
            x = base + found.x * axis
        return x

    return sweep


def compiled_sweep(f: LinearObjective, penalty: L1L2) -> Any:
    columns = np.ascontiguousarray(f.design().T)
    curvature = f.curvatures()

    def sweep(x: Array, order: IntArray) -> Array:
        x = x.copy()
        rows, prices = (columns, f.y, f.weights, f.margins(x)), (f.price, penalty.l1, penalty.l2)
        coordinate_sweep(*rows, x, order, curvature, *prices, f.loss.code, f.loss.epsilon, f.s)
        return x

    return sweep
