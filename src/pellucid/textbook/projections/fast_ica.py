r"""Fast ICA: independent sources by making projections as little normal as possible.

Extremise   E[log cosh(w'z)] over unit vectors w, for rows z of unit covariance
Step        at a solution the gradient E[z tanh(w'z)] is parallel to w. Newton's method with the
            curvature E[1 - tanh^2(w'z)] in all directions gives
            w <- E[z tanh(w'z)] - E[1 - tanh^2(w'z)] w; then W <- (W W')^-1/2 W keeps the
            directions apart
Cost        4 n k^2 a step.
The fast version reads the rows in blocks, has other contrasts, and finds one direction at a time.
"""

import numpy as np


def orthogonal(W: np.ndarray) -> np.ndarray:
    """The orthogonal matrix nearest to W."""
    U, _, V = np.linalg.svd(W)
    return U @ V


def fast_ica(X: np.ndarray, start: np.ndarray, steps: int = 100) -> np.ndarray:
    """The sources (n, k) from a start (k, k) of full rank, k = number of columns."""
    Z = X - X.mean(axis=0)
    U, _, _ = np.linalg.svd(Z, full_matrices=False)
    Z = U * np.sqrt(len(X))
    W = orthogonal(start)
    for _ in range(steps):
        G = np.tanh(Z @ W.T)
        W = orthogonal(G.T @ Z / len(Z) - (1 - G**2).mean(axis=0)[:, None] * W)
    return Z @ W.T
