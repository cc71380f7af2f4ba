"""LDA and QDA for the lab: from round classes to a shared covariance to one for each class.

Every frame is a fit of ``RegularizedDiscriminantAnalysis``: gamma 1 is round, gamma 0 with alpha 0
is LDA, alpha 1 is QDA.
"""

from functools import partial
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from pellucid.discriminant import RegularizedDiscriminantAnalysis
from pellucid.lab.drawing import class_regions, heard, hushed, literals, number, sub, vector
from pellucid.lab.pages.linear_classifiers.parts import Rows, Steps, sigmoid_panel, sigmoid_rows
from pellucid.lab.scene import ellipse, plane, points, table
from pellucid.lab.trace import Frame

CELLS = 40


def steps(rows: Rows, params: dict[str, Any]) -> Steps:
    """The ladder from round classes to the method asked for."""
    places = [(0.0, float(g)) for g in np.linspace(1.0, 0.0, 9)]
    if params["method"] == "QDA":
        places += [(float(a), 0.0) for a in np.linspace(0.1, 1.0, 10)]
    fits = [heard(partial(fit, rows, a, g)) for a, g in places]
    models, warned = [model for model, _ in fits], fits[-1][1]
    two = len(models[0].classes_) == 2
    frames = tuple(frame_of(rows, model, i, two) for i, model in enumerate(models))
    panels = [sigmoid_panel("Posterior by log-odds")] if two else []
    alpha, gamma = places[-1]
    code = f"""import numpy as np
from pellucid import RegularizedDiscriminantAnalysis  # {params["method"]}
{hushed(warned)}
{literals(rows, "X", "y")}
model = RegularizedDiscriminantAnalysis(alpha={alpha}, gamma={gamma}).fit(X, y)
objective = float(-np.mean(model.predict_log_proba(X)[np.arange(len(y)), y]))
"""
    shown_verdict = verdict(rows, params["method"], models, frames)
    return Steps(frames, panels, models[-1], "mean −log P(class | x)", shown_verdict, code)


def fit(rows: Rows, alpha: float, gamma: float) -> Any:
    return RegularizedDiscriminantAnalysis(alpha=alpha, gamma=gamma).fit(rows.X, rows.y)


def loss(model: BaseEstimator, X: np.ndarray, y: np.ndarray) -> float:
    return float(-np.mean(model.predict_log_proba(X)[np.arange(len(y)), y]))


def accuracy(model: BaseEstimator, rows: Rows) -> float:
    """On the rows held out, or where there are none on the training rows."""
    X, y = (rows.X_test, rows.y_test) if len(rows.y_test) else (rows.X, rows.y)
    return float(np.mean(model.predict(X) == y))


def frame_of(rows: Rows, model: BaseEstimator, i: int, two: bool) -> Frame:
    means, covariances = np.asarray(model.means_), np.asarray(model.covariance_)
    marks = [class_regions(model, rows.box, CELLS)]
    for k, mean in enumerate(means):
        name = f"Σ{sub(k)}" if model.alpha > 0 else "Σ"
        marks += ellipse(mean, covariances[k], colour=k, label=name)
    group, ring = np.arange(len(means)), np.ones(len(means), bool)
    marks.append(points(*means.T, group=group, size=1.8, ring=ring, label="means"))
    panels = [plane("data", marks)]
    if two:
        log_p = model.predict_log_proba(rows.X)
        panels.append(sigmoid_rows(log_p[:, 1] - log_p[:, 0], rows.y))
    panels.append(moments_table(model, means, covariances))
    held = loss(model, rows.X_test, rows.y_test) if len(rows.y_test) else None
    where = "held-out" if len(rows.y_test) else "training"
    numbers = {"γ (to round)": model.gamma, "α (own covariance)": model.alpha}
    numbers[f"{where} accuracy"] = accuracy(model, rows)
    numbers["wrong rows"] = int((model.predict(rows.X) != rows.y).sum())
    objective, state = loss(model, rows.X, rows.y), {"panels": panels}
    return Frame(i, objective, None, formula_of(model), numbers, state, held)


def moments_table(model: BaseEstimator, means: Any, covariances: Any) -> Any:
    rows = []
    for k, S in enumerate(covariances):
        values = (model.priors_[k], *means[k], *S[np.triu_indices(2)])
        rows.append([k, *(number(v, 2) for v in values)])
    columns = ("class", "share", "μ₁", "μ₂", "Σ₁₁", "Σ₁₂", "Σ₂₂")
    title, alt = "What the classes are taken to be", "Share, mean and covariance of each class."
    return table("moments", columns, rows, title=title, alt=alt)


def matrix(S: Any) -> str:
    return f"[{vector(S[0])}, {vector(S[1])}]"


def formula_of(model: BaseEstimator) -> str:
    """The covariance of this frame and, for two classes, the rule it gives."""
    S, m = np.asarray(model.covariance_), np.asarray(model.means_)
    if model.alpha > 0:
        return (
            f"Σ₀ = {number(model.alpha)} S₀ + {number(1 - model.alpha)} S = {matrix(S[0])},  "
            f"Σ₁ = {matrix(S[1])};  δₖ(x) = log πₖ − ½ log|Σₖ| − ½ (x − μₖ)'Σₖ⁻¹(x − μₖ)"
        )
    shrink = f"{number(1 - model.gamma)} S + {number(model.gamma)} s² I" if model.gamma else "S"
    words = f"Σ = {shrink} = {matrix(S[0])}"
    if len(m) != 2:
        return f"{words};  δₖ(x) = log πₖ + μₖ'Σ⁻¹x − ½ μₖ'Σ⁻¹μₖ"
    w = np.linalg.solve(S[0], m[1] - m[0])
    b = float(np.log(model.priors_[1] / model.priors_[0]) - 0.5 * w @ (m[0] + m[1]))
    return f"{words};  w = Σ⁻¹(μ₁ − μ₀) = {vector(w)},  b = {number(b)}"


def verdict(rows: Rows, method: str, models: list[Any], frames: Any) -> str:
    where = "held out" if len(rows.y_test) else "in training"
    first, last = (accuracy(model, rows) for model in (models[0], models[-1]))
    shared = models[8]
    words = (
        f"{method} has {number(100 * last)} % of the rows {where} right, round classes "
        f"{number(100 * first)} %"
    )
    if method == "QDA":
        return (
            f"{words}, one shared covariance {number(100 * accuracy(shared, rows))} %: "
            "the boundary is curved where the covariances differ."
        )
    return f"{words}: with one covariance for all classes the boundary is a straight line."
