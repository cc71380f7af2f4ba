"""Lines that wild rows cannot pull far: Huber's weights, or pairs of rows drawn at random."""

import warnings
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from pellucid import HuberRegressor, LinearRegression, RANSACRegressor
from pellucid.core.arrays.typing import Array
from pellucid.lab.drawing import number, quietly, short, signed
from pellucid.lab.page import LabData
from pellucid.lab.pages.curves.parts import Shown
from pellucid.lab.scene import band, bars, line, plane, points, segments
from pellucid.lab.trace import Frame
from pellucid.plots.panels.replay import Recorder

RULES = ("Huber", "random pairs")
HUBER = """from pellucid import HuberRegressor

model = HuberRegressor(epsilon={!r}).fit(X, y)
objective = float(model.history_[-1]["objective"])
"""
PAIRS = """import warnings

import numpy as np
from pellucid import RANSACRegressor

{fit}objective = float((~model.inlier_mask_).mean())
"""


class Line(NamedTuple):
    """A line, the rows that it leaves out, and how far a row may be off."""

    slope: float
    start: float
    out: Any
    reach: float

    def at(self, x: Any) -> Any:
        return self.start + self.slope * np.asarray(x)


def steps(data: LabData, params: dict[str, Any], box: Sequence[float]) -> Shown:
    """Newton's steps of Huber's line, or one pair of rows after the other."""
    if params["rule"] == "Huber":
        return huber(data, params["eps"], box)
    return pairs(data, params["pairs"], box)


def huber(data: LabData, eps: float, box: Sequence[float]) -> Shown:
    X, y = data.train
    recorder = Recorder()
    model = HuberRegressor(epsilon=eps).set_callbacks(recorder).fit(X, y)
    model.set_callbacks()
    history = model.history_
    start, slope = history[0]["parameters"]
    lines = [weighted(X, y, slope, start, history[0]["scale"], eps)]
    for one in next(iter(recorder.runs.values()), []):
        lines.append(weighted(X, y, one.coef_[0], one.intercept_, one.scale_, eps))
    frames = [
        huber_frame(data, found, eps, i, float(row["objective"]), box)
        for i, (found, row) in enumerate(zip(lines, history, strict=True))
    ]
    code = HUBER.format(eps)
    words = ("A line with weights", "Σ s + s H(r / s) + α w²", verdict(data, lines[-1]), code)
    return Shown(frames, model, *words)


def weighted(X: Array, y: Array, slope: Any, start: Any, scale: Any, eps: float) -> Line:
    made = Line(float(slope), float(start), None, float(eps * scale))
    return made._replace(out=np.abs(y - made.at(X[:, 0])) > made.reach)


def huber_frame(
    data: LabData, found: Line, eps: float, step: int, objective: float, box: Sequence[float]
) -> Frame:
    X, y = data.train
    r = y - found.at(X[:, 0])
    i = int(np.abs(r).argmax())
    weight = np.minimum(1.0, found.reach / np.maximum(np.abs(r), 1e-300))
    s = found.reach / eps
    said = f"row {i + 1} has |r| = {number(abs(r[i]))}"
    if found.out[i]:
        formula = (
            f"{said} > ε s = {number(eps)}·{number(s)} = {number(found.reach)}: its weight is "
            f"ε s / |r| = {number(found.reach)} / {number(abs(r[i]))} = {number(weight[i])}"
        )
    else:
        formula = f"{said} ≤ ε s = {number(found.reach)}: every row has the weight 1"
    start = "the start is least squares" if step == 0 else f"step {step}"
    formula = f"{start}: f(x) = {number(found.start)}{signed(found.slope)} x; {formula}"
    numbers = common(data, found)
    numbers |= {"scale s": short(s), "rows beyond ε s": int(found.out.sum())}
    numbers["least weight"] = short(float(weight.min()))
    order = np.argsort(X[:, 0], kind="stable")
    colours = ["warn" if found.out[k] else "quiet" for k in order]
    marks = [bars(np.arange(1, len(y) + 1), weight[order], colour=colours, label="weight")]
    title, alt = "Weight of every row", "A bar per training row: 1, or less for one far off."
    span = (0.0, len(y) + 1.0, 0.0, 1.1)
    weights = plane(
        "weights", marks, title=title, x="training rows, by x", y="weight", box=span, alt=alt
    )
    panels = [line_panel(data, found, box), weights]
    return Frame(step, objective, None, formula, numbers, {"panels": panels})


