r"""Intervals of Bayesian linear models with the estimated variances integrated out.

The evidence is maximised over the noise variance s^2 and the prior variance t, and the posterior
given the maximum is too narrow for few rows: the variances are estimates. Here they are averaged
over. With lam = s^2/t and the directions of ``evidence.py``, S(lam) = rest + sum b_j^2 lam/(d_j^2 +
lam) and the priors

    p(s^2) ~ 1/s^2,      lam/(lam + e) uniform on (0, 1),  e the median of d_j^2

(uniform shrinkage, Daniels 1999), s^2 is integrated exactly and lam on a grid:

    p(lam | y)  ~  p(lam) S^(-n'/2) prod (1 + d_j^2/lam)^(-1/2)
    theta | lam, y  is Student's t with n' degrees of freedom, scale (S/n') (D'D + lam V^-1)^-1

The mixture over lam is taken as one Student's t about the reported mean, with the mean square of
the mixture: the spread of the means of theta | lam counts too. Where only one of the variances is
estimated the other is fixed on the grid.

References: Daniels (1999), A prior for the variance in hierarchical models; Bishop, PRML, ch. 3.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.special import polygamma, stdtrit

from pellucid.core.algebra.linalg import EPS
from pellucid.core.arrays.typing import Array
from pellucid.linear.bayes.evidence import DEEP, Directions, Prior

POINTS = 81  # of the grid over a variance
ZOOMS = 4  # times that the grid is laid anew where the density is
LARGEST = 700.0  # logarithm of numbers that do not overflow
NEGLIGIBLE = 30.0  # logarithms below the top
TRIVIAL = 1e-12  # weight below which a point of the grid is left out


class Grid(NamedTuple):
    """Variances and how plausible they are; ``df`` of the t given a point of the grid."""

    t: Array  # (K,) prior variance
    s2: Array  # (K,) noise variance
    weight: Array  # (K,) sums to 1
    df: float


class Integrated(NamedTuple):
    """theta ~ Student's t with this scale about the reported mean; a new row adds ``noise``."""

    covariance: Array  # (q, q)
    noise: float
    df: float

    def cut(self, confidence: float) -> float:
        """Half width of the central interval in units of the scale."""
        return float(stdtrit(self.df, (1 + confidence) / 2))


def fine_grid(
    log_density: Callable[[Array], Array], low: float, high: float
) -> tuple[Array, Array]:
    """Points and weights where a density of a logarithm is not negligible, finer and finer."""
    for _ in range(ZOOMS):
        at = np.linspace(low, high, POINTS)
        log_p = log_density(np.exp(at))
        if not np.isfinite(log_p.max()):
            raise ValueError(
                "the numbers are too large or too small to average over the prior variance; "
                "measure them in another unit"
            )
        live = np.flatnonzero(log_p >= log_p.max() - NEGLIGIBLE)
        low, high = at[max(live[0] - 1, 0)], at[min(live[-1] + 1, POINTS - 1)]
    w = np.exp(log_p - log_p.max())
    return np.exp(at), w / w.sum()


def shrinkage_prior(lam: Array, data: Directions) -> Array:
    """Log density of log lam where lam/(lam + e) is uniform."""
    middle = float(np.median(data.d**2))
    return np.log(lam) + np.log(middle) - 2 * np.log(lam + middle)


def left_over(data: Directions, lam: Array) -> Array:
    """lam/(d_j^2 + lam), (K, r): what shrinkage leaves of every direction to the noise."""
    return lam[:, None] / (data.d**2 + lam[:, None])


def lam_range(data: Directions) -> tuple[float, float]:
    squares = 2 * np.log(data.d)
    return max(squares.min() - DEEP, -LARGEST), min(squares.max() + DEEP, LARGEST)


def both_grid(
    data: Directions, a: float = 0.0, b: float = 0.0, slope: tuple[float, float] = (0.0, 0.0)
) -> Grid:
    """s^2 and t unknown: s^2 ~ InverseGamma(a, b) (0, 0: 1/s^2) integrated exactly for every lam.

    ``slope`` (c, d) multiplies the prior by t^-c exp(-d/t), with s^2 at its scale.
    """
    df = 2 * a + data.n

    def squares(lam: Array) -> Array:
        return 2 * b + data.rest + (data.beta**2 * left_over(data, lam)).sum(axis=1)

    def log_density(lam: Array) -> Array:
        volume = np.log(left_over(data, lam)).sum(axis=1)
        total, precision = squares(lam), lam * df / squares(lam)
        given = slope[0] * np.log(precision) - slope[1] * precision
        return 0.5 * (volume - df * np.log(total)) + shrinkage_prior(lam, data) + given

    if not len(data.d):  # no direction that a prior variance would matter in
        return Grid(np.zeros(1), squares(np.ones(1)) / df, np.ones(1), df)
    lam, w = fine_grid(log_density, *lam_range(data))
    s2 = squares(lam) / df
    return Grid(s2 / lam, s2, w, df)


