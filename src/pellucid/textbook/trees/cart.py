r"""CART: a classification tree of questions x_j <= t.

Minimise    over trees of a size: sum over leaves of n_leaf gini(leaf); the best tree is NP-hard, so
            greedily one question at a time
Step        a question sends n_L rows left and n_R right; its gain is
            n gini - n_L gini_L - n_R gini_R = sum_k n_Lk^2 / n_L + sum_k n_Rk^2 / n_R + constant.
            Only the middles between neighbouring values of a column need be tried.
Cost        n p log n per level of the tree.
The fast version sorts once, keeps running counts, handles missing cells, categories and weights.
"""

from dataclasses import dataclass

import numpy as np


@dataclass
class Node:
    counts: np.ndarray  # (K,) rows of every class
    feature: int = -1
    threshold: float = np.nan
    left: "Node | None" = None
    right: "Node | None" = None


def best_question(X: np.ndarray, Y: np.ndarray, least: int) -> tuple[float, int, float]:
    """(merit, feature, threshold); the lowest feature, then threshold, among equals."""
    best, n = (-np.inf, -1, np.nan), len(X)
    for j, x in enumerate(X.T):
        order = np.argsort(x, kind="stable")
        left = np.cumsum(Y[order], axis=0)[:-1]  # (n - 1, K): counts if the first i go left
        right = left[-1] + Y[order[-1]] - left
        size = np.arange(1, n)
        merit = (left**2).sum(axis=1) / size + (right**2).sum(axis=1) / (n - size)
        rising = x[order][:-1] < x[order][1:]
        allowed = rising & (size >= least) & (n - size >= least)
        merit = np.where(allowed, merit, -np.inf)
        i = int(merit.argmax())
        if merit[i] > best[0] + 1e-12 * n:
            best = (float(merit[i]), j, (x[order[i]] + x[order[i + 1]]) / 2)
    return best


def grow(X: np.ndarray, Y: np.ndarray, depth: int, least: int) -> Node:
    """Y is one-hot (n, K)."""
    node = Node(Y.sum(axis=0))
    if depth == 0 or node.counts.max() == len(X):
        return node
    merit, feature, threshold = best_question(X, Y, least)
    if merit == -np.inf:
        return node
    low = X[:, feature] <= threshold
    node.feature, node.threshold = feature, threshold
    node.left = grow(X[low], Y[low], depth - 1, least)
    node.right = grow(X[~low], Y[~low], depth - 1, least)
    return node


def cart(X: np.ndarray, y: np.ndarray, depth: int = 100, least: int = 1) -> Node:
    """The tree; leaves keep at least ``least`` rows. y holds 0, ..., K - 1."""
    return grow(X, np.eye(int(y.max()) + 1)[y], depth, least)


def shares(node: Node, x: np.ndarray) -> np.ndarray:
    """The class shares of the leaf in which x ends."""
    while node.left is not None and node.right is not None:
        node = node.left if x[node.feature] <= node.threshold else node.right
    return np.asarray(node.counts / node.counts.sum())
