r"""Least squares by QR: orthogonal columns make every coefficient a simple regression.

Minimise    L(b) = |y - D b|^2,  D = [1 X]
Step        Gram-Schmidt takes from each column what the earlier ones explain: D = Q R with
            Q'Q = I and R upper triangular. Then |y - D b|^2 = |Q'y - R b|^2 + constant,
            and R b = Q'y is solved from the last row up.
Cost        2 n p^2; D'D is never formed, so its squared condition number never appears.
The fast version calls LAPACK's Householder QR, which stays orthogonal for any columns.
"""

import numpy as np


def gram_schmidt(D: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Q with orthonormal columns and R upper triangular, D = Q R."""
    n, q = D.shape
    Q, R = np.zeros((n, q)), np.zeros((q, q))
    for j in range(q):
        z = D[:, j].copy()
        for i in range(j):
            R[i, j] = Q[:, i] @ z  # against what is left of the column: the modified form
            z -= R[i, j] * Q[:, i]
        R[j, j] = np.linalg.norm(z)
        Q[:, j] = z / R[j, j]
    return Q, R


def qr_least_squares(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The coefficients, the intercept first."""
    Q, R = gram_schmidt(np.column_stack([np.ones(len(X)), X]))
    b, right = np.zeros(len(R)), Q.T @ y
    for j in reversed(range(len(R))):
        b[j] = (right[j] - R[j, j + 1 :] @ b[j + 1 :]) / R[j, j]
    return b
