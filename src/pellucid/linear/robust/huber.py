r"""Huber regression: squares for small residuals, absolute values for large ones, with a scale.

Minimise over b, w and the scale s > 0, with r = y - b - X w,

    L = sum_i [ s + H(r_i/s) s ] + alpha |w|^2,
    H(u) = u^2 for |u| <= epsilon,   2 epsilon |u| - epsilon^2 beyond,

which is jointly convex and makes the estimate independent of the units of y. Rows with
|r| > epsilon s are the outliers: they pull with constant force.

Algorithm    Newton with backtracking. On the inliers the Hessian is (2/s) sum z z' with
             z = (1, x, r/s), a Gram matrix; it is kept up to date by the few rows that change
             sides, so a step costs O(n p) after one O(n p^2) pass. Starts from ridge.

References: Huber & Ronchetti, Robust Statistics, section 7.8; Owen (2007), a robust hybrid of
lasso and ridge regression.
"""

from functools import partial
from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from pellucid.base import Regressor, with_callbacks
from pellucid.core.algebra.least_squares import finite, joint_moments
from pellucid.core.algebra.linalg import EPS, solve_semidefinite
from pellucid.core.arrays import check
from pellucid.core.arrays.sparse import to_dense
from pellucid.core.arrays.typing import Array, ArrayLike, BoolArray
from pellucid.core.loops.backtrack import backtrack
from pellucid.core.loops.iterate import FitContext
from pellucid.core.loops.statistics import Moments, Rows, Statistic, reduce_rows
from pellucid.core.records import Card
from pellucid.core.runtime.threads import map_threads, single_threaded_blas

REBUILD = 0.1  # share of rows that change sides from which the Gram matrix is summed afresh
SMALLEST = 1e-10  # of the spread of y: the scale of an exact fit
FALL = 0.75  # share of the scale that one step may take off


class Parameters(NamedTuple):
    """theta = (prediction at the shift, w), and the scale."""

    theta: Array  # (p + 1,), without an intercept theta[0] = 0
    scale: float


class HuberState(NamedTuple):
    """One iterate with what the next step needs; nothing is recomputed."""

    at: Parameters
    residuals: Array  # (n,)
    inlier: BoolArray  # (n,)
    gram: Array  # (p + 1, p + 1): sum over the inliers of (1, x - shift)(1, x - shift)'
    objective: float


class HuberData(NamedTuple):
    """The problem."""

    rows: Rows
    shift: Array  # (p,) means of X; 0 without an intercept
    epsilon: float
    alpha: float
    floor: float  # smallest scale
    intercept: bool
    weight: float


def leaf_products(shift: Array, rows: Rows) -> Array:
    """(1, x - shift)'V for columns V used instead of y: (p + 1, m)."""
    V = rows.y
    total = V.sum(axis=0)
    return np.vstack([total, rows.X.T @ V - np.outer(shift, total)])


def products(data: HuberData, V: Array) -> Array:
    """(1, x - shift)'V over all rows."""
    rows = Rows(data.rows.X, V, data.rows.w)
    found = reduce_rows(Statistic(partial(leaf_products, data.shift), np.add), rows, map_threads)
    return found if data.intercept else np.vstack([np.zeros(V.shape[1]), found[1:]])


def image(data: HuberData, theta: Array) -> Array:
    """theta_0 + (x - shift)'w for every row."""
    w = theta[1:]
    constant = theta[0] - data.shift @ w
    parts = map_threads(lambda span: span.rows.X[span.start : span.stop] @ w, data.rows.spans())
    return np.concatenate(list(parts)) + constant


def inlier_gram(data: HuberData, inlier: BoolArray, old: BoolArray, gram: Array) -> Array:
    """The Gram matrix of the inliers: ``gram``, that of ``old``, brought up to date."""
    moved = np.flatnonzero(inlier != old)
    if len(moved) > REBUILD * len(inlier):
        weights = np.where(inlier, data.rows.w, 0.0)
        return gram_about(joint_moments(data.rows._replace(w=weights), map_threads), data)
    gram = gram.copy()
    with single_threaded_blas():
        for start in range(0, len(moved), 4096):
            index = moved[start : start + 4096]
            X = data.rows.X[index]
            X = to_dense(X) - data.shift
            Z = np.column_stack([np.full(len(X), float(data.intercept)), X])
            signed = np.where(inlier[index], 1.0, -1.0) * data.rows.w[index]
            gram += Z.T @ (signed[:, None] * Z)
    return gram


