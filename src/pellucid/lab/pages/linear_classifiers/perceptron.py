"""The perceptron for the lab: one frame for every row that moves the weights."""

from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator

from pellucid.core.arrays.typing import ArrayLike
from pellucid.lab.drawing import heard, hushed, literals, number, signed, vector
from pellucid.lab.pages.linear_classifiers.parts import Rows, Steps, boundary
from pellucid.lab.scene import lattice, line, plane, points, regions, segments
from pellucid.lab.trace import Frame
from pellucid.linear import Perceptron

CELLS = 40
MOST_FRAMES = 120
TAIL = 60  # updates of the path that are drawn


class Update(NamedTuple):
    """The weights after a row was wrong; ``row`` None at the start."""

    theta: Any  # (b, w1, w2)
    row: int | None
    epoch: int
    score: float  # before


def steps(rows: Rows, params: dict[str, Any]) -> Steps:
    """Epochs over the rows in the order of the table, until none is wrong."""
    updates, epochs = walk(rows, params["epochs"])
    thetas = np.array([update.theta for update in updates])
    keep = sorted({int(i) for i in np.linspace(0, len(updates) - 1, MOST_FRAMES).round()})
    reach = 1.15 * max(float(np.abs(thetas[:, 1:]).max()), 1.0)
    frames = tuple(frame_of(rows, updates, thetas, i, k, reach) for k, i in enumerate(keep))
    model = Perceptron(shuffle=False, tol=None, max_iter=epochs)
    warned = heard(lambda: model.fit(rows.X, rows.y))[1]
    title, box = "Weights: every wrong row adds ± x", (-reach, reach, -reach, reach)
    alt = "The path of the weight vector; the last arrow is the row that was wrong."
    panel = plane("weights", [], title=title, x="w₁", y="w₂", box=box, equal=True, alt=alt)
    code = f"""import numpy as np
from pellucid import Perceptron
{hushed(warned)}
{literals(rows, "X", "y")}
model = Perceptron(shuffle=False, tol=None, max_iter={epochs}).fit(X, y)
objective = float(np.mean(np.where(y == 1, 1, -1) * model.decision_function(X) <= 0))
"""
    return Steps(frames, [panel], model, "share of rows that are wrong", verdict(model), code)


def walk(rows: Rows, most: int) -> tuple[list[Update], int]:
    """Show the rows to the perceptron one at a time; (updates, epochs)."""
    model = Perceptron()
    theta = np.zeros(3)
    updates = [Update(theta, None, 0, 0.0)]
    sign = np.where(rows.y == 1, 1.0, -1.0)
    for epoch in range(1, most + 1):
        wrong = 0
        for i, x in enumerate(rows.X):
            score = float(theta[0] + x @ theta[1:])
            if sign[i] * score > 0:
                continue  # a row on its side leaves the weights as they are
            model.partial_fit(x[None], rows.y[i : i + 1], classes=[0, 1])
            theta = np.r_[model.intercept_, model.coef_[0]]
            updates.append(Update(theta, i, epoch, score))
            wrong += 1
        if not wrong:
            return updates, epoch
    return updates, most


def errors(theta: Any, X: ArrayLike, y: ArrayLike) -> float:
    """Share of rows that are not strictly on their side."""
    return float(np.mean(np.where(y == 1, 1.0, -1.0) * (theta[0] + X @ theta[1:]) <= 0))


def frame_of(
    rows: Rows, updates: list[Update], thetas: Any, i: int, step: int, reach: float
) -> Frame:
    update = updates[i]
    b, w = float(update.theta[0]), update.theta[1:]
    _, _, cells = lattice(rows.box, CELLS)
    codes = (b + cells @ w > 0).astype(int).reshape(CELLS, CELLS)
    marks = [regions(codes, rows.box), *boundary(b, w, rows.box)] if i else []
    path = thetas[max(i - TAIL, 0) : i + 1, 1:]
    drawn = [
        line(*path.T, colour="quiet", width=1.0),
        segments([0.0], [0.0], [w[0]], [w[1]], colour="accent", width=2.0, arrow=True, label="w"),
    ]
    if update.row is not None:
        x = rows.X[update.row]
        group = [int(rows.y[update.row])]
        marks.append(points(x[:1], x[1:], group=group, size=1.5, ring=[True], label="wrong row"))
        ends = [[v] for v in (*thetas[i - 1, 1:], *w)]
        drawn.append(segments(*ends, colour="warn", width=2.0, arrow=True, label="step"))
    held = errors(update.theta, rows.X_test, rows.y_test) if len(rows.y_test) else None
    numbers = {"epoch": update.epoch, "updates": i, "b": b, "w₁": float(w[0]), "w₂": float(w[1])}
    formula = formula_of(rows, thetas, update, i)
    state = {"panels": [plane("data", marks), plane("weights", drawn)]}
    return Frame(step, errors(update.theta, rows.X, rows.y), None, formula, numbers, state, held)


def formula_of(rows: Rows, thetas: Any, update: Update, i: int) -> str:
    if update.row is None:
        return "w = (0, 0), b = 0: the score w·x + b is 0 everywhere, and 0 counts as wrong"
    y = 1 if rows.y[update.row] == 1 else -1
    x, before, now = rows.X[update.row], thetas[i - 1], thetas[i]
    return (
        f"row {update.row + 1}: y (w·x + b) = {number(y)} · {number(update.score)} ≤ 0, wrong:  "
        f"w ← w {'+' if y > 0 else '−'} x = {vector(before[1:])} {'+' if y > 0 else '−'} "
        f"{vector(x)} = {vector(now[1:])},  b ← {number(before[0])}{signed(y)} = {number(now[0])}"
    )


def verdict(model: BaseEstimator) -> str:
    n, bound = model.n_updates_, model.mistake_bound_
    if model.converged_:
        return (
            f"After {n} updates in {model.n_iter_} epochs every training row is on its side; "
            f"Novikoff's bound (R/γ)² allowed at most {number(bound)}."
        )
    if np.isfinite(bound):
        return f"{n} updates were not enough; a line separates the rows: give it more epochs."
    return (
        f"{n} updates, and the last epoch still had mistakes: no line separates these rows, "
        "so the weights will go round for ever."
    )
