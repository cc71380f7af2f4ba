"""Support vector regression: SMO moves two multipliers a step until the tube is where it ends."""

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from pellucid import SVR, LinearRegression
from pellucid.core.arrays.typing import Array
from pellucid.kernel import GaussianKernel, LinearKernel
from pellucid.lab.drawing import number, short
from pellucid.lab.page import LabData
from pellucid.lab.pages.curves.parts import Shown
from pellucid.lab.scene import band, bars, line, plane, points, rule, segments
from pellucid.lab.trace import Frame

MOST_FRAMES, MOST_STEPS = 24, 3000
COLOURS = {"inside_tube": "quiet", "on_tube": "accent", "outside_tube": "warn"}
CODE = """from pellucid import SVR
from pellucid.kernel import {}

model = SVR(kernel={!r}, C={!r}, epsilon={!r}, max_iter={!r}).fit(X, y)
objective = float(model.primal_objective_)  # ½|w|² + C Σ slack
"""


def steps(data: LabData, params: dict[str, Any], box: Sequence[float]) -> Shown:
    """From all multipliers at 0 to the optimum, more of the early steps than of the late ones."""
    X, y = data.train
    kernel = LinearKernel() if params["kernel"] == "linear" else GaussianKernel(params["sigma"])
    C, epsilon = params["C"], params["epsilon"]

    def fit(most: int) -> Any:
        with warnings.catch_warnings(action="ignore"):  # stopped on purpose
            return SVR(kernel=kernel, C=C, epsilon=epsilon, max_iter=most).fit(X, y)

    last = fit(MOST_STEPS)
    n = max(int(last.n_iter_), 1)
    counts = np.unique(np.rint(np.geomspace(1, n, min(n, MOST_FRAMES))).astype(int)).tolist()
    models = [fit(0), *(fit(k) for k in counts[:-1]), last]
    top = max(float(np.abs(multipliers(m, len(y))).max()) for m in models)
    frames = []
    for i, (k, model) in enumerate(zip([0, *counts], models, strict=True)):
        before = multipliers(models[i - 1], len(y)) if i else None
        frames.append(frame(data, model, before, (i, k), (C, top), box))
    end = frames[-1].numbers
    verdict = (
        f"{end['support vectors']} of {len(y)} rows hold the curve, {end['outside the tube']} of "
        f"them from outside; the others could move inside the tube and nothing would change."
    )
    if not end["support vectors"]:
        verdict = "Every row fits into the tube round a flat line, so nothing is learned."
    if end["support vectors"] > 0.9 * len(y):
        verdict = f"{end['support vectors']} of {len(y)} rows are support vectors: none is free."
    code = CODE.format(type(kernel).__name__, kernel, C, epsilon, MOST_STEPS)
    words = ("A tube of free errors", "½|w|² + C Σ slack", verdict, code)
    return Shown(frames, last, *words)


def multipliers(model: SVR, n: int) -> Any:
    """b_i of all rows, 0 where a row does not hold the curve."""
    found = np.zeros(n)
    found[model.support_] = model.dual_coef_[0]
    return found