def gram_about(total: Moments, data: HuberData) -> Array:
    """Sum of (1, x - shift)(1, x - shift)' from the moments of [X y]."""
    p = len(data.shift)
    z = np.append(float(data.intercept), total.mean[:p] - data.shift)
    gram = total.weight * np.outer(z, z)
    gram[1:, 1:] += total.scatter[:p, :p]
    return gram


def objective_of(data: HuberData, r: Array, at: Parameters) -> float:
    """L at residuals r."""
    s, e = at.scale, data.epsilon
    size = np.abs(r)
    inner = size <= e * s
    outer = e * np.maximum(2 * size - e * s, 0.0)  # of the rows within, nothing that overflows
    loss = np.where(inner, r * (r / s), outer)
    w = at.theta[1:]
    return float(data.weight * s + data.rows.w @ loss + data.alpha * (w @ w))


def start_state(data: HuberData, total: Moments, at: Parameters) -> HuberState:
    """The state at given parameters; ``total`` are the moments of [X y]."""
    r = data.rows.y - image(data, at.theta)
    inlier = np.abs(r) <= data.epsilon * at.scale
    every = np.ones(len(r), dtype=bool)
    gram = inlier_gram(data, inlier, every, gram_about(total, data))
    return HuberState(at, r, inlier, gram, objective_of(data, r, at))


class Slope(NamedTuple):
    """The gradient of L and the two sums of it that the Hessian shares."""

    gradient: Array  # (p + 2,): theta, then the scale
    pulls: Array  # (p + 1,): sum over the inliers of r (1, x - shift)
    squares: float  # sum over the inliers of r^2


def slope_of(data: HuberData, at: Parameters, r: Array, inlier: BoolArray) -> Slope:
    """The gradient at parameters whose residuals are r."""
    (theta, s), w, e = at, data.rows.w, data.epsilon
    inner = np.where(inlier, w * r, 0.0)
    outer = np.where(inlier, 0.0, w * np.sign(r))
    pulls, signs = products(data, np.column_stack([inner, outer])).T  # (p + 1,) each
    squares = float(inner @ r)
    by_theta = -2 / s * pulls - 2 * (e * signs) + penalty_of(data, theta) * theta
    by_scale = data.weight - squares / s**2 - e * (e * float(w[~inlier].sum()))
    return Slope(np.append(by_theta, by_scale), pulls, squares)


def penalty_of(data: HuberData, theta: Array) -> Array:
    """The curvature of alpha |w|^2 in each coordinate of theta; the intercept has none."""
    return np.append(0.0, np.full(len(theta) - 1, 2 * data.alpha))


def newton_direction(data: HuberData, state: HuberState) -> tuple[Array, float]:
    """The Newton direction in (theta, scale) and the decrease it promises, -g'd."""
    s = state.at.scale
    slope, pulls, squares = slope_of(data, state.at, state.residuals, state.inlier)
    H = np.zeros((len(slope), len(slope)))
    H[:-1, :-1] = 2 / s * state.gram + np.diag(penalty_of(data, state.at.theta))
    H[:-1, -1] = H[-1, :-1] = 2 / s**2 * pulls
    H[-1, -1] = 2 / s**3 * squares
    held = s <= data.floor and slope[-1] > 0  # the scale is at its floor and wants to fall
    free = np.arange(len(slope)) if not held else np.arange(len(slope) - 1)
    free = free if data.intercept else free[free != 0]
    direction = np.zeros(len(slope))
    direction[free] = -solve_semidefinite(H[np.ix_(free, free)], slope[free])
    return direction, float(-slope @ direction)


