r"""Regularised discriminant analysis: between LDA, QDA and spheres.

Model       x | y = k ~ N(m_k, S_k)
Solve       S_k = (1 - g) T_k + g (tr T_k / p) I,  T_k = a C_k + (1 - a) C
Step        C_k, the covariance of class k, has little bias and much variance; the common C has more
            bias and less variance; a sphere has least. a and g trade them (Friedman):
            a = 1, g = 0 is QDA, a = 0 is LDA, g = 1 compares distances to the means.
Cost        n p^2 + K p^3.
The fast version searches a and g by cross-validation from sums of the folds.
"""

import numpy as np


def regularised_discriminant_analysis(
    X: np.ndarray, y: np.ndarray, a: float = 0.5, g: float = 0.0
) -> np.ndarray:
    """The covariances S_k, shape (K, p, p), divisors n_k and n; y holds 0, ..., K - 1."""
    K, p = int(y.max()) + 1, X.shape[1]
    R = X - np.array([X[y == k].mean(axis=0) for k in range(K)])[y]
    C = R.T @ R / len(X)
    S = []
    for k in range(K):
        T = a * R[y == k].T @ R[y == k] / (y == k).sum() + (1 - a) * C
        S.append((1 - g) * T + g * np.trace(T) / p * np.eye(p))
    return np.array(S)
