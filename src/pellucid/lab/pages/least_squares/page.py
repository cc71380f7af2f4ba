r"""Least squares, ridge and the lasso: residual squares, level lines with the penalty ball, paths.

Least squares sees one row more in every frame; ridge and the lasso follow their path from a heavy
penalty to the one that is set.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from pellucid.core.arrays.typing import Rng
from pellucid.lab.controls import choice, slider
from pellucid.lab.drawing import heard, hushed, literal, number, told, vector
from pellucid.lab.page import LabData, given, hold_out, make_page, read_presets
from pellucid.lab.pages.least_squares import parts
from pellucid.lab.pages.least_squares.parts import COLUMNS, MODELS, Problem, ball_mark, formula_of
from pellucid.lab.scene import line, plane, points, rule, spanned
from pellucid.lab.trace import Frame, Trace

METHODS = ("least squares", "ridge", "lasso")
FRAMES = 30


def run(data: LabData | None, params: dict[str, Any], seed: int) -> Trace:
    """Follow the path of a method; one frame per place."""
    assert data is not None
    method = params["method"]
    problem = parts.make_problem(data, params["columns"], method)
    alpha = params["alpha"]
    at, models = parts.path_of(problem, method, alpha, 60 if method == "least squares" else FRAMES)
    thetas = np.array([problem.theta(model) for model in models])
    q = {"ridge": 2, "lasso": 1}.get(method, 0) if problem.Z.shape[1] == 2 else 0
    boxes = data_box(data), parts.plane_box(thetas, q)
    path = (at, models, thetas)
    frames = tuple(frame_of(problem, method, path, i, boxes) for i in range(len(models)))
    static = [
        data_panel(data, boxes[0]),
        parts.loss_panel(problem, boxes[1], equal=q > 0),
        parts.path_panel(problem, method, at, thetas),
    ]
    shown, card = told(data, "values", static), models[-1].card().to_dict()
    end = verdict(problem, method, frames, thetas[-1])
    words = ("Least squares, ridge, lasso", "mean squared error", end)
    code = code_of(problem, method, alpha)
    return Trace(type(models[-1]).__name__, params, shown, card, frames, *words, code)


def data_box(data: LabData) -> tuple[float, float, float, float]:
    rows = np.column_stack([data.X[:, 0], data.y])
    low, high = rows.min(axis=0), rows.max(axis=0)
    air = np.array([0.08, 0.12]) * np.where(high > low, high - low, 1.0)
    return spanned(low - air, high + air)


def data_panel(data: LabData, box: Sequence[float]) -> Any:
    label = "rows (open: held out)"
    marks = [points(data.X[:, 0], data.y, faint=data.held_out, data=True, label=label)]
    title = "Data space: the squares of the residuals"
    alt = "The rows, the fitted curve and a square for every residual."
    return plane("data", marks, title=title, x=data.names[0], y="y", box=box, alt=alt)


def frame_of(problem: Problem, method: str, path: Any, i: int, boxes: Any) -> Frame:
    at, models, thetas = path
    model, theta, rows = models[i], thetas[i], method == "least squares"
    m = int(at[i]) if rows else len(problem.y)
    left, right, bottom, top = boxes[0]
    grid, reach = np.linspace(left, right, 60), top - bottom
    curve = np.clip(model.predict(problem.design(grid)), bottom - reach, top + reach)
    seen = [*parts.squares(problem, model, m, boxes[0]), line(grid, curve, label="fit")]
    if rows:
        new = slice(int(at[i - 1]) if i else 0, m)
        ring = np.ones(m - new.start, bool)
        seen.append(points(problem.x[new], problem.y[new], group="warn", ring=ring, label="new"))
    walk = thetas[: i + 1]
    inside = np.clip(walk, [boxes[1][0], boxes[1][2]], [boxes[1][1], boxes[1][3]])
    drawn = [
        *ball_mark(problem, method, theta, boxes[1]),
        line(*inside.T, colour="warn", width=1.5),
        points(*inside[-1:].T, group=1, size=1.3, label="now"),
    ]
    where = rule(x=float(at[i]), colour="warn", label="" if rows else "α")
    now = [where, points([at[i]] * 2, theta, group=[0, 1], size=1.2)]
    names = problem.names
    numbers: dict[str, Any] = {"rows seen" if rows else "penalty α": m if rows else float(at[i])}
    numbers |= {names[0]: float(theta[0]), names[1]: float(theta[1])}
    if problem.columns == "x" and problem.standardised:
        numbers["slope in x"] = float(model.coef_[0] / problem.width[0])
    if not rows:
        size = float(np.linalg.norm(model.coef_, 2 if method == "ridge" else 1))
        numbers |= {"size of w": size, "zeros": int((np.atleast_1d(model.coef_) == 0).sum())}
    formula = formula_of(problem, method, float(at[i]), model)
    state = {"panels": [plane("data", seen), plane("parameters", drawn), plane("path", now)]}
    return Frame(i, problem.error(model), None, formula, numbers, state, problem.held_out(model))


def verdict(problem: Problem, method: str, frames: Any, theta: Any) -> str:
    last = frames[-1]
    words = f"Training error {number(last.objective)}"
    if last.held_out is not None:
        words += f", held-out error {number(last.held_out)}"
    w = f"({', '.join(problem.names)}) = {vector(theta)}"
    if method == "least squares":
        k = number(np.linalg.cond(problem.Z)) if problem.Z.shape[1] == 2 else None
        columns = f"; the condition number of the columns is {k}" if k else ""
        return f"{words}: no other weights have smaller squares on these rows. {w}{columns}."
    zeros = int((np.asarray(theta if problem.Z.shape[1] == 2 else theta[1:]) == 0).sum())
    more = ("no coefficient is", "one coefficient is", "both coefficients are")[min(zeros, 2)]
    return f"{words}. {w}; {more} exactly 0."


def code_of(problem: Problem, method: str, alpha: float) -> str:
    model = {
        "least squares": "LinearRegression()",
        "ridge": f"Ridge(alpha={alpha!r})",
        "lasso": f"Lasso(alpha={alpha!r}, tol=1e-8)",
    }[method]
    warned = heard(lambda: MODELS[method](alpha).fit(problem.Z, problem.y))[1]
    scaled = "Z = (Z - Z.mean(axis=0)) / Z.std(axis=0)\n" if problem.standardised else ""
    return f"""import numpy as np
