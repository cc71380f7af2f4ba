r"""Reduced-error pruning: cut what does not help on rows the tree has not seen.

Maximise    the accuracy on validation rows, by replacing branches with leaves
Step        try every inner node as a leaf with the majority of its TRAINING rows; take the cut
            that is best on the validation rows, unless it is worse than the tree itself. Equal
            is accepted: the smaller tree is as good. Among equals the largest branch goes.
Cost        one pass of the validation rows per node and cut, as written.
The fast version passes the rows once: a row feels only the nodes on its path.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np


class Tree(NamedTuple):
    left: np.ndarray  # (nodes,), -1 in a leaf
    right: np.ndarray
    feature: np.ndarray
    threshold: np.ndarray
    label: np.ndarray  # majority of the training rows at the node


def inner_nodes(tree: Tree, t: int = 0) -> list[int]:
    if tree.left[t] < 0:
        return []
    return [t, *inner_nodes(tree, tree.left[t]), *inner_nodes(tree, tree.right[t])]


def with_leaf(tree: Tree, t: int) -> Tree:
    left, right = tree.left.copy(), tree.right.copy()
    left[t] = right[t] = -1
    return tree._replace(left=left, right=right)


def accuracy(tree: Tree, X: np.ndarray, y: np.ndarray) -> float:
    right = 0
    for x, truth in zip(X, y, strict=True):
        t = 0
        while tree.left[t] >= 0:
            low = x[tree.feature[t]] <= tree.threshold[t]
            t = tree.left[t] if low else tree.right[t]
        right += tree.label[t] == truth
    return right / len(y)


def cuts(tree: Tree, X: np.ndarray, y: np.ndarray) -> Iterator[tuple[Tree, int]]:
    """(tree, node that was cut) after every cut that does no harm."""
    score = accuracy(tree, X, y)
    while inner_nodes(tree):
        tries = []
        for t in inner_nodes(tree):
            size = len(inner_nodes(tree, t))
            tries.append((accuracy(with_leaf(tree, t), X, y), size, -t))
        best, _, minus = max(tries)
        if best < score:
            return
        score, tree = best, with_leaf(tree, -minus)
        yield tree, -minus


def reduced_error_pruning(tree: Tree, X: np.ndarray, y: np.ndarray) -> list[int]:
    """The nodes that become leaves, in order; X, y are the validation rows."""
    return [node for _, node in cuts(tree, X, y)]