def huber_step(data: HuberData, state: HuberState) -> tuple[HuberState, float]:
    """One Newton step with backtracking; the gap is the root of its relative promise."""
    direction, promise = newton_direction(data, state)
    gap = float(np.sqrt(max(promise, 0.0) / (2 * max(state.objective, 1e-300))))
    if not promise > 0 or gap < 4 * EPS:
        return state, 0.0
    (theta, s), change = state.at, image(data, direction[:-1])
    fall = -direction[-1] / s
    t = min(1.0, FALL / fall) if fall > 0 else 1.0  # the scale stays positive

    def attempt(t: float) -> tuple[tuple[Parameters, Array, float], float]:
        at = Parameters(theta + t * direction[:-1], max(s + t * direction[-1], data.floor))
        r = state.residuals - t * change
        value = objective_of(data, r, at)
        return (at, r, value), value

    def slope_at(point: tuple[Parameters, Array, float]) -> float:
        at, r, _ = point
        return float(slope_of(data, at, r, np.abs(r) <= data.epsilon * at.scale)[0] @ direction)

    # Close to the minimum a step changes the objective by less than its rounding error: there the
    # slope decides, or the search would take ever shorter steps to wait for a lucky last digit.
    noise = 4 * EPS * abs(state.objective)
    found = backtrack(attempt, state.objective, -promise, start=t, noise=noise, slope_at=slope_at)
    if found is None:
        return state, 0.0  # no representable decrease is left
    at, r, value = found.point
    inlier = np.abs(r) <= data.epsilon * at.scale
    gram = inlier_gram(data, inlier, state.inlier, state.gram)
    value = min(value, state.objective)  # a rise within the noise is no rise
    return HuberState(at, r, inlier, gram, value), gap


def ridge_start(data: HuberData, total: Moments) -> Parameters:
    """Ridge and the root of its mean squared residual."""
    p = len(data.shift)
    G, B = total.scatter[:p, :p], total.scatter[:p, p]
    y_mean, square = total.mean[p], total.scatter[p, p]
    if not data.intercept:
        mean = total.mean[:p]
        G = G + total.weight * np.multiply.outer(mean, mean)
        B = B + total.weight * np.multiply.outer(mean, y_mean)
        square = square + total.weight * y_mean**2
    ridge = data.alpha + 1e-10 * np.trace(G) / max(p, 1)
    w = solve_semidefinite(G + ridge * np.eye(p), B)
    rss = max(square - 2 * (w @ B) + w @ G @ w, 0.0)
    scale = float(np.sqrt(rss / total.weight))
    return Parameters(np.append(y_mean if data.intercept else 0.0, w), max(scale, data.floor))


