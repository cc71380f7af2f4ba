"""Split conformal prediction: residuals of rows that were kept aside, then new rows."""

from collections.abc import Sequence
from copy import copy
from typing import Any

import numpy as np

from pellucid import ConformalRegressor, KNeighborsRegressor, LinearRegression
from pellucid.core.arrays.typing import Array
from pellucid.core.runtime.random import generator
from pellucid.evaluation.conformal.conformal_scores import rank_of, split_rows
from pellucid.lab.drawing import heard, number, quietly, short
from pellucid.lab.page import LabData
from pellucid.lab.pages.curves.parts import Shown
from pellucid.lab.scene import band, bars, line, plane, points, rule, segments
from pellucid.lab.trace import Frame

LEARNERS = {
    "a line": ("LinearRegression()", LinearRegression()),
    "5 nearest neighbours": ("KNeighborsRegressor(5)", KNeighborsRegressor(5)),
}
WIDTHS = {"the same everywhere": "split", "as wide as the noise": "normalised"}
KEPT = 0.5  # of the rows that are not held out
BATCHES = 10
CODE = """import warnings

from pellucid import ConformalRegressor, KNeighborsRegressor, LinearRegression

model = ConformalRegressor(
    {learner}, method={method!r}, confidence={c!r}, calibration_size={kept!r}, random_state=0
).fit(X, y)
{ask}objective = float((limits[:, 1] - limits[:, 0]).mean())
"""


def steps(data: LabData, params: dict[str, Any], box: Sequence[float]) -> Shown:
    """The curve, the residuals of the rows kept aside, then the rows held out."""
    X, y = data.train
    if len(y) < 8:
        raise ValueError(f"intervals need 8 rows or more that are not held out, got {len(y)}")
    words, learner = LEARNERS[params["learner"]]
    method, c = WIDTHS[params["width"]], params["confidence"]
    make = ConformalRegressor(
        learner, method=method, confidence=c, calibration_size=KEPT, random_state=0
    )
    model = make.fit(X, y)
    kept = split_rows(len(y), KEPT, generator(0), 2 if method == "normalised" else 1)[1]
    n = len(kept)
    counts = np.unique(np.linspace(1, n, min(n, BATCHES)).astype(int)).tolist()
    frames = [begin(data, model, kept, box)]
    frames += [
        calibrated(data, model, kept, m, c, box, len(frames) + i) for i, m in enumerate(counts)
    ]
    q = frames[-1].objective
    X_new = data.test[0]
    order = np.random.default_rng(1).permutation(len(X_new))
    batches = np.unique(np.linspace(1, len(X_new), min(len(X_new), 8)).astype(int)).tolist()
    first = len(frames)
    frames += [fresh(data, model, order[:m], c, box, first + i) for i, m in enumerate(batches)]
    last = frames[-1].numbers
    verdict = f"{n} rows were kept aside, too few to promise {c:g}: the interval has no end."
    if q is not None:
        verdict = f"The intervals promise {c:g} and are {number(q)} wide on average"
        verdict += f"; they cover {number(last['coverage'])} of the new rows." if batches else "."
        chance = float(np.sqrt(c * (1 - c) * (1 / max(len(X_new), 1) + 1 / n)))
        if batches and last["coverage"] < c - 3 * chance:
            verdict += " So few can hardly be chance: the new rows seem to be of another kind."
    ask = "limits = model.predict_interval(X)\n"
    if q is None:
        ask = quietly(ask, "too few rows kept aside")
    code = CODE.format(learner=words, method=method, c=c, kept=KEPT, ask=ask)
    shown = ("An interval that covers", "mean width of the intervals", verdict, code)
    return Shown(frames, model, *shown)


def base_marks(model: ConformalRegressor, box: Sequence[float]) -> list[Any]:
    at = np.linspace(box[0], box[1], 90)
    return [line(at, model.predict(at[:, None]), label="f")]


def limits(model: ConformalRegressor, X: Array, m: int) -> Any:
    """The interval from the first m rows that were kept aside, without its warning."""
    part = copy(model)
    part.scores_ = model.scores_[:m]
    return heard(lambda: part.predict_interval(X))[0]


def interval_band(model: ConformalRegressor, m: int, box: Sequence[float]) -> list[Any]:
    at = np.linspace(box[0], box[1], 90)
    found = np.clip(limits(model, at[:, None], m), box[2], box[3])
    return [band(at, found[:, 0], found[:, 1], label="f ± q")]