from pellucid import {model.split("(")[0]}
{hushed(warned)}
x = {literal(problem.x)}
y = {literal(problem.y)}
Z = {COLUMNS[problem.columns]}
{scaled}model = {model}.fit(Z, y)
objective = float(np.mean((y - model.predict(Z)) ** 2))
"""


def straight(rng: Rng) -> LabData:
    """A line with noise."""
    x = np.round(rng.uniform(0.0, 4.0, 28), 2)
    y = np.round(1.0 + 0.8 * x + 0.5 * rng.standard_normal(28), 2)
    return LabData(x[:, None], y, hold_out(28, 0), ("x",))


def bent(rng: Rng) -> LabData:
    """A parabola with noise: x and x² both matter, x² more."""
    x = np.round(rng.uniform(-1.0, 3.0, 30), 2)
    y = np.round(1.0 + 0.15 * x + 0.5 * x**2 + 0.6 * rng.standard_normal(30), 2)
    return LabData(x[:, None], y, hold_out(30, 0), ("x",))


def with_outlier(rng: Rng) -> LabData:
    """The line, and as the last row one value typed with the comma in the wrong place."""
    good = straight(rng)
    X, y = np.vstack([good.X, [[3.9]]]), np.append(good.y, 31.0)
    return LabData(X, y, np.append(good.held_out, False), ("x",))


SUMMARY = """
The line with the smallest squares, and what a penalty on the coefficients does to it. Columns are
standardised, so that the penalty treats them alike.
"""
CONTROLS = (
    choice("method", "Method", METHODS),
    choice("columns", "Columns", COLUMNS),
    slider("alpha", "Penalty α at the end", 0.1, 1e-4, 100.0, log=True, method=("ridge", "lasso")),
)
PRESETS = read_presets(
    """
A line | One row more in every frame: each new row pulls the line by its residual.
Ridge | As the penalty falls, the ball grows until it touches the level line of the solution.
Lasso | The ball has corners on the axes: the level lines often touch it there, and a coefficient is
    exactly 0.
! Collinear columns | The second column is almost a copy of the first. Only their sum is known: the
    valley is flat, and two coefficients of opposite sign grow with every accident of the noise.
Collinear columns with ridge | A little penalty makes the flat valley a bowl: the two columns share
    the weight.
! An outlier | The last row is far above the others. Its square is larger than all the others
    together, so the line bends to it and the held-out rows pay.
! Too large a penalty | The path ends at α = 100: the ball is still small, both coefficients are
    held near 0, and even the training rows are missed.
! Two copies | The second column is almost a copy of the first. The lasso keeps one and drops the
    other; which one is an accident of the noise.
""",
    given(straight, method="least squares"),
    given(bent, method="ridge", columns="x and x²", alpha=1.0),
    given(bent, method="lasso", columns="x and x²", alpha=0.1),
    given(straight, method="least squares", columns="x and almost x"),
    given(straight, method="ridge", columns="x and almost x", alpha=1.0),
    given(with_outlier, method="least squares"),
    given(bent, method="ridge", columns="x and x²", alpha=100.0),
    given(straight, method="lasso", columns="x and almost x", alpha=0.05),
)
PAGE = make_page("least_squares", "values", run, SUMMARY, CONTROLS, PRESETS)
