r"""k-means++ (k-means plus plus): start k-means with centres that lie far from each other.

Draw        the first centre uniformly among the rows; each further one is row i with probability
            D_i / sum_j D_j,  D_i = min_c |x_i - c|^2  over the centres chosen so far
Step        a row far from every centre costs most, so it is likely to be drawn; the expected J of
            this start alone is at most 8 (ln k + 2) times the best J.
Cost        n k p.
The fast version draws 2 + log k candidates for each centre and keeps the one that lowers J most.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np


class State(NamedTuple):
    centres: np.ndarray  # (chosen so far, p)
    probability: np.ndarray  # (n,) of being drawn next


def draws(X: np.ndarray, k: int, rng: np.random.Generator) -> Iterator[State]:
    """The centres after each draw, and how likely each row is to be the next one."""
    centres = X[rng.integers(len(X))][None, :]
    while True:
        d2 = ((X[:, None, :] - centres[None, :, :]) ** 2).sum(axis=2)  # (n, chosen)
        D = d2.min(axis=1)
        yield State(centres, D / D.sum())
        if len(centres) == k:
            return
        centres = np.vstack([centres, X[rng.choice(len(X), p=D / D.sum())]])


def kmeans_plus_plus(X: np.ndarray, k: int, rng: np.random.Generator) -> np.ndarray:
    """k rows to start from, shape (k, p)."""
    *_, last = draws(X, k, rng)
    return last.centres
