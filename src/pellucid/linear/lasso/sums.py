r"""The lasso and the elastic net from the moments of [X y]: one pass over the rows, then no more.

    F(w) = |y - X w|^2 / 2 + sum_j l1_j |w_j| + sum_j l2_j w_j^2 / 2

needs only G = X'X, q = X'y and y'y. Columns without a penalty (and the intercept) are eliminated:
with f those and j the others, w_f = G_ff^-1 (q_f - G_fj w_j) whatever w_j is, which leaves

    G = G_jj - G_jf G_ff^-1 G_fj,     q = q_j - G_jf G_ff^-1 q_f,     y'y - q_f'G_ff^-1 q_f.

Cost: n p^2 / 2 once, then O(m p) per change of the support; blocks of a file serve as well as rows.
"""

from typing import NamedTuple

import numpy as np
from scipy.linalg import lapack

from pellucid.compiled.epochs.coordinate import duality_gap, gram_path, solve_gram
from pellucid.core.algebra.least_squares import normal_system
from pellucid.core.algebra.linalg import EPS, Solved, solve_svd
from pellucid.core.arrays.typing import Array, BoolArray, IntArray
from pellucid.core.loops.statistics import Moments

DEPENDENT = 1e-12  # share of x_j'x_j left after the free columns below which nothing is left


class State(NamedTuple):
    """Where the descent is: F(w) times 1 (not 1/n), its duality gap, and c = X'(y - X w)."""

    w: Array  # (m,)
    c: Array  # (m,)
    value: float
    gap: float


class PathFit(NamedTuple):
    """One row per strength."""

    coefs: Array  # (L, m)
    gaps: Array  # (L,) of F, to be divided by n for scikit-learn's objective
    sweeps: IntArray  # (L,)


class Coefficients(NamedTuple):
    """Slopes (L, p) and intercepts (L,) in the units of X."""

    coef: Array
    intercept: Array


