r"""Momentum: a heavy ball that keeps part of its speed.

Minimise    f(x)
Step        v <- b v - rate g,  x <- x + v. Where the slope keeps its direction the speed grows to
            rate g / (1 - b), ten times a plain step for b = 0.9; where it zigzags across a valley
            the parts cancel. In a valley of condition number k the error shrinks like 1 - 1/sqrt(k)
            in the place of 1 - 1/k. Nesterov looks ahead: g is taken at x + b v.
Cost        one gradient per step.
The fast version runs in compiled epochs, with every schedule of the rate.
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np


class State(NamedTuple):
    x: np.ndarray
    v: np.ndarray


def steps(
    gradient: Callable[[np.ndarray], np.ndarray],
    x: np.ndarray,
    rate: float,
    b: float = 0.9,
    nesterov: bool = False,
) -> Iterator[State]:
    """Without end."""
    v = np.zeros_like(x)
    while True:
        yield State(x, v)
        v = b * v - rate * gradient(x + b * v if nesterov else x)
        x = x + v


def momentum(
    gradient: Callable[[np.ndarray], np.ndarray], x: np.ndarray, rate: float, n: int
) -> np.ndarray:
    """x after n steps."""
    path = steps(gradient, x, rate)
    return [next(path).x for _ in range(n + 1)][-1]
