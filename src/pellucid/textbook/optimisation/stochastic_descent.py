r"""Stochastic descent: a step from a few rows at a time.

Minimise    f(x) = mean_i f_i(x), one f_i per row
Step        the gradient of a random batch is right on average: x <- x - rate (mean gradient of the
            batch). The noise does not die by itself; rates with sum rate = infinity and sum rate^2
            < infinity, like 1/t, let x get anywhere and still settle (Robbins & Monro, 1951).
            One epoch visits every row once, in random order.
Cost        one batch per step, far less than all rows: many cheap steps.
The fast version runs epochs in compiled code, averages the points, and stops early.
"""

from collections.abc import Callable, Iterator

import numpy as np


def epochs(
    gradient: Callable[[np.ndarray, np.ndarray], np.ndarray],
    x: np.ndarray,
    n: int,
    batch: int,
    rate: Callable[[int], float],
    orders: Iterator[np.ndarray],
) -> Iterator[np.ndarray]:
    """x after each epoch; ``gradient(x, rows)`` is a mean over rows, ``orders`` permutations."""
    t = 0
    for order in orders:
        for start in range(0, n, batch):
            x = x - rate(t) * gradient(x, order[start : start + batch])
            t += 1
        yield x


def stochastic_descent(
    gradient: Callable[[np.ndarray, np.ndarray], np.ndarray],
    x: np.ndarray,
    n: int,
    n_epochs: int,
    rng: np.random.Generator,
    batch: int = 1,
    first_rate: float = 0.1,
) -> np.ndarray:
    """x after ``n_epochs`` epochs with rates that fall like 1/t from ``first_rate`` on."""
    orders = (rng.permutation(n) for _ in range(n_epochs))
    per_epoch = -(-n // batch)
    *_, last = epochs(gradient, x, n, batch, lambda t: first_rate / (1 + t / per_epoch), orders)
    return last
