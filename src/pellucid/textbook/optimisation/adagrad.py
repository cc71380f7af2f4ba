r"""AdaGrad: a rate of its own for every coordinate, smaller the more it has moved.

Minimise    f(x)
Step        r <- r + g^2,  x <- x - rate g / sqrt(r), entry by entry. A coordinate with steep or
            frequent slopes is slowed down, one that is rarely asked keeps its steps: the units of
            the columns no longer matter. Rates fall like 1/sqrt(t), and never recover.
Cost        one gradient per step.
The fast version runs in compiled epochs, with every schedule of the rate.
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np


class State(NamedTuple):
    x: np.ndarray
    r: np.ndarray


def steps(
    gradient: Callable[[np.ndarray], np.ndarray], x: np.ndarray, rate: float, eps: float = 1e-8
) -> Iterator[State]:
    """Without end; eps keeps the root from 0."""
    r = np.zeros_like(x)
    while True:
        yield State(x, r)
        g = gradient(x)
        r = r + g**2
        x = x - rate * g / np.sqrt(r + eps)


def adagrad(
    gradient: Callable[[np.ndarray], np.ndarray], x: np.ndarray, rate: float, n: int
) -> np.ndarray:
    """x after n steps."""
    path = steps(gradient, x, rate)
    return [next(path).x for _ in range(n + 1)][-1]
