r"""Newton's method, for minima and for roots.

    minimum   w <- w - t (H + damping I)^-1 g,   t halved while the value rises
    root      x <- x - f(x) / f'(x)

Near a minimum with positive definite H the error is squared at every step. Where H is singular or
indefinite it is shifted by a multiple of I until it is positive definite, with a warning.

References: Nocedal & Wright, Numerical Optimization, sections 3.3 and 3.4.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import LinAlgWarning, cho_factor, cho_solve
from sklearn.base import BaseEstimator

from pellucid.core.algebra.derivatives import numerical_gradient
from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array
from pellucid.core.loops.backtrack import halved
from pellucid.core.loops.iterate import ConvergenceWarning, History, iterate
from pellucid.core.runtime.random import generator
from pellucid.core.runtime.warn import warn
from pellucid.solvers import minimum
from pellucid.solvers.minimum import Minimum
from pellucid.solvers.objective import Objective

ATTEMPTS = 41  # halvings of a step, to 9e-13 of it


class State(NamedTuple):
    """A point of the iteration."""

    x: Array
    value: float
    gradient: Array
    step: float  # the share of the Newton step that was taken
    shift: float  # what was added to the Hessian beyond the damping


def newton_direction(H: Array, g: Array, damping: float) -> tuple[Array, float]:
    """-(H + (damping + shift) I)^-1 g with the smallest shift tried that makes it definite.

    >>> newton_direction(np.diag([2.0, 4.0]), np.array([2.0, 4.0]), 0.0)
    (array([-1., -1.]), 0.0)
    """
    size = max(float(np.abs(H).max(initial=0.0)), np.finfo(np.float64).tiny)
    smallest = len(H) * np.finfo(np.float64).eps * size
    shift, identity = 0.0, np.eye(len(H))
    for _ in range(60):
        A = H + (damping + shift) * identity
        try:
            factor = cho_factor(A)
        except np.linalg.LinAlgError:
            factor = None
        if factor is not None and np.diag(factor[0]).min() ** 2 > smallest:
            return -cho_solve(factor, g), shift
        shift = 1e-8 * size if shift == 0 else 10 * shift
    return -g, shift


class Newton(BaseEstimator):
    """Newton's method.

    Parameters
    ----------
    damping : float, default=0.0
        Added to the diagonal of the Hessian (it shortens steps; it is not a penalty).
    step_halving : bool, default=True
        Halve the step while the value rises.
    max_iter : int, default=100
        Most iterations.
    tol : float or None, default=1e-8
        Norm of the gradient at which it has converged; None: exactly max_iter steps.

    Examples
    --------
    >>> from pellucid.solvers import LinearObjective, Newton
    >>> f = LinearObjective([[1, 0], [1, 1], [1, 2]], [1, 2, 4], scale="half_mean")
    >>> found = Newton().minimise(f, "zeros")
    >>> found.x.round(6), found.n_iter, found.certificate.kind
    (array([0.833333, 1.5     ]), 1, 'global minimum, unique')
    """

    def __init__(
        self,
        damping: float = 0.0,
        step_halving: bool = True,
        max_iter: int = 100,
        tol: float | None = 1e-8,
    ) -> None:
        self.damping = damping
        self.step_halving = step_halving
        self.max_iter = max_iter
        self.tol = tol

    def minimise(
        self, objective: Any, start: Any, record: str | None = "epoch", *, context: Any = None
    ) -> Minimum:
        """Go from ``start`` to a stationary point."""
        check.non_negative(damping=self.damping)
        check.boolean(step_halving=self.step_halving)
        check.whole(max_iter=self.max_iter)
        if not objective.smooth:
            raise ValueError("Newton needs a smooth objective; use ProximalGradient for L1")
        x = minimum.starting_point(start, objective.size, generator(0))
        value, g = objective.value_gradient(x)
        minimum.finite_start(value)
        shifts: list[float] = []
        best = first = State(x, value, g, 1.0, 0.0)

        def step(state: State) -> tuple[State, float]:
            nonlocal best
            new, gap = self._step(objective, state, value, shifts)
            best = new if new.value < best.value else best
            return new, gap

        why = "the full step leads out of the finite numbers; the best point met is kept"
        says = {"record": None if record is None else describe, "explain": lambda state: why}
        run = minimum.run_solver(self, step, first, context=context, **says)
        if shifts:
            often = f"Newton: the Hessian was not positive definite in {len(shifts)} steps"
            warn(f"{often}; its diagonal was shifted by up to {max(shifts):.3g}", LinAlgWarning)
        state = best if run.reason == "diverged" else run.state
        minimum.warn_slow("Newton", run, minimum.norm_of(state.gradient), self.tol)
        return minimum.conclude(objective, state.x, run, n_updates=run.n_iter, tol=self.tol)

    def _step(
        self, objective: Objective, state: State, start_value: float, shifts: list[float]
    ) -> tuple[State, float]:
        d, shift = newton_direction(objective.hessian(state.x), state.gradient, self.damping)
        if shift > 0:
            shifts.append(shift)

        def attempt(t: float) -> tuple[State, float]:
            x = state.x + t * d
            value, g = objective.value_gradient(x)
            return State(x, value, g, t, shift), value

        noise = 1e-13 * abs(state.value)  # a rise this small is rounding
        with np.errstate(all="ignore"):
            most = ATTEMPTS if self.step_halving else 1
            new: State = halved(attempt, state.value, most=most, noise=noise).point
        if minimum.runs_away(new.value, start_value) or not np.isfinite(new.gradient).all():
            return state, np.inf
        return new, minimum.norm_of(new.gradient)


def describe(state: State) -> dict[str, Any]:
    """The row of the history."""
    point = {"x": state.x, "value": state.value, "gradient_norm": minimum.norm_of(state.gradient)}
    return {**point, "learning_rate": state.step, "shift": state.shift}


class Root(NamedTuple):
    """Where Newton's method for f(x) = 0 ended."""

    x: float
    n_iter: int
    converged: bool
    history: History


