r"""Gradient boosting: small trees, each fitted to what is left over.

Minimise    sum_i loss(y_i, F(x_i)) over sums F of trees
Step        the direction in which the loss falls fastest at the rows is -d loss / dF: for squares
            the residual y - F. A tree fitted to it extends the direction to all x; a share nu of
            it is added. Squares: the best value of a leaf is the mean residual. Small steps and few
            leaves keep the sum from following the noise.
Cost        one tree per round.
The fast version has other losses (leaf values by a line search), subsamples and early stops.
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

Predictor = Callable[[np.ndarray], np.ndarray]


class State(NamedTuple):
    tree: Predictor
    F: np.ndarray  # at the training rows, after the round
    mse: float


def tree(X: np.ndarray, r: np.ndarray, depth: int) -> Predictor:
    """Greedy least-squares tree."""
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
        value = r.mean()
        return lambda Q: np.full(len(Q), value)
    low = X[:, j] <= t
    left, right = tree(X[low], r[low], depth - 1), tree(X[~low], r[~low], depth - 1)
    return lambda Q: np.where(Q[:, j] <= t, left(Q), right(Q))


def rounds(X: np.ndarray, y: np.ndarray, nu: float, depth: int) -> Iterator[State]:
    """From the mean on, without end."""
    F = np.full(len(y), y.mean())
    while True:
        f = tree(X, y - F, depth)
        F = F + nu * f(X)
        yield State(f, F, float(((y - F) ** 2).mean()))


def gradient_boosting(
    X: np.ndarray, y: np.ndarray, T: int, nu: float = 0.1, depth: int = 3
) -> Predictor:
    """The sum of T trees."""
    trees = [state.tree for state, _ in zip(rounds(X, y, nu, depth), range(T), strict=False)]
    return lambda Q: y.mean() + nu * np.sum([f(Q) for f in trees], axis=0)
