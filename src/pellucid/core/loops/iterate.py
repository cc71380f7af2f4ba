"""An algorithm is a step: one driver owns the loop.

``step(state) -> (state, gap)`` is applied until the gap is at most ``tol``. Stopping, the limit,
the warnings, the history and scikit-learn's fit callbacks are written here and nowhere else
(``sklearn.callback`` is experimental: no other module touches it).
"""

import math
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from copy import copy
from functools import partial
from numbers import Real
from typing import Any, NamedTuple, TypeVar

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.callback import CallbackSupportMixin, with_callbacks
from sklearn.exceptions import ConvergenceWarning

from pellucid.core.arrays.typing import MaybeArray
from pellucid.core.readable import MOST, readable
from pellucid.core.readable import cell as table_cell
from pellucid.core.records import html_table
from pellucid.core.runtime.warn import warn as give_warning

__all__ = ["CallbackSupportMixin", "ConvergenceWarning", "DivergenceWarning", "FitContext"]
__all__ += ["History", "Iteration", "iterate", "strictly_below", "with_callbacks"]

State = TypeVar("State")
FIRST, LAST = 10, 5  # rows that a notebook shows
UNKNOWN = sys.float_info.max  # the gap of a first step that nothing can be compared with
ROUNDING = 1e-12  # of an objective that is a sum over rows, relative to it
ALIASES = ("loss", "inertia", "log_likelihood")  # other names of "objective"


class DivergenceWarning(ConvergenceWarning):
    """The iteration left the finite numbers, or a descent ended above its start."""


class History(Sequence):
    """The ``rows`` of a fit, one per step; a column by its name.

    >>> history = History([{"step": 1, "objective": 4.0}, {"step": 2, "objective": 1.0}])
    >>> history["objective"], len(history), history[-1]["step"]
    (array([4., 1.]), 2, 2)

    Parameters
    ----------
    rows : sequence of dict, default=()
        The steps so far.
    """

    def __init__(self, rows: Sequence[dict[str, Any]] = ()) -> None:
        self._rows = list(rows)

    def append(self, row: dict[str, Any]) -> None:
        """Add the ``row`` of one step."""
        self._rows.append(row)

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self._rows)

    def __getitem__(self, key: Any) -> Any:
        if not isinstance(key, str):
            return History(self._rows[key]) if isinstance(key, slice) else self._rows[key]
        if key not in self.columns and key in ALIASES:
            key = "objective"
        if key not in self.columns:
            known = ", ".join(self.columns) or "none"
            raise KeyError(f"the history has no column {key!r}; it has: {known}")
        values = [row.get(key) for row in self._rows]
        if all(value is None or np.ndim(value) == 0 for value in values):
            blank = [math.nan if value is None else value for value in values]
            return np.array(blank if any(v is None for v in values) else values)
        shapes = {np.asarray(value).shape for value in values}
        if len(shapes) == 1:
            return np.array(values)
        ragged = np.empty(len(values), dtype=object)
        ragged[:] = values
        return ragged

    def __eq__(self, other: object) -> bool:
        return isinstance(other, History) and _same(self._rows, other._rows)

    __hash__ = None  # type: ignore[assignment]

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(name for row in self._rows for name in row))

    def to_frame(self) -> Any:
        """The history as a Polars frame; array cells become lists."""
        import polars

        def cell(value: object) -> Any:
            return value.tolist() if isinstance(value, np.ndarray | np.generic) else value

        return polars.DataFrame({n: [cell(r.get(n)) for r in self._rows] for n in self.columns})

    def __repr__(self) -> str:
        if not self._rows:
            return "History(0 rows)"
        first, last = (row.get("objective") for row in (self._rows[0], self._rows[-1]))
        told = f"{len(self)} rows: {', '.join(self.columns)}; objective {first} -> {last}"
        return f"History({told if len(told) < MOST - 20 else f'{len(self)} rows'})"

    def _repr_html_(self) -> str:
        """The first and the last rows as a table; arrays are told by their shape."""
        shown = [*range(min(len(self), FIRST)), *range(max(FIRST, len(self) - LAST), len(self))]
        rows = [
            tuple(table_cell(self._rows[i].get(name, "")) for name in self.columns) for i in shown
        ]
        if len(shown) < len(self):
            rows.insert(FIRST, ("...",) * len(self.columns))
        return f"{html_table(self.columns, rows)}<p>{len(self)} rows</p>"


def _same(a: Any, b: Any) -> bool:
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(_same(a[key], b[key]) for key in a)
    if isinstance(a, list | tuple) and isinstance(b, list | tuple):
        return len(a) == len(b) and all(_same(x, y) for x, y in zip(a, b, strict=True))
    return bool(np.array_equal(a, b, equal_nan=np.asarray(a).dtype.kind == "f"))


