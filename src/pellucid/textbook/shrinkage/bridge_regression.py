r"""Bridge regression: the penalty |w|^q, with the lasso at q = 1 and ridge at q = 2.

Minimise    L = |y - b - X w|^2 / (2 n) + alpha sum_j |w_j|^q,  q >= 1: convex
Step        along one coordinate (c_j / 2) w^2 - rho_j w + alpha |w|^q. Its minimum has the sign of
            rho_j, and its size u solves c_j u + alpha q u^(q-1) = |rho_j|: the left side rises
            from 0, so there is one root between 0 and |rho_j| / c_j (q = 1: maybe none, then 0).
Cost        n p per sweep, and one root per coordinate.
The fast version takes q < 1 too (local minima: several starts), and a bound in place of alpha.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq


class State(NamedTuple):
    b: float
    w: np.ndarray
    L: float


def one_coordinate(rho: float, c: float, alpha: float, q: float) -> float:
    """The minimiser of (c / 2) w^2 - rho w + alpha |w|^q."""
    size = abs(rho)
    if q == 1 or size == 0:
        return float(np.sign(rho) * max(size - alpha, 0) / c)

    def slope(u: float) -> float:
        return c * u + alpha * q * u ** (q - 1) - size

    return float(np.sign(rho) * brentq(slope, 0, size / c, xtol=1e-15))


def sweeps(X: np.ndarray, y: np.ndarray, alpha: float, q: float) -> Iterator[State]:
    """One pass over the coordinates each, until none moves."""
    n, x_mean = len(y), X.mean(axis=0)
    Xc, r = X - x_mean, y - y.mean()
    c = (Xc**2).sum(axis=0) / n
    w = np.zeros(X.shape[1])
    while True:
        before = w.copy()
        for j, x in enumerate(Xc.T):
            new = one_coordinate(x @ r / n + c[j] * w[j], c[j], alpha, q)
            r = r + (w[j] - new) * x
            w[j] = new
        L = r @ r / (2 * n) + alpha * (np.abs(w) ** q).sum()
        yield State(y.mean() - x_mean @ w, w.copy(), L)
        if np.abs(w - before).max() <= 1e-13 * np.abs(w).max():
            return


def bridge_regression(X: np.ndarray, y: np.ndarray, alpha: float, q: float = 1.5) -> State:
    """The minimiser."""
    *_, last = sweeps(X, y, alpha, q)
    return last
