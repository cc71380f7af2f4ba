r"""Gaussian process: all curves weighed by how well they pass through the rows.

Assume      f ~ N(0, K) at any places, K_ij = k(x_i, x_j);  y = f + e, e ~ N(0, noise)
Step        the joint normal of y and f(x), given y: mean k'a, variance k(x,x) - v'v, with
            L L' = K + noise I, a = (K + noise I)^-1 y, v = L^-1 k
Evidence    log N(y; 0, K + noise I) = -y'a/2 - sum_i log L_ii - n/2 log 2 pi; its derivative in a
            number t of the kernel is the trace of (a a' - (K + noise I)^-1) dK/dt, halved
Cost        n^3/3 for L, n a mean and n^2 a variance.
The fast version has every kernel of the algebra, and all derivatives from one matrix of weights.
"""

from typing import NamedTuple

import numpy as np


class Posterior(NamedTuple):
    mean: np.ndarray  # (m,)
    variance: np.ndarray  # (m,)
    log_evidence: float
    slope: float  # d log evidence / d log width


def gaussian_process(
    X: np.ndarray, y: np.ndarray, new: np.ndarray, width: float, noise: float
) -> Posterior:
    """The process with kernel exp(-|x - z|^2 / (2 width^2)) at new places."""
    n = len(y)
    squares = ((X[:, None] - X) ** 2).sum(axis=2) / width**2
    K = np.exp(-squares / 2)
    L = np.linalg.cholesky(K + noise * np.eye(n))
    a = np.linalg.solve(L.T, np.linalg.solve(L, y))
    k = np.exp(-((X[:, None] - new) ** 2).sum(axis=2) / (2 * width**2))
    v = np.linalg.solve(L, k)
    inverse = np.linalg.inv(K + noise * np.eye(n))
    slope = 0.5 * np.sum((np.outer(a, a) - inverse) * K * squares)
    evidence = -y @ a / 2 - np.log(np.diag(L)).sum() - n / 2 * np.log(2 * np.pi)
    return Posterior(k.T @ a, 1 - (v**2).sum(axis=0), evidence, slope)
