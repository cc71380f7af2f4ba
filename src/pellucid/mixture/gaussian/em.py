r"""Expectation-maximisation for Gaussian mixtures: the loop.

One round from parameters theta (whose E step is at hand):

    M   theta' = argmax_theta' sum_ik w_i r_ik log pi_k N(x_i; mu_k, S_k)
    E   r_ik at theta', and with it l(theta') = sum_i w_i log p(x_i; theta')

l(theta') >= l(theta): the bound sum r (log pi N - log r) touches l at theta and is raised by M.
Each round reads the rows once.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from pellucid.core.arrays.typing import Array, Map
from pellucid.core.loops.iterate import FitContext, Iteration, iterate, strictly_below
from pellucid.core.loops.statistics import Source
from pellucid.mixture.gaussian import gaussians
from pellucid.mixture.gaussian.gaussians import CollapseError, Gaussians, Sums
from pellucid.mixture.gaussian.missing_cells import expectation_missing

ONLY = 1e-3  # share of reg_covar: a variance that the rows add no more to is none


class State(NamedTuple):
    """Where a run stands: parameters and the E step at them."""

    step: int
    model: Gaussians
    sums: Sums
    before: float | None  # log-likelihood before the round

    @property
    def value(self) -> float:
        return self.sums.value


class Climb(NamedTuple):
    """The rows to climb on, and how far."""

    source: Source
    map_: Map
    weight: float  # sum of the weights
    variances: Array  # (p,) of the columns
    structure: str
    max_iter: int
    tol: float
    name: str
    missing: bool = False  # some cells are NaN


Update = Callable[[State], Gaussians]


def em_update(structure: str, reg: float, fixed: tuple[str, ...] = (), rate: float = 1.0) -> Update:
    """The M step as an update."""

    def update(state: State) -> Gaussians:
        how: dict[str, Any] = {"reg": reg, "fixed": fixed, "rate": rate}
        return gaussians.maximise(state.model, state.sums, structure, **how)

    return update


def record(state: State) -> dict[str, Any]:
    """One row of the history."""
    return {"objective": state.value, "log_likelihood": state.value, "before": state.before}


def climb(
    task: Climb, start: Gaussians, update: Update, *, guard: bool, context: FitContext | None
) -> Iteration:
    """Rounds from one start until the mean log-likelihood changes by less than ``tol``.

    ``guard``: a variance far below its column's is a collapse (nothing else keeps it from 0).
    """
    floor = gaussians.POINT * task.variances if guard else None
    why = ""

    def expect(model: Gaussians) -> Sums:
        factors = gaussians.factors_of(model, task.structure, floor)
        sums = expectation_missing if task.missing else gaussians.expectation
        return sums(task.source, task.map_, factors)

    def step(state: State) -> tuple[State, float]:
        nonlocal why
        try:
            model = update(state)
            sums = expect(model)
        except CollapseError as error:
            why = str(error)
            return state, np.nan
        gap = abs(sums.value - state.value) / task.weight
        return State(state.step + 1, model, sums, state.value), gap

    def explain(state: State) -> str:
        return why or "the log-likelihood is not finite; the parameters before it are kept"

    return run_task(task, step, State(0, start, expect(start), None), record, context, explain)


def run_task(
    task: Climb, step: Any, first: Any, record: Any, context: Any, explain: Callable[[Any], str]
) -> Iteration:
    """The loop of a task; tol = 0 runs max_iter rounds."""
    limits: dict[str, Any] = {"max_iter": task.max_iter, "tol": strictly_below(task.tol)}
    says = {"record": record, "name": task.name, "context": context, "explain": explain}
    return iterate(step, first, warn=False, **limits, **says)


def lost_components(state: State) -> list[int]:
    """Components that explain no row any more."""
    N = state.sums.weight
    return np.flatnonzero(gaussians.LOST * N.sum() >= N).tolist()


def collapsed_components(state: State, structure: str, reg: float) -> list[int]:
    """Components whose variance in some direction is only what ``reg`` added to it."""
    C = np.asarray(state.model.covariances)
    if structure in gaussians.DENSE:
        least = np.linalg.eigvalsh(C)[..., 0]
    else:
        least = C.min(axis=-1) if structure.endswith("diag") else C
    N = state.sums.weight
    flat = np.broadcast_to(least <= (1.0 + ONLY) * reg, N.shape)
    return np.flatnonzero(flat & (gaussians.LOST * N.sum() < N)).tolist()
