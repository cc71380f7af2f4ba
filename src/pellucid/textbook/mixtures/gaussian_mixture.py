r"""Gaussian mixture by EM: a density that is a sum of k normal ones.

Model       p(x) = sum_k w_k N(x; m_k, S_k),  l = sum_i log p(x_i)
Step        for any q_ik >= 0 with sum_k q_ik = 1, Jensen gives
            l >= F(q) = sum_ik q_ik (log w_k N(x_i; m_k, S_k) - log q_ik).
            E: F is largest, and equal to l, where q_ik = p(k | x_i), by Bayes' rule;
            M: with q fixed, weighted shares, means and covariances are best. l never falls.
Cost        n k p^2 + k p^3 per round.
The fast version adds a little to the variances against collapse, knows other covariance structures,
restarts, and sums over blocks of rows.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np


class Mixture(NamedTuple):
    w: np.ndarray  # (k,)
    m: np.ndarray  # (k, p)
    S: np.ndarray  # (k, p, p)


class State(NamedTuple):
    mixture: Mixture
    q: np.ndarray  # (n, k) responsibilities under this mixture
    log_likelihood: float  # l of this mixture


def log_joint(X: np.ndarray, mixture: Mixture) -> np.ndarray:
    """log w_k N(x_i; m_k, S_k), shape (n, k)."""
    columns = []
    for w, m, S in zip(*mixture, strict=True):
        L = np.linalg.cholesky(S)
        z = np.linalg.solve(L, (X - m).T)  # (p, n), unit variances
        log_det = 2 * np.log(np.diag(L)).sum()
        columns.append(np.log(w) - ((z**2).sum(axis=0) + log_det + len(m) * np.log(2 * np.pi)) / 2)
    return np.column_stack(columns)


def lower_bound(X: np.ndarray, mixture: Mixture, q: np.ndarray) -> float:
    """F(q), at most the log-likelihood."""
    return float((q * (log_joint(X, mixture) - np.log(q))).sum())


def expectation(X: np.ndarray, mixture: Mixture) -> State:
    joint = log_joint(X, mixture)
    log_p = np.logaddexp.reduce(joint, axis=1)  # (n,)
    return State(mixture, np.exp(joint - log_p[:, None]), log_p.sum())


def maximisation(X: np.ndarray, q: np.ndarray) -> Mixture:
    N = q.sum(axis=0)  # (k,) rows of each component, in parts
    m = q.T @ X / N[:, None]
    S = [(q[:, [k]] * (X - m[k])).T @ (X - m[k]) / N[k] for k in range(len(N))]
    return Mixture(N / len(X), m, np.array(S))


def rounds(X: np.ndarray, start: Mixture, tol: float = 1e-10) -> Iterator[State]:
    """The start, then the mixture after each round, until l rises by less than n tol."""
    state = expectation(X, start)
    while True:
        yield state
        new = expectation(X, maximisation(X, state.q))
        if new.log_likelihood - state.log_likelihood < tol * len(X):
            return
        state = new


def gaussian_mixture(X: np.ndarray, start: Mixture) -> State:
    """The local maximum that the start leads to."""
    *_, last = rounds(X, start)
    return last
