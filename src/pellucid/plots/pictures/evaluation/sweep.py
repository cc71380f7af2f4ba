"""Train and test scores over a hyper-parameter, every run a dot, collapsed runs crossed."""

from numbers import Real
from typing import Any

import numpy as np

from pellucid.core.arrays.typing import Array, BoolArray
from pellucid.evaluation.validation.curves import ComplexityCurve
from pellucid.plots.panels.marks import spot
from pellucid.plots.panels.style import Axes, Panel, colour, heading, legend

LOG_SPAN = 20  # ratio of the largest to the smallest value from which the axis is logarithmic


class Sweep(Panel, size=(6.6, 4.2)):
    """Scores (values, runs) of each value of the parameter."""

    parameter: str
    values: tuple[Any, ...]
    train: Array  # (m, runs)
    test: Array  # (m, runs)
    collapsed: BoolArray  # (m, runs) the run answers the same for every row
    best: int
    metric: str

    def _draw(self, ax: Axes) -> None:
        numbers = all(isinstance(v, Real) for v in self.values)
        x = np.array(self.values, float) if numbers else np.arange(len(self.values), dtype=float)
        if numbers and x.min() > 0 and x.max() / x.min() >= LOG_SPAN:
            ax.set_xscale("log")
        if not numbers:
            ax.set_xticks(x, [str(v) for v in self.values])
        kinds = ((self.train, 1, "s--", "training rows"), (self.test, 0, "o-", "new rows"))
        for scores, i, style, label in kinds:
            y = scores.ravel()
            ax.plot(np.repeat(x, scores.shape[1]), y, style[0], color=colour(i), ms=3, alpha=0.45)
            ax.plot(x, scores.mean(axis=1), style, color=colour(i), lw=1.8, ms=6, label=label)
        if self.collapsed.any():
            at, run = np.nonzero(self.collapsed)
            y, said = self.test[at, run], f"collapsed runs ({len(at)})"
            ax.plot(x[at], y, "x", color="black", ms=9, mew=1.8, zorder=5, label=said)
        best = self.test.mean(axis=1)[self.best]
        said = f"best: {self.values[self.best]}"
        spot(ax, x[self.best], best, "D", colour(2), zorder=4, label=said)
        ax.set(xlabel=self.parameter, ylabel=self.metric)
        legend(ax)
        title = f"{self.parameter} = {self.values[self.best]}: {self.metric} {best:.3g} on new rows"
        heading(ax, title, "small dots: single runs")


def sweep(curve: Any) -> Sweep:
    """Scores against the hidden size, the learning rate, or any other parameter.

    ``curve``: ComplexityCurve of one parameter; from ``evaluation.complexity_curve``: every point
    is a fresh fit on every fold.

    Examples
    --------
    >>> from pellucid import Ridge
    >>> from pellucid.evaluation import complexity_curve
    >>> from pellucid.plots import sweep
    >>> X, y = [[float(i)] for i in range(20)], [2.0 * i for i in range(20)]
    >>> curve = complexity_curve(Ridge(), X, y, parameter="alpha", values=[0.1, 1e6], cv=5)
    >>> picture = sweep(curve)
    >>> picture.best, picture.test.shape
    (0, (2, 5))
    """
    if not isinstance(curve, ComplexityCurve):
        raise ValueError(f"curve must be a ComplexityCurve, got {type(curve).__name__}")
    if not isinstance(curve.parameter, str):
        raise ValueError("sweep draws one parameter; validation_curve draws a pair")
    values = tuple(curve.values)
    train, test = np.asarray(curve.train, float), np.asarray(curve.test, float)
    train, test = (v.reshape(len(values), -1) for v in (train, test))
    collapsed = np.broadcast_to(np.asarray(curve.collapsed, bool), test.shape)
    best = int(curve.best)
    means = ", ".join(f"{v}: {t:.3g}" for v, t in zip(values, test.mean(axis=1), strict=True))
    alt = f"{curve.metric} on new rows for {curve.parameter} = {means}; best at {values[best]}" + (
        f"; {int(collapsed.sum())} runs collapsed." if collapsed.any() else "."
    )
    return Sweep(alt, curve.parameter, values, train, test, collapsed, best, curve.metric)
