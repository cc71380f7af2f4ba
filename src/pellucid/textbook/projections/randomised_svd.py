r"""Randomised SVD: the leading directions of a large matrix from a few random products.

Given       A (n, p), wanted d singular triples, d far below n and p
Solve       find Q with few orthonormal columns and A ~ Q Q'A; then the SVD of the small Q'A does
Step        the columns of A G, G random normal (p, d + 10), lie in the span of A, mostly along its
            largest directions; (AA')^t A G sharpens the gap between D_d and the rest to its power
            2t + 1. Q: orthonormal columns of that (Halko, Martinsson & Tropp, 2011).
Cost        n p (d + 10) per product, 2t + 2 products.
The fast version takes all singular values of small matrices directly.
"""

import numpy as np


def randomised_svd(
    A: np.ndarray, d: int, rng: np.random.Generator, extra: int = 10, t: int = 7
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """U (n, d), D (d,), Vt (d, p)."""
    Q, _ = np.linalg.qr(A @ rng.normal(size=(A.shape[1], d + extra)))
    for _ in range(t):
        Q, _ = np.linalg.qr(A.T @ Q)  # orthonormal at every step, or all columns become one
        Q, _ = np.linalg.qr(A @ Q)
    U, D, Vt = np.linalg.svd(Q.T @ A, full_matrices=False)
    return Q @ U[:, :d], D[:d], Vt[:d]
