r"""Gradient descent, its stochastic relatives and Newton's method on a line's squared error.

Data space: the line of this step. Parameter space: the path on the level lines of the cost. And
the cost after as many steps for every rate, with the critical rate: 2/lambda_max, and with momentum
beta 2(1 + beta)/lambda_max.
"""

from typing import Any

import numpy as np

from pellucid.lab.controls import choice, counter, slider, switch
from pellucid.lab.drawing import heard, hushed, literal, number, told, vector
from pellucid.lab.page import LabData, given, make_page, read_presets
from pellucid.lab.pages.descent import parts
from pellucid.lab.pages.descent.parts import METHODS, Problem, clipped, critical, noisy_line
from pellucid.lab.scene import line, plane, points, segments
from pellucid.lab.trace import Frame, Trace


def run(data: LabData | None, params: dict[str, Any], seed: int) -> Trace:
    """Descend from the start that is set, one frame per update."""
    assert data is not None
    problem = parts.make_problem(data, params["scaled"])
    solver, text = parts.solver_of(params, len(problem.y))
    newton = params["method"] == "Newton"
    made = {} if newton else {"record": "update"}
    start = [params["b0"], params["w0"]]
    result, warned = heard(lambda: solver.minimise(problem.f, start, **made))
    other = [] if newton else heard(lambda: [parts.rate_panel(problem, params)])[0]
    rows = parts.finite_rows(result.history, params["steps"])
    if len(rows) < 2:
        limit, words = critical(problem, params)
        raise ValueError(
            f"the first step with rate {params['rate']:g} leads far out; the limit {words} is "
            f"{limit:.3g}: lower the rate or standardise x"
        )
    box = parts.parameter_box(problem, rows)
    frames = tuple(frame_of(problem, params, rows, i, box) for i in range(len(rows)))
    panels = [parts.data_panel(data), parts.level_panel(problem, box), *other]
    shown, card = told(data, "values", panels), card_of(params, problem, result)
    end = verdict(params, problem, rows)
    code = code_of(problem, params, text, len(rows) - 1, warned)
    told_words = ("Gradient descent, SGD, Newton", "½ mean squared error", end, code)
    return Trace(type(solver).__name__, params, shown, card, frames, *told_words)


def frame_of(problem: Problem, params: dict[str, Any], rows: list[Any], i: int, box: Any) -> Frame:
    theta, method = np.asarray(rows[i]["x"]), params["method"]
    gradient = problem.f.gradient(theta)
    norm = float(np.linalg.norm(gradient))
    path = clipped(np.array([row["x"] for row in rows[: i + 1]]), box)
    drawn = [
        line(*path.T, colour="accent", width=1.5),
        points(*path.T, group=0, size=0.5),
        points(*path[-1:].T, group=1, size=1.3, label="now"),
    ]
    space = data_marks(problem, theta, used_rows(problem, params, i))
    if i:
        step = segments(*path[-2:-1].T, *path[-1:].T, colour="warn", width=2.0, arrow=True)
        drawn.append(step | {"label": "step"})
    numbers = {"b": float(theta[0]), "w": float(theta[1]), "|gradient|": norm}
    if params["scaled"]:
        numbers["slope in x"] = float(theta[1] / problem.width)
    if method != "Newton":
        limit, words = critical(problem, params)
        numbers |= {"rate η": float(rows[i]["learning_rate"]), f"limit {words}": limit}
    state = {"panels": [space, plane("parameters", drawn)]}
    formula = formula_of(problem, params, rows, i)
    return Frame(i, float(rows[i]["value"]), norm, formula, numbers, state, problem.held_out(theta))


def data_marks(problem: Problem, theta: Any, used: Any) -> Any:
    """The line, the residuals of the rows that this update used."""
    edge = np.array([problem.x_shown.min(), problem.x_shown.max()])
    edge = edge + np.array([-0.08, 0.08]) * (np.ptp(edge) or 1.0)
    fit = theta[0] + theta[1] * problem.scale(edge)
    x, y = problem.x_shown[used], problem.y[used]
    f = theta[0] + theta[1] * problem.scale(x)
    reach = 20 * (np.abs(problem.y).max() + 1.0)
    letter = "x" if problem.width == 1 else "z"  # z: standardised
    marks = [
        segments(x, y, x, np.clip(f, -reach, reach), colour="warn" if len(x) < 9 else "quiet"),
        line(edge, np.clip(fit, -reach, reach), label=f"y = b + w {letter}"),
    ]
    if len(x) < len(problem.y):
        marks.append(points(x, y, group="warn", ring=np.ones(len(x), bool), label="used now"))
    return plane("data", marks)


