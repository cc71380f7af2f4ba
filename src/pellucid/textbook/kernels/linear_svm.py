r"""Linear SVM with squared hinge, by Newton's method.

Minimise    L(w, b) = |w|^2 / 2 + C sum_i max(0, 1 - y_i f_i)^2,  f = w'x + b, y = -1 or +1
Step        only rows with y f < 1 count; among them L is a quadratic, so the Newton step
            (I_0 + 2 C D_A'D_A) v = 2 C D_A'y_A solves for the present set A of such rows exactly
            (D = [X 1], I_0 does not penalise b). When A stays the same, it is the minimum.
            A step that raises L is halved.
Cost        |A| p^2 per step, a handful of steps.
The fast version has the plain hinge and L1, sparse rows, and ends by a duality gap.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np


class State(NamedTuple):
    w: np.ndarray
    b: float
    L: float


def newton_steps(X: np.ndarray, y: np.ndarray, C: float) -> Iterator[State]:
    """From 0 until the set of rows inside the margin stays."""
    D = np.column_stack([X, np.ones(len(X))])
    shrunk = np.diag([1.0] * X.shape[1] + [0.0])
    v = np.zeros(D.shape[1])

    def loss(v: np.ndarray) -> float:
        return float(v @ shrunk @ v / 2 + C * (np.maximum(0, 1 - y * (D @ v)) ** 2).sum())

    while True:
        yield State(v[:-1], float(v[-1]), loss(v))
        A = y * (D @ v) < 1
        new = np.linalg.solve(shrunk + 2 * C * D[A].T @ D[A], 2 * C * D[A].T @ y[A])
        if np.abs(new - v).max() <= 1e-12 * np.abs(new).max():
            return
        t = 1.0
        while loss(v + t * (new - v)) > loss(v) and t > 1e-10:
            t /= 2
        v = v + t * (new - v)


def linear_svm(X: np.ndarray, y: np.ndarray, C: float = 1.0) -> State:
    """The only minimiser."""
    *_, last = newton_steps(X, y, C)
    return last
