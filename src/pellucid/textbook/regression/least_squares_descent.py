r"""Least squares by gradient descent.

Minimise    L(b) = |y - D b|^2 / (2 n),  D = [1 X]
Step        L falls fastest against its gradient g = -D'(y - D b) / n:  b <- b - rate g.
            The error shrinks by (I - rate H), H = D'D / n: it converges for rate < 2 / l_max(H),
            fastest at 2 / (l_min + l_max), and slowly where l_max / l_min is large.
Cost        n p per step, and about l_max / l_min steps per digit.
The fast version warns when the rate is too large, and shares one loop with all other solvers.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np


class State(NamedTuple):
    b: np.ndarray  # (p + 1,)
    L: float


def descent(X: np.ndarray, y: np.ndarray, rate: float) -> Iterator[State]:
    """Every iterate from 0, without end."""
    D = np.column_stack([np.ones(len(X)), X])
    b = np.zeros(D.shape[1])
    while True:
        r = y - D @ b
        yield State(b, float(r @ r) / (2 * len(y)))
        b = b + rate * D.T @ r / len(y)


def least_squares_descent(X: np.ndarray, y: np.ndarray, rate: float, steps: int) -> State:
    """Where so many steps lead."""
    for state, _ in zip(descent(X, y, rate), range(steps + 1), strict=False):
        last = state
    return last
