r"""Distances: what "near" can mean.

Given       two rows a and b
Solve       minkowski    (sum_j |a_j - b_j|^q)^(1/q): q = 1 city blocks, 2 straight, inf the largest
            mahalanobis  sqrt((a - b)' S^-1 (a - b)): straight, in units of the data's own spread
            cosine       1 - a'b / (|a| |b|): only directions count
            jaccard      1 - both / either, of true and false
Step        S = C C' turns mahalanobis into the straight distance of C^-1 a and C^-1 b.
            The first two obey d(a, c) <= d(a, b) + d(b, c), on which trees rely; cosine does not.
Cost        p, or p^2 with S.
The fast version computes blocks of pairs by matrix products, and checks the laws on your data.
"""

from collections.abc import Callable

import numpy as np

Distance = Callable[[np.ndarray, np.ndarray], float]


def minkowski(a: np.ndarray, b: np.ndarray, q: float = 2) -> float:
    if np.isinf(q):
        return float(np.abs(a - b).max())
    return float((np.abs(a - b) ** q).sum() ** (1 / q))


def mahalanobis(a: np.ndarray, b: np.ndarray, S: np.ndarray) -> float:
    return float(np.sqrt((a - b) @ np.linalg.solve(S, a - b)))


def cosine(a: np.ndarray, b: np.ndarray) -> float:
    return float(1 - a @ b / np.sqrt((a @ a) * (b @ b)))


def jaccard(a: np.ndarray, b: np.ndarray) -> float:
    return float(1 - (a & b).sum() / (a | b).sum())


def distances(X: np.ndarray, distance: Distance = minkowski) -> np.ndarray:
    """All pairs of rows, (n, n)."""
    return np.array([[distance(a, b) for b in X] for a in X])