def frame(
    data: LabData, model: SVR, before: Any, at: Any, scale: Any, box: Sequence[float]
) -> Frame:
    X, y = data.train
    C, top = scale
    b, epsilon, f = multipliers(model, len(y)), float(model.epsilon_), model.predict(X)
    slack, price = model.slack_, C * float(model.slack_.sum())
    half = max(float(model.primal_objective_) - price, 0.0)
    formula = (
        f"P = ½|w|² + C Σξ = {number(half)} + {number(C)}·{number(slack.sum())} = "
        f"{number(model.primal_objective_)}"
    )
    words = f"every multiplier is 0, so f is flat; {formula}"
    if before is not None:
        moved = np.flatnonzero(np.abs(b - before) > 1e-12)
        some = moved[np.argsort(-np.abs(b - before)[moved])][:2]
        pair = ", ".join(f"b[{i + 1}]: {number(before[i])} → {number(b[i])}" for i in some)
        words = f"step {at[1]}: {pair or 'no change'}; {formula}"
    held, (X_test, y_test) = None, data.test
    if len(y_test):
        far = np.maximum(0.0, np.abs(y_test - model.predict(X_test)) - epsilon)
        held = half + C * len(y) * float(far.mean())
    numbers = {
        "support vectors": int((b != 0).sum()),
        "outside the tube": int(beyond(y, f, epsilon).sum()),
        "inside, free": int((b == 0).sum()),
        "Σ slack": short(float(slack.sum())),
        "mean |y − f|": short(float(np.abs(y - f).mean())),
    }
    if isinstance(model.kernel, LinearKernel):
        ols = LinearRegression().fit(X, y)
        numbers["slope of f"] = short(float(np.ravel(model.coef_)[0]))
        numbers["slope of least squares"] = short(float(ols.coef_[0]))
    panels = [curve_panel(data, model, b, box), weight_panel(model, b, C, top)]
    panels.append(loss_panel(y - f, epsilon, b))
    gap = float(model.duality_gap_)
    return Frame(
        at[0], float(model.primal_objective_), gap, words, numbers, {"panels": panels}, held
    )


def beyond(y: Array, f: Array, epsilon: float) -> Any:
    """Rows that are outside the tube by more than SMO's tolerance."""
    return np.abs(y - f) > epsilon + 1e-3 * max(float(np.ptp(y)), 1e-300)


def curve_panel(data: LabData, model: SVR, b: Any, box: Sequence[float]) -> Any:
    """The curve, the tube, the rows that hold it, and what is beyond the tube."""
    X, y = data.train
    x, epsilon = X[:, 0], float(model.epsilon_)
    at = np.linspace(box[0], box[1], 90)
    f, here = model.predict(at[:, None]), model.predict(X)
    edge = here + np.sign(y - here) * epsilon
    out = beyond(y, here, epsilon)
    marks = [band(at, f - epsilon, f + epsilon, label="tube ± ε"), line(at, f, label="f")]
    if isinstance(model.kernel, LinearKernel):
        straight = LinearRegression().fit(X, y).predict(at[:, None])
        marks.append(line(at, straight, colour="quiet", dashed=True, label="least squares"))
    if out.any():
        marks.append(
            segments(x[out], edge[out], x[out], y[out], colour="warn", width=1.6, label="slack ξ")
        )
    held = b != 0
    if held.any():
        ring = np.ones(int(held.sum()), bool)
        marks.append(points(x[held], y[held], group="warn", ring=ring, label="support vectors"))
    return plane("data", marks, box=box)


def weight_panel(model: SVR, b: Any, C: float, top: float) -> Any:
    colours = [COLOURS[kind] for kind in model.categories_.tolist()]
    marks = [bars(np.arange(1, len(b) + 1), b, colour=colours, label="b")]
    if 1.3 * top >= C:
        marks += [rule(y=C, colour="warn", label=f"C = {number(C)}"), rule(y=-C, colour="warn")]
    high = 1.2 * top if top > 0 else C
    box, alt = (0, len(b) + 1, -high, high), "One bar per training row; rows in the tube have 0."
    title, x = "Multipliers: how hard a row pulls", "training rows, by x"
    return plane("multipliers", marks, title=title, x=x, y="b", box=box, alt=alt)


def loss_panel(r: Array, epsilon: float, b: Any) -> Any:
    """max(0, |y - f| - epsilon) and where the rows are on it."""
    far = 1.1 * max(float(np.abs(r).max()), 1.5 * epsilon, 1e-12)
    x = np.array([-far, -epsilon, epsilon, far])
    paid = np.maximum(0.0, np.abs(r) - epsilon)
    marks = [
        line(x, np.maximum(0.0, np.abs(x) - epsilon), colour="quiet"),
        points(r, paid, group=np.where(b != 0, "warn", "quiet").tolist(), size=0.8),
    ]
    box = (-far, far, -0.06 * far, 1.05 * max(far - epsilon, 0.2 * far))
    title, alt = "Slack ξ = max(0, |y − f| − ε)", "Rows on the loss; inside the tube it is 0."
    return plane("loss", marks, title=title, x="y − f", y="slack", box=box, alt=alt)
