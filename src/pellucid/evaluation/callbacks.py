"""Callbacks for every fit that goes step by step, on scikit-learn's protocol.

``model.set_callbacks(ValidationStop(X_val, y_val), Logger())`` before ``fit``. A callback sees each
step as a task without subtasks; the estimator "as if fit had stopped here" is built only for those
that ask for it. Answering True stops the current run of steps.
"""

import logging
import time
from collections.abc import Callable
from numbers import Real
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from pellucid.core.arrays import check
from pellucid.core.arrays.typing import ArrayLike
from pellucid.core.loops.iterate import FitContext
from pellucid.evaluation.metrics.metrics import Metric, MetricLike
from pellucid.evaluation.validation.cv_scores import judge, metric_for

logger = logging.getLogger("pellucid")
NOTHING = object()


def is_step(context: Any) -> bool:
    """Whether the task is one step of an iteration, not a fit or a restart."""
    return context.parent is not None and context.max_subtasks == 0


class FitWatcher:
    """Base of the callbacks: nothing to set up, nothing to tear down."""

    def setup(self, estimator: BaseEstimator, context: FitContext) -> None:
        """Called once before the fit."""

    def teardown(self, estimator: BaseEstimator, context: FitContext) -> None:
        """Called once after the fit, also a failed one."""

    def on_fit_task_begin(self, estimator: BaseEstimator, context: FitContext) -> None:
        """Called before each task."""


class ValidationStop(FitWatcher):
    """Stop when the score on rows of your own no longer improves.

    Parameters
    ----------
    X, y : array-like
        Validation rows, none of which the fit may see.
    metric : str, scorer or callable, optional
        None: r2 for regressors, accuracy for classifiers.
    patience : int, default=10
        Steps without improvement before the stop.
    min_change : float, default=0.0
        An improvement must be larger than this.
    restore : bool, default=True
        Give the estimator the parameters of its best step.

    Attributes
    ----------
    scores : list of (step, score) of the last fit
    best_score, best_step : the best of them
    stopped : whether it asked to stop

    Examples
    --------
    >>> import numpy as np
    >>> from pellucid import SGDRegressor
    >>> from pellucid.evaluation import ValidationStop
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 3))
    >>> y = X @ [1.0, 2.0, 3.0] + rng.normal(size=200)
    >>> stop = ValidationStop(X[150:], y[150:], patience=3)
    >>> model = SGDRegressor(random_state=0, tol=None, max_iter=500).set_callbacks(stop)
    >>> model.fit(X[:150], y[:150]).n_iter_ < 500, stop.stopped
    (True, True)
    """

    def __init__(
        self,
        X: ArrayLike,
        y: ArrayLike,
        *,
        metric: MetricLike = None,
        patience: int = 10,
        min_change: float = 0.0,
        restore: bool = True,
    ) -> None:
        check.whole(patience=patience)
        check.non_negative(min_change=min_change)
        check.boolean(restore=restore)
        self.X = X
        self.y = y
        self.metric = metric
        self.patience = patience
        self.min_change = min_change
        self.restore = restore
        self._forget()

    def _forget(self) -> None:
        self.scores: list[tuple[int, float]] = []
        self.best_score: float | None = None
        self.best_step: int | None = None
        self.stopped = False
        self._best_state: dict[str, Any] | None = None
        self._run: Any = None  # the run of steps that patience counts in
        self._run_best: float | None = None
        self._waited = 0
        self._ended = False

    def setup(self, estimator: BaseEstimator, context: FitContext) -> None:
        """Start afresh for a new fit."""
        self._forget()

    def on_fit_task_end(
        self, estimator: BaseEstimator, context: Any, *, fitted_estimator: Any
    ) -> bool:
        """Score the model after a step; True stops the run."""
        if context.parent is None:
            self._ended = True
        if not is_step(context):
            return False
        if fitted_estimator is None:
            name = type(estimator).__name__
            raise ValueError(f"ValidationStop needs {name} to say what it has learned so far")
        if context.parent is not self._run:  # a restart has a patience of its own
            self._run, self._run_best, self._waited = context.parent, None, 0
        metric = metric_for(self.metric, estimator)
        value = judge(metric, fitted_estimator, self.X, self.y, None)
        step = len(self.scores) + 1
        self.scores.append((step, value))
        if self._better(metric, value, self.best_score, 0.0):
            self.best_score, self.best_step = value, step
            self._best_state = learned(estimator, fitted_estimator) if self.restore else None
        if self._better(metric, value, self._run_best, self.min_change):
            self._run_best, self._waited = value, 0
        else:
            self._waited += 1
        stop = self._waited >= self.patience
        self.stopped = self.stopped or stop
        return stop

    def _better(self, metric: Metric, value: float, best: float | None, by: float) -> bool:
        if np.isnan(value):
            return False
        gain = None if best is None else value - best
        return gain is None or (gain > by if metric.greater_is_better else -gain > by)

    def teardown(self, estimator: BaseEstimator, context: FitContext) -> None:
        """Give the estimator back its best step, if asked."""
        last = self.scores[-1][0] if self.scores else None
        if self._ended and self._best_state is not None and self.best_step != last:
            for name, value in self._best_state.items():
                setattr(estimator, name, value)
        self._best_state = self._run = None


def learned(estimator: BaseEstimator, fitted: BaseEstimator) -> dict[str, Any]:
    """The attributes in which the estimator as of now differs from the one being fitted."""
    before = vars(estimator)
    return {
        name: value.copy() if isinstance(value, np.ndarray) else value
        for name, value in vars(fitted).items()
        if before.get(name, NOTHING) is not value
    }


