r"""Huber regression: squares for small residuals, absolute values for large ones.

Minimise    L = sum_i s + s H(r_i / s) + alpha |w|^2,  r = y - b - X w,
            H(z) = z^2 up to |z| = eps, 2 eps |z| - eps^2 beyond; the scale s is learned too
Step        with s fixed, H lies below the parabola through z with the weight min(1, eps / |z|):
            weighted least squares cannot raise L. With r fixed, dL/ds = 0 gives
            s^2 = sum of the small r_i^2 / (n - eps^2 times the number of large ones).
Cost        n p^2 per round.
The fast version takes Newton steps in (b, w, s) at once, which end in a few.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np


class State(NamedTuple):
    b: np.ndarray  # (p + 1,), the intercept first
    s: float
    L: float


def rounds(X: np.ndarray, y: np.ndarray, eps: float, alpha: float) -> Iterator[State]:
    """Scale, weights, coefficients, until nothing moves."""
    D = np.column_stack([np.ones(len(X)), X])
    penalty = alpha * np.diag([0.0] + [1.0] * X.shape[1])  # the intercept is free
    b = np.linalg.lstsq(D, y, rcond=None)[0]
    s = np.median(np.abs(y - D @ b))
    for _ in range(1000):  # rounding may keep the last digits from settling
        r = np.abs(y - D @ b)
        for _ in range(100):  # the set of small residuals depends on s
            small = r <= eps * s
            s = np.sqrt((r[small] ** 2).sum() / (len(y) - eps**2 * (~small).sum()))
        H = np.where(r <= eps * s, (r / s) ** 2, 2 * eps * r / s - eps**2)
        L = (s + s * H).sum() + b @ penalty @ b
        yield State(b, s, L)
        weight = 1 / np.maximum(1, r / (eps * s))
        new = np.linalg.solve(D.T @ (weight[:, None] * D) + s * penalty, D.T @ (weight * y))
        if np.abs(new - b).max() <= 1e-12 * np.abs(new).max():
            return
        b = new


def huber_regression(
    X: np.ndarray, y: np.ndarray, eps: float = 1.35, alpha: float = 0.0001
) -> State:
    """The minimiser: L is convex in (b, w, s)."""
    *_, last = rounds(X, y, eps, alpha)
    return last
