"""Decision regions: the class that a model would give every place, with the points on top.

One column: a strip of the true classes, of the predicted ones and of the errors. Several models
are drawn side by side, and so are the steps of one model.
"""

from itertools import pairwise
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from pellucid.core.arrays.typing import Array, BoolArray, IntArray
from pellucid.plots.panels import planes
from pellucid.plots.panels.inputs import labelled, read_table
from pellucid.plots.panels.marks import key_below, thinned, words
from pellucid.plots.panels.steps import Steps, stages
from pellucid.plots.panels.style import (
    LEAST,
    Axes,
    Picture,
    axes,
    colour,
    heading,
    legend,
    marker,
    panels,
)


class DecisionRegions(Picture):
    """One panel per model: the code of the predicted class on a grid, and which rows are wrong."""

    models: tuple[str, ...]
    lines: tuple[Array, ...]  # the grid: one or two axes
    regions: tuple[IntArray, ...]  # each (g,) or (gy, gx)
    at: Array  # (n, 1) or (n, 2)
    codes: IntArray  # (n,) true classes
    predicted: IntArray  # (models, n)
    errors: tuple[float, ...]  # share of wrong rows, over all rows given
    classes: tuple[str, ...]
    names: tuple[str, ...]

    def plot(self, ax: Any = None) -> Any:
        """Axes for one model, the figure for several."""
        if len(self.models) == 1:
            given = ax is not None
            ax = axes(ax, figsize=(6.4, 4.6) if len(self.lines) == 2 else (7.0, 2.8))
            self._panel(ax, 0)
            where = {"loc": "center left", "bbox_to_anchor": (1.0, 0.5)}
            legend(ax, **({"loc": "best", "fontsize": LEAST} if given else where))
            return ax
        if ax is not None:
            raise ValueError("several models need axes of their own: call plot() without ax")
        size = (4.2, 3.6) if len(self.lines) == 2 else (5.4, 2.8)
        grid = panels(len(self.models), columns=2 if len(self.models) in (2, 4) else 3, size=size)
        for i, each in enumerate(grid):
            self._panel(each, i)
        labels = (each.get_legend_handles_labels() for each in grid)
        keys = {text: key for pair in labels for key, text in zip(*pair, strict=True)}
        keys = {k: v for k, v in keys.items() if not k.startswith("wrong")}
        key_below(grid[0].figure, keys.values(), keys.keys(), len(keys))
        return grid[0].figure

    def _panel(self, ax: Axes, i: int) -> None:
        wrong = self.predicted[i] != self.codes
        if len(self.lines) == 2:
            planes.paint_regions(ax, self.lines, self.regions[i], len(self.classes))
            planes.draw_points(ax, self.at, self.codes, self.classes, wrong)
            ax.set(xlabel=self.names[0], ylabel=self.names[1])
        else:
            self._strip(ax, i, wrong)
        heading(ax, f"{self.models[i]}: {self.errors[i]:.1%} wrong", self.note)

    def _strip(self, ax: Any, i: int, wrong: BoolArray) -> None:
        x = self.lines[0]
        cuts = np.flatnonzero(np.diff(self.regions[i])) + 1
        ends = [0, *cuts.tolist(), len(x) - 1]
        for a, b in pairwise(ends):
            ax.axvspan(x[a], x[b], color=planes.light(int(self.regions[i][a])), lw=0, zorder=0)
        for edge in (x[cuts - 1] + x[cuts]) / 2:
            ax.axvline(edge, color="#6B7280", lw=1)
        for height, codes in ((2.0, self.codes), (1.0, self.predicted[i])):
            for k, label in enumerate(self.classes):
                rows = codes == k
                y, said = np.full(rows.sum(), height), label if height == 2 else None
                look = {"ms": 5, "mec": "white", "color": colour(k), "mew": 0.3}
                ax.plot(self.at[rows, 0], y, marker(k), label=said, **look)
        said = f"wrong ({int(wrong.sum())})"
        ax.plot(self.at[wrong, 0], np.zeros(wrong.sum()), "x", color="black", ms=6, label=said)
        ax.set_yticks([2, 1, 0], ["true", "predicted", "wrong"])
        ax.grid(False)
        ax.set(xlabel=self.names[0], ylim=(-0.5, 2.5), xlim=(x[0], x[-1]))


def decision_regions(
    E: Any, X: Any, y: Any, *, columns: Any = None, steps: Any = None
) -> DecisionRegions | Steps:
    """The regions of a classifier, the points, and the errors ringed.

    ``X``, ``y``: data to show.

    Parameters
    ----------
    E : fitted classifier or Pipeline, a list of them, or {"label": classifier}
        With the same classes.
    columns : one or two names or positions, optional
        Inputs to show of several, the others at their median. Default: all of one or two, the
        first two principal axes of more. Errors are always those of the whole rows.
    steps : True, int or positions, optional
        For one iterative model: a panel for some rows of ``history_``; the result is ``Steps``.

    Examples
    --------
    >>> from pellucid import GaussianNB
    >>> from pellucid.plots import decision_regions
    >>> X, y = [[0.0, 0.0], [1.0, 0.2], [3.0, 3.0], [4.0, 3.2]], ["a", "a", "b", "b"]
    >>> picture = decision_regions(GaussianNB().fit(X, y), X, y)
    >>> picture.errors, picture.regions[0].shape
    ((0.0,), (181, 181))
    """
    pairs = labelled(E)
    if steps is not None:
        return _by_step(pairs, X, y, columns, steps)
    for _, model in pairs:
        check_is_fitted(model)
        if not hasattr(model, "classes_"):
            raise ValueError(f"decision_regions needs classifiers, got {type(model).__name__}")
    known = np.asarray(pairs[0][1].classes_)
    for label, model in pairs:
        if not np.array_equal(np.asarray(model.classes_), known):
            raise ValueError(f"the models must know the same classes: {label} knows others")
    table = read_table(X, pairs[0][1])
    labels = planes.labels_of(y, len(table.X), known)
    view = planes.view_of(table.X, table.names, columns)
    lines, places, shape = planes.grid_of(view.at)
    rows = table.like(view.rows(places))
    regions = tuple(planes.predicted_codes(m, rows, known).reshape(shape) for _, m in pairs)
    predicted = np.stack([planes.predicted_codes(m, table.given, known) for _, m in pairs])
    errors = tuple(float(v) for v in (predicted != labels.codes).mean(axis=1))
    kept = thinned(len(table.X))
    said = words([f"{name} {e:.1%}" for (name, _), e in zip(pairs, errors, strict=True)])
    alt = (
        f"Regions of the classes {words(labels.classes)} over {' and '.join(view.names)} with "
        f"{len(table.X)} points; share wrong: {said}."
    )
    rows_shown = (view.at[kept], labels.codes[kept], predicted[:, kept])
    drawn = (tuple(name for name, _ in pairs), lines, regions, *rows_shown, errors)
    return DecisionRegions(alt, *drawn, labels.classes, view.names, note=view.note)


def _by_step(pairs: Any, X: np.ndarray, y: np.ndarray, columns: Any, steps: Any) -> Steps:
    if len(pairs) > 1:
        raise ValueError(f"steps= is for one model, got {len(pairs)}")
    found = stages(pairs[0][1], steps)
    pictures = tuple(decision_regions({t: m}, X, y, columns=columns) for t, m in found)
    titles = tuple(title for title, _ in found)
    alt = f"Regions of {pairs[0][0]} as it learns: {words(titles)}."
    return Steps(alt, pictures, titles)
