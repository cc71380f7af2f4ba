r"""Standard errors of quantile regression.

    Cov = (D'D)^-1 D' diag(d) D (D'D)^-1,     d_i = (tau/f)^2 for r_i > 0, ((1 - tau)/f)^2 otherwise
    f   = (1/(n h)) sum K(r_i / h),           K the Epanechnikov kernel

With the bandwidth of Hall & Sheather (1988), widened from the uniform to the scale of the
residuals: h = min(sd(y), IQR(r)/1.34) (Phi^-1(tau + b) - Phi^-1(tau - b)). Rows of weight w count
as w rows.

References: Powell (1991); Koenker, Quantile Regression (2005), section 3.4.
"""

from typing import NamedTuple

import numpy as np
from scipy.special import ndtri

from pellucid.core.arrays.typing import Array
from pellucid.core.loops.statistics import is_unit


class Density(NamedTuple):
    """The residual density at 0 and the bandwidth of its kernel estimate."""

    bandwidth: float
    value: float


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


def residual_density(r: Array, y: Array, w: Array, tau: float) -> Density:
    """Epanechnikov kernel at 0 with the Hall-Sheather bandwidth."""
    n = w.sum()
    z = ndtri(tau)
    normal = np.exp(-(z**2) / 2) / np.sqrt(2 * np.pi)
    h = n ** (-1 / 3) * ndtri(0.975) ** (2 / 3) * (1.5 * normal**2 / (2 * z**2 + 1)) ** (1 / 3)
    spread = (weighted_percentile(r, w, 0.75) - weighted_percentile(r, w, 0.25)) / 1.34
    centre = np.average(y, weights=w)
    sd = np.sqrt(np.average((y - centre) ** 2, weights=w))
    top, bottom = min(tau + h, 1 - 1e-12), max(tau - h, 1e-12)
    width = min(sd, spread) * (ndtri(top) - ndtri(bottom))
    if not width > 0:
        return Density(float(width), np.nan)
    u = r / width
    kernel = np.where(np.abs(u) <= 1, 0.75 * (1 - u**2), 0.0)
    return Density(float(width), float(w @ kernel / (n * width)))


def sandwich(D: Array, r: Array, w: Array, tau: float, f: float) -> tuple[Array, Array]:
    """(robust, iid) covariances of the parameters of D."""
    weight = np.where(r > 0, tau, 1 - tau) / f
    inverse = np.asarray(np.linalg.pinv((D * w[:, None]).T @ D), dtype=np.float64)
    middle = (D * (w * weight**2)[:, None]).T @ D
    return inverse @ middle @ inverse, tau * (1 - tau) / f**2 * inverse
