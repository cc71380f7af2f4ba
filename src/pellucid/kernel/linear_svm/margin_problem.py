r"""Support vector problems with a linear score, in one form, and where they are evaluated.

Primal       P(w, b) = |w|^2/2 + sum_i v_i l(y_i - w.x_i - b)
Loss         l(e) = max p e - epsilon |p| - p^2/(2 kappa)   over low_i <= p <= high_i
             hinge                C (1 - y f)_+      (0, C) for y = 1, (-C, 0) for y = -1
             squared hinge        C (1 - y f)_+^2    the same without an end, kappa = 2C
             epsilon-insensitive  C (|e| - epsilon)_+    (-C, C);  squared: no end, kappa = 2C
             (for y = -1 or +1: y - f = y (1 - y f))
Dual         D(p) = sum v (p y - epsilon |p| - p^2/(2 kappa)) - |sum v p x|^2/2,
             sum v p = 0 where the intercept is free;   D <= min P <= P

A point of the primal gives a p inside its box. Scaling its positive or its negative part down until
both sums agree makes it feasible, so that P - D bounds the distance to the minimum; since |w|^2/2
is strongly convex, |w - w*|^2 <= 2 (P - D).

Weights v are repetitions throughout: v copies of a row have one and the same p.
"""

from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import issparse

from pellucid.core.algebra.linalg import solve_semidefinite
from pellucid.core.arrays.typing import Array, ArrayLike
from pellucid.core.loops.statistics import is_unit
from pellucid.core.runtime import simd
from pellucid.core.runtime.threads import map_threads
from pellucid.kernel.linear_svm import margin_kernels
from pellucid.kernel.linear_svm.sparse_rows import SparseRows

LEAF = 16_384  # rows of a task
WIDEST = 256  # columns up to which tiles serve
LARGEST = 2000  # columns of a sparse matrix whose curvature is formed
CG_STEPS = 500
PACK = 0.6  # share of the rows up to which it pays to copy those of the curvature
FORCING = (1e-3, 3e-2)  # share of the squared residual that an inexact step may leave
MANY = 50_000  # rows of which a sample has the mean
DAMPING = 1e5  # of delta, where no row has curvature


class Loss(NamedTuple):
    """The numbers of a loss; ``upper`` or ``kappa`` may be infinite."""

    classify: bool
    upper: float
    kappa: float
    epsilon: float = 0.0

    def row(self, inv_sigma: float) -> Array:
        """As the kernel takes them."""
        known = float(self.classify), self.upper, self.epsilon, 1.0 / self.kappa
        return np.array([*known, inv_sigma])


def make_loss(name: str, C: float, epsilon: float = 0.0) -> Loss:
    """The loss by scikit-learn's name.

    >>> make_loss("squared_hinge", 1.0)
    Loss(classify=True, upper=inf, kappa=2.0, epsilon=0.0)
    """
    classify, squared = name.endswith("hinge"), name.startswith("squared")
    return Loss(classify, np.inf if squared else C, 2.0 * C if squared else np.inf, epsilon)


class Point(NamedTuple):
    """What the problem looks like at theta = (b, w), intercept first."""

    theta: Array  # (d,)
    e: Array  # (n,) residuals y - f
    P: Array  # (n,) dual variables
    value: float  # of the smoothed problem, with its penalty
    objective: float  # of the problem itself
    gap: float  # P - D
    slope: Array  # (d,) of the smoothed problem
    curvature: Any  # (d, d) without the penalty, or what stands for it
    n_free: int


class Problem(NamedTuple):
    """Rows, loss and penalty; ``ridge`` (d,) is 1 for what is penalised, 0 for a free intercept."""

    X: Any
    y: Array
    v: Array
    loss: Loss
    ones: float  # value of the intercept's column; 0 without one
    ridge: Array
    shift: Array
    sparse: SparseRows | None = None  # X, where it is sparse

    @property
    def free(self) -> bool:
        """Whether the intercept is there and not penalised."""
        return self.ridge[0] == 0.0


class Smoothing(NamedTuple):
    """Centre and width of the proximal terms; sigma = inf: none."""

    P0: Array
    sigma: float
    b0: float
    delta: float