def used_rows(problem: Problem, params: dict[str, Any], i: int) -> Any:
    """The rows whose gradient made update i."""
    n, size = len(problem.y), batch_of(params, len(problem.y))
    if i == 0 or size is None:
        return np.arange(n)
    per_epoch = -(-n // size)
    at = (i - 1) % per_epoch
    return np.arange(at * size, min((at + 1) * size, n))


def batch_of(params: dict[str, Any], n: int) -> int | None:
    sizes = {"stochastic": 1, "mini-batch": min(params["batch"], n)}
    return sizes.get(params["method"])


def formula_of(problem: Problem, params: dict[str, Any], rows: list[Any], i: int) -> str:
    """The update that led here, with its numbers."""
    now = np.asarray(rows[i]["x"])
    if i == 0:
        cost = number(rows[0]["value"])
        return f"θ = (b, w) = {vector(now)},  F = ½ mean (y − b − w x)² = {cost}"
    before = np.asarray(rows[i - 1]["x"])
    start, end = vector(before), vector(now)
    if params["method"] == "Newton":
        g = problem.f.gradient(before)
        d = params["damping"]
        rule = "H⁻¹ g" if d == 0 else f"(H + {number(d)} I)⁻¹ g"
        return f"θ ← θ − {rule} = {start} − {vector(before - now)} = {end},  g = {vector(g)}"
    eta = float(rows[i]["learning_rate"])
    if params["method"] == "momentum":
        last = before - np.asarray(rows[i - 2]["x"]) if i > 1 else np.zeros(2)
        g = problem.f.gradient(before)
        return (
            f"v ← β v − η g = {number(params['beta'])} · {vector(last)} − {number(eta)} · "
            f"{vector(g)} = {vector(now - before)},  θ ← θ + v = {end}"
        )
    g = (before - now) / eta
    used = used_rows(problem, params, i)
    of = ""
    if batch_of(params, len(problem.y)) is not None:
        rows_used = (
            f"row {used[0] + 1}" if len(used) == 1 else f"rows {used[0] + 1} to {used[-1] + 1}"
        )
        of = f"  (g from {rows_used})"
    return f"θ ← θ − η g = {start} − {number(eta)} · {vector(g)} = {end}{of}"


def verdict(params: dict[str, Any], problem: Problem, rows: list[Any]) -> str:
    last, steps = float(rows[-1]["value"]), len(rows) - 1
    least = problem.f.value(problem.best)
    if params["method"] == "Newton":
        return (
            f"Newton's method is at {number(last)} after {steps} step{'s' * (steps != 1)}; the "
            "cost is a parabola, and an undamped step goes to its lowest point."
        )
    if last > float(rows[0]["value"]):
        limit, words = critical(problem, params)
        return (
            f"The cost grew from {number(rows[0]['value'])} to {number(last)}: the rate "
            f"{number(params['rate'])} is too large (limit {words} = {number(limit)} "
            "for whole gradients)."
        )
    left = max(100 * (last - least) / max(float(rows[0]["value"]) - least, 1e-300), 0.0)
    share = "less than 0.01 %" if left < 0.01 else f"{number(left, 2)} %"
    return (
        f"After {steps} updates {share} of the way down is left: θ = {vector(rows[-1]['x'])}, "
        f"at the minimum {vector(problem.best)}. The condition number λmax/λmin is "
        f"{number(problem.condition)}."
    )


def card_of(params: dict[str, Any], problem: Problem, result: Any) -> dict[str, Any]:
    how = METHODS[params["method"]]
    limit, words = critical(problem, params)
    known = {} if params["method"] == "Newton" else {f"limit {words}": limit}
    return {
        "representation": "y = b + w z, z = x standardised" if params["scaled"] else "y = b + w x",
        "evaluation": "½ mean (y − b − w x)²",
        "optimisation": f"{how}; {result.reason} after {result.n_updates} updates",
        "numbers": {**known, "condition number": problem.condition},
    }


def code_of(problem: Problem, params: dict[str, Any], solver: str, last: int, warned: str) -> str:
    name = solver.split("(")[0]
    extra = ", InverseScaling" if "InverseScaling" in solver else ""
    extra += ", Momentum" if "Momentum(" in solver else ""
    scaled = "x = (x - x.mean()) / x.std()\n" if params["scaled"] else ""
    record = "" if params["method"] == "Newton" else ', record="update"'
    return f"""import numpy as np
from pellucid.solvers import {name}, LinearObjective{extra}
{hushed(warned)}
x = {literal(problem.x_shown)}
y = {literal(problem.y)}
{scaled}f = LinearObjective(x[:, None], y, scale="half_mean", intercept=True)
result = {solver}.minimise(f, {[params["b0"], params["w0"]]!r}{record})
objective = float(result.history["value"][{last}])
"""


SHORT = noisy_line(0.0, 2.0, 1.5, 1.0, 0.35)
SIZES = noisy_line(40.0, 120.0, 0.03, 1.0, 0.4)
ASIDE = {"b0": -1.0, "w0": 1.0}  # a start off the valley


RATED = tuple(m for m in METHODS if m != "Newton")
BATCHED = ("stochastic", "mini-batch")
SUMMARY = """
Walk down the cost of a line. The rate decides whether the walk arrives, crawls or runs away; the
shape of the cost decides which rates are possible.
"""
CONTROLS = (
    choice("method", "Method", METHODS),
    slider("rate", "Rate η", 0.4, 1e-5, 3.0, log=True, method=RATED),
    choice("schedule", "Rate over time", ("constant", "falling"), method=BATCHED),
    slider("beta", "Momentum β", 0.8, 0.0, 0.99, 0.01, method="momentum"),
    counter("batch", "Rows per update", 5, 2, 50, method="mini-batch"),
    slider("damping", "Damping", 0.0, 0.0, 5.0, 0.1, method="Newton"),
    counter("steps", "Updates", 30, 1, 120),
    slider("b0", "Start b", 0.0, -5.0, 5.0, 0.1),
    slider("w0", "Start w", 0.0, -5.0, 5.0, 0.1),
    switch("scaled", "Standardise x"),
)
PRESETS = read_presets(
    """
A rate below the limit | Across the valley the cost is steep and two steps are enough; along it the
    slope is small, and so are the steps.
One row at a time | Each row points somewhere else, so the path trembles; a falling rate lets it
    settle.
Momentum | Old steps are remembered: along the valley they add up, across it they cancel.
Newton's method | The step is made for the curvature; on a parabola one step is enough.
Standardised inputs | With mean 0 and variance 1 the level lines are circles, and the gradient
    points at the minimum.
! Rate too large | Above 2/λmax every step overshoots by more than it gained: the path swings across
    the valley and away.
! Unscaled inputs | x is near 80, so the cost is thousands of times steeper in the slope than in the
    intercept. A rate that the slope bears leaves the intercept where it was.
! A rate that stays | The rate never falls, so the last row seen pulls as hard as the first: the
    path keeps trembling around the minimum and does not settle.
! Too much memory | With β = 0.99 old steps hardly fade: the path shoots past the minimum and
    circles it.
! Too much damping | Damping adds 5 to every curvature: the step is safe anywhere and far too short
    where the cost is a plain bowl.
""",
    given(SHORT, rate=0.4, steps=40, **ASIDE),
    given(SHORT, method="stochastic", rate=0.4, schedule="falling", steps=100, **ASIDE),
    given(SHORT, method="momentum", rate=0.1, beta=0.8, steps=40, **ASIDE),
    given(SHORT, method="Newton", **ASIDE),
    given(SIZES, rate=0.4, steps=20, scaled=True),
    given(SHORT, rate=0.95, steps=25, **ASIDE),
    given(SIZES, rate=2.5e-4, steps=60),
    given(SHORT, method="stochastic", rate=0.4, steps=100, **ASIDE),
    given(SHORT, method="momentum", rate=0.1, beta=0.99, steps=80, **ASIDE),
    given(SHORT, method="Newton", damping=5.0, **ASIDE),
)
PAGE = make_page("descent", "values", run, SUMMARY, CONTROLS, PRESETS)
