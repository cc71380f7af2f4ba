r"""All numbers of a regression in one call, each with its interval.

    rss = sum e^2,  mse = rss / n,  rmse = sqrt(mse),  nrmse = sqrt(mse / Var y),  r2 = 1 - nrmse^2
    mae = mean |e|,  median_ae = median |e|,  max_error = max |e|          (Var y with 1/n)

mse and mae have Student's interval, rss that of mse times n; the others BCa from the same
resamples of sums. The course's half squared error is mse / 2. The largest error of a sample
bounds nothing beyond it: its interval is the bootstrap's and says only how much one row matters.
"""

from typing import Any

import numpy as np

from pellucid.core.arrays import check
from pellucid.core.arrays.typing import ArrayLike, Seed
from pellucid.core.runtime.random import generator
from pellucid.evaluation.intervals.intervals import Interval, MetricTable, n_times, not_certain
from pellucid.evaluation.intervals.metric_intervals import metric_interval
from pellucid.evaluation.metrics.prepared import Prepared, prepare

SKEWED = 3.5  # skewness of squared errors; that of normal ones is 2.8
NAMES = ("mse", "rmse", "nrmse", "r2", "mae", "median_ae", "max_error")
RESAMPLES = 2000
MANY_ROWS = 20_000
FEWER_RESAMPLES = 500


class RegressionTable(MetricTable):
    """A ``MetricTable`` with a table for every output, where there are several.

    Parameters
    ----------
    intervals, notes
        As for ``MetricTable``.
    outputs : tuple of MetricTable
        One per output; empty for one output.

    >>> Y = [[1, 2], [2, 1], [3, 5], [4, 4], [5, 3]]
    >>> table = regression_metrics(Y, [[1, 1], [2, 2], [4, 4], [4, 4], [5, 5]])
    >>> [part["max_error"].estimate for part in table.outputs]
    [1.0, 2.0]
    """

    outputs: tuple[MetricTable, ...]

    def __init__(
        self,
        intervals: dict[str, Interval],
        outputs: tuple[MetricTable, ...] = (),
        notes: tuple[str, ...] = (),
    ) -> None:
        super().__init__(intervals, notes)
        object.__setattr__(self, "outputs", outputs)

    def to_dict(self) -> dict[str, Any]:
        """The whole table as plain numbers and text, ready for JSON."""
        tables = [table.to_dict() for table in self.outputs]
        return {**super().to_dict(), **({"outputs": tables} if tables else {})}


def regression_metrics(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    confidence: float = 0.95,
    sample_weight: Any = None,
    random_state: Seed = 0,
) -> RegressionTable:
    """rss, mse, rmse, nrmse, r2, mae, median_ae and max_error with intervals.

    ``y_true`` and ``y_pred`` are (n,) or (n, k); of several outputs the table is the uniform mean,
    and ``outputs`` has a table for each. ``confidence`` is that of the intervals, ``sample_weight``
    are repetitions of the rows, ``random_state`` is the seed of the bootstrap.

    >>> table = regression_metrics([1, 3, 5], [1, 2, 3])
    >>> round(table["rmse"].estimate, 10), table["max_error"].estimate
    (1.2909944487, 2.0)
    """
    check.fraction(confidence=confidence)
    data = prepare("numbers", y_true, y_pred, sample_weight)
    seed = int(generator(random_state).integers(2**31))
    k = data.y.shape[1]
    parts = (data._replace(y=data.y[:, [j]], prediction=data.prediction[:, [j]]) for j in range(k))
    outputs = tuple(MetricTable(_one(part, confidence, seed)) for part in parts) if k > 1 else ()
    return RegressionTable(_one(data, confidence, seed), outputs, _notes(data, confidence))


def _notes(data: Prepared, confidence: float) -> tuple[str, ...]:
    """What to bear in mind where few rows have most of the squared error, or none has any."""
    w = np.ones(data.n) if data.w is None else data.w
    squares = ((data.y - data.prediction) ** 2).mean(axis=1)
    if not squares.any():
        return (f"widths of 0: {not_certain(float(w.sum()), confidence)}",)
    gap = squares - np.average(squares, weights=w)
    spread = float(np.average(gap**2, weights=w))
    skew = float(np.average(gap**3, weights=w)) / spread**1.5 if spread > 0 else 0.0
    if not skew > SKEWED:
        return ()
    few = f"few rows have most of the squared error (skewness {skew:.3g})"
    return (f"{few}: intervals of rss, mse, rmse, nrmse and r2 tend to be too short",)


def _one(data: Prepared, confidence: float, seed: int) -> dict[str, Interval]:
    B = RESAMPLES if data.n <= MANY_ROWS else FEWER_RESAMPLES
    options: dict[str, Any] = {"confidence": confidence, "sample_weight": data.w}
    options |= {"random_state": seed, "n_resamples": B}
    found = {name: metric_interval(name, data.y, data.prediction, **options) for name in NAMES}
    n = float(data.n if data.w is None else data.w.sum())
    return {"rss": n_times(found["mse"], n), **found}