def prior_grid(data: Directions, s2: float) -> Grid:
    """s^2 known, t unknown."""

    def log_density(lam: Array) -> Array:
        share = left_over(data, lam)
        fit = np.log(share).sum(axis=1) - (data.beta**2 * share).sum(axis=1) / s2
        return 0.5 * fit + shrinkage_prior(lam, data)

    if not len(data.d):
        return Grid(np.zeros(1), np.array([s2]), np.ones(1), np.inf)
    lam, w = fine_grid(log_density, *lam_range(data))
    return Grid(s2 / lam, np.full(POINTS, s2), w, np.inf)


def noise_grid(data: Directions, t: float) -> Grid:
    """t known, s^2 unknown with p(s^2) ~ 1/s^2; the df are those of an inverse gamma as spread."""

    def log_density(s2: Array) -> Array:
        odds = t * data.d**2 / s2[:, None]
        squares = data.rest + (data.beta**2 / (1 + odds)).sum(axis=1)
        return -0.5 * (data.n * np.log(s2) + np.log1p(odds).sum(axis=1) + squares / s2)

    total = np.log(data.rest + float(data.beta @ data.beta))
    s2, w = fine_grid(log_density, total - 2 * DEEP, total + DEEP)
    log_s2 = np.log(s2)
    df = 2 * inverse_trigamma(float(w @ (log_s2 - w @ log_s2) ** 2))
    shrink = max(1 - 2 / df, 0.1)  # E s^2 is the variance; the scale of the t is smaller
    return Grid(np.full(POINTS, t), s2 * shrink, w, df)


def inverse_trigamma(value: float) -> float:
    """a with trigamma(a) = value, by Newton's steps on 1/trigamma, which is nearly straight.

    >>> round(inverse_trigamma(float(polygamma(1, 7.0))), 6)
    7.0
    """
    a = 0.5 + 1 / value
    for _ in range(50):
        at = float(polygamma(1, a))
        step = at * (1 - at / value) / float(polygamma(2, a))
        a += step
        if abs(step) <= 1e-10 * a:
            break
    return a


def average(
    W: Array, d: Array, beta: Array, grid: Grid, t: float, s2: float
) -> tuple[Array, float]:
    """Mean square of z about its mean given (t, s2), and the noise; W (p, r) has directions."""
    keep = grid.weight > TRIVIAL
    w, ts, s2s = grid.weight[keep], grid.t[keep, None], grid.s2[keep, None]
    room = s2s + ts * d**2  # (K, r)
    shift = (ts * d / room - t * d / (s2 + t * d**2)) * beta
    inner = np.diag(w @ (ts * s2s / room)) + (w[:, None] * shift).T @ shift
    unseen = float(w @ ts[:, 0])  # variance of a direction without data
    V = W @ (inner - unseen * np.eye(len(d))) @ W.T + unseen * np.eye(len(W))
    return V, float(w @ s2s[:, 0])


def integrate(Z: Array, prior: Prior, grid: Grid, t: float, s2: float) -> Integrated:
    """The average over the grid, about the posterior mean given the variances t and s2."""
    A, c = Z[:, :-1], Z[:, -1] - Z[:, :-1] @ prior.mean
    B, flat = A @ prior.L, prior.flat
    Q, R = np.linalg.qr(B[:, flat])
    P = np.linalg.solve(R, Q.T @ B[:, ~flat])  # a flat parameter moves by -P z
    U, d, Wt = np.linalg.svd(B[:, ~flat] - Q @ (Q.T @ B[:, ~flat]), full_matrices=False)
    d = np.where(d > max(B.shape) * EPS * d.max(initial=0.0), d, 0.0)
    V, noise = average(Wt.T, d, U.T @ (c - Q @ (Q.T @ c)), grid, t, s2)
    full, inverse = np.empty((len(flat), len(flat))), np.linalg.inv(R)
    full[np.ix_(flat, flat)] = noise * inverse @ inverse.T + P @ V @ P.T
    full[np.ix_(~flat, ~flat)] = V
    full[np.ix_(flat, ~flat)] = -P @ V
    full[np.ix_(~flat, flat)] = -V @ P.T
    return Integrated(prior.L @ full @ prior.L.T, noise, grid.df)
