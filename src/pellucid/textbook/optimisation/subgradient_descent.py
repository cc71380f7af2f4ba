r"""Subgradient descent: downhill where there are kinks.

Minimise    f(x), convex, perhaps with corners such as |x|
Step        g is a subgradient if f(u) >= f(x) + g'(u - x) for all u: at a corner any slope between
            the two sides. x <- x - rate_t g need not lower f, but it comes nearer to the minimum
            x*: |x - x*|^2 falls by 2 rate (f - f*) - rate^2 |g|^2. With rates like 1/sqrt(t) the
            best point so far has f - f* of order 1/sqrt(t).
Cost        one subgradient per step, and many steps.
The fast version keeps a history; proximal and coordinate steps find exact zeros instead.
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np


class State(NamedTuple):
    x: np.ndarray
    best: np.ndarray
    best_value: float


def steps(
    f: Callable[[np.ndarray], float],
    subgradient: Callable[[np.ndarray], np.ndarray],
    x: np.ndarray,
    rate: float,
) -> Iterator[State]:
    """Without end, with rates rate / sqrt(t + 1)."""
    best, value, t = x, f(x), 0
    while True:
        yield State(x, best, value)
        x = x - rate / np.sqrt(t + 1) * subgradient(x)
        t += 1
        if f(x) < value:
            best, value = x, f(x)


def subgradient_descent(
    f: Callable[[np.ndarray], float],
    subgradient: Callable[[np.ndarray], np.ndarray],
    x: np.ndarray,
    rate: float,
    n: int,
) -> np.ndarray:
    """The best point of n steps."""
    path = steps(f, subgradient, x, rate)
    return [next(path).best for _ in range(n + 1)][-1]
