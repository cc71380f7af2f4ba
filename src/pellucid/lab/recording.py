"""``record``: any fit, frame by frame.

A clone is fitted once under a callback that keeps the model of every step "as if fit had stopped
here"; ``history_`` gives the objective, the gap and the numbers of the step. An estimator without
steps has two frames, before and after. The estimator that was given is not touched, and being
watched changes no bit of the fit.
"""

import inspect
import warnings
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator, clone

from pellucid.core.arrays import check
from pellucid.core.arrays.typing import ArrayLike
from pellucid.core.records import Card, plain
from pellucid.core.runtime.warn import warn
from pellucid.evaluation.callbacks import FitWatcher, is_step
from pellucid.lab.drawing import number
from pellucid.lab.formula_lines import Moment, finite
from pellucid.lab.formulas import formula_of
from pellucid.lab.recorded_bars import bar_panel, bars_of
from pellucid.lab.recorded_code import code_for
from pellucid.lab.recorded_data import about, data_of, len_of
from pellucid.lab.recorded_scene import Stage, make_stage, moving
from pellucid.lab.scene import table
from pellucid.lab.trace import Frame, Trace

MOST_NUMBERS = 8  # of a step
MOST_PARAMETERS = 80_000  # numbers of all frames together
CLOCK = ("step", "seconds")  # what says nothing about the step, or is not the same twice


class Watched(NamedTuple):
    """A fit and the models of its steps: (step, model), the steps counted from 1."""

    model: Any
    steps: list[tuple[int, Any]]
    n_steps: int
    warnings: list[str]


class StepKeeper(FitWatcher):
    """Keeps the models of each run of steps; of many, every second, fourth, ... one."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.runs: dict[int, tuple[int, int, list[tuple[int, Any]]]] = {}

    def on_fit_task_end(
        self, estimator: BaseEstimator, context: Any, *, fitted_estimator: Any = None
    ) -> bool:
        if is_step(context):
            run = context.parent.task_id if context.parent.parent is not None else -1
            count, every, kept = self.runs.get(run, (0, 1, []))
            count += 1
            if count % every == 0 and fitted_estimator is not None:
                kept.append((count, fitted_estimator))
            if len(kept) > 2 * self.most:
                every *= 2
                kept = [(i, model) for i, model in kept if i % every == 0]
            self.runs[run] = (count, every, kept)
        return False


def watch(
    estimator: BaseEstimator, X: ArrayLike, y: ArrayLike | None = None, *, most: int = 500
) -> Watched:
    """Fit a clone under the keeper; warnings are passed on and kept."""
    keeper = StepKeeper(most)
    model = clone(estimator)
    if hasattr(model, "set_callbacks"):
        model.set_callbacks(keeper)
    with warnings.catch_warnings(record=True, action="always") as caught:
        model.fit(X) if y is None and not needs_target(model) else model.fit(X, y)
    if hasattr(model, "set_callbacks"):
        model.set_callbacks()
    for w in caught:
        warn(w.message, w.category)
    count, steps = chosen_run(keeper.runs, model)
    said = [str(w.message).split("\n")[0] for w in caught]
    return Watched(model, steps, count, list(dict.fromkeys(said)))


def needs_target(model: BaseEstimator) -> bool:
    """Whether ``fit`` has a y that cannot be left out; it then says itself what is missing."""
    after_rows = list(inspect.signature(model.fit).parameters.values())[1:]
    return any(p.name == "y" and p.default is inspect.Parameter.empty for p in after_rows)


def chosen_run(runs: dict[int, Any], model: BaseEstimator) -> tuple[int, list[tuple[int, Any]]]:
    """Of several restarts the one that the fit kept: as long as the history, and ending there."""
    rows = len(getattr(model, "history_", ()))
    fitting = [run for run in runs.values() if run[2] and rows - run[0] in (0, 1)]
    if not fitting:
        return 0, []
    best = min(fitting, key=lambda run: distance(run[2][-1][1], model))
    return best[0], best[2]


def distance(a: Any, b: ArrayLike) -> float:
    """How far two models' learned numbers are from each other, where both have them."""
    left, right = learned_arrays(a), learned_arrays(b)
    both = [(left[k], right[k]) for k in left.keys() & right.keys()]
    return sum(float(np.abs(u - v).sum()) for u, v in both if u.shape == v.shape)


