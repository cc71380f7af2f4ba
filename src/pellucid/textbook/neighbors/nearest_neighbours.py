r"""Nearest neighbours: answer as the most similar rows did.

Model       P(y | x) changes slowly: near x it is what it is at x
Solve       the k training rows nearest to x; the majority of their labels, or their mean
Step        the mean over a small neighbourhood estimates E[y | x]: its variance falls as 1 / k, its
            bias grows with the size of the neighbourhood, which in p dimensions holds k of n rows
            only if it spans a share (k / n)^(1/p) of every column.
Cost        nothing to fit; n p per question.
The fast version searches a kd-tree or blocks of distances, with other metrics and weights.
"""

from typing import NamedTuple

import numpy as np


class Found(NamedTuple):
    distances: np.ndarray  # (m, k), rising
    rows: np.ndarray  # (m, k), the lower number first among equal distances


def nearest_neighbours(X: np.ndarray, Q: np.ndarray, k: int) -> Found:
    """The k rows of X nearest to every row of Q."""
    d = np.sqrt(((Q[:, None, :] - X[None, :, :]) ** 2).sum(axis=2))  # (m, n)
    rows = np.argsort(d, axis=1, kind="stable")[:, :k]
    return Found(np.take_along_axis(d, rows, axis=1), rows)


def vote(found: Found, y: np.ndarray, by_distance: bool = False) -> np.ndarray:
    """Shares of the classes among the neighbours, (m, K); with 1 / d as weight if asked."""
    weight = 1 / found.distances if by_distance else np.ones(found.rows.shape)
    totals = np.stack([(weight * (y[found.rows] == c)).sum(axis=1) for c in range(y.max() + 1)])
    return np.asarray((totals / totals.sum(axis=0)).T)


def mean(found: Found, y: np.ndarray) -> np.ndarray:
    """The mean target of the neighbours."""
    return np.asarray(y[found.rows].mean(axis=1))
