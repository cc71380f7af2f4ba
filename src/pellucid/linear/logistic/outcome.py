"""How a logistic fit ended: its certificate, its covariance, and whether the classes are separated.

Separation is looked at only where the fit points to it: no row is wrong (then the rule at hand is
the proof), or the steps do not shrink as they do near a minimum, or the curvature has become
singular. For rows in memory a linear programme has the last word, unless rows times classes make
it too large; there, and for files, the late movement of the parameters is tried as the direction
in which the likelihood rises for ever.
"""

from functools import partial
from typing import Any, NamedTuple

import numpy as np
import scipy
from scipy.linalg import lapack

from pellucid.core.algebra.linalg import in_range
from pellucid.core.arrays.tensors import like, namespace
from pellucid.core.arrays.typing import Array, ArrayLike
from pellucid.core.loops.device import DeviceRows, on_device
from pellucid.core.loops.iterate import History, Iteration
from pellucid.core.loops.statistics import Rows, Statistic, reduce_rows
from pellucid.linear.logistic.newton import last_step, lift_null_space
from pellucid.linear.logistic.rule import tensor_probabilities
from pellucid.linear.logistic.sums import Problem
from pellucid.linear.perceptron.separability import separate

SLOW = 0.2  # ratio of the last gaps; near a minimum the gap is squared
FAR = 12.0  # log-odds that a separated fit has reached by then
LARGE = 200_000_000  # numbers in a programme that would take minutes
WITNESS = 1e-6  # margin, relative to the largest, that rounding may leave below 0


class Outcome(NamedTuple):
    """The end of a fit, by any route."""

    theta: Array  # (K', q) in shifted columns
    loss: float  # summed
    wrong: int
    converged: bool
    suspicious: bool  # whether it points to separation
    how: str
    certificate: str = ""
    dependent: tuple[int, ...] = ()  # columns
    df: float | None = None
    covariance: Array | None = None  # ((K-1)q, (K-1)q) in the units of X, against the first class
    direction: Array | None = None  # (K', q) where theta ran at last


def newton_outcome(problem: Problem, run: Iteration, sampled: bool) -> Outcome:
    """The outcome of a Newton run, read from its last state."""
    state = run.state
    point, solved, m = state.point, state.solved, problem.n_scores
    q = len(problem.ridge)
    theta = last_step(state) if run.converged else point.theta
    H = lift_null_space(point.curvature, problem.ridge, m)
    free = (problem.ridge == 0).sum() if m > 1 else 0  # directions lifted
    columns = sorted({j % q - 1 for j in solved.dependent if j % q > 0})
    inverse = None if solved.rank < len(H) else inverse_of(H)
    ridge = np.tile(problem.ridge, m)
    df = float(solved.rank - free)
    if inverse is not None:
        df -= float(np.diag(inverse) @ ridge)
    elif ridge.any():
        df -= float(np.diag(np.linalg.pinv(in_range(H, "the curvature"))) @ ridge)
    definite = solved.rank == len(H)
    only = "positive definite: the minimum is the only one"
    many = "only positive semidefinite (dependent columns): one of many minima"
    certificate = f"the Hessian is {only if definite else many}"
    certificate = certificate if run.converged else "ended before it converged"
    shrinks = run.n_iter <= 2 or state.gap <= SLOW * state.before
    suspicious = not run.converged or not definite or not shrinks
    how = f"Newton (iteratively reweighted least squares) with step halving: {run.n_iter} steps"
    how += " after a start on a sample of the rows" if sampled else ""
    how += f", movement of the log-odds to come {state.gap:.2g}"
    covariance = None
    if definite and run.converged and not problem.ridge[1:].any():
        covariance = parameter_covariance(problem, H if m == 1 else point.curvature)
    late = late_movement(problem, run.history)
    found = theta, point.loss, point.wrong, run.converged, suspicious, how, certificate
    return Outcome(*found, tuple(columns), df, covariance, late)


