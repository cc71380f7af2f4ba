r"""Incremental PCA: the main directions of rows that come in batches.

Minimise    the squared distance of all rows so far from k directions through their mean
Step        only the scatter about the mean matters, and the scatter of two groups is the sum of
            theirs and n b/(n + b) (m - m')(m - m')'. So the k directions so far, as long as their
            singular values, stand for the old rows; a last row stands for the move of the mean
Cost        (k + b) p^2 a batch of b rows.
The fast version takes the triangle of a QR decomposition first, and sparse tables by batches.
"""

from typing import NamedTuple

import numpy as np


class Seen(NamedTuple):
    n: int
    mean: np.ndarray  # (p,)
    rows: np.ndarray  # (k, p) directions times their singular values


def incremental_pca(seen: Seen, X: np.ndarray, k: int) -> Seen:
    """One batch more; begin with Seen(0, zeros(p), zeros((0, p)))."""
    n, b, mean = seen.n, len(X), X.mean(axis=0)
    move = np.sqrt(n * b / (n + b)) * (seen.mean - mean)
    stacked = np.vstack([seen.rows, X - mean, move])
    _, s, V = np.linalg.svd(stacked, full_matrices=False)
    return Seen(n + b, (n * seen.mean + b * mean) / (n + b), s[:k, None] * V[:k])
