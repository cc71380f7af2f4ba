r"""Random forest: bagged trees that may ask only about a few random columns at each node.

Model       f(x) = (1 / B) sum_b tree_b(x), each on a bootstrap sample
Step        the variance of a mean cannot fall below r s^2, r the correlation of its members. If
            every node sees only m columns drawn at random, strong columns do not lead every
            tree: r falls more than the single trees lose. Trees are grown deep: their bias is
            small, and the mean takes care of the variance.
Cost        B n m log n per level.
The fast version grows compiled trees in parallel, and reads importances and proximities from them.
"""

from collections.abc import Callable

import numpy as np

Predictor = Callable[[np.ndarray], np.ndarray]


def best_question(X: np.ndarray, y: np.ndarray, columns: np.ndarray) -> tuple[float, int, float]:
    """(squares explained, column, threshold) over the columns given."""
    best, n = (-np.inf, -1, np.nan), len(y)
    for j in columns:
        order = np.argsort(X[:, j], kind="stable")
        x, sums, size = X[order, j], np.cumsum(y[order])[:-1], np.arange(1, n)
        merit = sums**2 / size + (y.sum() - sums) ** 2 / (n - size)
        merit = np.where(x[:-1] < x[1:], merit, -np.inf)
        i = int(merit.argmax())
        if merit[i] > best[0] + 1e-12 * abs(merit[i]):
            best = (float(merit[i]), int(j), (x[i] + x[i + 1]) / 2)
    return best


def random_tree(X: np.ndarray, y: np.ndarray, m: int, rng: np.random.Generator) -> Predictor:
    """Grown until leaves are constant, with m columns drawn at every node."""
    if np.ptp(y) > 0:
        columns = np.sort(rng.permutation(X.shape[1])[:m])
        merit, j, t = best_question(X, y - y.mean(), columns)
        if merit > -np.inf:
            low = X[:, j] <= t
            left, right = random_tree(X[low], y[low], m, rng), random_tree(X[~low], y[~low], m, rng)
            return lambda Q: np.where(Q[:, j] <= t, left(Q), right(Q))
    value = y.mean()
    return lambda Q: np.full(len(Q), value)


def random_forest(
    X: np.ndarray, y: np.ndarray, m: int, rows: list[np.ndarray], rng: np.random.Generator
) -> Predictor:
    """The mean of one tree per bootstrap sample of rows."""
    trees = [random_tree(X[sample], y[sample], m, rng) for sample in rows]
    return lambda Q: np.mean([tree(Q) for tree in trees], axis=0)
