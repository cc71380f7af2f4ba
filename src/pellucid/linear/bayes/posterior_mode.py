r"""The posterior of logistic and softmax regression: its mode and its curvature there.

Model        y | x ~ Bernoulli(sigma(theta.d)), d = (1, x);   K > 2: softmax over theta_k.d
Prior        theta ~ N(m, V), the intercept included; K > 2: the same for every class
Posterior    log p(theta, y) = sum_i w_i log p(y_i | d_i, theta) + log N(theta; m, V)
Gradient     sum_i w_i (y_i - p_i) d_i - V^-1 (theta - m)
-Hessian     H = sum_i w_i p_i (1 - p_i) d_i d_i' + V^-1
             K > 2: block (k, l) is sum_i w_i p_ik ([k = l] - p_il) d_i d_i'
Algorithm    Newton: H step = gradient, halved until the log posterior grows. It is strictly
             concave (V^-1 > 0), so the mode is unique and finite, separable data or not.
Evidence     log p(y) ~ log p(mode, y) + q/2 log 2 pi - 1/2 log|H|      (Laplace)

Rows are taken LEAF_ROWS at a time in threads and summed in their order: the same bits for any
number of threads.    O(n d^2) per step, K^2/2 times that for K > 2
"""

from typing import NamedTuple

import numpy as np

from pellucid.core.algebra.linalg import solve_semidefinite
from pellucid.core.arrays.typing import Array
from pellucid.core.loops.backtrack import backtrack
from pellucid.core.loops.statistics import LEAF_ROWS, Rows, is_unit
from pellucid.core.runtime.threads import map_threads

LOG_2PI = float(np.log(2 * np.pi))
HALVINGS = 50
TOLERANCE = 1e-16  # squared Newton decrement: squared distance from the mode in its own metric
MAX_STEPS = 100


class Prior(NamedTuple):
    """N(mean, V); root'root = V^-1, of shape (1, q) where V is diagonal."""

    mean: Array  # (q,)
    root: Array  # (1, q) or (q, q)

    def residual(self, theta: Array) -> Array:
        """root (theta - mean)."""
        gap = theta - self.mean
        return self.root[0] * gap if len(self.root) == 1 else self.root @ gap

    def precision(self) -> Array:
        return np.diag(self.root[0] ** 2) if len(self.root) == 1 else self.root.T @ self.root

    def pull(self, theta: Array) -> Array:
        """V^-1 (theta - mean)."""
        u = self.residual(theta)
        return self.root[0] * u if len(self.root) == 1 else self.root.T @ u

    def log_density(self, theta: Array) -> float:
        u = self.residual(theta)
        scales = self.root[0] if len(self.root) == 1 else np.diag(self.root)
        return float(np.log(np.abs(scales)).sum() - 0.5 * (u @ u) - 0.5 * len(theta) * LOG_2PI)


class Terms(NamedTuple):
    """Log posterior, its gradient and minus its Hessian at one point."""

    value: float
    gradient: Array  # (q,)
    hessian: Array  # (q, q)


class Mode(NamedTuple):
    """Where Newton stands; ``halvings`` of the last step."""

    theta: Array
    terms: Terms
    halvings: int


def design(X: Array, fit_intercept: bool) -> Array:
    """(1, x) of every row."""
    return np.column_stack([np.ones(len(X)), X]) if fit_intercept else X


def binary_terms(D: Array, y: Array, w: Array, theta: Array) -> Terms:
    """The log likelihood of some rows, y in {0, 1}."""
    a = D @ theta
    e = np.exp(-np.abs(a))
    p = np.where(a >= 0, 1.0, e) / (1 + e)
    v = e / (1 + e) ** 2  # p (1 - p)
    value = y * a - np.maximum(a, 0.0) - np.log1p(e)
    R = D * np.sqrt(w * v)[:, None]
    return Terms(float(w @ value), (w * (y - p)) @ D, R.T @ R)


