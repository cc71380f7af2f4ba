r"""Accumulated local effects: how the prediction moves with one column.

Given       a fitted model f, rows as they occur, a grid z_0 < ... < z_K of column j
Solve       step_k = mean over the rows with z_{k-1} < x_j <= z_k of f(z_k, rest) - f(z_{k-1},
            rest); effect(z_k) = step_1 + ... + step_k, minus its mean over the rows
Step        the derivative of f in x_j, averaged over the rows that really have that x_j, is added
            up: other columns keep the values that go with it, so nothing impossible is asked of the
            model and the effect of columns that go along with x_j is not mixed in. If f = g(x_j) +
            h(rest), the curve is g up to a constant.
Cost        2 n predictions.
The fast version has categories, several outputs and a band.
"""

from collections.abc import Callable

import numpy as np


def accumulated_effects(
    f: Callable[[np.ndarray], np.ndarray], X: np.ndarray, j: int, z: np.ndarray
) -> np.ndarray:
    """The effect at every point of the grid; every interval holds rows."""
    k = np.clip(np.searchsorted(z, X[:, j]), 1, len(z) - 1)  # z_{k-1} < x <= z_k
    low, high = X.copy(), X.copy()
    low[:, j], high[:, j] = z[k - 1], z[k]
    difference = f(high) - f(low)
    steps = [difference[k == i].mean() for i in range(1, len(z))]
    effect = np.concatenate([[0.0], np.cumsum(steps)])
    middle = (effect[k - 1] + effect[k]) / 2  # a row counts half-way between its ends
    return effect - middle.mean()
