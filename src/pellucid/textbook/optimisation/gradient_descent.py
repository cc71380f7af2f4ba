r"""Gradient descent: walk downhill in small steps.

Minimise    f(x), smooth
Step        x <- x - rate grad f(x). Along the gradient f falls fastest; if no curvature exceeds L,
            then f(x - r g) <= f(x) - r (1 - r L / 2) |g|^2: rates below 2 / L go down, 1 / L is a
            safe one. Far along a valley of condition number k the error
            shrinks by (1 - 1/k) a step.
Cost        one gradient per step.
The fast version knows rules, schedules and line searches for the step, and says when it diverges.
"""

from collections.abc import Callable, Iterator

import numpy as np


def steps(
    gradient: Callable[[np.ndarray], np.ndarray], x: np.ndarray, rate: float, tol: float = 1e-8
) -> Iterator[np.ndarray]:
    """Every point on the way, until the gradient is shorter than tol."""
    while True:
        yield x
        g = gradient(x)
        if np.linalg.norm(g) <= tol:
            return
        x = x - rate * g


def gradient_descent(
    gradient: Callable[[np.ndarray], np.ndarray], x: np.ndarray, rate: float
) -> np.ndarray:
    """A stationary point below x."""
    *_, last = steps(gradient, x, rate)
    return last
