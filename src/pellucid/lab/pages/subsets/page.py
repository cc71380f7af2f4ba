"""Columns that enter or leave one at a time, while a criterion falls.

What breaks it: a column that stands for two others, and many columns that mean nothing.
"""

from typing import Any, NamedTuple

import numpy as np

from pellucid import LinearRegression, StepwiseRegression
from pellucid.core.arrays.typing import Array
from pellucid.lab.controls import choice, counter, slider
from pellucid.lab.drawing import literals, number, short, sub
from pellucid.lab.page import LabData, given, make_page, read_presets
from pellucid.lab.scene import Panel, bars, line, plane, points, rule
from pellucid.lab.trace import Frame, Trace

WORLDS = ("three columns matter", "one stands for two", "nothing matters")
DIRECTIONS = ("forward", "backward", "both")
NEW_ROWS = 400
CODE = """import numpy as np
from pellucid import StepwiseRegression

{rows}
model = StepwiseRegression(direction={direction!r}, criterion={criterion!r}).fit(X, y)
objective = float(model.steps_[-1].value)
"""


class Rows(NamedTuple):
    """Rows to fit, new rows to judge by, and the weights that made both."""

    X: Array
    y: Array
    X_new: Array
    y_new: Array
    truth: Array


def made(params: dict[str, Any], seed: int) -> Rows:
    """Rows of the chosen world."""
    rng = np.random.default_rng([seed, 17])
    n, p = params["rows"], params["columns"]
    X = rng.normal(size=(n + NEW_ROWS, p))
    w = np.zeros(p)
    if params["world"] == WORLDS[0]:
        w[[0, 2, 3]] = 1.0, -0.7, 0.5
    if params["world"] == WORLDS[1]:
        w[[0, 1]] = 1.0, 1.0
        X[:, 2] = X[:, 0] + X[:, 1] + 0.6 * rng.normal(size=len(X))
    y = X @ w + params["noise"] * rng.normal(size=len(X))
    X, y = X.round(2) + 0.0, y.round(2) + 0.0
    return Rows(X[:n], y[:n], X[n:], y[n:], w)


def run(data: LabData | None, params: dict[str, Any], seed: int) -> Trace:
    """The start, then one frame for every column that enters or leaves."""
    rows = made(params, seed)
    direction, criterion = params["direction"], params["criterion"].lower()
    model = StepwiseRegression(direction=direction, criterion=criterion).fit(rows.X, rows.y)
    frames: list[Frame] = []
    for k, step in enumerate(model.steps_):
        later = model.steps_[k + 1] if k + 1 < len(model.steps_) else None
        frames.append(frame(rows, step, later, frames, params))
    if len(frames) == 1:  # the start is the end
        frames.append(frame(rows, model.steps_[0], None, frames, params))
    name = params["criterion"]
    code = CODE.format(rows=literals(rows, "X", "y"), direction=direction, criterion=criterion)
    words = ("Which columns?", f"{name} of the columns chosen so far", verdict(rows, frames))
    shown = {"kind": "none", "panels": []}
    card = model.card().to_dict()
    return Trace("StepwiseRegression", params, shown, card, tuple(frames), *words, code)


def verdict(rows: Rows, frames: list[Frame]) -> str:
    """A sentence for the end."""
    last = frames[-1].numbers
    real, wrong = last["chosen that matter"], last["chosen that do not"]
    missed = int((rows.truth != 0).sum()) - real
    words = f"Columns chosen: {real + wrong}, of which {real} matter"
    words += f"; missed: {missed}. " if missed else ". "
    errors = [f.numbers["error on new rows"] for f in frames]
    words += f"The error on new rows is {number(errors[-1])}"
    if min(errors) < 0.99 * errors[-1]:
        words += f"; it was {number(min(errors))} on the way"
    return f"{words}."


def criterion_of(rss: float, n: int, k: int, name: str) -> float:
    """AIC or BIC of k columns and an intercept."""
    price = 2.0 if name == "AIC" else float(np.log(n))
    return float(n * np.log(rss / n) + price * (k + 1))


def fitted(rows: Rows, columns: list[int]) -> tuple[Any, float]:
    """Least squares on some columns, and its sum of squares."""
    if not columns:
        return None, float(((rows.y - rows.y.mean()) ** 2).sum())
    model = LinearRegression().fit(rows.X[:, columns], rows.y)
    return model, float(((rows.y - model.predict(rows.X[:, columns])) ** 2).sum())


