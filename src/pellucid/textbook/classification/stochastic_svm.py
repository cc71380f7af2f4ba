r"""Stochastic gradient descent on the hinge loss: a linear SVM from a stream of rows.

Minimise    L(b, w) = mean_i max(0, 1 - y_i f_i) + (alpha / 2) |w|^2,  f = b + w'x, y = -1 or +1
Step        the hinge has no gradient where y f = 1; any slope between the two is a subgradient.
            Row i pulls only if y_i f_i < 1 (here: <= 1): w <- w - eta_t (alpha w - y_i x_i).
            L is alpha-strongly convex in w: rates near 1 / (alpha t) are the best in order.
Cost        p per row.
The fast version has nine losses, three penalties, averages, sparse rows and early stops.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np


class State(NamedTuple):
    b: float
    w: np.ndarray


def visits(
    X: np.ndarray, y: np.ndarray, alpha: float, eta0: float, power: float
) -> Iterator[State]:
    """The state after every row, round after round in their order; eta_t = eta0 / t^power."""
    b, w, t = 0.0, np.zeros(X.shape[1]), 0
    while True:
        for x, sign in zip(X, y, strict=True):
            t += 1
            eta = eta0 / t**power
            pulls = sign * (b + w @ x) <= 1
            w = (1 - eta * alpha) * w
            if pulls:
                w, b = w + eta * sign * x, b + eta * sign
            yield State(b, w)


def stochastic_svm(
    X: np.ndarray,
    y: np.ndarray,
    epochs: int,
    alpha: float = 0.0001,
    eta0: float = 0.01,
    power: float = 0.5,
) -> State:
    """Where so many passes over the rows lead."""
    *_, (last, _) = zip(visits(X, y, alpha, eta0, power), range(epochs * len(y)), strict=False)
    return last
