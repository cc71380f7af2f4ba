"""Which cells of a table are missing: rows from top to bottom, one strip per column.

More than 400 rows are drawn in 400 bands; the shade of a band is its share of missing cells, and a
band with any missing cell is visible.
"""

from typing import Any

import narwhals.stable.v1 as nw
import numpy as np

from pellucid.core.arrays.frames import is_frame
from pellucid.core.arrays.matrices import column_names
from pellucid.core.arrays.typing import Array, BoolArray
from pellucid.plots.panels.style import Picture, axes, colour, heading

BANDS = 400
FAINTEST = 0.3  # shade of a band with one missing cell


class MissingMap(Picture):
    bands: Array  # (b, p) shares; 0 or 1 where each row is its own band
    share: Array  # (p,) of each column
    rows: int
    complete: int  # rows without a missing cell
    names: tuple[str, ...]

    def plot(self, ax: Any = None) -> Any:
        p = len(self.names)
        ax = axes(ax, figsize=(max(4.6, min(14.0, 1.5 + 0.4 * p)), 4.6))
        from matplotlib.colors import LinearSegmentedColormap

        shades = LinearSegmentedColormap.from_list("missing", ["#F3F4F6", colour(0)])
        visible = np.where(self.bands > 0, FAINTEST + (1 - FAINTEST) * self.bands, 0.0)
        look = {"aspect": "auto", "cmap": shades, "vmin": 0, "vmax": 1, "interpolation": "nearest"}
        ax.imshow(visible, extent=(-0.5, p - 0.5, self.rows, 0), **look)
        for j in range(1, p):
            ax.axvline(j - 0.5, color="white", lw=1)
        every = max(1, p // 40)
        ticks = np.arange(0, p, every)
        texts = [f"{self.names[j]} ({_percent(self.share[j])})" for j in ticks]
        ax.set_xticks(ticks, texts, rotation=50, ha="right", rotation_mode="anchor")
        ax.grid(False)
        ax.set(ylabel="row", xlabel="column (share missing); coloured cells are missing")
        heading(ax, self.title)
        return ax


def _percent(share: float) -> str:
    return "0 %" if share == 0 else "< 1 %" if share < 0.01 else f"{100 * share:.0f} %"


def missing_cells(table: Any) -> BoolArray:
    """The mask of the cells that are null, None or NaN."""
    if is_frame(table):
        frame = nw.from_native(table, eager_only=True)
        return np.column_stack([_missing_in(frame[name]) for name in frame.columns])
    cells = np.asarray(table)
    if cells.ndim != 2 or 0 in cells.shape:
        raise ValueError(f"the table must have rows and columns, got shape {cells.shape}")
    if cells.dtype.kind in "iubSU":
        return np.zeros(cells.shape, dtype=bool)
    if cells.dtype.kind in "fcmM":
        return np.asarray(cells != cells)  # NaN and NaT differ from themselves
    empty = [[cell is None or bool(cell != cell) for cell in row] for row in cells]
    return np.array(empty, dtype=bool)


def _missing_in(series: Any) -> BoolArray:
    found = series.is_null().to_numpy()
    if series.dtype in (nw.Float32, nw.Float64):
        found = found | series.is_nan().fill_null(False).to_numpy()
    return np.asarray(found, dtype=bool)


def missing_map(frame: Any) -> MissingMap:
    """Where values are missing in a table.

    ``frame``: data frame or 2-D array; null, None and NaN count as missing.

    Examples
    --------
    >>> from pellucid.plots import missing_map
    >>> picture = missing_map([[1.0, float("nan")], [2.0, 3.0]])
    >>> picture.share, picture.complete
    (array([0. , 0.5]), 1)
    """
    missing = missing_cells(frame)
    if 0 in missing.shape:
        raise ValueError(f"the table must have rows and columns, got shape {missing.shape}")
    n, p = missing.shape
    edges = np.linspace(0, n, min(n, BANDS) + 1).astype(np.intp)
    bands = np.add.reduceat(missing.astype(np.float64), edges[:-1], axis=0)
    bands /= np.diff(edges)[:, None]
    names = column_names(frame, p)
    share, complete = missing.mean(axis=0), int((~missing.any(axis=1)).sum())
    total = int(missing.sum())
    top = int(np.argmax(share))
    title = f"{total} of {n * p} cells missing ({_percent(total / (n * p))}); "
    title += f"{complete} of {n} rows are complete"
    alt = f"Map of a table of {n} rows and {p} columns: {title}."
    alt += f" Most are missing in {names[top]} ({_percent(share[top])})." if total else ""
    return MissingMap(alt, bands, share, n, complete, names, title=title)
