"""Expected cost of every decision against the probability of the second class.

R(d | p) = (1 - p) L[0, d] + p L[1, d] is a line; the best decision is the lowest line, and it
changes where two lines cross. Without gains the cut between two decisions is
c_FP / (c_FP + c_FN).
"""

from typing import Any

import numpy as np

from pellucid.core.arrays.typing import Array
from pellucid.plots.panels.marks import stroke, words
from pellucid.plots.panels.style import Axes, Panel, heading, legend
from pellucid.plots.pictures.evaluation.cost_table import matrix_and_names


class CostCurve(Panel, size=(6.6, 4.2)):
    probability: Array  # (g,) of the second class
    costs: Array  # (D, g)
    best: Array  # (g,) the lowest
    cuts: tuple[float, ...]
    order: tuple[str, ...]  # the best decisions from p = 0 to 1
    labels: tuple[str, ...]
    decisions: tuple[str, ...]

    def _draw(self, ax: Axes) -> None:
        for d, name in enumerate(self.decisions):
            ax.plot(self.probability, self.costs[d], lw=1.8, label=f"decide {name}", **stroke(d))
        x = self.probability
        ax.plot(x, self.best, color="black", lw=4, alpha=0.25, label="least expected cost")
        low, high = float(self.costs.min()), float(self.costs.max())
        room = 0.08 * (high - low or 1.0)
        for cut in self.cuts:
            ax.axvline(cut, color="black", lw=1, ls=":")
            ax.text(cut, high + room, f" {cut:.3g}", va="top", fontsize="small")
        ends = (0.0, *self.cuts, 1.0)
        for i, name in enumerate(self.order):
            at = (ends[i] + ends[i + 1]) / 2
            narrow = ends[i + 1] - ends[i] < 0.015 * len(name)
            y = low - (2.2 if narrow and i % 2 == 0 else 1.1) * room
            side = "left" if at < 0.1 else "right" if at > 0.9 else "center"
            ax.text(at, y, name, va="center", ha=side, fontsize="small", fontweight="bold")
        ylim = (low - 3 * room, high + 1.3 * room)
        ax.set(xlabel=f"P({self.labels[1]})", ylabel="expected cost", xlim=(0, 1), ylim=ylim)
        heading(ax, "Decide what is expected to cost least", "bold: the best decision there")
        legend(ax, loc="center left", bbox_to_anchor=(1.0, 0.5))


def envelope(L: Array) -> tuple[list[float], list[int]]:
    """Cuts and best decisions of the lower envelope of the lines over [0, 1].

    >>> envelope(np.array([[0.0, 1.0], [4.0, 0.0]]))
    ([0.2], [0, 1])
    """
    start, slope = L[0], L[1] - L[0]
    at, now = 0.0, int(np.lexsort((slope, start))[0])
    cuts: list[float] = []
    order = [now]
    while True:
        steeper = np.flatnonzero(slope < slope[now])
        if not len(steeper):
            return cuts, order
        meets = (start[steeper] - start[now]) / (slope[now] - slope[steeper])
        i = int(np.lexsort((slope[steeper], meets))[0])
        if not at <= meets[i] < 1:
            return cuts, order
        at, now = float(meets[i]), int(steeper[i])
        cuts.append(at)
        order.append(now)


def cost_curve(L: Any, *, labels: Any = None, decisions: Any = None) -> CostCurve:
    """Expected cost of each decision against the probability of the second of two classes.

    ``L``: array-like of shape (2, D), or a fitted LossMatrixClassifier of two classes; ``labels``:
    names of the two classes, optional; ``decisions``: names of the D decisions, optional.

    Examples
    --------
    >>> from pellucid.plots import cost_curve
    >>> picture = cost_curve([[0, 1], [4, 0]])  # a miss is four times as bad as a false alarm
    >>> picture.cuts, picture.order
    ((0.2,), ('class 0', 'class 1'))
    """
    C, labels, decisions = matrix_and_names(L, labels, decisions)
    if len(C) != 2:
        raise ValueError(f"cost_curve is for two classes (two rows of costs), got {len(C)}")
    p = np.linspace(0, 1, 201)
    costs = C[0][:, None] * (1 - p) + C[1][:, None] * p
    cuts, order = envelope(C)
    names = tuple(decisions[d] for d in order)
    said = words([f"{v:.3g}" for v in cuts]) or "no probability"
    alt = (
        f"Expected cost of {len(decisions)} decisions against P({labels[1]}); the best decision is "
        f"{' then '.join(names)}, changing at {said}."
    )
    return CostCurve(alt, p, costs, costs.min(axis=0), tuple(cuts), names, labels, decisions)
