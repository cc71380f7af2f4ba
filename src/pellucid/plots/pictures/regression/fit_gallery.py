"""One model at several settings: under-, well and over-fitted, side by side.

The setting with the least cross-validated error is called well fitted. Of the others, one that fits
its own rows worse is underfitted, one that fits them better is overfitted.
"""

from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import KFold, check_cv, cross_val_predict

from pellucid.core.arrays.typing import Array, ArrayLike, Folds, Model
from pellucid.plots.panels.inputs import predicted, read_table, response, with_note
from pellucid.plots.panels.marks import thinned
from pellucid.plots.panels.style import GREY, Axes, Picture, colour, panels


class FitGallery(Picture):
    parameter: str
    values: tuple[Any, ...]
    grid: Array  # (g,)
    curves: Array  # (values, g)
    training_error: Array  # (values,) mean squared
    validation_error: Array  # (values,) mean squared, cross-validated
    verdicts: tuple[str, ...]
    points: Array  # (n, 2)
    names: tuple[str, str]

    def plot(self, ax: Axes | None = None) -> Any:
        """A figure with one panel per value."""
        if ax is not None:
            raise ValueError("fit_gallery draws panels of its own; call plot() without axes")
        drawn = panels(len(self.values), columns=3)
        low, high = self.points[:, 1].min(), self.points[:, 1].max()
        room = 0.2 * (high - low or 1.0)
        tints = {"well fitted": colour(2), "underfitted": colour(4), "overfitted": colour(1)}
        for i, panel in enumerate(drawn):
            panel.plot(*self.points.T, "o", ms=3, color=GREY, alpha=0.6)
            panel.plot(self.grid, self.curves[i], color=tints[self.verdicts[i]], lw=2.2)
            panel.set_ylim(low - room, high + room)
            word = self.parameter.split("__")[-1]
            panel.set_title(f"{word} = {self.values[i]}: {self.verdicts[i]}", fontsize="medium")
            panel.set_xlabel(
                f"{self.names[0]}\nerror: own rows {self.training_error[i]:.3g}, "
                f"held out {self.validation_error[i]:.3g}",
                fontsize="small",
            )
            panel.set_ylabel(self.names[1] if i % 3 == 0 else "")
        return drawn[0].figure


def fit_gallery(
    E: Model,
    X: ArrayLike,
    y: ArrayLike,
    parameter: str,
    values: Any,
    *,
    column: Any = None,
    cv: Folds | None = None,
    n: int = 301,
) -> FitGallery:
    """Fits of E for several values of one parameter, judged by cross-validation.

    ``E``: regressor; clones are fitted, E is left alone; ``X``, ``y``: the data; ``values``:
    sequence.

    Parameters
    ----------
    parameter : str
        Its name, "step__parameter" in a pipeline.
    column : name or number, optional
        The input to move where there are several; the others stay at their median.
    cv : int, splitter or None
        None: 5 folds of shuffled rows, seed 0.
    n : int, default=301
        Points of the curves.

    Examples
    --------
    >>> from pellucid import Ridge
    >>> x, y = [[float(i)] for i in range(20)], [i + i % 3 for i in range(20)]
    >>> picture = fit_gallery(Ridge(), x, y, "alpha", [1.0, 1e4])
    >>> picture.verdicts, picture.training_error.round(3)
    (('well fitted', 'underfitted'), array([ 0.647, 30.188]))
    """
    values = list(values)
    if not values:
        raise ValueError("values must hold at least one setting, got none")
    if parameter not in E.get_params():
        raise ValueError(f"{type(E).__name__} has no parameter {parameter!r}")
    table = read_table(X)
    target, name = response(y, len(table.X))
    sweep = table.sweep(column, n=n)
    cv = KFold(min(5, len(target)), shuffle=True, random_state=0) if cv is None else check_cv(cv)
    data = table.like(table.X)
    curves, own, held = [], [], []
    for value in values:
        model = clone(E).set_params(**{parameter: value})
        outside = np.asarray(cross_val_predict(model, data, target, cv=cv)).reshape(len(target))
        model.fit(data, target)
        curves.append(predicted(model, table.like(sweep.rows)))
        own.append(float(((target - predicted(model, data)) ** 2).mean()))
        held.append(float(((target - outside) ** 2).mean()))
    best = int(np.argmin(held))
    verdicts = tuple(
        "well fitted" if i == best else "underfitted" if own[i] > own[best] else "overfitted"
        for i in range(len(values))
    )
    kept = thinned(len(target))
    parts = [f"{v}: {word}" for v, word in zip(values, verdicts, strict=True)]
    alt = with_note(f"Fits for {parameter} = {'; '.join(parts)}.", sweep.note)
    points = np.column_stack([table.X[kept, sweep.column], target[kept]])
    found = (np.array(curves), np.array(own), np.array(held), verdicts, points)
    alt = alt.replace("\n", " ")
    return FitGallery(alt, parameter, tuple(values), sweep.grid, *found, (sweep.name, name))
