"""The problem of the page on descent: the cost of a line, the solvers, the cost for every rate."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from pellucid import solvers
from pellucid.core.arrays.typing import Rng
from pellucid.lab.drawing import heard
from pellucid.lab.page import LabData, hold_out
from pellucid.lab.scene import contours, line, plane, points, rule, spanned
from pellucid.linear import LinearRegression
from pellucid.solvers import GradientDescent, InverseScaling, LinearObjective, Momentum, Newton

METHODS = {
    "gradient descent": "gradient descent with the gradient over all rows",
    "stochastic": "stochastic gradient descent, one row per update in the order of the table",
    "mini-batch": "gradient descent over a few rows per update in the order of the table",
    "momentum": "gradient descent with momentum",
    "Newton": "Newton's method",
}
RATES = 33  # of the curve of costs
FAR = 1e10  # times the cost of the start


class Problem(NamedTuple):
    """The cost of a line, and what is known of it."""

    f: Any
    x_shown: Any  # (n,) as given
    y: Any
    shift: float
    width: float
    best: Any  # (b, w) at the minimum
    hessian: Any
    limit: float  # 2 / lambda_max
    condition: float
    test: Any  # the cost on the rows held out, or None

    def scale(self, x: np.ndarray) -> Any:
        return (x - self.shift) / self.width

    def held_out(self, theta: Any) -> float | None:
        return None if self.test is None else float(self.test.value(theta))


def make_problem(data: LabData, scaled: bool) -> Problem:
    """The cost over the training rows; x standardised by them if asked."""
    X, y = data.train
    x, y = np.asarray(X[:, 0], float), np.asarray(y, float)
    if np.ptp(x) == 0:
        raise ValueError("all training rows have the same x: a line needs two different ones")
    shift, width = (float(x.mean()), float(x.std())) if scaled else (0.0, 1.0)
    f = _cost((x - shift) / width, y)
    rates = solvers.learning_rate_range(f, [0.0, 0.0])
    found, _ = heard(lambda: LinearRegression().fit(((x - shift) / width)[:, None], y))
    best = np.r_[found.intercept_, found.coef_]
    X_test, y_test = data.test
    test = _cost((X_test[:, 0] - shift) / width, y_test) if len(X_test) else None
    limits = rates.maximum, min(rates.condition, 1e15)
    return Problem(f, x, y, shift, width, best, f.hessian(best), *limits, test)


def _cost(x: np.ndarray, y: np.ndarray) -> LinearObjective:
    return LinearObjective(x[:, None], y, scale="half_mean", intercept=True)


def solver_of(params: dict[str, Any], n: int, rate: float | None = None) -> tuple[Any, str]:
    """The solver that the settings name, and the Python that makes it."""
    method = params["method"]
    if method == "Newton":
        d, steps = params["damping"], params["steps"]
        solver: Any = Newton(damping=d, max_iter=steps)
        return solver, f"Newton(damping={d!r}, max_iter={steps})"
    eta = params["rate"] if rate is None else rate
    size = {"stochastic": 1, "mini-batch": min(params["batch"], n)}.get(method)
    updates = 1 if size is None else -(-n // size)
    epochs = -(-params["steps"] // updates)
    more: dict[str, Any] = {}
    words = ""
    if size is not None:
        more, words = {"batch_size": size, "shuffle": False}, f", batch_size={size}, shuffle=False"
    if method == "momentum":
        more, words = {"rule": Momentum(params["beta"])}, f", rule=Momentum({params['beta']!r})"
    falling = size is not None and params["schedule"] == "falling"
    learning_rate = InverseScaling(eta, 0.6) if falling else eta
    text = f"InverseScaling({eta!r}, 0.6)" if falling else repr(eta)
    solver = GradientDescent(learning_rate, max_iter=epochs, tol=None, **more)
    return solver, f"GradientDescent({text}, max_iter={epochs}, tol=None{words})"


def critical(problem: Problem, params: dict[str, Any]) -> tuple[float, str]:
    """The rate above which whole gradients run away, and what it is called.

    Along an eigenvector of the Hessian the heavy ball makes of the distance e
    (1 + beta - eta lambda) e - beta e_before: it shrinks while eta lambda < 2 (1 + beta).
    """
    if params["method"] == "momentum":
        return (1 + params["beta"]) * problem.limit, "2(1+β)/λmax"
    return problem.limit, "2/λmax"


def rate_panel(problem: Problem, params: dict[str, Any]) -> Any:
    """The cost after as many steps, for rates around the limit."""
    limit, words = critical(problem, params)
    top = 1.6 * max(limit, min(params["rate"], 3 * limit))
    rates = np.geomspace(top / 200, top, RATES)
    first = problem.f.value(np.array([params["b0"], params["w0"]]))
    found = [cost_after(problem, params, float(rate)) for rate in rates]
    most = 10 * first
    now = min(cost_after(problem, params, params["rate"]), most)
    x = [np.clip(params["rate"], rates[0], rates[-1])]
    marks = [
        line(rates, np.minimum(found, most), label="cost after all steps"),
        rule(x=limit, colour="warn", label=words),
        rule(y=first, label="cost at the start"),
        points(x, [now], group=1, size=1.3, label="this rate"),
    ]
    least = max(float(problem.f.value(problem.best)), 1e-9 * first, 1e-12)
    box = (rates[0], rates[-1], 0.7 * least, 1.3 * most)
    title = f"Cost after {params['steps']} updates, by rate"
    alt = f"Cost at the end against the rate; beyond {words} it shoots up."
    axes: dict[str, Any] = {"x": "rate η", "y": "cost", "log_x": True, "log_y": True}
    return plane("rates", marks, title=title, **axes, box=box, alt=alt)


def cost_after(problem: Problem, params: dict[str, Any], rate: float) -> float:
    """The cost after all updates; large where the descent ran away."""
    solver = solver_of(params, len(problem.y), rate)[0]
    result = solver.minimise(problem.f, [params["b0"], params["w0"]], record="update")
    values = result.history["value"]
    if len(values) <= params["steps"] or not np.isfinite(values[params["steps"]]):
        return 1e300
    return float(values[params["steps"]])


def finite_rows(history: Any, steps: int) -> list[Any]:
    """The rows of the history as far as asked for, until the cost is lost among huge numbers."""
    rows = list(history)[: steps + 1]
    most = FAR * max(float(rows[0]["value"]), 1e-300)
    end = next((i for i, row in enumerate(rows) if not row["value"] <= most), len(rows))
    return rows[:end]


def parameter_box(problem: Problem, rows: list[Any]) -> tuple[float, float, float, float]:
    """Around the minimum, the start and the path while it is no worse than the start."""
    first = float(rows[0]["value"])
    kept = [row["x"] for i, row in enumerate(rows) if i < 4 or row["value"] <= first]
    spots = np.array([problem.best, *kept])
    fall = max(first - problem.f.value(problem.best), 1e-12)
    reach = 0.5 * np.sqrt(2 * fall / np.diag(problem.hessian))  # where the bowl is as high
    low = np.minimum(spots.min(axis=0), problem.best - reach)
    high = np.maximum(spots.max(axis=0), problem.best + reach)
    low, high = low - 0.08 * (high - low), high + 0.08 * (high - low)
    return spanned(low, high)


def data_panel(data: LabData) -> Any:
    x, y = data.X[:, 0], np.asarray(data.y)
    grown = 0.08 * (np.ptp(x) or 1.0), 0.15 * (np.ptp(y) or 1.0)
    marks = [points(x, y, faint=data.held_out, data=True, label="rows (open: held out)")]
    box = (x.min() - grown[0], x.max() + grown[0], y.min() - grown[1], y.max() + grown[1])
    alt = "The rows and the line of this step."
    return plane("data", marks, title="Data space", x=data.names[0], y="y", box=box, alt=alt)


def level_panel(problem: Problem, box: Sequence[float]) -> Any:
    """Level lines of the cost, from near the minimum to far."""
    b, w = np.linspace(box[0], box[1], 60), np.linspace(box[2], box[3], 60)
    B, W = np.meshgrid(b, w)
    spread = np.stack([B - problem.best[0], W - problem.best[1]], axis=-1)
    cost = 0.5 * np.einsum("ijk,kl,ijl->ij", spread, problem.hessian, spread)
    levels = cost.max() * np.geomspace(0.002, 0.8, 9)
    marks = [
        contours(b, w, cost, levels) | {"label": "level lines of F"},
        points([problem.best[0]], [problem.best[1]], group="quiet", size=1.4, label="minimum"),
    ]
    title = "Parameters and level lines of the cost"
    alt = "Level lines of the cost over intercept and slope, and the path so far."
    return plane("parameters", marks, title=title, x="intercept b", y="slope w", box=box, alt=alt)


def clipped(path: Any, box: Any) -> Any:
    """A path that runs away leaves the box, but not the finite numbers."""
    left, right, bottom, top = box
    far = 2 * np.array([right - left, top - bottom])
    return np.clip(path, np.array([left, bottom]) - far, np.array([right, top]) + far)


def noisy_line(
    low: float, high: float, slope: float, intercept: float, noise: float, n: int = 36
) -> Callable[[Any], LabData]:
    """A preset's rows: a line with noise, two decimals."""

    def make(rng: Rng) -> LabData:
        x = np.round(rng.uniform(low, high, n), 2)
        y = np.round(intercept + slope * x + noise * rng.standard_normal(n), 2)
        return LabData(x[:, None], y, hold_out(n, 0), ("x",))

    return make
