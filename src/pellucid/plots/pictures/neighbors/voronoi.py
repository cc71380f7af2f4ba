"""Cells of the plane: every place belongs to the nearest point, and so to its class (1-NN)."""

from typing import Any

import numpy as np

from pellucid.core.arrays.typing import Array, ArrayLike, Columns, IntArray, MaybeArray
from pellucid.neighbors.voronoi import VoronoiCells, voronoi_cells
from pellucid.plots.panels.inputs import read_table
from pellucid.plots.panels.marks import thinned
from pellucid.plots.panels.planes import draw_points, labels_of, light, view_of
from pellucid.plots.panels.style import GREY, Axes, Picture, axes, colour, heading, legend, panels

MOST_POINTS = 500  # cells that can still be told apart


class Voronoi(Picture):
    metrics: tuple[str, ...]
    cells: tuple[VoronoiCells, ...]
    at: Array  # (n, 2)
    codes: IntArray  # (n,) zeros without classes
    classes: tuple[str, ...]  # () without
    names: tuple[str, ...]

    def plot(self, ax: Any = None) -> Any:
        """Axes for one metric, the figure for several."""
        if len(self.metrics) == 1:
            ax = axes(ax, figsize=(6.4, 5.0))
            self._panel(ax, 0)
            if self.classes:
                legend(ax, loc="center left", bbox_to_anchor=(1.0, 0.5))
            return ax
        if ax is not None:
            raise ValueError("several metrics need axes of their own: call plot() without ax")
        grid = panels(
            len(self.metrics), columns=2 if len(self.metrics) in (2, 4) else 3, size=(4.2, 3.9)
        )
        for i, each in enumerate(grid):
            self._panel(each, i)
        return grid[0].figure

    def _panel(self, ax: Axes, i: int) -> None:
        cells = self.cells[i]
        own = np.array([self.codes[rows[0]] for rows in cells.members])
        ax.grid(False)
        if cells.raster is None:
            for corners, code in zip(cells.polygons, own, strict=True):
                tint = light(int(code)) if self.classes else "white"
                ax.fill(*corners.T, facecolor=tint, edgecolor=GREY, lw=0.6, zorder=0)
            for region in cells.regions:
                for edge in region.outline:
                    ax.plot(*edge.T, color="black", lw=1.6, zorder=2)
        else:
            self._raster(ax, cells, own)
        if self.classes:
            draw_points(ax, self.at, self.codes, self.classes)
        else:
            ax.plot(*self.at.T, "o", color=colour(0), ms=4)
        low_x, high_x, low_y, high_y = cells.bounds
        xlim, ylim = (low_x, high_x), (low_y, high_y)
        a, b, c, d = cells.bounds  # about the same length: right angles may be shown
        aspect = "equal" if 1 / 3 < (b - a) / (d - c) < 3 else "auto"
        ax.set(xlim=xlim, ylim=ylim, xlabel=self.names[0], ylabel=self.names[1], aspect=aspect)
        heading(ax, f"{self.metrics[i]}: {len(cells.points)} cells", self.note)

    def _raster(self, ax: Any, cells: VoronoiCells, own: IntArray) -> None:
        assert cells.raster is not None
        tints = np.array([light(int(k)) if self.classes else np.ones(3) for k in own])
        look = {"origin": "lower", "aspect": "auto", "interpolation": "nearest", "zorder": 0}
        ax.imshow(tints[cells.raster], extent=cells.bounds, **look)
        m = cells.raster.shape[0]
        x = np.linspace(*cells.bounds[:2], m)
        y = np.linspace(*cells.bounds[2:], m)
        edge = np.zeros(cells.raster.shape)
        edge[:, 1:] += cells.raster[:, 1:] != cells.raster[:, :-1]
        edge[1:] += cells.raster[1:] != cells.raster[:-1]
        veil = np.zeros((*edge.shape, 4))
        veil[edge > 0] = (0.42, 0.45, 0.5, 0.7)
        ax.imshow(veil, origin="lower", extent=cells.bounds, aspect="auto", zorder=1)
        for k in range(len(self.classes)):
            inside = (own[cells.raster] == k).astype(np.float64)
            if 0 < inside.mean() < 1:
                ax.contour(x, y, inside, levels=[0.5], colors="black", linewidths=1.4, zorder=2)


def voronoi(
    X: ArrayLike,
    y: MaybeArray = None,
    metric: Any = "euclidean",
    *,
    columns: Columns | None = None,
    bounds: Any = None,
) -> Voronoi:
    """The cell of every point, and the boundary of the nearest-neighbour rule.

    ``X``: table (at most 500 rows are drawn); ``bounds``: (x_low, x_high, y_low, y_high), optional.

    Parameters
    ----------
    y : classes, optional
        Tint the cells and draw the boundary between classes.
    metric : name, callable, metric object, or a list of them (panels), default="euclidean"
        Euclidean cells are exact polygons, others a raster.
    columns : two names or positions, optional
        Of more than two columns; default the first two principal axes.

    Examples
    --------
    >>> from pellucid.plots import voronoi
    >>> picture = voronoi([[0, 0], [1, 0]], ["a", "b"], bounds=(-1, 2, -1, 1))
    >>> picture.cells[0].polygons[0].tolist()
    [[-1.0, -1.0], [0.5, -1.0], [0.5, 1.0], [-1.0, 1.0]]
    """
    table = read_table(X)
    view = view_of(table.X, table.names, columns)
    if view.at.shape[1] != 2:
        raise ValueError(f"voronoi needs two columns, got {view.at.shape[1]}")
    kept = thinned(len(view.at), MOST_POINTS)
    at = view.at[kept]
    codes: IntArray = np.zeros(len(at), np.intp)
    classes: tuple[str, ...] = ()
    if y is not None:
        labels = labels_of(y, len(table.X))
        codes, classes = labels.codes[kept], labels.classes
    metrics = list(metric) if isinstance(metric, list | tuple) else [metric]
    if not metrics:
        raise ValueError("metric must name at least one metric, got none")
    own = codes if classes else None
    cells = tuple(voronoi_cells(at, own, bounds=bounds, metric=m) for m in metrics)
    said = tuple(m if isinstance(m, str) else getattr(m, "__name__", repr(m)) for m in metrics)
    alt = (
        f"Cells of {len(cells[0].points)} points in {' and '.join(view.names)} under "
        f"{' and '.join(said)} distance"
        + (f", with the boundary between {' and '.join(classes)}." if classes else ".")
    )
    note = view.note if len(kept) == len(view.at) else f"{len(kept)} of {len(view.at)} rows"
    return Voronoi(alt, said, cells, at, codes, classes, view.names, note=note)
