"""PCA and probabilistic PCA: a direction turned until the rows lie nearest to it."""

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from pellucid.core.arrays.typing import Rng
from pellucid.decomposition.pca import PCA
from pellucid.lab.controls import choice, slider, switch
from pellucid.lab.drawing import literal, number, short, told, vector
from pellucid.lab.page import LabData, given, hold_out, make_page, read_presets
from pellucid.lab.pages.projections.columns import columns_trace
from pellucid.lab.pages.projections.parts import feet, ppca_trace, rows_panel, scree
from pellucid.lab.scene import Panel, line, plane, points, rule
from pellucid.lab.trace import Frame, Trace

UNLIKE = 1000.0  # ratio of variances at which the units decide
TURNS = 24  # directions that are tried before the solution is shown


def run(data: LabData | None, params: dict[str, Any], seed: int) -> Trace:
    """The trace of the chosen method."""
    assert data is not None
    X, _ = data.train
    if not (np.ptp(X, axis=0) > 0).all():
        raise ValueError("both columns need rows that differ; one of them is constant")
    if params["method"] == "PCA":
        return pca_trace(data, params)
    return (ppca_trace if params["method"] == "PPCA" else columns_trace)(data, params, seed)


def pca_trace(data: LabData, params: dict[str, Any]) -> Trace:
    """Directions from 0 to 180 degrees, each with its error; then the eigenvector."""
    X, _ = data.train
    settings = {"ddof": 0, "standardize": params["standardize"]}  # means over n everywhere
    fitted, whole = PCA(1, **settings).fit(X), PCA(**settings).fit(X)
    angles = np.linspace(0.0, np.pi, TURNS, endpoint=False)
    models = [_turned(fitted, angle) for angle in angles]
    errors = np.array([model.reconstruction_errors(X).mean() for model in models])
    spread = float(errors[0] + errors[TURNS // 2])  # of two orthogonal directions: all there is
    turned = enumerate(zip(models, angles, strict=True))
    frames = [_frame(k, model, angle, data, spread) for k, (model, angle) in turned]
    v = fitted.components_[0]
    best = float(np.arctan2(v[1], v[0]) % np.pi)
    frames.append(_solution(TURNS, fitted, best, data, whole, spread))
    frames.append(_rebuilt(TURNS + 1, fitted, best, data, spread))
    marks, title = scree(whole.eigenvalues_), "Scree: eigenvalues of S"
    alt = "The eigenvalues as bars."
    bars = plane("scree", marks, title=title, x="component", y="variance", alt=alt)
    rows = rows_panel(data, "Rows and their feet on the direction")
    units = ", in deviations" if params["standardize"] else ""
    objective = f"mean squared distance to the line (reconstruction error{units})"
    code = (
        f"import numpy as np\n\nfrom pellucid import PCA\n\nX = {literal(X)}\n"
        f"model = PCA(1, ddof=0, standardize={params['standardize']}).fit(X)\n"
        "objective = float(model.reconstruction_errors(X).mean())\n"
    )
    shown = told(data, "points", [rows, _curve(fitted, X, spread), bars])
    words = ("Principal component analysis", objective, _verdict(whole, data, params), code)
    return Trace("PCA", params, shown, fitted.card().to_dict(), tuple(frames), *words)


def _scaled(model: BaseEstimator) -> bool:
    """Whether columns are divided by their deviations s."""
    return bool((model.scale_ != 1).any())


def _turned(fitted: BaseEstimator, angle: float) -> Any:
    """The model whose one direction has this angle, in the units of the fit."""
    direction = [[np.cos(angle), np.sin(angle)]]
    return PCA.from_components(direction, mean=fitted.mean_, scale=fitted.scale_)


def _curve(fitted: Any, X: np.ndarray, spread: float) -> Panel:
    turn = np.linspace(0.0, np.pi, 121)
    error = np.array([_turned(fitted, a).reconstruction_errors(X).mean() for a in turn])
    degrees = np.degrees(turn)
    marks = [
        line(degrees, error, colour="warn", label="reconstruction error"),
        line(degrees, spread - error, colour=0, label="variance along the line"),
    ]
    title, x = "Error and variance of every direction", "angle (degrees)"
    box = (0, 180, 0, 1.08 * spread)
    alt = "Error and variance against the angle; their sum is the same everywhere."
    return plane("angles", marks, title=title, x=x, y="mean square", box=box, alt=alt)


def _panels(
    model: BaseEstimator, angle: float, X: np.ndarray, error: float, spread: float
) -> list[Panel]:
    F = model.inverse_transform(model.transform(X))
    reach = 1.3 * float(np.abs(model.transform(X)).max())
    away = model.inverse_transform(np.array([[-reach], [reach]]))
    marks = [
        feet(X, F),
        line(*away.T, label="direction"),
        points(*F.T, group=0, size=0.6, label="feet"),
    ]
    degrees = float(np.degrees(angle))
    here = [
        rule(x=degrees, colour="quiet"),
        points([degrees], [error], group="warn", size=1.3),
        points([degrees], [spread - error], group=0, size=1.3),
    ]
    return [plane("rows", marks), plane("angles", here)]


def _numbers(model: BaseEstimator, angle: float, error: float, spread: float) -> dict[str, Any]:
    return {
        "angle (degrees)": round(float(np.degrees(angle)), 1),
        "error": short(error),
        "variance along v": short(spread - error),
        "share explained": round((spread - error) / spread, 4) if spread > 0 else 0.0,
    }


def _held(model: BaseEstimator, data: LabData) -> float | None:
    test = data.test[0]
    return float(model.reconstruction_errors(test).mean()) if len(test) else None


def _frame(k: int, model: BaseEstimator, angle: float, data: LabData, spread: float) -> Frame:
    X, _ = data.train
    error = float(model.reconstruction_errors(X).mean())
    v = model.components_[0]
    rule = "x̂ = x̄ + (v'(x − x̄)) v, mean |x − x̂|²"
    if _scaled(model):
        rule = f"s = {vector(model.scale_)}, z = v'((x − x̄)/s), x̂ = x̄ + s z v, mean |(x − x̂)/s|²"
    formula = (
        f"v = {vector(v)}: {rule} = total − variance = "
        f"{number(spread)} − {number(spread - error)} = {number(error)}"
    )
    panels = _panels(model, angle, X, error, spread)
    numbers = _numbers(model, angle, error, spread)
    return Frame(k, error, None, formula, numbers, {"panels": panels}, _held(model, data))


def _solution(
    k: int, model: BaseEstimator, angle: float, data: LabData, whole: Any, spread: float
) -> Frame:
    frame = _frame(k, model, angle, data, spread)
    values = whole.eigenvalues_
    formula = (
        f"S v = λ v: λ₁ = {number(values[0])}, λ₂ = {number(values[1])}; the best direction is "
        f"v₁ = {vector(model.components_[0])} with λ₁ / (λ₁ + λ₂) = "
        f"{number(values[0] / values.sum())}"
    )
    return frame._replace(formula=formula)


def _rebuilt(k: int, model: BaseEstimator, angle: float, data: LabData, spread: float) -> Frame:
    """What is left when each row is replaced by its foot: the worst row in numbers."""
    frame = _frame(k, model, angle, data, spread)
    X, _ = data.train
    i = int(model.reconstruction_errors(X).argmax())
    z = float(model.transform(X[i : i + 1])[0, 0])
    foot = model.inverse_transform(np.array([[z]]))[0]
    ring = points(*X[i : i + 1].T, group="warn", ring=[True], size=1.2)
    panels = [plane("rows", [*frame.state["panels"][0]["marks"], ring]), *frame.state["panels"][1:]]
    score, back = ("v'((x − x̄)/s)", "x̄ + s z v") if _scaled(model) else ("v'(x − x̄)", "x̄ + z v")
    formula = (
        f"the row farthest off: x = {vector(X[i])} → z = {score} = {number(z)} → "
        f"x̂ = {back} = {vector(foot)}"
    )
    return frame._replace(formula=formula, state={"panels": panels})


def _verdict(whole: Any, data: LabData, params: dict[str, Any]) -> str:
    values = whole.eigenvalues_
    share = float(values[0] / values.sum())
    spread = data.train[0].var(axis=0)
    if not params["standardize"] and spread.max() > UNLIKE * spread.min():
        return (
            f"The direction is the axis of {data.names[int(spread.argmax())]!r}: its variance is "
            f"{number(spread.max() / spread.min())} times the other's. The units decided, not the "
            "rows."
        )
    intervals = whole.eigenvalue_intervals()
    if intervals[1, 1] >= intervals[0, 0]:
        return (
            f"The first direction holds {share:.0%}, but the 95 % intervals of the two eigenvalues "
            "overlap: other rows of the same kind would give another direction."
        )
    return f"One direction holds {share:.0%} of the variance; the rest is what the feet lose."


def correlated(rng: Rng) -> LabData:
    z, noise = rng.normal(size=50), rng.normal(size=(50, 2))
    X = np.outer(z, [2.0, 1.1]) + 0.45 * noise + [1.0, 0.5]
    return LabData(X.round(3), None, hold_out(50, 0))


def wide(rng: Rng) -> LabData:
    X = rng.normal(size=(50, 2)) * [1.8, 1.1] @ np.array([[0.9, 0.44], [-0.44, 0.9]])
    return LabData(X.round(3), None, hold_out(50, 0))


def unscaled(rng: Rng) -> LabData:
    size = rng.normal(1.75, 0.09, 50)
    pay = 42000 + 90000 * (size - 1.75) * 0.35 + rng.normal(0, 6000, 50)
    X = np.column_stack([size.round(3), pay.round(0)])
    return LabData(X, None, hold_out(50, 0), ("height in metres", "pay in euros"))


def isotropic(rng: Rng) -> LabData:
    return LabData(rng.normal(size=(60, 2)).round(3), None, hold_out(60, 0))


SUMMARY = """
Turn a line through the mean until the rows lie nearest to it: the same line has the largest
variance of the feet. Probabilistic PCA gives it a density and finds it by EM.
"""
CONTROLS = (
    choice("method", "Method", ("PCA", "six columns", "PPCA")),
    switch("standardize", "Divide columns by their deviations", method="PCA"),
    slider("noise", "Noise of the instruments", 0.2, 0.0, 2.0, 0.05, method="six columns"),
)
PRESETS = read_presets(
    """
PCA | Two correlated columns: one direction holds most of the spread.
Six columns | Six noisy instruments look at the same rows: two components rebuild nearly all of it,
    the scree says so.
Probabilistic PCA | The same rows as a density; each round of EM turns and stretches W.
! Break it: unscaled | One column is counted in metres, the other in euros. The variance of euros is
    a thousand million times larger, so the first direction is the axis of euros, whatever the rows
    say. Divide by the deviations.
! Break it: isotropic | A round cloud has no widest direction: the error hardly depends on the
    angle, and drawing other rows turns the answer at random.
! Break it: loud instruments | Six instruments, all noise: no component holds much more than
    another, and the scree has no elbow.
! Break it: no direction | A round cloud: the density is as wide everywhere, and EM takes whichever
    direction the accidents of the rows favour.
Standardised | Both columns divided by their deviations: metres and euros count alike.
""",
    given(correlated),
    given(wide, method="six columns"),
    given(correlated, method="PPCA"),
    given(unscaled),
    given(isotropic),
    given(wide, method="six columns", noise=2.0),
    given(isotropic, method="PPCA"),
    given(unscaled, standardize=True),
)
PAGE = make_page("projections", "points", run, SUMMARY, CONTROLS, PRESETS)
