"""Independent tasks: joblib's workers, scikit-learn's progress bar, answers in order.

Each task gets all it needs, its seed included, so that the answers are the same for any number of
workers. ``callbacks`` are scikit-learn's (``sklearn.callback.ProgressBar()``); a task is a step.
"""

from collections.abc import Callable, Iterable
from typing import Any

from joblib import Parallel, delayed, effective_n_jobs
from sklearn.base import BaseEstimator

from pellucid.core.arrays.typing import Rng
from pellucid.core.loops.iterate import CallbackSupportMixin, FitContext, with_callbacks
from pellucid.core.runtime.random import generator, stream


class TaskRun(CallbackSupportMixin, BaseEstimator):
    """What callbacks see while tasks run: its class name is shown beside the bar."""

    @with_callbacks
    def fit(
        self, function: Callable[[Any], Any], items: list[Any], n_jobs: int | None = None
    ) -> "TaskRun":
        context = FitContext(self, max_steps=len(items))
        if len(items) <= 1 or effective_n_jobs(n_jobs) == 1:
            answers: Iterable[Any] = map(function, items)
        else:
            pool = Parallel(n_jobs=n_jobs, return_as="generator")
            answers = pool(delayed(function)(item) for item in items)
        self.answers_ = []
        for i, answer in enumerate(answers):
            self.answers_.append(answer)
            context.step(i + 1, answer)
        context.end()
        return self


def run_tasks(
    function: Callable[[Any], Any],
    items: Iterable[Any],
    *,
    n_jobs: int | None = None,
    callbacks: object = (),
    name: str = "Tasks",
) -> list[Any]:
    """``[function(item) for item in items]``, in ``n_jobs`` workers, reported to ``callbacks``.

    >>> run_tasks(abs, [-2, 3], n_jobs=1)
    [2, 3]
    """
    run = type(name, (TaskRun,), {})()
    callbacks = callbacks if isinstance(callbacks, list | tuple) else (callbacks,)
    if callbacks:
        run.set_callbacks(*callbacks)
    return run.fit(function, list(items), n_jobs).answers_


def root_seed(random_state: Any) -> int:
    """One whole number that stands for a ``random_state``; streams of tasks are keyed by it."""
    return int(generator(random_state).integers(2**63))


def seeded(estimator: Any, rng: Rng) -> Any:
    """Give every ``random_state=None`` inside an unfitted estimator a number from ``rng``."""
    params = sorted(estimator.get_params(deep=True).items())
    free = [k for k, v in params if k.split("__")[-1] == "random_state" and v is None]
    if free:
        estimator.set_params(**{name: int(rng.integers(2**31)) for name in free})
    return estimator


def task_stream(seed: int, i: int) -> Rng:
    """The Generator of task i."""
    return stream(seed, i)
