r"""The average of a sigmoid, and of a softmax, over normal scores.

    P = E sigma(a),     a ~ N(m, s^2)

has no closed form. Two integrals of smooth functions over the whole line are equal to it,

    P = int phi(z) sigma(m + s z) dz                      poles at distance pi/s from the line
    P = int sigma'(t) Phi((m - t)/s) dt                   poles at distance pi, (by parts)

and the trapezoid rule on either converges like exp(-2 pi distance / step). The first serves
s <= 1.5, the second every larger s, however large: both are exact to about 1e-9. The smaller of P
and 1 - P is computed, in logs where it underflows, so rows sum to 1 and their logs are finite.

For K > 2 scores a ~ N(m, S) the average of the softmax is a mean over points that stand for
N(0, I): an additive recurrence (low discrepancy) through the normal quantiles, with its mirror
image and scaled to the covariance I, so that moments up to the third are exact.

References: MacKay (1992); Trefethen & Weideman (2014), SIAM Review 56(3).
"""

import numpy as np
from scipy.linalg import solve_triangular
from scipy.special import log_ndtr, ndtr, ndtri

from pellucid.core.arrays.typing import Array
from pellucid.core.runtime.threads import map_threads

NARROW = 1.5  # standard deviations up to which the first integral is used
ROWS = 1024  # rows at a time: the table of rows x nodes stays in cache
FAR = -35.0  # e^FAR is below rounding
TINY = 1e-250  # below, probabilities are summed in logs

Z_NODES = np.arange(-18, 19) * 0.5  # |z| <= 9
Z_WEIGHTS = np.exp(-0.5 * Z_NODES**2) / np.exp(-0.5 * Z_NODES**2).sum()
T_NODES = np.arange(-40, 41) * 0.75  # |t| <= 30
T_WEIGHTS = 1 / (2 * np.cosh(T_NODES / 2)) ** 2
T_WEIGHTS = T_WEIGHTS / T_WEIGHTS.sum()


def log_sigmoid(a: Array) -> Array:
    """log(1 / (1 + e^-a)), finite for any a.

    >>> log_sigmoid(np.array([0.0, -1000.0])).round(4).tolist()
    [-0.6931, -1000.0]
    """
    return np.minimum(a, 0.0) - np.log1p(np.exp(-np.abs(a)))


def log_mean(logs: Array, weights: Array) -> Array:
    """log sum_j weights_j e^logs_ij."""
    top = logs.max(axis=1)
    return top + np.log(np.exp(logs - top[:, None]) @ weights)


def _narrow(m: Array, s: Array) -> Array:
    """log P for m <= 0 and small s."""
    return log_mean(log_sigmoid(m[:, None] + s[:, None] * Z_NODES), Z_WEIGHTS)


def _wide(m: Array, s: Array) -> Array:
    """log P for m <= 0 and large s."""
    with np.errstate(invalid="ignore", divide="ignore"):
        at = (m[:, None] - T_NODES) / s[:, None]
        logs = np.log(ndtr(at) @ T_WEIGHTS)
    far = ~(logs > np.log(TINY))
    if far.any():
        logs[far] = log_mean(log_ndtr(at[far]), T_WEIGHTS)
    return logs


def log_averages(m: Array, s: Array) -> tuple[Array, Array]:
    """log(1 - P) and log P of every row, P = E sigma(N(m, s^2)).

    >>> rows = log_averages(np.array([0.0, 2.0]), np.array([1e6, 0.0]))
    >>> np.exp(rows[1]).round(6)
    array([0.5     , 0.880797])
    """
    smaller = np.empty(len(m))

    def fill(start: int) -> None:
        rows = slice(start, start + ROWS)
        low, spread = -np.abs(m[rows]), s[rows]
        wide = spread > NARROW
        out = smaller[rows]
        out[~wide] = _narrow(low[~wide], spread[~wide])
        if wide.any():
            out[wide] = _wide(low[wide], spread[wide])
        with np.errstate(over="ignore"):
            v = spread * spread
        far = low + 1.5 * v < FAR  # there sigma(a) is e^a
        out[far] = low[far] + 0.5 * v[far]

    list(map_threads(fill, range(0, len(m), ROWS)))
    smaller = np.minimum(smaller, -np.log(2.0))
    larger = np.log1p(-np.exp(smaller))
    return np.where(m < 0, larger, smaller), np.where(m < 0, smaller, larger)


def normal_points(n: int, d: int) -> Array:
    """About n points that stand for N(0, I) in d dimensions, in pairs z and -z.

    >>> Z = normal_points(1000, 2)
    >>> Z.shape, bool(np.abs(Z.T @ Z / 1000 - np.eye(2)).max() < 1e-12)
    ((1000, 2), True)
    """
    ratio = 2.0
    for _ in range(60):  # the root of x^(d + 1) = x + 1
        ratio = (1 + ratio) ** (1 / (d + 1))
    half = max((n + 1) // 2, 1)
    U = (0.5 + np.arange(1, half + 1)[:, None] * ratio ** -np.arange(1.0, d + 1)) % 1.0
    Z = ndtri(np.clip(U, 1e-12, 1 - 1e-12))
    if half > 2 * d:  # second moments exactly those of N(0, I)
        Z = solve_triangular(np.linalg.cholesky(Z.T @ Z / half), Z.T, lower=True).T
    return np.concatenate([Z, -Z])


def softmax(A: Array) -> Array:
    """Over the last axis."""
    E = np.exp(A - A.max(axis=-1, keepdims=True))
    return E / E.sum(axis=-1, keepdims=True)
