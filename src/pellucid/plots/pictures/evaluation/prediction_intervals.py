"""Prediction intervals against what came: how many rows they cover, and how wide they are."""

import numpy as np
from sklearn.pipeline import Pipeline

from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike, BoolArray, Model
from pellucid.evaluation.intervals.intervals import Interval, proportion_interval
from pellucid.plots.panels.inputs import predicted, read_table, response
from pellucid.plots.panels.marks import band, thinned
from pellucid.plots.panels.style import GREY, Axes, Panel, colour, heading, legend_below

MOST_BARS = 300  # rows drawn as bars; of more, a fixed sample


class PredictionIntervals(Panel, size=(6.8, 4.4)):
    """Rows in the order drawn: by the one input, or by prediction."""

    x: Array  # (m,) the input, or the rank of the prediction
    low: Array
    high: Array
    centre: Array
    actual: Array
    covered: BoolArray
    coverage: Interval  # of all rows
    confidence: float  # as stated
    width: float  # mean of all rows
    names: tuple[str, str]
    ranked: bool

    def _draw(self, ax: Axes) -> None:
        if self.ranked:
            thick = float(np.clip(300 / len(self.x), 0.8, 6.0))
            ax.vlines(self.x, self.low, self.high, color=colour(0), alpha=0.3, lw=thick)
            ax.plot([], [], color=colour(0), alpha=0.4, lw=4, label="interval")
        else:
            band(ax, self.x, self.low, self.high, colour(0), 0.22, label="interval")
        ax.plot(self.x, self.centre, color=colour(0), lw=1.8, label="prediction")
        inside = self.covered
        ax.plot(self.x[inside], self.actual[inside], "o", color=GREY, ms=3.5, label="covered")
        x, y = self.x[~inside], self.actual[~inside]
        ax.plot(x, y, "X", color=colour(1), ms=7, mec="white", mew=0.5, label="missed")
        finite = np.concatenate([self.low, self.high, self.actual])
        finite = finite[np.isfinite(finite)]
        room = 0.05 * (np.ptp(finite) or 1.0)
        ylim = (finite.min() - room, finite.max() + room)
        ax.set(xlabel=self.names[0], ylabel=self.names[1], ylim=ylim)
        endless = "infinitely wide: too few rows to calibrate for this confidence"
        note = f"mean width {self.width:.4g}" if np.isfinite(self.width) else endless
        heading(ax, self._verdict(), note)
        legend_below(ax, ncols=4)

    def _verdict(self) -> str:
        c = self.coverage
        return (
            f"{c.estimate:.1%} of {c.n:g} rows covered ({c.low:.1%} to {c.high:.1%}); "
            f"{self.confidence:.0%} stated"
        )


def prediction_intervals(
    E: Model, X: ArrayLike, y: ArrayLike, *, confidence: float | None = None
) -> PredictionIntervals:
    """The intervals of a regressor on rows it was not fitted to, and the rows they miss.

    Parameters
    ----------
    E : fitted regressor with ``predict_interval``, or a pipeline ending in one
        Such as ``ConformalRegressor`` around any other.
    X, y : new rows
        One input is drawn along its axis; with more the rows are sorted by prediction.
    confidence : float, optional
        Default: that of a ``ConformalRegressor``, else 0.95.

    Examples
    --------
    >>> import numpy as np
    >>> from pellucid import LinearRegression
    >>> x, y = np.arange(8.0)[:, None], np.array([0.0, 2, 1, 3, 5, 4, 6, 8])
    >>> model = LinearRegression().fit(x[::2], y[::2])
    >>> picture = prediction_intervals(model, x[1::2], y[1::2])
    >>> picture.covered, picture.coverage.estimate
    (array([ True,  True,  True,  True]), 1.0)
    """
    level = getattr(E, "confidence", 0.95) if confidence is None else confidence
    check.fraction(confidence=level)
    table = read_table(X, E)
    target, name = response(y, len(table.X))
    rows, last = table.like(table.X), E
    centre = predicted(E, rows)
    if isinstance(E, Pipeline):
        rows, last = (E[:-1].transform(rows) if len(E) > 1 else rows), E[-1]
    if not hasattr(last, "predict_interval"):
        raise ValueError(f"{type(last).__name__} has no predict_interval: use ConformalRegressor")
    low, high = np.asarray(last.predict_interval(rows, confidence=level)).reshape(-1, 2).T
    covered = (low <= target) & (target <= high)
    n, width = len(target), float((high - low).mean())
    coverage = proportion_interval(int(covered.sum()), n)
    ranked = table.X.shape[1] > 1
    order = np.argsort(centre if ranked else table.X[:, 0], kind="stable")
    order = order[thinned(n, MOST_BARS)] if ranked else order[thinned(n)]
    x = np.arange(len(order), dtype=np.float64) if ranked else table.X[order, 0]
    alt = (
        f"Intervals for {name} of {n} rows stated to cover {level:.0%}: they cover "
        f"{coverage.estimate:.1%} (95 % interval {coverage.low:.1%} to {coverage.high:.1%}) and "
        f"are {f'{width:.4g}' if np.isfinite(width) else 'infinitely'} wide on average."
    )
    label = "rows, sorted by prediction" if ranked else table.names[0]
    low, high, centre, actual = low[order], high[order], centre[order], target[order]
    covered, names = covered[order], (label, name)
    return PredictionIntervals(
        alt, x, low, high, centre, actual, covered, coverage, float(level), width, names, ranked
    )
