r"""Singular values: every matrix is a rotation, a stretching, a rotation.

Solve       A = U D V', U and V with orthonormal columns, D >= 0 falling
Step        A'A is symmetric and >= 0, so A'A = V L V' with orthonormal V; put D = sqrt(L) and
            u_j = A v_j / D_j. They are orthonormal: u_i'u_j = v_i'A'A v_j / (D_i D_j) = [i = j],
            and U D V' = A V V' = A on the span of V. |Av| is largest, D_1, in the direction v_1.
Cost        n p^2 + p^3.
The fast version works on A itself, as A'A squares the condition number and with it the rounding.
"""

import numpy as np


def singular_values(A: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """U (n, p), D (p,), Vt (p, p) of a matrix with independent columns."""
    L, V = np.linalg.eigh(A.T @ A)
    order = L.argsort()[::-1]
    D, V = np.sqrt(L[order]), V[:, order]
    return A @ V / D, D, V.T
