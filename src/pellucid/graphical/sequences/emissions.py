r"""What a hidden state shows: densities of observations, and their estimates from soft counts.

Gaussian       x | k ~ N(m_k, S_k), S_k diagonal ("diag") or free ("full"). With r_tk the posterior
               of state k at t, m_k = sum_t r_tk x_t / sum_t r_tk and S_k likewise; variances (the
               eigenvalues of S_k) below a floor are lifted to it, which is their maximum-likelihood
               value under that bound, so the likelihood still never falls.
Categorical    p(x = c | k) = b_kc, the share of the soft counts.

A missing observation says nothing: its density counts as 1. Cells of a diagonal Gaussian may be
missing one by one.
"""

from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import solve_triangular

from pellucid.core.arrays.typing import Array, IntArray, Rng
from pellucid.graphical.sequences.kernels import diagonal_density, diagonal_sums

LOG_2PI = float(np.log(2 * np.pi))


class GaussianEmission(NamedTuple):
    means: Array  # (K, p)
    covariances: Array  # (K, p) or (K, p, p)
    floor: Array  # (p,) least variances; of "full" their mean counts

    @property
    def n_parameters(self) -> int:
        K, p = self.means.shape
        own = p if self.covariances.ndim == 2 else p * (p + 1) // 2
        return K * (p + own)

    def log_density(self, X: Array) -> Array:
        """log p(x | k), (N, K)."""
        out = np.empty((len(X), len(self.means)))
        if self.covariances.ndim == 2:
            shift, half = -0.5 * (LOG_2PI + np.log(self.covariances)), 0.5 / self.covariances
            diagonal_density(X, np.ascontiguousarray(self.means), shift, half, out)
            return out
        gone = np.isnan(X[:, :1])  # rows are missing as a whole
        for k, (m, S) in enumerate(zip(self.means, self.covariances, strict=True)):
            L = np.linalg.cholesky(S)
            terms = -0.5 * solve_triangular(L, np.nan_to_num(X - m).T, lower=True).T ** 2
            terms -= 0.5 * LOG_2PI + np.log(np.diag(L))
            out[:, k] = np.where(gone, 0.0, terms).sum(axis=1)
        return out

    def update(self, X: Array, R: Array) -> "GaussianEmission":
        """The maximum of the expected log-likelihood; a state without weight stays as it is."""
        if self.covariances.ndim == 2:
            return self._update_diagonal(X, R)
        whole = ~np.isnan(X).any(axis=1)
        X, R = X[whole], R[whole]
        means, S = self.means.copy(), self.covariances.copy()
        for k, total in enumerate(R.sum(axis=0)):
            if total > 1e-300:
                means[k] += R[:, k] @ (X - self.means[k]) / total
                D = X - means[k]
                S[k] = lifted((R[:, k, None] * D).T @ D / total, float(self.floor.mean()))
        return GaussianEmission(means, S, self.floor)

    def _update_diagonal(self, X: Array, R: Array) -> "GaussianEmission":
        """Means first, then variances around them: nothing cancels."""
        means = np.ascontiguousarray(self.means)
        first, second = np.zeros((2, 3, *means.shape))
        diagonal_sums(X, R, means, first)
        live = first[0] > 1e-300
        N = np.where(live, first[0], 1.0)
        means = means + np.where(live, first[1] / N, 0.0)
        diagonal_sums(X, R, means, second)
        S = np.where(live, second[2] / N, self.covariances)
        return GaussianEmission(means, np.maximum(S, self.floor), self.floor)

    def draw(self, states: IntArray, rng: Rng) -> Array:
        """One observation for each state."""
        noise = rng.standard_normal((len(states), self.means.shape[1]))
        if self.covariances.ndim == 2:
            return self.means[states] + noise * np.sqrt(self.covariances)[states]
        roots = np.linalg.cholesky(self.covariances)
        return self.means[states] + np.einsum("tij,tj->ti", roots[states], noise)


