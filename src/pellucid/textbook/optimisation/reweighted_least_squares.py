r"""Iteratively reweighted least squares: Newton's method as a sequence of regressions.

Minimise    sum_i l(y_i, f_i),  f = Xb, each l convex in f (here logistic, y in {0, 1})
Step        Newton's system X'VX d = -X'l' with V = diag(l'') is least squares with weights v_i =
            l'' and working response z_i = f_i - l'_i / v_i: b = argmin sum v_i (z_i - x_i'b)^2. For
            the logistic loss l' = s - y, l'' = s (1 - s), s = 1 / (1 + exp(-f)).
Cost        n p^2 per step.
The fast version takes any loss with a second derivative, and warns of separated classes.
"""

from collections.abc import Iterator

import numpy as np


def steps(X: np.ndarray, y: np.ndarray, tol: float = 1e-10) -> Iterator[np.ndarray]:
    """Coefficients after each regression, from zero."""
    b = np.zeros(X.shape[1])
    while True:
        yield b
        f = X @ b
        s = 1 / (1 + np.exp(-f))
        v = s * (1 - s)
        z = f - (s - y) / v
        root = np.sqrt(v)
        new = np.linalg.lstsq(root[:, None] * X, root * z, rcond=None)[0]
        if np.abs(new - b).max() < tol:
            return
        b = new


def reweighted_least_squares(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The coefficients of logistic regression without a penalty."""
    *_, last = steps(X, y)
    return last