@readable
class Iteration(NamedTuple):
    """How a loop ended: ``reason`` is converged, max_iter, stopped or diverged.

    >>> run = iterate(lambda x: (x / 2, x / 2), 8.0, tol=1.0)
    >>> run.state, run.n_iter, run.converged
    (1.0, 3, True)
    """

    state: Any  # the last one
    n_iter: int  # steps made
    converged: bool  # whether the gap fell to ``tol``
    reason: str
    history: History  # one row per step


def rise_of(first: float, last: float, *, slack: float = 0.0, what: str = "objective") -> str:
    """How a descent that ended above its start is spoken of; "" where it did not.

    A rise by rounding is none, nor one by ``slack``: what the start is not known to.

    >>> rise_of(0.5, 40.0), rise_of(0.5, 0.5 + 1e-16)
    ('the objective rose from 0.5 at the start to 40 at the end', '')
    """
    if not last > first + max(slack, ROUNDING * abs(first)):
        return ""
    return f"the {what} rose from {first:.6g} at the start to {last:.6g} at the end"


def came_to_rest(history: History, tol: float | None) -> bool:
    """Whether the last step of a history moved by no more than ``tol``.

    >>> came_to_rest(History([{"objective": 1.0, "gap": 0.5}]), 0.1), came_to_rest(History(), 0.1)
    (False, True)
    """
    if not len(history) or tol is None:
        return True
    gap = history[-1].get("gap")
    return gap is not None and bool(gap <= tol)


def fitted_attributes(estimator: BaseEstimator, _: object = None) -> dict[str, Any]:
    """What a fit has set: everything that is no parameter."""
    given = estimator.get_params(deep=False)
    hidden = ("_skl_callbacks", "_sklearn_output_config", "_metadata_request")
    return {k: v for k, v in vars(estimator).items() if k not in given and k not in hidden}


def told_of(estimator: BaseEstimator) -> Callable[[str, dict[str, Any]], None] | None:
    """What prints a fit with ``verbose`` above 0: a line for each step and one at the end."""
    verbose = getattr(estimator, "verbose", 0)
    if getattr(estimator, "_tells_itself", False) or not isinstance(verbose, Real) or verbose <= 0:
        return None
    name, began = type(estimator).__name__, time.perf_counter()

    def tell(what: str, row: dict[str, Any]) -> None:
        shown = {k: v for k, v in row.items() if k not in ("step", "seconds")}
        numbers = [f"{k} {v:.6g}" for k, v in shown.items() if isinstance(v, Real)]
        after = f"{time.perf_counter() - began:.3g} s"
        sys.stdout.write(f"{name}: {', '.join([what, *numbers, after])}\n")

    return tell


class FitContext:
    """scikit-learn's fit callbacks for one fit: a root task with one subtask per step.

    ``attributes(state)`` returns the fitted attributes as if fit had stopped at ``state``; it is
    called only if some callback asks for the estimator.
    """

    def __init__(
        self,
        estimator: BaseEstimator,
        *,
        X: Any = None,
        y: MaybeArray = None,
        sample_weight: MaybeArray = None,
        max_steps: int | None = 0,
        attributes: Callable[[Any], dict[str, Any]] | None = None,
    ) -> None:
        self.estimator = estimator
        self.data = {"X": X, "y": y, "metadata": {"sample_weight": sample_weight}}
        self.attributes = attributes
        self.root = estimator._init_callback_context(max_subtasks=max_steps)
        self.active = bool(getattr(estimator, "_skl_callbacks", None))
        self.told = told_of(estimator)
        self.root.call_on_fit_task_begin(estimator=estimator, **self.data)

    @classmethod
    def of_rows(
        cls,
        estimator: BaseEstimator,
        rows: Any,
        sample_weight: MaybeArray = None,
        max_steps: int | None = 0,
        attributes: Callable[[Any], dict[str, Any]] | None = None,
    ) -> "FitContext":
        """The context of a fit whose checked data are ``rows`` (X and y None for blocks)."""
        X, y = getattr(rows, "X", None), getattr(rows, "y", None)
        data = {"X": X, "y": y, "sample_weight": sample_weight}
        return cls(estimator, **data, max_steps=max_steps, attributes=attributes)

    @classmethod
    def of_one_step(
        cls,
        estimator: BaseEstimator,
        X: Any,
        y: MaybeArray = None,
        sample_weight: MaybeArray = None,
    ) -> "FitContext":
        """The context of a fit in one step: fitted is what the estimator has by then."""
        attributes = partial(fitted_attributes, estimator)
        return cls(estimator, X=X, y=y, sample_weight=sample_weight, attributes=attributes)

    def _attributes(self, state: Any) -> Callable[[], dict[str, Any]] | None:
        attributes = self.attributes
        return None if attributes is None else lambda: attributes(state)

    def step(self, i: int, state: Any, row: dict[str, Any] | None = None) -> bool:
        """Report step ``i``, its row of the history; True when some callback asks to stop."""
        if self.told is not None:
            self.told(f"step {i}", row or {})
        if not self.active:
            return False
        task = self.root.subcontext(task_name=f"step {i}")
        task.call_on_fit_task_begin(estimator=self.estimator, **self.data)
        return self._end(task, state)

    def _end(self, task: Any, state: Any) -> bool:
        known = {"estimator": self.estimator, **self.data}
        return task.call_on_fit_task_end(**known, reconstruction_attributes=self._attributes(state))

    def subtask(self, name: str, max_steps: int | None) -> "FitContext":
        """A task below this one with steps of its own, such as one of several restarts."""
        child = copy(self)
        child.root = self.root.subcontext(task_name=name, max_subtasks=max_steps)
        child.root.call_on_fit_task_begin(estimator=self.estimator, **self.data)
        return child

    def end(self, state: Any = None) -> bool:
        """Report the end of the task; True when some callback asks to stop the level above."""
        if self.told is not None:
            self.told("fitted", {})
        if self.attributes is None:  # what the estimator has by now
            self.attributes = partial(fitted_attributes, self.estimator)
        return self._end(self.root, state)


