r"""L-BFGS: a quasi-Newton method that remembers the last few steps instead of a Hessian.

SciPy's L-BFGS-B owns the loop; its callback fills our history and reports to fit callbacks.

Reference: Liu & Nocedal (1989); Zhu, Byrd, Lu & Nocedal (1997).
"""

import time
import warnings
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import minimize
from sklearn.base import BaseEstimator

from pellucid.core import check
from pellucid.core.iterate import ConvergenceWarning, History, Iteration
from pellucid.core.random import generator
from pellucid.core.typing import Array
from pellucid.solvers.minimum import Minimum, conclude, starting_point, warn_slow

ROUNDING = 1e-7  # gap, relative to the value, that rounding may leave


class State(NamedTuple):
    """A point of the iteration."""

    x: Array
    value: float


class LBFGS(BaseEstimator):
    """L-BFGS for smooth objectives.

    Parameters
    ----------
    memory : int, default=10
        Steps remembered.
    max_iter : int, default=15000
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
        if self.tol is not None:
            check.positive(tol=self.tol)
        if not objective.smooth:
            raise ValueError("LBFGS needs a smooth objective; use ProximalGradient for L1")
        x = starting_point(start, objective.size, generator(0))
        began, history, stopped = time.perf_counter(), History(), [False]

        def note(x: Array, gap: float | None) -> None:
            if record is not None:
                value, g = objective.value_gradient(x)
                history.append({
                    "step": len(history), "x": x, "value": float(value),
                    "gradient_norm": float(np.linalg.norm(g)), "gap": gap,
                    "seconds": time.perf_counter() - began if len(history) else 0.0,
                })  # fmt: skip

        count = [0]

        def callback(intermediate_result: Any) -> None:
            x = np.array(intermediate_result.x)
            count[0] += 1
            note(x, float(np.abs(objective.gradient(x)).max()))
            if context is not None and context.step(count[0], State(x, intermediate_result.fun)):
                stopped[0] = True
                raise StopIteration

        note(x, None)
        options = {
            "maxcor": self.memory, "maxiter": self.max_iter, "maxfun": 20 * self.max_iter,
            "gtol": self.tol or 0.0, "ftol": 0.0,
        }  # fmt: skip
        with np.errstate(over="ignore", invalid="ignore"):
            found = minimize(
                objective.value_gradient, x, jac=True, method="L-BFGS-B", options=options,
                callback=callback,
            )  # fmt: skip
        x = np.array(found.x)
        gap = float(np.abs(objective.gradient(x)).max())
        # where the line search finds no lower value any more, rounding is reached
        early = not stopped[0] and count[0] < self.max_iter
        rounding = early and gap <= ROUNDING * max(1.0, abs(float(found.fun)))
        converged = self.tol is not None and (gap <= self.tol or rounding)
        reason = "stopped" if stopped[0] else "converged" if converged else "max_iter"
        run = Iteration(x, count[0], converged, reason, history)
        if early and not converged and self.tol is not None:
            warnings.warn(
                f"LBFGS: the line search found no lower value after {count[0]} steps: gap "
                f"{gap:.3g} > tol={self.tol:g}; is the objective smooth?",
                ConvergenceWarning,
                stacklevel=2,
            )
        elif not converged:
            warn_slow(type(self).__name__, run, gap, self.tol, 3)
        return conclude(objective, x, run, n_updates=count[0], tol=self.tol)
