r"""Mean shift: every row climbs to a peak of the density, and rows of one peak are a group.

Density     f(q) = sum_i max(0, 1 - |q - x_i|^2 / h^2)
Step        q <- mean of the rows within h of q. The gradient of f is 2 / h^2 sum (x_i - q) over
            these rows, so the step goes uphill, by just the length that is safe.
Stop        when no row moves by more than h / 1000.
Groups      peaks with more rows around them first; a peak within h of one that is kept is dropped.
Cost        n^2 p a step.
The fast version takes whole parts of a kd-tree that lie inside a ball by their mean.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np


class State(NamedTuple):
    places: np.ndarray  # (n, p)
    rows: np.ndarray  # (n,) within h of the last place


def climbs(X: np.ndarray, h: float) -> Iterator[State]:
    """All places after each step; a row that rests is left alone."""
    Q, rows, moving = X.astype(float), np.zeros(len(X)), np.ones(len(X), dtype=bool)
    while moving.any():
        Q = Q.copy()
        for i in np.flatnonzero(moving):
            near = ((X - Q[i]) ** 2).sum(axis=1) <= h * h
            new = X[near].mean(axis=0)
            moving[i] = np.linalg.norm(new - Q[i]) > h / 1000
            Q[i], rows[i] = new, near.sum()
        yield State(Q, rows.copy())


def mean_shift(X: np.ndarray, h: float) -> tuple[np.ndarray, np.ndarray]:
    """Peaks by falling number of rows (then of coordinates), and the nearest peak of each row."""
    *_, (Q, rows) = climbs(X, h)
    peaks: list[np.ndarray] = []
    for i in sorted(range(len(X)), key=lambda i: (rows[i], *Q[i]), reverse=True):
        if all(np.linalg.norm(Q[i] - peak) > h for peak in peaks):
            peaks.append(Q[i])
    gaps = np.linalg.norm(X[:, None, :] - np.array(peaks), axis=2)  # (n, k)
    return np.array(peaks), gaps.argmin(axis=1)


def bandwidth(X: np.ndarray, share: float = 0.3) -> float:
    """The mean distance to the last of the nearest ``share`` of the rows."""
    D = np.sort(np.linalg.norm(X[:, None, :] - X[None, :, :], axis=2), axis=1)
    return float(D[:, max(int(share * len(X)), 1) - 1].mean())
