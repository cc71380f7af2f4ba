r"""The iterates of a descent on the contours of what it minimises.

Paths on the same inputs share a panel; raw and scaled inputs have contours of their own, which is
the lesson: on scaled inputs they are nearly circles and the gradient points at the minimum.
"""

from typing import Any, NamedTuple

import numpy as np
from sklearn.pipeline import Pipeline

from pellucid.core.arrays.typing import Array, ArrayLike, Columns, Model
from pellucid.core.functions.penalties import L1, L1L2, L2
from pellucid.plots.panels import inputs as reading
from pellucid.plots.panels.drawing import draw_contours, framed_legend
from pellucid.plots.panels.marks import thinned
from pellucid.plots.panels.style import Axes, Picture, Record, axes, colour, marker, panels
from pellucid.solvers import CoordinateDescent, LinearObjective, Minimum

MOST_MARKS = 120  # beyond, a path is a line without a mark per step


class Trace(NamedTuple):
    """One descent: what it minimises, and where it went in all parameters."""

    label: str
    objective: Any
    names: tuple[str, ...]
    points: Array  # (steps + 1, q)
    inputs: str  # "", or what was done to the inputs
    along_axes: bool


class DescentPanel(Record):
    """Contours over two parameters and the paths on them."""

    first: Array  # (g,)
    second: Array  # (g,)
    values: Array  # (g, g), rows belong to ``second``
    names: tuple[str, str]
    labels: tuple[str, ...]
    paths: tuple[Array, ...]  # each (steps + 1, 2)
    minimum: Array  # (2,)
    title: str

    def plot(self, ax: Axes | None = None) -> Any:
        ax = axes(ax)
        draw_contours(ax, self.first, self.second, self.values, "objective")
        for i, (label, path) in enumerate(zip(self.labels, self.paths, strict=True)):
            shape = marker(i) if len(path) <= MOST_MARKS else ""
            tint = colour((1, 4, 6, 3, 2)[i % 5])  # those that stand out from blue
            ax.plot(*path.T, color=tint, marker=shape, ms=3.5, lw=1.2, label=label)
        ax.plot(*self.paths[0][0], "o", ms=8, mfc="none", mec="black", label="start")
        ax.plot(*self.minimum, "*", ms=12, color="gold", mec="black", label="minimum")
        ax.set(xlim=self.first[[0, -1]], ylim=self.second[[0, -1]])
        ax.set(xlabel=self.names[0], ylabel=self.names[1], title=self.title)
        framed_legend(ax)
        return ax


class DescentPath(Picture):
    """One panel for each kind of inputs."""

    panels: tuple[DescentPanel, ...]

    def plot(self, ax: Axes | None = None) -> Any:
        """The axes of a single panel, or the figure of several."""
        if len(self.panels) == 1:
            return self.panels[0].plot(ax)
        if ax is not None:
            raise ValueError(f"{len(self.panels)} panels do not fit one axes; call plot() alone")
        drawn = panels(len(self.panels), columns=2, size=(5.6, 4.2))
        for panel, at in zip(self.panels, drawn, strict=True):
            panel.plot(at)
        return drawn[0].figure


def descent_path(
    E: Any,
    X: Any = None,
    y: Any = None,
    *,
    columns: Columns | None = None,
    objective: Any = None,
    n: int = 81,
) -> DescentPath:
    """Where a descent went, on the contours of its objective.

    ``X``, ``y``: the data of the fit; not needed where ``objective`` is given.

    Parameters
    ----------
    E : fitted estimator, Minimum, a list of them, or a dictionary {label: one of them}
        Estimators have parameters in their ``history_`` (``solver=GradientDescent(...)``,
        SGDRegressor); a pipeline or ScaledRegressor is drawn in the inputs its last step sees.
        ``minimise(..., record="update")`` gives the whole stochastic path.
    columns : two names or numbers, optional
        Parameters of the axes ("intercept" is one); default: the first two inputs, or intercept
        and slope.
    objective : Objective, optional
        What was minimised, for a Minimum that is not plain least squares.
    n : int, default=81
        Points of the contour grid along each axis.

    Examples
    --------
    >>> from pellucid import LinearRegression
    >>> from pellucid.solvers import GradientDescent
    >>> X, y = [[0.0], [1.0], [2.0]], [1.0, 2.0, 4.0]
    >>> model = LinearRegression(solver=GradientDescent(0.1, max_iter=10, tol=None)).fit(X, y)
    >>> panel = descent_path(model, X, y).panels[0]
    >>> panel.paths[0][:2].round(4), panel.minimum.round(4)
    (array([[0.    , 0.    ],
           [0.2333, 0.3333]]), array([0.8333, 1.5   ]))
    """
    traces = [trace(label, item, X, y, objective) for label, item in reading.labelled(E)]
    groups: dict[str, list[Trace]] = {}
    for one in traces:
        groups.setdefault(one.inputs, []).append(one)
    found = tuple(panel(group, columns, n) for group in groups.values())
    parts = [
        f"{one.label}: {len(one.points) - 1} steps, objective "
        f"{one.objective.value(one.points[0]):.4g} to {one.objective.value(one.points[-1]):.4g}"
        for one in traces
    ]
    return DescentPath(f"Paths on the contours of the objective. {'; '.join(parts)}.", found)


