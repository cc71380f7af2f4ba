"""Do events foreseen with probability p happen with frequency p? Before and after calibration."""

from typing import Any

import numpy as np

from pellucid import CalibratedClassifierCV, GaussianNB, LogisticRegression
from pellucid.evaluation import reliability
from pellucid.evaluation.calibration.reliability_curve import bin_of
from pellucid.lab.drawing import class_shades, heard, hushed, literals, number, short
from pellucid.lab.pages.judging.parts import ALL, CELLS, Judged, Rows
from pellucid.lab.scene import contours, lattice, line, plane, points, segments
from pellucid.lab.trace import Frame

BINS = 5
LEARNERS = {"naive Bayes": GaussianNB, "logistic regression": LogisticRegression}
CURVES = ("sigmoid", "isotonic")
CODE = """import numpy as np
from pellucid import CalibratedClassifierCV, {learner}
{hushed}
{rows}
model = CalibratedClassifierCV({learner}(), method={curve!r}, cv=4, ensemble=False)
model.fit(X[train], y[train])
p = model.predict_proba(X[test])[:, 1]
objective = float(np.mean((p - y[test]) ** 2))  # Brier score
"""


def steps(rows: Rows, params: dict[str, Any], seed: int) -> Judged:
    """Bins of the raw probabilities one by one, the curve, the bins of the calibrated ones."""
    X, y, y_test = rows.X[rows.train], rows.y[rows.train], rows.y[rows.test]
    if min(np.bincount(y)) < 4:
        raise ValueError("calibration needs 4 rows to fit of each class, draw more")
    make, curve = LEARNERS[params["forecaster"]], params["curve"]
    raw, _ = heard(lambda: make().fit(X, y))
    whole = CalibratedClassifierCV(make(), method=curve, cv=4, ensemble=False)
    model, warned = heard(lambda: whole.fit(X, y))
    p = {
        name: m.predict_proba(rows.X[rows.test])[:, 1]
        for name, m in (("before", raw), ("after", model))
    }
    made = {name: reliability(y_test, values, n_bins=BINS) for name, values in p.items()}
    frames: list[Frame] = []
    for name, machine in (("before", raw), ("after", model)):
        if name == "after":
            frames.append(curve_frame(rows, model, raw, made["before"], len(frames), curve))
        for k in range(len(made[name].counts)):
            frames.append(bin_frame(rows, machine, p[name], made, name, k, len(frames)))
    frames.append(end_frame(rows, model, made, len(frames)))
    first, last = made["before"], made["after"]
    verdict = (
        f"The mean gap between what was said and what happened went from {number(first.ece)} to "
        f"{number(last.ece)}, the Brier score from {number(first.brier)} to {number(last.brier)}."
    )
    if last.brier >= first.brier:
        verdict += " The curve made it worse."
    words = {"learner": make.__name__, "curve": curve, "hushed": hushed(warned)}
    code = CODE.format(rows=literals(rows, *ALL), **words)
    box, alt = (-0.03, 1.03, -0.03, 1.03), "Observed share against probability, bin by bin."
    marks = [line([0, 1], [0, 1], colour="quiet", dashed=True, label="as it should be")]
    axes: dict[str, Any] = {"x": "probability that was said, p", "y": "share that happened, o"}
    title = "Reliability of the held-out rows"
    panel = plane("reliability", marks, title=title, box=box, equal=True, alt=alt, **axes)
    objective = "Brier score of the rows held out"
    return Judged(tuple(frames), [panel], model, objective, verdict, code)


def data_marks(rows: Rows, model: Any, chosen: Any = None) -> list[Any]:
    """P(class 1) as shades; the rows of a bin ringed."""
    x, up, cells = lattice(rows.box, CELLS)
    grid = model.predict_proba(cells)[:, 1].reshape(CELLS, CELLS)
    marks = [class_shades(grid, rows.box), contours(x, up, grid, [0.5], colour=None, width=1.6)]
    X, y = rows.X[rows.test], rows.y[rows.test]
    if chosen is not None:
        marks.append(points(*X[chosen].T, group=y[chosen], ring=np.ones(int(chosen.sum()), bool)))
    return marks


