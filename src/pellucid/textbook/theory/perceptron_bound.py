r"""Perceptron bound (Novikoff): how many mistakes a perceptron can make at most.

Given       rows with |x_i| <= R and signs y_i, and a unit u with y_i u.x_i >= g > 0 for all i
Solve       the number k of mistakes of w <- w + y_i x_i at mistakes, from w = 0
Step        each mistake adds at least g to u.w, and at most R^2 to |w|^2 (the cross term is <= 0 at
            a mistake): k g <= u.w <= |w| <= R sqrt(k), so k <= (R / g)^2. The largest g is that of
            the widest street: max_u min_i y_i u.x_i, here by non-negative least squares: the point
            of the hull of the y_i x_i that is nearest to 0 has length g.
Cost        a quadratic programme.
The fast version is part of ``Perceptron``, with and without an intercept.
"""

import numpy as np
from scipy.optimize import nnls


def perceptron_bound(X: np.ndarray, y: np.ndarray) -> float:
    """(R / g)^2, infinite where no street exists; no intercept."""
    Z = y[:, None] * X
    weight = 1e4 * np.abs(Z).max()  # makes the shares sum to 1
    A = np.vstack([Z.T, np.full(len(Z), weight)])
    share, _ = nnls(A, np.append(np.zeros(X.shape[1]), weight))
    nearest = Z.T @ (share / share.sum())
    g = np.linalg.norm(nearest)
    R = np.linalg.norm(X, axis=1).max()
    return float((R / g) ** 2) if (Z @ nearest).min() > 1e-9 * R**2 else float("inf")


def mistakes(X: np.ndarray, y: np.ndarray, n_epochs: int = 1000) -> int:
    """How many a perceptron makes until it makes none."""
    w, count = np.zeros(X.shape[1]), 0
    for _ in range(n_epochs):
        before = count
        for x, sign in zip(X, y, strict=True):
            if sign * (w @ x) <= 0:
                w, count = w + sign * x, count + 1
        if count == before:
            break
    return count
