r"""Regressor chain: several numbers, each predicted with the help of the earlier ones.

Model       E[y_k | x, y_1, ..., y_{k-1}], one function per target
Solve       one regression per target, with the earlier targets as further columns
Step        in training the earlier targets are known; in prediction their predictions stand for
            them. Two straight lines in a row are a straight line: with least squares the chain
            predicts what separate fits predict. It gains where the links bend or shrink.
Cost        L fits.
The fast version takes any order and can train on out-of-fold predictions.
"""

from collections.abc import Callable

import numpy as np

Curve = Callable[[np.ndarray], np.ndarray]
Learner = Callable[[np.ndarray, np.ndarray], Curve]


def regressor_chain(learn: Learner, X: np.ndarray, Y: np.ndarray) -> Curve:
    """From rows to the L targets; Y is (n, L), ``learn`` fits one target."""
    links = [learn(np.hstack([X, Y[:, :k]]), Y[:, k]) for k in range(Y.shape[1])]

    def predict(rows: np.ndarray) -> np.ndarray:
        known = rows
        for link in links:
            known = np.column_stack([known, link(known)])
        return known[:, rows.shape[1] :]

    return predict
