r"""Lasso by coordinate descent: a penalty that sets coefficients to zero.

Minimise    L(b, w) = |y - b - X w|^2 / (2 n) + alpha |w|_1
Step        along one coordinate: (c_j / 2) w_j^2 - rho_j w_j + alpha |w_j| + constant with
            c_j = x_j'x_j / n and rho_j = x_j'(r + x_j w_j) / n. Its least value is at
            S(rho_j, alpha) / c_j, S the soft threshold: 0 where |rho_j| <= alpha.
            The penalty does not mix coordinates, so a point none can improve is the minimum.
Cost        n p per sweep. Every w is 0 from alpha = max_j |x_j'yc| / n on.
The fast version visits only columns that may be non-zero, and stops by the duality gap.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np


class State(NamedTuple):
    b: float
    w: np.ndarray  # (p,)
    L: float


def soft_threshold(rho: float, alpha: float) -> float:
    return float(np.sign(rho) * max(abs(rho) - alpha, 0.0))


def sweeps(X: np.ndarray, y: np.ndarray, alpha: float) -> Iterator[State]:
    """One pass over the coordinates each, until none moves."""
    n = len(y)
    Xc, yc = X - X.mean(axis=0), y - y.mean()  # then the intercept is 0
    c = (Xc**2).sum(axis=0) / n
    w, r = np.zeros(X.shape[1]), yc.copy()
    while True:
        before = w.copy()
        for j, x in enumerate(Xc.T):
            new = soft_threshold(x @ r / n + c[j] * w[j], alpha) / c[j]
            r += (w[j] - new) * x
            w[j] = new
        yield State(
            y.mean() - X.mean(axis=0) @ w, w.copy(), r @ r / (2 * n) + alpha * np.abs(w).sum()
        )
        if np.abs(w - before).max() <= 1e-14 * np.abs(w).max():
            return


def lasso(X: np.ndarray, y: np.ndarray, alpha: float = 1.0) -> State:
    """The minimiser."""
    *_, last = sweeps(X, y, alpha)
    return last
