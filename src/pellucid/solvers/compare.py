"""Solvers side by side, and which one to take for a table of a given size."""

import time
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from pellucid.core.arrays import check
from pellucid.core.arrays.typing import ArrayLike
from pellucid.core.records import text_table
from pellucid.solvers.objective import Objective

COLUMNS: tuple[str, ...] = ("solver", "iterations", "updates", "seconds", "value", "gradient_norm")
COLUMNS += ("speed_up", "reason")


class Comparison(NamedTuple):
    """One row per solver; ``speed_up`` is the first one's time divided by this one's."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]

    def __getitem__(self, key: Any) -> Any:
        """A column by its name."""
        if isinstance(key, str):
            return [row[self.columns.index(key)] for row in self.rows]
        return tuple.__getitem__(self, key)

    def to_frame(self) -> Any:
        """The table as a Polars frame."""
        import polars

        return polars.DataFrame({name: self[name] for name in self.columns})

    def __str__(self) -> str:
        return text_table(self.columns, list(self.rows))


def compare_solvers(
    objective: Objective, start: ArrayLike | str, solvers: Sequence[Any] | Mapping[str, Any]
) -> Comparison:
    """Run each of ``solvers`` (a sequence, or a mapping from names) on ``objective`` from ``start``
    and tabulate how it got on.

    Examples
    --------
    >>> from pellucid.solvers import LinearObjective, Newton, LBFGS, compare_solvers
    >>> f = LinearObjective([[1, 0], [1, 1], [1, 2]], [1, 2, 4], scale="half_mean")
    >>> compare_solvers(f, "zeros", [Newton(), LBFGS()])["iterations"][0]
    1
    """
    named: Sequence[tuple[str, Any]]
    if isinstance(solvers, Mapping):
        named = list(solvers.items())
    else:
        named = [(type(solver).__name__, solver) for solver in solvers]
    if not named:
        raise ValueError("compare_solvers needs at least one solver")
    rows, first = [], None
    for name, solver in named:
        began = time.perf_counter()
        found = solver.minimise(objective, start, record=None)
        seconds = time.perf_counter() - began
        first = seconds if first is None else first
        work, end = (found.n_iter, found.n_updates, seconds), (found.value, found.gradient_norm)
        rows.append((name, *work, *end, first / seconds, found.reason))
    return Comparison(COLUMNS, tuple(rows))


class SolverAdvice(NamedTuple):
    """Which solver to take, what it costs, and why."""

    solver: str
    operations: float
    bytes: float
    reason: str

    def __str__(self) -> str:
        cost = f"about {self.operations:.2g} operations and {self.bytes:.2g} bytes"
        return f"{self.solver}: {cost} beyond the data; {self.reason}"


def solver_advice(n_samples: int, n_features: int) -> SolverAdvice:
    """The solver for a linear model of ``n_samples`` rows and ``n_features`` columns.

    Least squares is O(n p^2 + p^3) once; Newton is that per step (other losses); L-BFGS needs
    O(n p) per step and no p x p matrix; mini-batches see little of the data per update.

    Examples
    --------
    >>> from pellucid.solvers import solver_advice
    >>> solver_advice(10_000, 50).solver, solver_advice(10_000_000, 50_000).solver
    ('closed form or Newton', 'GradientDescent(batch_size=...)')
    """
    check.whole(n_samples=n_samples, n_features=n_features)
    n, p = float(n_samples), float(n_features)
    direct, square = n * min(n, p) * p + min(n, p) ** 3, 8 * p**2
    if p <= 2000 and direct <= 1e13:
        why = "the p x p system is small: closed form for squared loss, Newton (about ten such"
        why += " steps) for other smooth losses"
        return SolverAdvice("closed form or Newton", direct, square, why)
    if n * p <= 1e9:
        why = "a p x p matrix is too large to factor, but a pass over the rows is cheap: about a"
        return SolverAdvice("LBFGS", 100 * 4 * n * p, 8 * 20 * p, f"{why} hundred of them")
    why = "even one pass is dear: mini-batches make many updates in each of a few epochs; scale"
    why += " the columns first"
    return SolverAdvice("GradientDescent(batch_size=...)", 10 * 4 * n * p, 8 * 3 * p, why)
