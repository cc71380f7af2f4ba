"""A threshold moves down the scores: counts, costs and the ROC curve."""

from functools import partial
from typing import Any

import numpy as np

from pellucid.core.arrays.typing import ArrayLike
from pellucid.evaluation import best_threshold, rates, threshold_curve
from pellucid.lab.drawing import class_shades, heard, hushed, literals, number
from pellucid.lab.pages.judging.parts import ALL, CELLS, Judged, Rows
from pellucid.lab.scene import contours, lattice, line, plane, points, rule
from pellucid.lab.trace import Frame
from pellucid.linear import LogisticRegression

THRESHOLDS = np.round(np.linspace(0.975, 0.025, 39), 3)


def steps(rows: Rows, params: dict[str, Any], seed: int) -> Judged:
    """One frame per threshold, from strict to lenient."""
    X, y = rows.X[rows.train], rows.y[rows.train]
    model, warned = heard(lambda: LogisticRegression().fit(X, y))
    p, p_test = (model.predict_proba(rows.X[part])[:, 1] for part in (rows.train, rows.test))
    y_test, cost = rows.y[rows.test], params["cost"]
    curve, _ = heard(lambda: threshold_curve(y_test, p_test, cost_matrix=[[0, 1], [cost, 0]]))
    x, up, cells = lattice(rows.box, CELLS)
    grid = model.predict_proba(cells)[:, 1].reshape(CELLS, CELLS)
    frames = []
    for i, t in enumerate(THRESHOLDS.tolist()):
        called = p_test >= t
        yes = y_test == 1
        tp, fn, fp, tn = (
            int((said & truth).sum()) for truth in (yes, ~yes) for said in (called, ~called)
        )
        found, _ = heard(partial(rates, tp, fn, fp, tn))
        held = (cost * fn + fp) / len(y_test)
        spot = (fp / max(fp + tn, 1), tp / max(tp + fn, 1))
        ring, label = called != (y_test == 1), "rows (open: held out; ringed: wrong)"
        marks = [
            class_shades(grid, rows.box),
            contours(x, up, grid, [t], colour=None, width=2.0),
            points(*rows.X[rows.test].T, group=y_test, ring=ring, faint=True, label=label),
        ]
        panels = [
            plane("data", marks),
            plane("scores", [rule(x=t, colour="warn", dashed=False, label=f"t = {t:g}")]),
            plane("roc", [points([spot[0]], [spot[1]], group=1, size=1.4, label="now")]),
        ]
        numbers = {"threshold": t, "found / missed": f"{tp} / {fn}"}
        numbers["false alarms / left alone"] = f"{fp} / {tn}"
        for name in ("precision", "recall", "accuracy"):
            numbers[name] = safe(getattr(found, name))
        formula = (
            f"P ≥ {t:g} is called class 1:  held-out cost = (missed · {number(cost)} + false "
            f"alarms · 1)/n = ({fn} · {number(cost)} + {fp} · 1)/{len(y_test)} = {number(held)}"
        )
        paid, state = mean_cost(y, p, t, cost), {"panels": panels}
        frames.append(Frame(i, paid, None, formula, numbers, state, held))
    t_best, cost_best = best_threshold(curve, "cost")
    verdict = (
        f"On the rows held out the cost is least ({number(cost_best)}) at P ≥ {number(t_best)}; "
        f"the area under the ROC curve is {number(curve.roc_auc)} and does not depend on t. With "
        f"these costs the threshold of theory is 1/(1 + {number(cost)}) = {number(1 / (1 + cost))}."
    )
    shown_panels, code = panels_of(p_test, y_test, curve), code_of(rows, cost, warned)
    return Judged(tuple(frames), shown_panels, model, "mean cost", verdict, code)


def safe(value: float) -> Any:
    """A rate, or a dash where nothing was called positive."""
    return float(value) if np.isfinite(value) else "–"


def mean_cost(y: ArrayLike, p: Any, t: float, cost: float) -> float:
    return float(np.mean(np.where(y == 1, cost * (p < t), p >= t)))


def panels_of(p: Any, y: np.ndarray, curve: Any) -> list[Any]:
    """The scores held out, by class, and the ROC curve."""
    spread = np.random.default_rng(0).uniform(-0.25, 0.25, len(p))
    marks, box = [points(p, y + spread, group=y, size=0.9)], (-0.03, 1.03, -0.6, 1.6)
    title = "Scores of the rows held out"
    alt = "Scores by class; the vertical line is the threshold."
    scores = plane("scores", marks, x="P(class 1 | x)", y="class", box=box, title=title, alt=alt)
    fpr = np.r_[0.0, 1 - curve.specificity]
    curves = [
        line(fpr, np.r_[0.0, curve.recall], label="all thresholds"),
        line([0, 1], [0, 1], colour="quiet", dashed=True, label="guessing"),
    ]
    x, up, square = "false alarms among class 0", "found among class 1", (-0.03, 1.03, -0.03, 1.03)
    alt = "ROC curve; the point is this threshold."
    return [
        scores,
        plane("roc", curves, x=x, y=up, box=square, title="ROC curve", equal=True, alt=alt),
    ]


def code_of(rows: Rows, cost: float, warned: str) -> str:
    return f"""import numpy as np
from pellucid import LogisticRegression
{hushed(warned)}
{literals(rows, *ALL)}
model = LogisticRegression().fit(X[train], y[train])
p, t, cost = model.predict_proba(X[train])[:, 1], {THRESHOLDS[-1]}, {cost!r}
objective = float(np.mean(np.where(y[train] == 1, cost * (p < t), p >= t)))
"""
