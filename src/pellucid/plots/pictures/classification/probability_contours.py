"""Probability contours of a Bayesian classifier: at the mode, and averaged over the posterior.

At one set of coefficients the contours are parallel lines, as sure far from the data as near them;
averaged over the posterior they bend away from each other where there are no data.
"""

from copy import copy
from typing import Any

import numpy as np

from pellucid.core.arrays.typing import Array, ArrayLike, Columns, IntArray, Model
from pellucid.linear.bayes.bayesian_logistic import BayesianLogisticRegression
from pellucid.plots.panels.inputs import last_step, read_table, with_last
from pellucid.plots.panels.marks import isolines, thinned
from pellucid.plots.panels.planes import draw_points, grid_of, labels_of, view_of
from pellucid.plots.panels.style import Picture, heading, panels, together

LEVELS = (0.1, 0.25, 0.5, 0.75, 0.9)
SIDE = 71


class ProbabilityContours(Picture):
    lines: tuple[Array, Array]
    point: Array  # (gy, gx)
    average: Array  # (gy, gx)
    at: Array  # (n, 2)
    codes: IntArray
    classes: tuple[str, str]
    names: tuple[str, ...]
    how: str  # of the average

    def plot(self) -> Any:
        """Both side by side; the figure."""
        grid = panels(2, size=(4.8, 4.2))
        titles = ("At the mode: straight", f"Averaged over {self.how}")
        for ax, P, title in zip(grid, (self.point, self.average), titles, strict=True):
            ax.contourf(*self.lines, P, levels=np.linspace(0, 1, 21), cmap="RdBu_r", alpha=0.35)
            ls = [":", "--", "-", "--", ":"]
            shown = isolines(ax, *self.lines, P, levels=LEVELS, tint="black", lw=1.2, ls=ls)
            ax.clabel(shown, fmt="%g", fontsize="small")
            draw_points(ax, self.at, self.codes, self.classes)
            ax.grid(False)
            ax.set(xlabel=self.names[0], ylabel=self.names[1])
            heading(ax, title, self.note, width=56)
        return together(grid, f"P({self.classes[1]})", key=True)


def probability_contours(
    E: Model, X: ArrayLike, y: ArrayLike, *, columns: Columns | None = None, widen: float = 0.6
) -> ProbabilityContours:
    """Contours of the probability at the mode and averaged over the posterior.

    ``X``, ``y``: data to show. ``E``: fitted BayesianLogisticRegression of two classes ("laplace"
    or "metropolis"), or a Pipeline ending in one. ``columns``: two names or positions. Inputs to
    show of several, the others at their median. Default: the first two principal axes of more than
    two. ``widen``: how far beyond the data to look, as a share of their range.

    Examples
    --------
    >>> from pellucid import BayesianLogisticRegression
    >>> from pellucid.plots import probability_contours
    >>> X, y = [[0.0, 0.0], [1.0, 0.0], [3.0, 3.0], [4.0, 3.0]], [0, 0, 1, 1]
    >>> picture = probability_contours(BayesianLogisticRegression().fit(X, y), X, y)
    >>> bool(abs(picture.average - 0.5).max() < abs(picture.point - 0.5).max())
    True
    """
    model = last_step(E)
    if not isinstance(model, BayesianLogisticRegression) or model.method == "map":
        raise ValueError(
            "probability_contours needs a BayesianLogisticRegression with method 'laplace' or "
            f"'metropolis', got {type(model).__name__}"
        )
    if len(model.classes_) != 2:
        raise ValueError(f"probability_contours is for two classes, got {len(model.classes_)}")
    table = read_table(X, E)
    labels = labels_of(y, len(table.X), model.classes_)
    view = view_of(table.X, table.names, columns)
    if view.at.shape[1] != 2:
        raise ValueError("probability_contours needs two inputs to draw; sigmoid shows one")
    lines, places, shape = grid_of(view.at, SIDE, widen)
    rows = table.like(view.rows(places))
    mode = copy(model)
    mode.method = "map"
    point = np.asarray(with_last(E, mode).predict_proba(rows))[:, 1].reshape(shape)
    average = np.asarray(E.predict_proba(rows))[:, 1].reshape(shape)
    kept = thinned(len(table.X))
    how = "its draws" if model.method == "metropolis" else "the normal approximation"
    gap = float(np.abs(point - average).max())
    alt = (
        f"Contours of P({labels.classes[1]}) over {' and '.join(view.names)}: parallel lines at "
        f"the mode, curved where averaged over {how}; they differ by up to {gap:.2f}."
    )
    classes = (labels.classes[0], labels.classes[1])
    drawn = ((lines[0], lines[1]), point, average, view.at[kept], labels.codes[kept], classes)
    return ProbabilityContours(alt, *drawn, view.names, how, note=view.note)
