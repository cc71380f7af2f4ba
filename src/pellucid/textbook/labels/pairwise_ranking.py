r"""Pairwise ranking: put rows in order by comparing two at a time.

Model       P(i above j) = s(w'(x_i - x_j)): the higher score wins more often (Bradley, Terry)
Minimise    sum over pairs with y_i > y_j of log(1 + exp(-w'(x_i - x_j))) + |w|^2 / 4 (the penalty
            of logistic regression on each pair in both directions)
Step        w'x_i > w'x_j is w'(x_i - x_j) > 0: logistic regression without intercept on the
            differences. Newton, as there.
Cost        the number of pairs, up to n^2 / 2, times p^2 per step.
The fast version draws pairs if there are too many, keeps to groups, and takes other classifiers.
"""

import numpy as np


def pairwise_ranking(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The weights w of the score w'x."""
    above, below = np.nonzero(y[:, None] > y[None, :])
    D = X[above] - X[below]
    w = np.zeros(X.shape[1])
    while True:
        s = 1 / (1 + np.exp(D @ w))  # chance of the wrong order
        g = -D.T @ s + w / 2
        if np.abs(g).max() < 1e-10 * len(D):
            return w
        H = D.T @ ((s * (1 - s))[:, None] * D) + np.eye(len(w)) / 2
        w = w - np.linalg.solve(H, g)


def concordance(score: np.ndarray, y: np.ndarray) -> float:
    """Share of pairs with different y that the score puts in the right order; ties count half."""
    above, below = np.nonzero(y[:, None] > y[None, :])
    gap = score[above] - score[below]
    return float(((gap > 0) + (gap == 0) / 2).mean())