def softmax_terms(D: Array, y: Array, w: Array, theta: Array) -> Terms:
    """The same for class codes y in 0..K-1; theta is (K d,), class by class."""
    n, d = D.shape
    K = len(theta) // d
    A = D @ theta.reshape(K, d).T  # (n, K)
    top = A.max(axis=1, keepdims=True)
    P = np.exp(A - top)
    total = P.sum(axis=1, keepdims=True)
    P /= total
    rows = np.arange(n)
    value = w @ (A[rows, y] - top[:, 0] - np.log(total[:, 0]))
    Y = np.zeros((n, K))
    Y[rows, y] = 1.0
    gradient = ((Y - P) * w[:, None]).T @ D  # (K, d)
    H = np.empty((K, d, K, d))
    for k in range(K):
        for l in range(k + 1):  # noqa: E741  the letter of the formula
            v = w * P[:, k] * ((k == l) - P[:, l])
            H[k, :, l, :] = D.T @ (D * v[:, None])
            H[l, :, k, :] = H[k, :, l, :].T
    return Terms(float(value), gradient.ravel(), H.reshape(K * d, K * d))


def posterior_terms(
    rows: Rows, n_classes: int, fit_intercept: bool, prior: Prior, theta: Array
) -> Terms:
    """Log posterior and derivatives over all rows."""
    terms = binary_terms if n_classes == 2 else softmax_terms

    def leaf(start: int) -> Terms:
        part = rows.slice(start, min(start + LEAF_ROWS, rows.n_rows))
        return terms(design(part.X, fit_intercept), part.y, part.w, theta)

    value, gradient, hessian = prior.log_density(theta), -prior.pull(theta), prior.precision()
    for part in map_threads(leaf, range(0, rows.n_rows, LEAF_ROWS)):
        value += part.value
        gradient += part.gradient
        hessian += part.hessian
    return Terms(value, gradient, hessian)


def newton_step(
    rows: Rows, n_classes: int, fit_intercept: bool, prior: Prior, mode: Mode
) -> tuple[Mode, float]:
    """One step-halved Newton step and the squared Newton decrement before it."""
    value, gradient, hessian = mode.terms
    move = solve_semidefinite(hessian, gradient)
    rise = float(gradient @ move)
    slack = 1e-13 * (1 + abs(value))  # rounding of the value

    def attempt(t: float) -> tuple[tuple[Array, Terms], float]:
        theta = mode.theta + t * move
        terms = posterior_terms(rows, n_classes, fit_intercept, prior, theta)
        return (theta, terms), -terms.value

    found = backtrack(attempt, -value, -rise, most=HALVINGS, noise=slack)
    if found is None:
        return mode, 0.0  # no point nearby is better: rounding
    theta, terms = found.point
    return Mode(theta, terms, found.shortened), rise


def log_evidence(mode: Mode) -> float:
    """log p(mode, y) + q/2 log 2 pi - 1/2 log|H|."""
    volume = float(np.linalg.slogdet(mode.terms.hessian)[1])
    return mode.terms.value + 0.5 * len(mode.theta) * LOG_2PI - 0.5 * volume


def label_pull(rows: Rows, n_classes: int, fit_intercept: bool) -> Array:
    """t with t.theta the part of the log likelihood that is linear in theta."""
    D = design(rows.X, fit_intercept)
    if n_classes == 2:
        return (rows.w * rows.y) @ D
    Y = np.eye(n_classes)[rows.y] * rows.w[:, None]
    return (Y.T @ D).ravel()


def kernel_rows(rows: Rows, fit_intercept: bool) -> tuple[Array, Array]:
    """The design by columns (d, n) and the weights, none where all are 1."""
    live = rows.w > 0
    if is_unit(rows.w) or (rows.w == 1.0).all():
        return np.ascontiguousarray(design(rows.X, fit_intercept).T), np.empty(0)
    X, w = rows.X[live], np.ascontiguousarray(rows.w[live])
    weights = np.empty(0) if (w == 1.0).all() else w
    return np.ascontiguousarray(design(X, fit_intercept).T), weights