def learned_arrays(model: BaseEstimator) -> dict[str, Any]:
    """The fitted arrays and numbers that are the model, by name."""
    found = {}
    names = [name for name in vars(model) if name.endswith("_") and not name.startswith("_")]
    for name in dict.fromkeys([*names, "coef_"]):
        value = getattr(model, name, None)
        floats = isinstance(value, np.ndarray) and value.dtype.kind == "f"
        if floats or isinstance(value, float | np.floating):
            found[name] = np.asarray(value, float)
    return found


def record(estimator: BaseEstimator, X: Any, y: Any = None, *, max_frames: int = 500) -> Trace:
    """Fit a clone of an estimator and keep every step, for the lab to replay.

    ``X`` is an array, a frame or, for planners and agents, a decision process; ``y`` its target.

    Parameters
    ----------
    estimator : estimator
        Any of pellucid; it is not touched.
    max_frames : int, default=500
        More steps are thinned evenly; the first and the last are kept.

    Returns
    -------
    Trace
        ``to_json(path)`` keeps it, ``pellucid.lab.export(trace, path)`` makes a page of it.

    Examples
    --------
    >>> from pellucid import KMeans
    >>> from pellucid.lab import record
    >>> trace = record(KMeans(2, init=[[0.0], [1.0]], n_init=1), [[0.0], [1.0], [5.0], [6.0]])
    >>> [frame.objective for frame in trace.frames]
    [None, 14.0, 1.0, 1.0]
    >>> print(trace.frames[2].formula)
    c_k ← mean of the rows nearest to c_k;  c0 (0) → (0.5), c1 (4) → (5.5);  J = 14 → 1
    """
    check.whole(max_frames=max_frames, at_least=2)
    seen = watch(estimator, X, y, most=max_frames)
    card = seen.model.card()
    moments = thinned(moments_of(seen, card), max_frames)
    stage = make_stage(seen.model, X, y, len(moments))
    frames = frames_of(moments, stage, len_of(X))
    name = type(seen.model).__name__
    params, data = plain(seen.model.get_params(deep=False)), data_of(stage, X, y)
    title, objective = about(stage, X), objective_name(moments[-1][1])
    shown_verdict, code = verdict(name, seen, frames, stage), code_for(seen.model, X, y)
    return Trace(name, params, data, card.to_dict(), frames, title, objective, shown_verdict, code)


def moments_of(seen: Watched, card: Card) -> list[tuple[int, Moment]]:
    """The start and every step whose model was kept, with the rows of the history."""
    words = card.optimisation
    model, history = seen.model, list(getattr(seen.model, "history_", ()))
    names = tuple(map(str, getattr(model, "feature_names_in_", ())))
    if not history:
        row = {"objective": lone_objective(model), **card.numbers}
        return [
            (0, Moment(None, None, {}, {}, card.evaluation)),
            (1, Moment(model, None, row, {}, words, names)),
        ]
    started = 0 < seen.n_steps == len(history) - 1 or (
        not seen.n_steps and history[0].get("step") == 0 and len(history) > 1
    )
    rows = history if started else [{}, *history]
    models = {i: kept for i, kept in seen.steps if i < len(rows) - 1}
    models[len(rows) - 1] = model
    kept = sorted(models) if len(models) > 1 or not seen.n_steps else range(1, len(rows))
    moments = [(0, Moment(None, None, rows[0], {}, card.evaluation))]
    before = None
    for i in kept:
        moments.append((i, Moment(models.get(i), before, rows[i], rows[i - 1], words, names)))
        before = models.get(i)
    return moments


def lone_objective(model: BaseEstimator) -> float | None:
    """What a fit without steps has reached, where it says so."""
    names = ("objective_", "inertia_", "loss_", "rss_", "log_likelihood_")
    values = (finite(getattr(model, name, None)) for name in names)
    return next((value for value in values if value is not None), None)


