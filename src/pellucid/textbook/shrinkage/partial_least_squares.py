r"""Partial least squares: directions that both spread and go with the target.

Maximise    over directions phi: Cov(y, Z phi)^2, z_m uncorrelated with the earlier components
Step        the covariance is largest along phi = Z'y. Regress y on z = Z phi; then take from every
            column of Z what z explains, and repeat: the components are orthogonal.
            theta_m = z_m'y / z_m'z_m, as in simple regressions. All p of them: least squares.
Cost        n p per component.
The fast version takes several targets, and works from cross-products of long tables.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np


class Component(NamedTuple):
    z: np.ndarray  # (n,)
    theta: float


def components(Z: np.ndarray, y: np.ndarray) -> Iterator[Component]:
    """One after the other, from standardised columns."""
    for _ in range(Z.shape[1]):
        z = Z @ (Z.T @ y)
        yield Component(z, z @ y / (z @ z))
        Z = Z - np.outer(z, z @ Z / (z @ z))


def partial_least_squares(X: np.ndarray, y: np.ndarray, M: int) -> np.ndarray:
    """Slopes in the units of X, from M components."""
    mean, scale = X.mean(axis=0), X.std(axis=0)
    Z, yc = (X - mean) / scale, y - y.mean()
    fit = np.zeros(len(y))
    for component, _ in zip(components(Z, yc), range(M), strict=False):
        fit += component.theta * component.z
    return np.linalg.lstsq(Z, fit, rcond=None)[0] / scale  # the fit is a combination of columns
