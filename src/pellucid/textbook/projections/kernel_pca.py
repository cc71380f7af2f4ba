r"""Kernel PCA: principal components of rows that a kernel maps into a large space.

Given       K_ij = k(x_i, x_j) = f_i'f_j, inner products of features f that are never computed
Solve       the directions of largest variance of the f_i
Step        centre: with C = I - 11'/n, CKC holds the products of centred features. A direction in
            their span is sum_i a_i f_i; Su = l u becomes CKC a = n l a, and |u| = 1 asks for
            a'CKCa = 1. The scores of the rows are CKC a = sqrt(eigenvalue) times the eigenvector.
Cost        n^3.
The fast version finds few eigenvectors of a large matrix, and maps new rows.
"""

from typing import NamedTuple

import numpy as np


class KernelComponents(NamedTuple):
    eigenvalues: np.ndarray  # (d,) of CKC
    scores: np.ndarray  # (n, d)


def kernel_pca(K: np.ndarray, d: int) -> KernelComponents:
    n = len(K)
    C = np.eye(n) - np.ones((n, n)) / n
    values, vectors = np.linalg.eigh(C @ K @ C)
    values, vectors = values[::-1][:d], vectors[:, ::-1][:, :d]
    return KernelComponents(values, vectors * np.sqrt(values))
