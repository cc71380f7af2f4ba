r"""Generalised least squares: noise that differs between rows, or is shared by them.

Model       y = D b + e,  Cov(e) = s^2 S with S known;  S diagonal: weighted least squares
Minimise    (y - D b)' S^-1 (y - D b)
Step        S = C C'. C^-1 y = C^-1 D b + C^-1 e has noise of covariance s^2 I: ordinary least
            squares again, and by Gauss and Markov the best linear unbiased estimate.
            b = (D' S^-1 D)^-1 D' S^-1 y.
Cost        n^3 for C; n if S is diagonal, where a row simply counts 1 / S_ii times.
The fast version takes weights row by row without S, and factors S once for all targets.
"""

from typing import NamedTuple

import numpy as np


class Fit(NamedTuple):
    b: np.ndarray  # the intercept first
    standard_errors: np.ndarray
    s2: float


def generalised_least_squares(X: np.ndarray, y: np.ndarray, S: np.ndarray) -> Fit:
    """The best linear unbiased estimate under noise of covariance s^2 S."""
    D = np.column_stack([np.ones(len(X)), X])
    C = np.linalg.cholesky(S)
    A, v = np.linalg.solve(C, D), np.linalg.solve(C, y)  # whitened
    b = np.linalg.solve(A.T @ A, A.T @ v)
    s2 = ((v - A @ b) ** 2).sum() / (len(y) - D.shape[1])
    return Fit(b, np.sqrt(s2 * np.diag(np.linalg.inv(A.T @ A))), s2)
