r"""Polynomials and splines, more flexible with every frame: bias, variance and held-out error.

Fifty training sets are drawn at the x of the training rows from a known truth; each frame fits all
of them. Their mean away from the truth is bias, their spread about the mean is variance.
"""

from functools import partial
from typing import Any

import numpy as np

from pellucid.core.arrays.typing import Rng
from pellucid.evaluation import SimulatedDraw, decompose_squared
from pellucid.lab.controls import choice, counter, slider
from pellucid.lab.drawing import heard, hushed, literal, number, told
from pellucid.lab.page import LabData, given, hold_out, make_page, read_presets
from pellucid.lab.pages.polynomials import parts as curves_of
from pellucid.lab.pages.polynomials.parts import METHODS, TRUTHS, Sweep, equation, fitted
from pellucid.lab.scene import line, plane, points, rule
from pellucid.lab.trace import Frame, Trace

SETS = 50  # training sets
GRID = 81  # places of a curve
PIPELINE = """from pellucid import LinearRegression
from pellucid.features import {}
from sklearn.pipeline import make_pipeline"""
FLOOR = 1e-5  # of bias and variance on a logarithmic axis


def run(data: LabData | None, params: dict[str, Any], seed: int) -> Trace:
    """One frame per degree, number of knots or degrees of freedom."""
    assert data is not None
    sweep = make_sweep(data, params, seed)
    values = curves_of.complexities(params["method"], params["most"], len(np.unique(sweep.x)))
    steps = [heard(partial(fit_step, sweep, params, value))[0] for value in values]
    box = data_box(data, sweep)
    top = max(float(step["parts"].total) for step in steps)
    frames = tuple(frame_of(sweep, params, steps, i, box) for i in range(len(steps)))
    word = METHODS[params["method"]]
    parts_box = (values[0] - 0.4, values[-1] + 0.4, FLOOR, 3 * max(top, 1.0))
    noise, title = (
        [rule(y=max(sweep.noise**2, FLOOR), label="noise")],
        "Bias², variance, total error",
    )
    alt, y = "Bias, variance and total error against flexibility.", "squared error"
    static = [
        data_panel(data, sweep, box),
        plane("parts", noise, x=word, y=y, title=title, box=parts_box, log_y=True, alt=alt),
    ]
    last = steps[-1]["model"]
    card = (last[-1] if hasattr(last, "steps") else last).card().to_dict()
    shown, code = told(data, "values", static), code_of(sweep, params["method"], values[-1])
    words = (
        f"Fits of a {params['method']}",
        "mean squared error",
        verdict(params, steps, frames),
        code,
    )
    return Trace(params["method"], params, shown, card, frames, *words)


def make_sweep(data: LabData, params: dict[str, Any], seed: int) -> Sweep:
    """The training rows, fifty more sets at the same x, and where the curves are drawn."""
    X, y = data.train
    x = np.asarray(X[:, 0], float)
    if len(np.unique(x)) < 4:
        found = len(np.unique(x))
        raise ValueError(f"the training rows have {found} different x: the page needs at least 4")
    truth, noise = TRUTHS[params["truth"]], params["noise"]
    draw = SimulatedDraw(lambda X: truth(X[:, 0]), x[:, None], noise)
    rng = np.random.default_rng([seed, 50])
    Y = np.column_stack([draw(rng)[1] for _ in range(SETS)])
    low, high = float(x.min()), float(x.max())
    room = params["beyond"] * (high - low)
    inside = np.linspace(low, high, GRID)
    shown = np.linspace(low - room, high + room, GRID + int(40 * params["beyond"]))
    X_test, y_test = data.test
    x_test, shown_y_test = np.asarray(X_test[:, 0], float), np.asarray(y_test, float)
    return Sweep(x, np.asarray(y, float), Y, truth, noise, inside, shown, x_test, shown_y_test)