class TimeLimit(FitWatcher):
    """Stop after the first step that ends later than ``seconds`` after the start.

    Parameters
    ----------
    seconds : float
        Time limit, > 0.

    Examples
    --------
    >>> from pellucid import SGDRegressor
    >>> from pellucid.evaluation import TimeLimit
    >>> model = SGDRegressor(max_iter=10_000, tol=None, random_state=0)
    >>> model = model.set_callbacks(TimeLimit(1e-9)).fit([[0.0], [1.0], [2.0]], [0.0, 1.0, 2.0])
    >>> model.n_iter_
    1
    """

    def __init__(self, seconds: float) -> None:
        check.positive(seconds=seconds)
        self.seconds = seconds
        self.stopped = False

    def setup(self, estimator: BaseEstimator, context: FitContext) -> None:
        """Start afresh for a new fit."""
        self._began, self.stopped = time.perf_counter(), False

    def on_fit_task_end(self, estimator: BaseEstimator, context: Any) -> bool:
        """True once the time is over."""
        if context.parent is None:
            return False
        late = time.perf_counter() - self._began > self.seconds
        self.stopped = self.stopped or late
        return late


class StopWhen(FitWatcher):
    """Stop when ``predicate(model)`` is true of the estimator as if fit had stopped here.

    Parameters
    ----------
    predicate : callable
        From a fitted estimator to True or False.

    Examples
    --------
    >>> import numpy as np
    >>> from pellucid import KMeans
    >>> from pellucid.evaluation import StopWhen
    >>> X = np.random.default_rng(0).normal(size=(300, 2))
    >>> stop = StopWhen(lambda model: model.inertia_ < 1e9)
    >>> KMeans(3, random_state=0).set_callbacks(stop).fit(X).n_iter_
    1
    """

    def __init__(self, predicate: Callable[[Any], Any]) -> None:
        if not callable(predicate):
            raise ValueError(f"predicate must be a function of a fitted model, got {predicate!r}")
        self.predicate = predicate
        self.stopped = False

    def setup(self, estimator: BaseEstimator, context: FitContext) -> None:
        """Start afresh for a new fit."""
        self.stopped = False

    def on_fit_task_end(
        self, estimator: BaseEstimator, context: FitContext, *, fitted_estimator: Any
    ) -> bool:
        """Ask the predicate after a step; True stops the run."""
        if not is_step(context):
            return False
        stop = bool(self.predicate(fitted_estimator))
        self.stopped = self.stopped or stop
        return stop


class Logger(FitWatcher):
    """Report every so many steps to the logger ``pellucid``, at level INFO; nothing is printed.

    Parameters
    ----------
    every : int, default=100
        Steps between two lines.

    Examples
    --------
    >>> from pellucid import KMeans
    >>> from pellucid.evaluation import Logger
    >>> KMeans(2, random_state=0).set_callbacks(Logger(every=10)).fit([[0.0], [1.0], [9.0]]).n_iter_
    2
    """

    def __init__(self, every: int = 100) -> None:
        check.whole(every=every)
        self.every = every

    def setup(self, estimator: BaseEstimator, context: FitContext) -> None:
        """Start afresh for a new fit."""
        self._began, self._steps = time.perf_counter(), 0
        logger.info("%s: fit begins", type(estimator).__name__)

    def on_fit_task_end(self, estimator: BaseEstimator, context: Any) -> bool:
        """Write a line every so many steps, and at the end."""
        seconds = time.perf_counter() - self._began
        name = type(estimator).__name__
        if is_step(context):
            self._steps += 1
            if self._steps % self.every == 0:
                limit = context.parent.max_subtasks
                of = f" of at most {limit}" if isinstance(limit, Real) and limit else ""
                logger.info("%s: step %d%s, %.2f s", name, self._steps, of, seconds)
        elif context.parent is None:
            logger.info("%s: fit ends after %d steps, %.2f s", name, self._steps, seconds)
        return False


class Recorder(FitWatcher):
    """Keep the estimator as it was after every so many steps.

    Parameters
    ----------
    every : int, default=1
        Steps between two copies.

    Attributes
    ----------
    steps : list of int
    models : list of fitted estimators, one for each of ``steps``
    seconds : list of float, since the start

    Examples
    --------
    >>> from pellucid import KMeans
    >>> from pellucid.evaluation import Recorder
    >>> record = Recorder()
    >>> model = KMeans(2, random_state=0).set_callbacks(record).fit([[0.0], [1.0], [9.0]])
    >>> record.steps, record.models[-1].inertia_
    ([1, 2], 0.5)
    """

    def __init__(self, every: int = 1) -> None:
        check.whole(every=every)
        self.every = every
        self.steps: list[int] = []
        self.models: list[Any] = []
        self.seconds: list[float] = []
        self._count = 0

    def setup(self, estimator: BaseEstimator, context: FitContext) -> None:
        """Start afresh for a new fit."""
        self.steps, self.models, self.seconds = [], [], []
        self._count, self._began = 0, time.perf_counter()

    def on_fit_task_end(
        self, estimator: BaseEstimator, context: FitContext, *, fitted_estimator: Any = None
    ) -> bool:
        """Keep the model every so many steps."""
        if is_step(context):
            self._count += 1
            if self._count % self.every == 0:
                self.steps.append(self._count)
                self.models.append(fitted_estimator)
                self.seconds.append(time.perf_counter() - self._began)
        return False
