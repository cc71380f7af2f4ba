r"""Variational mixture of Gaussians: a posterior for every parameter, so spare components fade.

Model       w ~ Dirichlet(a0),  precision L_k ~ Wishart(v0, B0^-1),  m_k | L_k ~ N(m0, (b0 L_k)^-1)
Maximise    the bound E_q[log p(X, z, w, m, L)] - E_q[log q] <= log p(X) over q(z) q(w) q(m, L)
Step        each factor is best at exp of the mean of log p over the others. q(z): responsibilities
            with E log w and E log N; q(w), q(m, L): the conjugate update with N, mean and scatter:
            a = a0 + N, b = b0 + N, v = v0 + N, m = (b0 m0 + N mean) / b,
            B = B0 + scatter + (b0 N / b) (mean - m0)(mean - m0)'
Cost        n k p^2 per round.
The fast version also breaks sticks (a Dirichlet process), reports the bound, and sums over blocks.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from scipy.special import digamma


class Prior(NamedTuple):
    a0: float
    b0: float
    m0: np.ndarray  # (p,)
    v0: float
    B0: np.ndarray  # (p, p) scale of a covariance


class State(NamedTuple):
    a: np.ndarray  # (k,) of the Dirichlet
    b: np.ndarray  # (k,) rows that each mean counts for
    m: np.ndarray  # (k, p)
    v: np.ndarray  # (k,) degrees of freedom
    B: np.ndarray  # (k, p, p); B / v is the covariance to expect
    q: np.ndarray  # (n, k) the responsibilities these came from


def parameters(X: np.ndarray, q: np.ndarray, prior: Prior) -> State:
    """q(w) and q(m, L) from q(z)."""
    a0, b0, m0, v0, B0 = prior
    N = q.sum(axis=0) + 1e-300
    mean = q.T @ X / N[:, None]
    d, far = X[:, None, :] - mean, mean - m0
    scatter = np.einsum("nk,nki,nkj->kij", q, d, d)
    b = b0 + N
    pull = (b0 * N / b)[:, None, None] * far[:, :, None] * far[:, None, :]
    return State(
        a0 + N, b, (b0 * m0 + N[:, None] * mean) / b[:, None], v0 + N, B0 + scatter + pull, q
    )


def responsibilities(X: np.ndarray, state: State) -> np.ndarray:
    """q(z) from q(w) and q(m, L)."""
    a, b, m, v, B, _ = state
    p = X.shape[1]
    log_w = digamma(a) - digamma(a.sum())
    log_L = digamma((v[:, None] - np.arange(p)) / 2).sum(axis=1) + p * np.log(2)
    log_L -= np.linalg.slogdet(B)[1]  # E log |L_k|
    d = X[:, None, :] - m
    squares = v * np.einsum("nki,kij,nkj->nk", d, np.linalg.inv(B), d) + p / b
    joint = log_w + log_L / 2 - squares / 2
    return np.exp(joint - np.logaddexp.reduce(joint, axis=1)[:, None])


def rounds(X: np.ndarray, q: np.ndarray, prior: Prior, tol: float = 1e-10) -> Iterator[State]:
    """The posterior after each round, from responsibilities q to start with."""
    while True:
        state = parameters(X, q, prior)
        yield state
        new = responsibilities(X, state)
        if np.abs(new - q).max() < tol:
            return
        q = new


def variational_mixture(X: np.ndarray, q: np.ndarray, prior: Prior) -> State:
    *_, last = rounds(X, q, prior)
    return last
