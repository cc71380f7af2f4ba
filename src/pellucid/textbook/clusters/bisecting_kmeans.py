r"""Bisecting k-means: split the worst group in two until there are k.

Minimise    J = sum_i |x_i - mean of its group|^2, greedily from the top
Step        take the group with the largest own J and split it by k-means with k = 2. The mean of
            a part fits the part at least as well as the mean of the whole, so J never rises.
Cost        n p per level of the tree and round of 2-means: less than k-means for large k.
The fast version tries several starts of each split, weights rows and keeps the tree for new rows.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np


class State(NamedTuple):
    labels: np.ndarray  # (n,)
    inertia: np.ndarray  # (groups so far,) the J of each
    split: int  # the group that was split last, -1 at the start


def two_means(X: np.ndarray, centres: np.ndarray) -> np.ndarray:
    """k-means with two centres: True for the rows of the second one."""
    second = np.full(len(X), -1)
    while True:
        d2 = ((X[:, None, :] - centres[None, :, :]) ** 2).sum(axis=2)  # (n, 2)
        nearest = d2.argmin(axis=1)
        if np.array_equal(nearest, second):
            return second == 1
        second = nearest
        centres = np.array([X[second == side].mean(axis=0) for side in (0, 1)])


def spread(X: np.ndarray) -> float:
    return float(((X - X.mean(axis=0)) ** 2).sum())


def splits(X: np.ndarray, k: int, rng: np.random.Generator) -> Iterator[State]:
    """One more group per state. A new group takes the next free number."""
    labels, inertia, worst = np.zeros(len(X), dtype=int), np.array([spread(X)]), -1
    while True:
        yield State(labels, inertia, worst)
        if len(inertia) == k:
            return
        worst = int(inertia.argmax())
        rows = np.flatnonzero(labels == worst)
        start = X[rng.choice(rows, size=2, replace=False)]
        labels = labels.copy()
        labels[rows[two_means(X[rows], start)]] = len(inertia)
        parts = [spread(X[labels == g]) for g in (worst, len(inertia))]
        inertia = np.append(inertia, parts[1])
        inertia[worst] = parts[0]


def bisecting_kmeans(X: np.ndarray, k: int, rng: np.random.Generator) -> State:
    """k groups."""
    *_, last = splits(X, k, rng)
    return last
