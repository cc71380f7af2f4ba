"""The impurity that every threshold of one column would leave.

score(t) = |L| / n I(L) + |R| / n I(R) for L = {x <= t}; the best split has the least score.
"""

from typing import Any

import numpy as np

from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike, BoolArray, IntArray
from pellucid.core.functions.impurities import class_impurity
from pellucid.plots.panels.inputs import read_table, response
from pellucid.plots.panels.marks import spot, thinned
from pellucid.plots.panels.planes import labels_of
from pellucid.plots.panels.style import GREY, Axes, Panel, colour, heading, legend, marker
from pellucid.tree.splits import candidate_thresholds

CRITERIA = ("gini", "entropy", "misclassification", "squared_error")


class SplitScan(Panel, size=(6.4, 4.2)):
    thresholds: Array  # (m,) between neighbouring values
    scores: Array  # (m,) size-weighted impurity of the sides
    changes: BoolArray  # (m,) whether the label changes there
    before: float  # impurity of all rows
    best: int  # place in thresholds
    x: Array  # rows drawn
    y: Any  # codes of classes, or numbers
    classes: tuple[str, ...]  # () for numbers
    criterion: str
    name: str

    @property
    def gain(self) -> float:
        """What the best threshold takes away."""
        return self.before - float(self.scores[self.best])

    def _draw(self, ax: Axes) -> None:
        ax.axhline(self.before, color=GREY, ls="--", lw=1.2, label="before the split")
        ax.plot(self.thresholds, self.scores, "-", color=colour(0), lw=1.4, zorder=2)
        if self.classes and len(self.thresholds) <= 200:
            at = self.changes
            x = self.thresholds[at]
            ax.plot(x, self.scores[at], "o", color=colour(0), ms=5, label="the label changes here")
            x, y = self.thresholds[~at], self.scores[~at]
            ax.plot(x, y, "o", mfc="white", color=colour(0), ms=5, label="it does not")
        t, low = self.thresholds[self.best], self.scores[self.best]
        ax.axvline(t, color=colour(1), lw=1, zorder=1)
        spot(ax, t, low, "D", colour(1), zorder=4, label=f"best: {self.name} ≤ {t:.4g}")
        self._rows(ax)
        ax.set_yticks([v for v in ax.get_yticks() if v >= 0])
        ax.set(xlabel=self.name, ylabel=f"{self.criterion} after the split")
        legend(ax, loc="center left", bbox_to_anchor=(1.0, 0.5))
        heading(
            ax,
            f"Best threshold {t:.4g}: {self.criterion} {self.before:.3g} → {low:.3g}, "
            f"gain {self.gain:.3g}",
        )

    def _rows(self, ax: Axes) -> None:
        """The rows below the curve: classes one above the other, numbers by their height."""
        top, floor = self.before or 1.0, min(0.0, float(self.scores.min()))
        if not self.classes:
            span = float(np.ptp(self.y)) or 1.0
            height = floor - 0.05 * top - 0.3 * top * (self.y.max() - self.y) / span
            ax.plot(self.x, height, ".", color=GREY, ms=4, label="rows, higher y higher")
            return
        for k, label in enumerate(self.classes):
            rows = self.y == k
            x, y = self.x[rows], np.full(rows.sum(), floor - top * (0.08 + 0.07 * k))
            ax.plot(x, y, marker(k), color=colour(k), ms=5, mec="white", mew=0.3, label=label)


def _class_scores(codes: IntArray, k: int, cuts: IntArray, criterion: str) -> tuple[Array, float]:
    one_hot = np.eye(k)[codes]
    left = one_hot.cumsum(axis=0)[cuts]  # (m, k)
    total = one_hot.sum(axis=0)
    n, share = len(codes), left.sum(axis=1) / len(codes)
    after = share * class_impurity(left, criterion)
    after += (1 - share) * class_impurity(total - left, criterion)
    return after, float(class_impurity(total / n, criterion))


def _number_scores(y: Array, cuts: IntArray) -> tuple[Array, float]:
    y = y - y.mean()
    n, left = len(y), (cuts + 1).astype(np.float64)
    s = y.cumsum()[cuts]
    before = float((y**2).mean())
    return before - (s**2 / left + s**2 / (n - left)) / n, before


def split_scan(
    x: Any, y: ArrayLike, *, column: Any = None, criterion: str | None = None
) -> SplitScan:
    """The impurity left by every threshold of one column.

    ``x``: column of n numbers, or a table with ``column=``; ``y``: labels, or numbers with
    ``criterion="squared_error"``. ``column``: name or position; of a table; default the first.
    ``criterion``: {"gini", "entropy", "misclassification", "squared_error"}: default: gini, or
    squared_error where y holds numbers that are not whole.

    Examples
    --------
    >>> from pellucid.plots import split_scan
    >>> picture = split_scan([1.0, 2.0, 3.0, 4.0], ["a", "a", "b", "b"])
    >>> picture.thresholds.tolist(), picture.scores.round(3).tolist(), picture.best
    ([1.5, 2.5, 3.5], [0.333, 0.0, 0.333], 1)
    """
    table = read_table(x)
    j = 0 if column is None else table.at(column)
    values = table.X[:, j]
    if not np.isfinite(values).all():
        raise ValueError(f"{table.names[j]} must hold finite numbers, got NaN or infinity")
    if criterion is None:
        numbers = np.asarray(y)
        real = numbers.dtype.kind == "f" and bool((numbers != np.round(numbers)).any())
        criterion = "squared_error" if real else "gini"
    check.one_of(CRITERIA, criterion=criterion)
    order = np.argsort(values, kind="stable")
    v = values[order]
    cuts = np.flatnonzero(v[1:] > v[:-1])
    if len(cuts) == 0:
        raise ValueError(f"{table.names[j]} holds one value only: no threshold divides the rows")
    middle = 0.5 * v[cuts] + 0.5 * v[cuts + 1]
    classes: tuple[str, ...] = ()
    target: Any
    if criterion == "squared_error":
        target = response(y, len(values))[0]
        scores, before = _number_scores(target[order], cuts)
        changes = np.ones(len(cuts), bool)
    else:
        labels = labels_of(y, len(values))
        target, classes = labels.codes, labels.classes
        scores, before = _class_scores(target[order], len(classes), cuts, criterion)
        changes = np.isin(middle, candidate_thresholds(values, target))
    best, kept = int(np.argmin(scores)), thinned(len(values))
    alt = (
        f"{criterion} left by each of {len(middle)} thresholds on {table.names[j]}: {before:.3g} "
        f"before any split, least {scores[best]:.3g} at {middle[best]:.4g}."
    )
    shown_y, name = target[kept], table.names[j]
    return SplitScan(
        alt, middle, scores, changes, before, best, values[kept], shown_y, classes, criterion, name
    )
