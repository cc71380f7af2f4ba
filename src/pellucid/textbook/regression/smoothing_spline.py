r"""Smoothing spline: the curve that trades closeness against bending.

Minimise    sum_i (y_i - f(x_i))^2 + alpha int f''(x)^2 dx over all smooth f
Step        the minimiser is a natural cubic spline with a knot at every x. For such f with values f
            and second derivatives g at the knots, smooth joins mean Q'f = R g (tridiagonal R),
            and the integral is g'R g = f'Q R^-1 Q'f. Derivative 0: f = y - alpha Q g. Put into
            Q'f = R g: (R + alpha Q'Q) g = Q'y, which close knots hurt least.
Cost        n^3 as written; n with banded matrices.
The fast version runs two filters along the knots in time n, and searches alpha by leave-one-out.
"""

from typing import NamedTuple

import numpy as np


class Fit(NamedTuple):
    f: np.ndarray  # values at the knots
    g: np.ndarray  # second derivatives there
    df: float  # trace of the matrix that takes y to f


def smoothing_spline(x: np.ndarray, y: np.ndarray, alpha: float) -> Fit:
    """The minimiser at rising, distinct x."""
    n, h = len(x), np.diff(x)
    Q, R = np.zeros((n, n - 2)), np.zeros((n - 2, n - 2))
    for j in range(n - 2):  # the knots inside
        Q[j : j + 3, j] = 1 / h[j], -1 / h[j] - 1 / h[j + 1], 1 / h[j + 1]
        R[j, j] = (h[j] + h[j + 1]) / 3
        if j:
            R[j, j - 1] = R[j - 1, j] = h[j] / 6
    G = np.linalg.solve(R + alpha * Q.T @ Q, Q.T)  # from y to g
    g = G @ y
    return Fit(y - alpha * Q @ g, np.concatenate([[0], g, [0]]), n - alpha * np.trace(Q @ G))


def curve(x: np.ndarray, knots: np.ndarray, fit: Fit) -> np.ndarray:
    """f at new x between the knots: the cubic with these values and second derivatives."""
    k = np.clip(np.searchsorted(knots, x) - 1, 0, len(knots) - 2)
    h, a, b = knots[k + 1] - knots[k], knots[k + 1] - x, x - knots[k]
    bend = (1 + a / h) * fit.g[k] + (1 + b / h) * fit.g[k + 1]
    return (a * fit.f[k] + b * fit.f[k + 1]) / h - a * b / 6 * bend
