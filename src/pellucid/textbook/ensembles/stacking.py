r"""Stacking: a model that learns how far to trust other models.

Given       learners 1, ..., M, and a learner g for their answers
Solve       answers of rows that the answering model has not seen, one column per learner; then g
Step        on their own training rows flexible learners look perfect, and g would trust them only.
            So every row is predicted by models fitted without its fold, as new rows will be. For
            use the learners are fitted again on all rows.
Cost        M (folds + 1) fits, and g.
The fast version fits in parallel, and can pass the original columns on to g.
"""

from collections.abc import Callable

import numpy as np

Predictor = Callable[[np.ndarray], np.ndarray]
Learner = Callable[[np.ndarray, np.ndarray], Predictor]


def unseen_answers(
    learners: list[Learner], X: np.ndarray, y: np.ndarray, fold: np.ndarray
) -> np.ndarray:
    """Z (n, M): every row as models without its fold answer; ``fold`` numbers the rows' folds."""
    Z = np.zeros((len(X), len(learners)))
    for k in np.unique(fold):
        out = fold == k
        for m, learn in enumerate(learners):
            Z[out, m] = learn(X[~out], y[~out])(X[out])
    return Z


def stacking(
    learners: list[Learner], meta: Learner, X: np.ndarray, y: np.ndarray, fold: np.ndarray
) -> Predictor:
    """g of the answers of all learners."""
    g = meta(unseen_answers(learners, X, y, fold), y)
    members = [learn(X, y) for learn in learners]
    return lambda Q: g(np.column_stack([member(Q) for member in members]))
