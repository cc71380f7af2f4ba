r"""Quadratic discriminant analysis: normal classes, each with its own covariance.

Model       x | y = k ~ N(m_k, S_k),  P(y = k) = pi_k
Solve       the class with the largest P(k | x)
Step        now x'S_k^-1 x differs between classes and stays:
            delta_k(x) = -log|S_k| / 2 - (x - m_k)'S_k^-1 (x - m_k) / 2 + log pi_k,
            so that boundaries are quadratic. K p (p + 1) / 2 numbers more than one common S.
Cost        n p^2 + K p^3.
The fast version takes the eigenvectors of each S_k and names a class with too few rows.
"""

from typing import NamedTuple

import numpy as np


class Fit(NamedTuple):
    means: np.ndarray  # (K, p)
    S: np.ndarray  # (K, p, p)
    priors: np.ndarray  # (K,)


def quadratic_discriminant_analysis(X: np.ndarray, y: np.ndarray) -> Fit:
    """Means, covariances (divisor n_k) and shares; y holds 0, ..., K - 1."""
    classes = [X[y == k] for k in range(int(y.max()) + 1)]
    means = np.array([rows.mean(axis=0) for rows in classes])
    S = np.array([(r - m).T @ (r - m) / len(r) for r, m in zip(classes, means, strict=True)])
    return Fit(means, S, np.array([len(rows) / len(X) for rows in classes]))


def discriminants(fit: Fit, X: np.ndarray) -> np.ndarray:
    """delta_k(x), shape (n, K)."""
    columns = []
    for m, S, prior in zip(*fit, strict=True):
        R = X - m
        distance = (R * np.linalg.solve(S, R.T).T).sum(axis=1)  # Mahalanobis, squared
        columns.append(np.log(prior) - np.linalg.slogdet(S)[1] / 2 - distance / 2)
    return np.column_stack(columns)
