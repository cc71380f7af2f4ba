r"""Probabilistic PCA: a normal density with few directions and round noise, in closed form.

Model       z ~ N(0, I_d),  x | z ~ N(Wz + m, s I),  so x ~ N(m, C) with C = WW' + s I
Maximise    l = -n/2 (p log 2 pi + log |C| + tr C^-1 S),  S the 1/n covariance
Step        dl/dW = 0 is S C^-1 W = W: the columns of W are eigenvectors of S, scaled so that C
            has their eigenvalue, W = V_d (L_d - s I)^(1/2); then l is largest in s at the mean of
            the eigenvalues left out (Tipping & Bishop, 1999). Any rotation WR gives the same C.
Cost        n p^2 + p^3.
The fast version reads the rows once, in blocks, and sums over missing cells by EM.
"""

from typing import NamedTuple

import numpy as np


class Density(NamedTuple):
    m: np.ndarray  # (p,)
    W: np.ndarray  # (p, d)
    s: float
    log_likelihood: float


def probabilistic_pca(X: np.ndarray, d: int) -> Density:
    n, p = X.shape
    m = X.mean(axis=0)
    S = (X - m).T @ (X - m) / n
    values, V = np.linalg.eigh(S)
    values, V = values[::-1], V[:, ::-1]
    s = values[d:].mean()
    W = V[:, :d] * np.sqrt(values[:d] - s)
    log_det = np.log(values[:d]).sum() + (p - d) * np.log(s)
    return Density(m, W, s, -n / 2 * (p * np.log(2 * np.pi) + log_det + p))  # tr C^-1 S = p


def posterior(X: np.ndarray, density: Density) -> tuple[np.ndarray, np.ndarray]:
    """Means (n, d) and covariance (d, d) of z given each row."""
    m, W, s, _ = density
    M = W.T @ W + s * np.eye(W.shape[1])
    return np.linalg.solve(M, W.T @ (X - m).T).T, s * np.linalg.inv(M)
