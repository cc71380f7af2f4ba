"""What each input adds to the predictions, row by row: Shapley values of a model of trees."""

from typing import Any

import numpy as np

from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike, Model
from pellucid.evaluation.explain.tree_shapley import TreeShap, tree_shap
from pellucid.plots.panels.marks import thinned, words
from pellucid.plots.panels.style import GREY, Axes, Picture, axes, heading

ROWS = 1000  # drawn
BINS = 60  # along the axis, for the width of the swarm


class ShapSummary(Picture):
    """Shares of the inputs that move the predictions most, the first on top."""

    names: tuple[str, ...]
    shares: Array  # (rows, inputs drawn)
    ranks: Array  # (rows, inputs drawn) where the value lies in its column, 0 to 1; NaN: missing
    size: Array  # (inputs drawn,) mean |share| over all rows
    left_out: int
    scale: str

    def plot(self, ax: Axes | None = None) -> Any:
        """One line of points per input; the colour says whether the value is low or high."""
        from matplotlib import colormaps

        k = len(self.names)
        ax = axes(ax, figsize=(6.6, 0.42 * k + 1.6))
        shade = colormaps["cividis"]
        for j in range(k):
            x, y = self.shares[:, j], k - 1 - j
            known = np.isfinite(self.ranks[:, j])
            place = y + 0.36 * spread(x)
            ax.scatter(x[~known], place[~known], s=9, color=GREY, marker="x", lw=0.7)
            c = self.ranks[known, j]
            look: Any = {"s": 9, "cmap": shade, "vmin": 0, "vmax": 1, "linewidths": 0}
            points = ax.scatter(x[known], place[known], c=c, **look)
        ax.axvline(0, color="black", lw=0.8)
        names = [f"{n} ({s:.3g})" for n, s in zip(self.names, self.size, strict=True)]
        ax.set_yticks(np.arange(k)[::-1], names)
        ax.set(xlabel=f"share in the {self.scale}", ylim=(-0.6, k - 0.4))
        ax.grid(False, axis="y")
        bar = ax.figure.colorbar(points, ax=ax, ticks=[0, 1], pad=0.02, aspect=25)
        bar.ax.set_yticklabels(["lowest", "highest"])
        bar.set_label("value of the input", labelpad=-24)
        bar.outline.set_visible(False)
        more = f"; {self.left_out} inputs that move less are left out" if self.left_out else ""
        note = f"one point per row, mean size in brackets{more}"
        heading(ax, "What each input adds to the predictions", note)
        return ax


def spread(x: Array) -> Array:
    """Offsets in [-1, 1] that set points of one bin side by side, widest where they are many."""
    low, high = float(x.min()), float(x.max())
    if high == low:
        return np.linspace(-1, 1, len(x)) if len(x) > 1 else np.zeros(1)
    cell = np.minimum(((x - low) / (high - low) * BINS).astype(int), BINS - 1)
    counts = np.bincount(cell, minlength=BINS)
    order = np.argsort(cell, kind="stable")
    start = np.cumsum(counts) - counts
    place = np.empty(len(x))
    place[order] = np.arange(len(x)) - start[cell[order]]
    side = np.where(place % 2 == 0, 1.0, -1.0) * ((place + 1) // 2)
    return 2 * side / max(counts.max(), 8)


def column_ranks(X: Array) -> Array:
    """Where each value lies in its column, from 0 to 1; missing cells stay missing."""
    out = np.full(X.shape, np.nan)
    for j, column in enumerate(X.T):
        known = np.isfinite(column)
        if known.any():
            values, place = np.unique(column[known], return_inverse=True)
            out[known, j] = place / max(len(values) - 1, 1)
    return out


def shap_summary(E: Model, X: Any = None, *, output: Any = None, most: int = 12) -> ShapSummary:
    """The shares of the inputs in all predictions.

    ``E``: fitted model of trees, or a ``TreeShap``; ``X``: rows to explain, with a model (at most
    1000 are drawn). ``output``: label or place; which class of a model that has shares for several;
    default the last. ``most``: inputs drawn.

    Examples
    --------
    >>> from pellucid import DecisionTreeRegressor
    >>> from pellucid.plots import shap_summary
    >>> X, y = [[0.0, 5.0], [1.0, 5.0], [2.0, 6.0], [3.0, 6.0]], [0.0, 0.0, 4.0, 4.0]
    >>> picture = shap_summary(DecisionTreeRegressor().fit(X, y), X)
    >>> picture.names, picture.shares[:, 0].round(9).tolist()
    (('x0', 'x1'), [-2.0, -2.0, 2.0, 2.0])
    """
    check.whole(most=most)
    found = explained(E, X).output(output)
    size = found.mean_absolute()
    order = np.argsort(-size, kind="stable")[:most]
    rows = thinned(len(found.values), ROWS)
    names = tuple(found.names[j] for j in order)
    first = words([f"{found.names[j]} {size[j]:.3g}" for j in order[:3]])
    alt = (
        f"Shares of {len(size)} inputs in the {found.scale} of {len(found.values)} rows; the mean "
        f"sizes of the first: {first}."
    )
    shares, ranks = found.values[rows][:, order], column_ranks(found.X)[rows][:, order]
    return ShapSummary(alt, names, shares, ranks, size[order], len(size) - len(order), found.scale)


def explained(E: Model, X: ArrayLike) -> TreeShap:
    """The shares themselves, or those of a model for the rows."""
    if isinstance(E, TreeShap):
        return E
    if X is None:
        raise ValueError("a model needs the rows X that are to be explained")
    return tree_shap(E, X)
