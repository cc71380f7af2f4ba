r"""From eigenvectors to groups, without k-means.

cluster_qr   rows of the embedding point along k nearly orthogonal directions: pivoted QR picks one
             row for each, the nearest rotation of them turns the embedding to the axes, and every
             row takes its largest coordinate. No start, no rounds.
discretize   rows of unit length, X: alternate  labels = argmax (X R)  and the rotation R nearest to
             these labels (polar factor of Z'X), until the sum of cosines stops rising.

References: Damle, Minden & Ying (2019); Yu & Shi (2003).
"""

from typing import Any

import numpy as np
from scipy.linalg import qr, svd

from pellucid.core.arrays.typing import Array, IntArray, Rng
from pellucid.core.loops.iterate import Iteration, iterate

ROUNDS = 100


def cluster_qr(X: Array) -> IntArray:
    """The group of every row.

    >>> cluster_qr(np.array([[1.0, 0.1], [0.9, 0.0], [0.0, 1.0]])).tolist()
    [0, 0, 1]
    """
    k = X.shape[1]
    pivots = qr(X.T, mode="r", pivoting=True)[1]
    U, _, V = svd(X[pivots[:k]].T)
    return np.abs(X @ (U @ V)).argmax(axis=1)


def discretize(X: Array, rng: Rng) -> tuple[IntArray, Iteration]:
    """The group of every row, and how the rounds went.

    >>> discretize(np.array([[1.0, 0.1], [0.9, 0.0], [0.0, 1.0]]), np.random.default_rng(0))[0].size
    3
    """
    n, k = X.shape
    lengths = np.linalg.norm(X, axis=1)
    X = X / np.where(lengths > 0, lengths, 1.0)[:, None]

    def step(state: tuple[Array, float]) -> tuple[tuple[Array, float], float]:
        R, before = state
        Z = np.eye(k)[(X @ R).argmax(axis=1)]  # (n, k)
        U, s, V = np.linalg.svd(Z.T @ X)
        return (V.T @ U.T, float(s.sum())), abs(float(s.sum()) - before) / n

    def record(state: tuple[Array, float]) -> dict[str, float]:
        return {"objective": 2.0 * (n - state[1])}

    first = orthogonal_rows(X, k, rng), 0.0
    how: dict[str, Any] = {"max_iter": ROUNDS, "tol": 1e-15, "name": "discretize"}
    run = iterate(step, first, record=record, **how)
    return (X @ run.state[0]).argmax(axis=1), run


def orthogonal_rows(X: Array, k: int, rng: Rng) -> Array:
    """A first rotation: a random row, then those most nearly orthogonal to all before."""
    R, overlap = np.zeros((k, k)), np.zeros(len(X))
    R[:, 0] = X[rng.integers(len(X))]
    for j in range(1, k):
        overlap += np.abs(X @ R[:, j - 1])
        R[:, j] = X[overlap.argmin()]
    return R