def fit_step(sweep: Sweep, params: dict[str, Any], value: int) -> dict[str, Any]:
    """The reader's rows and all training sets at one flexibility."""
    model = fitted(params["method"], value, sweep.x[:, None], sweep.y)
    places = np.r_[sweep.inside, sweep.shown][:, None]
    every = curves_of.maker(params["method"], value, model)(
        sweep.x[:, None], sweep.Y, places
    )  # (places, B)
    inner, outer = every[: len(sweep.inside)], every[len(sweep.inside) :]
    truth = sweep.truth(sweep.inside)
    noisy = np.vstack([truth + sweep.noise, truth - sweep.noise])  # variance noise^2 exactly
    errors = [
        float(np.mean((y - model.predict(x[:, None])) ** 2)) if len(x) else None
        for x, y in ((sweep.x, sweep.y), (sweep.x_test, sweep.y_test))
    ]
    return {
        "value": value,
        "model": model,
        "curves": outer,
        "own": model.predict(sweep.shown[:, None]),
        "parts": decompose_squared(inner.T, truth=truth, y=noisy),
        "train": errors[0],
        "test": errors[1],
    }


def data_box(data: LabData, sweep: Sweep) -> tuple[float, float, float, float]:
    y = np.r_[np.asarray(data.y), sweep.truth(sweep.shown)]
    air = 0.35 * (np.ptp(y) or 1.0)
    edge = 0.03 * np.ptp(sweep.shown)
    left, right = min(sweep.shown[0], data.X.min()), max(sweep.shown[-1], data.X.max())
    return float(left - edge), float(right + edge), float(y.min() - air), float(y.max() + air)


def data_panel(data: LabData, sweep: Sweep, box: Any) -> Any:
    marks = [
        line(sweep.shown, sweep.truth(sweep.shown), colour=None, dashed=True, label="truth"),
        points(data.X[:, 0], data.y, faint=data.held_out, data=True, label="rows (open: held out)"),
    ]
    if sweep.shown[0] < sweep.inside[0]:
        marks += [rule(x=sweep.inside[0], label="no rows beyond"), rule(x=sweep.inside[-1])]
    title = "Data space: the fits of 50 training sets"
    alt = "Rows, truth, and the curves of fifty training sets."
    return plane("data", marks, title=title, x=data.names[0], y="y", box=box, alt=alt)


def frame_of(sweep: Sweep, params: dict[str, Any], steps: list[Any], i: int, box: Any) -> Frame:
    step = steps[i]
    parts, high = step["parts"], box[3] - box[2]
    low, top = box[2] - 0.3 * high, box[3] + 0.3 * high
    curves = np.clip(step["curves"], low, top).round(2)
    gap = np.full((1, curves.shape[1]), np.nan)
    x = np.tile(np.r_[sweep.shown.round(3), np.nan], curves.shape[1])
    y = np.clip(step["curves"].mean(axis=1), low, top)
    drawn = [
        line(x, np.vstack([curves, gap]).T.ravel(), colour="quiet", width=0.5),
        line(sweep.shown, y, colour=1, width=2.2, label="mean of 50 fits"),
        line(sweep.shown, np.clip(step["own"], low, top), width=2.2, label="fit to these rows"),
    ]
    at = [s["value"] for s in steps[: i + 1]]
    shown = {"bias²": ("bias2", 1), "variance": ("variance", 0), "total": ("total", None)}
    lines = []
    for name, (field, colour) in shown.items():
        heights = [max(float(getattr(s["parts"], field)), FLOOR) for s in steps[: i + 1]]
        lines += [
            line(at, heights, colour=colour, label=name),
            points(at[-1:], heights[-1:], group=colour, size=0.9),
        ]
    flexibility, edge = METHODS[params["method"]], step["curves"][-1]
    numbers = {flexibility: step["value"], "bias²": float(parts.bias2)}
    numbers |= {"variance": float(parts.variance), "total": float(parts.total)}
    numbers["spread at the right edge"] = float(edge.std())
    noise = number(parts.noise or 0.0)
    formula = (
        f"error {number(parts.total)} = bias² {number(parts.bias2)} + variance "
        f"{number(parts.variance)} + noise {noise};  {equation(params['method'], step)}"
    )
    state = {"panels": [plane("data", drawn), plane("parts", lines)]}
    return Frame(i, step["train"], None, formula, numbers, state, step["test"])


