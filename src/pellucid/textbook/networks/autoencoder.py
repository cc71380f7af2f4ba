r"""Autoencoder: a network that gives back its own input through a narrow middle.

Model       code z = (x - m) E,  output m + z D, with k numbers in the code, E (p, k), D (k, p)
Minimise    mean over rows of |x - output|^2 / 2
Step        with linear layers the output has rank k, so by Eckart and Young nothing beats the first
            k principal components, and descent from almost anywhere gets there: all other
            stationary points are saddles (Baldi & Hornik, 1989). The gradients are those of two
            layers: with R = output - x, dD = z'R / n and dE = (x - m)'R D' / n.
Cost        n p k per step.
The fast version bends: hidden layers with curved units on both sides of the code.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np


class State(NamedTuple):
    E: np.ndarray
    D: np.ndarray
    loss: float


def steps(X: np.ndarray, E: np.ndarray, D: np.ndarray, rate: float) -> Iterator[State]:
    """Gradient descent without end."""
    C = X - X.mean(axis=0)
    while True:
        Z = C @ E
        R = Z @ D - C
        yield State(E, D, float((R**2).sum() / (2 * len(X))))
        E, D = E - rate * C.T @ (R @ D.T) / len(X), D - rate * Z.T @ R / len(X)


def autoencoder(
    X: np.ndarray, k: int, rng: np.random.Generator, rate: float = 0.1, n: int = 2000
) -> State:
    p = X.shape[1]
    path = steps(X, rng.normal(size=(p, k)) / p, rng.normal(size=(k, p)) / p, rate)
    return [next(path) for _ in range(n)][-1]
