"""A mixture along one column: the weighted components, their sum, and the rows on the axis."""

from typing import Any

import numpy as np

from pellucid.core.arrays.typing import Array, ArrayLike, IntArray, Model
from pellucid.plots.panels.inputs import label_of, read_table
from pellucid.plots.panels.marks import margin, thinned, words
from pellucid.plots.panels.mixtures import marginal, rows_for
from pellucid.plots.panels.style import LEAST, Picture, axes, colour, heading, legend

LINES = ("--", "-.", ":", (0, (5, 1)), (0, (3, 1, 1, 1)), (0, (1, 1)), (0, (8, 2)), (0, (2, 2)))


class MixtureDensity(Picture):
    grid: Array  # (g,)
    components: Array  # (k, g) weight times density
    total: Array  # (g,)
    truth: Array | None  # (g,) the density that the rows came from
    rows: Array  # (n,)
    labels: IntArray  # (n,) the component of largest responsibility
    weights: Array  # (k,)
    name: str

    def plot(self, ax: Any = None) -> Any:
        given, ax = ax is not None, axes(ax)
        counts = bool((self.grid == np.round(self.grid)).all())
        edges = np.arange(self.grid[0] - 0.5, self.grid[-1] + 1) if counts else "auto"
        ax.hist(self.rows, bins=edges, density=True, color="#E5E7EB", zorder=0)
        for k, values in enumerate(self.components):
            text = f"component {k}" + ("" if given else f", weight {self.weights[k]:.2f}")
            ax.plot(
                self.grid,
                values,
                color=colour(k),
                ls=LINES[k % len(LINES)],
                lw=1.5,
                label=text,
                zorder=3,
            )
        ax.plot(self.grid, self.total, color="black", lw=2, label="sum")
        if self.truth is not None:
            ax.plot(self.grid, self.truth, color="#6B7280", lw=3, alpha=0.5, label="truth")
        top = max(float(self.total.max()), 0.0 if self.truth is None else float(self.truth.max()))
        for k in range(len(self.components)):
            mine = self.rows[self.labels == k]
            ax.plot(mine, np.full(len(mine), -0.04 * top), "|", color=colour(k), ms=9, mew=0.8)
        ax.axhline(0, color="#9CA3AF", lw=0.8)
        ylabel = "probability" if counts else "density"
        ax.set(xlabel=self.name, ylabel=ylabel, ylim=(-0.09 * top, None))
        heading(ax, self.title, self.note)
        legend(ax, fontsize=LEAST if given else "small")
        return ax


def mixture_density(
    E: Model, X: ArrayLike, *, column: Any = None, truth: Any = None
) -> MixtureDensity:
    """Components, sum and rows of a mixture along one column.

    ``X``: table. ``E``: fitted mixture; of several columns: the marginal of a Gaussian mixture.
    ``column``: name or position; which of several; the first by default. ``truth``: mixture or
    function of x; the density that the rows came from: an object with ``score_samples``, or
    ``truth(x)``.

    Examples
    --------
    >>> from pellucid import GaussianMixture
    >>> from pellucid.plots import mixture_density
    >>> model = GaussianMixture.from_parameters([0.5, 0.5], [[0.0], [6.0]], [1.0, 1.0],
    ...                                         covariance_type="spherical")
    >>> picture = mixture_density(model, [[0.1], [5.0], [6.2]])
    >>> picture.labels, bool(np.allclose(picture.components.sum(axis=0), picture.total))
    (array([0, 1, 1]), True)
    """
    table = read_table(X, E)
    j = 0 if column is None else table.at(column)
    x = table.X[:, j]
    grid = _grid(E, x)
    model, note = marginal(E, [j], table)
    places = read_table(grid[:, None], model).given
    parts = (model.weights_ * np.exp(model.component_log_density(places))).T
    labels = np.asarray(E.predict(rows_for(E, table)), dtype=np.intp)
    kept = thinned(len(x))
    k = len(parts)
    title = f"{label_of(E)}: {k} component{'s' if k != 1 else ''}"
    said = [f"weight {w:.2f}" for w in model.weights_]
    alt = f"Density of {table.names[j]} as a sum of {k} components ({words(said)}), {len(x)} rows."
    curves = (grid, parts, parts.sum(axis=0), true_density(truth, grid))
    rows = (x[kept], labels[kept], np.asarray(model.weights_))
    return MixtureDensity(alt, *curves, *rows, table.names[j], title=title, note=note)


def _grid(E: Model, x: Array) -> Array:
    """Even places; for counts under components of their own kind, the whole numbers."""
    if not hasattr(E, "means_") and (x == np.round(x)).all() and np.ptp(x) <= 1000:
        return np.arange(max(x.min() - 1, 0 if x.min() >= 0 else -np.inf), x.max() + 2)
    return np.linspace(*margin(x, 0.15), 501)


def true_density(truth: Any, grid: Array) -> Array | None:
    """The values of a known density along a grid."""
    if truth is None:
        return None
    if hasattr(truth, "score_samples"):
        places = read_table(grid[:, None], truth).given
        return np.exp(np.asarray(truth.score_samples(places), dtype=np.float64))
    return np.broadcast_to(np.asarray(truth(grid), dtype=np.float64), grid.shape)
