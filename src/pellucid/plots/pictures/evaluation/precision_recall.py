"""Precision against recall, with lines of equal F and the best threshold."""

from typing import Any

import numpy as np

from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array
from pellucid.evaluation.intervals.intervals import Interval
from pellucid.evaluation.metrics.thresholds import best_threshold
from pellucid.plots.panels.marks import STYLES
from pellucid.plots.panels.ranked import area_interval, labelled_curves, shown
from pellucid.plots.panels.style import (
    GREY,
    LEAST,
    LIGHT,
    Axes,
    Panel,
    colour,
    heading,
    legend_below,
    marker,
)

MOST_RESAMPLED = 5000  # distinct scores beyond which no interval is bootstrapped
LEVELS = (0.2, 0.4, 0.6, 0.8)  # of F


class PrecisionRecall(Panel, size=(5.2, 4.8)):
    """One curve per model, in falling threshold; and the point of the best F."""

    labels: tuple[str, ...]
    recall: tuple[Array, ...]
    precision: tuple[Array, ...]
    average_precision: tuple[Interval, ...]
    best: Array  # (curves, 3): threshold, recall and precision of the best F
    prevalence: Array  # (curves,) precision of calling every row positive
    beta: float

    def _draw(self, ax: Axes) -> None:
        self._equal_f(ax)
        several = len(self.labels) > 1
        for i, label in enumerate(self.labels):
            area, tint = self.average_precision[i], colour(i)
            name = f"{label}: average precision {_said(area)}" if several else "model"
            x = np.concatenate([[0.0], self.recall[i]])
            y = np.concatenate([self.precision[i][:1], self.precision[i]])
            ax.step(x, y, where="pre", color=tint, lw=2, ls=STYLES[i % len(STYLES)], label=name)
            threshold, r, p = self.best[i]
            said = f"best F{self.beta:g}, score ≥ {threshold:.3g}"
            ax.plot(r, p, marker(i), color=tint, ms=8, mec="white", zorder=4, label=said)
        for share in np.unique(self.prevalence):
            ax.axhline(share, color=GREY, ls=(0, (2, 3)), lw=1.2)
            ax.plot([], [], color=GREY, ls=(0, (2, 3)), label=f"all called positive: {share:.3g}")
        xlabel, ylabel = "recall (positives found)", "precision (right among those called)"
        ax.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.04), xlabel=xlabel, ylabel=ylabel)
        only = "" if several else f"average precision {_said(self.average_precision[0])}"
        heading(ax, only or "Precision against recall", f"thin lines: equal F{self.beta:g}")
        legend_below(ax, ncols=1 if several else 3)

    def _equal_f(self, ax: Axes) -> None:
        b2 = self.beta**2
        for level in LEVELS:
            r = np.linspace(level * b2 / (1 + b2 - level) + 1e-9, 1.0, 200)
            p = level * r / ((1 + b2) * r - level * b2)
            inside = (p > 0) & (p <= 1.04)
            ax.plot(r[inside], p[inside], color=LIGHT, lw=1, zorder=0.5)
            text = f"F = {level:g}"
            ax.text(1.03, p[-1], text, fontsize=LEAST, color=GREY, va="center", clip_on=False)


def _said(area: Interval) -> str:
    """Without limits where there are none, or where resampling found no spread at all."""
    if not area.low < area.high:
        return f"{area.estimate:.3f}"
    return f"{area.estimate:.3f} ({area.low:.3f} to {area.high:.3f}, bootstrap)"


def precision_recall(
    curve: Any, *, confidence: float = 0.95, n_resamples: int = 2000
) -> PrecisionRecall:
    """Precision against recall at every threshold, drawn in steps as average precision sums them.

    ``curve``: ThresholdCurve, or a dictionary of label -> ThresholdCurve; ``n_resamples``:
    bootstrap resamples, 2000 by default; ``confidence``: of the bootstrap interval of average
    precision, up to 5000 distinct scores.

    Examples
    --------
    >>> from pellucid.evaluation import threshold_curve
    >>> curve = threshold_curve([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    >>> picture = precision_recall(curve, n_resamples=100)
    >>> picture.recall[0], picture.best[0].round(3), picture.prevalence
    (array([0.5, 0.5, 1. , 1. ]), array([0.35 , 1.   , 0.667]), array([0.5]))
    """
    check.fraction(confidence=confidence)
    pairs = labelled_curves(curve)
    betas = {float(one.beta) for _, one in pairs}
    if len(betas) > 1:
        raise ValueError(f"the curves must share one beta, got {sorted(betas)}")
    recall, precision, areas, best, prevalence = [], [], [], [], []
    for _, one in pairs:
        at = int(np.argmax(one.threshold == best_threshold(one)[0]))
        kept = shown(len(one.threshold), at)
        recall.append(one.recall[kept])
        precision.append(one.precision[kept])
        best.append([one.threshold[at], one.recall[at], one.precision[at]])
        prevalence.append(one.precision[-1])
        n, nan = float(one.tp[-1] + one.fp[-1]), float("nan")
        areas.append(
            area_interval(one, "average_precision", confidence, "bca", n_resamples)
            if len(one.threshold) <= MOST_RESAMPLED
            else Interval(one.average_precision, nan, nan, nan, "none", n, confidence)
        )
    said = [
        f"{label + ': ' if label else ''}average precision {_said(area)}, best F at scores of at "
        f"least {b[0]:.4g} (recall {b[1]:.3f}, precision {b[2]:.3f})"
        for (label, _), area, b in zip(pairs, areas, best, strict=True)
    ]
    labels = tuple(label for label, _ in pairs)
    curves = (tuple(recall), tuple(precision), tuple(areas), np.array(best), np.array(prevalence))
    alt = f"Precision against recall; {'; '.join(said)}."
    return PrecisionRecall(alt, labels, *curves, betas.pop())
