"""The problem of the page on least squares: columns made of x, the fits, and what is drawn."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator

from pellucid.core.arrays.typing import ArrayLike
from pellucid.lab.drawing import heard, number, vector
from pellucid.lab.page import LabData
from pellucid.lab.scene import area, contours, line, plane, points, rule, spanned
from pellucid.linear import Lasso, LinearRegression, Ridge
from pellucid.plots.pictures.shrinkage.penalty_contours import ball

COLUMNS = {  # what the columns are, as Python of x
    "x": "x[:, None]",
    "x and x²": "np.column_stack([x, x**2])",
    "x and almost x": "np.column_stack([x, x + 0.005 * np.sin(9 * x)])",
}
MODELS: dict[str, Callable[[float], Any]] = {
    "least squares": lambda alpha: LinearRegression(),
    "ridge": lambda alpha: Ridge(alpha=alpha),
    "lasso": lambda alpha: Lasso(alpha=alpha, tol=1e-8),
}
MOST_SQUARES = 60
TALL = 1.07  # height of the data panel by its width


class Problem(NamedTuple):
    """Training rows; a single column without a penalty stays as it is, others are standardised."""

    columns: str
    x: Any  # (n,)
    Z: Any  # (n, p)
    y: Any
    shift: Any  # (p,)
    width: Any
    x_test: Any
    y_test: Any

    def design(self, x: np.ndarray) -> Any:
        return (made(self.columns, x) - self.shift) / self.width

    def error(self, model: BaseEstimator) -> float:
        return float(np.mean((self.y - model.predict(self.Z)) ** 2))

    def held_out(self, model: BaseEstimator) -> float | None:
        if not len(self.x_test):
            return None
        return float(np.mean((self.y_test - model.predict(self.design(self.x_test))) ** 2))

    def theta(self, model: BaseEstimator) -> Any:
        """The two parameters that the plane shows: (b, w), or (w1, w2)."""
        return np.r_[model.intercept_, model.coef_] if self.Z.shape[1] == 1 else model.coef_

    @property
    def standardised(self) -> bool:
        return bool((self.width != 1).any() or self.shift.any())

    @property
    def names(self) -> tuple[str, str]:
        return ("b", "w") if self.Z.shape[1] == 1 else ("w₁", "w₂")


def made(columns: str, x: np.ndarray) -> Any:
    """The columns of a row."""
    if columns == "x":
        return x[:, None]
    second = x**2 if columns == "x and x²" else x + 0.005 * np.sin(9 * x)
    return np.column_stack([x, second])


def make_problem(data: LabData, columns: str, method: str) -> Problem:
    X, y = data.train
    x = np.asarray(X[:, 0], float)
    C = made(columns, x)
    if len(np.unique(x)) <= C.shape[1]:
        raise ValueError(
            f"the training rows have {len(np.unique(x))} different x: {C.shape[1]} columns and an "
            f"intercept need at least {C.shape[1] + 1}"
        )
    shift, width = C.mean(axis=0), C.std(axis=0)
    if columns == "x" and method == "least squares":  # the slope that is drawn is the one printed
        shift, width = np.zeros(1), np.ones(1)
    X_test, y_test = data.test
    Z, shown_y, x_test = (C - shift) / width, np.asarray(y, float), np.asarray(X_test[:, 0], float)
    return Problem(columns, x, Z, shown_y, shift, width, x_test, np.asarray(y_test, float))


def fit(model: BaseEstimator, Z: np.ndarray, y: ArrayLike) -> Any:
    """The fitted model; dependent columns are part of the lesson."""
    return heard(lambda: model.fit(Z, y))[0]


def path_of(problem: Problem, method: str, alpha: float, frames: int) -> tuple[Any, list[Any]]:
    """Where the path goes (numbers of rows, or penalties) and the model at each place."""
    n, y = len(problem.y), problem.y
    if method == "least squares":
        counts = sorted({int(i) for i in np.linspace(1, n, min(n, frames)).round()})
        rows = [np.arange(m) for m in counts]
        fits = [fit(LinearRegression(), problem.Z[r], y[r]) for r in rows]
        return np.array(counts, float), fits
    scores = np.abs(problem.Z.T @ (y - y.mean()))
    top = max(float(scores.max()) / n, 1.5 * alpha, 1e-6)  # of the lasso: all coefficients are 0
    top = max(100.0 * n, 10 * alpha) if method == "ridge" else top
    alphas = np.geomspace(top, alpha, frames)
    return alphas, [fit(MODELS[method](a), problem.Z, y) for a in alphas.tolist()]


def formula_of(problem: Problem, method: str, at: float, model: BaseEstimator) -> str:
    """The equation that this place solves, with its numbers."""
    if method == "lasso":
        return lasso_formula(problem, at, model)
    m = int(at) if method == "least squares" else len(problem.y)
    Z, y = problem.Z[:m], problem.y[:m]
    Zc, yc = Z - Z.mean(axis=0), y - y.mean()
    G, c = Zc.T @ Zc, Zc.T @ yc
    if not G.any():
        return f"{m} row{'s' * (m > 1)}: w = 0, b = ȳ = {number(model.intercept_)}"
    if problem.Z.shape[1] == 1:
        values = number(G[0, 0])
        if method == "ridge":
            by = f"w = Szy / (Szz + α) = {number(c[0])} / ({values} + {number(at)})"
            b = f"b = ȳ = {number(model.intercept_)}"
            return f"{by} = {number(model.coef_[0])},  {b};  {in_x(problem)}"
        return (
            f"w = Sxy / Sxx = {number(c[0])} / {values} = {number(model.coef_[0])},  "
            f"b = ȳ − w x̄ = {number(model.intercept_)}"
        )
    left = f"[{vector(G[0])}, {vector(G[1])}]"
    penalty = f" + {number(at)} I" if method == "ridge" else ""
    word = "X'X + αI" if method == "ridge" else "X'X"
    solved = f"({left}{penalty}) w = {vector(c)}  ⇒  w = {vector(model.coef_)}"
    return f"({word}) w = X'y:  {solved};  {in_x(problem)}"


def in_x(problem: Problem) -> str:
    """What the standardised columns are; the weights printed are theirs."""
    if problem.columns != "x":
        return "w is for the standardised columns"
    return f"z = (x − {number(problem.shift[0])}) / {number(problem.width[0])}"


def lasso_formula(problem: Problem, alpha: float, model: BaseEstimator) -> str:
    """w_j = S(z_j'r_j / n, alpha): every coefficient, given the others."""
    n, w = len(problem.y), model.coef_
    r = problem.y - model.predict(problem.Z)
    parts = []
    for j, name in enumerate(("w",) if len(w) == 1 else ("w₁", "w₂")):
        c = float(problem.Z[:, j] @ (r + problem.Z[:, j] * w[j])) / n
        parts.append(f"{name} = S({number(c)}, {number(alpha)}) = {number(w[j])}")
    return f"S(c, α) = sign(c) max(|c| − α, 0):  {',  '.join(parts)};  {in_x(problem)}"


def squares(problem: Problem, model: BaseEstimator, m: int, box: Sequence[float]) -> list[Any]:
    """The square of every residual, as high as the residual and as wide on the screen."""
    x, y = problem.x[:m][-MOST_SQUARES:], problem.y[:m][-MOST_SQUARES:]
    f = model.predict(problem.design(x))
    stretch = TALL * (box[1] - box[0]) / (box[3] - box[2])
    reach = box[3] - box[2]
    found = []
    for xi, yi, fi in zip(x, y, np.clip(f, box[2] - reach, box[3] + reach), strict=True):
        side = abs(yi - fi) * stretch * (1 if yi < fi else -1)
        x_corners = [xi, xi + side, xi + side, xi]
        found.append(area(x_corners, [yi, yi, fi, fi], colour="warn", opacity=0.13))
    return found


def plane_box(thetas: Any, q: int) -> tuple[float, float, float, float]:
    """Around the solution and most of the path; the whole ball of the norm q if there is one."""
    last = thetas[-1]
    if q:
        half = 1.2 * max(float(np.linalg.norm(thetas, q, axis=1).max()), 1e-3)
        return -half, half, -half, half
    usual = np.percentile(np.abs(thetas - last), 80, axis=0)
    reach = 1.25 * np.maximum(np.abs(last), usual)
    reach = np.maximum(reach, 0.3 * reach.max() + 1e-6)
    return spanned(last - reach, last + reach)


def loss_panel(problem: Problem, box: Sequence[float], *, equal: bool) -> Any:
    """Level lines of the training error, and where it is least."""
    best = fit(LinearRegression(), problem.Z, problem.y)
    centre, one = problem.theta(best), problem.Z.shape[1] == 1
    D = np.column_stack([np.ones(len(problem.y)), problem.Z]) if one else problem.Z
    H = D.T @ D / len(D)
    a, b = np.linspace(box[0], box[1], 60), np.linspace(box[2], box[3], 60)
    A, B = np.meshgrid(a, b)
    spread = np.stack([A - centre[0], B - centre[1]], axis=-1)
    rise = np.einsum("ijk,kl,ijl->ij", spread, H, spread)
    marks = [
        contours(a, b, rise, rise.max() * np.geomspace(0.003, 0.85, 9)),
        rule(x=0.0, dashed=False),
        rule(y=0.0, dashed=False),
        points(centre[:1], centre[1:], group="quiet", size=1.3, label="least squares"),
    ]
    title, x, y = "Parameters and training error", problem.names[0], problem.names[1]
    alt = "Level lines of the training error over two parameters."
    return plane("parameters", marks, title=title, equal=equal, x=x, y=y, box=box, alt=alt)


def ball_mark(problem: Problem, method: str, theta: Any, box: Sequence[float]) -> list[Any]:
    """The smallest penalty ball that holds the solution."""
    if method == "least squares":
        return []
    if problem.Z.shape[1] == 1:
        t = abs(float(theta[1]))
        return [area([box[0], box[1], box[1], box[0]], [-t, -t, t, t], label="|w| ≤ t")]
    q = 2.0 if method == "ridge" else 1.0
    size = float((np.abs(theta) ** q).sum())
    edge = ball(q, max(size, 1e-12), points=16)
    words = "w₁² + w₂² ≤ t" if method == "ridge" else "|w₁| + |w₂| ≤ t"
    return [
        area(edge[:, 0], edge[:, 1], label=words),
        line(np.r_[edge[:, 0], edge[0, 0]], np.r_[edge[:, 1], edge[0, 1]], width=1.5),
    ]


def path_panel(problem: Problem, method: str, at: Any, thetas: Any) -> Any:
    """Both parameters along the path."""
    names, rows = problem.names, method == "least squares"
    marks = [line(at, thetas[:, j], colour=j, width=1.8, label=names[j]) for j in (0, 1)]
    box = None
    if rows:
        calm = thetas[min(2, len(thetas) - 1) :]
        low = min(np.percentile(calm, 3), calm[-1].min())
        high = max(np.percentile(calm, 97), calm[-1].max())
        air = 0.3 * (high - low) + 0.2
        box = (float(at[0]), float(at[-1]), min(low - air, -air), max(high + air, air))
    x = "rows seen" if rows else "penalty α"
    title = "Parameters by number of rows" if rows else "Parameters by penalty α"
    alt = "Two parameters along the path; a dot marks this step."
    marks = [rule(y=0.0, dashed=False), *marks]
    return plane("path", marks, x=x, y="value", log_x=not rows, box=box, title=title, alt=alt)
