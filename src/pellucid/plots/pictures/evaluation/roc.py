"""The ROC curve: recall against false alarms, with the interval of its area and a band.

The interval of the area is DeLong's (or a bootstrap one); the band holds, at each false positive
rate, the middle 95 % of curves of resampled rows.
"""

from typing import Any

import numpy as np

from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array
from pellucid.evaluation.intervals.intervals import Interval
from pellucid.plots.panels.marks import STYLES
from pellucid.plots.panels.ranked import area_interval, labelled_curves, roc_band, shown
from pellucid.plots.panels.style import GREY, Axes, Panel, colour, heading, legend


class Roc(Panel, size=(4.8, 5.0)):
    """One curve per model, from (0, 0) to (1, 1)."""

    labels: tuple[str, ...]
    false_positive: tuple[Array, ...]  # each (m + 1,)
    recall: tuple[Array, ...]
    areas: tuple[Interval, ...]
    grid: Array  # (g,) false positive rates of the band
    low: Array  # (curves, g)
    high: Array  # (curves, g)
    confidence: float

    def _draw(self, ax: Axes) -> None:
        several = len(self.labels) > 1
        for i, label in enumerate(self.labels):
            tint, area = colour(i), self.areas[i]
            ax.fill_between(self.grid, self.low[i], self.high[i], color=tint, alpha=0.16, lw=0)
            name = f"{label}: area {area.estimate:.3f}" + _limits(area) if several else "model"
            ls = STYLES[i % len(STYLES)]
            ax.plot(self.false_positive[i], self.recall[i], color=tint, lw=2, label=name, ls=ls)
        ax.plot([0, 1], [0, 1], color=GREY, ls=(0, (2, 3)), lw=1.2, label="chance")
        xlabel = "false positive rate (negatives called positive)"
        ylabel = "recall (positives found)"
        ax.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), aspect="equal", xlabel=xlabel, ylabel=ylabel)
        band = f"shaded: {self.confidence:.0%} of resampled curves at each rate"
        title = "ROC curves" if several else f"area {self.areas[0].estimate:.3f}"
        heading(ax, title + ("" if several else _limits(self.areas[0])), band, width=58)
        legend(ax, loc="lower right")


def _limits(area: Interval) -> str:
    if np.isnan(area.low):
        return " (no interval)"
    how = {"delong": "DeLong", "bca": "bootstrap", "percentile": "bootstrap", "wilson": "Wilson"}
    return f" ({area.low:.3f} to {area.high:.3f}, {how.get(area.method, area.method)})"


def roc(curve: Any, *, confidence: float = 0.95, method: str = "delong", n: int = 201) -> Roc:
    """Recall against false positive rate at every threshold.

    ``curve``: ThresholdCurve, or a dictionary of label -> ThresholdCurve; ``confidence``: of the
    interval of the area and of the band; ``method``: {"delong", "bca", "percentile"}: how the
    interval of the area is found; ``n``: False positive rates at which the band is computed.

    Examples
    --------
    >>> from pellucid.evaluation import threshold_curve
    >>> picture = roc(threshold_curve([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]))
    >>> picture.false_positive[0], picture.recall[0], picture.areas[0].estimate
    (array([0. , 0. , 0.5, 0.5, 1. ]), array([0. , 0.5, 0.5, 1. , 1. ]), 0.75)
    """
    check.fraction(confidence=confidence)
    check.one_of(("delong", "bca", "percentile"), method=method)
    check.whole(n=n, at_least=2)
    grid = np.linspace(0, 1, n)
    x, y, areas, bands = [], [], [], []
    pairs = labelled_curves(curve)
    for _, one in pairs:
        kept = shown(len(one.threshold))
        x.append(np.concatenate([[0.0], one.fp[kept] / one.fp[-1]]))
        y.append(np.concatenate([[0.0], one.recall[kept]]))
        areas.append(area_interval(one, "roc_auc", confidence, method))
        bands.append(roc_band(one, grid, confidence))
    said = [
        f"{label + ': ' if label else ''}area {area.estimate:.3f}{_limits(area)}"
        for (label, _), area in zip(pairs, areas, strict=True)
    ]
    low, high = (np.array(part) for part in zip(*bands, strict=True))
    labels = tuple(label for label, _ in pairs)
    alt = f"Recall against false positive rate; {'; '.join(said)}."
    return Roc(alt, labels, tuple(x), tuple(y), tuple(areas), grid, low, high, float(confidence))
