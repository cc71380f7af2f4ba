"""The steps to the widest margin: pairs of multipliers, interior points, or a growing price."""

import warnings
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator

from pellucid import SVC, MaximumMarginClassifier
from pellucid.kernel import GaussianKernel, LinearKernel, NotSeparableError, PolynomialKernel
from pellucid.lab import scene
from pellucid.lab.drawing import held_rows, number, row_points
from pellucid.lab.page import LabData
from pellucid.lab.scene import area, around, bars, contours, heat, line, plane, points, rule
from pellucid.lab.trace import Frame
from pellucid.plots.panels.replay import watched

CELLS = 48
MOST_FRAMES = 36
MOST_STEPS = 3000  # of SMO
TOUCHING = 1e-3  # a row this near to the edge of the street lies on it: SMO's tolerance
PRICES = (0.1, 1.0, 10.0, 100.0, 1e3, 1e4, 1e5)
KINDS = {"outside": "quiet", "on_margin": "accent", "inside": 3, "misclassified": "warn"}
WORDS = {"on_margin": "on the margin", "inside": "inside", "misclassified": "wrong side"}


class Table(NamedTuple):
    """The rows, their signs, the kernel, the cells of the picture."""

    data: LabData
    X: Any
    y: Any
    X_test: Any
    y_test: Any
    kernel: Any
    box: Any
    grid: Any  # x, y and all cells

    @property
    def sign(self) -> Any:
        return 2.0 * self.y - 1.0


def make_kernel(params: dict[str, Any]) -> Any:
    if params["method"] == "linear":
        return LinearKernel()
    if params["method"] == "Gaussian":
        return GaussianKernel(params["sigma"])
    return PolynomialKernel(2, coef0=0.0)


def make_table(data: LabData, params: dict[str, Any]) -> Table:
    held = held_rows(data)
    if data.y.max() > 1 or len(np.unique(data.y[~held])) < 2:
        raise ValueError(
            f"a margin is drawn between 2 classes, got {int(data.y.max()) + 1} classes, "
            f"{len(np.unique(data.y[~held]))} among the rows that are not held out"
        )
    test = held if held.any() else ~held
    box = around(data.X)
    kernel, grid = make_kernel(params), scene.lattice(box, CELLS)
    return Table(data, data.X[~held], data.y[~held], data.X[test], data.y[test], kernel, box, grid)


def still(table: Table) -> Any:
    names = table.data.names
    marks, title = [row_points(table.data)], "Boundary f = 0 and margins f = ±1"
    alt = "Rows of the table by class."
    return plane("data", marks, title=title, x=names[0], y=names[1], box=table.box, alt=alt)


def data_panel(table: Table, model: BaseEstimator) -> Any:
    """f as colour, its levels -1, 0, 1, and rings around the support vectors by kind."""
    x, y, cells = table.grid
    f = model.decision_function(cells).reshape(CELLS, CELLS)
    marks = [heat(f, table.box, low=-2.0, high=2.0, diverging=True, label="f")]
    if np.ptp(f) > 1e-9:
        edge = contours(x, y, f, [-1.0, 1.0], colour=None, width=1.2)
        marks += [
            {**edge, "dashed": True, "label": "f = ±1"},
            contours(x, y, f, [0.0], colour=None, width=2.4),
        ]
    support = model.multipliers_ > 0
    n = int(support.sum())
    marks.append(points(*table.X[support].T, group=table.y[support], ring=np.ones(n, bool)))
    for kind, words in WORDS.items():
        here = (model.categories_ == kind) & support
        if here.any():
            marks.append(points(*table.X[here].T, group=KINDS[kind], size=0.55, label=words))
    alt = f"Boundary and margins; {n} support vectors."
    return plane("data", marks, box=table.box, alt=alt)


def multiplier_panel(table: Table, model: BaseEstimator, top: float, price: float | None) -> Any:
    order = np.argsort(table.y, kind="stable")
    colours = [KINDS[kind] for kind in model.categories_[order].tolist()]
    at = np.arange(1, len(order) + 1)
    marks = [bars(at, model.multipliers_[order], colour=colours, label="a")]
    if price is not None and price <= 1.2 * top:
        marks.append(rule(y=price, colour="warn", label=f"C = {number(price)}"))
    change = float((table.y == 0).sum()) + 0.5
    marks.append(rule(x=change, label="class 0 | class 1"))
    x, box = "training rows, by class", (0, len(order) + 1, 0, max(1.15 * top, 1e-12))
    alt = "One bar per training row; most are 0."
    return plane("multipliers", marks, title="Multipliers aᵢ", x=x, y="a", box=box, alt=alt)


