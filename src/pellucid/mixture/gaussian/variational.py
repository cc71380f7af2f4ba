r"""Variational Bayes for Gaussian mixtures: posterior of all parameters, and the bound it raises.

Prior        pi ~ Dirichlet(a0, ..., a0),  or sticks v_k ~ Beta(1, a0), pi_k = v_k prod (1 - v_l)
             L_k ~ Wishart(n0, W0),  mu_k | L_k ~ N(m0, (b0 L_k)^-1)           (L a precision)
Posterior    q(z) q(pi) prod_k q(mu_k, L_k), the same families, from N, mean and scatter A of q(z):
             b = b0 + N,   m = (b0 m0 + N mean) / b,   n = n0 + N,
             W^-1 = W0^-1 + A + N b0/b (mean - m0)(mean - m0)'
E step       log r_k = E log pi_k + E log |L_k| / 2 - p log(2 pi)/2
                       - [n (x - m)'W(x - m) + p/b] / 2 + const
Bound        log p(X) >= H(q(z)) + log C(a0)/C(a) + sum_k [log B(W0, n0)/B(W, n) + p/2 log b0/b]
                         - n p log(2 pi) / 2
Structures   W is full, diagonal or a multiple of I; tied: the same q(L) for all components

``covariances`` holds W^-1 / n, the inverse of the mean precision. scikit-learn's ``lower_bound_``
leaves out what the prior alone decides, ``evidence`` does not: it compares numbers of components.

References: Bishop, PRML, sec. 10.2; Blei & Jordan (2006), Variational inference for DP mixtures.
"""

from typing import Any, NamedTuple

import numpy as np
from scipy.special import betaln, digamma, gammaln

from pellucid.core.algebra.linalg import EPS
from pellucid.core.arrays.typing import Array
from pellucid.mixture.gaussian.gaussians import DENSE, Factors, Gaussians, Sums, make_factors
from pellucid.mixture.gaussian.gaussians import precision_roots as roots_of


class Prior(NamedTuple):
    """What is believed before the data."""

    concentration: float  # a0
    process: bool  # sticks (Dirichlet process) or one Dirichlet
    mean_precision: float  # b0
    mean: Array  # (p,)  m0
    freedom: float  # n0
    covariance: Array  # W0^-1: (p, p), (p,) or a number


class Posterior(NamedTuple):
    """What is believed after them."""

    concentration: Array  # (k,), or (2, k) for sticks
    mean_precision: Array  # (k,)  b
    means: Array  # (k, p)  m
    freedom: Array  # (k,), tied ()  n
    covariances: Array  # W^-1 / n


def conclude(prior: Prior, N: Array, means: Array, A: Array, structure: str) -> Posterior:
    """The posterior from N (k,), means (k, p) and scatters A (k, p, p) or (k, p) about them."""
    k = len(N)
    if prior.process:
        later = np.append(np.cumsum(N[::-1])[-2::-1], 0.0)
        concentration = np.array([1.0 + N, prior.concentration + later])
    else:
        concentration = prior.concentration + N
    b = prior.mean_precision + N
    m = (prior.mean_precision * prior.mean + N[:, None] * means) / b[:, None]
    D = means - prior.mean
    pull = N * prior.mean_precision / b
    if structure in DENSE:
        A = A + pull[:, None, None] * D[:, :, None] * D[:, None, :]
    else:
        A = A + pull[:, None] * D**2
    freedom = prior.freedom + N
    if structure.startswith("tied"):  # one q(L) for k precisions: the mean of what each asks for
        A, freedom = A.mean(axis=0), np.asarray(prior.freedom + N.sum() / k)
    if structure.endswith("spherical"):
        A = A.mean(axis=-1)
    wide = freedom.reshape(freedom.shape + (1,) * (A.ndim - freedom.ndim))
    return Posterior(concentration, b, m, freedom, (prior.covariance + A) / wide)


def from_start(prior: Prior, start: Gaussians, weight: float, structure: str) -> Posterior:
    """The posterior of groups with the shares, means and covariances of a start."""
    k, p = start.means.shape
    N, C = start.weights * weight + 10 * EPS, np.asarray(start.covariances)
    if structure in DENSE:
        return conclude(prior, N, start.means, N[:, None, None] * C, structure)
    wide = np.broadcast_to(C[:, None] if structure == "spherical" else C, (k, p))
    return conclude(prior, N, start.means, N[:, None] * wide, structure)


def from_sums(prior: Prior, old: Array, sums: Sums, structure: str, reg: float) -> Posterior:
    """The posterior from the sums of an E step about the means ``old``."""
    N = sums.weight + 10 * EPS  # an empty component has its prior
    shift = sums.first / N[:, None]
    if structure in DENSE:
        A = sums.second - N[:, None, None] * shift[:, :, None] * shift[:, None, :]
        A = A + reg * N[:, None, None] * np.eye(A.shape[-1])
    else:
        A = np.maximum(sums.second - N[:, None] * shift**2, 0.0) + reg * N[:, None]
    return conclude(prior, N, old + shift, A, structure)