def verdict(params: dict[str, Any], steps: list[Any], frames: Any) -> str:
    totals = [float(s["parts"].total) for s in steps]
    best, word = int(np.argmin(totals)), METHODS[params["method"]]
    last = frames[-1]
    words = (
        f"The total error is least at {word} = {steps[best]['value']} ({number(totals[best])}); at "
        f"{word} = {steps[-1]['value']} it is {number(totals[-1])}."
    )
    if last.held_out is not None and last.held_out > 2 * max(last.objective, 1e-12):
        words += (
            f" On the rows at hand the training error {number(last.objective)} hides a "
            f"held-out error of {number(last.held_out)}."
        )
    return words


def code_of(sweep: Sweep, method: str, value: int) -> str:
    if method == "smoothing spline":
        imports, model = "from pellucid import SmoothingSpline", f"SmoothingSpline(df={value})"
    elif method == "polynomial":
        imports = PIPELINE.format("MinMaxScaler, PolynomialFeatures")
        model = (
            "make_pipeline(\n    MinMaxScaler(feature_range=(-1, 1)),\n"
            f"    PolynomialFeatures({value}),\n    LinearRegression(fit_intercept=False),\n)"
        )
    else:
        imports = PIPELINE.format("NaturalSplineBasis")
        model = f"make_pipeline(NaturalSplineBasis({value}), LinearRegression())"
    warned = heard(lambda: fitted(method, value, sweep.x[:, None], sweep.y))[1]
    return f"""import numpy as np
{imports}
{hushed(warned)}
X = {literal(sweep.x)}[:, None]
y = {literal(sweep.y)}
model = {model}.fit(X, y)
objective = float(np.mean((y - model.predict(X)) ** 2))
"""


def rows(truth: str, noise: float, n: int = 32) -> Any:
    """A preset's rows: the truth with noise, two decimals."""

    def make(rng: Rng) -> LabData:
        x = np.round(6.0 * rng.permutation(np.arange(n) + rng.uniform(0.0, 1.0, n)) / n, 2)
        y = np.round(TRUTHS[truth](x) + noise * rng.standard_normal(n), 2)
        held_out = hold_out(n, 0)
        held_out[np.argsort(x)[[0, 1, -2, -1]]] = False  # no row held out lies beyond the others
        return LabData(x[:, None], y, held_out, ("x",))

    return make


SUMMARY = """
How flexible should a curve be? Watch fifty fits at once: too stiff, and they are wrong together;
too free, and each is wrong in its own way.
"""
CONTROLS = (
    choice("method", "Method", METHODS),
    counter("most", "Largest flexibility", 9, 1, 15),
    choice("truth", "Truth", TRUTHS),
    slider("noise", "Noise (standard deviation)", 0.3, 0.0, 1.0, 0.05),
    slider("beyond", "Look beyond the rows", 0.0, 0.0, 1.0, 0.1),
)
PRESETS = read_presets(
    """
A wave | A line cannot bend, so all fits are wrong together; from degree 3 on the bias is gone.
Natural spline | Cubic pieces between knots, straight beyond the last: more knots bend where the
    rows are.
Smoothing spline | One penalty on the bending decides how many degrees of freedom the curve spends.
! Degree 15 | Sixteen coefficients on two dozen rows follow the noise: the training error falls to
    almost nothing, while the curves differ wildly between the training sets.
! Extrapolate | Beyond the rows the highest power takes over, and fifty equally good fits point up
    and down. A natural spline stays straight there; it is wrong too, but calmly.
! Fifteen knots | Fifteen knots for two dozen rows: the pieces between them follow single rows, and
    fifty training sets give fifty different curves.
! Hardly a penalty | At fifteen degrees of freedom α is next to nothing: the spline passes close to
    every row and takes the noise for the shape.
""",
    given(rows("wave", 0.3), most=9),
    given(rows("wave", 0.3), method="natural spline", most=9),
    given(rows("wave", 0.3), method="smoothing spline", most=12),
    given(rows("wave", 0.3, 30), most=15),
    given(rows("wave", 0.3), most=7, beyond=0.5),
    given(rows("wave", 0.3), method="natural spline", most=15),
    given(rows("wave", 0.3), method="smoothing spline", most=15),
)
PAGE = make_page("polynomials", "values", run, SUMMARY, CONTROLS, PRESETS)
