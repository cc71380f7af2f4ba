r"""Learning curve: what more rows would bring.

Given       a learner, k folds, sizes m
Solve       for every fold and size: fit on m of the other rows, loss on those m and on the fold
Step        a small training set is easy to fit and a poor guide: training loss low, test loss high.
            Both near the noise as m grows, if the model can express the truth; a gap that is left
            asks for more rows or less freedom, two high curves for a richer model.
Cost        k fits per size.
The fast version draws nested subsets, keeps the shares of the classes, and fits in parallel.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

Predictor = Callable[[np.ndarray], np.ndarray]
Learner = Callable[[np.ndarray, np.ndarray], Predictor]


class Curve(NamedTuple):
    train: np.ndarray  # (sizes, k) squared losses
    test: np.ndarray


def learning_curve(
    learn: Learner, X: np.ndarray, y: np.ndarray, sizes: list[int], k: int, rng: np.random.Generator
) -> Curve:
    """Folds of neighbouring rows; smaller sets are part of larger ones."""
    train, test = np.zeros((len(sizes), k)), np.zeros((len(sizes), k))
    for fold, out in enumerate(np.array_split(np.arange(len(y)), k)):
        order = rng.permutation(np.setdiff1d(np.arange(len(y)), out))
        for i, m in enumerate(sizes):
            rows = np.sort(order[:m])
            f = learn(X[rows], y[rows])
            train[i, fold] = ((y[rows] - f(X[rows])) ** 2).mean()
            test[i, fold] = ((y[out] - f(X[out])) ** 2).mean()
    return Curve(train, test)