def trace(label: str, item: Any, X: ArrayLike, y: ArrayLike, objective: Any) -> Trace:
    """The path of one descent, in the inputs it worked on."""
    if isinstance(item, Minimum):
        return trace_minimum(label, item, X, y, objective)
    model, inputs = item, ""
    table = None if X is None else reading.read_table(X, model)
    if table is None or y is None:
        raise ValueError("descent_path needs the X and y of an estimator's fit")
    Z, names = table.X, table.names
    if isinstance(model, Pipeline):
        Z = reading.features_of(model, table.like(table.X))
        inputs = " + ".join(type(step).__name__ for _, step in model.steps[:-1])
        names = names if Z.shape[1] == len(names) else tuple(f"z{j}" for j in range(Z.shape[1]))
    model = reading.last_step(model)
    if hasattr(model, "regressor_"):
        Z, inputs = np.asarray(model.scaler_.transform(Z)), type(model.scaler_).__name__
        model = model.regressor_
    history = getattr(model, "history_", None)
    if history is None or "parameters" not in history.columns or "target" in history.columns:
        raise ValueError(
            f"{reading.label_of(item)} keeps no path of one target's parameters; fit it with a "
            "solver object such as solver=GradientDescent(...)"
        )
    y, _ = reading.response(y, len(Z))
    f = objective if objective is not None else fitted_objective(model, Z, y)
    names = ("intercept", *names) if model.fit_intercept else names
    solver = getattr(model, "solver", None)
    along = isinstance(solver, CoordinateDescent) and solver.selection == "cyclic"
    points = np.asarray(history["parameters"], dtype=np.float64)
    return Trace(label, f, names, points[:, : len(names)], inputs, along)


def trace_minimum(label: str, found: Minimum, X: ArrayLike, y: ArrayLike, objective: Any) -> Trace:
    """The path of a solver; its objective is RSS/(2n) where none is given."""
    points = np.asarray(found.history["x"], dtype=np.float64)
    q = points.shape[1]
    names = tuple(f"x{j}" for j in range(q))
    if X is not None:
        table = reading.read_table(X)
        intercept = q == len(table.names) + 1
        if q not in (len(table.names), len(table.names) + 1):
            raise ValueError(f"the path has {q} parameters, X has {len(table.names)} columns")
        names = ("intercept", *table.names) if intercept else table.names
        if objective is None:
            y, _ = reading.response(y, len(table.X))
            objective = LinearObjective(table.X, y, scale="half_mean", intercept=intercept)
    if objective is None:
        raise ValueError("descent_path of a Minimum needs X and y, or the objective")
    plain = "learning_rate" not in found.history.columns  # only CoordinateDescent has no rate
    return Trace("descent" if label == "Minimum" else label, objective, names, points, "", plain)


def fitted_objective(model: Model, Z: Array, y: Array) -> LinearObjective:
    """(RSS + penalty)/(2n), or the mean loss and penalty of stochastic descent."""
    from pellucid.linear import ElasticNet, Lasso, LinearRegression, Ridge, SGDRegressor
    from pellucid.linear.stochastic.sgd import LOSSES

    n, loss, scale, penalty = len(y), "squared", "half_mean", None
    if isinstance(model, SGDRegressor):
        loss, factor = LOSSES[model.loss]
        scale, penalty = "half_mean" if factor == 0.5 else "mean", model._penalty()
    elif isinstance(model, ElasticNet):
        a, r = float(model.alpha_), float(model.l1_ratio)
        penalty = L1L2(a * r, a * (1 - r) / 2)
    elif isinstance(model, Lasso):
        penalty = L1(float(model.alpha_))
    elif isinstance(model, Ridge):
        penalty = L2(float(np.ravel(model.alpha_)[0]) / (2 * n))
    elif not isinstance(model, LinearRegression):
        raise ValueError(f"what {type(model).__name__} minimises is not known: give objective=")
    free = model.fit_intercept and not getattr(model, "shrink_intercept", False)
    return LinearObjective(
        Z, y, loss, penalty, scale, (0,) if free else (), intercept=bool(model.fit_intercept)
    )


