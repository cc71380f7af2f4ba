r"""Bayesian linear regression: a distribution over lines.

Model       y = D b + e,  D = [1 X],  e ~ N(0, s^2 I),  prior b ~ N(m, V)
Solve       p(b | y), proportional to p(y | b) p(b)
Step        the exponent is quadratic in b: complete the square.
            V_n^-1 = V^-1 + D'D / s^2,  m_n = V_n (V^-1 m + D'y / s^2); yesterday's posterior is
            today's prior. A new y has mean d'm_n and variance s^2 + d'V_n d: wider far away.
Cost        n p^2 + p^3.
The fast version can learn V and s^2 by maximising the evidence, and adds up D'D over a file.
"""

from typing import NamedTuple

import numpy as np


class Posterior(NamedTuple):
    mean: np.ndarray  # (p + 1,), the intercept first
    covariance: np.ndarray
    log_evidence: float  # ln p(y)


def bayesian_linear_regression(
    X: np.ndarray, y: np.ndarray, m: np.ndarray, V: np.ndarray, s2: float
) -> Posterior:
    """The posterior of b, and how well the prior foresaw y."""
    n = len(y)
    D = np.column_stack([np.ones(n), X])
    precision = np.linalg.inv(V) + D.T @ D / s2
    covariance = np.linalg.inv(precision)
    mean = covariance @ (np.linalg.solve(V, m) + D.T @ y / s2)
    C, r = s2 * np.eye(n) + D @ V @ D.T, y - D @ m  # y ~ N(D m, C) before it is seen
    log_det = np.linalg.slogdet(2 * np.pi * C)[1]
    return Posterior(mean, covariance, -(log_det + r @ np.linalg.solve(C, r)) / 2)


def predictive(posterior: Posterior, X: np.ndarray, s2: float) -> tuple[np.ndarray, np.ndarray]:
    """Mean and standard deviation of new targets."""
    D = np.column_stack([np.ones(len(X)), X])
    spread = np.einsum("ij,jk,ik->i", D, posterior.covariance, D)
    return D @ posterior.mean, np.sqrt(s2 + spread)