def begin(data: LabData, model: ConformalRegressor, kept: Any, box: Sequence[float]) -> Frame:
    X, y = data.train
    aside = points(X[kept, 0], y[kept], group="accent", label="kept aside")
    n = len(y) - len(kept)
    formula = f"f is fitted to {n} rows; {len(kept)} rows are kept aside, f has not seen them"
    numbers = {"rows that fitted f": n, "kept aside": len(kept), "new rows": len(data.test[1])}
    panels = [plane("data", [*base_marks(model, box), aside]), score_panel(model, 0, 0.5)]
    return Frame(0, None, None, formula, numbers, {"panels": panels})


def score_panel(model: ConformalRegressor, m: int, c: float) -> Any:
    """The residuals so far, sorted; the one that is taken."""
    s = np.sort(model.scores_[:m])
    k = rank_of(m, c)
    marks = []
    if m:
        colours = ["warn" if i == k - 1 else "quiet" for i in range(m)]
        marks = [bars(np.arange(1, m + 1), s, colour=colours, width=0.8)]
        if k <= m:
            marks.append(rule(y=float(s[k - 1]), colour="warn", label="q"))
    box = (0, len(model.scores_) + 1, 0.0, 1.1 * max(float(model.scores_.max()), 1e-12))
    title, alt = "Residuals kept aside, sorted", "Sorted residuals; the k-th smallest is q."
    return plane("scores", marks, title=title, x="rank", y="|y − f|", box=box, alt=alt)


def calibrated(
    data: LabData,
    model: ConformalRegressor,
    kept: Any,
    m: int,
    c: float,
    box: Sequence[float],
    step: int,
) -> Frame:
    X, y = data.train
    k, rows = rank_of(m, c), kept[:m]
    f = model.predict(X[rows])
    marks = [
        *(interval_band(model, m, box) if k <= m else []),
        *base_marks(model, box),
        segments(X[rows, 0], f, X[rows, 0], y[rows], colour="warn", width=1.2, label="residuals"),
    ]
    size = "|y − f|" if model.method == "split" else "|y − f| / σ(x)"
    rank = f"n = {m} kept aside: k = ⌈(n + 1)·{number(c)}⌉ = {k}"
    width = None
    numbers = {"residuals": m, "k": k, "q": "∞"}
    formula = f"{rank}; k > n, so q = ∞: nothing can be promised yet"
    if k <= m:
        q = float(np.sort(model.scores_[:m])[k - 1])
        formula = f"{rank}; q = the k-th smallest {size} = {number(q)}"
        numbers["q"] = short(q)
        found = limits(model, X, m)
        width = float((found[:, 1] - found[:, 0]).mean())
        numbers["mean width"] = short(width)
    panels = [plane("data", marks), score_panel(model, m, c)]
    return Frame(step, width, None, formula, numbers, {"panels": panels})


def fresh(
    data: LabData, model: ConformalRegressor, rows: Any, c: float, box: Sequence[float], step: int
) -> Frame:
    """New rows: inside or outside."""
    X, y = data.test[0][rows], data.test[1][rows]
    found = limits(model, X, len(model.scores_))
    inside = (y >= found[:, 0]) & (y <= found[:, 1])
    every = limits(model, data.train[0], len(model.scores_))
    finite = bool(np.isfinite(every).all())
    width = float((every[:, 1] - every[:, 0]).mean()) if finite else None
    marks = [*interval_band(model, len(model.scores_), box), *base_marks(model, box)]
    for name, part, colour in (("covered", inside, 2), ("missed", ~inside, "warn")):
        if part.any():
            marks.append(points(X[part, 0], y[part], group=colour, size=1.1, label=name))
    n, hits = len(y), int(inside.sum())
    formula = (
        f"new rows: {hits} of {n} inside f(x) ± q, coverage = {hits}/{n} = {number(hits / n)}, "
        f"promised {number(c)}"
    )
    numbers: dict[str, Any] = {"new rows so far": n, "covered": hits, "coverage": short(hits / n)}
    half = X[:, 0] <= (data.X.min() + data.X.max()) / 2
    for name, part in (("left", half), ("right", ~half)):
        numbers[f"coverage {name} half"] = short(float(inside[part].mean())) if part.any() else "–"
    numbers["mean width"] = "∞" if width is None else short(width)
    numbers["mean score kept aside"] = short(float(model.scores_.mean()))
    panels = [plane("data", marks), score_panel(model, len(model.scores_), c)]
    return Frame(step, width, None, formula, numbers, {"panels": panels})
