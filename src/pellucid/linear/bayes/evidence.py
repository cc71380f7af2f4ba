r"""The marginal likelihood of a linear model with a normal prior, direction by direction.

theta = m + L z, z_j ~ N(0, t) or flat. With the k flat parameters projected out of the others,
D L = U diag(d) Q' and beta = U'(y - D m), for noise of variance s^2

    -2 ln p(y) = n' ln(2 pi s^2) + sum ln(1 + t d_j^2/s^2)
                 + (rest + sum beta_j^2 / (1 + t d_j^2/s^2)) / s^2 + ln det F'F,     n' = n - k

with F the flat columns. Given lam = s^2/t, s^2 = (rest + sum beta_j^2 lam/(d_j^2 + lam)) / n'.
With s^2 ~ InverseGamma(a, b) and z | s^2 ~ N(0, s^2 t) it is integrated out:

    ln p(y) = -(n'/2) ln 2 pi - sum ln(1 + t d_j^2)/2 - ln det F'F/2
              + a ln b - ln Gamma(a) + ln Gamma(a_n) - a_n ln b_n

The curves may have several hills: the whole range of the logarithm is scanned, then the highest
hill is climbed.

References: MacKay (1992); Bishop, Pattern Recognition and Machine Learning, section 3.5.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import solve_triangular
from scipy.optimize import minimize_scalar
from scipy.special import gammaln

from pellucid.core.algebra.least_squares import Compact
from pellucid.core.algebra.linalg import EPS, in_range, triangle
from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, BoolArray
from pellucid.core.readable import readable

GRID = 0.2  # step of the scan in log variance: a hill of the evidence is wider than this
DEEP = 30.0  # how far below the smallest direction the scan goes, in log variance


@readable
@dataclass(frozen=True)
class InverseGamma:
    """The prior of an unknown noise variance: density proportional to s^(-2a - 2) exp(-b/s^2).

    Parameters
    ----------
    a, b : float
        Shape and scale, both > 0; it weighs as much as 2a observations with mean square b/a.

    Examples
    --------
    >>> from pellucid.linear import BayesianLinearRegression, InverseGamma
    >>> model = BayesianLinearRegression(prior_covariance=100.0, noise_variance=InverseGamma(1, 1))
    >>> model.fit([[0.0], [1.0], [2.0]], [1.0, 2.0, 4.0]).noise_posterior_
    InverseGamma(a=2.5, b=1.0980...)
    """

    a: float
    b: float

    def __post_init__(self) -> None:
        check.positive(a=self.a, b=self.b)


class Prior(NamedTuple):
    """theta = mean + L z with z_j ~ N(0, 1), or z_j flat."""

    mean: Array  # (q,)
    L: Array  # (q, q)
    flat: BoolArray  # (q,) of z


class Directions(NamedTuple):
    """The data seen through the prior, flat parameters projected out."""

    d: Array  # (r,)
    beta: Array  # (r,)
    rest: float  # squares that no direction explains
    n: float  # observations less flat parameters
    log_flat: float  # ln det F'F of the columns of the flat parameters


class Posterior(NamedTuple):
    """theta ~ N(mean, s^2 T T')."""

    mean: Array  # (q,)
    root: Array  # (q, q) T


def stacked(compact: Compact, *, intercept: bool) -> Array:
    """Rows Z with Z'Z = [D y]'[D y]."""
    rest = np.sqrt(np.maximum(np.diag(compact.rest), 0.0))
    width = compact.A.shape[1]
    tail = np.concatenate([np.zeros((1, width)), rest[:, None]], axis=1)
    Z = np.vstack([np.hstack([compact.A, compact.c]), tail])
    if not intercept:
        return Z
    top = np.sqrt(compact.weight) * np.concatenate([[1.0], compact.mean, compact.y_mean])
    return np.vstack([top, np.hstack([np.zeros((len(Z), 1)), Z])])


def see(Z: Array, prior: Prior, n: float) -> Directions:
    """Project the flat parameters out and decompose the rest; a flat prior needs full rank."""
    A, c = Z[:, :-1], Z[:, -1] - Z[:, :-1] @ prior.mean
    B = A @ prior.L
    F, k = B[:, prior.flat], int(prior.flat.sum())
    log_flat = 0.0
    if k:
        norms = np.linalg.norm(F, axis=0)
        Q, R = np.linalg.qr(F / np.where(norms > 0, norms, 1.0))
        size = np.linalg.svd(R, compute_uv=False)
        if len(F) < k or not norms.all() or size[-1] <= 10 * max(F.shape) * EPS * size[0]:
            full = "a flat prior (infinite variance) needs columns of full rank"
            why = "the rows do not determine all flat parameters; give them a finite prior variance"
            raise ValueError(f"{full}, but {why}")
        log_flat = 2 * float(np.log(np.abs(np.diag(R)) * norms).sum())
        B, c = B - Q @ (Q.T @ B), c - Q @ (Q.T @ c)
    U, d, _ = np.linalg.svd(B[:, ~prior.flat], full_matrices=False)
    d = np.where(d > max(B.shape) * EPS * d.max(initial=0.0), d, 0.0)
    beta = U[:, d > 0].T @ c
    rest = max(float(c @ c - beta @ beta), 0.0)
    if rest <= 1e-8 * (c @ c):  # the subtraction has lost digits
        rest = float(((c - U[:, d > 0] @ beta) ** 2).sum())
    return Directions(d[d > 0], beta, rest, n - k, log_flat)


def log_evidence(data: Directions, t: float | Array, s2: float | Array) -> Any:
    """ln p(y) for V = t L L' and noise s2 (arrays broadcast)."""
    t, s2 = np.asarray(t, dtype=np.float64), np.asarray(s2, dtype=np.float64)
    odds = np.multiply.outer(t / s2, data.d**2)
    squares = data.rest + (data.beta**2 / (1 + odds)).sum(axis=-1)
    volume = data.n * np.log(2 * np.pi * s2) + np.log1p(odds).sum(axis=-1)
    return -0.5 * (volume + squares / s2 + data.log_flat)


def climb(value: Callable[[Any], Any], low: float, high: float) -> tuple[float, bool]:
    """argmax over [low, high] of a curve with hills wider than GRID; True if it is at ``low``."""
    grid = np.linspace(low, high, max(3, int((high - low) / GRID)) + 1)
    values = value(grid)
    j = int(np.argmax(values))
    around = grid[max(0, j - 1)], grid[min(len(grid) - 1, j + 1)]
    how = {"bounds": around, "method": "bounded", "options": {"xatol": 1e-10}}
    found = minimize_scalar(lambda at: -float(value(np.array([at]))[0]), **how)
    best = float(found.x) if -found.fun >= values[j] else float(grid[j])
    return best, j == 0


class Variances(NamedTuple):
    """Prior variance t, noise s2, ln p(y); ``edge`` where the evidence has no maximum."""

    t: float
    s2: float
    log_evidence: float
    edge: bool


def choose_both(data: Directions) -> Variances:
    """Maximise over t and s2: for lam = s2/t, s2 = (rest + sum beta^2 lam/(d^2 + lam)) / n'."""

    def noise(log_lam: float | Array) -> Any:
        lam = np.exp(log_lam)
        share = lam[..., None] / (data.d**2 + lam[..., None])
        return (data.rest + (data.beta**2 * share).sum(axis=-1)) / data.n

    def value(log_lam: float | Array) -> Any:
        s2 = noise(log_lam)
        return log_evidence_by_pairs(data, s2 / np.exp(log_lam), s2)

    squares = 2 * np.log(data.d)
    at, edge = climb(value, squares.min() - DEEP, squares.max() + DEEP)
    s2 = float(noise(np.array([at]))[0])
    none = float(data.rest + data.beta @ data.beta) / data.n  # t = 0: the inputs say nothing
    top, bottom = float(value(np.array([at]))[0]), float(log_evidence(data, 0.0, none))
    if bottom >= top - 1e-9:
        return Variances(0.0, none, bottom, False)
    return Variances(s2 / np.exp(at), s2, top, edge)


def log_evidence_by_pairs(data: Directions, t: Array, s2: Array) -> Array:
    """``log_evidence`` of t[i] with s2[i]."""
    return np.array([float(log_evidence(data, a, b)) for a, b in zip(t, s2, strict=True)])


def choose_prior(data: Directions, s2: float) -> Variances:
    """Maximise over t with s2 known."""
    low = np.log(s2) - 2 * np.log(data.d.max()) - DEEP
    high = np.log(max(s2, float((data.beta**2).max()))) - 2 * np.log(data.d.min()) + 5
    at, _ = climb(lambda log_t: log_evidence(data, np.exp(log_t), s2), low, high)
    t = float(np.exp(at))
    top, bottom = float(log_evidence(data, t, s2)), float(log_evidence(data, 0.0, s2))
    t, value = (t, top) if top > bottom + 1e-9 else (0.0, bottom)
    return Variances(t, s2, value, False)


def choose_noise(data: Directions, t: float) -> Variances:
    """Maximise over s2 with the prior known."""

    def value(log_s2: Array) -> Array:
        return log_evidence_by_pairs(data, np.full(len(log_s2), t), np.exp(log_s2))

    high = np.log(data.rest + float(data.beta @ data.beta)) + 1
    at, edge = climb(value, high - 60, high)
    s2 = float(np.exp(at))
    return Variances(t, s2, float(log_evidence(data, t, s2)), edge)


def log_evidence_gamma(data: Directions, t: float | Array, noise: InverseGamma) -> Any:
    """ln p(y) with s^2 ~ InverseGamma and theta | s^2 ~ N(m, s^2 t L L')."""
    a, b = updated(data, t, noise)
    odds = np.multiply.outer(np.asarray(t, dtype=np.float64), data.d**2)
    fit = -0.5 * (data.n * np.log(2 * np.pi) + data.log_flat + np.log1p(odds).sum(axis=-1))
    return fit + noise.a * np.log(noise.b) - gammaln(noise.a) + gammaln(a) - a * np.log(b)


def updated(data: Directions, t: float | Array, noise: InverseGamma) -> tuple[float, Any]:
    """(a_n, b_n) of the posterior of s^2."""
    odds = np.multiply.outer(np.asarray(t, dtype=np.float64), data.d**2)
    squares = data.rest + (data.beta**2 / (1 + odds)).sum(axis=-1)
    return noise.a + data.n / 2, noise.b + squares / 2


def choose_prior_gamma(data: Directions, noise: InverseGamma) -> float:
    """Maximise over t with s^2 integrated out."""

    def value(log_t: float | Array) -> Any:
        return log_evidence_gamma(data, np.exp(log_t), noise)

    squares = 2 * np.log(data.d)
    t = float(np.exp(climb(value, -squares.max() - DEEP, -squares.min() + DEEP)[0]))
    better = log_evidence_gamma(data, t, noise) > log_evidence_gamma(data, 0.0, noise) + 1e-9
    return t if better else 0.0


def posterior(Z: Array, prior: Prior, scale: float, noise: float) -> Posterior:
    """argmin |y - D theta|^2 + noise z'z with theta = m + sqrt(scale) L z, and its root, by QR."""
    A, c = Z[:, :-1], Z[:, -1] - Z[:, :-1] @ prior.mean
    q = A.shape[1]
    L = np.where(prior.flat, prior.L, np.sqrt(scale) * prior.L)
    penalty = np.diag(np.where(prior.flat, 0.0, np.sqrt(noise)))
    B = np.vstack([A @ L, penalty])
    norms = np.linalg.norm(B, axis=0)
    R = triangle(np.hstack([B / norms, np.append(c, np.zeros(q))[:, None]]))
    R_theta = in_range(R[:q, :q], "the posterior")
    if not np.diag(R_theta).all():  # the prior is too weak in this unit to tell them apart
        raise ValueError(
            "a column of X depends on others, and the prior is nothing beside it: "
            "leave it out, or scale the columns of X"
        )
    T = (L / norms) @ solve_triangular(R_theta, np.eye(q))
    return Posterior(prior.mean + T @ R[:q, q], T)
