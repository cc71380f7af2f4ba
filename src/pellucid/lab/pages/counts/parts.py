"""What the page on counts draws: the curve and its band, the line of a step, the likelihood."""

from typing import Any, NamedTuple

import numpy as np
from scipy.special import gammaln

from pellucid.core.arrays.typing import Array
from pellucid.lab.drawing import number, short, vector
from pellucid.lab.page import LabData
from pellucid.lab.scene import (
    COARSE,
    Panel,
    around,
    band,
    contours,
    line,
    plane,
    points,
    segments,
    spanned,
)
from pellucid.lab.trace import Frame
from pellucid.linear import LinearRegression

LARGEST = 30.0  # of log μ in a drawing


def mean_loss(y: Array, mean: Array, a: float) -> float:
    """Mean of −log P(y): Poisson for a = 0, else negative binomial with variance μ + a μ²."""
    if a == 0:
        log_p = y * np.log(np.maximum(mean, 1e-300)) - mean - gammaln(y + 1)
        return -float(log_p.mean())
    k = 1 / a
    mixed = gammaln(y + k) - gammaln(k) - gammaln(y + 1)
    log_p = mixed - k * np.log1p(a * mean) + y * np.log(a * mean / (1 + a * mean))
    return -float(log_p.mean())


def means(theta: Array, x: Array) -> Array:
    return np.exp(np.minimum(theta[0] + theta[1] * x, LARGEST))


class Fitted(NamedTuple):
    """The rows, the model, and the parameters after every step."""

    data: LabData
    model: Any
    alpha: float
    path: Array  # (steps + 1, 2) of b and w
    extra: Array  # a of the variance after every step, 0 for Poisson
    box: tuple[float, float, float, float]

    @classmethod
    def of(cls, data: LabData, model: Any, alpha: float) -> "Fitted":
        path = np.array([row["parameters"] for row in model.history_])
        extra = np.array([row.get("dispersion", 0.0) for row in model.history_], float)
        left, right, _, top = around(np.column_stack([data.X[:, 0], data.y]))
        low = -0.12 * max(top, 1.0)
        return cls(data, model, alpha, path, extra, (left, right, low, top))

    @property
    def poisson(self) -> bool:
        return "dispersion" not in self.model.history_[0]

    @property
    def runs_away(self) -> bool:
        """The last step is no shorter than the one before: there is nothing to arrive at."""
        steps = np.abs(np.diff(self.path[-3:], axis=0)).max(axis=1)
        return len(steps) == 2 and steps[1] > 0.5 * steps[0] and steps[1] > 0.1

    @property
    def ended(self) -> bool:
        gap = self.model.history_[-1]["gap"]
        return gap is not None and gap < 1e-5 and not self.runs_away

    def loss(self, theta: Array, a: float) -> float:
        X, y = self.data.train
        return mean_loss(y, means(theta, X[:, 0]), a)

    def held_out(self, i: int) -> float | None:
        X, y = self.data.test
        return mean_loss(y, means(self.path[i], X[:, 0]), self.extra[i]) if len(y) else None


def still(fitted: Fitted) -> list[Panel]:
    """The panels that the frames draw into: rows and the line of least squares, the weights."""
    data, box = fitted.data, fitted.box
    X, y = data.train
    straight = LinearRegression().fit(X, y)
    ends = np.array(box[:2])
    marks = [
        line(ends, straight.predict(ends[:, None]), colour="quiet", dashed=True, width=1.5,
             label="least squares"),
        points(data.X[:, 0], data.y, faint=data.held_out, data=True,
               label="rows (open: held out)"),
    ]  # fmt: skip
    look: dict[str, Any] = {"x": data.names[0], "y": "count y", "box": box}
    title = "Counts and their mean μ"
    panels = [plane("data", marks, title=title, alt="Rows and the curve of their mean.", **look)]
    if fitted.poisson:
        title = "This step: a line through counts made straight"
        alt = "The rows made straight, as large as their weight, and the weighted line."
        panels.append(plane("straight", [], title=title, x=data.names[0], y="z", alt=alt))
    return [*panels, likelihood_panel(fitted)]


def likelihood_panel(fitted: Fitted) -> Panel:
    """Level lines of the mean −log P(y) over b and w."""
    low, high = fitted.path.min(axis=0), fitted.path.max(axis=0)
    air = 0.2 * np.maximum(high - low, 0.5)
    box = spanned(low - air, high + air)
    n = 17 if COARSE.get() else 34
    b, w = np.linspace(box[0], box[1], n), np.linspace(box[2], box[3], n)
    a = float(fitted.extra[-1])
    cost = np.array([[fitted.loss(np.array([u, v]), a) for u in b] for v in w])
    rise = min(fitted.loss(fitted.path[0], a), float(cost.max())) - cost.min()
    levels = cost.min() + max(rise, 1e-9) * np.geomspace(0.01, 4.0, 10)
    title, alt = "b and w: level lines of J", "Level lines of the loss over b and w, and the path."
    marks = [contours(b, w, cost, levels)]
    return plane("weights", marks, title=title, x="b", y="w", box=box, alt=alt)