def thinned(moments: list[tuple[int, Moment]], most: int) -> list[tuple[int, Moment]]:
    """At most so many, evenly, the first and the last kept; each follows the one shown before."""
    if len(moments) <= most:
        return moments
    places = np.unique(np.linspace(0, len(moments) - 1, most).round().astype(int))
    chosen = [moments[k] for k in places]
    follows = [(i, now, last) for (_, last), (i, now) in pairwise(chosen)]
    return [chosen[0]] + [(i, m._replace(before=o.model, last=o.row)) for i, m, o in follows]


def frames_of(moments: list[tuple[int, Moment]], stage: Stage, n: int) -> tuple[Frame, ...]:
    found = [None if m.model is None else bars_of(m.model) for _, m in moments]
    shown = [b.values for b in found if b is not None]
    low = min([0.0, *(float(v.min()) for v in shown)])
    high = max([0.0, *(float(v.max()) for v in shown)])
    frames = []
    for (step, m), b in zip(moments, found, strict=True):
        panels = moving(stage, m.model)
        if b is not None:
            panels.append(bar_panel(b, stage.names, (low, high)))
        if stage.view is None and not panels and m.model is not None:
            rows = [[name, value] for name, value in numbers(m.row).items()]
            panels.append(table("numbers", ["what", "value"], rows, title="Numbers of this step"))
        state = {"parameters": parameters(m, n, MOST_PARAMETERS // len(moments)), "panels": panels}
        gap, shown_numbers = m.value("gap"), numbers(m.row) or {"rows": n}
        frames.append(Frame(step, m.value("objective"), gap, formula_of(m), shown_numbers, state))
    return tuple(frames)


def numbers(row: dict[str, Any]) -> dict[str, Any]:
    """The scalars of a row, without the clock and without what is not a number."""
    found: dict[str, Any] = {}
    for name, value in row.items():
        if name in CLOCK or len(found) == MOST_NUMBERS:
            continue
        if isinstance(value, str | bool | np.bool_):
            found[name.replace("_", " ")] = str(value)
        elif (v := finite(value)) is not None:
            found[name.replace("_", " ")] = int(v) if isinstance(value, int | np.integer) else v
    return found


def parameters(moment: Moment, n: int, most: int) -> dict[str, Any]:
    """What the step has learned, as lists; per row or too large: only the shape."""
    if moment.model is None:
        start = moment.row.get("parameters")
        return {} if start is None else {"parameters": plain(np.asarray(start))}
    found: dict[str, Any] = {}
    for name, value in learned_arrays(moment.model).items():
        large = value.size > max(most, 20) or (value.ndim and n > 20 and value.shape[0] == n)
        found[name] = {"shape": list(value.shape)} if large else plain(value)
        most -= 0 if large else value.size
    return found


def objective_name(last: Moment) -> str:
    """What the curve shows."""
    if "log_likelihood" in last.row:
        return "log-likelihood"
    return "sum of squared distances" if hasattr(last.model, "inertia_") else "objective"


def verdict(name: str, seen: Watched, frames: tuple[Frame, ...], stage: Stage) -> str:
    """How it ended, and what is not shown."""
    rows = [frame.objective for frame in frames if frame.objective is not None]
    steps = frames[-1].step
    went = f"took {steps} step{'s' if steps != 1 else ''}"
    parts = [f"{name} {went if hasattr(seen.model, 'history_') else 'is fitted at once'}"]
    if len(rows) > 1:
        parts[0] += f": objective {number(rows[0])} → {number(rows[-1])}"
    elif rows:
        parts[0] += f": objective {number(rows[-1])}"
    if len(frames) < steps + 1:
        parts.append(f"{len(frames)} of its {steps + 1} states are shown, evenly spaced")
    if stage.note:
        parts.append(stage.note[0].upper() + stage.note[1:])
    parts += seen.warnings
    return " ".join(part.rstrip(".") + "." for part in parts)
