"""One model built on many training sets: where the curves agree, and where their mean is wrong.

Mean of the curves away from the truth: bias. Curves away from their mean: variance.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import clone

from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, Model, Seed
from pellucid.evaluation.validation.bias_variance_parts import SimulatedDraw, decompose_squared
from pellucid.evaluation.workers import root_seed, seeded, task_stream
from pellucid.plots.panels.inputs import labelled, predicted, read_table, with_note
from pellucid.plots.panels.marks import key_below, thinned
from pellucid.plots.panels.style import GREY, Axes, Picture, colour, panels

MOST_CURVES = 60  # drawn; all of them count


class BiasVarianceFits(Picture):
    """Curves (models, training sets, g), their means, and the truth where it is known."""

    labels: tuple[str, ...]
    grid: Array  # (g,)
    curves: Array  # (models, B, g)
    mean: Array  # (models, g)
    truth: Any  # (g,) or None
    bias2: Any  # (models,) averaged over the grid, or None
    variance: Array  # (models,)
    points: Array  # (n, 2) the first training set
    names: tuple[str, str]

    def plot(self, ax: Axes | None = None) -> Any:
        """A figure with one panel per model."""
        if ax is not None:
            raise ValueError("bias_variance_fits draws panels; call plot() without axes")
        drawn = panels(len(self.labels), columns=3, size=(3.9, 3.5))
        shown = [self.points[:, 1]] if self.truth is None else [self.points[:, 1], self.truth]
        low, high = np.concatenate(shown).min(), np.concatenate(shown).max()
        room = 0.25 * (high - low or 1.0)
        for i, panel in enumerate(drawn):
            curves = self.curves[i][:MOST_CURVES].T
            panel.plot(self.grid, curves, color=colour(0), lw=0.7, alpha=0.25)
            panel.plot([], [], color=colour(0), lw=1, label="single fits")
            panel.plot(*self.points.T, ".", color=GREY, ms=4, alpha=0.7, label="one training set")
            if self.truth is not None:
                panel.plot(self.grid, self.truth, "k--", lw=2, label="truth")
            panel.plot(self.grid, self.mean[i], color=colour(1), lw=2.4, label="mean of the fits")
            panel.set_ylim(low - room, high + room)
            bias = "" if self.bias2 is None else f"bias² {self.bias2[i]:.3g}, "
            title = f"{self.labels[i]}\n{bias}variance {self.variance[i]:.3g}"
            panel.set_title(title, fontsize="medium")
            panel.set_xlabel(with_note(self.names[0], self.note))
            panel.set_ylabel(self.names[1] if i % 3 == 0 else "")
        handles, labels = drawn[0].get_legend_handles_labels()
        figure = drawn[0].figure
        key_below(figure, handles, labels, 2 if len(drawn) == 1 else 4)
        return figure


def bias_variance_fits(
    E: Model,
    draw: Callable[..., Any],
    *,
    truth: Callable[[Any], Any] | None = None,
    column: Any = None,
    n_models: int = 60,
    n: int = 201,
    random_state: Seed = 0,
) -> BiasVarianceFits:
    """Fits of one or several models to many training sets, beside their mean and the truth.

    ``random_state``: seed of the random draws, 0 by default.

    Parameters
    ----------
    E : regressor, list of regressors, or dictionary of label -> regressor
        The WHOLE model building; clones are fitted.
    draw : callable ``rng -> (X, y)``
        ``evaluation.SimulatedDraw(f, X, noise)`` or ``BootstrapDraw(X, y)``. The training sets are
        those of ``evaluation.bias_variance`` with the same ``random_state``.
    truth : callable, optional
        f(X) without noise; taken from a ``SimulatedDraw``.
    column : name or number, optional
        The input to move where there are several; the others stay at their median.
    n_models : int, default=60
        Training sets; 60 of them are drawn.
    n : int, default=201
        Points of the curves.

    Examples
    --------
    >>> import numpy as np
    >>> from pellucid import LinearRegression
    >>> from pellucid.evaluation import SimulatedDraw
    >>> x = np.linspace(-1, 1, 20)[:, None]
    >>> draw = SimulatedDraw(lambda X: X[:, 0] ** 2, x, 0.1)
    >>> picture = bias_variance_fits({"line": LinearRegression()}, draw, n_models=20)
    >>> picture.curves.shape, bool(picture.bias2[0] > 10 * picture.variance[0])
    ((1, 20, 201), True)
    """
    check.whole(n_models=n_models, at_least=2)
    check.whole(n=n, at_least=2)
    if truth is None and isinstance(draw, SimulatedDraw):
        truth = draw.f
    pairs = labelled(E)
    seed = root_seed(random_state)
    first, target = draw(task_stream(seed, 0))
    fixed = getattr(draw, "X", None)
    table = read_table(first if fixed is None or callable(fixed) else fixed)
    sweep = table.sweep(column, n=n)
    rows = table.like(sweep.rows)
    curves = np.array([[_curve(m, draw, rows, seed, b) for b in range(n_models)] for _, m in pairs])
    f = None if truth is None else np.asarray(truth(rows), dtype=np.float64)
    mean = curves.mean(axis=1)
    variance = curves.var(axis=1).mean(axis=1)
    bias2 = None if f is None else np.array([decompose_squared(c, f).bias2 for c in curves])
    labels = tuple(label for label, _ in pairs)
    parts = [
        f"{label}: {'' if bias2 is None else f'bias² {bias2[i]:.3g}, '}variance {variance[i]:.3g}"
        for i, label in enumerate(labels)
    ]
    rows_of_one = read_table(first).X[:, sweep.column]
    kept = thinned(len(rows_of_one))
    points = np.column_stack([rows_of_one[kept], np.asarray(target)[kept]])
    alt = f"Fits to {n_models} training sets along {sweep.name}; {'; '.join(parts)}."
    names = (sweep.name, str(getattr(target, "name", None) or "y"))
    drawn = (labels, sweep.grid, curves, mean, f, bias2, variance, points)
    return BiasVarianceFits(alt, *drawn, names, note=sweep.note)


def _curve(model: Model, draw: Any, rows: np.ndarray, seed: int, b: int) -> Array:
    """The model built on training set b, along the grid; streams as in ``bias_variance``."""
    rng = task_stream(seed, b)
    X, y = draw(rng)
    return predicted(seeded(clone(model), rng).fit(X, y), rows)
