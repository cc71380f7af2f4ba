"""The variance of a fitted curve at every x, in units of the noise variance.

For a linear smoother Var f(x) = s^2 h(x), h(x) the leverage of x: it depends on the inputs alone.
Global polynomials are wild at the ends; natural splines, straight there, are tame.
"""

from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from pellucid.core.arrays.typing import Array, ArrayLike, Model
from pellucid.plots.panels.inputs import features_of, labelled, last_step, read_table, with_note
from pellucid.plots.panels.marks import thinned, tone
from pellucid.plots.panels.style import GREY, Axes, Panel, legend


class PointwiseVariance(Panel):
    grid: Array  # (g,)
    variance: Array  # (models, g) over the noise variance
    labels: tuple[str, ...]
    df: tuple[float, ...]
    inputs: Array  # (n,) where the data lie
    name: str

    def _draw(self, ax: Axes) -> None:
        for i, (label, h) in enumerate(zip(self.labels, self.variance, strict=True)):
            markevery, said = max(1, len(self.grid) // 10), f"{label} (df {self.df[i]:.3g})"
            ax.plot(self.grid, h, lw=1.8, ms=4, markevery=markevery, label=said, **tone(i))
        y = np.zeros(len(self.inputs))
        ax.plot(self.inputs, y, "|", color=GREY, ms=9, clip_on=False, label="data")
        ax.set(xlabel=self.name, ylabel="variance of the fit / noise variance", title=self.title)
        ax.set_ylim(bottom=0)
        legend(ax)


def pointwise_variance(
    E: Model, x: ArrayLike, *, column: Any = None, n: int = 201
) -> PointwiseVariance:
    """Pointwise variance of polynomial, spline and other linear smoothers, side by side.

    ``x``: the inputs of the fit. ``E``: fitted linear smoother or pipeline that ends in one, a list
    of them, or {label: fit} LinearRegression, Ridge, SmoothingSpline, ... : what has ``leverage``..
    ``column``: name or number; the input to move where there are several; the others stay at their
    median. ``n``: points of the curves.

    Examples
    --------
    >>> from pellucid import LinearRegression
    >>> line = LinearRegression().fit([[0.0], [1.0], [2.0]], [1.0, 2.0, 4.0])
    >>> pointwise_variance(line, [[0.0], [1.0], [2.0]], n=3).variance.round(4)
    array([[0.8333, 0.3333, 0.8333]])
    """
    pairs = labelled(E)
    table = read_table(x, pairs[0][1])
    sweep = table.sweep(column, n=n)
    curves, df = [], []
    for label, model in pairs:
        last = last_step(model)
        if not hasattr(last, "leverage"):
            raise ValueError(f"{label} is not a linear smoother: it has no leverage(X)")
        rows = table.like(sweep.rows)
        rows = features_of(model, rows) if isinstance(model, Pipeline) else rows
        named = read_table(rows, last).given  # with the names of the fit
        h = np.asarray(last.leverage(named), dtype=np.float64)
        curves.append(h if h.ndim == 1 else h[:, 0])
        df.append(float(np.ravel(last.df_)[0]))
    labels = tuple(label for label, _ in pairs)
    parts = [f"{name} at most {h.max():.3g}" for name, h in zip(labels, curves, strict=True)]
    alt = f"Variance of the fit over the noise variance along {sweep.name}: {', '.join(parts)}."
    inputs = table.X[thinned(len(table.X)), sweep.column]
    title = with_note("How sure the fit is at every point", sweep.note)
    drawn = (sweep.grid, np.array(curves), labels, tuple(df), inputs)
    return PointwiseVariance(alt, *drawn, sweep.name, title=title)
