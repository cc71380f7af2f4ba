r"""Standardise: every column with mean 0 and variance 1.

Given       a column x; m its mean, s its 1/n standard deviation
Step        z = (x - m) / s. A change of units x -> a x + b changes m and s with it and leaves z:
            what follows (distances, penalties, descent) no longer depends on units. m and s come
            from the training rows alone; new rows use the same ones. Means of two parts merge: n,
            mean and sum of squares of the whole follow from those of the
            parts (Chan), so blocks are enough.
Cost        n p.
The fast version reads blocks, and leaves a constant column as it is.
"""

from typing import NamedTuple

import numpy as np


class Moments(NamedTuple):
    n: int
    mean: np.ndarray
    squares: np.ndarray  # sum of squared deviations


def moments(X: np.ndarray) -> Moments:
    return Moments(len(X), X.mean(axis=0), ((X - X.mean(axis=0)) ** 2).sum(axis=0))


def merge(a: Moments, b: Moments) -> Moments:
    """Of two blocks together."""
    n, gap = a.n + b.n, b.mean - a.mean
    mean = a.mean + gap * b.n / n
    return Moments(n, mean, a.squares + b.squares + gap**2 * a.n * b.n / n)


def standardise(X: np.ndarray, X_new: np.ndarray) -> np.ndarray:
    """New rows in the units of X."""
    n, mean, squares = moments(X)
    return (X_new - mean) / np.sqrt(squares / n)