def panel(group: list[Trace], columns: Any, n: int) -> DescentPanel:
    """The contours that a group of paths shares."""
    names, f = group[0].names, group[0].objective
    if len(names) < 2:
        raise ValueError("a path needs two parameters to be drawn, got one")
    if any(one.names != names for one in group):
        raise ValueError("paths on the same inputs need the same parameters")
    first = 1 if names[0] == "intercept" and len(names) > 2 else 0
    j, k = reading.two_columns((first, first + 1) if columns is None else columns, names)
    paths = tuple(drawn_path(one, j, k) for one in group)
    ends = [
        one.points[np.argmin([f.value(w) for w in one.points[-50:]]) - min(len(one.points), 50)]
        for one in group
    ]
    centre = lowest(f, min(ends, key=f.value))
    across, up = frame(f, centre, (j, k), paths, n)
    values = slice_values(f, centre, (j, k), across, up)
    inputs = f"inputs after {group[0].inputs}" if group[0].inputs else "inputs as given"
    note = "other parameters as at the minimum" if len(names) > 2 else ""
    shown = tuple(name if name == "intercept" else f"coefficient of {name}" for name in names)
    if group[0].names[0] == "x0" and not isinstance(f, LinearObjective):
        shown, inputs = names, "descent on the contours of the objective"
    labels, minimum = tuple(one.label for one in group), centre[[j, k]]
    title = reading.with_note(inputs, note)
    return DescentPanel(across, up, values, (shown[j], shown[k]), labels, paths, minimum, title)


def drawn_path(one: Trace, j: int, k: int) -> Array:
    """The path in two parameters; a round of coordinate descent turns the corner it took."""
    path = one.points[:, [j, k]]
    if one.along_axes and j < k:
        corners = np.column_stack([path[1:, 0], path[:-1, 1]])
        path = np.vstack([path[:1], np.stack([corners, path[1:]], axis=1).reshape(-1, 2)])
    kept = thinned(len(path))
    return path[np.unique(np.concatenate([[0], kept, [len(path) - 1]]))]


def lowest(f: Any, x: Array) -> Array:
    """The minimum: exact for a quadratic, else the best point met."""
    if isinstance(f, LinearObjective) and f.smooth and f.loss.name == "squared":
        return x - np.linalg.lstsq(f.hessian(x), f.gradient(x), rcond=None)[0]
    return x


def frame(
    f: Any, centre: Array, pair: tuple[int, int], paths: tuple[Array, ...], n: int
) -> tuple[Array, Array]:
    """Axes round the minimum and the paths; a path that runs away is cut."""
    middle = centre[list(pair)]
    start = paths[0][0]
    begin = centre.copy()
    begin[list(pair)] = start
    fall = max(float(f.value(begin) - f.value(centre)), 1e-12)
    H = np.atleast_2d(f.hessian(centre)) if f.twice else np.eye(len(centre))
    bend = np.maximum(np.diag(H)[list(pair)], 1e-12)
    reach = np.maximum(np.abs(start - middle), 0.6 * np.sqrt(2 * fall / bend))
    points = np.vstack([p[np.isfinite(p).all(axis=1)] for p in paths])
    near = points[(np.abs(points - middle) <= 2.5 * reach).all(axis=1)]
    low = np.minimum(near.min(axis=0), middle - 0.5 * reach)
    high = np.maximum(near.max(axis=0), middle + 0.5 * reach)
    room = 0.08 * (high - low)
    across, up = (np.linspace(a, b, n) for a, b in zip(low - room, high + room, strict=True))
    return across, up


def slice_values(f: Any, centre: Array, pair: tuple[int, int], across: Array, up: Array) -> Array:
    """f over two parameters, the others at ``centre``."""
    j, k = pair
    W = np.tile(centre, (len(up), len(across), 1))
    W[..., j], W[..., k] = across, up[:, None]
    if isinstance(f, LinearObjective) and f.loss.name == "squared":  # exact, whatever n
        plain = LinearObjective(
            f.X, f.y, "squared", None, f.scale, intercept=f.intercept, sample_weight=f.weights
        )
        d, H, g = W - centre, plain.hessian(centre), plain.gradient(centre)
        loss = plain.value(centre) + d @ g + 0.5 * np.einsum("...i,ij,...j->...", d, H, d)
        return loss + np.apply_along_axis(f._penalty_value, -1, W)
    return np.apply_along_axis(f.value, -1, W)
