r"""ID3: a tree with one branch for every value of a category.

Maximise    the information gain H(S) - sum_v |S_v| / |S| H(S_v) of the category asked about
Step        H is the bits still needed to name the label; the category that takes most off is asked
            first. Each is asked once on a path; a group that is pure, or has nothing left to ask,
            becomes a leaf with its majority.
Cost        n p per level.
The fast version also cuts numbers, and treats missing cells.
"""

from dataclasses import dataclass, field

import numpy as np


@dataclass
class Node:
    counts: np.ndarray  # (K,)
    feature: int = -1
    branches: dict[int, "Node"] = field(default_factory=dict)


def entropy(counts: np.ndarray) -> float:
    p = counts[counts > 0] / counts.sum()
    return float(-(p * np.log2(p)).sum())


def gain(x: np.ndarray, y: np.ndarray, K: int) -> float:
    parts = [y[x == v] for v in np.unique(x)]
    inside = sum(len(part) / len(y) * entropy(np.bincount(part, minlength=K)) for part in parts)
    return entropy(np.bincount(y, minlength=K)) - inside


def grow(X: np.ndarray, y: np.ndarray, K: int, free: list[int]) -> Node:
    node = Node(np.bincount(y, minlength=K))
    free = [j for j in free if len(np.unique(X[:, j])) > 1]
    if node.counts.max() == len(y) or not free:
        return node
    gains = np.array([gain(X[:, j], y, K) for j in free])
    node.feature = free[int(np.flatnonzero(gains >= gains.max() - 1e-12)[0])]  # the first of equals
    rest = [j for j in free if j != node.feature]
    for v in np.unique(X[:, node.feature]):
        here = X[:, node.feature] == v
        node.branches[int(v)] = grow(X[here], y[here], K, rest)
    return node


def id3(X: np.ndarray, y: np.ndarray) -> Node:
    """The tree of a table of category codes; y holds 0, ..., K - 1."""
    return grow(X, y, int(y.max()) + 1, list(range(X.shape[1])))


def shares(node: Node, x: np.ndarray) -> np.ndarray:
    """Class shares where x ends; a value the node has not seen gets the node's own."""
    while node.feature >= 0 and int(x[node.feature]) in node.branches:
        node = node.branches[int(x[node.feature])]
    return np.asarray(node.counts / node.counts.sum())
