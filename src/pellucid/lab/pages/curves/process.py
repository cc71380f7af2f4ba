"""A Gaussian process: the band of its curves after one row, two, three, ..., then its width."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from sklearn.gaussian_process.kernels import RBF

from pellucid import GaussianProcessRegressor
from pellucid.core.arrays.typing import Array
from pellucid.lab.drawing import braced, number, short
from pellucid.lab.page import LabData
from pellucid.lab.pages.curves.parts import Shown
from pellucid.lab.scene import COARSE, band, line, plane, points, rule, segments
from pellucid.lab.trace import Frame

NARROW, WIDE = 0.05, 20.0  # widths that are tried
BATCHES = 9
HELD = "held-out rows in the band"
CODE = """from pellucid import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF

kernel = RBF({width!r}, ({narrow!r}, {wide!r}))
model = GaussianProcessRegressor(kernel, alpha={noise!r}, optimizer={optimizer!r}).fit(X, y)
objective = float(-model.log_marginal_likelihood_value_)  # minus the log evidence
"""


def kernel_of(width: float) -> Any:
    return RBF(width, (NARROW, WIDE))


def steps(data: LabData, params: dict[str, Any], box: Sequence[float]) -> Shown:
    """The prior, the rows one after the other, and where it is asked the search for the width."""
    X, y = data.train
    width, noise = params["ell"], params["sigma_y"] ** 2
    order = np.random.default_rng(3).permutation(len(y))
    counts = np.unique(np.r_[1, 2, 3, np.geomspace(1, len(y), BATCHES).round()]).astype(int)
    counts = counts[counts <= len(y)]

    def fit(k: int, at: float) -> Any:
        model = GaussianProcessRegressor(kernel_of(at), alpha=noise, optimizer=None)
        return model.fit(X[order[:k]], y[order[:k]])

    prior = GaussianProcessRegressor(kernel_of(width), alpha=noise, optimizer=None)
    frames = [begin(data, prior, params, box)]
    for k in counts.tolist():
        model = fit(k, width)
        frames.append(frame(data, model, order[:k], params, len(frames), box))
    optimizer = None
    if params["learn"]:
        optimizer = "fmin_l_bfgs_b"
        search = GaussianProcessRegressor(kernel_of(width), alpha=noise).fit(X, y)
        for at in widths_of(search):
            model = fit(len(y), at)
            frames.append(frame(data, model, order, params, len(frames), box))
        model = search
    last = frames[-1].numbers
    verdict = f"With the width {number(last['width ℓ'])} the log evidence is " + (
        f"{number(last['log evidence'])}"
    )
    if HELD in last:
        verdict += f", and the band of new rows holds {last[HELD]} held-out rows"
    said = {"width": width, "noise": noise, "narrow": NARROW, "wide": WIDE, "optimizer": optimizer}
    words = ("A band of curves", "minus the log evidence of the rows so far", f"{verdict}.")
    return Shown(frames, model, *words, CODE.format(**said))


def widths_of(search: Any) -> list[float]:
    """The widths of the search, without the start and those that hardly move; the last as found."""
    found = [float(np.exp(row["theta"][0])) for row in search.history_]
    moved = [b for a, b in pairwise(found) if abs(np.log(b / a)) > 0.01]
    end = float(search.kernel_.length_scale)
    return [*(moved[:-1] if moved and abs(np.log(moved[-1] / end)) < 0.01 else moved), end]


def begin(data: LabData, model: Any, params: dict[str, Any], box: Sequence[float]) -> Frame:
    """What is believed before any row."""
    width = params["ell"]
    formula = (
        f"f ~ N(0, K), k(x, z) = exp(−(x − z)² / (2 ℓ²)), ℓ = {number(width)}: before any row the "
        f"mean is 0 and the standard deviation 1 everywhere"
    )
    numbers = {"rows so far": 0, "width ℓ": short(width), "noise of a row": params["sigma_y"]}
    panels = [plane("data", curve_marks(model, box, 0.0)), likeness(width, box)]
    return Frame(0, None, None, formula, numbers, {"panels": panels})


def curve_marks(model: Any, box: Sequence[float], noise: float) -> list[Any]:
    """The mean, the band of the curve, and the wider one of new rows, which have noise."""
    at = np.linspace(box[0], box[1], 60 if COARSE.get() else 120)
    mean, sd = model.predict(at[:, None], return_std=True)

    def strip(s: Any, **more: Any) -> Any:
        low, high = (np.clip(mean + k * s, box[2], box[3]) for k in (-2, 2))
        return band(at, low, high, **more)

    rows = strip(np.sqrt(sd**2 + noise), colour="quiet", label="new rows ± 2 sd")
    return [*([rows] if noise else []), strip(sd, label="f ± 2 sd"), line(at, mean, label="mean")]


def likeness(width: float, box: Sequence[float]) -> Any:
    """How alike f is at two places."""
    d = np.linspace(0.0, box[1] - box[0], 90)
    marks = [
        line(d, np.exp(-(d**2) / (2 * width**2)), label="k"),
        rule(x=width, colour="warn", label=f"ℓ = {number(width)}"),
    ]
    title, alt = "Likeness of f at two places", "The kernel against the distance of two places."
    span = (0.0, float(d[-1]), 0.0, 1.1)
    return plane("kernel", marks, title=title, x="distance", y="k", box=span, alt=alt)


def frame(
    data: LabData, model: Any, rows: Any, params: dict[str, Any], step: int, box: Sequence[float]
) -> Frame:
    X, y = data.train
    k, width = len(rows), float(model.kernel_.length_scale)
    evidence = float(model.log_marginal_likelihood_value_)
    x1, y1 = float(X[rows[0], 0]), float(y[rows[0]])
    place = beside(x1, width, box) if k == 1 else doubtful(model, data.X[:, 0])
    mean, sd = (tidy(v[0]) for v in model.predict([[place]], return_std=True))
    if k == 1:
        like = float(model.kernel_([[place]], [[x1]])[0, 0])
        whole = 1 + float(model.alpha)
        formula = (
            f"one row: mean(x) = k(x, x₁) / (1 + σ²) · y₁; at x = {number(place)}: {number(like)} /"
            f" {number(whole)} · {braced(y1)} = {number(mean)}, sd = {number(sd)}"
        )
    else:
        formula = (
            f"{k} rows: mean(x) = Σ a_i k(x, x_i), a = (K + σ² I)⁻¹ y; at x = {number(place)}, the "
            f"least certain: {number(mean)} ± 2 · {number(sd)}; ln p(y) = {number(evidence)}"
        )
    numbers: dict[str, Any] = {"rows so far": k, "width ℓ": short(width)}
    numbers |= {"sd there": sd, "log evidence": short(evidence)}
    at_rows = model.predict(X[rows])
    numbers["mean |y − mean|"] = short(float(np.abs(y[rows] - at_rows).mean()))
    X_test, y_test = data.test
    if len(y_test):
        f, s = model.predict(X_test, return_std=True)
        spread = np.sqrt(s**2 + float(model.alpha))
        inside = int((np.abs(y_test - f) <= 2 * spread).sum())
        numbers[HELD] = f"{inside} of {len(y_test)}"
        numbers["held-out mean |y − mean|"] = short(float(np.abs(y_test - f).mean()))
    ring = np.ones(k, bool)
    marks = [
        *curve_marks(model, box, float(model.alpha)),
        segments([place], [mean - 2 * sd], [place], [mean + 2 * sd], colour="warn", width=2.0,
                 label="± 2 sd there"),
        points(X[rows, 0], y[rows], group="warn", ring=ring, label="rows so far"),
    ]  # fmt: skip
    panels = [plane("data", marks), likeness(width, box), evidence_panel(model, width)]
    return Frame(step, -evidence, None, formula, numbers, {"panels": panels})


def doubtful(model: Any, x: Array) -> float:
    """The place from the first row to the last where the curve is least certain."""
    at = np.linspace(float(x.min()), float(x.max()), 121)
    return float(at[int(model.predict(at[:, None], return_std=True)[1].argmax())])


def beside(x: float, width: float, box: Sequence[float]) -> float:
    """One width from x, inside the picture where there is room."""
    return x + width if x + width <= box[1] else x - width


def tidy(value: float) -> float:
    """Three figures, and 0 for what is no more than rounding."""
    return short(float(value), 3) if abs(value) > 1e-9 else 0.0


def evidence_panel(model: Any, width: float) -> Any:
    """The log evidence of other widths, for the same rows."""
    tried = np.geomspace(NARROW, WIDE, 20 if COARSE.get() else 40)
    found: Array = np.array([model.log_marginal_likelihood([np.log(w)]) for w in tried])
    low = max(float(found.max()) - 60.0, float(found.min()))  # what is worse is not drawn
    shown = np.where(found >= low, found, np.nan)
    now = float(model.log_marginal_likelihood([np.log(width)]))
    marks = [
        line(tried, shown, colour=1, label="ln p(y)"),
        points([width], [max(now, low)], group="warn", size=1.5, label="now"),
    ]
    title, alt = "Evidence of every width", "The log evidence against the width of the kernel."
    look: dict[str, Any] = {"x": "width ℓ", "y": "ln p(y)", "log_x": True}
    return plane("evidence", marks, title=title, alt=alt, **look)
