r"""Lasso with its penalty chosen by an information criterion.

Minimise    over the knots of the lasso path: BIC = n ln(2 pi s^2) + RSS / s^2 + k ln n,
            k the number of non-zero coefficients, s^2 the noise of the full least-squares fit
Step        the lasso's search among columns is paid for by its shrinkage: the expected k is exactly
            the effective number of parameters (Zou, Hastie, Tibshirani): nothing is resampled.
Cost        that of the path.
The fast version walks the path by least angles, and has AIC, Cp and GCV too.
"""

from typing import NamedTuple

import numpy as np


class Choice(NamedTuple):
    bic: np.ndarray  # (knots,)
    best: int


def lasso_information(X: np.ndarray, y: np.ndarray, W: np.ndarray) -> Choice:
    """BIC of every column of W, the coefficients (p, knots) along the path."""
    n, p = X.shape
    Xc, yc = X - X.mean(axis=0), y - y.mean()
    full = yc - Xc @ np.linalg.lstsq(Xc, yc, rcond=None)[0]
    s2 = full @ full / (n - p - 1)
    rss = ((yc[:, None] - Xc @ W) ** 2).sum(axis=0)
    k = (np.abs(W) > 1e-12).sum(axis=0)
    bic = n * np.log(2 * np.pi * s2) + rss / s2 + k * np.log(n)
    return Choice(bic, int(bic.argmin()))