def late_movement(problem: Problem, history: History) -> Array | None:
    """theta now less theta at three quarters of the steps: where it runs to, if it does."""
    if len(history) < 4 or "parameters" not in history.columns:
        return None
    T = history["parameters"]
    move = np.atleast_2d(T[-1] - T[(3 * len(T)) // 4 - 1])
    if not problem.intercept:
        return np.column_stack([np.zeros(len(move)), move])
    return np.column_stack([move[:, 0] + move[:, 1:] @ problem.shift, move[:, 1:]])


def inverse_of(H: Array) -> Array:
    """H^-1 of a positive definite H, by Cholesky of the scaled matrix."""
    s = np.sqrt(np.diag(H))
    L, info = lapack.dpotrf(H / np.outer(s, s), lower=1)
    if info != 0:
        return np.asarray(np.linalg.pinv(H), dtype=np.float64)
    A = lapack.dpotri(L, lower=1)[0]
    return (np.tril(A) + np.tril(A, -1).T) / np.outer(s, s)


def parameter_covariance(problem: Problem, H: Array) -> Array:
    """The inverse information in the units of X: the classes after the first, against the first.

    The likelihood knows differences of classes only, so the information about t_k - t_0 is the
    block of the classes 1..K-1 with t_0 held.
    """
    q, m = len(problem.ridge), problem.n_scores
    if m > 1:
        H = H[q:, q:]
    V = inverse_of(H) / problem.total
    A = np.eye(q)
    A[0, 1:] = -problem.shift  # b = b' - shift.w
    if not problem.intercept:
        A = A[1:]
    whole = np.kron(np.eye(max(m - 1, 1)), A)
    return whole @ V @ whole.T


def rival_margins(theta: Array, shift: Array, ones: float, rows: Rows) -> Array:
    """[least margin, largest margin, -largest |score|] of a leaf, over rows of positive weight."""
    live = np.asarray(rows.w > 0)
    Z = np.asarray(rows.X @ theta[:, 1:].T) + (ones * theta[:, 0] - theta[:, 1:] @ shift)
    Z, y = Z[live], rows.y[live]
    if len(y) == 0:
        return np.array([np.inf, np.inf, np.inf])
    if Z.shape[1] == 1:
        margins = np.where(y == 1, 1.0, -1.0) * Z[:, 0]
    else:
        gaps = Z[np.arange(len(Z)), y][:, None] - Z
        margins = gaps[np.arange(Z.shape[1]) != y[:, None]]
    return np.array([margins.min(), -margins.max(), -np.abs(Z).max()])


@on_device(rival_margins)
def device_margins(theta: Array, shift: Array, ones: float, rows: DeviceRows) -> Any:
    """``rival_margins`` of tensors."""
    X, y, xp = rows.X, rows.y, namespace(rows.X)
    T = like(theta, X)
    Z = (X - like(shift, X)) @ T[:, 1:].T + ones * T[:, 0]
    if Z.shape[1] == 1:
        gaps = xp.where(y == 1, Z[:, 0], -Z[:, 0])[:, None]
        rivals = xp.ones_like(gaps, dtype=xp.bool)
    else:
        hit = xp.arange(Z.shape[1], device=X.device)[None, :] == y[:, None]
        gaps = xp.sum(xp.where(hit, Z, xp.zeros_like(Z)), axis=1, keepdims=True) - Z
        rivals = ~hit
    live = (rows.weights() > 0)[:, None]
    far = xp.full_like(gaps, xp.inf)
    least = xp.min(xp.where(rivals & live, gaps, far))
    most = xp.max(xp.where(rivals & live, gaps, -far))
    score = xp.max(xp.where(live, xp.abs(Z), xp.zeros_like(Z)))
    return xp.stack([least, -most, -score])


def extreme_margins(problem: Problem, theta: Array) -> Array:
    """[least margin, largest margin, largest |score|] over all rows."""
    leaf = partial(rival_margins, theta, problem.shift, float(problem.intercept))
    found = reduce_rows(Statistic(leaf, np.minimum), problem.source, problem.map_)
    return np.array([found[0], -found[1], -found[2]])


def largest_score(problem: Problem, theta: Array) -> float:
    """The largest |score| of any row."""
    return float(extreme_margins(problem, theta)[2])


def separation_status(problem: Problem, outcome: Outcome) -> str:
    """none, complete or quasi."""
    if outcome.wrong == 0:
        return "complete"
    if not outcome.suspicious:
        return "none"
    if largest_score(problem, outcome.theta) < FAR and outcome.converged:
        return "none"
    rows = problem.source
    margins = problem.n_classes * outcome.theta.size  # numbers per row of the programme
    if isinstance(rows, Rows) and len(rows.y) * margins <= LARGE:
        live = np.asarray(rows.w > 0)
        if problem.class_weight is not None:
            live &= problem.class_weight[rows.y] > 0
        X = rows.double().X
        data = X[live], rows.y[live], problem.n_classes
        status, _ = separate(*data, intercept=problem.intercept)
        return {"separable": "complete", "quasi": "quasi"}.get(status, "none")
    if outcome.direction is None:
        return "none"
    least, most, _ = extreme_margins(problem, outcome.direction)
    return "quasi" if most > 0 and least >= -WITNESS * most else "none"


def predict_log_proba(self: Any, X: ArrayLike) -> Array:
    """log P(k | x), shape (n, K), finite for any score."""
    return log_softmax(self._scores(self._check_input(X)))


def predict_proba(self: Any, X: ArrayLike) -> Array:
    """P(k | x), shape (n, K)."""
    scores = self._scores(self._check_input(X))
    if scores.shape[1] == 1:
        return np.hstack([scipy.special.expit(-scores), scipy.special.expit(scores)])
    P = np.exp(scores - scores.max(axis=1, keepdims=True))
    return P / P.sum(axis=1, keepdims=True)


def predict_proba_tensor(self: Any, X: Any) -> Any:
    """P(k | x) of a tensor, shape (n, K)."""
    return tensor_probabilities(self._tensor_scores(X))


def log_softmax(scores: Array) -> Array:
    """log P(k | x) from scores (n, 1) or (n, K), finite wherever they are.

    >>> log_softmax(np.array([[1000.0]]))[0, 0]
    np.float64(-1000.0)
    """
    if scores.shape[1] == 1:
        return -np.logaddexp(0.0, np.hstack([scores, -scores]))
    shifted = scores - scores.max(axis=1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))
