r"""Permutation importance: how much a model relies on a column.

Given       a fitted model, rows it has not seen, a score
Solve       score(y, f(X)) - mean over shuffles of score(y, f(X with column j shuffled))
Step        shuffling keeps the column's distribution and breaks its tie to everything else; what
            the score loses is what the model took from it. Columns that stand in for each other
            share their importance, and shuffled rows may be unlike any real one.
Cost        one prediction per column and shuffle.
The fast version updates linear models' answers, and gives intervals for new rows.
"""

from collections.abc import Callable

import numpy as np

Predictor = Callable[[np.ndarray], np.ndarray]
Score = Callable[[np.ndarray, np.ndarray], float]


def r2(y: np.ndarray, f: np.ndarray) -> float:
    return float(1 - ((y - f) ** 2).sum() / ((y - y.mean()) ** 2).sum())


def permutation_importance(
    f: Predictor, X: np.ndarray, y: np.ndarray, orders: list[np.ndarray], score: Score = r2
) -> np.ndarray:
    """(columns, shuffles); ``orders`` are the shuffles of the row numbers."""
    base = score(y, f(X))
    loss = np.zeros((X.shape[1], len(orders)))
    for j in range(X.shape[1]):
        for i, order in enumerate(orders):
            shuffled = X.copy()
            shuffled[:, j] = X[order, j]
            loss[j, i] = base - score(y, f(shuffled))
    return loss
