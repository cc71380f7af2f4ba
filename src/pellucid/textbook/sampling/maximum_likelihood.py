r"""Maximum likelihood: the parameters under which the data are most probable.

Maximise    f(t) = sum_i log p(x_i | t)
Step        Newton: t <- t - H^-1 g with the gradient g and Hessian H of f, halving a step that does
            not raise f. Near the top f ~ f(t*) + (t - t*)'H(t - t*) / 2, so the estimate scatters
            about the truth with covariance -H^-1: standard errors from the curvature.
Cost        p^2 values of f per step, for derivatives by differences.
The fast version respects bounds, tries several starts, and says when the top is not one.
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np


class State(NamedTuple):
    t: np.ndarray
    value: float
    covariance: np.ndarray  # -H^-1 here


def derivatives(f: Callable, t: np.ndarray, h: float = 1e-4) -> tuple[np.ndarray, np.ndarray]:
    """Gradient and Hessian by central differences."""
    E = h * np.eye(len(t))
    g = np.array([(f(t + e) - f(t - e)) / (2 * h) for e in E])
    corners = [[f(t + e + d) - f(t + e - d) - f(t - e + d) + f(t - e - d) for d in E] for e in E]
    return g, np.array(corners) / (4 * h**2)


def steps(f: Callable[[np.ndarray], float], t: np.ndarray, tol: float = 1e-7) -> Iterator[State]:
    while True:
        g, H = derivatives(f, t)
        yield State(t, f(t), -np.linalg.inv(H))
        step = -np.linalg.solve(H, g)
        if g @ step < 0:  # not a hill here: go up the gradient
            step = g
        if np.abs(step).max() < tol:
            return
        while f(t + step) < f(t) - 1e-12 * abs(f(t)):
            step = step / 2
        t = t + step


def maximum_likelihood(f: Callable[[np.ndarray], float], start: np.ndarray) -> State:
    """The top above ``start``, with the covariance of the estimate."""
    *_, last = steps(f, start)
    return last
