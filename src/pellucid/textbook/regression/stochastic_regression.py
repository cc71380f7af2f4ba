r"""Stochastic gradient regression: one row at a time.

Minimise    L(b, w) = mean_i (y_i - b - x_i'w)^2 / 2 + (alpha / 2) |w|^2
Step        the gradient of one row is right on average: after row i move against
            -(y_i - f_i) x_i + alpha w at the rate eta_t. Rates that add up to infinity while
            their squares do not (Robbins and Monro) let the noise die out and still arrive.
Cost        p per row, n p per epoch; no matrix is kept, so rows may come from a stream.
The fast version has other losses and penalties, sparse rows, shuffling, averages and early stops.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np


class State(NamedTuple):
    b: float
    w: np.ndarray
    t: int  # rows seen


def visits(
    X: np.ndarray, y: np.ndarray, alpha: float, eta0: float, power: float
) -> Iterator[State]:
    """The state after every row, round after round in their order; eta_t = eta0 / t^power."""
    b, w, t = 0.0, np.zeros(X.shape[1]), 0
    while True:
        for x, target in zip(X, y, strict=True):
            t += 1
            eta = eta0 / t**power
            error = target - b - x @ w
            w = w + eta * (error * x - alpha * w)
            b = b + eta * error
            yield State(b, w, t)


def stochastic_regression(
    X: np.ndarray,
    y: np.ndarray,
    epochs: int,
    alpha: float = 0.0001,
    eta0: float = 0.01,
    power: float = 0.25,
) -> State:
    """Where so many passes over the rows lead."""
    steps = zip(visits(X, y, alpha, eta0, power), range(epochs * len(y)), strict=False)
    *_, (last, _) = steps
    return last