class SumsProblem:
    """The penalised columns of one data set, for each of its targets."""

    def __init__(
        self, total: Moments, p: int, *, unknowns: str, weights: Array, positive: BoolArray
    ) -> None:
        """``unknowns`` as in ``normal_system``; weights and positive belong to them."""
        G, B, Y = normal_system(total, p, unknowns)
        self.n, self.total, self.p, self.unknowns = total.weight, total, p, unknowns
        self.columns, self.free = np.flatnonzero(weights > 0), np.flatnonzero(weights == 0)
        self.weights = np.ascontiguousarray(weights[self.columns])
        self.positive = np.ascontiguousarray(positive[self.columns])
        j, f = self.columns, self.free
        self.G, self.Q, yy = G[np.ix_(j, j)], B[j], np.diag(Y).copy()
        self.slopes, self.offset = np.zeros((0, len(j))), np.zeros((0, B.shape[1]))
        self.free_rank = len(f)
        if len(f):
            solved = eliminate(G[np.ix_(f, f)], np.hstack([G[np.ix_(f, j)], B[f]]))
            self.slopes, self.offset = solved.theta[:, : len(j)], solved.theta[:, len(j) :]
            self.free_rank = solved.rank
            before = np.diag(self.G).copy()
            self.G = self.G - G[np.ix_(j, f)] @ self.slopes
            self.Q = self.Q - G[np.ix_(j, f)] @ self.offset
            gone = np.diag(self.G) <= DEPENDENT * before
            self.G[gone], self.G[:, gone], self.Q[gone] = 0.0, 0.0, 0.0
            yy = yy - (B[f] * self.offset).sum(axis=0)
        self.G = np.ascontiguousarray(self.G)
        self.yy = np.maximum(yy, 0.0)

    def target(self, t: int) -> Array:
        """q = X'y of one target."""
        return np.ascontiguousarray(self.Q[:, t])

    def scores(self, c: Array) -> Array:
        """How strong a penalty each column can stand: it stays 0 while l1 >= its score."""
        return (np.where(self.positive, c.T, np.abs(c.T)) / self.weights).T

    def start(self, t: int, w: Array, l1: float, l2: float) -> State:
        """The state of some coefficients before the first round."""
        a, b, q = l1 * self.weights, l2 * self.weights, self.target(t)
        c = q - self.G @ w
        gap, value = duality_gap(len(q), q, c, w, a, b, self.positive, self.yy[t])
        return State(w.copy(), c, value, gap)

    def round(self, t: int, state: State, l1: float, l2: float, tol: float) -> State:
        """Sweeps and exact steps until the gap is at most ``tol`` y'y and the support is solved."""
        q, yy = self.target(t), self.yy[t]
        w, c, m = state.w.copy(), q - self.G @ state.w, len(state.w)
        penalty = l1 * self.weights, l2 * self.weights, self.positive
        _, gap, value = solve_gram(self.G, m, q, c, w, *penalty, yy, tol * yy, True, 1000)
        return State(w, c, value, gap)

    def path(
        self, t: int, l1: Array, l2: Array, *, tol: float, max_sweeps: int, start: Array
    ) -> PathFit:
        """Solve for every (l1[i], l2[i]), each from the one before."""
        m, count = len(self.columns), len(l1)
        coefs, gaps = np.empty((count, m)), np.empty(count)
        data = self.G, self.target(t), self.yy[t]
        penalty = np.array(l1), np.array(l2), self.weights, self.positive
        limits = tol * self.yy[t], max_sweeps
        sweeps = gram_path(*data, *penalty, np.array(start), *limits, coefs, gaps)
        return PathFit(coefs, gaps, sweeps)

    def ridge(self, t: int, l2: float) -> State:
        """The solution where l1 = 0 < l2, with the gap of its dual y'r - |r|^2/2 - |c|^2/(2 l2)."""
        b, q, yy = l2 * self.weights, self.target(t), self.yy[t]
        w = lapack.dposv(self.G + np.diag(b), q)[1]
        c = q - self.G @ w
        rr = yy - w @ q - w @ c
        value = 0.5 * (rr + b @ w**2)
        dual = yy - w @ q - 0.5 * rr - 0.5 * (c**2 / b).sum()
        return State(w, c, float(value), max(float(value - dual), 0.0))

    def least_squares(self, t: int) -> tuple[Array, bool]:
        """The least-norm solution without any penalty, and whether it is the only one."""
        live = np.diag(self.G) > 0
        solved = eliminate(self.G, self.Q[:, [t]])
        return solved.theta[:, 0], solved.rank == int(live.sum())

    def cross_products(self, columns: IntArray) -> Array:
        """X_E'X_E of some of the penalised columns."""
        return self.G[np.ix_(columns, columns)]

    def expand(self, t: int, W: Array) -> Coefficients:
        """Coefficients (L, m) of the penalised columns as slopes and intercepts."""
        theta = np.zeros((len(W), len(self.columns) + len(self.free)))
        theta[:, self.columns] = W
        theta[:, self.free] = self.offset[:, t] - W @ self.slopes.T
        if self.unknowns == "all":
            return Coefficients(theta[:, 1:], theta[:, 0])
        if self.unknowns == "slopes":
            return Coefficients(theta, np.zeros(len(W)))
        mean, y_mean = self.total.mean[: self.p], self.total.mean[self.p + t]
        return Coefficients(theta, y_mean - theta @ mean)


def eliminate(G: Array, B: Array) -> Solved:
    """Least-norm solution of G theta = B for a Gram matrix that may be singular."""
    scale = np.sqrt(np.diag(G))
    scale = np.where(scale > 0, scale, 1.0)
    values, V = np.linalg.eigh(G / np.outer(scale, scale))
    root = np.sqrt(np.where(values > len(G) * EPS * values.max(initial=0.0), values, 0.0))
    A, right, r = root[:, None] * V.T * scale, V.T @ (B / scale[:, None]), root[:, None]
    c = np.divide(right, r, out=np.zeros(B.shape), where=r > 0)
    return solve_svd(A, c, np.sqrt(len(G) * EPS))
