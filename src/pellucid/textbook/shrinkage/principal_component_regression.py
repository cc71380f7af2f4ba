r"""Principal component regression: least squares on the directions of most spread.

Model       y = mean(y) + sum_m theta_m z_m + e, z_m = Z v_m, M components of standardised X
Minimise    the squared residuals in theta
Step        the z_m are orthogonal, so theta_m = z_m'y / z_m'z_m, each by itself;
            in the columns of Z: w = sum_m theta_m v_m. M = p is least squares; fewer components
            leave out the directions in which w is least certain (ridge only shrinks them).
Cost        n p^2.
The fast version chooses M by cross-validation and keeps the coefficients of every M.
"""

from typing import NamedTuple

import numpy as np


class Fit(NamedTuple):
    b: float
    w: np.ndarray  # in the units of X
    theta: np.ndarray  # (M,)


def principal_component_regression(X: np.ndarray, y: np.ndarray, M: int) -> Fit:
    """Least squares on M components."""
    mean, scale = X.mean(axis=0), X.std(axis=0)
    Z = (X - mean) / scale
    V = np.linalg.svd(Z, full_matrices=False)[2][:M].T  # (p, M)
    scores = Z @ V
    theta = scores.T @ y / (scores**2).sum(axis=0)
    w = V @ theta / scale
    return Fit(y.mean() - mean @ w, w, theta)
