r"""Gauss-Markov: any linear estimator b~ = C y of y = D b + e, Cov(e) = s^2 I.

    E[b~] - b = (C D - I) b        unbiased for every b  iff  C D = I
    Cov(b~) = s^2 C C'
    M = C - (D'D)^-1 D':   Cov(b~) - Cov(b_ls) = s^2 (M M' + M P' + P M'),   P = (D'D)^-1 D'

For an unbiased C, M D = 0, so M P' = 0 and the excess s^2 M M' is positive semidefinite: least
squares has the smallest variance of all linear unbiased estimators.
"""

from typing import NamedTuple

import numpy as np

from pellucid.core.algebra.linalg import EPS, solve_svd
from pellucid.core.arrays import check
from pellucid.core.arrays.matrices import numeric_matrix
from pellucid.core.arrays.typing import Array, ArrayLike


class LinearEstimator(NamedTuple):
    """Bias and covariance of a linear estimator, beside those of least squares."""

    unbiased: bool
    bias_matrix: Array  # (q, q): C D - I
    covariance: Array  # (q, q): s^2 C C'
    excess: Array  # (q, q): covariance minus that of least squares


def linear_estimator(X: ArrayLike, C: ArrayLike, *, noise_variance: float = 1.0) -> LinearEstimator:
    """Bias and covariance of b~ = C y, and its excess over least squares.

    Parameters
    ----------
    X : array-like of shape (n, p)
        The rows of the design.
    C : array-like of shape (p + 1, n), or (p, n)
        With p + 1 rows the parameters are (intercept, slopes) and D = [1 X]; with p rows D = X.
    noise_variance : float, default=1.0
        The variance s^2 of the noise.

    Examples
    --------
    >>> import numpy as np
    >>> from pellucid.linear import linear_estimator
    >>> x = np.array([[0.0], [1.0], [2.0]])
    >>> ends = [[1.0, 0.0, 0.0], [-0.5, 0.0, 0.5]]  # the line through the first and last point
    >>> found = linear_estimator(x, ends)
    >>> found.unbiased, found.excess.round(4)[0, 0]
    (True, np.float64(0.1667))
    """
    check.positive(noise_variance=noise_variance)
    X, C = numeric_matrix(X, "X"), numeric_matrix(C, "C")
    n, p = X.shape
    if C.shape not in ((p + 1, n), (p, n)):
        raise ValueError(f"C must have shape ({p + 1}, {n}) or ({p}, {n}), got {C.shape}")
    D = np.column_stack([np.ones(n), X]) if len(C) == p + 1 else X
    solved = solve_svd(D, np.eye(n), max(D.shape) * EPS)
    if solved.rank < D.shape[1]:
        rank = f"rank {solved.rank} of {D.shape[1]}"
        raise ValueError(f"the design has {rank}: no estimator of all parameters is unbiased")
    P = solved.theta  # (D'D)^-1 D'
    M, bias = C - P, C @ D - np.eye(len(C))
    size = np.linalg.norm(C, axis=1)[:, None] * np.linalg.norm(D, axis=0)
    unbiased = bool((np.abs(bias) <= 1e3 * n * EPS * np.maximum(size, 1.0)).all())
    cross = np.zeros((len(C), len(C))) if unbiased else M @ P.T
    excess = noise_variance * (M @ M.T + cross + cross.T)
    return LinearEstimator(unbiased, bias, noise_variance * C @ C.T, excess)
