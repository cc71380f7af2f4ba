"""Smoothing splines for several penalties, from a wiggle to a line."""

from typing import Any

import numpy as np

from pellucid.core.arrays.typing import Array, ArrayLike
from pellucid.linear import SmoothingSpline
from pellucid.plots.panels.inputs import read_table, response
from pellucid.plots.panels.marks import thinned
from pellucid.plots.panels.style import GREY, Axes, Panel, colour, legend_below


class Smoothing(Panel):
    grid: Array  # (g,)
    curves: Array  # (alphas, g)
    alphas: Array  # (alphas,)
    df: Array  # (alphas,)
    chosen: tuple[str, ...]  # "gcv" or "loo" where the data chose, else ""
    points: Array  # (n, 2)
    names: tuple[str, str]

    def _draw(self, ax: Axes) -> None:
        ax.plot(*self.points.T, "o", color=GREY, ms=3, alpha=0.6)
        styles = ("-", "--", "-.", ":")
        for i, (a, df, curve) in enumerate(zip(self.alphas, self.df, self.curves, strict=True)):
            how = f", chosen by {self.chosen[i]}" if self.chosen[i] else ""
            label = f"penalty {a:.3g}: df {df:.3g}{how}"
            ax.plot(self.grid, curve, styles[i % 4], color=colour(i), lw=2, label=label)
        ax.set(xlabel=self.names[0], ylabel=self.names[1], title="Smoothing splines")
        legend_below(ax, 1)


def smoothing(X: ArrayLike, y: ArrayLike, alphas: Any = None, *, n: int = 401) -> Smoothing:
    """Smoothing splines of one input for several penalties, with their degrees of freedom.

    ``X``, ``y``: the data; X has one column. ``alphas``: sequence of numbers >= 0, "gcv" or "loo";
    None: a thousandth of the one chosen by "gcv", that one, and a thousand times it. ``n``: points
    of the curves.

    Examples
    --------
    >>> picture = smoothing(range(9), [0, 2, 1, 3, 6, 5, 4, 7, 9], [10.0, float("inf")])
    >>> picture.df.round(4), picture.alphas
    (array([2.7635, 2.    ]), array([10., inf]))
    """
    table = read_table(np.asarray(X) if isinstance(X, range) else X)
    if table.X.shape[1] != 1:
        raise ValueError(f"smoothing takes one input, X has {table.X.shape[1]} columns")
    target, name = response(y, len(table.X))
    sweep = table.sweep(n=n)
    if alphas is None:
        best = SmoothingSpline("gcv").fit(table.X, target).alpha_
        alphas = (best / 1000, "gcv", best * 1000)
    alphas = [alphas] if np.ndim(alphas) == 0 else list(alphas)
    fits = [SmoothingSpline(a).fit(table.X, target) for a in alphas]
    if not fits:
        raise ValueError("alphas must hold at least one penalty, got none")
    kept = thinned(len(target))
    found = [f"penalty {f.alpha_:.3g} with df {f.df_:.3g}" for f in fits]
    curves = np.array([f.predict(sweep.rows) for f in fits])
    shown_alphas, df = np.array([f.alpha_ for f in fits]), np.array([f.df_ for f in fits])
    chosen = tuple(a if isinstance(a, str) else "" for a in alphas)
    points = np.column_stack([table.X[kept, 0], target[kept]])
    alt = f"Smoothing splines of {name} on {sweep.name}: {', '.join(found)}."
    return Smoothing(alt, sweep.grid, curves, shown_alphas, df, chosen, points, (sweep.name, name))
