"""Scores with their intervals, one below the other: metrics of one model, or models of one metric.

Intervals that overlap do not show that two models are equal: their differences on the same rows
vary less than the scores do (see ``fold_differences`` and ``significance``).
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from pellucid.core.arrays.typing import Array
from pellucid.evaluation.hypotheses.comparison import Comparison
from pellucid.evaluation.intervals.intervals import Interval, MetricTable
from pellucid.plots.panels.style import Axes, Picture, axes, colour, heading, marker

WIDE = 20  # ratio of the largest to the median size from which the axis bends


class ScoreIntervals(Picture):
    """Estimate and limits per name; NaN limits where there is no interval."""

    names: tuple[str, ...]
    estimate: Array  # (m,)
    low: Array
    high: Array
    folds: Any  # (m, k) scores of a comparison, or None
    label: str

    def plot(self, ax: Axes | None = None) -> Any:
        m = len(self.names)
        ax = axes(ax, figsize=(6.4, 1.5 + 0.42 * m))
        y = np.arange(m)[::-1]
        if self.folds is not None:
            for i in range(m):
                x, tint = self.folds[i], colour(0)
                under = np.full(len(self.folds[i]), y[i] - 0.22)
                ax.plot(x, under, ".", color=tint, alpha=0.35, ms=5)
        sure = np.isfinite(self.low)
        ax.hlines(y[sure], self.low[sure], self.high[sure], color=colour(0), lw=2.4)
        for ends in (self.low, self.high):
            ax.plot(ends[sure], y[sure], "|", color=colour(0), ms=9, mew=2)
        ax.plot(self.estimate, y, marker(0), color=colour(1), ms=7, mec="white")
        for i in range(m):
            text, xycoords = f"{self.estimate[i]:.4g}", ax.get_yaxis_transform()
            ax.annotate(text, (1.01, y[i]), xycoords=xycoords, va="center", fontsize="small")
        ax.set_yticks(y, self.names)
        ax.set_ylim(-0.6, m - 0.4)
        label = self.label
        if self._wide():
            ax.set_xscale("symlog", linthresh=1.0)
            low, high = self._ends()
            ax.set_xlim(low * 1.5 if low < -1 else min(low - 0.2, 0.0), max(high, 1.0) * 1.5)
            label += " (linear up to 1, logarithmic beyond)"
        ax.set_xlabel(label)
        note = "small dots: single folds" if self.folds is not None else ""
        heading(ax, self.title, note)
        return ax

    def _ends(self) -> tuple[float, float]:
        every = np.concatenate([self.estimate, self.low, self.high])
        every = every[np.isfinite(every)]
        return float(every.min()), float(every.max())

    def _wide(self) -> bool:
        sizes = np.abs(np.concatenate([self.estimate, self.low, self.high]))
        sizes = sizes[np.isfinite(sizes)]
        return bool(sizes.max() > WIDE * max(float(np.median(sizes)), 0.05))


def score_intervals(table: Any, *, names: Sequence[str] | None = None) -> ScoreIntervals:
    """Scores with their intervals.

    Parameters
    ----------
    table : MetricTable, Comparison, or dictionary of name -> Interval or fold summary
        Of ``classification_metrics``, ``regression_metrics``, ``compare``, ``cross_validated``
        (its record, or its ``corrected`` summary).
    names : sequence of str, optional
        Those to show, in this order; default all that are defined.

    Examples
    --------
    >>> from pellucid.evaluation import classification_metrics
    >>> table = classification_metrics([0, 1] * 10, [0, 1] * 9 + [1, 1])
    >>> picture = score_intervals(table, names=["accuracy", "recall"])
    >>> picture.names, picture.estimate, picture.low.round(3)
    (('accuracy', 'recall'), array([0.95, 1.  ]), array([0.764, 0.722]))
    """
    folds, label, title = None, "score", "95 % intervals"
    if isinstance(table, Comparison):
        found = dict(zip(table.names, map(_three, table.summaries), strict=True))
        folds = dict(zip(table.names, table.scores, strict=True))
        label, title = table.metric or label, table.sentence
    elif isinstance(table, Mapping):
        found = {str(name): _three(value) for name, value in table.items()}
        metrics = {getattr(value, "metric", "") for value in table.values()}
        label = (metrics.pop() if len(metrics) == 1 else "") or label
        title = _confidence(table)
        if isinstance(table, MetricTable):
            label = "value of the metric"
    else:
        raise ValueError(
            "table must be a MetricTable, a Comparison or a dictionary of intervals, "
            f"got {type(table).__name__}"
        )
    names = [name for name, v in found.items() if math.isfinite(v[0])] if names is None else names
    unknown = [name for name in names if name not in found]
    if unknown or not len(names):
        what = f"{unknown[0]!r} is not in the table" if unknown else "no score is defined"
        raise ValueError(f"{what}; it holds {', '.join(found) or 'nothing'}")
    numbers = np.array([found[name] for name in names], dtype=np.float64)
    rows = zip(names, numbers, strict=True)
    said = [f"{name} {v[0]:.4g} ({v[1]:.4g} to {v[2]:.4g})" for name, v in rows]
    shown = None if folds is None else np.array([folds[k] for k in names])
    alt = f"Scores with intervals: {'; '.join(said)}."
    estimate, low, high = numbers.T
    return ScoreIntervals(alt, tuple(names), estimate, low, high, shown, label, title=title)


def _three(value: Any) -> tuple[float, float, float]:
    """Estimate, low and high of an interval, a summary of folds, or a cross-validation."""
    value = getattr(value, "corrected", value)
    for name in ("estimate", "mean", "value"):
        if hasattr(value, name) and hasattr(value, "low") and hasattr(value, "high"):
            return float(getattr(value, name)), float(value.low), float(value.high)
    raise ValueError(f"an interval with low and high is needed, got {type(value).__name__}")


def _confidence(table: Mapping[str, Any]) -> str:
    levels = {v.confidence for v in table.values() if isinstance(v, Interval)} or {0.95}
    return f"{100 * levels.pop():g} % intervals" if len(levels) == 1 else "intervals"
