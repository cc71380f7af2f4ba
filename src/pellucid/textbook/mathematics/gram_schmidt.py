r"""Gram-Schmidt: perpendicular directions from any set of vectors.

Given       the columns of X
Solve       X = QR, Q with orthonormal columns, R upper triangular
Step        z_j = x_j - sum_(k<j) (q_k . x_j) q_k is what is new in x_j: perpendicular to all
            before. q_j = z_j / |z_j|; R_kj = q_k . x_j, R_jj = |z_j|. If z_j = 0, x_j was a
            combination of the others. Each q spans with those before it what the x did.
Cost        n p^2.
The fast version says which columns depend on the others, and gives the unscaled form too.
"""

import numpy as np


def gram_schmidt(X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Q (n, p) and R (p, p) of independent columns."""
    n, p = X.shape
    Q, R = np.zeros((n, p)), np.zeros((p, p))
    for j in range(p):
        z = X[:, j].copy()
        for k in range(j):
            R[k, j] = Q[:, k] @ z  # from what is left: less rounding than from x itself
            z = z - R[k, j] * Q[:, k]
        R[j, j] = np.linalg.norm(z)
        Q[:, j] = z / R[j, j]
    return Q, R
