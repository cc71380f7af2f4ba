r"""Standard errors of quantile regression.

With psi_i the slope of the loss, the variance of the score is tau (1 - tau) D'D and its derivative
is D'diag(f) D, f_i the density of y_i at the quantile of its row:

    Cov = tau (1 - tau) (D'diag(f) D)^-1 D'D (D'diag(f) D)^-1

robust   f_i = 2h / (D_i'(theta(tau + h) - theta(tau - h))): the slope of the row's own quantiles,
         from two further fits (Hendricks and Koenker; R's "nid"); 0 where the two fits cross
powell   f_i = K(r_i/c)/c with the Epanechnikov kernel K
iid      one density for all rows, the mean of Powell's
bootstrap   rows drawn anew with their y, and refitted

h is Hall and Sheather's bandwidth, and c the same on the scale of the residuals,
c = min(sd(y), IQR(r)/1.34) (Phi^-1(tau + h) - Phi^-1(tau - h)). A row of weight w counts as w rows.

References: Hendricks & Koenker (1992); Powell (1991); Hall & Sheather (1988);
Koenker, Quantile Regression (2005), section 3.4.
"""

from typing import NamedTuple

import numpy as np
from scipy.special import ndtri

from pellucid.core.arrays.typing import Array
from pellucid.core.loops.statistics import is_unit
from pellucid.linear.robust.quantile_programme import Rows, State, optimum


class Density(NamedTuple):
    """The residual density at 0 and the bandwidth of its kernel estimate."""

    bandwidth: float
    value: float


class Covariances(NamedTuple):
    """Three estimates of the covariance of the parameters of D; NaN where f is 0 all over."""

    robust: Array
    powell: Array
    iid: Array


def weighted_percentile(values: Array, w: Array, share: float) -> float:
    """Linear between order statistics, as if every row were repeated w times."""
    if is_unit(w):
        return float(np.quantile(values, share))
    order = np.argsort(values, kind="stable")
    upper = np.cumsum(w[order])
    position = share * max(upper[-1] - 1, 0.0)
    base = np.floor(position)
    at = np.searchsorted(upper, [base, base + 1], side="right")
    low, high = values[order[np.minimum(at, len(values) - 1)]]
    return float(low + (position - base) * (high - low))


def hall_sheather(tau: float, n: float) -> float:
    """The bandwidth in tau that makes 0.95 intervals of a quantile most accurate.

    >>> round(hall_sheather(0.5, 235), 4)
    0.1574
    """
    z = ndtri(tau)
    normal = np.exp(-(z**2) / 2) / np.sqrt(2 * np.pi)
    shape = (1.5 * normal**2 / (2 * z**2 + 1)) ** (1 / 3)
    return float(n ** (-1 / 3) * ndtri(0.975) ** (2 / 3) * shape)


def kernel(r: Array, width: float) -> Array:
    """Epanechnikov's kernel at every residual."""
    u = r / width
    return np.where(np.abs(u) <= 1, 0.75 * (1 - u**2), 0.0) / width


def residual_density(r: Array, y: Array, w: Array, tau: float) -> Density:
    """The mean kernel estimate at 0, with the bandwidth on the scale of the residuals."""
    n = w.sum()
    h = hall_sheather(tau, n)
    spread = (weighted_percentile(r, w, 0.75) - weighted_percentile(r, w, 0.25)) / 1.34
    centre = np.average(y, weights=w)
    sd = np.sqrt(np.average((y - centre) ** 2, weights=w))
    top, bottom = min(tau + h, 1 - 1e-12), max(tau - h, 1e-12)
    width = float(min(sd, spread) * (ndtri(top) - ndtri(bottom)))
    if not width > 0:
        return Density(width, np.nan)
    return Density(width, float(w @ kernel(r, width) / n))


def row_densities(rows: Rows, w: Array, tau: float, state: State) -> Array:
    """The density of every row at its quantile, from the fits at tau + h and tau - h."""
    h = hall_sheather(tau, w.sum())
    while tau - h <= 0 or tau + h >= 1:
        h /= 2
    low, high = (
        optimum(rows._replace(up=q * w, lo=(1 - q) * w), state, share=3 * h).theta
        for q in (tau - h, tau + h)
    )
    apart = rows.D @ (high - low)
    tiny = 1e-12 * np.abs(rows.y).max()
    return np.where(apart > tiny, 2 * h / np.where(apart > tiny, apart, 1.0), 0.0)


def sandwich(D: Array, w: Array, f: Array, tau: float) -> Array:
    """tau (1 - tau) H^-1 D'D H^-1 with H = D'diag(f) D; NaN if H is singular."""
    root = np.sqrt(w * f / (f.max() or 1.0))[:, None] * D
    size = np.linalg.norm(root, axis=0)
    q = D.shape[1]
    if not (size > 0).all() or np.linalg.matrix_rank(root / size) < q:
        return np.full((q, q), np.nan)
    R = np.asarray(np.linalg.qr(root, mode="r"))
    inverse = np.linalg.solve(R, np.eye(q))
    inverse = inverse @ inverse.T / f.max()
    return tau * (1 - tau) * inverse @ ((D * w[:, None]).T @ D) @ inverse


def covariances(
    rows: Rows, r: Array, w: Array, tau: float, density: Density, state: State
) -> Covariances:
    """Robust, Powell's and iid covariance of the parameters of rows.D."""
    D = rows.D
    local = kernel(r, density.bandwidth)
    same = np.full(len(r), density.value)
    robust = sandwich(D, w, row_densities(rows, w, tau, state), tau)
    return Covariances(robust, sandwich(D, w, local, tau), sandwich(D, w, same, tau))


def resampled(rows: Rows, w: Array, tau: float, draws: int, rng: np.random.Generator) -> Array:
    """The parameters of ``draws`` samples of the rows with replacement, shape (draws, q)."""
    n, q = round(w.sum()), rows.D.shape[1]
    found = np.empty((draws, q))
    for b in range(draws):
        drawn = rng.multinomial(n, w / w.sum()).astype(float)
        while np.linalg.matrix_rank(rows.D[drawn > 0]) < q:  # a sample that cannot be fitted
            drawn = rng.multinomial(n, w / w.sum()).astype(float)
        part = np.flatnonzero(drawn)
        again = rows.take(part)._replace(up=tau * drawn[part], lo=(1 - tau) * drawn[part])
        found[b] = optimum(again, None, tau=tau).theta
    return found
