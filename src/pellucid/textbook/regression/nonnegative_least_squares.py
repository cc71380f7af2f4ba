r"""Nonnegative least squares: coefficients that must not be below zero.

Minimise    L(w) = |y - b - X w|^2 / 2 subject to w >= 0
Step        along one coordinate L is a parabola with its least value at w_j + x_j'r / x_j'x_j;
            if that is negative, the best allowed value is 0. L is convex and the constraints
            do not mix coordinates, so a point that no coordinate can improve is the minimum.
Cost        n p per sweep.
The fast version walks over active sets and ends exactly.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np


class State(NamedTuple):
    b: float
    w: np.ndarray
    L: float


def sweeps(X: np.ndarray, y: np.ndarray) -> Iterator[State]:
    """One pass over the coordinates each, until none moves."""
    Xc, yc = X - X.mean(axis=0), y - y.mean()
    w, r = np.zeros(X.shape[1]), yc.copy()
    while True:
        before = w.copy()
        for j, x in enumerate(Xc.T):
            new = max(0.0, w[j] + x @ r / (x @ x))
            r += (w[j] - new) * x
            w[j] = new
        yield State(y.mean() - X.mean(axis=0) @ w, w.copy(), r @ r / 2)
        if np.abs(w - before).max() <= 1e-14 * np.abs(w).max():
            return


def nonnegative_least_squares(X: np.ndarray, y: np.ndarray) -> State:
    """The minimiser."""
    *_, last = sweeps(X, y)
    return last
