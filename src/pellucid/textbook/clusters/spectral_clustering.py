r"""Spectral clustering: cut a graph of similar rows where it is thin.

Graph       W_ij = exp(-gamma |x_i - x_j|^2), no loops; degrees d_i = sum_j W_ij
Minimise    the normalised cut, sum over groups of (weight that leaves it) / (sum of its degrees).
            With H_ig = sqrt(d_i / volume of g) in group g, else 0, it is tr H'LH with H'H = I and
            L = I - D^-1/2 W D^-1/2. If H may be any such matrix: the k smallest eigenvectors.
Step        scale the rows of H to length 1 and group them by k-means.
Cost        n^3 for the eigenvectors.
The fast version solves each connected part alone, by products with W; it offers other Laplacians.
"""

from typing import NamedTuple

import numpy as np


class Spectrum(NamedTuple):
    eigenvalues: np.ndarray  # (n,) of the Laplacian, rising: as many zeros as the graph has parts
    embedding: np.ndarray  # (n, k) rows of length 1


def spectrum(X: np.ndarray, k: int, gamma: float = 1.0) -> Spectrum:
    W = np.exp(-gamma * ((X[:, None, :] - X[None, :, :]) ** 2).sum(axis=2))
    np.fill_diagonal(W, 0)
    root = np.sqrt(W.sum(axis=1))
    L = np.eye(len(X)) - W / np.outer(root, root)
    values, H = np.linalg.eigh(L)
    return Spectrum(values, H[:, :k] / np.linalg.norm(H[:, :k], axis=1, keepdims=True))


def spectral_clustering(X: np.ndarray, k: int, gamma: float = 1.0) -> np.ndarray:
    """Labels: k-means of the embedding, each start centre the row least like those before it."""
    Y = spectrum(X, k, gamma).embedding
    centres = Y[[0]]
    for _ in range(k - 1):
        centres = np.vstack([centres, Y[np.abs(Y @ centres.T).max(axis=1).argmin()]])
    labels = np.full(len(Y), -1)
    while True:
        nearest = ((Y[:, None, :] - centres[None, :, :]) ** 2).sum(axis=2).argmin(axis=1)
        if np.array_equal(nearest, labels):
            return labels
        labels = nearest
        centres = np.array([Y[labels == g].mean(axis=0) for g in range(k)])
