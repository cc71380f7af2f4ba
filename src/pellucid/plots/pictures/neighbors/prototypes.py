"""Which rows a smaller training set keeps and drops, and the regions that are left."""

from itertools import pairwise
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from pellucid.core.arrays.typing import Array, ArrayLike, BoolArray, Columns, IntArray, Model
from pellucid.plots.panels import planes
from pellucid.plots.panels.inputs import read_table
from pellucid.plots.panels.marks import dots, ring, thinned
from pellucid.plots.panels.style import Axes, Picture, axes, colour, heading, legend, marker


class Prototypes(Picture):
    at: Array  # (n, d)
    codes: IntArray  # (n,)
    kept: BoolArray  # (n,)
    prototypes: Array  # (m, d) made, not chosen; (0, d) where rows are kept
    prototype_codes: IntArray  # (m,)
    n_kept: int  # of all rows, or prototypes
    n_rows: int
    lines: tuple[Array, ...]
    regions: IntArray
    classes: tuple[str, ...]
    names: tuple[str, ...]

    def plot(self, ax: Axes | None = None) -> Any:
        """Kept rows solid, dropped rows as pale outlines, made prototypes as large markers."""
        flat = len(self.lines) == 1
        ax = axes(ax, figsize=(6.6, 4.8) if not flat else (7.0, 2.8))
        at, made = self.at, self.prototypes
        if flat:
            cuts = np.flatnonzero(np.diff(self.regions)) + 1
            ends = [0, *cuts.tolist(), len(self.lines[0]) - 1]
            for a, b in pairwise(ends):
                shade = planes.light(int(self.regions[a]))
                ax.axvspan(self.lines[0][a], self.lines[0][b], color=shade, lw=0, zorder=0)
            at = np.column_stack([at, self.codes])
            made = np.column_stack([made, self.prototype_codes])
            ax.set_yticks(range(len(self.classes)), self.classes)
        else:
            planes.paint_regions(ax, self.lines, self.regions, len(self.classes))
            ax.set(ylabel=self.names[1])
        out = ~self.kept
        for k in range(len(self.classes)):
            rows = out & (self.codes == k)
            tint = colour(k)
            ring(
                ax, *at[rows].T, size=18, tint=tint, lw=0.7, alpha=0.55, marker=marker(k), zorder=2
            )
        planes.draw_points(ax, at[self.kept], self.codes[self.kept], self.classes)
        for k, label in enumerate(self.classes):
            mine = self.prototype_codes == k
            if mine.any():
                said = f"{label}: prototype"
                dots(ax, *made[mine].T, k=k, size=150, edge="black", lw=1.5, zorder=4, label=said)
        if out.any():
            what = "dropped" if len(self.prototypes) == 0 else "rows"
            said = f"{what} ({self.n_rows - (self.n_kept if what == 'dropped' else 0)})"
            ring(ax, [], [], size=18, lw=0.7, label=said)
        ax.set(xlabel=self.names[0])
        legend(ax, loc="center left", bbox_to_anchor=(1.0, 0.5))
        of = "of" if len(self.prototypes) == 0 else "prototypes for"
        heading(ax, f"{self.n_kept} {of} {self.n_rows} rows stand for all", self.note)
        return ax


def prototypes(
    E: Model, X: ArrayLike, y: ArrayLike, *, columns: Columns | None = None
) -> Prototypes:
    """The rows that are kept and dropped, or the prototypes that stand for them.

    ``E``: fitted CondensedNearestNeighbour, EditedNearestNeighbours or NearestPrototypes; ``X``,
    ``y``: its training data; ``columns``: the one or two columns to show, names or positions.

    Examples
    --------
    >>> from pellucid import CondensedNearestNeighbour
    >>> from pellucid.plots import prototypes
    >>> X, y = [[0.0], [1.0], [2.0], [7.0], [8.0]], list("aaabb")
    >>> prototypes(CondensedNearestNeighbour().fit(X, y), X, y).kept
    array([ True, False, False,  True, False])
    """
    check_is_fitted(E)
    chosen = getattr(E, "sample_indices_", None)
    if chosen is None and not hasattr(E, "prototypes_"):
        raise ValueError(
            "prototypes needs CondensedNearestNeighbour, EditedNearestNeighbours or "
            f"NearestPrototypes, got {type(E).__name__}"
        )
    table = read_table(X, E)
    n = len(table.X)
    labels = planes.labels_of(y, n, E.classes_)
    keep = np.zeros(n, bool)
    made = np.zeros((0, table.X.shape[1]))
    made_codes = np.zeros(0, np.intp)
    if chosen is not None:
        if len(chosen) and max(chosen) >= n:
            raise ValueError(f"X must be the training rows: row {max(chosen)} of {n} was kept")
        keep[chosen] = True
    else:
        made = np.asarray(E.prototypes_, dtype=np.float64)
        made_codes = planes.labels_of(E.prototype_labels_, len(made), E.classes_).codes
    view = planes.view_of(np.vstack([table.X, made]), table.names, columns)
    lines, places, shape = planes.grid_of(view.at)
    regions = planes.predicted_codes(E, table.like(view.rows(places)), E.classes_).reshape(shape)
    drawn = thinned(n)
    count = int(keep.sum()) if chosen is not None else len(made)
    what = "rows kept" if chosen is not None else "prototypes made"
    alt = (
        f"{count} {what} by {type(E).__name__} of {n} rows in {' and '.join(view.names)}, with the "
        "regions that they leave."
    )
    rows = (view.at[:n][drawn], labels.codes[drawn], keep[drawn], view.at[n:], made_codes)
    words = (labels.classes, view.names)
    return Prototypes(alt, *rows, count, n, lines, regions, *words, note=view.note)
