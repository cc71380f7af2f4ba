"""Boundaries drawn from the posterior of a Bayesian classifier: what the data leave possible."""

import numpy as np

from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike, Columns, IntArray, Model, Seed
from pellucid.plots.panels.inputs import features_of, last_step, read_table
from pellucid.plots.panels.marks import isolines, thinned
from pellucid.plots.panels.planes import draw_points, grid_of, labels_of, view_of
from pellucid.plots.panels.style import Axes, Panel, colour, heading, legend

SIDE = 61  # enough for lines


class SampledBoundaries(Panel, size=(6.8, 4.6)):
    """Scores of every draw and of the mean on a grid; the boundaries are where they are 0."""

    lines: tuple[Array, ...]
    scores: Array  # (n, gy, gx), or (n, g) for one input
    mean: Array  # (gy, gx) or (g,)
    share: float  # of the grid on which all draws agree
    at: Array
    codes: IntArray
    classes: tuple[str, str]
    names: tuple[str, ...]

    def _draw(self, ax: Axes) -> None:
        if len(self.lines) == 2:
            for F in self.scores:
                isolines(ax, *self.lines, F, levels=[0.0], tint=colour(3), lw=0.8, alpha=0.7)
            ax.contour(*self.lines, self.mean, levels=[0.0], colors="black", linewidths=2.2)
            draw_points(ax, self.at, self.codes, self.classes)
            ax.set_ylabel(self.names[1])
        else:
            for F in self.scores:
                ax.plot(self.lines[0], 1 / (1 + np.exp(-F)), color=colour(3), lw=0.8, alpha=0.6)
            ax.plot(self.lines[0], 1 / (1 + np.exp(-self.mean)), color="black", lw=2.2)
            places = np.column_stack([self.at[:, 0], self.codes * 1.06 - 0.03])
            draw_points(ax, places, self.codes, self.classes)
            ax.axhline(0.5, color="#6B7280", lw=0.8, ls="--")
            ax.set_ylabel(f"P({self.classes[1]})")
        ax.plot([], [], color=colour(3), lw=1, label=f"{len(self.scores)} draws")
        ax.plot([], [], color="black", lw=2.2, label="posterior mean")
        ax.set_xlabel(self.names[0])
        heading(ax, "Boundaries that the posterior thinks possible", self.note)
        legend(ax, loc="center left", bbox_to_anchor=(1.0, 0.5))


def sampled_boundaries(
    E: Model,
    X: ArrayLike,
    y: ArrayLike,
    n: int = 20,
    *,
    columns: Columns | None = None,
    random_state: Seed = 0,
) -> SampledBoundaries:
    """Boundaries (with one input: probability curves) of n draws from the posterior.

    ``E``: fitted BayesianLogisticRegression of two classes, or a Pipeline ending in one; ``X``,
    ``y``: data to show; ``n``: how many draws are shown, 20 by default; ``random_state``: seed of
    the random draws, 0 by default. ``columns``: one or two names or positions. Inputs to show of
    several, the others at their median. Default: the first two principal axes of more than two.

    Examples
    --------
    >>> from pellucid import BayesianLogisticRegression
    >>> from pellucid.plots import sampled_boundaries
    >>> X, y = [[0.0, 0.0], [1.0, 0.0], [3.0, 3.0], [4.0, 3.0]], [0, 0, 1, 1]
    >>> picture = sampled_boundaries(BayesianLogisticRegression().fit(X, y), X, y, 5)
    >>> picture.scores.shape
    (5, 61, 61)
    """
    check.whole(n=n)
    model = last_step(E)
    if not hasattr(model, "sample_boundaries") or len(model.classes_) != 2:
        raise ValueError(
            "sampled_boundaries needs a fitted BayesianLogisticRegression of two classes, got "
            f"{type(model).__name__}"
        )
    table = read_table(X, E)
    labels = labels_of(y, len(table.X), model.classes_)
    view = view_of(table.X, table.names, columns)
    lines, places, shape = grid_of(view.at, SIDE, 0.1)
    Z = features_of(E, table.like(view.rows(places)))
    planes = model.sample_boundaries(n, random_state=random_state)
    scores = np.stack([plane.score(Z).reshape(shape) for plane in planes])
    mean = model.boundary().score(Z).reshape(shape)
    same = (scores > 0).all(axis=0) | (scores < 0).all(axis=0)
    kept = thinned(len(table.X))
    alt = (
        f"{n} boundaries over {' and '.join(view.names)} from the posterior; they agree on the "
        f"class of {same.mean():.0%} of the area shown."
    )
    classes = (labels.classes[0], labels.classes[1])
    drawn = (lines, scores, mean, float(same.mean()), view.at[kept], labels.codes[kept], classes)
    return SampledBoundaries(alt, *drawn, view.names, note=view.note)
