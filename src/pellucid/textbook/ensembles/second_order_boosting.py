r"""Second-order boosting: trees that read gradient and curvature, grown leaf by leaf.

Minimise    sum_i loss(y_i, F_i) + (l2 / 2) sum of squared leaf values
Step        near F the loss of a leaf with value v is G v + (H + l2) v^2 / 2, G and H the sums of
            first and second derivatives: best at v = -G / (H + l2), worth G^2 / (2 (H + l2)). A
            split gains half of GL^2 / (HL + l2) + GR^2 / (HR + l2) - G^2 / (H + l2). The leaf
            whose best split gains most is split next, until there are enough leaves.
Cost        one pass over the rows and columns per level.
The fast version cuts each column into 255 bins, adds up G and H per bin, and gets the larger child
of a split by subtraction.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

Predictor = Callable[[np.ndarray], np.ndarray]


class Split(NamedTuple):
    gain: float
    column: int
    threshold: float


def best_split(X: np.ndarray, g: np.ndarray, h: np.ndarray, l2: float, least: int) -> Split:
    best, n, whole = Split(0.0, -1, np.nan), len(g), g.sum() ** 2 / (h.sum() + l2)
    for j in range(X.shape[1]):
        order = np.argsort(X[:, j], kind="stable")
        x, G, H, size = X[order, j], np.cumsum(g[order]), np.cumsum(h[order]), np.arange(1, n)
        worth = G[:-1] ** 2 / (H[:-1] + l2) + (G[-1] - G[:-1]) ** 2 / (H[-1] - H[:-1] + l2)
        allowed = (x[:-1] < x[1:]) & (size >= least) & (n - size >= least)
        gain = np.where(allowed, (worth - whole) / 2, -np.inf)
        i = int(gain.argmax()) if n > 1 else -1
        if i >= 0 and gain[i] > best.gain:
            best = Split(float(gain[i]), j, (x[i] + x[i + 1]) / 2)
    return best


def leafwise_tree(
    X: np.ndarray, g: np.ndarray, h: np.ndarray, leaves: int, l2: float, least: int
) -> Predictor:
    """The most useful split first."""
    rows = [np.arange(len(g))]  # of every leaf
    splits = [best_split(X, g, h, l2, least)]
    made: list[tuple[int, Split]] = []  # leaf k was split so; the right part became the last leaf
    while len(rows) < leaves:
        k = int(np.argmax([split.gain for split in splits]))
        if splits[k].column < 0:
            break
        made.append((k, splits[k]))
        low = X[rows[k], splits[k].column] <= splits[k].threshold
        parts = [rows[k][low], rows[k][~low]]
        found = [best_split(X[part], g[part], h[part], l2, least) for part in parts]
        rows[k], splits[k] = parts[0], found[0]
        rows.append(parts[1])
        splits.append(found[1])
    values = np.array([-g[part].sum() / (h[part].sum() + l2) for part in rows])

    def predict(Q: np.ndarray) -> np.ndarray:
        leaf = np.zeros(len(Q), dtype=int)
        for number, (k, split) in enumerate(made):
            leaf[(leaf == k) & (Q[:, split.column] > split.threshold)] = number + 1
        return np.asarray(values[leaf])

    return predict


def second_order_boosting(
    X: np.ndarray,
    y: np.ndarray,
    T: int,
    nu: float = 0.1,
    leaves: int = 31,
    l2: float = 0.0,
    least: int = 20,
) -> Predictor:
    """T trees for squared error, where g = F - y and h = 1."""
    F, trees = np.full(len(y), y.mean()), []
    for _ in range(T):
        trees.append(leafwise_tree(X, F - y, np.ones(len(y)), leaves, l2, least))
        F = F + nu * trees[-1](X)
    return lambda Q: y.mean() + nu * np.sum([f(Q) for f in trees], axis=0)
