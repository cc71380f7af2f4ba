"""Truth against prediction: counts, and the share of every true class in each cell."""

from typing import Any

import numpy as np

from pellucid.core.arrays.typing import Array
from pellucid.evaluation.metrics.confusion_rates import ConfusionTable
from pellucid.plots.panels.marks import words, write
from pellucid.plots.panels.style import Axes, Picture, axes, colour, heading

MOST_TEXT = 20  # classes up to which the cells hold numbers


class Confusion(Picture):
    labels: tuple[str, ...]
    counts: Array  # (K, K), row = truth
    shares: Array  # (K, K), rows sum to 1; 0 for a class without rows
    accuracy: float

    def plot(self, ax: Axes | None = None) -> Any:
        """Right answers in blue, wrong ones in orange; the deeper, the larger the share."""
        from matplotlib.colors import to_rgb

        K = len(self.labels)
        side = min(9.0, max(3.8, 1.6 + 0.62 * K))
        ax = axes(ax, figsize=(side + 0.4, side))
        ax.grid(False)
        right, wrong = np.array(to_rgb(colour(0))), np.array(to_rgb(colour(1)))
        base = np.where(np.eye(K, dtype=bool)[:, :, None], right, wrong)
        tint = 0.85 * np.sqrt(self.shares)[:, :, None]
        ax.imshow(1 - tint * (1 - base), aspect="equal")
        if K <= MOST_TEXT:
            for i, j in np.ndindex(K, K):
                self._cell(ax, i, j)
        short = K * max(map(len, self.labels)) <= 40
        ax.set_xticks(range(K), self.labels, rotation=0 if short else 45)
        ax.set_yticks(range(K), self.labels)
        ax.set_xticks(np.arange(K + 1) - 0.5, minor=True)
        ax.set_yticks(np.arange(K + 1) - 0.5, minor=True)
        ax.grid(True, which="minor", color="white", linewidth=1.5)
        ax.tick_params(which="both", length=0)
        ax.spines[:].set_visible(False)
        ax.set(xlabel="predicted", ylabel="true")
        heading(ax, f"{self.accuracy:.1%} of {self.counts.sum():g} right", width=60)
        return ax

    def _cell(self, ax: Axes, i: int, j: int) -> None:
        small = len(self.labels) > 8
        text = f"{self.counts[i, j]:g}"
        if not small:
            text += f"\n{self.shares[i, j]:.0%}"
        ink = "white" if self.shares[i, j] > 0.45 else "black"
        quiet = self.counts[i, j] == 0
        said = "" if quiet and small else text
        tint = "#6B7280" if quiet else ink
        write(ax, j, i, said, fontsize="small" if small else "medium", color=tint)


def confusion(table: Any) -> Confusion:
    """Counts of truth (rows) against prediction (columns), with the share of every true class.

    ``table``: ConfusionTable, or the result of ``classification_metrics``.

    Examples
    --------
    >>> from pellucid.evaluation import confusion_table
    >>> picture = confusion(confusion_table(["a", "a", "b", "b"], ["a", "b", "b", "b"]))
    >>> picture.shares, picture.accuracy
    (array([[0.5, 0.5],
           [0. , 1. ]]), 0.75)
    """
    table = getattr(table, "confusion", table)
    if not isinstance(table, ConfusionTable):
        raise ValueError(f"table must be a ConfusionTable, got {type(table).__name__}")
    counts = np.asarray(table.counts)
    row = counts.sum(axis=1, keepdims=True)
    shares = np.divide(counts, row, out=np.zeros(counts.shape), where=row > 0)
    labels = tuple(str(label) for label in table.labels)
    accuracy = float(np.trace(counts) / counts.sum())
    wrong = counts - np.diag(np.diag(counts))
    i, j = np.unravel_index(int(np.argmax(wrong)), wrong.shape)
    alt = (
        f"Confusion table of {counts.sum():g} rows in the classes {words(labels)}: {accuracy:.1%} "
        "right"
    )
    if wrong[i, j] > 0:
        alt += f"; most often {labels[i]} is taken for {labels[j]} ({wrong[i, j]:g} times)"
    return Confusion(alt + ".", labels, counts, shares, accuracy)
