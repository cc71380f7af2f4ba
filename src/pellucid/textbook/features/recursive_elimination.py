r"""Recursive feature elimination: fit, drop the weakest column, fit again.

Given       a model that gives every column a weight, on standardised columns
Step        the column with the smallest squared weight changes the fit least when it goes, as far
            as one fit can tell. Fit again before the next: weights move when a related column is
            gone. It looks at the columns together, which a test of single columns does not.
Cost        p fits.
The fast version drops several at a time, and takes any model's importances.
"""

from collections.abc import Callable, Iterator

import numpy as np


def rounds(
    weights: Callable[[np.ndarray, np.ndarray], np.ndarray], X: np.ndarray, y: np.ndarray
) -> Iterator[list[int]]:
    """The columns that are left, from all down to one."""
    left = list(range(X.shape[1]))
    while True:
        yield list(left)
        if len(left) == 1:
            return
        w = weights(X[:, left], y)
        del left[int((w**2).argmin())]


def recursive_elimination(
    weights: Callable[[np.ndarray, np.ndarray], np.ndarray], X: np.ndarray, y: np.ndarray, k: int
) -> list[int]:
    """The last k columns."""
    return next(left for left in rounds(weights, X, y) if len(left) == k)
