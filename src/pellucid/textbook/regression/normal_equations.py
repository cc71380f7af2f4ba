r"""Least squares by the normal equations, with standard errors.

Model       y = D b + e,  D = [1 X],  e ~ N(0, s^2 I)
Minimise    L(b) = |y - D b|^2, which is also maximum likelihood
Step        the gradient -2 D'(y - D b) vanishes where D'D b = D'y: the residual is orthogonal to
            every column. D'D is positive definite if the columns are independent: one minimum.
            b is linear in y, so Cov(b) = s^2 (D'D)^-1, and E|y - D b|^2 = s^2 (n - p - 1).
Cost        n p^2 for D'D, p^3 to solve.
The fast version takes a QR of D where D'D would lose digits (the condition number is squared),
finds dependent columns, and adds up D'D over the blocks of a file.
"""

from typing import NamedTuple

import numpy as np


class Fit(NamedTuple):
    b: np.ndarray  # (p + 1,), the intercept first
    standard_errors: np.ndarray  # (p + 1,)
    s2: float  # unbiased estimate of the noise variance


def normal_equations(X: np.ndarray, y: np.ndarray) -> Fit:
    """The only minimiser, and how sure it is."""
    D = np.column_stack([np.ones(len(X)), X])
    n, q = D.shape
    b = np.linalg.solve(D.T @ D, D.T @ y)
    s2 = ((y - D @ b) ** 2).sum() / (n - q)
    covariance = s2 * np.linalg.inv(D.T @ D)
    return Fit(b, np.sqrt(np.diag(covariance)), s2)
