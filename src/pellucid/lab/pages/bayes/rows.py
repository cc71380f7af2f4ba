"""What the pages about beliefs share, and Gaussian naive Bayes as rows arrive."""

import warnings
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator

from pellucid import GaussianNB
from pellucid.lab.drawing import LEAST, class_regions, held_rows, log_loss, number, row_points
from pellucid.lab.page import LabData
from pellucid.lab.scene import area, around, bars, ellipse, line, place_in, plane, points, rule
from pellucid.lab.trace import Frame

CELLS = 44
MOST_STEPS = 24


class Story(NamedTuple):
    """What a method has to tell."""

    algorithm: str
    card: dict[str, Any]
    panels: list[Any]
    frames: list[Frame]
    objective: str
    verdict: str
    code: str
    between: str = ""  # Python before the rows are divided


class Rows(NamedTuple):
    """Training and held-out rows, the box, the query."""

    data: LabData
    X: Any
    y: Any
    X_test: Any
    y_test: Any
    K: int
    box: Any
    query: Any


def make_rows(data: LabData, params: dict[str, Any]) -> Rows:
    held = held_rows(data)
    test = held if held.any() else ~held
    box = around(data.X)
    query = place_in(box, params["query_x"], params["query_y"])
    y = data.y[~held]
    K = int(data.y.max()) + 1
    if len(np.unique(y)) < K:
        raise ValueError("every class needs a row that is not held out; draw more rows")
    return Rows(data, data.X[~held], y, data.X[test], data.y[test], K, box, query)


def still(rows: Rows, title: str) -> Any:
    names = rows.data.names
    marks, alt = [row_points(rows.data)], "Rows of the table by class."
    return plane("data", marks, title=title, x=names[0], y=names[1], box=rows.box, alt=alt)


def asked(rows: Rows) -> Any:
    return points(rows.query[:1], rows.query[1:], group="accent", size=1.8, label="query")


def belief_panel(prior: Any, posterior: Any) -> Any:
    """Prior and posterior of every class, side by side."""
    k = np.arange(len(prior))
    marks = [
        bars(k - 0.18, prior, colour="quiet", width=0.32, label="prior"),
        bars(k + 0.18, posterior, colour=k.tolist(), width=0.32, label="posterior of the query"),
    ]
    title, box = "Prior and posterior at the query", (-0.6, len(prior) - 0.4, 0, 1.05)
    alt = "Prior and posterior probability of every class at the query."
    return plane("belief", marks, title=title, x="class", y="probability", box=box, alt=alt)


def gaussian(rows: Rows, params: dict[str, Any], seed: int) -> Story:
    """Rows arrive; every class has a mean and a variance for each column."""
    n = len(rows.y)
    first = 1 + max(int(np.flatnonzero(rows.y == c)[0]) for c in range(rows.K))
    sizes = np.unique(np.rint(np.linspace(first, n, MOST_STEPS)).astype(int)).tolist()
    frames = []
    for i, m in enumerate(sizes):
        with warnings.catch_warnings(action="ignore"):  # constant columns
            model = GaussianNB(var_smoothing=1e-3).fit(rows.X[:m], rows.y[:m])
        frames.append(gaussian_frame(rows, model, i, m))
    last = frames[-1]
    if len(frames) == 1:  # as few rows as classes: the same again
        frames.append(last._replace(step=1))
    verdict = (
        f"Two columns, each with a normal density of its own in every class: training log loss "
        f"{number(last.objective or 0.0)}, held-out {number(last.held_out or 0.0)}."
    )
    code = (
        "from pellucid import GaussianNB\n\nmodel = GaussianNB(var_smoothing=1e-3).fit(X, y)\n"
        "p = model.predict_proba(X)[np.arange(len(y)), y]\n"
        "objective = float(-np.log(np.maximum(p, 1e-12)).mean())  # mean log loss\n"
    )
    card, panels = model.card().to_dict(), [still(rows, "Rows, regions, densities")]
    return Story("GaussianNB", card, panels, frames, "mean log loss", verdict, code)


def gaussian_frame(rows: Rows, model: BaseEstimator, step: int, m: int) -> Frame:
    p = model.predict_proba(rows.query[None])[0]
    away = (rows.query - model.theta_) ** 2
    like = np.exp(-away / (2 * model.var_)) / np.sqrt(2 * np.pi * model.var_)
    best = int(p.argmax())
    train = log_loss(model.predict_proba(rows.X), rows.y)
    test = log_loss(model.predict_proba(rows.X_test), rows.y_test)
    product = float(model.class_prior_[best] * like[best].prod())
    formula = (
        f"P({best} | x) = P({best}) p(x₁ | {best}) p(x₂ | {best}) / p(x) = "
        f"{number(model.class_prior_[best])} · {number(like[best, 0])} · {number(like[best, 1])} / "
        f"{number(product / max(float(p[best]), LEAST))} = {number(p[best])}"
    )
    numbers = {"rows so far": m, "class of the query": best, "its probability": float(p[best])}
    numbers |= {
        "training error": float((model.predict(rows.X) != rows.y).mean()),
        "held-out error": float((model.predict(rows.X_test) != rows.y_test).mean()),
    }
    marks = [class_regions(model, rows.box, CELLS)]
    for c in range(rows.K):
        marks += ellipse(model.theta_[c], np.diag(model.var_[c]), colour=c)
    marks += [points(*rows.X[:m].T, group=rows.y[:m], ring=np.ones(m, bool)), asked(rows)]
    scene = [
        plane("data", marks, box=rows.box, alt=f"Regions and ellipses after {m} rows."),
        density_panel(rows, model),
        belief_panel(model.class_prior_, p),
    ]
    return Frame(step, train, None, formula, numbers, {"panels": scene}, test)


def density_panel(rows: Rows, model: BaseEstimator) -> Any:
    """P(c) p(x1 | c) of every class along the first column."""
    x = np.linspace(rows.box[0], rows.box[1], 81)
    spread = np.sqrt(np.maximum(model.var_[:, 0], 1e-300))
    curves = [
        prior * np.exp(-0.5 * ((x - mean) / s) ** 2) / (s * np.sqrt(2 * np.pi))
        for prior, mean, s in zip(model.class_prior_, model.theta_[:, 0], spread, strict=True)
    ]
    ends = np.r_[x[0], x, x[-1]]
    marks = [area(ends, np.r_[0.0, c, 0.0], colour=k) for k, c in enumerate(curves)]
    marks += [line(x, c, colour=k, label=f"class {k}") for k, c in enumerate(curves)]
    marks.append(rule(x=float(rows.query[0]), colour="accent", label="query"))
    box = (rows.box[0], rows.box[1], 0, 1.1 * max(float(np.max(curves)), 1e-12))
    name, title = rows.data.names[0], "P(c) p(x₁ | c)"
    alt = "Density of the first column in every class."
    return plane("densities", marks, title=title, x=name, y="density", box=box, alt=alt)
