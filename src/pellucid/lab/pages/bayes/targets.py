"""Posteriors of two parameters that the rows of the page make."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from pellucid.core.arrays.typing import ArrayLike
from pellucid.inference import laplace_approximation
from pellucid.lab.drawing import heard
from pellucid.lab.pages.bayes.rows import Rows
from pellucid.lab.scene import Mark, contours, heat, lattice, rule, segments, spanned

TARGETS = ("boundary", "two means", "line")
CELLS = 48
PRIOR = 10.0  # variance of the weights of a boundary

BOUNDARY = """centre = X.mean(axis=0)
sign = np.where(y == 1, 1.0, -1.0)

def log_density(w):  # logistic likelihood, prior N(0, {prior})
    return float(-np.logaddexp(0, -sign * ((X - centre) @ w)).sum() - w @ w / (2 * {prior}))
"""
MEANS = """x, s = X[:, 0], 0.45 * X[:, 0].std()

def log_density(m):  # an equal mixture of N(m1, s^2) and N(m2, s^2)
    return float(np.logaddexp(*(-((x - mean) ** 2) / (2 * s**2) for mean in m)).sum())
"""
LINE = """spread = {spread!r}  # of the rows about the best line

def log_density(t):  # x2 = t1 + t2 x1 + noise
    return float(-((X[:, 1] - t[0] - t[1] * X[:, 0]) ** 2).sum() / (2 * spread**2))
"""


class Target(NamedTuple):
    """A log density of two parameters and how one value of them looks among the rows."""

    log_density: Callable[[Any], float]
    held_out: Callable[[Any], float]  # minus the same of the held-out rows, as if they were as many
    start: Any
    box: Any
    names: tuple[str, str]
    draw: Callable[[Any], list[Mark]]  # parameters (m, 2) -> marks in the data panel
    code: str


def make_target(rows: Rows, name: str) -> Target:
    """The posterior of that name."""
    if np.ptp(rows.X, axis=0).min() <= 0:
        raise ValueError("both columns must have more than one value among the training rows")
    return {"boundary": boundary, "two means": two_means, "line": slope}[name](rows)


def near_peak(log_density: Any, guess: Any) -> tuple[Any, Any]:
    """Mode and standard deviations, for the box of the picture."""
    found, _ = heard(lambda: laplace_approximation(log_density, guess))
    return found.mode, np.sqrt(np.diag(found.cov))


def box_of(mode: Any, spread: Any, scale: float = 4.5) -> Any:
    return spanned(mode - scale * spread, mode + scale * spread)


def boundary(rows: Rows) -> Target:
    """Weights of a logistic boundary through the middle of the rows."""
    centre = rows.X.mean(axis=0)
    sign = np.where(rows.y == 1, 1.0, -1.0)
    Z = rows.X - centre
    Z_test, sign_test = rows.X_test - centre, np.where(rows.y_test == 1, 1.0, -1.0)

    def log_density(w: np.ndarray) -> float:
        return float(-np.logaddexp(0, -sign * (Z @ w)).sum() - w @ w / (2 * PRIOR))

    def held_out(w: np.ndarray) -> float:
        loss = np.logaddexp(0, -sign_test * (Z_test @ w)).mean()
        return float(len(Z) * loss + w @ w / (2 * PRIOR))

    mode, spread = near_peak(log_density, np.zeros(2))
    left, right, bottom, top = box_of(mode, spread)
    low, high = np.minimum([left, bottom], -spread), np.maximum([right, top], spread)

    def draw(W: np.ndarray) -> list[Mark]:
        far = np.hypot(rows.box[1] - rows.box[0], rows.box[3] - rows.box[2])
        size = np.maximum(np.hypot(*W.T), 1e-300)
        along = np.column_stack([-W[:, 1], W[:, 0]]) / size[:, None] * far
        a, b = centre - along, centre + along
        return [segments(*a.T, *b.T, colour="accent", width=1.0)]

    box, code = spanned(low, high), BOUNDARY.format(prior=PRIOR)
    return Target(log_density, held_out, np.zeros(2), box, ("w₁", "w₂"), draw, code)


def two_means(rows: Rows) -> Target:
    """Two means of the first column: exchanging them changes nothing, so there are two modes."""
    x = rows.X[:, 0]
    s = 0.45 * x.std()

    def total(x: ArrayLike, m: Any) -> float:
        return float(np.logaddexp(*(-((x - mean) ** 2) / (2 * s**2) for mean in m)).sum())

    def log_density(m: Any) -> float:
        return total(x, m)

    def held_out(m: Any) -> float:
        return -total(rows.X_test[:, 0], m) * len(x) / len(rows.X_test)

    low, high = float(x.min()) - 0.5 * s, float(x.max()) + 0.5 * s

    def draw(M: Any) -> list[Mark]:
        marks = []
        for k in (0, 1):
            m = M[:, k]
            low, high = (np.full_like(m, end) for end in rows.box[2:])
            marks.append(segments(m, low, m, high, colour=("accent", 3)[k], label=f"mean {k + 1}"))
        return marks

    start = np.array([low + 0.3 * (high - low), low + 0.6 * (high - low)])
    return Target(log_density, held_out, start, (low, high, low, high), ("m₁", "m₂"), draw, MEANS)


def slope(rows: Rows) -> Target:
    """Intercept and slope of x2 on x1: far from 0 they can hardly be told apart."""
    x, z = rows.X.T
    b = float(((x - x.mean()) * (z - z.mean())).sum() / ((x - x.mean()) ** 2).sum())
    a = float(z.mean() - b * x.mean())
    spread = max(float((z - a - b * x).std()), 1e-3 * float(np.ptp(z)))

    def log_density(t: Any) -> float:
        return float(-((z - t[0] - t[1] * x) ** 2).sum() / (2 * spread**2))

    def held_out(t: Any) -> float:
        rest = rows.X_test[:, 1] - t[0] - t[1] * rows.X_test[:, 0]
        return float(len(x) * (rest**2).mean() / (2 * spread**2))

    information = np.array([[len(x), x.sum()], [x.sum(), (x**2).sum()]]) / spread**2
    size = np.sqrt(np.diag(np.linalg.inv(information)))
    mode = np.array([a, b])

    def draw(T: Any) -> list[Mark]:
        x0, x1 = np.full(len(T), rows.box[0]), np.full(len(T), rows.box[1])
        y0, y1 = (T[:, 0] + T[:, 1] * x for x in (x0, x1))
        return [segments(x0, y0, x1, y1, colour="accent", width=1.0)]

    start = mode + np.array([-2.5, 2.5]) * size
    box, code = box_of(mode, size, 4.0), LINE.format(spread=spread)
    return Target(log_density, held_out, start, box, ("intercept", "slope"), draw, code)


def landscape(target: Target) -> tuple[list[Mark], Any, Any]:
    """The density as colour and level lines, and log g on the cells."""
    x, y, cells = lattice(target.box, CELLS)
    values = np.array([target.log_density(cell) for cell in cells]).reshape(CELLS, CELLS)
    rise = values - values.max()
    marks = [
        heat(np.exp(rise), target.box, low=0.0, high=1.0, label="g, as a share of its peak"),
        contours(x, y, rise, [-4.5, -2.0, -0.5], colour="quiet"),
    ]
    return marks, x, rise


def marginal(x: np.ndarray, rise: Any) -> Any:
    """The density of the first parameter on the cells, summed over the second."""
    total = np.exp(rise).sum(axis=0)
    return total / (total.sum() * (x[1] - x[0]))


def rule_at(value: float) -> Mark:
    return rule(x=value, colour="accent")
