r"""Positive definite: does a quadratic form only go up?

Given       a symmetric matrix A
Solve       is x'Ax > 0 for all x but 0?
Step        complete the square in one variable after the other: A = LL' with L lower triangular
            exists exactly if every square has a positive weight (Cholesky): L_jj^2 = A_jj - sum_k
            L_jk^2 must be > 0, and the rest of the column follows. Then x'Ax = |L'x|^2. Equally,
            all eigenvalues are > 0.
Cost        p^3 / 3.
The fast version tells all five kinds apart by eigenvalues.
"""

import numpy as np


def positive_definite(A: np.ndarray) -> np.ndarray | None:
    """L with A = LL', or None if there is none."""
    p = len(A)
    L = np.zeros((p, p))
    for j in range(p):
        rest = A[j, j] - L[j, :j] @ L[j, :j]
        if rest <= 0:
            return None
        L[j, j] = np.sqrt(rest)
        L[j + 1 :, j] = (A[j + 1 :, j] - L[j + 1 :, :j] @ L[j, :j]) / L[j, j]
    return L
