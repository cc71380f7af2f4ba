r"""Gaussian mixture by gradient ascent: the likelihood of a mixture without EM.

Maximise    l / n = mean_i log sum_k w_k N(x_i; m_k, S_k),  w = softmax(a),  S_k = L_k L_k' with L_k
            lower triangular and exp(u) on its diagonal, so that every step stays a mixture
Step        the gradient of log p(x) is the posterior mean of that of log p(x, k) (Fisher), so
            dl/da_k = N_k - n w_k,  dl/dm_k = S_k^-1 sum_i q_ik d_ik,  d_ik = x_i - m_k,
            dl/dL_k = 2 G_k L_k with G_k = (S_k^-1 (sum_i q_ik d_ik d_ik') S_k^-1 - N_k S_k^-1) / 2,
            and the entries on the diagonal times L_jj for u. Go a small way along it.
Cost        n k p^2 per step, and many more steps than EM.
The fast version takes schedules and line searches for the step, and other covariance structures.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np


class State(NamedTuple):
    a: np.ndarray  # (k,) w = softmax(a)
    m: np.ndarray  # (k, p)
    L: np.ndarray  # (k, p, p) S = L L'
    mean_l: float  # mean log-likelihood


def posterior(
    X: np.ndarray, w: np.ndarray, m: np.ndarray, S: np.ndarray
) -> tuple[np.ndarray, float]:
    """q (n, k) and the mean log-likelihood."""
    d = X[:, None, :] - m  # (n, k, p)
    squares = np.einsum("nki,kij,nkj->nk", d, np.linalg.inv(S), d)
    log_det = np.linalg.slogdet(2 * np.pi * S)[1]
    joint = np.log(w) - (squares + log_det) / 2
    log_p = np.logaddexp.reduce(joint, axis=1)
    return np.exp(joint - log_p[:, None]), log_p.mean()


def steps(
    X: np.ndarray, w: np.ndarray, m: np.ndarray, S: np.ndarray, rate: float, n_steps: int
) -> Iterator[State]:
    """The start and the parameters after each step."""
    n, p = X.shape
    a, L = np.log(w), np.linalg.cholesky(S)
    for step in range(n_steps + 1):
        w, S = np.exp(a) / np.exp(a).sum(), L @ L.transpose(0, 2, 1)
        q, value = posterior(X, w, m, S)
        yield State(a, m, L, value)
        if step == n_steps:
            return
        N, P, d = q.sum(axis=0), np.linalg.inv(S), X[:, None, :] - m
        A = np.einsum("nk,nki,nkj->kij", q, d, d)
        G = (P @ A @ P - N[:, None, None] * P) / 2
        slope = np.tril(2 * G @ L) / n  # (k, p, p)
        u = np.log(np.einsum("kjj->kj", L)) + rate * np.einsum("kjj,kjj->kj", slope, L)
        a = a + rate * (N / n - w)
        m = m + rate * np.einsum("kij,nk,nkj->ki", P, q, d) / n
        L = np.tril(L + rate * slope, -1) + np.exp(u)[:, :, None] * np.eye(p)


def gradient_mixture(
    X: np.ndarray, w: np.ndarray, m: np.ndarray, S: np.ndarray, rate: float, n_steps: int
) -> State:
    """Where the ascent stands after ``n_steps``."""
    *_, last = steps(X, w, m, S, rate, n_steps)
    return last
