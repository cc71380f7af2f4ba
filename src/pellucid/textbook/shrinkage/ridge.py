r"""Ridge: least squares that pays for the size of its coefficients.

Model       y = b + X w + e,  e ~ N(0, s^2 I),  w ~ N(0, (s^2 / alpha) I)
Minimise    L(b, w) = |y - b - X w|^2 + alpha |w|^2
Step        dL/db = 0 gives b = mean(y) - mean(x)'w, so both may be centred;
            dL/dw = -2 Xc'(yc - Xc w) + 2 alpha w = 0 gives (Xc'Xc + alpha I) w = Xc'yc.
            alpha > 0 makes the matrix positive definite: there is one solution, even if p > n.
Cost        n p^2 + p^3.
The fast version factors the smaller of X'X and XX', reads X once from a file, and shares the
singular values among many alphas.
"""

from typing import NamedTuple

import numpy as np


class Fit(NamedTuple):
    intercept: float
    w: np.ndarray  # (p,)


def ridge(X: np.ndarray, y: np.ndarray, alpha: float = 1.0) -> Fit:
    """The only minimiser."""
    Xc, yc = X - X.mean(axis=0), y - y.mean()
    w = np.linalg.solve(Xc.T @ Xc + alpha * np.eye(X.shape[1]), Xc.T @ yc)
    return Fit(y.mean() - X.mean(axis=0) @ w, w)
