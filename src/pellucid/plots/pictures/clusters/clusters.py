"""Groups of rows with their centres, the regions of a rule that labels every place, and lines from
every row to its centre; of k-means also round by round."""

from copy import copy
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from pellucid.core.arrays.typing import Array, ArrayLike, IntArray, Model
from pellucid.plots.panels import groups
from pellucid.plots.panels.inputs import label_of, last_step, read_table, with_last
from pellucid.plots.panels.marks import thinned, words
from pellucid.plots.panels.planes import grid_of, paint_regions, view_of
from pellucid.plots.panels.steps import Steps, chosen_steps
from pellucid.plots.panels.style import GREY, LEAST, Picture, axes, heading, legend

MOST_LINES = 600  # rows up to which lines to the centres can be told apart


class Clusters(Picture):
    at: Array  # (n, 1) or (n, 2)
    labels: IntArray  # (n,) -1: no group
    centers: Array | None  # (k, 1) or (k, 2)
    before: Array | None  # (k, .) centres before the last round
    lines: tuple[Array, ...]  # the grid of the regions, empty without them
    regions: IntArray | None  # (gy, gx)
    names: tuple[str, ...]

    def plot(self, ax: Any = None) -> Any:
        given = ax is not None
        ax = axes(ax, figsize=(6.4, 4.6) if self.at.shape[1] == 2 else (6.4, 3.0))
        if self.regions is not None:
            paint_regions(ax, self.lines, self.regions, int(self.regions.max()) + 1)
        groups.draw_groups(ax, self.at, self.labels, sizes=not given)
        if self.centers is not None:
            self._centers(ax)
        ax.set(xlabel=self.names[0], ylabel=self.names[1] if len(self.names) > 1 else "group")
        if len(self.names) == 1:
            ax.set_yticks(np.unique(self.labels))
            ax.margins(y=0.25)
        heading(ax, self.title, self.note)
        if len(np.unique(self.labels)) <= groups.MOST_NAMED and not (
            given and self.before is not None
        ):
            if given:
                legend(ax, loc="best", fontsize=LEAST, markerscale=0.7)
            else:
                legend(ax, loc="center left", bbox_to_anchor=(1.0, 0.5), markerscale=0.8)
        return ax

    def _centers(self, ax: Any) -> None:
        from matplotlib.collections import LineCollection

        assert self.centers is not None
        flat = self.at.shape[1] == 1
        at, C, before = self.at, self.centers, self.before
        if flat:
            heights = np.arange(len(C))[:, None]
            at, C = np.column_stack([at, self.labels]), np.column_stack([C, heights])
            before = None if before is None else np.column_stack([before, heights])
        rows = np.flatnonzero(self.labels >= 0)
        if len(rows) <= MOST_LINES and not flat:
            ends = np.stack([at[rows], C[self.labels[rows]]], axis=1)
            look: Any = {"colors": GREY, "linewidths": 0.5, "alpha": 0.45, "zorder": 2}
            ax.add_collection(LineCollection(list(ends), **look))
        if before is not None:
            look = {"arrowstyle": "->", "lw": 1.4, "shrinkB": 6}
            for old, new in zip(before, C, strict=True):
                ax.annotate("", new, old, zorder=5, arrowprops=look)
            white = {"facecolors": "white", "edgecolors": "black", "linewidths": 1.2}
            ax.scatter(*before.T, s=60, **white, zorder=5, label="centre before")
        groups.draw_centers(ax, C)


