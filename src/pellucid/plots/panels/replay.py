"""A fit seen again, round by round: the same estimator on the same rows, watched.

Histories keep numbers, not whole models. Where a picture needs the model of every round, a clone is
fitted once more under a callback that keeps it "as if the fit had stopped here". The seed must be
fixed, or the second fit is another one: that is noticed, and said.
"""

import warnings
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.base import clone

from pellucid.core.arrays.typing import ArrayLike, MaybeArray, Model
from pellucid.core.loops.iterate import History
from pellucid.evaluation.callbacks import FitWatcher, is_step

CLOSE = 1e-8  # of the objective, relative: the same run on the same rows


class Recorder(FitWatcher):
    """Keeps the model of every step, by run."""

    def __init__(self) -> None:
        self.runs: dict[int, list[Any]] = {}

    def on_fit_task_end(self, estimator: Model, context: Any, *, fitted_estimator: Any) -> bool:
        if is_step(context):
            run = context.parent.task_id if context.parent.parent is not None else -1
            self.runs.setdefault(run, []).append(fitted_estimator)
        return False


def watched(E: Model, X: Any, y: MaybeArray = None, **settings: Any) -> tuple[Any, Recorder]:
    """A clone of E fitted once more, and the models of its steps."""
    recorder = Recorder()
    model = clone(E).set_params(**settings).set_callbacks(recorder)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the user has seen them at the first fit
        model.fit(X) if y is None else model.fit(X, y)
    return model, recorder


def history_of(E: Model) -> History:
    """The rows of a fitted estimator, or a sentence."""
    history = getattr(E, "history_", None)
    if history is None or not len(history):
        raise ValueError(f"{type(E).__name__} has no history_: fit it first, by an iteration")
    return history


def rounds(E: Model, X: np.ndarray, y: np.ndarray | None = None) -> list[Any]:
    """The models after rounds 1, 2, ... of the run that E kept."""
    history = history_of(E)
    again, recorder = watched(E, X, y)
    same = again.history_["objective"], history["objective"]
    if len(same[0]) != len(same[1]) or not np.allclose(*same, rtol=CLOSE, atol=0):
        raise ValueError(
            f"fitting {type(E).__name__} again gave another run: give the rows it was fitted on "
            "(without weights) and fit it with a fixed random_state"
        )
    found = recorder.runs
    if len(found) == 1:
        return next(iter(found.values()))
    final = float(history["objective"][-1])
    return min(found.values(), key=lambda run: abs(_objective(run[-1], X) - final))


def _objective(model: Model, X: ArrayLike) -> float:
    return float(model.log_likelihood(X))


def em_rounds(E: Model, X: np.ndarray) -> list[Any]:
    """The mixtures at the start and after every round of EM (the first is the start)."""
    after = rounds(E, X)
    first = float(history_of(E)["objective"][0])
    model, recorder = watched(E, X, max_iter=0)
    starts = recorder.runs.get(-1) or [model]  # one start has no tasks of its own
    return [min(starts, key=lambda start: abs(_objective(start, X) - first)), *after]


def chosen_rounds(at: Any, last: int) -> list[int]:
    """Rounds in order, each once; beyond the end and -1 are the last.

    >>> chosen_rounds((0, 3, 99, -1), 7)
    [0, 3, 7]
    """
    found = set()
    for i in at:
        if isinstance(i, bool) or not isinstance(i, Integral) or int(i) < -1:
            raise ValueError(f"at must hold rounds 0, 1, ... or -1 for the last, got {i!r}")
        found.add(last if i == -1 else min(int(i), last))
    if not found:
        raise ValueError("at must name at least one round, got none")
    return sorted(found)
