r"""Partial least squares: directions of X that vary and go with y, then regression on them.

Maximise    cov(Xu, y)^2 over |u| = 1, again and again, each time on what is left of X
Step        cov(Xu, y) ~ u'X'y, so u = X'y / |X'y| (Cauchy and Schwarz). z = Xu; regress X and y on
            z and keep the residuals: X - z p', p = X'z / z'z; y - q z, q = y'z / z'z. The z are
            orthogonal, so the q are those of one regression on all of them.
Cost        n p per direction.
The fast version reads the rows once and works on a small triangle; several targets at a time.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np


class State(NamedTuple):
    u: np.ndarray  # (p,) of length 1
    z: np.ndarray  # (n,) score
    q: float  # slope of y on z
    fitted: np.ndarray  # (n,) with all directions so far


def directions(X: np.ndarray, y: np.ndarray, M: int) -> Iterator[State]:
    """One more direction per state; X and y are centred (and scaled, if wanted)."""
    fitted = np.zeros(len(y))
    for _ in range(M):
        u = X.T @ y / np.linalg.norm(X.T @ y)
        z = X @ u
        q = float(y @ z / (z @ z))
        X = X - np.outer(z, X.T @ z / (z @ z))
        y = y - q * z
        fitted = fitted + q * z
        yield State(u, z, q, fitted)


def partial_least_squares(X: np.ndarray, y: np.ndarray, M: int) -> tuple[np.ndarray, float]:
    """Coefficients of the original columns, and the intercept, with M directions."""
    mean, scale = X.mean(axis=0), X.std(axis=0, ddof=1)
    Z = (X - mean) / scale
    *_, last = directions(Z, y - y.mean(), M)
    w = np.linalg.lstsq(Z, last.fitted, rcond=None)[0] / scale  # the fit is linear in the columns
    return w, float(y.mean() - mean @ w)