class HuberRegressor(Regressor):
    """Linear regression that outliers cannot pull far.

    Parameters
    ----------
    epsilon : float, default=1.35
        Residuals beyond ``epsilon`` times the scale are outliers, >= 1. With 1.35 the estimate is
        95 % as efficient as least squares when there are none.
    max_iter : int, default=100
        Largest number of steps.
    alpha : float, default=0.0001
        Penalty ``alpha |w|^2``, >= 0.
    warm_start : bool, default=False
        Start from the last fit.
    fit_intercept : bool, default=True
        Whether to fit an intercept.
    tol : float, default=1e-5
        Stop when the decrease that a Newton step promises is below ``2 tol^2`` of the objective.

    Attributes
    ----------
    coef_, intercept_, scale_ : slopes, intercept and the scale of the noise
    outliers_ : mask of the training rows with residuals beyond ``epsilon scale_``
    n_iter_, history_ : Newton steps; objective, scale and number of outliers of each

    Examples
    --------
    >>> import numpy as np
    >>> from pellucid import HuberRegressor
    >>> x = np.arange(10.0)
    >>> y = 2 * x + np.tile([0.1, -0.1], 5)
    >>> y[7] = 100.0
    >>> model = HuberRegressor().fit(x[:, None], y)
    >>> model.coef_.round(2), np.flatnonzero(model.outliers_)
    (array([2.]), array([7]))
    """

    _accepts_sparse = True
    _multi_output = False

    def __init__(
        self,
        *,
        epsilon: float = 1.35,
        max_iter: int = 100,
        alpha: float = 0.0001,
        warm_start: bool = False,
        fit_intercept: bool = True,
        tol: float = 1e-05,
    ) -> None:
        self.epsilon = epsilon
        self.max_iter = max_iter
        self.alpha = alpha
        self.warm_start = warm_start
        self.fit_intercept = fit_intercept
        self.tol = tol

    @with_callbacks
    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Find the coefficients and the scale of the noise."""
        self._check_parameters()
        rows = self._check_training(X, y, sample_weight)
        warm = self.warm_start and hasattr(self, "coef_")
        total = joint_moments(rows, map_threads)
        if not finite(total):
            raise ValueError("the squares of X or y overflow float64; scale the columns down")
        p = rows.X.shape[1]
        spread = np.sqrt(total.scatter[p, p] / total.weight) + abs(total.mean[p])
        shift = total.mean[:p] if self.fit_intercept else np.zeros(p)
        least = SMALLEST * max(float(spread), EPS)
        numbers = float(self.epsilon), float(self.alpha), least
        data = HuberData(rows, shift, *numbers, self.fit_intercept, total.weight)
        at = self._shifted(data) if warm else ridge_start(data, total)
        attributes = partial(_attributes, data)
        context = FitContext.of_rows(self, rows, sample_weight, self.max_iter, attributes)
        step, record = partial(huber_step, data), partial(_record, data)
        limits: dict[str, Any] = {"max_iter": self.max_iter, "tol": self.tol, "context": context}
        run = self._iterate(step, start_state(data, total, at), record=record, **limits)
        self.coef_, self.intercept_, self.scale_, self.outliers_ = attributes(run.state).values()
        self.objective_, self._converged = run.state.objective, run.converged
        return self

    def _check_parameters(self) -> None:
        check.boolean(warm_start=self.warm_start, fit_intercept=self.fit_intercept)
        check.non_negative(alpha=self.alpha, tol=self.tol)
        check.whole(at_least=0, max_iter=self.max_iter)
        check.positive(epsilon=self.epsilon)
        if self.epsilon < 1:
            raise ValueError(f"epsilon must be >= 1, got {self.epsilon!r}")

    def _shifted(self, data: HuberData) -> Parameters:
        """The last fit, to start from."""
        w, p = self.coef_, len(data.shift)
        if len(w) != p:
            raise ValueError(f"warm_start needs the {len(w)} columns of the last fit, got {p}")
        centre = self.intercept_ + data.shift @ w if data.intercept else 0.0
        return Parameters(np.append(centre, w), max(float(self.scale_), data.floor))

    def predict(self, X: ArrayLike) -> Array:
        """b + x'w of every row."""
        rows = self._check_input(X)
        return rows @ self.coef_ + self.intercept_

    def card(self) -> Card:
        """What is minimised and how, with the numbers of this fit."""
        check_is_fitted(self)
        many, n = int(self.outliers_.sum()), len(self.outliers_)
        notes = () if self._converged else ("the iteration did not converge",)
        end = "jointly convex: the minimum is global" if self._converged else "ended early"
        numbers = {"objective": self.objective_, "scale": self.scale_, "outliers": many, "n": n}
        return Card(
            representation="y = b + x'w" if self.fit_intercept else "y = x'w",
            evaluation=f"sum s + H(r/s) s + {self.alpha:g} |w|^2: squares up to {self.epsilon:g} s,"
            " absolute values beyond; the scale s is estimated too",
            optimisation=f"Newton with backtracking from ridge, {self.n_iter_} steps; {end}",
            numbers=numbers,
            warnings=notes,
        )


def _attributes(data: HuberData, state: HuberState) -> dict[str, Any]:
    theta, scale = state.at
    w = theta[1:].copy()
    b = float(theta[0] - data.shift @ w) if data.intercept else 0.0
    return {"coef_": w, "intercept_": b, "scale_": float(scale), "outliers_": ~state.inlier}


def _record(data: HuberData, state: HuberState) -> dict[str, Any]:
    found, outliers = _attributes(data, state), int((~state.inlier).sum())
    row = {"objective": state.objective, "scale": state.at.scale, "outliers": outliers}
    return {**row, "parameters": np.append(found["intercept_"], found["coef_"])}
