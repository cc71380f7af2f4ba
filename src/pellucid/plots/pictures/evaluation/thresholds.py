"""Every rate, and the cost, against the threshold; the best threshold marked."""

from typing import Any

import numpy as np

from pellucid.core.arrays.typing import Array
from pellucid.evaluation.metrics.thresholds import best_threshold
from pellucid.plots.panels.ranked import shown, threshold_curve_only
from pellucid.plots.panels.style import GREY, Panel, colour, heading, legend_below, marker

STYLES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)))
WORDS = {"accuracy": "accuracy", "youden": "recall + specificity", "cost": "mean cost"}


class Thresholds(Panel, size=(6.6, 4.4)):
    """Rates (rates, m) at rising thresholds; ``cost`` is None without a cost matrix."""

    threshold: Array  # (m,)
    names: tuple[str, ...]
    rates: Array  # (rates, m)
    cost: Any  # (m,) or None
    metric: str
    best: tuple[float, float]  # threshold and value of the metric

    def _draw(self, ax: Any) -> None:
        few = len(self.threshold) <= 20
        for i, name in enumerate(self.names):
            look = {"lw": 1.8, "ms": 5, "color": colour(i), "ls": STYLES[i]}
            look["marker"] = marker(i) if few else None
            ax.step(self.threshold, self.rates[i], where="pre", label=name, **look)
        handles, labels = ax.get_legend_handles_labels()
        if self.cost is not None:
            side = ax.twinx()
            side.step(self.threshold, self.cost, where="pre", color="black", lw=2.4, alpha=0.75)
            side.set_ylabel("mean cost (thick black line)")
            side.set_ylim(0 if self.cost.min() >= 0 else None)
            side.spines[["top"]].set_visible(False)
            handles, labels = [*handles, side.lines[0]], [*labels, "mean cost (right axis)"]
        handles.append(ax.axvline(self.best[0], color=GREY, ls=":", lw=1.6))
        labels.append(f"best {self._word()}")
        ylim = (-0.02, 1.03)
        ax.set(ylim=ylim, xlabel="threshold: positive is a score of at least this", ylabel="rate")
        heading(ax, f"best {self._word()}: {self.best[1]:.4g} at scores ≥ {self.best[0]:.4g}")
        legend_below(ax, ncols=4, handles=handles, labels=labels)

    def _word(self) -> str:
        return WORDS.get(self.metric, self.names[3])


def thresholds(curve: Any, *, metric: str | None = None) -> Thresholds:
    """Precision, recall, specificity, F, accuracy and cost as the threshold moves.

    ``curve``: ThresholdCurve; ``metric``: {"f_beta", "accuracy", "youden", "cost"}: what the marked
    threshold is best for; default: the cost where the curve has one, else F.

    Examples
    --------
    >>> from pellucid.evaluation import threshold_curve
    >>> scores = [0.1, 0.4, 0.35, 0.8]
    >>> picture = thresholds(threshold_curve([0, 0, 1, 1], scores, cost_matrix=[[0, 1], [5, 0]]))
    >>> picture.metric, picture.best, picture.cost
    ('cost', (0.35, 0.25), array([0.5 , 0.25, 1.5 , 1.25]))
    """
    curve = threshold_curve_only(curve)
    priced = not np.isnan(curve.cost).all()
    metric = metric or ("cost" if priced else "f_beta")
    best = best_threshold(curve, metric)
    at = int(np.argmax(curve.threshold == best[0]))
    kept = shown(len(curve.threshold), at)[::-1]
    names = ("precision", "recall", "specificity", f"F{curve.beta:g}", "accuracy")
    fields = ("precision", "recall", "specificity", "f_beta", "accuracy")
    rates = np.array([getattr(curve, field)[kept] for field in fields])
    alt = (
        f"{', '.join(names)}{' and mean cost' if priced else ''} against the threshold; the best "
        f"{WORDS.get(metric, names[3])} is {best[1]:.4g} at scores of at least {best[0]:.4g}."
    )
    cost = curve.cost[kept] if priced else None
    return Thresholds(alt, curve.threshold[kept], names, rates, cost, metric, best)
