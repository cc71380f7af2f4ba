r"""Logistic boosting: gradient boosting of the log-odds of two classes.

Minimise    sum_i log(1 + exp(F_i)) - y_i F_i,  y = 0 or 1, F the sum of trees
Step        start at F = log-odds of the shares. The gradient in F_i is p_i - y_i, p = s(F): the
            tree is fitted to the residuals y - p. In a leaf one Newton step gives its value:
            sum (y - p) / sum p (1 - p). A share nu of it is added.
Cost        one tree per round.
The fast version takes more classes, other losses, subsamples and early stops.
"""

from collections.abc import Callable

import numpy as np

Predictor = Callable[[np.ndarray], np.ndarray]


def tree(X: np.ndarray, r: np.ndarray, h: np.ndarray, depth: int) -> Predictor:
    """Least-squares tree of residuals r; leaves hold sum r / sum h."""
    best, j, t = -np.inf, -1, np.nan
    n, c = len(r), r - r.mean()
    for k in range(X.shape[1] if depth and n > 1 and np.ptp(r) > 0 else 0):
        order = np.argsort(X[:, k], kind="stable")
        x, sums, size = X[order, k], np.cumsum(c[order])[:-1], np.arange(1, n)
        merit = np.where(x[:-1] < x[1:], sums**2 / size + sums**2 / (n - size), -np.inf)
        i = int(merit.argmax())
        if merit[i] > best + 1e-12 * abs(merit[i]):
            best, j, t = float(merit[i]), k, (x[i] + x[i + 1]) / 2
    if j < 0:
        value = r.sum() / h.sum()
        return lambda Q: np.full(len(Q), value)
    low = X[:, j] <= t
    left = tree(X[low], r[low], h[low], depth - 1)
    right = tree(X[~low], r[~low], h[~low], depth - 1)
    return lambda Q: np.where(Q[:, j] <= t, left(Q), right(Q))


def logistic_boosting(
    X: np.ndarray, y: np.ndarray, T: int, nu: float = 0.1, depth: int = 3
) -> Predictor:
    """The log-odds of class 1 after T rounds."""
    start = np.log(y.mean() / (1 - y.mean()))
    F, trees = np.full(len(y), start), []
    for _ in range(T):
        p = 1 / (1 + np.exp(-F))
        trees.append(tree(X, y - p, p * (1 - p), depth))
        F = F + nu * trees[-1](X)
    return lambda Q: start + nu * np.sum([f(Q) for f in trees], axis=0)
