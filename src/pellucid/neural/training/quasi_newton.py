"""L-BFGS over all rows, for small data: the solver of ``pellucid.solvers`` with our history."""

import warnings
from typing import Any, NamedTuple

import numpy as np

from pellucid.core.arrays.typing import Array
from pellucid.core.loops.iterate import ConvergenceWarning, History
from pellucid.core.runtime.tell import tell
from pellucid.core.runtime.threads import single_threaded_blas
from pellucid.neural.training.trainer import Trainer
from pellucid.solvers.lbfgs import LBFGS
from pellucid.solvers.objective import Objective


class _Remembered:
    """Value and gradient over all rows; the last one is kept, since solvers ask twice."""

    def __init__(self, trainer: Trainer) -> None:
        self.trainer, self.count, self.right = trainer, 0, np.nan
        self.at, self.found = np.zeros(0), (0.0, np.zeros(0))

    def both(self, v: Array) -> tuple[float, Array]:
        if not np.array_equal(v, self.at):
            assert self.trainer.all_rows is not None
            back = self.trainer.batch(v, self.trainer.all_rows)
            self.at, self.found, self.count = v.copy(), (back.value, back.vector), self.count + 1
            self.right = back.right
        return self.found[0], self.found[1].copy()


class Limits(NamedTuple):
    """When to stop: iterations, largest entry of the gradient, evaluations of the loss."""

    max_iter: int
    tol: float
    max_fun: int = 15000


def lbfgs_run(
    trainer: Trainer, start: Array, limits: Limits, context: Any = None, verbose: bool = False
) -> Any:
    """Minimise by L-BFGS; returns the solver's ``Minimum`` (history columns: objective, ...)."""
    if trainer.penalty.l1:
        raise ValueError("solver='lbfgs' needs a smooth penalty: use L2, or a GradientDescent")
    if trainer.plan.couples:
        raise ValueError("solver='lbfgs' cannot train batch normalisation: use adam or sgd")
    if trainer.plan.noisy:
        raise ValueError("solver='lbfgs' cannot train with Dropout: use adam or sgd")
    remembered = _Remembered(trainer)
    f = Objective(
        lambda v: remembered.both(v)[0], lambda v: remembered.both(v)[1], lambda v: np.eye(len(v))
    )
    f.twice = False
    remembered.both(start)
    shares = [remembered.right]

    class Limit:
        spent = False  # whether the evaluations were used up, and nobody asked for an end

        def step(self, i: int, state: Any, row: dict[str, Any] | None = None) -> bool:
            if verbose:
                tell(f"Iteration {i}, loss = {state.value:.8f}")
            shares.append(remembered.right)  # the solver has just asked for this point
            asked = context is not None and context.step(i, state, row)
            self.spent = not asked and remembered.count >= limits.max_fun
            return asked or self.spent

    with warnings.catch_warnings(), single_threaded_blas():
        warnings.simplefilter("ignore", ConvergenceWarning)  # said in our words by the caller
        solver = LBFGS(max_iter=limits.max_iter, tol=limits.tol or 1e-16)
        found = solver.minimise(f, start, context=(limit := Limit()))
    names = {"step": "step", "objective": "value"}
    names |= {name: name for name in ("gradient_norm", "gap", "seconds")}
    rows = [{name: row[theirs] for name, theirs in names.items()} for row in found.history]
    if trainer.plan.labels is not None:
        rows = [{**r, "accuracy": share} for r, share in zip(rows, shares, strict=True)]
    reason = "max_fun" if limit.spent and found.reason == "stopped" else found.reason
    return found._replace(history=History(rows), reason=reason)
