"""Random numbers that a person can work with: small, whole, and never all alike."""

import numpy as np

from pellucid.core.arrays.typing import Array


def whole(rng: np.random.Generator, low: int, high: int, *shape: int) -> Array:
    """Whole numbers from ``low`` to ``high``, both included, as floats.

    >>> whole(np.random.default_rng(0), 1, 3, 2, 2)
    array([[3., 2.],
           [2., 1.]])
    """
    return rng.integers(low, high + 1, shape).astype(np.float64)


def distinct(rng: np.random.Generator, low: int, high: int, n: int) -> Array:
    """``n`` different whole numbers in rising order.

    >>> distinct(np.random.default_rng(0), 1, 9, 3)
    array([5., 6., 8.])
    """
    return np.sort(rng.choice(np.arange(low, high + 1), n, replace=False)).astype(np.float64)


def one(rng: np.random.Generator, *values: float) -> float:
    """One of the values.

    >>> one(np.random.default_rng(0), 0.5, 0.25)
    0.25
    """
    return float(rng.choice(values))


def table(rng: np.random.Generator, rows: int, columns: int) -> Array:
    """Rows of probabilities in tenths, none 0.

    >>> table(np.random.default_rng(0), 2, 2).sum(axis=1)
    array([1., 1.])
    """
    cuts = np.array([distinct(rng, 1, 9, columns - 1) for _ in range(rows)])
    edges = np.hstack([np.zeros((rows, 1)), cuts, np.full((rows, 1), 10.0)])
    return np.round(np.diff(edges, axis=1) / 10, 1)
