"""Fit on the first half of the range, and see what it says about the second."""

from typing import Any

import numpy as np
from sklearn.base import clone

from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike, BoolArray, Model
from pellucid.plots.panels.inputs import label_of, predicted, read_table, response, with_note
from pellucid.plots.panels.marks import thinned
from pellucid.plots.panels.style import GREY, Axes, Panel, colour, legend


class Extrapolation(Panel):
    x: Array  # (n,) in order
    y: Array  # (n,)
    prediction: Array  # (n,)
    first: BoolArray  # (n,) whether the row was fitted
    grid: Array  # (g,)
    curve: Array  # (g,)
    cut: float
    mse_first: float
    mse_second: float
    names: tuple[str, str]

    def _draw(self, ax: Axes) -> None:
        kept = thinned(len(self.x))
        x, y, fit, first = self.x[kept], self.y[kept], self.prediction[kept], self.first[kept]
        ax.axvspan(self.cut, self.grid[-1], color=colour(4), alpha=0.12, lw=0)
        ax.vlines(x[~first], y[~first], fit[~first], color=colour(1), lw=0.7, alpha=0.6)
        label = f"fitted rows, mean squared error {self.mse_first:.3g}"
        ax.plot(x[first], y[first], "o", ms=4, color=colour(0), label=label)
        label = f"rows beyond, mean squared error {self.mse_second:.3g}"
        ax.plot(x[~first], y[~first], "s", ms=4, color=colour(1), label=label)
        ax.plot(self.grid, self.curve, color="black", lw=1.8, label="prediction")
        ax.axvline(self.cut, color=GREY, ls=":")
        centre, spread = np.median(self.y), np.ptp(self.y) or 1.0
        inside = np.clip(self.curve, centre - 2 * spread, centre + 2 * spread)
        low, high = min(inside.min(), self.y.min()), max(inside.max(), self.y.max())
        ax.set_ylim(low - 0.05 * (high - low), high + 0.05 * (high - low))
        ax.set(xlabel=self.names[0], ylabel=self.names[1], title=self.title)
        legend(ax)


def extrapolation(
    E: Model, X: ArrayLike, y: ArrayLike, *, column: Any = None, share: float = 0.5, n: int = 301
) -> Extrapolation:
    """A copy of E fitted on the first half of one input; its error on the second.

    ``E``: regressor; a clone is fitted, E is left alone; ``X``, ``y``: the data. ``column``: name
    or number; the input that orders the rows, the first by default; the curve holds the others at
    their median. ``share``: share of the rows to fit; ``n``: points of the curve.

    Examples
    --------
    >>> from pellucid import LinearRegression
    >>> x = [[float(i)] for i in range(10)]
    >>> picture = extrapolation(LinearRegression(), x, [i**2 for i in range(10)])
    >>> round(picture.mse_first, 4), round(picture.mse_second, 4), picture.cut
    (2.8, 827.8, 4.5)
    """
    check.fraction(share=share)
    table = read_table(X)
    target, name = response(y, len(table.X))
    sweep = table.sweep(column, n=n)
    x = table.X[:, sweep.column]
    order = np.argsort(x, kind="stable")
    m = round(share * len(x))
    if not 0 < m < len(x):
        raise ValueError(f"share={share} of {len(x)} rows leaves none on one side")
    rows = order[:m]
    model = clone(E).fit(table.like(table.X[rows]), target[rows])
    fit = predicted(model, table.like(table.X))[order]
    first = np.arange(len(x)) < m
    x, target = x[order], target[order]
    error = (target - fit) ** 2
    inside, beyond = float(error[first].mean()), float(error[~first].mean())
    title = with_note(f"{label_of(E)}\nfitted left, tested right", sweep.note)
    alt = (
        f"{label_of(E)} fitted on the {m} rows with the smallest {sweep.name}: mean squared error "
        f"{inside:.4g} there and {beyond:.4g} on the {len(x) - m} rows beyond."
    )
    grid, curve = sweep.grid, predicted(model, table.like(sweep.rows))
    cut, names = float((x[m - 1] + x[m]) / 2), (sweep.name, name)
    return Extrapolation(
        alt, x, target, fit, first, grid, curve, cut, inside, beyond, names, title=title
    )
