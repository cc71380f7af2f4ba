r"""Probabilities of a support vector machine from its scores.

Two classes       P(y = 1 | f) = 1 / (1 + exp(A f + B)): A and B minimise the log loss against
                  targets (n_+ + 1)/(n_+ + 2) and 1/(n_- + 2), by Newton's method with halved steps
Scores            of rows that the machine has not seen, from five folds
More classes      r_ij = P(i | i or j) of all pairs are coupled: p minimises
                  sum_i sum_{j != i} (r_ji p_i - r_ij p_j)^2 with sum p = 1, a linear system

References: Platt (2000); Lin, Lin & Weng (2007); Wu, Lin & Weng (2004), second method.
"""

from collections.abc import Callable
from itertools import combinations

import numpy as np
from scipy.special import expit

from pellucid.core.arrays.typing import Array, BoolArray, IntArray, Rng
from pellucid.core.loops.backtrack import backtrack

FOLDS = 5
RIDGE = 1e-12  # keeps the 2 x 2 Hessian invertible where all scores are equal
MAX_STEPS, TOL = 100, 1e-10


def fit_sigmoid(f: Array, positive: BoolArray, w: Array) -> tuple[float, float]:
    """A and B of the scores f.

    >>> f = np.array([-2.0, -1.0, 1.0, 2.0])
    >>> A, B = fit_sigmoid(f, f > 0, np.ones(4))
    >>> round(A, 3), abs(B) < 1e-9
    (-0.674, True)
    """
    above, below = float(w[positive].sum()), float(w[~positive].sum())
    t = np.where(positive, (above + 1) / (above + 2), 1 / (below + 2))
    Z = np.column_stack([f, np.ones(len(f))])  # P = expit(-(Z theta))
    theta = np.array([0.0, np.log((below + 1) / (above + 1))])

    def value(theta: Array) -> float:
        s = Z @ theta
        return float(w @ (np.logaddexp(0, s) - (1 - t) * s))

    for _ in range(MAX_STEPS):
        p = expit(-(Z @ theta))
        slope = Z.T @ (w * (t - p))
        if np.abs(slope).max() <= TOL * max(above + below, 1.0) * max(np.abs(f).max(), 1.0):
            break
        H = (Z * (w * p * (1 - p))[:, None]).T @ Z
        step = -np.linalg.solve(H + RIDGE * max(np.trace(H), 1.0) * np.eye(2), slope)
        start, direction = theta, step

        def attempt(
            size: float, start: Array = start, direction: Array = direction
        ) -> tuple[Array, float]:
            tried = start + size * direction
            return tried, value(tried)

        found = backtrack(attempt, value(theta), float(slope @ step))
        if found is None:  # no step helps: rounding
            break
        theta = found.point
    return float(theta[0]), float(theta[1])


def couple(r: Array) -> Array:
    """Probabilities (n, k) from those of the pairs, r[:, i, j] = P(i | i or j).

    >>> r = np.array([[[0.0, 0.9, 0.9], [0.1, 0.0, 0.5], [0.1, 0.5, 0.0]]])
    >>> couple(r).round(3)
    array([[0.818, 0.091, 0.091]])
    """
    n, k, _ = r.shape
    Q = -r * r.transpose(0, 2, 1)
    Q[:, np.arange(k), np.arange(k)] = (r.transpose(0, 2, 1) ** 2).sum(axis=2)
    system = np.zeros((n, k + 1, k + 1))
    system[:, :k, :k], system[:, :k, k], system[:, k, :k] = Q, 1.0, 1.0
    right = np.zeros((n, k + 1, 1))
    right[:, k] = 1.0
    p = np.clip(np.linalg.solve(system, right)[:, :k, 0], 0.0, None)
    return p / p.sum(axis=1, keepdims=True)


def probabilities(scores: Array, A: Array, B: Array, k: int) -> Array:
    """P(class) of every row from the scores of the pairs, (n, pairs)."""
    P = np.clip(expit(-(scores * A + B)), 1e-7, 1 - 1e-7)  # libsvm's bounds
    if k == 2:
        return np.column_stack([1 - P[:, 0], P[:, 0]])
    r = np.zeros((len(scores), k, k))
    for column, (i, j) in enumerate(combinations(range(k), 2)):
        r[:, i, j], r[:, j, i] = P[:, column], 1 - P[:, column]
    return couple(r)


def held_out_scores(
    score: Callable[[IntArray, IntArray], Array], positive: BoolArray, rng: Rng
) -> Array:
    """Scores of rows from machines that have not seen them; both classes in every fold.

    ``score(train, test)`` fits and scores; where a part has one class only, its sign is the score.
    """
    fold = np.empty(len(positive), dtype=np.intp)
    for side in (positive, ~positive):
        rows = rng.permutation(np.flatnonzero(side))
        fold[rows] = np.arange(len(rows)) % FOLDS
    found = np.zeros(len(positive))
    for part in np.unique(fold):
        train, test = np.flatnonzero(fold != part), np.flatnonzero(fold == part)
        known = positive[train]
        if len(train) and known.any() and not known.all():
            found[test] = score(train, test)
        elif len(train):
            found[test] = 1.0 if known.all() else -1.0
    return found