def newton_root(
    f: Callable[[float], float],
    start: float,
    derivative: Callable[[float], float] | None = None,
    max_iter: int = 50,
    tol: float = 1e-12,
) -> Root:
    """Find x with ``f(x) = 0`` by x - f(x)/f'(x) from ``start``; reports a zero slope or a cycle.

    Parameters
    ----------
    f : callable of one number
    start : float
    derivative : callable, optional
        Found numerically where not given.
    max_iter : int, default=50
        Most iterations.
    tol : float, default=1e-12
        Largest step, relative to max(1, |x|), at which it has converged.

    Examples
    --------
    >>> from pellucid.solvers import newton_root
    >>> newton_root(lambda x: x * x - 2, 1.0).history["x"][:4].round(8)
    array([1.        , 1.5       , 1.41666667, 1.41421569])
    """
    check.whole(max_iter=max_iter)
    check.positive(tol=tol)

    def slope(x: float) -> float:
        if derivative is not None:
            return float(derivative(x))
        return float(numerical_gradient(lambda z: f(float(z[0])), np.array([x])).value[0])

    seen: list[float] = [float(start)]
    trouble: list[str] = []

    def step(x: float) -> tuple[float, float]:
        y, m = float(f(x)), slope(x)
        if y == 0:
            return x, 0.0
        if m == 0:
            trouble.append(f"the slope is zero at x = {x:.6g}")
            return x, 1.0
        new = x - y / m
        gap = abs(new - x) / max(1.0, abs(new))
        before = [i for i, old in enumerate(seen) if abs(old - new) <= 1e-13 * max(1.0, abs(new))]
        if gap > tol and before:
            trouble.append(f"the iteration cycles with period {len(seen) - before[-1]}")
        seen.append(new)
        return new, gap

    says: dict[str, Any] = {"record": lambda x: {"x": x, "value": float(f(x))}}
    says |= {"stop": lambda history: bool(trouble), "name": "newton_root"}
    run = iterate(step, float(start), max_iter=max_iter, tol=tol, **says)
    if trouble:
        warn(f"newton_root: {trouble[0]}; try another start", ConvergenceWarning)
    return Root(float(run.state), run.n_iter, run.converged, run.history)
