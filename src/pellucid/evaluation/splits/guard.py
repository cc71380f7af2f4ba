"""A test set that counts how often it is used.

A test set tells the truth once: every look that leads to a change makes it a validation set.
``GuardedTest`` hands out a table of metrics ``uses`` times and then refuses.
"""

import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator, is_classifier, is_regressor
from sklearn.utils.validation import check_is_fitted

from pellucid.core.arrays import check
from pellucid.core.arrays.columns import frame_cells
from pellucid.core.arrays.frames import is_frame
from pellucid.core.arrays.typing import ArrayLike
from pellucid.core.records import plain
from pellucid.core.runtime.warn import warn
from pellucid.evaluation.intervals.intervals import MetricTable
from pellucid.evaluation.intervals.metric_intervals import metric_interval
from pellucid.evaluation.metrics.classification import classification_metrics
from pellucid.evaluation.metrics.metrics import classes_of, predictions_for, resolve_metric
from pellucid.evaluation.metrics.regression_scores import regression_metrics
from pellucid.evaluation.validation.cv_scores import open_data

KEPT = ("_fit_X", "X_fit_", "X_train_", "support_vectors_")  # where models keep rows they learned


class HeldOutUsedError(RuntimeError):
    """The test set has been used as often as was allowed."""


class Use(NamedTuple):
    """One use of a guarded test set."""

    number: int
    model: str
    table: MetricTable
    at: str  # time of day, ISO

    def to_dict(self) -> dict[str, Any]:
        return plain(self._asdict() | {"table": self.table.to_dict()})

    def __str__(self) -> str:
        return f"use {self.number} at {self.at}, {self.model}:\n{self.table}"


def row_keys(X: ArrayLike) -> set[Any]:
    """The rows as values that can be compared.

    >>> len(row_keys(np.array([[1.0, 2.0], [1.0, 2.0], [3.0, 4.0]])))
    2
    """
    if is_frame(X):
        X = frame_cells(X)
    X = X.toarray() if hasattr(X, "toarray") else np.asarray(X)
    if X.dtype.kind not in "fiub":
        return {tuple(str(cell) for cell in np.atleast_1d(row)) for row in X}
    rows = np.ascontiguousarray(X, dtype=np.float64) + 0.0  # -0.0 becomes 0.0
    return {row.tobytes() for row in rows.reshape(len(rows), -1)}


class GuardedTest:
    """Rows set aside for the end: ``score`` works ``uses`` times, then raises.

    Parameters
    ----------
    X, y : array-like
        The test rows.
    metric : str, callable, scorer or list of them, optional
        None: the whole table of ``regression_metrics`` or ``classification_metrics``.
    uses : int, default=1
        How often ``score`` may be called.

    Attributes
    ----------
    log : tuple of Use
        Every use: number, model, table, time.
    uses_left : int

    Examples
    --------
    >>> from pellucid import LinearRegression
    >>> from pellucid.evaluation import GuardedTest
    >>> guard = GuardedTest([[4.0], [5.0], [7.0]], [4.1, 5.0, 6.8], metric="mae")
    >>> model = LinearRegression().fit([[1.0], [2.0], [3.0]], [1.0, 2.0, 3.0])
    >>> round(guard.score(model)["mae"].estimate, 3)
    0.1
    >>> guard.score(model)
    Traceback (most recent call last):
    pellucid.evaluation.splits.guard.HeldOutUsedError: the test set was to be used once ...
    """

    def __init__(
        self,
        X: ArrayLike,
        y: ArrayLike,
        *,
        metric: str | Callable[..., float] | Sequence[str | Callable[..., float]] | None = None,
        uses: int = 1,
    ) -> None:
        check.whole(uses=uses)
        self._X, self._y = open_data(X, y)
        if len(self._y) == 0:
            raise ValueError("the test set is empty: at least one row is needed")
        self._metrics = None
        if metric is not None:
            many: Any = metric if isinstance(metric, list | tuple) else [metric]
            self._metrics = [resolve_metric(one) for one in many]
        self._uses = int(uses)
        self._log: list[Use] = []

    @property
    def log(self) -> tuple[Use, ...]:
        return tuple(self._log)

    @property
    def uses_left(self) -> int:
        return self._uses - len(self._log)

    def __len__(self) -> int:
        return len(self._y)

    def __repr__(self) -> str:
        return f"GuardedTest({len(self)} rows, {self.uses_left} of {self._uses} uses left)"

    def score(self, model: BaseEstimator, *, training: Any = None) -> MetricTable:
        """Metrics of a fitted model with their intervals; counts as a use.

        ``training`` are the rows the model was fitted on, if at hand: a test row among them warns.
        Models that keep their training rows are looked at by themselves.
        """
        if self.uses_left == 0:
            times = "once" if self._uses == 1 else f"{self._uses} times"
            used = f"the test set was to be used {times} and has been"
            why = "a further look would make it a validation set; set new rows aside"
            raise HeldOutUsedError(f"{used}: {why}")
        check_is_fitted(model)
        self._warn_of_training_rows(model, training)
        table = self._table(model)
        now = time.strftime("%Y-%m-%dT%H:%M:%S")
        self._log.append(Use(len(self._log) + 1, type(model).__name__, table, now))
        return table

    def _warn_of_training_rows(self, model: BaseEstimator, training: Any) -> None:
        known = [training] if training is not None else []
        known += [getattr(model, name) for name in KEPT if hasattr(model, name)]
        own = row_keys(self._X)
        for rows in known:
            shared = len(own & row_keys(rows)) if np.ndim(rows) == 2 or is_frame(rows) else 0
            if shared:
                among = "are among the rows the model was fitted on: the score is too good"
                warn(f"{shared} different rows of the test set {among}")
                return

    def _table(self, model: BaseEstimator) -> MetricTable:
        labels = classes_of(model)
        if self._metrics is not None:
            found = {}
            for metric in self._metrics:
                said = predictions_for(metric, model, self._X)
                found[metric.name] = metric_interval(metric, self._y, said, labels=labels)
            return MetricTable(found)
        if is_regressor(model):
            return regression_metrics(self._y, model.predict(self._X))
        if is_classifier(model):
            scores = model.predict_proba(self._X) if hasattr(model, "predict_proba") else None
            return classification_metrics(self._y, model.predict(self._X), scores, labels=labels)
        raise ValueError(f"{type(model).__name__} is no classifier or regressor: name the metric")
