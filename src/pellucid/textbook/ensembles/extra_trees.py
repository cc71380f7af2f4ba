r"""Extra trees: thresholds drawn at random, the best of them kept.

Model       f(x) = (1 / B) sum_b tree_b(x), each on all rows
Step        a threshold that is optimised follows the noise of its node. Draw one uniformly between
            the least and the largest value of every column, and keep the best of these few: trees
            differ more, so their mean varies less, at some cost in bias.
            The mean over many trees is nearly continuous in x.
Cost        n p per level: nothing is sorted.
The fast version grows compiled trees in parallel.
"""

from collections.abc import Callable

import numpy as np

Predictor = Callable[[np.ndarray], np.ndarray]


def extra_tree(X: np.ndarray, y: np.ndarray, rng: np.random.Generator) -> Predictor:
    """Grown until leaves are constant."""
    best, j, t = -np.inf, -1, np.nan
    y_sum, n = y.sum(), len(y)
    for k, x in enumerate(X.T):
        if np.ptp(y) == 0 or np.ptp(x) == 0:
            continue
        cut = rng.uniform(x.min(), x.max())
        low = x <= cut
        a, m = y[low].sum(), low.sum()
        merit = a**2 / m + (y_sum - a) ** 2 / (n - m)  # squares explained, up to a constant
        if merit > best:
            best, j, t = merit, k, cut
    if j < 0:
        value = y.mean()
        return lambda Q: np.full(len(Q), value)
    low = X[:, j] <= t
    left, right = extra_tree(X[low], y[low], rng), extra_tree(X[~low], y[~low], rng)
    return lambda Q: np.where(Q[:, j] <= t, left(Q), right(Q))


def extra_trees(X: np.ndarray, y: np.ndarray, B: int, rng: np.random.Generator) -> Predictor:
    """The mean of B trees."""
    trees = [extra_tree(X, y, rng) for _ in range(B)]
    return lambda Q: np.mean([tree(Q) for tree in trees], axis=0)