def log_weights(post: Posterior) -> Array:
    """E log pi_k."""
    a = post.concentration
    if a.ndim == 1:
        return digamma(a) - digamma(a.sum())
    both = digamma(a.sum(axis=0))
    rest = np.append(0.0, np.cumsum(digamma(a[1]) - both)[:-1])
    return digamma(a[0]) - both + rest


def mean_weights(post: Posterior) -> Array:
    """E pi_k, scaled to sum 1 where the sticks leave a rest.

    >>> mean_weights(Posterior(np.array([1.0, 3.0]), *4 * (np.ones(1),)))
    array([0.25, 0.75])
    """
    a = post.concentration
    if a.ndim == 1:
        return a / a.sum()
    v = a[0] / a.sum(axis=0)
    w = v * np.append(1.0, np.cumprod(1.0 - v)[:-1])
    return w / w.sum()


def posterior_factors(post: Posterior, structure: str, *, weighted: bool = True) -> Factors:
    """What the kernels read in the E step; not ``weighted``: without E log pi."""
    k, p = post.means.shape
    plain = make_factors(np.ones(k), post.means, roots_of(post.covariances, structure), structure)
    halves = 0.5 * (post.freedom - np.arange(p).reshape(-1, *(1,) * post.freedom.ndim))
    log_det = p * np.log(2.0) + digamma(halves).sum(axis=0) - p * np.log(post.freedom)
    const = plain.const + 0.5 * (log_det - p / post.mean_precision)
    return plain._replace(const=const + log_weights(post) if weighted else const)


def entropy(factors: Factors, sums: Sums) -> float:
    """H(q(z)) (and of the missing cells): log normalisers minus the expected log joints."""
    p = sums.first.shape[1]
    if factors.dense:
        U = np.broadcast_to(factors.root[:, :, :p], sums.second.shape)
        square = np.einsum("kst,ksu,ktu->k", sums.second, U, U)
    else:
        square = (factors.root * sums.second).sum(axis=1)
    live = sums.weight > 0
    const = np.where(live, factors.const, 0.0)
    return float(sums.value - (sums.weight * const - 0.5 * square).sum())


def log_wishart(freedom: Array, covariances: Array, structure: str, p: int) -> Array:
    """log B(W, n) of each (or the common) q(L), without powers of pi; W^-1 = n covariances."""
    roots = roots_of(covariances, structure)
    if structure in DENSE:
        log_det = 2.0 * np.log(np.diagonal(roots, axis1=-2, axis2=-1)).sum(axis=-1)
    elif structure.endswith("diag"):
        log_det = 2.0 * np.log(roots).sum(axis=-1)
    else:
        log_det = 2.0 * p * np.log(roots)
    log_det = log_det - p * np.log(freedom)  # of W
    halves = 0.5 * (freedom - np.arange(p).reshape(-1, *(1,) * np.ndim(freedom)))
    return np.asarray(-0.5 * freedom * (log_det + p * np.log(2.0)) - gammaln(halves).sum(axis=0))


def log_weight_norm(a: Array) -> float:
    """log C of a Dirichlet (k,), or of independent sticks (2, k)."""
    if a.ndim == 1:
        return float(gammaln(a.sum()) - gammaln(a).sum())
    return float(-betaln(*a).sum())


def lower_bound(post: Posterior, structure: str, spread: float) -> float:
    """scikit-learn's bound: ``spread`` = H(q(z)), without what the prior alone decides."""
    k, p = post.means.shape
    wishart = log_wishart(post.freedom, post.covariances, structure, p)
    total = k * float(wishart) if wishart.ndim == 0 else float(wishart.sum())
    weights = log_weight_norm(post.concentration)
    return spread - total - weights - 0.5 * p * float(np.log(post.mean_precision).sum())


def evidence_constant(prior: Prior, k: int, weight: float, structure: str) -> float:
    """What ``lower_bound`` leaves out of the bound on log p(X)."""
    p = len(prior.mean)
    one = structure.removeprefix("tied_")
    one = {"full": "tied", "diag": "tied_diag", "spherical": "tied_spherical"}.get(one, one)
    freedom = np.asarray(float(prior.freedom))
    wishart = float(log_wishart(freedom, prior.covariance / freedom, one, p))
    a0 = prior.concentration
    a = np.array([np.ones(k), np.full(k, a0)]) if prior.process else np.full(k, a0)
    start = log_weight_norm(a) + k * (wishart + 0.5 * p * np.log(prior.mean_precision))
    return float(start - 0.5 * weight * p * np.log(2.0 * np.pi))


class BoundState(NamedTuple):
    """Where the fit stands: the posterior and the E step at it."""

    step: int
    post: Posterior
    factors: Factors
    sums: Sums
    value: float  # the bound that led here


def record(state: BoundState) -> dict[str, Any]:
    """One row of the history."""
    return {"objective": state.value, "active": int((state.sums.weight >= 0.5).sum())}