def frame(rows: Rows, step: Any, later: Any, before: list[Frame], params: dict[str, Any]) -> Frame:
    n, name = len(rows.X), params["criterion"]
    columns = sorted(int(c) for c in step.support)
    model, rss = fitted(rows, columns)
    value, k = criterion_of(rss, n, len(columns), name), len(columns)
    price = "2" if name == "AIC" else "ln(n)"
    said = f"{name} = n ln(RSS / n) + {price} (k + 1)"
    number_of = f"{n} · ln({number(rss)} / {n})"
    paid = number(2.0 if name == "AIC" else float(np.log(n)))
    formula = f"{said} = {number_of} + {paid} · {k + 1} = {number(value, 4)}"
    if step.feature is not None and before:
        move = "enters" if step.move == "add" else "leaves"
        formula = f"x{sub(int(step.feature) + 1)} {move}: {formula}"
    else:
        formula = f"{'no column' if not columns else f'{k} columns'}: {formula}"
    predicted = rows.y.mean() if model is None else model.predict(rows.X_new[:, columns])
    new = float(((rows.y_new - predicted) ** 2).mean())
    matter = rows.truth != 0
    numbers: dict[str, Any] = {"columns chosen": k, name: short(value, 5)}
    numbers["chosen that matter"] = int(matter[columns].sum())
    numbers["chosen that do not"] = int((~matter[columns]).sum())
    numbers["training error"], numbers["error on new rows"] = short(rss / n), short(new)
    panels = [
        moves_panel(rows, columns, value, later, params),
        weights_panel(rows, columns, model),
        errors_panel([*before, None], numbers),
    ]
    return Frame(len(before), value, None, formula, numbers, {"panels": panels})


def moves_panel(
    rows: Rows, columns: list[int], value: float, later: Any, params: dict[str, Any]
) -> Panel:
    """What the criterion would be with each column in, or out if it is in."""
    n, p = rows.X.shape
    name, direction = params["criterion"], params["direction"]
    at, gains, colours = [], [], []
    for j in range(p):
        inside = j in columns
        if (inside and direction == "forward") or (not inside and direction == "backward"):
            continue
        chosen = [c for c in columns if c != j] if inside else sorted([*columns, j])
        at.append(j + 1)
        gains.append(criterion_of(fitted(rows, chosen)[1], n, len(chosen), name) - value)
        best = later is not None and later.feature is not None and int(later.feature) == j
        colours.append("warn" if best else "accent" if not inside else "quiet")
    marks: list[Any] = [rule(y=0.0, dashed=False)]
    if at:
        marks.insert(0, bars(at, gains, colour=colours, width=0.7, label="change (red: taken)"))
    title = f"{name}, if a column came in or went out: below 0 is better"
    alt = "A bar per column: how the criterion would change."
    return plane("moves", marks, title=title, x="column", y="change", alt=alt)


def weights_panel(rows: Rows, columns: list[int], model: Any) -> Panel:
    p = rows.X.shape[1]
    w = np.zeros(p)
    if model is not None:
        w[columns] = np.ravel(model.coef_)
    at = np.arange(1, p + 1)
    marks = [
        bars(at, w, width=0.7, label="w"),
        points(at, rows.truth, group="warn", size=0.9, label="true weights"),
    ]
    top = 1.25 * max(1.0, float(np.abs(rows.truth).max()))
    box = (0.4, p + 0.6, -top, top)
    alt = "A bar per column for its weight; points for the true weights."
    return plane("weights", marks, title="Weights", x="column", y="w", box=box, alt=alt)


def errors_panel(frames: list[Any], numbers: dict[str, Any]) -> Panel:
    told = [f.numbers for f in frames[:-1]] + [numbers]
    at = np.arange(len(told))
    marks = [
        line(at, [t["training error"] for t in told], label="training rows"),
        points(at[-1:], [told[-1]["training error"]], group="accent"),
        line(at, [t["error on new rows"] for t in told], colour=1, dashed=True, label="new rows"),
        points(at[-1:], [told[-1]["error on new rows"]], group=1),
    ]
    alt = "Mean squared error on training rows and on new rows after every move."
    return plane("errors", marks, title="Mean squared error", x="moves", y="error", alt=alt)


SUMMARY = "One column in or out at a time, as long as the criterion falls."
CONTROLS = (
    choice("method", "Method", ("stepwise",)),
    choice("world", "World", WORLDS),
    choice("direction", "Direction", DIRECTIONS),
    choice("criterion", "Criterion", ("AIC", "BIC")),
    counter("columns", "Columns", 8, 4, 30),
    counter("rows", "Rows", 60, 35, 200, 5),
    slider("noise", "Noise", 1.0, 0.1, 3.0, 0.1),
)
PRESETS = read_presets(
    """
Forward | Eight columns, three of which matter. From none on, the best one enters.
Backward | The same rows, from all eight columns down.
! A greedy first step | One column stands for two others. It enters first and never leaves.
! Chosen noise | Thirty columns that mean nothing. The best of thirty looks like something.
In and out | The stand-in enters first here too, but it may leave again.
A dearer column | Thirty columns of noise, more rows, and BIC: a column pays ln(n) instead of 2.
""",
    given(),
    given(direction="backward"),
    given(world=WORLDS[1], noise=0.5),
    given(world=WORLDS[2], columns=30, rows=50),
    given(world=WORLDS[1], noise=0.5, direction="both"),
    given(world=WORLDS[2], columns=30, rows=200, criterion="BIC"),
)
PAGE = make_page("subsets", "none", run, SUMMARY, CONTROLS, PRESETS)
