"""Quantile regression: the median of y given x, and other quantiles round it."""

from typing import Any

import numpy as np

from pellucid.core.arrays.typing import Array, ArrayLike
from pellucid.linear import QuantileRegressor
from pellucid.plots.panels.inputs import read_table, response, with_note
from pellucid.plots.panels.marks import thinned
from pellucid.plots.panels.style import GREY, Axes, Panel, colour, legend


class QuantileLines(Panel):
    grid: Array  # (g,)
    lines: Array  # (quantiles, g)
    quantiles: Array  # (quantiles,)
    below: Array  # (quantiles,) share of the rows strictly below each fit
    crossings: bool  # whether a higher quantile lies below a lower one inside the data
    points: Array  # (n, 2)
    names: tuple[str, str]

    def _draw(self, ax: Axes) -> None:
        ax.plot(*self.points.T, "o", color=GREY, ms=3, alpha=0.5)
        styles = ("--", "-.", ":", (0, (5, 1)))
        for i in np.argsort(-self.quantiles):
            q = self.quantiles[i]
            style, width = ("-", 2.4) if q == 0.5 else (styles[i % 4], 1.6)
            word = " (median)" if q == 0.5 else ""
            label = f"{q:g} quantile{word}: {self.below[i]:.0%} of rows below"
            ax.plot(self.grid, self.lines[i], ls=style, lw=width, color=colour(i), label=label)
        ax.set(xlabel=self.names[0], ylabel=self.names[1], title=self.title)
        legend(ax)


def quantile_lines(
    X: ArrayLike,
    y: ArrayLike,
    quantiles: Any = (0.1, 0.5, 0.9),
    *,
    column: Any = None,
    n: int = 101,
) -> QuantileLines:
    """Lines of quantile regression (no penalty) for several quantiles.

    ``X``, ``y``: the data; ``quantiles``: numbers between 0 and 1. ``column``: name or number; the
    input to move where there are several; the others stay at their median. ``n``: points of the
    lines.

    Examples
    --------
    >>> x = [[float(i)] for i in range(9)]
    >>> picture = quantile_lines(x, [0, 2, 1, 3, 6, 5, 4, 7, 90], [0.5])
    >>> picture.lines[0][[0, -1]].round(4), picture.crossings
    (array([0., 8.]), False)
    """
    table = read_table(X)
    target, name = response(y, len(table.X))
    sweep = table.sweep(column, n=n)
    q = np.atleast_1d(np.asarray(quantiles, dtype=np.float64))
    if q.ndim != 1 or not len(q):
        raise ValueError(f"quantiles must be numbers between 0 and 1, got {quantiles!r}")
    fits = [QuantileRegressor(quantile=float(v), alpha=0.0).fit(table.X, target) for v in q]
    lines = np.array([fit.predict(sweep.rows) for fit in fits])
    inside = np.array([fit.predict(table.X) for fit in fits])
    tiny = 1e-9 * (np.abs(target).max() or 1.0)
    below = (target < inside - tiny).mean(axis=1)
    ordered = inside[np.argsort(q)]
    crossings = bool((np.diff(ordered, axis=0) < -tiny).any())
    kept = thinned(len(target))
    note = [sweep.note] * bool(sweep.note) + ["some lines cross inside the data"] * crossings
    parts = [f"{a:g} ({b:.0%} below)" for a, b in zip(q, below, strict=True)]
    points, names = np.column_stack([table.X[kept, sweep.column], target[kept]]), (sweep.name, name)
    title = with_note("Quantile regression", "; ".join(note))
    alt = f"Lines of the quantiles {', '.join(parts)} of {name} given {sweep.name}."
    return QuantileLines(alt, sweep.grid, lines, q, below, crossings, points, names, title=title)
