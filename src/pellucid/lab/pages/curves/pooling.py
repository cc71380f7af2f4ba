"""Isotonic regression: rows from left to right; whoever breaks the order is pooled."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from pellucid import IsotonicRegression
from pellucid.core.arrays.typing import Array
from pellucid.lab.drawing import braced, heard, number, quietly, short
from pellucid.lab.page import LabData
from pellucid.lab.pages.curves.parts import Shown
from pellucid.lab.scene import line, plane, points, segments
from pellucid.lab.trace import Frame

WAYS: dict[str, Any] = {"rising": True, "falling": False, "as the rows say": "auto"}
MOST = 60  # frames
SETTINGS = 'increasing={!r}, out_of_bounds="clip"'
CODE = """import warnings

from pellucid import IsotonicRegression

{fit}objective = float(((y - model.predict(X)) ** 2).mean())
"""


def steps(data: LabData, params: dict[str, Any], box: Sequence[float]) -> Shown:
    """The fit of the first place, of the first two, ...: what pooling from the left has made."""
    X, y = data.train
    asked = WAYS[params["way"]]
    make = IsotonicRegression(increasing=asked, out_of_bounds="clip")
    whole, warned = heard(lambda: make.fit(X, y))
    places = np.unique(X[:, 0])
    counts = np.unique(np.linspace(1, len(places), min(len(places), MOST)).round().astype(int))
    frames = [
        frame(data, whole.increasing_, places[:k], i, box) for i, k in enumerate(counts.tolist())
    ]
    last = frames[-1].numbers
    verdict = (
        f"{last['levels']} levels for {len(places)} places, the widest holds "
        f"{last['rows of the widest level']} rows; mean squared error {number(last['error'])}"
    )
    if frames[-1].held_out is not None:
        verdict += f", on the held-out rows {number(frames[-1].held_out)}"
    fit = f"model = IsotonicRegression({SETTINGS.format(asked)}).fit(X, y)\n"
    code = CODE.format(fit=quietly(fit, "which way is doubtful") if warned else fit)
    code = code if warned else code.replace("import warnings\n\n", "")
    words = ("The best curve that never turns", "mean squared error of the rows so far")
    return Shown(frames, whole, *words, f"{verdict}.", code)


def blocks(f: Array) -> list[int]:
    """Where the levels of f begin."""
    size = max(float(np.abs(f).max()), 1e-300)
    return [0, *(np.flatnonzero(np.abs(np.diff(f)) > 1e-10 * size) + 1).tolist()]


def frame(data: LabData, rising: bool, places: Array, step: int, box: Sequence[float]) -> Frame:
    X, y = data.train
    x = X[:, 0]
    seen = x <= places[-1]
    order = np.argsort(x[seen], kind="stable")
    xs, ys = x[seen][order], y[seen][order]
    model = IsotonicRegression(increasing=rising, out_of_bounds="clip").fit(xs[:, None], ys)
    f = model.predict(xs[:, None])
    starts = blocks(f)
    inside = np.arange(len(xs)) >= starts[-1]
    value = float(f[-1])
    error = float(((ys - f) ** 2).mean())
    X_test, y_test = data.test
    held = float(((y_test - model.predict(X_test)) ** 2).mean()) if len(y_test) else None
    sizes = np.diff([*starts, len(xs)])
    numbers: dict[str, Any] = {"rows so far": len(xs), "levels": len(starts)}
    numbers |= {"rows of the last level": int(sizes[-1]), "its value": short(value)}
    numbers |= {"rows of the widest level": int(sizes.max()), "error": short(error)}
    marks = [
        *stairs(xs, f, box),
        segments(xs, ys, xs, f, colour="quiet", width=0.8, label="residuals"),
        points(xs[inside], ys[inside], ring=np.ones(int(inside.sum()), bool), group="warn",
               label="rows of the last level"),
    ]  # fmt: skip
    panels = [plane("data", marks), sums_panel(data, ys, f)]
    formula = told(xs, ys, f, places, rising)
    return Frame(step, error, None, formula, numbers, {"panels": panels}, held)


def stairs(xs: Array, f: Array, box: Sequence[float]) -> list[Any]:
    """The curve so far: its levels joined by straight lines, flat to the left of the first row."""
    return [line(np.r_[box[0], xs], np.r_[f[0], f], width=2.4, label="f")]


def told(xs: Array, ys: Array, f: Array, places: Array, rising: bool) -> str:
    """What the last place did to the levels before it."""
    new = xs == places[-1]
    mine, m = float(ys[new].mean()), int(new.sum())
    said = f"x = {number(places[-1])}: y = {number(mine)}"
    if m > 1:
        said = f"x = {number(places[-1])}: the mean of its {m} rows is {number(mine)}"
    if len(places) == 1:
        return f"{said}, the first level"
    old = ~new
    before = IsotonicRegression(increasing=rising).fit(xs[old][:, None], ys[old])
    g = before.predict(xs[old][:, None])
    starts = blocks(g)
    level, size = float(g[-1]), int(old.sum()) - starts[-1]
    inside = np.arange(len(xs)) >= blocks(f)[-1]
    value, n = float(f[-1]), int(inside.sum())
    sign = "≥" if rising else "≤"
    if n == m:
        return f"{said} {sign} {number(level)}, the level before it: a level of its own"
    wrong = "≤" if rising else "≥"
    if n == m + size:
        return (
            f"{said} {wrong} {number(level)}, so pool: ({size}·{braced(level)} + "
            f"{m}·{braced(mine)}) / {n} = {number(value)}"
        )
    joined = sum(start >= blocks(f)[-1] for start in starts)
    return (
        f"{said} {wrong} {number(level)}, so pool, and again: {joined} levels and this one become "
        f"one, the mean of {n} rows = {number(value)}"
    )


def sums_panel(data: LabData, ys: Array, f: Array) -> Any:
    """Sums of y and of f from the left: f is the slope of the tightest string below them."""
    n = len(data.train[1])
    at = np.arange(len(ys) + 1)
    marks = [
        line(at, np.r_[0.0, np.cumsum(f)], label="Σ f"),
        points(at, np.r_[0.0, np.cumsum(ys)], group="quiet", size=0.8, label="Σ y"),
    ]
    title = "Sums from the left: a string pulled tight"
    alt = "Running sums of y as points; those of f as a string pulled tight against them."
    whole = np.r_[0.0, np.cumsum(data.train[1][np.argsort(data.train[0][:, 0], kind="stable")])]
    air = 0.06 * max(float(np.ptp(whole)), 1e-12)
    span = (0.0, float(n), float(whole.min()) - air, float(whole.max()) + air)
    return plane("sums", marks, title=title, x="rows", y="sum", box=span, alt=alt)
