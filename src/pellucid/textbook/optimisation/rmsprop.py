r"""RMSProp: divide each slope by its recent size.

Minimise    f(x)
Step        r <- b r + (1 - b) g^2,  x <- x - rate g / sqrt(r), entry by entry. r is a mean of
            squares that forgets like b^t, so that rates follow the landscape and recover, which
            AdaGrad's sum cannot. Steps have about the length of the rate whatever the slope.
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
    gradient: Callable[[np.ndarray], np.ndarray],
    x: np.ndarray,
    rate: float,
    b: float = 0.9,
    eps: float = 1e-8,
) -> Iterator[State]:
    """Without end; eps keeps the root from 0."""
    r = np.zeros_like(x)
    while True:
        yield State(x, r)
        g = gradient(x)
        r = b * r + (1 - b) * g**2
        x = x - rate * g / np.sqrt(r + eps)


def rmsprop(
    gradient: Callable[[np.ndarray], np.ndarray], x: np.ndarray, rate: float, n: int
) -> np.ndarray:
    """x after n steps."""
    path = steps(gradient, x, rate)
    return [next(path).x for _ in range(n + 1)][-1]
