"""A bound on the true error against the number of rows that measured it."""

from functools import partial
from typing import Any

import numpy as np

from pellucid.evaluation import proportion_interval, validation_bound, vc_bound
from pellucid.lab.drawing import heard, hushed, literals, number
from pellucid.lab.pages.judging.parts import ALL, LEARNERS, Judged, Rows, area_of, error, make
from pellucid.lab.scene import line, plane, points, rule
from pellucid.lab.trace import Frame

SIZES = np.unique(np.geomspace(10, 100_000, 25).round().astype(int))
VC = 3  # of lines in the plane
DRAW_LINES = ("logistic regression", "LDA")  # the nearest neighbour has no finite dimension
DELTA = 0.05


def steps(rows: Rows, params: dict[str, Any], seed: int) -> Judged:
    """One frame per number of rows held out."""
    learner, count = params["learner"], params["models"]
    X, y = rows.X, rows.y
    model, warned = heard(lambda: make(learner).fit(X[rows.train], y[rows.train]))
    train = error(model, X[rows.train], y[rows.train])
    test = error(model, X[rows.test], y[rows.test])
    promise = partial(validation_bound, test, n_models=count, delta=DELTA)
    bound = np.array([promise(int(n)).value for n in SIZES])
    growth = None
    if learner in DRAW_LINES:
        growth = np.array([vc_bound(train, int(n), VC, delta=DELTA).value for n in SIZES])
    frames, where = [], X[rows.test]
    wrong = model.predict(where) != y[rows.test]
    data = [
        area_of(model, rows),
        points(*where.T, group=y[rows.test], ring=wrong, faint=True, label="rows (open: held out)"),
    ]
    for i, n in enumerate(SIZES.tolist()):
        gap = float(bound[i] - test)
        exact = proportion_interval(test * n, n, method="wilson")
        sizes, label = SIZES[: i + 1], "held-out error + Hoeffding"
        marks = [line(sizes, np.minimum(bound[: i + 1], 1.5), colour=0, label=label)]
        if growth is not None:
            label = "training error + VC, lines"
            marks.append(line(sizes, np.minimum(growth[: i + 1], 1.5), colour=1, label=label))
        marks.append(points([n], [min(bound[i], 1.5)], group=0, size=1.2, label="this n"))
        panels = [plane("data", data), plane("bound", marks)]
        formula = (
            f"error ≤ {number(test)} + √(ln(N/δ) / (2 n)) = {number(test)} + √(ln({count}/{DELTA}) "
            f"/ (2 · {n})) = {number(test)} + {number(gap)} = {number(bound[i])}"
        )
        numbers = {"rows n": n, "bound": float(bound[i]), "says nothing": bool(bound[i] >= 1)}
        numbers |= {} if growth is None else {"VC bound": float(growth[i])}
        numbers["Wilson interval"] = f"{number(exact.low)} to {number(exact.high)}"
        frames.append(Frame(i, float(bound[i]), gap, formula, numbers, {"panels": panels}, None))
    limits = [
        rule(y=1.0, colour="warn", label="says nothing above 1"),
        rule(y=test, label="measured"),
    ]
    title, box = "What can be promised, against n", (8, 150_000, 0.0, 1.5)
    alt = "Bounds that fall with the rows."
    panel = plane("bound", limits, x="rows", y="error", log_x=True, box=box, title=title, alt=alt)
    enough = SIZES[int(np.argmax(bound - test <= 0.05))]
    verdict = (
        f"With the {len(rows.test)} rows held out here the promise is error ≤ "
        f"{number(promise(len(rows.test)).value)}; "
        f"about {enough} rows bring the gap below 0.05. Four times the rows halve the gap."
    )
    code = code_of(rows, learner, count, warned)
    return Judged(tuple(frames), [panel], model, "bound on the error", verdict, code)


def code_of(rows: Rows, learner: str, count: int, warned: str) -> str:
    return f"""import numpy as np
from pellucid import {LEARNERS[learner].split("(")[0]}
from pellucid.evaluation import validation_bound
{hushed(warned)}
{literals(rows, *ALL)}
model = {LEARNERS[learner]}.fit(X[train], y[train])
error = float(np.mean(model.predict(X[test]) != y[test]))
result = validation_bound(error, {SIZES[-1]}, n_models={count}, delta={DELTA})
objective = result.value
"""
