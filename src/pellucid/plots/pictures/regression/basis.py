r"""Basis functions and their weighted sum, region by region.

    f(x) = b + sum_m w_m h_m(x)

The functions are those of the pipeline in front of the linear model; for a smoothing spline they
are its kernels, the curves that one row with y = 1 and all others 0 would give, weighted by y.
"""

from itertools import pairwise
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from pellucid.core.arrays.typing import Array, ArrayLike, Model
from pellucid.linear import SmoothingSpline
from pellucid.plots.panels.inputs import (
    Sweep,
    Table,
    features_of,
    last_step,
    read_table,
    response,
    with_note,
)
from pellucid.plots.panels.marks import thinned
from pellucid.plots.panels.style import GREY, Axes, Picture, axes, colour, legend, new_figure, quiet

MOST = 12  # functions drawn
MOST_KNOTS = 30  # more are not marked


class Basis(Picture):
    grid: Array  # (g,)
    functions: Array  # (m, g)
    weights: Array  # (m,)
    labels: tuple[str, ...]
    constant: float  # what is added to the weighted functions
    total: Array  # (g,)
    knots: Array  # (k,)
    points: Array  # (n, 2) of the data, may be empty
    names: tuple[str, str]

    def plot(self, ax: Axes | None = None) -> Any:
        """Functions above and their sum below on a new figure; both on the axes given."""
        if ax is not None:
            return self._sum(axes(ax))
        figure = new_figure((6.4, 6.0))
        upper, lower = figure.subplots(2, 1, sharex=True, height_ratios=(2, 3))
        self._functions(quiet(upper))
        self._sum(quiet(lower))
        return figure

    def _shown(self) -> Any:
        return np.unique(np.linspace(0, len(self.weights) - 1, MOST).astype(int))

    def _functions(self, ax: Axes) -> None:
        for m in self._shown():
            h = self.functions[m]
            ax.plot(self.grid, h / (np.abs(h).max() or 1.0), "--", color=colour(m % 7), lw=1.3)
        self._mark_knots(ax)
        drawn, m = len(self._shown()), len(self.weights)
        some = f"{drawn} of {m}" if drawn < m else f"{m}"
        ax.set(ylabel="function / its largest", title=f"{some} basis functions")

    def _sum(self, ax: Axes) -> Any:
        ax.plot(*self.points.T, "o", color=GREY, ms=3, alpha=0.6)
        for m in self._shown():
            label = "weight x function" if m == 0 else None
            y = self.weights[m] * self.functions[m]
            ax.plot(self.grid, y, "--", color=colour(m % 7), lw=1, alpha=0.8, label=label)
        knots = self.knots if len(self.knots) <= MOST_KNOTS else self.knots[:0]
        edges = np.concatenate([[-np.inf], knots, [np.inf]])
        word = "sum (its colour changes at a knot)" if len(knots) else "sum"
        for i, (low, high) in enumerate(pairwise(edges)):
            here = (self.grid >= low) & (self.grid < high)  # a jump at a knot stays a gap
            tint = "black" if i % 2 == 0 else colour(0)
            said = word if i == 0 else None
            ax.plot(self.grid[here], self.total[here], color=tint, lw=2.4, label=said)
        self._mark_knots(ax)
        inside = np.concatenate([self.total, self.points[:, 1], [0.0]])
        room = 0.15 * (np.ptp(inside) or 1.0)
        ax.set_ylim(inside.min() - room, inside.max() + room)
        ax.set(xlabel=self.names[0], ylabel=self.names[1], title=self.title)
        legend(ax)
        return ax

    def _mark_knots(self, ax: Axes) -> None:
        if len(self.knots) <= MOST_KNOTS:
            for knot in self.knots:
                ax.axvline(knot, color=GREY, ls=":", lw=1)


def basis(E: Any, X: Any = None, y: Any = None, *, column: Any = None, n: int = 401) -> Basis:
    """The basis functions of a fit, and their weighted sum region by region.

    ``E``: fitted pipeline of a basis and a linear model, or a fitted SmoothingSpline. ``X``, ``y``:
    the data; x sets the range (else the knots do) and with y the points are drawn; a
    SmoothingSpline needs both. ``column``: name or number; the input to move where there are
    several; the others stay at their median. ``n``: points of the curves.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from pellucid import LinearRegression, TruncatedPowerBasis
    >>> x, y = [[float(i)] for i in range(9)], [0.0, 2, 1, 3, 6, 5, 4, 7, 9]
    >>> model = make_pipeline(TruncatedPowerBasis([2.5, 5.5], degree=1), LinearRegression())
    >>> picture = basis(model.fit(x, y), x, y)
    >>> picture.knots, picture.weights.round(4), round(picture.constant, 4)
    (array([2.5, 5.5]), array([ 1.1381, -0.5089,  0.8619]), 0.1455)
    """
    model = last_step(E)
    if isinstance(model, SmoothingSpline):
        return spline_basis(E, model, X, y, n)
    if not isinstance(E, Pipeline) or not hasattr(model, "coef_") or np.ndim(model.coef_) != 1:
        raise ValueError(
            "basis needs a pipeline of a basis and a linear model with one target, or a "
            f"SmoothingSpline, got {type(E).__name__}"
        )
    table, sweep = range_of(E, X, column, n)
    H = features_of(E, table.like(sweep.rows))
    moving = np.ptp(H, axis=0) > 0
    constant = float(np.ravel(model.intercept_)[0]) + float(H[0, ~moving] @ model.coef_[~moving])
    labels = output_names(E, H.shape[1])
    knots = find_knots(E, sweep.column, table.X)
    points = read_points(table, sweep, y, X is not None)
    terms = (H[:, moving].T, model.coef_[moving], tuple(labels[moving]))
    return finish(sweep, *terms, constant, knots, points)


