"""A regression tree: the leaf whose split helps most is divided, one after the other."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from pellucid import DecisionTreeRegressor
from pellucid.core.arrays.typing import Array
from pellucid.lab.drawing import number, short
from pellucid.lab.page import LabData
from pellucid.lab.pages.curves.parts import Shown
from pellucid.lab.scene import graph, line, plane, points, rule
from pellucid.lab.trace import Frame

CODE = """from pellucid import DecisionTreeRegressor

model = DecisionTreeRegressor(max_leaf_nodes={!r}, min_samples_leaf={!r}).fit(X, y)
objective = float(((y - model.predict(X)) ** 2).mean())
"""


def steps(data: LabData, params: dict[str, Any], box: Sequence[float]) -> Shown:
    """Trees of 1, 2, 3, … leaves; each has one split more than the one before."""
    X, y = data.train
    least = params["least"]
    root = DecisionTreeRegressor(min_samples_split=len(y) + 1).fit(X, y)
    models = [root]
    for k in range(2, params["leaves"] + 1):
        model = DecisionTreeRegressor(max_leaf_nodes=k, min_samples_leaf=least).fit(X, y)
        if model.tree_.n_leaves < k:
            break
        models.append(model)
    if len(models) == 1:
        raise ValueError("no split helps: all y are equal, or a leaf must have too many rows")
    frames: list[Any] = [frame(data, models, i, box) for i in range(len(models))]
    tests = [f.held_out for f in frames if f.held_out is not None]
    last = frames[-1]
    verdict = f"{last.numbers['leaves']} leaves: mean squared error {number(last.objective)}"
    if tests:
        best = frames[int(np.argmin(tests))]
        verdict += f", on the held-out rows {number(last.held_out)}"
        if best.held_out < 0.99 * last.held_out:
            verdict += f"; with {best.numbers['leaves']} it was {number(best.held_out)}"
    code = CODE.format(len(models), least)
    words = ("A staircase of means", "mean squared error", f"{verdict}.", code)
    return Shown(frames, models[-1], *words)


def cuts(model: DecisionTreeRegressor) -> list[float]:
    tree = model.tree_
    return np.sort(tree.threshold[tree.feature >= 0]).tolist()


def squares(y: Array) -> float:
    return float(((y - y.mean()) ** 2).sum()) if len(y) else 0.0


def frame(data: LabData, models: list[Any], i: int, box: Sequence[float]) -> Frame:
    X, y = data.train
    x, model = X[:, 0], models[i]
    error = float(((y - model.predict(X)) ** 2).mean())
    X_test, y_test = data.test
    held = float(((y_test - model.predict(X_test)) ** 2).mean()) if len(y_test) else None
    edges = cuts(model)
    at = np.sort(np.r_[box[0], box[1], edges, np.nextafter(edges, np.inf)])
    marks = [line(at, model.predict(at[:, None]), width=2.4, label="ŷ")]
    numbers: dict[str, Any] = {"leaves": len(edges) + 1}
    whole = squares(y)
    formula = (
        f"1 leaf: ŷ = mean of {len(y)} rows = {number(y.mean())}; Σ (y − ŷ)² = {number(whole)}"
    )
    panels = [plane("data", marks), tree_panel(model, x, None)]
    if i:
        t = next(v for v in edges if v not in cuts(models[i - 1]))
        k = edges.index(t)
        low, high = ([-np.inf, *edges][k], [*edges, np.inf][k + 1])
        inside = (x > low) & (x <= high)
        left, right = inside & (x <= t), inside & (x > t)
        before, a, b = (squares(y[part]) for part in (inside, left, right))
        formula = (
            f"x ≤ {number(t)}? yes: n = {int(left.sum())}, mean {number(y[left].mean())}, no: n = "
            f"{int(right.sum())}, mean {number(y[right].mean())}; Σ (y − ŷ)² in this leaf: "
            f"{number(before)} → {number(a)} + {number(b)} = {number(a + b)}"
        )
        numbers |= {"new cut": short(t), "squares in that leaf before": short(before)}
        numbers["after"] = short(a + b)
        ring = np.ones(int(inside.sum()), bool)
        marks += [
            points(x[inside], y[inside], ring=ring, label="rows of the leaf"),
            rule(x=t, colour="warn", label=f"x ≤ {number(t)}"),
        ]
        panels = [plane("data", marks), gain_panel(x[inside], y[inside], t, box)]
        panels.append(tree_panel(model, x, t))
    numbers["mean squared error"] = short(error)
    return Frame(i, error, None, formula, numbers, {"panels": panels}, held)


def gain_panel(x: Array, y: Array, t: float, box: Sequence[float]) -> Any:
    """What every cut of the leaf would leave."""
    order = np.argsort(x, kind="stable")
    x, y = x[order], y[order]
    at = [(a + b) / 2 for a, b in pairwise(x) if a < b]
    left = [squares(y[x <= v]) + squares(y[x > v]) for v in at]
    chosen = squares(y[x <= t]) + squares(y[x > t])
    marks = [
        rule(y=squares(y), label="without a cut"),
        line(at, left, colour=1, label="Σ (y − ŷ)² of the two sides"),
        points([t], [chosen], group="warn", size=1.5, label="best"),
    ]
    title, alt = "Every cut of this leaf", "Squares left by every cut of the leaf; the least wins."
    span = (box[0], box[1], 0.0, 1.15 * max(squares(y), 1e-12))
    return plane("cuts", marks, title=title, x="x", y="squares left", box=span, alt=alt)


def tree_panel(model: DecisionTreeRegressor, x: Array, new: float | None) -> Any:
    """Questions at their thresholds, leaves in the middle of their rows."""
    tree, edges = model.tree_, []
    nodes: list[dict[str, Any]] = []
    rank: dict[int, float] = {}

    def put(node: int, depth: int, room: int) -> int:
        here = len(nodes)
        nodes.append({})
        inner = tree.feature[node] >= 0
        if not inner:
            label, x_ = f"{number(float(tree.value[node, 0, 0]))}", float(room)
            nodes[here] = {"label": label, "colour": 0}
            room += 1
        else:
            t = float(tree.threshold[node])
            nodes[here] = {"label": f"x ≤ {number(t)}", "colour": None, "lit": t == new}
            below = []
            for child in (tree.children_left[node], tree.children_right[node]):
                edges.append({"source": here, "target": len(nodes)})
                below.append(len(nodes))
                room = put(int(child), depth + 1, room)
            x_ = (rank[below[0]] + rank[below[1]]) / 2
        rank[here] = x_
        nodes[here] |= {"x": x_, "y": -float(depth)}
        return room

    put(0, 0, 0)
    alt = "The tree: questions, and the mean of every leaf."
    return graph("tree", nodes, edges, title="The tree (yes goes left)", alt=alt)
