r"""Categorical naive Bayes: a table of shares for every class and column.

Model       p(x | k) = prod_j t_kj(x_j),  x_j one of V_j values
Solve       t_kj(v) = (n_kj(v) + a) / (n_k + a V_j),  n_kj(v) rows of class k with value v
Step        shares maximise the likelihood; a Dirichlet(a) belief adds a to every count, so that a
            value never seen in a class does not rule it out.
            log P(k | x) = log pi_k + sum_j log t_kj(x_j) + constant.
Cost        n p.
The fast version takes strings and missing cells, and leaves out values it has never seen.
"""

from typing import NamedTuple

import numpy as np


class Fit(NamedTuple):
    log_prior: np.ndarray  # (K,)
    log_t: list[np.ndarray]  # one (K, V_j) per column


def categorical_naive_bayes(X: np.ndarray, y: np.ndarray, a: float = 1.0) -> Fit:
    """Smoothed tables; columns hold 0, ..., V_j - 1, and y holds 0, ..., K - 1."""
    Y = np.eye(int(y.max()) + 1)[y]
    tables = []
    for x in X.T:
        count = Y.T @ np.eye(int(x.max()) + 1)[x] + a  # (K, V_j)
        tables.append(np.log(count / count.sum(axis=1, keepdims=True)))
    return Fit(np.log(Y.mean(axis=0)), tables)


def log_joint(fit: Fit, X: np.ndarray) -> np.ndarray:
    """log p(x, k), shape (n, K)."""
    return fit.log_prior + sum(table[:, x].T for table, x in zip(fit.log_t, X.T, strict=True))
