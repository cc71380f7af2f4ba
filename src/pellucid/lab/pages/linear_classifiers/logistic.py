"""Logistic regression for the lab: every step of a solver on the likelihood of two classes."""

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from pellucid.lab.drawing import class_shades, heard, hushed, literals, number, vector
from pellucid.lab.pages.linear_classifiers import parts
from pellucid.lab.pages.linear_classifiers.parts import Rows, Steps, boundary, sigmoid_panel
from pellucid.lab.scene import contours, lattice, line, plane, points, segments, spanned
from pellucid.lab.trace import Frame
from pellucid.linear import LogisticRegression
from pellucid.solvers import GradientDescent, LinearObjective, Newton

CELLS = 40


def steps(rows: Rows, params: dict[str, Any]) -> Steps:
    """The fit, watched through its history."""
    newton = params["solver"] == "Newton"
    solver: Any = Newton(max_iter=params["steps"])
    text = f"Newton(max_iter={params['steps']})"
    if not newton:
        solver = GradientDescent(params["rate"], max_iter=params["steps"], tol=None)
        text = f"GradientDescent({params['rate']!r}, max_iter={params['steps']}, tol=None)"
    C = np.inf if params["penalty"] == 0 else 1 / params["penalty"]
    model = LogisticRegression(C=C, solver=solver)
    warned = heard(lambda: model.fit(rows.X, rows.y))[1]
    path = np.array([row["parameters"] for row in model.history_])
    objective = _mean_loss(rows.X, rows.y)
    held = _mean_loss(rows.X_test, rows.y_test) if len(rows.y_test) else None
    box = weight_box(path)
    run = (model.history_, path, objective, held, params)
    frames = tuple(frame_of(rows, run, i) for i in range(len(path)))
    panels = [sigmoid_panel(), likelihood_panel(objective, path, box)]
    shown_objective = "mean −log P(class | x)" + (" + penalty" if params["penalty"] else "")
    code = code_of(rows, text, params["penalty"], warned)
    return Steps(frames, panels, model, shown_objective, verdict(model, frames, len(rows.y)), code)


def weight_box(path: Any) -> tuple[float, float, float, float]:
    """Around the weights on the way and 0, as wide as high."""
    w = np.vstack([path[:, 1:], [0.0, 0.0]])
    low, high = w.min(axis=0), w.max(axis=0)
    centre, half = (low + high) / 2, 0.65 * max(float((high - low).max()), 0.5)
    return spanned(centre - half, centre + half)


def _mean_loss(X: Any, y: Any) -> LinearObjective:
    return LinearObjective(X, y.astype(float), loss="logistic", intercept=True)


def likelihood_panel(objective: Any, path: Any, box: Any) -> Any:
    """Level lines of the mean loss over the weights, the intercept as at the end."""
    a, b = np.linspace(box[0], box[1], 34), np.linspace(box[2], box[3], 34)
    last = path[-1, 0]
    cost = np.array([[objective.value(np.array([last, u, v])) for u in a] for v in b])
    rise = cost - cost.min()
    levels = cost.min() + rise.max() * np.geomspace(0.004, 0.85, 9)
    marks, title = [contours(a, b, cost, levels)], "Weights: level lines of the mean loss"
    alt = "Level lines of the loss over the two weights, and the path so far."
    return plane("weights", marks, x="w₁", y="w₂", box=box, title=title, alt=alt)


def frame_of(rows: Rows, run: Any, i: int) -> Frame:
    """``run``: history, parameters, mean loss here and on held-out rows, settings."""
    history, path, objective, held, params = run
    theta, row = path[i], history[i]
    b, w = float(theta[0]), theta[1:]
    _, _, cells = lattice(rows.box, CELLS)
    p = 1 / (1 + np.exp(-np.clip(b + cells @ w, -60, 60)))
    shade = class_shades(p, rows.box, label="P(class 1 | x)")
    score = b + rows.X @ w
    way = path[: i + 1, 1:]
    drawn = [
        line(*way.T, width=1.5),
        points(*way.T, group=0, size=0.5),
        points(*way[-1:].T, group=1, size=1.3, label="now"),
    ]
    if i:
        step = segments(*way[-2:-1].T, *way[-1:].T, colour="warn", width=2.0, arrow=True)
        drawn.append(step)
    wrong = int(((score > 0) != (rows.y == 1)).sum())
    gap = None if row["gap"] is None else float(row["gap"])
    numbers = {"b": b, "w₁": float(w[0]), "w₂": float(w[1])}
    numbers |= {"log-likelihood": -len(rows.y) * objective.value(theta), "wrong rows": wrong}
    panels = [
        plane("data", [shade, *boundary(b, w, rows.box)]),
        parts.sigmoid_rows(score, rows.y),
        plane("weights", drawn),
    ]
    value, formula = float(row["objective"]), formula_of(path, i, objective, params)
    test = None if held is None else float(held.value(theta))
    return Frame(i, value, gap, formula, numbers, {"panels": panels}, test)


def formula_of(path: Any, i: int, objective: Any, params: dict[str, Any]) -> str:
    if i == 0:
        return (
            f"θ = (b, w₁, w₂) = {vector(path[0])},  P(class 1 | x) = 1/(1 + exp(−b − w·x)),  "
            f"mean −log P = {number(objective.value(path[0]))}"
        )
    before, now = path[i - 1], path[i]
    if params["solver"] == "Newton":
        return f"θ ← θ − H⁻¹ g = {vector(before)} − {vector(before - now)} = {vector(now)}"
    g = (before - now) / params["rate"]
    move = f"{number(params['rate'])} · {vector(g)}"
    return f"θ ← θ − η g = {vector(before)} − {move} = {vector(now)}"


def verdict(model: BaseEstimator, frames: Any, n: int) -> str:
    last = frames[-1]
    words = f"Mean loss {number(-last.numbers['log-likelihood'] / n)} on the training rows"
    if last.held_out is not None:
        words += f", {number(last.held_out)} on the rows held out"
    size = number(float(np.linalg.norm(model.coef_)))
    if np.isinf(model.C) and last.numbers["wrong rows"] == 0:
        return (
            f"{words}. A line separates the rows, so the likelihood has no maximum: |w| is "
            f"{size} and grows with every step; a penalty would stop it."
        )
    return f"{words}; |w| = {size}, {last.numbers['wrong rows']} training rows on the wrong side."


def code_of(rows: Rows, solver: str, penalty: float, warned: str) -> str:
    C = "np.inf" if penalty == 0 else repr(1 / penalty)
    return f"""import numpy as np
from pellucid import LogisticRegression
from pellucid.solvers import {solver.split("(")[0]}
{hushed(warned)}
{literals(rows, "X", "y")}
model = LogisticRegression(C={C}, solver={solver}).fit(X, y)
objective = float(model.history_[-1]["objective"])
"""
