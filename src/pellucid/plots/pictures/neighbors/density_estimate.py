"""A density along one column with its rows, or over two with the regions that hold most of them."""

from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from pellucid.core.arrays.typing import Array, ArrayLike, Model
from pellucid.plots.panels.inputs import label_of, last_step, read_table
from pellucid.plots.panels.marks import isolines, thinned, words
from pellucid.plots.panels.planes import grid_of
from pellucid.plots.panels.style import GREY, Axes, Panel, colour, heading, legend
from pellucid.plots.pictures.mixtures.mixture_density import true_density

HELD = (0.95, 0.75, 0.5, 0.25)  # shares of the rows inside the lines, from the outermost


class DensityEstimate(Panel, size=(6.0, 4.2)):
    """The density on a grid, and the rows."""

    lines: tuple[Array, ...]  # the grid: one or two axes
    values: Array  # (g,) or (gy, gx)
    rows: Array  # (n, 1) or (n, 2)
    at_rows: Array  # (n,) the density at every row
    levels: Array  # densities above which HELD of the rows lie
    truth: Array | None  # (g,) the density that the rows came from
    names: tuple[str, ...]

    def _draw(self, ax: Axes) -> None:
        if len(self.lines) == 1:
            self._curve(ax)
        else:
            self._plane(ax)
        heading(ax, self.title, self.note)

    def _curve(self, ax: Axes) -> None:
        x = self.rows[:, 0]
        ax.hist(x, bins="auto", density=True, color="#E5E7EB", zorder=0, label="rows")
        ax.plot(self.lines[0], self.values, color=colour(0), lw=2, label="density")
        if self.truth is not None:
            ax.plot(self.lines[0], self.truth, color=GREY, lw=3, alpha=0.5, label="truth")
        top = float(self.values.max())
        ax.plot(x, np.full(len(x), -0.04 * top), "|", color=colour(0), ms=8, mew=0.7)
        ax.set(xlabel=self.names[0], ylabel="density", ylim=(-0.09 * top, None))
        legend(ax)

    def _plane(self, ax: Axes) -> None:
        x, y = self.rows.T
        ax.scatter(x, y, s=12, color=GREY, alpha=0.6, zorder=2)
        widths = np.linspace(1.0, 2.2, len(self.levels)).tolist()
        isolines(
            ax, *self.lines, self.values, levels=self.levels, tint=colour(0), lw=widths, zorder=3
        )
        ax.set(xlabel=self.names[0], ylabel=self.names[1])


def density_estimate(E: Model, X: ArrayLike, *, truth: Any = None) -> DensityEstimate:
    """The density that a model gives to every place, with the rows.

    ``E``: fitted model with ``score_samples`` of one or two columns, such as KernelDensity; ``X``:
    table. ``truth``: of one column, the density that the rows came from: an object with
    ``score_samples``, or ``truth(x)``. Over two columns the lines hold 95, 75, 50 and 25 % of the
    rows, as far as their densities differ.

    Examples
    --------
    >>> import numpy as np
    >>> from pellucid import KernelDensity
    >>> from pellucid.plots import density_estimate
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> curve = density_estimate(KernelDensity(bandwidth=0.4).fit(X[:, :1]), X[:, :1])
    >>> bool(abs(np.trapezoid(curve.values, curve.lines[0]) - 1) < 0.01)
    True
    >>> plane = density_estimate(KernelDensity(bandwidth=0.4).fit(X), X)
    >>> [round(float((plane.at_rows > level).mean()), 2) for level in plane.levels]
    [0.95, 0.75, 0.5, 0.25]
    """
    last_step(E)
    if isinstance(E, Pipeline) or not hasattr(E, "score_samples"):
        hint = "fit it to the columns as they are" if isinstance(E, Pipeline) else "KernelDensity"
        raise ValueError(
            f"density_estimate needs a model with score_samples of its own columns: {hint}"
        )
    table = read_table(X, E)
    if table.X.shape[1] > 2:
        got = f"got {table.X.shape[1]}"
        raise ValueError(
            f"density_estimate draws one or two columns, {got}: fit the model to those wanted"
        )
    grid = grid_of(table.X, side=121, share=0.15)
    values = np.exp(np.asarray(E.score_samples(table.like(grid.places)), dtype=np.float64))
    at_rows = np.exp(np.asarray(E.score_samples(table.given), dtype=np.float64))
    levels = np.unique(np.quantile(at_rows, [1 - share for share in HELD]))
    known = true_density(truth, grid.lines[0]) if len(grid.lines) == 1 else None
    n, peak = len(table.X), int(values.argmax())
    place = [f"{v:.4g}" for v in grid.places[peak]]
    width = getattr(E, "bandwidth_", None)
    note = "" if width is None else f"bandwidth {float(width):.3g}"
    if len(grid.lines) == 2:  # fewer where many rows have one density
        shares = [f"{100 * float((at_rows > level).mean()):.0f}" for level in levels]
        note = "; ".join(filter(None, [note, f"lines hold {words(shares)} % of the rows"]))
    alt = (
        f"Density of {' and '.join(table.names)} by {label_of(E)} from {n} rows, highest at "
        f"{', '.join(place)}{f' ({note})' if note else ''}."
    )
    title = f"{label_of(E)}: {n} rows"
    drawn = values.reshape(grid.shape), table.X[thinned(n)], at_rows, levels, known, table.names
    return DensityEstimate(alt, grid.lines, *drawn, title=title, note=note)
