"""Cross-validation fold by fold: the fold wheel."""

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.model_selection import StratifiedKFold

from pellucid.evaluation import cv_summary
from pellucid.lab.drawing import heard, hushed, literals, number
from pellucid.lab.pages.judging import parts
from pellucid.lab.pages.judging.parts import ALL, LEARNERS, Judged, Rows, area_of, error, wheel
from pellucid.lab.scene import bars, plane, points, rule
from pellucid.lab.trace import Frame


def steps(rows: Rows, params: dict[str, Any], seed: int) -> Judged:
    """One frame per fold, and the summary."""
    k, learner = params["folds"], params["learner"]
    X, y = rows.X, rows.y
    least = int(np.bincount(y).min())
    if least < k:
        raise ValueError(f"{k} folds need {k} rows of each class, the smaller class has {least}")
    cut = list(StratifiedKFold(k, shuffle=True, random_state=0).split(X, y))
    models, warned = heard(lambda: [parts.make(learner).fit(X[a], y[a]) for a, _ in cut])
    train = [error(m, X[a], y[a]) for m, (a, _) in zip(models, cut, strict=True)]
    test = [error(m, X[b], y[b]) for m, (_, b) in zip(models, cut, strict=True)]
    fold = np.empty(len(y), int)
    for i, (_, b) in enumerate(cut):
        fold[b] = i
    guess = float(min(np.mean(y), 1 - np.mean(y)))
    frames = [start(rows, k, guess)]
    frames += [one_fold(rows, i, cut[i], models[i], train[i], test[: i + 1], k) for i in range(k)]
    summary = cv_summary(test, test_ratio=1 / (k - 1))
    frames.append(end(rows, k, train, test, summary))
    box = (0.3, k + 0.7, 0.0, max(0.55, 1.15 * max(test)))
    marks, title = [rule(y=guess, label="always the larger class")], "Error on the fold held out"
    square, alt = (
        (-1.1, 1.1, -1.1, 1.1),
        "A wheel with one piece per fold; the piece held out now is strong.",
    )
    panels = [
        plane("wheel", [], title="Fold wheel", box=square, equal=True, bare=True, alt=alt),
        plane("errors", marks, x="fold", y="error", box=box, title=title, alt="One bar per fold."),
    ]
    verdict = (
        f"The error is {number(summary.mean)} with 95 % interval {number(max(summary.low, 0.0))} "
        f"to {number(min(summary.high, 1.0))}; single folds go from {number(min(test))} to "
        f"{number(max(test))}. Every row was held out once."
    )
    code = code_of(rows, k, learner, warned)
    return Judged(tuple(frames), panels, models[-1], "error rate", verdict, code)


def start(rows: Rows, k: int, guess: float) -> Frame:
    n = len(rows.y)
    words = (
        f"{n} rows in {k} folds of about {n / k:.3g} rows; "
        f"always guessing the larger class errs with {number(guess)}"
    )
    state = {"panels": [plane("data", []), plane("wheel", wheel(k, None, []))]}
    numbers = {"rows": n, "folds": k, "error of guessing": guess}
    return Frame(0, guess, None, words, numbers, state, guess)


def one_fold(
    rows: Rows, i: int, cut: Any, model: BaseEstimator, train: float, scores: list[float], k: int
) -> Frame:
    X, y = rows.X, rows.y
    inside, outside = cut
    wrong = model.predict(X[outside]) != y[outside]
    label = "this fold (ringed: wrong)"
    marks = [
        area_of(model, rows),
        points(*X[inside].T, group=y[inside], size=0.6),
        points(*X[outside].T, group=y[outside], size=1.3, ring=wrong, label=label),
    ]
    panels = [
        plane("data", marks),
        plane("wheel", wheel(k, i, scores)),
        plane("errors", [bars(np.arange(1, i + 2), scores, colour=["accent"] * i + ["warn"])]),
    ]
    mean = float(np.mean(scores))
    formula = (
        f"fold {i + 1}: fitted on {len(inside)} rows, {int(wrong.sum())} of {len(outside)} held out"
        f" are wrong: {number(scores[-1])};  mean of {i + 1} = {number(mean)}"
    )
    numbers = {"fold": i + 1, "error of this fold": scores[-1], "training error": train}
    numbers["mean so far"] = mean
    return Frame(i + 1, train, None, formula, numbers, {"panels": panels}, scores[-1])


def end(rows: Rows, k: int, train: list[float], test: list[float], summary: Any) -> Frame:
    mean = rule(y=summary.mean, colour="warn", dashed=False, label="mean")
    errors = plane("errors", [bars(np.arange(1, k + 1), test), mean])
    panels = [plane("data", []), plane("wheel", wheel(k, None, test)), errors]
    spread = float(np.std(test, ddof=1))
    formula = (
        f"mean = {number(summary.mean)},  Var(mean) = (1/k + 1/(k − 1)) s² = (1/{k} + 1/{k - 1}) · "
        f"{number(spread)}² = {number(summary.variance_of_mean)}"
    )
    numbers = {"mean error": summary.mean, "standard error": summary.standard_error}
    numbers["interval"] = f"{number(max(summary.low, 0.0))} to {number(min(summary.high, 1.0))}"
    errors_fit, state = float(np.mean(train)), {"panels": panels}
    return Frame(k + 1, errors_fit, None, formula, numbers, state, summary.mean)


def code_of(rows: Rows, k: int, learner: str, warned: str) -> str:
    name = LEARNERS[learner].split("(")[0]
    return f"""import numpy as np
from pellucid import {name}
from pellucid.evaluation import cv_summary
from sklearn.model_selection import StratifiedKFold
{hushed(warned)}
{literals(rows, *ALL)}
train_errors, test_errors = [], []
for a, b in StratifiedKFold({k}, shuffle=True, random_state=0).split(X, y):
    model = {LEARNERS[learner]}.fit(X[a], y[a])
    train_errors.append(float(np.mean(model.predict(X[a]) != y[a])))
    test_errors.append(float(np.mean(model.predict(X[b]) != y[b])))
result = cv_summary(test_errors, test_ratio=1 / {k - 1})
objective = float(np.mean(train_errors))
"""
