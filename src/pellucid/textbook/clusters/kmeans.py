r"""k-means: group rows so that each lies near the mean of its group.

Minimise    J(l, c) = sum_i |x_i - c_{l_i}|^2
Step        with c fixed, each row's best label is its nearest centre;
            with l fixed, each centre's best place is the mean of its rows.
            Neither half-step can raise J, and there are finitely many labellings: it ends.
Cost        n k p per round.
The fast version skips distances that bounds make unnecessary, fills empty groups, and restarts.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np


class State(NamedTuple):
    labels: np.ndarray  # (n,)
    centres: np.ndarray  # (k, p)
    J: float


def rounds(X: np.ndarray, centres: np.ndarray) -> Iterator[State]:
    """Every half-step, until no row changes its group."""
    labels = np.full(len(X), -1)
    while True:
        d2 = ((X[:, None, :] - centres[None, :, :]) ** 2).sum(axis=2)  # (n, k)
        nearest = d2.argmin(axis=1)
        if np.array_equal(nearest, labels):
            return
        labels = nearest
        yield State(labels, centres, d2[np.arange(len(X)), labels].sum())
        centres = np.array([X[labels == k].mean(axis=0) for k in range(len(centres))])
        yield State(labels, centres, ((X - centres[labels]) ** 2).sum())


def kmeans(X: np.ndarray, centres: np.ndarray) -> State:
    """The local minimum that these centres lead to."""
    *_, last = rounds(X, centres)
    return last