def strictly_below(tol: float) -> float | None:
    """The ``tol`` of a loop that goes on after a gap of exactly ``tol``; None, no limit, for 0."""
    return math.nextafter(tol, 0.0) if tol > 0 else None


def iterate(
    step: Callable[[State], tuple[State, float]],
    state: State,
    *,
    max_iter: int = 100,
    tol: float | None = 1e-6,
    record: Callable[[State], dict[str, Any]] | None = None,
    start_row: bool = True,
    stop: Callable[[History], bool] | None = None,
    name: str = "",
    context: FitContext | None = None,
    warn: bool = True,
    explain: Callable[[State], str] | None = None,
) -> Iteration:
    """Apply ``step`` until its gap is at most ``tol``, someone says stop, or the limit is reached.

    ``context`` carries scikit-learn's callbacks; ``name`` is the loop's name in warnings.

    ``record(state)`` is the row of the history; ``start_row=False`` leaves out row 0, the start.
    ``tol=None`` runs exactly ``max_iter`` steps without a warning; ``warn=False`` leaves the
    warning at the limit to the caller (one of several restarts need not converge). A gap that is
    not finite ends the loop with a DivergenceWarning and the last state before the bad step;
    ``explain(state)`` says why.

    >>> halve = lambda x: (x / 2, x / 2)
    >>> run = iterate(halve, 8.0, tol=1.0, record=lambda x: {"objective": x})
    >>> run.state, run.n_iter, run.reason, run.history["objective"]
    (1.0, 3, 'converged', array([8., 4., 2., 1.]))
    """
    began = time.perf_counter()
    history = History()
    if record is not None and start_row:
        history.append({"step": 0, **record(state), "gap": None, "seconds": 0.0})
    label = f"{name}: " if name else ""
    gap = math.inf
    for i in range(1, max_iter + 1):
        new, gap = step(state)
        if not math.isfinite(gap):
            why = f"the gap is {gap}; the state before it is kept"
            why = why if explain is None else explain(state)
            give_warning(f"{label}diverged at step {i}: {why}", DivergenceWarning)
            return Iteration(state, i - 1, False, "diverged", history)
        state = new
        if record is not None:
            seconds = time.perf_counter() - began
            told = float(gap) if gap < UNKNOWN else None
            history.append({"step": i, **record(state), "gap": told, "seconds": seconds})
        asked = context is not None and context.step(i, state, history[-1] if record else None)
        if tol is not None and gap <= tol:
            return Iteration(state, i, True, "converged", history)
        if asked or (stop is not None and stop(history)):
            return Iteration(state, i, False, "stopped", history)
    if tol is not None and warn:
        end = f"no convergence in max_iter={max_iter} steps"
        end += f": last gap {gap:.3g} > tol={tol:g}" if gap < UNKNOWN else ""
        give_warning(f"{label}{end}", ConvergenceWarning)
    return Iteration(state, max_iter, False, "max_iter", history)
