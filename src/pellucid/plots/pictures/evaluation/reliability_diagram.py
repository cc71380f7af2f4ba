"""Predicted probability against observed share: on the diagonal where probabilities are honest."""

from typing import Any

import numpy as np

from pellucid.core.arrays.typing import Array
from pellucid.evaluation.calibration.reliability_curve import Reliability
from pellucid.plots.panels.marks import dots
from pellucid.plots.panels.style import GREY, Axes, Panel, colour, heading, legend


class ReliabilityDiagram(Panel, size=(4.8, 5.0)):
    """One record per model; the bins of each in rising probability."""

    labels: tuple[str, ...]
    probability: tuple[Array, ...]
    observed: tuple[Array, ...]
    low: tuple[Array, ...]
    high: tuple[Array, ...]
    counts: tuple[Array, ...]
    ece: Array  # (models,)
    outside: tuple[int, ...]  # bins whose interval misses the diagonal
    confidence: float

    def _draw(self, ax: Axes) -> None:
        ax.plot([0, 1], [0, 1], color=GREY, ls="--", lw=1.2, label="predicted = observed")
        several = len(self.labels) > 1
        for i, label in enumerate(self.labels):
            p, o = self.probability[i], self.observed[i]
            size = 16 + 110 * self.counts[i] / self.counts[i].max()
            name = f"{label}: ece {self.ece[i]:.3f}" if several else "bins"
            ax.vlines(p, self.low[i], self.high[i], color=colour(i), lw=1.6, alpha=0.55)
            ax.plot(p, o, color=colour(i), lw=1, alpha=0.6)
            dots(ax, p, o, k=i, size=size, lw=0.8, zorder=3, label=name)
        xlabel, ylabel = "predicted probability (mean of the bin)", "observed share of positives"
        ax.set(xlim=(-0.03, 1.03), ylim=(-0.03, 1.03), aspect="equal", xlabel=xlabel, ylabel=ylabel)
        note = f"bars: {self.confidence:.0%} intervals; larger marks hold more rows"
        heading(ax, "Reliability" if several else self._title(), note, width=58)
        legend(ax, loc="upper left", scatterpoints=1, markerscale=0.8)

    def _title(self) -> str:
        k = len(self.counts[0])
        return f"{self.ece[0]:.3f} off on average; {self.outside[0]} of {k} bins beyond chance"


def reliability_diagram(r: Any) -> ReliabilityDiagram:
    """Observed shares against predicted probabilities, bin by bin, with Wilson intervals.

    ``r``: Reliability, or a dictionary of label -> Reliability.

    Examples
    --------
    >>> from pellucid.evaluation import reliability
    >>> r = reliability([0, 0, 1, 0, 1, 1], [0.2, 0.2, 0.2, 0.8, 0.8, 0.8], strategy="distinct")
    >>> picture = reliability_diagram(r)
    >>> picture.observed[0].round(3), picture.outside
    (array([0.333, 0.667]), (0,))
    """
    pairs = list(r.items()) if isinstance(r, dict) else [("", r)]
    for _, one in pairs:
        if not isinstance(one, Reliability):
            raise ValueError(f"r must come from evaluation.reliability, got {type(one).__name__}")
    if not pairs:
        raise ValueError("at least one record of evaluation.reliability is needed, got none")
    records = [one for _, one in pairs]
    outside = tuple(
        int(((one.probability < one.low) | (one.probability > one.high)).sum()) for one in records
    )
    said = [
        f"{str(label) + ': ' if label else ''}predicted and observed shares differ by "
        f"{one.ece:.3f} on average, beyond chance in {miss} of {len(one.counts)} bins"
        for (label, one), miss in zip(pairs, outside, strict=True)
    ]
    fields = ("probability", "observed", "low", "high", "counts")
    parts = [tuple(np.asarray(getattr(one, field)) for one in records) for field in fields]
    labels, ece = tuple(str(label) for label, _ in pairs), np.array([one.ece for one in records])
    alt = f"Observed share of positives against predicted probability; {'; '.join(said)}."
    bins = (parts[0], parts[1], parts[2], parts[3], parts[4])
    return ReliabilityDiagram(alt, labels, *bins, ece, outside, records[0].confidence)
