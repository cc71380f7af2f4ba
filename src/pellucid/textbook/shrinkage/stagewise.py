r"""Stagewise regression: many small corrections, always to the most correlated column.

Minimise    |y - b - X w|^2, slowly: where it is stopped is the regularisation
Step        the best single column is the one with the largest |x_j'r| / |x_j|.
            Add its whole simple-regression coefficient x_j'r / |x_j|^2, or only eps with its sign.
            The other coefficients stay, so it takes many more than p moves; as eps -> 0 the path
            nears that of least angle regression.
Cost        n p per move.
The fast version keeps X'r instead of r: p per move.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np


class State(NamedTuple):
    w: np.ndarray
    column: int  # the one that moved
    amount: float


def moves(X: np.ndarray, y: np.ndarray, eps: float | None = None) -> Iterator[State]:
    """One column each, until nothing is left to explain."""
    Xc, r = X - X.mean(axis=0), y - y.mean()
    length = np.linalg.norm(Xc, axis=0)
    w, least = np.zeros(X.shape[1]), 1e-10 * min(1.0, float(np.linalg.norm(r)))
    while True:
        correlation = Xc.T @ r / length
        j = int(np.abs(correlation).argmax())
        whole = correlation[j] / length[j]
        done = abs(correlation[j]) < least if eps is None else abs(whole) <= eps / 2
        if done:
            return
        amount = whole if eps is None else eps * np.sign(whole)
        w[j] += amount
        r = r - amount * Xc[:, j]
        yield State(w.copy(), j, amount)


def stagewise(X: np.ndarray, y: np.ndarray, eps: float | None = None) -> State:
    """After the last move."""
    *_, last = moves(X, y, eps)
    return last