class Sums(NamedTuple):
    found: Array  # (STATISTICS,)
    g: Array  # (2, d)
    curvature: Any


def typical_row(X: Array, v: Array) -> Array:
    """The mean of the rows, of some of many; exact where a column is constant.

    >>> typical_row(np.array([[5.0, 0.0], [5.0, 3.0]]), np.array([1.0, 2.0]))
    array([5., 2.])
    """
    live = np.flatnonzero(v > 0)
    if len(live) > MANY:
        live = live[:: len(live) // 1000]
    rows, first = X[live], X[live[0]]
    return first + v[live] @ (rows - first) / v[live].sum()


def make_problem(
    X: Any, y: Array, v: Array, loss: Loss, *, intercept: bool, scaling: float | None
) -> Problem:
    """``scaling`` is None for a free intercept, else the value of its penalised column."""
    p = X.shape[1]
    ridge, shift = np.ones(p + 1), np.zeros(p)
    free = intercept and scaling is None
    if free:
        ridge[0] = 0.0
        if not issparse(X):
            shift = typical_row(X, v)
    ones = 1.0 if free else float(scaling or 0.0) if intercept else 0.0
    return Problem(X, y, v, loss, ones, ridge, shift, SparseRows(X) if issparse(X) else None)


def dual_rows(problem: Problem, e: Array, P0: Array, inv_sigma: float) -> tuple[Array, Any]:
    """p of each row, and whether it is free: the NumPy twin of the kernel."""
    loss, y = problem.loss, problem.y
    m = e + inv_sigma * P0
    size = (np.abs(m) - loss.epsilon) / (1.0 / loss.kappa + inv_sigma)
    P = np.sign(m) * np.clip(size, 0.0, loss.upper)
    free = (size > 0) & (size < loss.upper)
    if loss.classify:
        right = P * y > 0
        P, free = np.where(right, P, 0.0), free & right
    return P, free


def row_losses(loss: Loss, y: Array, e: Array) -> Array:
    """The loss of each residual.

    >>> row_losses(make_loss("hinge", 2.0), np.array([1.0, -1.0]), np.array([0.5, 0.5]))
    array([1., 0.])
    """
    u = np.maximum(np.abs(e) - loss.epsilon, 0.0)
    if loss.classify:
        u = np.where(e * y > 0, u, 0.0)
    return 0.5 * loss.kappa * u**2 if np.isfinite(loss.kappa) else loss.upper * u


def is_tiled(X: ArrayLike) -> bool:
    """Whether the compiled tiles serve, else products of the whole matrix."""
    return isinstance(X, np.ndarray) and X.shape[1] <= WIDEST


def writeable(a: Array) -> Array:
    """A kernel would be compiled anew for a read-only array."""
    return a if a.flags.writeable else a.copy()


def design_times(problem: Problem, d: Array) -> Array:
    """D d of every row."""
    X = problem.X
    w = np.array(d[1:])
    b = float(problem.ones * d[0] - w @ problem.shift)
    if problem.sparse is not None:
        return problem.sparse.scores(w, b)
    if not is_tiled(X):
        return X @ w + b
    z = np.empty(len(X))

    def leaf(start: int) -> None:
        part = slice(start, start + LEAF)
        margin_kernels.scores(writeable(X[part]), w, b, z[part])

    list(map_threads(leaf, range(0, len(X), LEAF)))
    return z


def line_slopes(problem: Problem, e: Array, f: Array, t: float, smooth: Smoothing) -> Array:
    """Slope and curvature of the smoothed losses along a direction whose scores are f."""
    row, n = problem.loss.row(1.0 / smooth.sigma), len(e)
    weighted = not is_unit(problem.v)

    def leaf(start: int) -> tuple[float, float]:
        part = slice(start, start + LEAF)
        rows = problem.y[part], problem.v[part] if weighted else e[:0], weighted
        return margin_kernels.line_sums(e[part], f[part], t, *rows, smooth.P0[part], row)

    return np.sum(list(map_threads(leaf, range(0, n, LEAF))), axis=0)


def _tiled(problem: Problem, e: Array, smooth: Smoothing) -> tuple[Array, Sums]:
    X, y, v = problem.X, problem.y, problem.v
    n, p = X.shape
    d = -(-(p + 1) // simd.LANES) * simd.LANES
    row = problem.loss.row(1.0 / smooth.sigma)
    weighted = not is_unit(v)
    P = np.empty(n)

    def leaf(start: int) -> Sums:
        part = slice(start, start + LEAF)
        G, g, found = np.zeros((d, d)), np.zeros((2, d)), np.zeros(margin_kernels.STATISTICS)
        weights = v[part] if weighted else y[:0]
        rows = writeable(X[part]), y[part], weights, weighted, problem.shift, problem.ones
        near = e[part], smooth.P0[part], row, np.zeros((margin_kernels.BLOCK_ROWS, d))
        margin_kernels.margin_sums(*rows, *near, P[part], G, g, found)
        return Sums(found, g, G)

    parts = list(map_threads(leaf, range(0, n, LEAF)))
    found, g, G = (sum(part[i] for part in parts) for i in range(3))
    G = G[: p + 1, : p + 1]
    return P, Sums(found, g[:, : p + 1], np.tril(G) + np.tril(G, -1).T)


def _plain(problem: Problem, e: Array, smooth: Smoothing) -> tuple[Array, Sums]:
    """The same sums with products of the whole matrix: sparse or wide."""
    X, y, v, loss = problem.X, problem.y, problem.v, problem.loss
    inv_sigma = 1.0 / smooth.sigma
    P, free = dual_rows(problem, e, smooth.P0, inv_sigma)
    absolute, square = loss.epsilon * np.abs(P), P**2 / loss.kappa
    inner = P * e - absolute - 0.5 * square - 0.5 * inv_sigma * (P - smooth.P0) ** 2
    line = v * (P * y - absolute)
    up = P > 0
    Q = np.stack([np.where(up, v * P, 0.0), np.where(up, 0.0, v * P)])  # (2, n)
    total = Q.sum(axis=1)
    g = np.empty((2, X.shape[1] + 1))
    g[:, 0] = problem.ones * total
    sums = (X.T @ Q.T).T if problem.sparse is None else problem.sparse.slopes(v * P)
    g[:, 1:] = sums - np.outer(total, problem.shift)
    squares = v * P**2
    free &= v > 0
    h = np.where(free, v / (1 / loss.kappa + inv_sigma), 0.0)
    sides = [line[up].sum(), line[~up].sum(), squares[up].sum(), squares[~up].sum()]
    found = np.array([v @ row_losses(loss, y, e), v @ inner, *sides, np.count_nonzero(free)])
    if problem.sparse is not None:
        return P, Sums(found, g, FreeRows(problem.sparse, h))
    return P, Sums(found, g, FreeRows(X[free], h[free]))


class FreeRows(NamedTuple):
    """The rows that make the curvature, and their weights; of sparse rows all, most of weight 0."""

    X: Any
    h: Array

    def matrix(self, problem: Problem) -> Array:
        """D'diag(h) D."""
        q = self.X.shape[1] + 1
        G = np.empty((q, q))
        total = self.h.sum()
        if isinstance(self.X, SparseRows):
            free = np.flatnonzero(self.h)
            X, h = self.X.matrix[free], self.h[free]
            G[1:, 1:] = (X.T @ X.multiply(h[:, None]).tocsr()).toarray()
            G[1:, 0] = problem.ones * (X.T @ h)
        else:
            Z = np.sqrt(self.h)[:, None] * (self.X - problem.shift)
            G[1:, 1:] = Z.T @ Z
            G[1:, 0] = problem.ones * (Z.T @ np.sqrt(self.h))
        G[0, 1:] = G[1:, 0]
        G[0, 0] = problem.ones**2 * total
        return G

    def times(self, problem: Problem, d: Array) -> Array:
        """D'diag(h) D d."""
        out = np.empty(len(d))
        b = float(problem.ones * d[0] - d[1:] @ problem.shift)
        if isinstance(self.X, SparseRows):
            out[1:], total = self.X.curvature(self.h, d[1:], b)
        else:
            u = self.h * (self.X @ d[1:] + b)
            total = float(u.sum())
            out[1:] = self.X.T @ u - total * problem.shift
        out[0] = problem.ones * total
        return out

    def packed(self) -> "FreeRows":
        """The same without the sparse rows of weight 0, where they are many."""
        if not isinstance(self.X, SparseRows):
            return self
        free = np.flatnonzero(self.h)
        if len(free) > PACK * len(self.h):
            return self
        return FreeRows(SparseRows(self.X.matrix[free]), self.h[free])

    def diagonal(self, problem: Problem) -> Array:
        """Of D'diag(h) D, the shift left out: a preconditioner."""
        sparse = isinstance(self.X, SparseRows)
        squares = self.X.squares(self.h) if sparse else (self.X**2).T @ self.h
        return np.concatenate([[problem.ones**2 * self.h.sum()], squares])


def dual_bound(problem: Problem, found: Array, g: Array) -> float:
    """D at the feasible point next to p; the penalised part of the slopes is |sum v p d|."""
    s = np.ones(2)
    if problem.free:
        up, down = g[0, 0], -g[1, 0]
        if up <= 0 or down <= 0:
            s[:] = 0.0
        elif up > down:
            s[0] = down / up
        else:
            s[1] = up / down
    u = (s[0] * g[0] + s[1] * g[1]) * problem.ridge
    quad = float((s**2 * found[4:6]).sum()) / problem.loss.kappa
    return float(s @ found[2:4]) - 0.5 * float(u @ u) - 0.5 * quad


def evaluate(problem: Problem, theta: Array, e: Array, smooth: Smoothing) -> Point:
    """Losses, slope, curvature and gap at theta, whose residuals are e."""
    P, (found, g, curvature) = (_tiled if is_tiled(problem.X) else _plain)(problem, e, smooth)
    ridge = problem.ridge
    penalty = 0.5 * float(ridge @ theta**2)
    off = theta[0] - smooth.b0
    near = 0.5 * smooth.delta * off * off if problem.free else 0.0
    slope = ridge * theta - g.sum(axis=0)
    if problem.free:
        slope[0] += smooth.delta * off
    objective = penalty + float(found[0])
    gap = max(objective - dual_bound(problem, found, g), 0.0)
    value = penalty + near + float(found[1])
    return Point(theta, e, P, value, objective, gap, slope, curvature, int(found[6]))


def is_costly(problem: Problem) -> bool:
    """Whether a direction takes many products with the rows."""
    return not is_tiled(problem.X) and problem.X.shape[1] > LARGEST


def newton_direction(problem: Problem, point: Point, delta: float) -> Array:
    """-H^-1 slope, by Cholesky where H is small, else by conjugate gradients."""
    ridge = problem.ridge.copy()
    if problem.free:
        ridge[0] = delta if point.n_free else DAMPING * delta
    H = point.curvature
    if isinstance(H, FreeRows):
        if is_costly(problem):
            share = point.gap / max(point.objective, 1e-300)  # far away a rough step will do
            return conjugate_gradients(problem, H, ridge, -point.slope, np.clip(share, *FORCING))
        H = H.matrix(problem)
    return -solve_semidefinite(H + np.diag(ridge), point.slope)


def conjugate_gradients(
    problem: Problem, H: FreeRows, ridge: Array, r: Array, forcing: float
) -> Array:
    """The solution of (H + ridge) d = r up to a share of |r|^2, preconditioned by the diagonal."""
    H = H.packed()
    inverse = 1.0 / (ridge + H.diagonal(problem))
    d, r = np.zeros(len(r)), r.copy()
    z = inverse * r
    s, rho = z.copy(), float(r @ z)
    goal = forcing * rho
    for _ in range(CG_STEPS):
        if rho <= goal or rho <= 0.0:
            break
        A = ridge * s + H.times(problem, s)
        t = rho / float(s @ A)
        d += t * s
        r -= t * A
        z = inverse * r
        rho, old = float(r @ z), rho
        s = z + (rho / old) * s
    return d
