r"""Kernel functions: inner products in a space that is never entered.

Given       a map phi of rows into a space of many features
Solve       k(x, z) = phi(x)'phi(z) without phi: linear x'z; polynomial (x'z + c)^d, whose features
            are all products of up to d columns; Gaussian exp(-|x - z|^2 / (2 s^2)), whose features
            are infinitely many
Step        a method that uses rows only through inner products can use k in their place. A function
            is such a k exactly if every Gram matrix K_ij = k(x_i, x_j) is symmetric with no
            negative eigenvalue (Mercer). Sums, products, positive multiples of kernels are kernels.
Cost        n^2 p for a Gram matrix.
The fast version composes kernels as objects and computes Gram matrices in blocks.
"""

import numpy as np


def linear(X: np.ndarray, Z: np.ndarray) -> np.ndarray:
    return X @ Z.T


def polynomial(X: np.ndarray, Z: np.ndarray, d: int = 2, c: float = 1.0) -> np.ndarray:
    return np.asarray((X @ Z.T + c) ** d)


def gaussian(X: np.ndarray, Z: np.ndarray, s: float = 1.0) -> np.ndarray:
    d2 = ((X[:, None, :] - Z[None, :, :]) ** 2).sum(axis=2)
    return np.exp(-d2 / (2 * s**2))


def quadratic_features(X: np.ndarray, c: float = 1.0) -> np.ndarray:
    """phi with phi(x)'phi(z) = (x'z + c)^2: c, then sqrt(2c) x_j, x_j^2, sqrt(2) x_i x_j."""
    n, p = X.shape
    pairs = [(i, j) for i in range(p) for j in range(i + 1, p)]
    crossed = [np.sqrt(2) * X[:, i] * X[:, j] for i, j in pairs]
    return np.column_stack([np.full(n, c), np.sqrt(2 * c) * X, X**2, *crossed])


def kernel_functions(K: np.ndarray) -> float:
    """The least eigenvalue of a Gram matrix: a kernel has none below 0 (but for rounding)."""
    return float(np.linalg.eigvalsh((K + K.T) / 2)[0])
