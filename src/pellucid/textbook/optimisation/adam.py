r"""Adam: a mean of recent slopes, divided by their recent size.

Minimise    f(x)
Step        m <- b m + (1 - b) g (momentum),  r <- c r + (1 - c) g^2 (RMSProp); both begin at 0 and
            so are too small by 1 - b^t and 1 - c^t: divide by that. x <- x - rate m^ / (sqrt(r^) +
            eps). Where the slopes agree the step is about the rate, where they are noise it is
            small. AdamW also shrinks x by rate times decay, outside of that division.
Cost        one gradient per step.
The fast version runs in compiled epochs, and is what trains the networks.
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np


class State(NamedTuple):
    x: np.ndarray
    m: np.ndarray
    r: np.ndarray


def steps(
    gradient: Callable[[np.ndarray], np.ndarray],
    x: np.ndarray,
    rate: float,
    b: float = 0.9,
    c: float = 0.999,
    eps: float = 1e-8,
    decay: float = 0.0,
) -> Iterator[State]:
    """Without end."""
    m, r, t = np.zeros_like(x), np.zeros_like(x), 0
    while True:
        yield State(x, m, r)
        g, t = gradient(x), t + 1
        m = b * m + (1 - b) * g
        r = c * r + (1 - c) * g**2
        x = x * (1 - rate * decay) - rate * (m / (1 - b**t)) / (np.sqrt(r / (1 - c**t)) + eps)


def adam(
    gradient: Callable[[np.ndarray], np.ndarray], x: np.ndarray, rate: float, n: int
) -> np.ndarray:
    """x after n steps."""
    path = steps(gradient, x, rate)
    return [next(path).x for _ in range(n + 1)][-1]
