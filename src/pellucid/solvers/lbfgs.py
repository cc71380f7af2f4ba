r"""L-BFGS: a quasi-Newton method that remembers the last few steps instead of a Hessian.

SciPy's L-BFGS-B owns the loop; its callback fills our history and reports to fit callbacks.

Reference: Liu & Nocedal (1989); Zhu, Byrd, Lu & Nocedal (1997).
"""

import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import minimize
from sklearn.base import BaseEstimator

from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array
from pellucid.core.loops import iterate
from pellucid.core.loops.iterate import FitContext, History, Iteration
from pellucid.core.runtime.random import generator
from pellucid.core.runtime.warn import warn
from pellucid.solvers import minimum
from pellucid.solvers.minimum import Minimum
from pellucid.solvers.objective import Objective

ROUNDING = 1e-7  # gap, relative to the value, that rounding may leave


class State(NamedTuple):
    """A point of the iteration."""

    x: Array
    value: float


def lbfgsb(
    f: Callable[..., Any],
    x: Array,
    *,
    jac: bool = True,
    bounds: Sequence[tuple[float | None, float | None]] | None = None,
    callback: Callable[..., Any] | None = None,
    **options: Any,
) -> Any:
    """SciPy's L-BFGS-B: f returns value and gradient (jac=False: the value alone).

    Every L-BFGS of the library without its own preconditioner (``core.algebra.two_loop``) is here.

    >>> lbfgsb(lambda x: ((x[0] - 3) ** 2, 2 * (x - 3)), np.zeros(1), bounds=[(0, 2)]).x
    array([2.])
    """
    return minimize(
        f, x, jac=jac or None, method="L-BFGS-B", bounds=bounds, callback=callback, options=options
    )


class LBFGS(BaseEstimator):
    """L-BFGS for smooth objectives.

    Parameters
    ----------
    memory : int, default=10
        Steps remembered.
    max_iter : int, default=15000
        Most iterations.
    tol : float or None, default=1e-8
        Largest entry of the gradient at which it has converged; None: up to max_iter steps.

    Examples
    --------
    >>> from pellucid.solvers import LBFGS, LinearObjective
    >>> f = LinearObjective([[1, 0], [1, 1], [1, 2]], [1, 2, 4], scale="half_mean")
    >>> LBFGS().minimise(f, "zeros").x.round(6)
    array([0.833333, 1.5     ])
    """

    def __init__(self, memory: int = 10, max_iter: int = 15000, tol: float | None = 1e-8) -> None:
        self.memory = memory
        self.max_iter = max_iter
        self.tol = tol

    def minimise(
        self, objective: Any, start: Any, record: str | None = "epoch", *, context: Any = None
    ) -> Minimum:
        """Descend from ``start``."""
        check.whole(memory=self.memory, max_iter=self.max_iter)
        check.positive(**check.given(tol=self.tol))
        if not objective.smooth:
            raise ValueError("LBFGS needs a smooth objective; use ProximalGradient for L1")
        x = minimum.starting_point(start, objective.size, generator(0))
        path = Path(objective, x, context, record)
        limits: dict[str, Any] = {"maxiter": self.max_iter, "maxfun": 20 * self.max_iter}
        limits |= {"maxcor": self.memory, "gtol": self.tol or 0.0, "ftol": 0.0}
        with np.errstate(over="ignore", invalid="ignore"):
            found = lbfgsb(path.both, path.best.x, callback=path.callback, **limits)
        if not np.isfinite(found.fun):
            path.reason = "diverged"
        x = path.best.x if path.reason == "diverged" else np.array(found.x)
        run = self._judge(path, x)
        return minimum.conclude(objective, x, run, n_updates=path.count, tol=self.tol)

    def _judge(self, path: "Path", x: Array) -> Iteration:
        """How the run ended, with its warnings."""
        value, g = path.both(x)
        gap = float(np.abs(g).max())
        # where the line search finds no lower value any more, rounding is reached
        early = not path.reason and path.count < self.max_iter
        there = early and gap <= ROUNDING * max(1.0, abs(value))
        near = self.tol is not None and (gap <= self.tol or there)
        converged = path.reason != "diverged" and near
        reason = path.reason or ("converged" if converged else "max_iter")
        run = Iteration(x, path.count, converged, reason, path.history)
        if reason == "diverged":
            why = minimum.bottomless("LBFGS")
            warn(f"LBFGS: diverged at step {path.count + 1}: {why}", iterate.DivergenceWarning)
        elif early and not converged and self.tol is not None:
            end = f"the line search found no lower value after {path.count} steps"
            still = f"gap {gap:.3g} > tol={self.tol:g}; is the objective smooth?"
            warn(f"LBFGS: {end}: {still}", iterate.ConvergenceWarning)
        elif not converged:
            minimum.warn_slow(type(self).__name__, run, gap, self.tol)
        return run


class Path:
    """What SciPy's loop passes by: the history, the callbacks, the last finite point."""

    def __init__(
        self, objective: Objective, x: Array, context: FitContext | None, record: str | None
    ) -> None:
        self.objective, self.context, self.record = objective, context, record
        self.began, self.history, self.count, self.reason = time.perf_counter(), History(), 0, ""
        self.at, self.found = x, objective.value_gradient(x)
        self.start_value = float(self.found[0])
        minimum.finite_start(self.start_value)
        self.best = State(x, self.start_value)
        self.note(x, None)

    def both(self, x: Array) -> tuple[float, Array]:
        """Value and gradient; those of the last point asked for are kept."""
        if not np.array_equal(x, self.at):
            self.at, self.found = np.array(x), self.objective.value_gradient(x)
        value, g = self.found
        return float(value), g.copy()

    def note(self, x: Array, gap: float | None) -> None:
        """A row of the history."""
        if self.record is None:
            return
        value, g = self.both(x)
        seconds = time.perf_counter() - self.began if self.count else 0.0
        point = {"step": self.count, "x": x, "value": value, "gradient_norm": minimum.norm_of(g)}
        self.history.append({**point, "gap": gap, "seconds": seconds})

    def callback(self, intermediate_result: Any) -> None:
        """After every step; StopIteration ends the run."""
        new = State(np.array(intermediate_result.x), float(intermediate_result.fun))
        _, slope = self.both(new.x)
        if minimum.runs_away(new.value, self.start_value) or not np.isfinite(slope).all():
            self.reason = "diverged"
            raise StopIteration
        self.best, self.count = new, self.count + 1
        self.note(new.x, float(np.abs(slope).max()))
        if self.context is not None and self.context.step(self.count, new):
            self.reason = "stopped"
            raise StopIteration
