r"""Bernoulli naive Bayes: columns of yes and no, independent in every class.

Model       p(x | k) = prod_j t_kj^x_j (1 - t_kj)^(1 - x_j),  x_j = 0 or 1
Solve       t_kj = (number of ones + a) / (n_k + 2 a)
Step        the likelihood alone gives the share of ones; a Beta(a, a) belief about it adds a to
            both counts in its mean, so that nothing unseen is impossible (Laplace: a = 1).
            An absent word counts too: log(1 - t_kj).
Cost        n p.
The fast version counts sparse rows, and subtracts log(1 - t) once instead of for every zero.
"""

from typing import NamedTuple

import numpy as np


class Fit(NamedTuple):
    log_prior: np.ndarray  # (K,)
    t: np.ndarray  # (K, p)


def bernoulli_naive_bayes(X: np.ndarray, y: np.ndarray, a: float = 1.0) -> Fit:
    """Smoothed shares of ones by class; y holds 0, ..., K - 1."""
    Y = np.eye(int(y.max()) + 1)[y]
    count = Y.sum(axis=0)
    return Fit(np.log(count / len(X)), (Y.T @ X + a) / (count + 2 * a)[:, None])


def log_joint(fit: Fit, X: np.ndarray) -> np.ndarray:
    """log p(x, k), shape (n, K)."""
    return fit.log_prior + X @ np.log(fit.t).T + (1 - X) @ np.log(1 - fit.t).T