def frame(fitted: Fitted, i: int) -> Frame:
    theta, a = fitted.path[i], float(fitted.extra[i])
    X, y = fitted.data.train
    mean = means(theta, X[:, 0])
    spread = mean + a * mean**2
    outside = np.abs(y - mean) > 2 * np.sqrt(spread)
    numbers: dict[str, Any] = {"b": short(theta[0]), "w": short(theta[1])}
    numbers["factor for a step of 1"] = short(float(np.exp(theta[1])))
    if i:
        numbers["change of w"] = short(abs(float(theta[1] - fitted.path[i - 1][1])), 2)
    numbers |= {"Σ y": short(float(y.sum())), "Σ μ": short(float(mean.sum()))}
    numbers |= {"rows": len(y), "outside of μ ± 2√Var": int(outside.sum())}
    if not fitted.poisson:
        numbers["a"] = short(a)
    if i == len(fitted.path) - 1 and fitted.ended:
        numbers |= ending(fitted)
    panels = [plane("data", curve(fitted, theta, a))]
    if fitted.poisson:
        panels.append(plane("straight", straightened(fitted, i)))
    panels.append(plane("weights", way(fitted.path[: i + 1])))
    gap = fitted.model.history_[i]["gap"]
    gap = None if gap is None else float(gap)
    loss, held = fitted.loss(theta, a), fitted.held_out(i)
    return Frame(i, loss, gap, formula(fitted, i), numbers, {"panels": panels}, held)


def ending(fitted: Fitted) -> dict[str, Any]:
    """What the fit says of its own precision."""
    model = fitted.model
    said: dict[str, Any] = {"X² / (n − 2)": short(float(model.pearson_dispersion_))}
    if fitted.alpha == 0:
        said["standard error of w"] = short(float(model.standard_errors_[1]))
    return said


def curve(fitted: Fitted, theta: Array, a: float) -> list[Any]:
    """The mean and two standard deviations of a count around it, inside the panel."""
    left, right, _, top = fitted.box
    at = np.linspace(left, right, 80)
    mean = means(theta, at)
    width = 2 * np.sqrt(mean + a * mean**2)
    low, high = np.maximum(mean - width, 0.0), np.minimum(mean + width, top)
    inside = np.where(mean <= top, mean, np.nan)
    return [
        band(at, np.minimum(low, top), high, label="μ ± 2√Var"),
        line(at, inside, width=2.4, label="μ"),
    ]


def straightened(fitted: Fitted, i: int) -> list[Any]:
    """z = log μ + (y − μ)/μ at the means before this step, and the line that it fits to them."""
    if i == 0:
        return []
    X, y = fitted.data.train
    x, before, now = X[:, 0], fitted.path[i - 1], fitted.path[i]
    mean = means(before, x)
    z = np.log(mean) + (y - mean) / mean
    weight = np.sqrt(mean / mean.max())
    ends = np.array(fitted.box[:2])
    return [
        line(ends, before[0] + before[1] * ends, colour="quiet", dashed=True, width=1.5,
             label="log μ before"),
        points(x, z, group="warn", size=0.25 + 1.0 * weight, label="z, as large as √μ"),
        line(ends, now[0] + now[1] * ends, label="b + w x"),
    ]  # fmt: skip


def way(path: Array) -> list[Any]:
    drawn = [
        line(*path.T, width=1.5),
        points(*path[:-1].T, group="quiet", size=0.6),
        points(*path[-1:].T, group="warn", size=1.2, label="now"),
    ]
    if len(path) > 1:
        drawn.append(segments(*path[-2:-1].T, *path[-1:].T, colour="warn", width=2.0, arrow=True))
    return drawn


def formula(fitted: Fitted, i: int) -> str:
    """The step with its numbers."""
    theta = fitted.path[i]
    if i == 0:
        y = fitted.data.train[1]
        return f"μ = exp(b + w x): w = 0, b = log ȳ = log {number(y.mean())} = {number(theta[0])}"
    before = fitted.path[i - 1]
    share = float(fitted.model.history_[i]["share"])
    move = "" if share == 1 else f"{number(share)} · "
    change = (before - theta) / share
    words = f"θ = (b, w) ← θ − {'s · ' if move else ''}H⁻¹ g"
    words += f" = {vector(before)} − {move}{vector(change)} = {vector(theta)}"
    if not fitted.poisson:
        return f"{words};  Var y = μ + a μ², a = {number(float(fitted.extra[i]))}"
    return f"{words};  z = log μ + (y − μ) / μ, its weight μ"
