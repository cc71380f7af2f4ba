"""Partial dependence: the mean prediction when one input is set to a value in every row."""

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike, Model
from pellucid.plots.panels.inputs import predicted, read_table
from pellucid.plots.panels.marks import stroke, thinned
from pellucid.plots.panels.planes import MOST_CLASSES
from pellucid.plots.panels.style import GREY, Axes, Panel, heading, legend

MOST_ROWS, SINGLE = 1000, 40  # rows averaged; rows drawn one by one


class Dependence(Panel):
    """One curve for a regression, one per class for a classifier (one for two classes)."""

    grid: Array  # (g,)
    mean: Array  # (curves, g)
    single: Array  # (rows, g) of the first curve, row by row
    classes: tuple[str, ...]  # () for a regression
    values: Array  # of the column in the data, for the ticks below
    name: str
    target: str

    def _draw(self, ax: Axes) -> None:
        """The mean thick, single rows thin (of one curve), the data as ticks."""
        if len(self.mean) == 1:
            ax.plot(self.grid, self.single.T, color=GREY, lw=0.5, alpha=0.35)
            ax.plot([], [], color=GREY, lw=0.8, label="single rows")
        for k, curve in enumerate(self.mean):
            label = self.classes[k] if len(self.mean) > 1 else "mean over the rows"
            ax.plot(self.grid, curve, lw=2.4, label=label, **stroke(k))
        x, y, transform = self.values, np.zeros(len(self.values)), ax.get_xaxis_transform()
        look: Any = {"color": "black", "ms": 7, "mew": 0.6, "alpha": 0.5, "clip_on": False}
        ax.plot(x, y, "|", transform=transform, **look)
        ax.set(xlabel=self.name, ylabel=self.target)
        legend(ax)
        heading(ax, f"What changes when only {self.name} changes", "the other inputs as they are")


def dependence(E: Model, X: ArrayLike, column: Any, *, n: int = 60) -> Dependence:
    """The mean prediction along one input, the others as they are in the rows.

    ``E``: fitted model or Pipeline; ``X``: data (at most 1000 rows are averaged); ``column``: name
    or position; ``n``: values of the column, from its least to its greatest.

    Examples
    --------
    >>> from pellucid import DecisionTreeRegressor
    >>> from pellucid.plots import dependence
    >>> X, y = [[0.0, 1.0], [1.0, 0.0], [2.0, 1.0], [3.0, 0.0]], [0.0, 0.0, 4.0, 4.0]
    >>> dependence(DecisionTreeRegressor().fit(X, y), X, 0, n=4).mean
    array([[0., 0., 4., 4.]])
    """
    check_is_fitted(E)
    check.whole(at_least=2, n=n)
    table = read_table(X, E)
    j = table.at(column)
    kept = table.X[thinned(len(table.X), MOST_ROWS)]
    values = kept[:, j][np.isfinite(kept[:, j])]
    if len(values) == 0:
        raise ValueError(f"{table.names[j]} holds no finite number")
    grid = np.linspace(values.min(), values.max(), n)
    classes: tuple[str, ...] = ()
    if hasattr(E, "predict_proba"):
        classes = tuple(map(str, np.asarray(E.classes_).tolist()))
        if len(classes) > MOST_CLASSES:
            raise ValueError(f"at most {MOST_CLASSES} classes are told apart, got {len(classes)}")
    curves = []
    for value in grid:
        rows = kept.copy()
        rows[:, j] = value
        answer = E.predict_proba(table.like(rows)) if classes else predicted(E, table.like(rows))
        curves.append(np.asarray(answer).reshape(len(kept), -1))
    cube = np.stack(curves)  # (g, rows, k)
    cube = cube[:, :, 1:] if len(classes) == 2 else cube
    mean = cube.mean(axis=1).T
    target = "prediction" if not classes else "probability"
    target += f" of {classes[1]}" if len(classes) == 2 else ""
    low, high = mean[0].min(), mean[0].max()
    alt = (
        f"Mean {target} of {type(E).__name__} over {len(kept)} rows while {table.names[j]} goes "
        f"from {grid[0]:.4g} to {grid[-1]:.4g}; the first curve lies between {low:.3g} and "
        f"{high:.3g}."
    )
    single = cube[:, thinned(len(kept), SINGLE), 0].T
    shown = values[thinned(len(values), 300)]
    return Dependence(alt, grid, mean, single, classes, shown, table.names[j], target)