def dots(made: Any, name: str, upto: int, label: str = "") -> list[Any]:
    """The bins so far: gap to the diagonal, limits, share."""
    colour = {"before": 1, "after": 0}[name]
    p, o = made[name].probability[: upto + 1], made[name].observed[: upto + 1]
    low, high = made[name].low[: upto + 1], made[name].high[: upto + 1]
    return [
        segments(p, low, p, high, colour="quiet", width=1.0),
        segments(p, p, p, o, colour="warn", width=2.0, label="gap"),
        line(p, o, colour=colour, label=label or name),
        points(p, o, group=colour, size=1.1),
    ]


def bin_frame(rows: Rows, model: Any, p: Any, made: Any, name: str, k: int, step: int) -> Frame:
    found, y = made[name], rows.y[rows.test]
    here = bin_of(p, np.ones(len(p)), BINS, "quantile") == k
    said, happened = float(found.probability[k]), float(found.observed[k])
    n, hits = int(here.sum()), int(y[here].sum())
    formula = (
        f"{name}, bin {k + 1}: {n} rows with mean p = {number(said)}, class 1 in {hits} of them, "
        f"o = {hits}/{n} = {number(happened)}; gap |p − o| = {number(abs(said - happened))}"
    )
    numbers = {"bin": k + 1, "rows in it": n, "said p": short(said), "happened o": short(happened)}
    numbers["gap"] = short(abs(said - happened))
    marks = dots(made, name, k, "o")
    if name == "after":
        marks = dots(made, "before", BINS)[2:3] + marks
    panels = [plane("data", data_marks(rows, model, here)), plane("reliability", marks)]
    return Frame(step, found.brier, None, formula, numbers, {"panels": panels})


def curve_frame(rows: Rows, model: Any, raw: Any, before: Any, step: int, curve: str) -> Frame:
    """The curve from what was said to what is said now, learned from rows of other folds."""
    found = model.calibrated_classifiers_[0].calibrators[0]
    at = np.linspace(0, 1, 81) if score_is_share(raw) else None
    if at is None:
        f = raw.decision_function(rows.X[rows.train])
        at = np.linspace(float(f.min()), float(f.max()), 81)
    new = found.predict(at)
    if curve == "sigmoid":
        said = f"p = 1 / (1 + exp(a f + b)), a = {number(found.a_)}, b = {number(found.b_)}"
    else:
        said = f"p rises in {len(np.unique(found.y_thresholds_))} steps and never falls"
    formula = f"a curve from the score f to p, learned on folds: {said}"
    numbers = {"Brier score before": short(before.brier), "mean gap before": short(before.ece)}
    numbers["rows that fit the curve"] = len(rows.train)
    marks = [line(at, new, colour=0, label="p")]
    if score_is_share(raw):
        marks.insert(0, line([0, 1], [0, 1], colour="quiet", dashed=True, label="as it was"))
    alt = "The calibrated probability for every score."
    box = (float(at[0]), float(at[-1]), -0.03, 1.03)
    title = "The curve"
    shown = plane("curve", marks, title=title, x="score f", y="p now", box=box, alt=alt)
    line_before = dots({"before": before}, "before", BINS)[2:3]
    panels = [plane("data", data_marks(rows, raw)), plane("reliability", line_before), shown]
    return Frame(step, before.brier, None, formula, numbers, {"panels": panels})


def score_is_share(model: Any) -> bool:
    """Whether the score that is calibrated is the probability itself."""
    return not hasattr(model, "decision_function")


def end_frame(rows: Rows, model: Any, made: Any, step: int) -> Frame:
    first, last = made["before"], made["after"]
    formula = (
        f"mean gap Σ n_k/n |p_k − o_k|: {number(first.ece)} → {number(last.ece)}; Brier score "
        f"mean (p − y)²: {number(first.brier)} → {number(last.brier)}"
    )
    numbers = {"mean gap before": short(first.ece), "mean gap after": short(last.ece)}
    numbers |= {"Brier before": short(first.brier), "Brier after": short(last.brier)}
    marks = dots(made, "before", BINS)[2:3] + dots(made, "after", BINS)
    panels = [plane("data", data_marks(rows, model)), plane("reliability", marks)]
    return Frame(step, last.brier, None, formula, numbers, {"panels": panels})