def hinge_panel(table: Table, model: BaseEstimator) -> Any:
    """max(0, 1 - y f) and where the rows are on it."""
    m = table.sign * model.decision_function(table.X)
    shown = np.clip(m, -2.5, 3.5)
    slack = np.maximum(0.0, 1.0 - shown)
    marks = [
        line([-2.5, 1.0, 3.5], [3.5, 0.0, 0.0], colour="quiet", label="ξ"),
        rule(x=1.0, label="margin"),
        points(shown, slack, group=table.y, size=0.8),
    ]
    title, box, alt = "Slack ξ = max(0, 1 − y f)", (-2.6, 3.6, -0.2, 3.6), "Rows on the hinge loss."
    return plane("hinge", marks, title=title, x="y f(x)", y="slack", box=box, alt=alt)


def lifted(X: np.ndarray) -> Any:
    """phi(x) with phi(x).phi(z) = (x.z)^2, turned: two flat coordinates and the height."""
    a, b = X[:, 0], X[:, 1]
    return np.column_stack([(a * a - b * b) / 2**0.5, 2**0.5 * a * b, (a * a + b * b) / 2**0.5])


def seen(P: Any, turn: float) -> tuple[Any, Any]:
    """Points of space as seen from the side, a little from above."""
    across = P[:, 0] * np.cos(turn) + P[:, 1] * np.sin(turn)
    away = -P[:, 0] * np.sin(turn) + P[:, 1] * np.cos(turn)
    return across, P[:, 2] + 0.3 * away


def lift_panel(table: Table, model: BaseEstimator, turn: float) -> Any:
    """The rows in the space of the kernel (x.z)^2, and the plane that divides them."""
    P = lifted(table.X)
    reach = float(np.abs(P[:, :2]).max())
    top = float(P[:, 2].max())
    w = model.dual_coef_[0] @ lifted(table.X[model.support_])
    corners = reach * np.array([[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0], [-1.0, -1.0]])
    floor = seen(np.column_stack([corners, np.zeros(5)]), turn)
    marks = [line(*floor, colour="quiet", width=1.0)]
    if abs(w[2]) > 1e-3 * np.abs(w).max(initial=1e-300):
        height = -(corners @ w[:2] + float(model.intercept_[0])) / w[2]
        if np.abs(height).max() < 3 * max(top, 1e-12):
            sheet = seen(np.column_stack([corners, height]), turn)
            marks += [area(*sheet, opacity=0.2), line(*sheet, width=1.5, label="f = 0")]
    x, y = seen(P, turn)
    base = seen(np.column_stack([P[:, :2], np.zeros(len(P))]), turn)
    support = np.isin(np.arange(len(P)), model.support_)
    marks += [scene.segments(*base, x, y, width=0.6), points(x, y, group=table.y, ring=support)]
    side = 1.45 * max(reach, 1e-12)
    title = "Lifted: (x₁² − x₂², 2 x₁x₂, x₁² + x₂²)/√2"
    box = (-side, side, -0.45 * side, max(1.25 * top, 0.5 * side))
    alt = "The rows as a cone in three dimensions, and the dividing plane."
    return plane("lift", marks, title=title, x="", y="height", box=box, alt=alt)


def frame(
    table: Table, model: BaseEstimator, step: int, words: str, top: float, *, price: Any, gap: Any
) -> Frame:
    """What one state of the machine looks like."""
    f = model.decision_function(table.X_test)
    slack = np.maximum(0.0, 1.0 - (2.0 * table.y_test - 1.0) * f)
    norm = squared_weights(model)
    held = None
    if price is not None:
        held = 0.5 * norm + price * len(table.y) * float(slack.mean())
    signed = (2.0 * table.y - 1.0) * model.decision_function(table.X)
    broken = signed < 1 - TOUCHING if norm > 0 else np.ones(len(signed), bool)
    numbers = {
        "margin 1/|w|": float(model.margin_) if norm > 0 else "∞",
        "support vectors": int((model.multipliers_ > 0).sum()),
        "inside or wrong": int(broken.sum()),
        "training error": float((model.predict(table.X) != table.y).mean()),
        "held-out error": float((model.predict(table.X_test) != table.y_test).mean()),
    }
    cone = isinstance(table.kernel, PolynomialKernel)
    third = lift_panel(table, model, 0.5 + 0.06 * step) if cone else hinge_panel(table, model)
    panels = [data_panel(table, model), multiplier_panel(table, model, top, price), third]
    objective = float(model.primal_objective_)
    return Frame(step, objective, gap, words, numbers, {"panels": panels}, held)