def range_of(E: Any, X: ArrayLike, column: Any, n: int) -> tuple[Table, Sweep]:
    """The table and the rows along one input; without X the knots say where it lies."""
    if X is None:
        knots = next((s.knots_ for _, s in E.steps[:-1] if hasattr(s, "knots_")), None)
        if knots is None or len(E) > 2 or min(len(k) for k in knots) < 1:
            raise ValueError("basis needs X to know the range of the inputs of this pipeline")
        ends = [(k[0], k[-1]) if len(k) > 1 else (k[0] - 1, k[0] + 1) for k in knots]
        middle = np.array([[(a + b) / 2] * 2 for a, b in ends]).T
        half = np.array([(b - a) / 2 for a, b in ends])
        X = middle + np.array([[-1.5], [1.5]]) * half
    table = read_table(X, E)
    return table, table.sweep(column, n=n)


def find_knots(E: Model, column: int, X: Array) -> Array:
    """The knots of one input, in its own units, inside the range drawn."""
    for i, (_, step) in enumerate(E.steps[:-1]):
        if not hasattr(step, "knots_"):
            continue
        knots = np.asarray(step.knots_[column], dtype=np.float64)
        before = E[:i] if i else None
        if before is not None:
            if not hasattr(before, "inverse_transform"):
                return np.zeros(0)
            rows = np.tile(np.median(X, axis=0), (len(knots), 1))
            rows[:, column] = knots
            knots = np.asarray(before.inverse_transform(rows))[:, column]
        return knots[(knots >= X[:, column].min()) & (knots <= X[:, column].max())]
    return np.zeros(0)


def output_names(E: Model, m: int) -> Any:
    """The names of the functions where the pipeline can say them."""
    try:
        return np.asarray(E[:-1].get_feature_names_out(), dtype=object)
    except (AttributeError, ValueError):
        return np.array([f"h{i}" for i in range(m)], dtype=object)


def read_points(table: Table, sweep: Sweep, y: ArrayLike, given: bool) -> tuple[Array, str]:
    """The data to draw, and the name of the target."""
    if y is None or not given:
        return np.zeros((0, 2)), "y"
    values, name = response(y, len(table.X))
    kept = thinned(len(values))
    return np.column_stack([table.X[kept, sweep.column], values[kept]]), name


def spline_basis(E: Model, model: Model, X: ArrayLike, y: ArrayLike, n: int) -> Basis:
    """The kernels of a smoothing spline, some of them: f(x) = sum_i y_i k_i(x)."""
    if X is None or y is None:
        raise ValueError("basis of a SmoothingSpline needs the X and y of its fit")
    table = read_table(X, model)
    target, name = response(y, len(table.X))
    sweep = table.sweep(n=n)
    order = np.argsort(table.X[:, 0], kind="stable")
    m = len(order)
    chosen = order[np.unique(np.linspace(0, m - 1, min(m, MOST)).astype(int))]
    smoother = SmoothingSpline(model.alpha_)
    H = [smoother.fit(table.X, np.arange(m) == row).predict(sweep.rows) for row in chosen]
    total = np.asarray(E.predict(table.like(sweep.rows)))
    points, _ = read_points(table, sweep, y, True)
    title = f"smoothing spline, df {model.df_:.3g}: sum of {m} kernels, {len(chosen)} drawn"
    alt = (
        f"Smoothing spline with {len(model.knots_)} knots and {model.df_:.4g} degrees of freedom, "
        f"and the kernels of {len(chosen)} of its {m} rows."
    )
    labels = tuple(f"row {row}" for row in chosen)
    drawn = (sweep.grid, np.array(H), target[chosen], labels, 0.0, total, model.knots_, points)
    return Basis(alt, *drawn, (sweep.name, name), title=title)


def finish(
    sweep: Sweep,
    H: Array,
    weights: Array,
    labels: tuple[str, ...],
    constant: float,
    knots: Array,
    points: tuple[Array, str],
) -> Basis:
    """The record, with the sum."""
    total = constant + weights @ H
    title = with_note(f"constant {constant:.3g} + weighted sum", sweep.note)
    alt = (
        f"{len(weights)} basis functions of {sweep.name} dashed and their weighted sum solid, "
        f"with {len(knots)} knots; the sum runs from {total.min():.4g} to {total.max():.4g}."
    )
    weights = np.asarray(weights, dtype=np.float64)
    drawn = (sweep.grid, H, weights, labels, constant, total, knots, points[0])
    return Basis(alt, *drawn, (sweep.name, points[1]), title=title)
