r"""Backtracking: how far to go along a direction that goes down.

Given       f, a point x, a direction d with slope m = grad f(x)'d < 0
Step        try t = 1 and halve it until f(x + t d) <= f(x) + c t m (Armijo, c = 1e-4): the fall is
            at least a share of what the slope promises. For small t the promise is almost kept, so
            the halving ends; and no curvature needs to be known beforehand.
Cost        a few values of f per step.
The fast version also checks that the slope has flattened (Wolfe), or solves a quadratic exactly.
"""

from collections.abc import Callable, Iterator

import numpy as np


def backtracking(
    f: Callable[[np.ndarray], float], x: np.ndarray, d: np.ndarray, m: float, c: float = 1e-4
) -> float:
    """The length t of the step."""
    t = 1.0
    while not f(x + t * d) <= f(x) + c * t * m:
        t = t / 2
    return t


def descent(
    f: Callable[[np.ndarray], float],
    gradient: Callable[[np.ndarray], np.ndarray],
    x: np.ndarray,
    tol: float = 1e-6,
) -> Iterator[np.ndarray]:
    """Gradient descent with the step found anew each time."""
    while True:
        yield x
        g = gradient(x)
        if np.linalg.norm(g) <= tol:
            return
        x = x + backtracking(f, x, -g, -float(g @ g)) * -g