def squared_weights(model: BaseEstimator) -> float:
    return 0.0 if not np.isfinite(model.margin_) else model.margin_**-2


def soft(table: Table, C: float) -> tuple[Any, list[Frame], int]:
    """SMO: two multipliers a step, from all at 0."""

    def fit(steps: int) -> Any:
        with warnings.catch_warnings(action="ignore"):  # stopped on purpose
            return SVC(C=C, kernel=table.kernel, max_iter=steps).fit(table.X, table.y)

    last = fit(MOST_STEPS)
    n = int(last.n_iter_.max())
    counts = np.unique(np.rint(np.geomspace(1, n, min(n, MOST_FRAMES))).astype(int)).tolist()
    models = [fit(0), *(fit(k) for k in counts[:-1]), last]
    top = max(float(model.multipliers_.max()) for model in models)
    frames = []
    for i, (k, model) in enumerate(zip([0, *counts], models, strict=True)):
        before = models[i - 1].multipliers_ if i else None
        words = smo_words(model, before, k, C)
        frames.append(frame(table, model, i, words, top, price=C, gap=float(model.duality_gap_)))
    return last, frames, n


def smo_words(model: BaseEstimator, before: Any, k: int, C: float) -> str:
    a = model.multipliers_
    if before is None:
        return f"a = 0, so f = 0 and every slack is 1: P = C · n = {number(C)} · {len(a)}"
    moved = np.flatnonzero(np.abs(a - before) > 1e-12)[:2]
    pair = ", ".join(f"a[{i + 1}]: {number(before[i])} → {number(a[i])}" for i in moved)
    half = 0.5 * squared_weights(model)
    return (
        f"step {k}: {pair or 'no change'}; D = Σa − ½|w|² = {number(a.sum())} − {number(half)} = "
        f"{number(model.dual_objective_)}; P = ½|w|² + C Σξ = {number(half)} + {number(C)}·"
        f"{number(model.slack_.sum())} = {number(model.primal_objective_)}"
    )


def hard(table: Table) -> tuple[Any, list[Frame]]:
    """Interior points towards the hard margin; NotSeparableError where there is none."""
    model, recorder = watched(MaximumMarginClassifier(kernel=table.kernel), table.X, table.y)
    states = recorder.runs[-1]
    top = max(float(state.multipliers_.max()) for state in states)
    with warnings.catch_warnings(action="ignore"):  # stopped before the first step
        nothing = SVC(kernel=table.kernel, max_iter=0).fit(table.X, table.y)
    words = "a = 0: w = 0, no boundary yet; every row breaks its condition y f ≥ 1"
    first = frame(table, nothing, 0, words, top, price=None, gap=None)
    frames = [first._replace(objective=0.0)]
    for i, state in enumerate(states, start=1):
        row = model.history_[i]
        width = number(state.margin_) if np.isfinite(state.margin_) else "∞"
        words = (
            f"step {i}: primal cost {number(row['pcost'])}, dual cost {number(row['dcost'])}, "
            f"Σ a·slack {number(row['gap'])}; ½|w|² = {number(state.primal_objective_)}, "
            f"margin 1/|w| = {width}"
        )
        frames.append(frame(table, state, i, words, top, price=None, gap=float(row["gap"])))
    return model, frames


def rising(table: Table) -> tuple[Any, list[Frame]]:
    """Soft margins whose price grows: what happens where no hard margin exists."""
    with warnings.catch_warnings(action="ignore"):
        machines = [MaximumMarginClassifier(C=C, kernel=table.kernel) for C in PRICES]
        models = [machine.fit(table.X, table.y) for machine in machines]
    frames = []
    for i, (C, model) in enumerate(zip(PRICES, models, strict=True)):
        total = float(model.slack_.sum())
        words = (
            f"C = {number(C)}: P = ½|w|² + C Σξ = {number(0.5 * model.margin_**-2)} + "
            f"{number(C)} · {number(total)} = {number(model.primal_objective_)}; Σξ does not reach "
            "0, so P grows without bound as C → ∞"
        )
        top = float(model.multipliers_.max())
        frames.append(frame(table, model, i, words, top, price=C, gap=None))
    return models[-1], frames


def told_hard(table: Table) -> tuple[Any, list[Frame], str]:
    """The hard margin, or the reason why there is none."""
    try:
        return *hard(table), ""
    except NotSeparableError as error:
        return *rising(table), str(error)
