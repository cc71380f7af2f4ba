r"""L-BFGS for the logistic loss where the curvature is too large to be kept.

Only slopes are needed, X W' and R'X, so sparse matrices stay sparse. The start of the two-loop
recursion is not a multiple of I but the inverse of

    P_k = s_k X'X/N + r,        s_k = share_k (1 - share_k)

(Boehning's bound at the start; the class shares are those of the data), through one
eigendecomposition of the Gram matrix of some rows, or its diagonal where X is wide or sparse. Along
vectors that are the same for all classes the loss is flat and only the penalty curves, which P
would never see: theta and every step sum to 0 over the classes, as the minimum does. The gap is
sqrt(g'P^-1 g), the movement of the log-odds that is still to come, as in Newton's method.

References: Liu & Nocedal (1989); Hager & Zhang (2005) for the test of a step near the minimum.
"""

from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import issparse

from pellucid.core.algebra.two_loop import Pair, remember, two_loop
from pellucid.core.arrays.typing import Array
from pellucid.core.loops.backtrack import backtrack
from pellucid.core.loops.statistics import Rows
from pellucid.core.runtime.threads import single_threaded_blas
from pellucid.linear.logistic.sums import Point, Problem, evaluate

MEMORY = 10  # steps remembered
GRAM_ROWS = 20_000  # rows that tell the Gram matrix well enough
WIDEST_GRAM = 1500  # columns up to which its eigenvectors pay
ATTEMPTS = 35  # halvings of a step, to 6e-11 of it


class Preconditioner(NamedTuple):
    """P^-1 = V diag(inverse) V' for the slopes, a number for each intercept."""

    vectors: Array | None  # (p, p); None: the coordinates themselves
    inverse: Array  # (K', p)
    intercept: Array  # (K',)

    def apply(self, G: Array) -> Array:
        out = np.empty_like(G)
        out[:, 0] = self.intercept * G[:, 0]
        if self.vectors is None:
            out[:, 1:] = self.inverse * G[:, 1:]
        else:
            out[:, 1:] = (self.inverse * (G[:, 1:] @ self.vectors)) @ self.vectors.T
        return centred(out)


def centred(theta: Array) -> Array:
    """theta with columns that sum to 0 over the classes: the others add nothing to the model.

    >>> centred(np.array([[1.0], [2.0], [6.0]])).ravel()
    array([-2., -1.,  3.])
    """
    return theta if len(theta) == 1 else theta - theta.mean(axis=0)


class LbfgsState(NamedTuple):
    """A point and the steps that led to it."""

    point: Point
    steps: tuple[Pair, ...]  # oldest first
    gap: float
    share: float
    before: float  # the gap one step earlier


def make_preconditioner(problem: Problem) -> Preconditioner:
    """From the rows in memory."""
    rows = problem.source
    assert isinstance(rows, Rows)
    share = problem.counts / problem.total
    s = share * (1 - share)
    s = s[:1] if problem.n_scores == 1 else s
    ridge, p = problem.ridge[1:], len(problem.shift)
    intercept = s + problem.ridge[0]
    inverse_b = np.where(intercept > 0, 1 / np.where(intercept > 0, intercept, 1.0), 0.0)
    some = slice(None, None, max(1, rows.n_rows // GRAM_ROWS))
    X, w = (rows.X, rows.w) if issparse(rows.X) else (rows.X[some], np.array(rows.w[some]))
    w = w if w.any() else np.ones(len(w))
    if issparse(X) or p > WIDEST_GRAM:
        squares = X.power(2) if issparse(X) else (X - problem.shift) ** 2
        mean = np.asarray(squares.T @ w).ravel() / w.sum()
        P = s[:, None] * mean + ridge
        floor = 1e-3 * P.mean(axis=1, keepdims=True)  # the sample may not show a rare column
        return Preconditioner(None, 1 / np.maximum(P, np.maximum(floor, 1e-300)), inverse_b)
    C = np.sqrt(w / w.sum())[:, None] * (X - problem.shift)
    d, V = np.linalg.eigh(C.T @ C)
    d = np.maximum(d, 1e-10 * max(d[-1], 1e-300))
    return Preconditioner(V, 1 / (s[:, None] * d + ridge[0]), inverse_b)


def start_lbfgs(problem: Problem, P: Preconditioner, theta: Array) -> LbfgsState:
    """The state at theta."""
    point = evaluate(problem, theta, curved=False)
    return LbfgsState(point, (), precise_gap(P, point.slope), 1.0, np.inf)


def precise_gap(P: Preconditioner, slope: Array) -> float:
    """sqrt(g'P^-1 g)."""
    return float(np.sqrt(max(float(np.vdot(slope, P.apply(slope))), 0.0)))


def lbfgs_step(problem: Problem, P: Preconditioner, state: LbfgsState) -> tuple[LbfgsState, float]:
    """One step with backtracking."""
    old = state.point
    with single_threaded_blas():
        rescale = P.vectors is not None  # a diagonal P has the scale that the penalty gives
        d = -two_loop(old.slope, state.steps, P.apply, rescale=rescale)
        promise = float(np.vdot(old.slope, d))
        if not promise < 0:  # the memory no longer fits
            state = state._replace(steps=())
            d = -P.apply(old.slope)
            promise = float(np.vdot(old.slope, d))

        def attempt(share: float) -> tuple[Point, float]:
            point = evaluate(problem, old.theta + share * d, curved=False)
            return point, point.objective

        how: dict[str, Any] = {"most": ATTEMPTS, "noise": 1e-13 * abs(old.objective)}
        how["slope_at"] = lambda point: float(np.vdot(point.slope, d))
        found = backtrack(attempt, old.objective, promise, **how)
        if found is None:  # forget the steps; without any to forget, rounding is reached
            left = state.gap if state.steps else 0.0
            return state._replace(steps=(), share=0.0, before=state.gap), left
        point = found.point
        steps = remember(state.steps, point.theta - old.theta, point.slope - old.slope, MEMORY)
        gap = precise_gap(P, point.slope)
    return LbfgsState(point, steps, gap, found.t, state.gap), gap