def lifted(S: Array, floor: float) -> Array:
    """The nearest covariance in likelihood whose eigenvalues are at least ``floor``.

    >>> lifted(np.diag([2.0, 0.0]), 0.5)
    array([[2. , 0. ],
           [0. , 0.5]])
    """
    values, vectors = np.linalg.eigh(S)
    if values[0] >= floor:
        return (S + S.T) / 2
    return (vectors * np.maximum(values, floor)) @ vectors.T


class CategoricalEmission(NamedTuple):
    probabilities: Array  # (K, C)

    @property
    def n_parameters(self) -> int:
        K, C = self.probabilities.shape
        return K * (C - 1)

    def log_density(self, codes: IntArray) -> Array:
        """log p(x | k) of codes, (N, K); -1 is missing."""
        with np.errstate(divide="ignore"):
            logs = np.log(self.probabilities)
        return np.vstack([logs.T, np.zeros(len(logs))])[codes]  # the last row is that of -1

    def update(self, codes: IntArray, R: Array) -> "CategoricalEmission":
        """Shares of the soft counts; a state without weight stays as it is."""
        C = self.probabilities.shape[1]
        counts = np.array([np.bincount(codes + 1, r, C + 1)[1:] for r in R.T])
        total = counts.sum(axis=1, keepdims=True)
        live = total > 1e-300
        share = np.where(live, counts / np.where(live, total, 1.0), self.probabilities)
        return CategoricalEmission(share)

    def draw(self, states: IntArray, rng: Rng) -> Any:
        """One code for each state."""
        sums = np.cumsum(self.probabilities, axis=1)
        u = rng.random(len(states)) * sums[states, -1]
        return (u[:, None] >= sums[states]).sum(axis=1)


def start_gaussian(
    X: Array, w: Array, K: int, full: bool, floor: float, rng: Rng | None = None
) -> GaussianEmission:
    """Groups of equal weight along the widest direction, moved to their means a few times.

    With ``rng``: the means are random rows instead. Weights are repetitions.
    """
    live = ~np.isnan(X).any(axis=1) & (w > 0)
    Z, w = X[live], w[live]
    if len(np.unique(Z, axis=0)) < K:
        raise ValueError(f"n_states={K} needs at least {K} different complete observations")
    mean = w @ Z / w.sum()
    C = (w[:, None] * (Z - mean)).T @ (Z - mean) / w.sum()
    variance = np.diag(C)
    least = floor * np.where(variance > 0, variance, max(float(variance.mean()), 1.0))
    if rng is None:
        axis = np.linalg.eigh(C)[1][:, -1]
        axis = axis * np.sign(axis[np.abs(axis).argmax()])  # the same side for any rounding
        R = equal_groups((Z - mean) @ axis, w, K)
        means = R.T @ Z / R.sum(axis=0)[:, None]
        for _ in range(10):
            nearest = ((Z[:, None] - means) ** 2).sum(axis=2).argmin(axis=1)
            R = np.eye(K)[nearest] * w[:, None]
            size = R.sum(axis=0)[:, None]
            means = np.where(size > 0, R.T @ Z / np.maximum(size, 1e-300), means)
    else:
        means = np.unique(Z, axis=0)
        means = means[rng.choice(len(means), K, replace=False)]
    if full:
        S = np.tile(lifted(C, float(least.mean())), (K, 1, 1))
    else:
        S = np.tile(np.maximum(variance, least), (K, 1))
    return GaussianEmission(means, S, least)


def equal_groups(along: Array, w: Array, K: int) -> Array:
    """Shares of each row in K groups of equal weight, in the order of ``along``.

    >>> equal_groups(np.array([3.0, 1.0, 2.0]), np.ones(3), 2)
    array([[0. , 1. ],
           [1. , 0. ],
           [0.5, 0.5]])
    """
    order = np.argsort(along, kind="stable")
    top = np.cumsum(w[order])
    edges = np.linspace(0, top[-1], K + 1)
    low = top - w[order]
    share = np.minimum(top[:, None], edges[1:]) - np.maximum(low[:, None], edges[:-1])
    out = np.empty((len(w), K))
    out[order] = np.maximum(share, 0.0)
    return out
