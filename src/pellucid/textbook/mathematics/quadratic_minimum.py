r"""Quadratic minimum: the lowest point of x'Ax + b'x + c.

Minimise    q(x) = x'Ax + b'x + c, A symmetric
Step        the gradient 2Ax + b is 0 at x* = -A^-1 b / 2, and q(x) = q(x*) + (x - x*)'A(x - x*):
            complete the square. So x* is the minimum exactly if A is positive definite; with a
            direction of negative curvature q falls for ever. Least squares has A = X'X, b = -2X'y.
Cost        p^3.
The fast version also says what happens when A is singular or indefinite.
"""

import numpy as np


def quadratic_minimum(A: np.ndarray, b: np.ndarray, c: float = 0.0) -> tuple[np.ndarray, float]:
    """x* and q(x*), for a positive definite A."""
    x = -np.linalg.solve(A, b) / 2
    return x, float(x @ A @ x + b @ x + c)
