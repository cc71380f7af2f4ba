"""The rounds of boosting: weights of rows (AdaBoost), residuals (gradient boosting)."""

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from pellucid.lab.drawing import LEAST, log_loss, number
from pellucid.lab.pages.ensembles import parts
from pellucid.lab.pages.ensembles.parts import CELLS, Plane, member_panel, start_frame, wide, wrong
from pellucid.lab.scene import bars, heat, plane, regions
from pellucid.lab.trace import Frame


def exponential(votes: Any, y: np.ndarray, total: float, K: int) -> float:
    """Mean of exp(total / K - weight of the votes for the right class)."""
    loss = np.exp(np.minimum(total / K - votes[np.arange(len(y)), y], 50.0))
    return float(loss.mean())


def adaptive(where: Plane, model: BaseEstimator) -> list[Frame]:
    """AdaBoost: rows weigh more where the members so far are wrong."""
    K, n = where.K, len(where.y)
    weight = np.full(n, 1.0 / n)
    votes = {"cells": np.zeros((CELLS * CELLS, K)), "test": np.zeros((len(where.y_test), K))}
    frames = [start_frame(where, f"D = 1/n = 1/{n} for every row; mean exp(−y F) = 1", 1.0, 1.0)]
    total, history = 0.0, model.history_
    top = 1.1 * max(float(model.alphas_.max()), 0.1)
    for m, member in enumerate(model.estimators_):
        row = history[m + 1]
        strength = float(model.estimator_weights_[m])
        total += strength
        said = {"cells": member.predict(where.cells), "test": member.predict(where.X_test)}
        for name, codes in said.items():
            votes[name][np.arange(len(codes)), np.asarray(codes, int)] += strength
        missed = np.asarray(member.predict(where.X), int) != where.y
        before = weight
        weight = weight * np.exp(strength * missed)
        weight = weight / weight.sum()
        test = wrong(votes["test"].argmax(axis=1), where.y_test)
        numbers = {"members": m + 1, "weighted error ε": row["error"], "weight α": row["alpha"]}
        numbers["largest weight of a row"] = float(weight.max() * n)
        numbers |= {"training error": row["train_error"], "held-out error": test}
        codes = np.asarray(said["cells"], int).reshape(CELLS, CELLS)
        sized = parts.weighed_rows(where, before * n, "rows by D")
        marks = [regions(codes, where.box, label="newest member"), *sized]
        alt = "Regions of the newest member; rows that weigh more are larger."
        alphas = bars(np.arange(1, m + 2), model.alphas_[: m + 1], label="α")
        box, title = (0, len(model.estimators_) + 1, 0, top), "Weight α of every member"
        words = "Weights of the members so far."
        scene = [
            parts.vote_panel(where, votes["cells"].argmax(axis=1), m + 1),
            member_panel(where, marks, f"Member {m + 1} and the rows by weight", alt),
            plane("weights", [alphas], title=title, x="member", y="α", box=box, alt=words),
        ]
        words = ada_words(row, K, model.learning_rate)
        state, held_out = {"panels": scene}, exponential(votes["test"], where.y_test, total, K)
        frames.append(Frame(m + 1, row["objective"], None, words, numbers, state, held_out))
    return frames


def ada_words(row: dict[str, Any], K: int, rate: float) -> str:
    error = float(row["error"])
    if error <= 0.0:
        return "ε = 0: this member is never wrong, it decides alone and ends the rounds"
    more = "" if K == 2 else f" + ½ ln {K - 1}"
    rule, filled = f"½ ln((1 − ε)/ε){more}", f"½ ln({number(1 - error)}/{number(error)}){more}"
    if rate != 1:
        rule, filled = (f"({rule})", f"({filled})") if more else (rule, filled)
        rule, filled = f"ν · {rule}", f"{number(rate)} · {filled}"
    return (
        f"ε = Σ D [h ≠ y] = {number(error)}; α = {rule} = {filled} = {number(row['alpha'])}; "
        f"D ← D exp(−α y h)/Z, Z = {number(row['normaliser'])}"
    )


def gradual(where: Plane, model: BaseEstimator) -> list[Frame]:
    """Gradient boosting: each tree fits the residuals y - p."""
    K, n = where.K, len(where.y)
    prior = np.bincount(where.y, minlength=K) / n
    first = log_loss(np.tile(prior, (n, 1)), where.y)
    test = log_loss(np.tile(prior, (len(where.y_test), 1)), where.y_test)
    words = (
        f"F₀ = log-odds of the class shares {number(prior[0])} : {number(prior[-1])}; "
        f"log loss {number(first)}"
    )
    frames = [start_frame(where, words, first, test)]
    tables = (where.cells, where.X, where.X_test)
    staged = ([wide(p, model.classes_, K) for p in model.staged_predict_proba(X)] for X in tables)
    before = np.tile(prior, (n, 1))
    curves = {"training": [first], "held-out": [test]}
    for tree, *stage in zip(model.estimators_[:, -1], *staged, strict=True):
        frames.append(tree_frame(where, model, tree, before, stage, curves))
        before = stage[1]
    return frames


def tree_frame(
    where: Plane, model: BaseEstimator, tree: Any, before: Any, stage: Any, curves: Any
) -> Frame:
    """What a tree adds; ``stage`` are the probabilities after it on cells, rows, held-out rows."""
    m = len(curves["training"]) - 1
    loss, test = log_loss(stage[1], where.y), log_loss(stage[2], where.y_test)
    curves["training"].append(loss)
    curves["held-out"].append(test)
    residual = np.abs((where.y == where.K - 1) - before[:, -1])  # of the last class
    mean = float(residual.mean())
    values = tree.predict(where.cells)
    far = max(float(np.abs(values).max()), LEAST)
    look: dict[str, Any] = {"low": -far, "high": far, "diverging": True, "label": "newest tree h"}
    marks = [
        heat(values.reshape(CELLS, CELLS), where.box, **look),
        *parts.weighed_rows(where, residual / max(mean, LEAST), "rows by |r|"),
    ]
    numbers = {"trees": m + 1, "mean |y − p|": mean, "log loss": loss}
    numbers["training error"] = wrong(stage[1].argmax(axis=1), where.y)
    numbers["held-out log loss"] = test
    numbers["held-out error"] = wrong(stage[2].argmax(axis=1), where.y_test)
    formula = (
        f"r = y − p, mean |r| = {number(mean)}; F ← F + ν h = F + {number(model.learning_rate)} · "
        f"h, h from {number(values.min())} to {number(values.max())}; log loss "
        f"{number(curves['training'][-2])} → {number(loss)}"
    )
    top = 1.15 * max(*curves["held-out"], *curves["training"])
    title = f"Tree {m + 1} fits the residuals y − p"
    alt = "What the newest tree adds; rows with large residuals are larger."
    scene = [
        parts.vote_panel(where, stage[0].argmax(axis=1), m + 1),
        member_panel(where, marks, title, alt),
        parts.curve_panel(curves, model.n_estimators, "Log loss", top),
    ]
    return Frame(m + 1, loss, None, formula, numbers, {"panels": scene}, test)