def clusters(E: Model, X: ArrayLike, *, columns: Any = None, steps: Any = None) -> Clusters | Steps:
    """Rows by group, centres, lines from rows to centres, and regions where new rows get a label.

    ``E``: fitted clustering or mixture, or a Pipeline that ends with one.

    Parameters
    ----------
    X : table
        The rows it was fitted on, where it cannot label others.
    columns : one or two names or positions, optional
        Inputs to show, the others at their median; default: all of one or two, the first two
        principal axes of more. Lines then go to the shadows of the centres.
    steps : True, int or positions, optional
        For k-means: some rounds of ``history_`` as panels. Points have the label that the round
        gave them, arrows show how the centres moved, and the regions are those of the new
        centres: points in a region of another colour change their group in the next round.

    Examples
    --------
    >>> from pellucid import KMeans
    >>> from pellucid.plots import clusters
    >>> X = [[0.0, 0.0], [0.0, 1.0], [5.0, 5.0], [5.0, 6.0]]
    >>> picture = clusters(KMeans(2, init=[[0, 0], [5, 5]]).fit(X), X)
    >>> picture.labels, picture.centers
    (array([0, 0, 1, 1]), array([[0. , 0.5],
           [5. , 5.5]]))
    """
    check_is_fitted(last_step(E))
    if steps is not None:
        return _rounds(E, X, columns, steps)
    table = read_table(X, E)
    labels = groups.group_labels(E, table.given, len(table.X))
    found = [k for k in np.unique(labels).tolist() if k >= 0]
    title = f"{label_of(E)}: {len(found)} group{'s' if len(found) != 1 else ''}"
    noise = int((labels < 0).sum())
    if noise:
        title += f", {noise} row{'s' if noise != 1 else ''} in none"
    return _picture(E, table, labels, columns, title)


def _picture(
    E: Model, table: Any, labels: IntArray, columns: Any, title: str, before: Any = None
) -> Clusters:
    view = view_of(table.X, table.names, columns)
    plane = groups.plane_of(view, table.X)
    centers = groups.group_centers(E)
    lines: tuple[Array, ...] = ()
    regions = None
    if hasattr(E, "predict") and len(view.names) == 2:
        lines, places, _ = grid_of(view.at)
        codes = np.asarray(E.predict(table.like(view.rows(places))), dtype=np.intp)
        if codes.min() >= 0:
            regions = codes.reshape(len(lines[1]), len(lines[0]))
    kept = thinned(len(table.X))
    sizes = [f"group {k} of {int((labels == k).sum())}" for k in np.unique(labels) if k >= 0]
    alt = f"{len(table.X)} rows over {' and '.join(view.names)}. {title}; {words(sizes)} rows."
    middles = [None if C is None else plane.of(C) for C in (centers, before)]
    lines = () if regions is None else lines
    drawn = (view.at[kept], labels[kept], middles[0], middles[1], lines, regions)
    return Clusters(alt, *drawn, view.names, title=title, note=view.note)


def _rounds(E: Model, X: ArrayLike, columns: Any, steps: Any) -> Steps:
    model, table = last_step(E), read_table(X, E)
    history = getattr(model, "history_", None)
    if history is None or not {"labels", "centers"} <= set(history.columns):
        raise ValueError(
            f"{type(model).__name__} keeps no labels and centers of its rounds: steps= is for "
            "KMeans fitted to rows in memory"
        )
    known = [i for i, row in enumerate(history) if "labels" in row]
    if len(history[0]["labels"]) != len(table.X):
        n = len(history[0]["labels"])
        raise ValueError(f"steps= needs the {n} rows of the fit, got {len(table.X)}")
    start = None if isinstance(model.init, str) or callable(model.init) else model.init
    pictures, titles = [], []
    for i in chosen_steps(steps, len(known)):
        row, there = history[i], copy(model)
        there.cluster_centers_ = row["centers"]
        E_there = with_last(E, there)
        old = history[i - 1]["centers"] if i else start
        before = (
            None if old is None else groups.original_units(E, np.asarray(old, dtype=np.float64))
        )
        title = (
            f"round {row['step']}: J {row['after_assignment']:.4g} after assignment, "
            f"{row['after_update']:.4g} after update"
        )
        titles.append(title)
        labels = np.asarray(row["labels"], dtype=np.intp)
        pictures.append(_picture(E_there, table, labels, columns, title, before))
    alt = f"Rounds of {label_of(E)} on {len(table.X)} rows: {words(titles)}."
    return Steps(alt, tuple(pictures), tuple(titles))