def pairs(data: LabData, most: int, box: Sequence[float]) -> Shown:
    X, y = data.train

    def fit(k: int) -> Any:
        with warnings.catch_warnings(action="ignore"):  # stopped on purpose
            return RANSACRegressor(max_trials=k, stop_probability=1.0, random_state=0).fit(X, y)

    models = [fit(k) for k in range(1, most + 1)]
    frames = [no_pair(data, len(y), box)]
    frames += [pair_frame(data, model, k, box) for k, model in enumerate(models, 1)]
    fit_line = (
        f"model = RANSACRegressor(max_trials={most}, stop_probability=1.0, random_state=0)"
        ".fit(X, y)\n"
    )
    code = PAIRS.format(fit=quietly(fit_line, "as many pairs as were asked for"))
    last = line_of(models[-1])
    words = ("The line of a pair that most agree with", "share of the rows that do not agree")
    return Shown(frames, models[-1], *words, verdict(data, last), code)


def no_pair(data: LabData, n: int, box: Sequence[float]) -> Frame:
    """Least squares, which every row pulls at."""
    X, y = data.train
    plain = LinearRegression().fit(X, y)
    start, slope = float(plain.intercept_), float(plain.coef_[0])
    ends = np.array([box[0], box[1]])
    marks = [line(ends, start + slope * ends, colour="quiet", dashed=True, label="least squares")]
    formula = (
        f"no pair yet: least squares is {number(start)}{signed(slope)} x, and all {n} rows pull"
    )
    numbers = {"pairs drawn": 0, "slope of least squares": short(slope)}
    return Frame(0, None, None, formula, numbers, {"panels": [plane("data", marks, box=box)]})


def line_of(model: Any) -> Line:
    inner = model.estimator_
    return Line(
        float(np.ravel(inner.coef_)[0]),
        float(np.ravel(inner.intercept_)[0]),
        ~model.inlier_mask_,
        float(model.threshold_),
    )


def pair_frame(data: LabData, model: Any, k: int, box: Sequence[float]) -> Frame:
    found = line_of(model)
    n, inside = len(found.out), int((~found.out).sum())
    share = inside / n
    clean = number(share**2)
    formula = (
        f"{k} {'pair' if k == 1 else 'pairs'} drawn: with the best of their lines {inside} of {n} "
        f"rows agree within {number(found.reach)}; a pair of such rows comes with probability "
        f"({number(share)})² = {clean}"
    )
    numbers = {"pairs drawn": k, **common(data, found)}
    numbers |= {"rows that agree": inside, "rows that do not": n - inside}
    trials = np.array([row["step"] for row in model.history_])
    agree = np.array([row["inliers"] for row in model.history_])
    at = np.repeat(np.append(trials, k), 2)[1:]
    best = np.repeat(agree, 2)
    marks = [line(at, np.append(best, best[-1])[: len(at)], label="best so far")]
    title, alt = "Rows that agree with the best line", "Steps: the best count after every pair."
    span = (0.0, float(max(k, 10)) + 1.0, 0.0, 1.1 * n)
    counts = plane("agree", marks, title=title, x="pairs", y="rows", box=span, alt=alt)
    objective = float(found.out.mean())
    panels = [line_panel(data, found, box), counts]
    return Frame(k, objective, None, formula, numbers, {"panels": panels})


def common(data: LabData, found: Line) -> dict[str, Any]:
    """What both rules are judged by."""
    X, y = data.train
    plain = LinearRegression().fit(X, y)
    numbers: dict[str, Any] = {"slope of f": short(found.slope)}
    numbers["slope of least squares"] = short(float(plain.coef_[0]))
    if len(data.test[1]):
        X_test, y_test = data.test
        numbers["held-out median |y − f|"] = short(
            float(np.median(np.abs(y_test - found.at(X_test[:, 0]))))
        )
    return numbers


def line_panel(data: LabData, found: Line, box: Sequence[float]) -> Any:
    X, y = data.train
    x, ends = X[:, 0], np.array([box[0], box[1]])
    plain = LinearRegression().fit(X, y)
    f = found.at(ends)
    marks = [
        band(ends, f - found.reach, f + found.reach, label="near enough"),
        line(ends, plain.predict(ends[:, None]), colour="quiet", dashed=True,
             label="least squares"),
        line(ends, f, label="f"),
    ]  # fmt: skip
    if found.out.any():
        far = x[found.out]
        marks.append(
            segments(far, found.at(far), far, y[found.out], colour="warn", width=1.2, label="|r|")
        )
        ring = np.ones(int(found.out.sum()), bool)
        marks.append(points(far, y[found.out], group="warn", ring=ring, label="too far"))
    return plane("data", marks, box=box)


def verdict(data: LabData, found: Line) -> str:
    """A sentence for the end."""
    numbers = common(data, found)
    words = (
        f"The slope is {number(found.slope)}, that of least squares "
        f"{number(numbers['slope of least squares'])}; {int(found.out.sum())} of "
        f"{len(found.out)} rows are too far off"
    )
    if "held-out median |y − f|" in numbers:
        half = number(numbers["held-out median |y − f|"])
        words += f". Half of the held-out rows are within {half}"
    return f"{words}."
