r"""kd-tree: find near rows without looking at all of them.

Given       rows X, split at the median of their widest column, again and again, to small leaves
Solve       the k rows nearest to q
Step        every node knows the box around its rows; no row of it can be nearer to q than the box
            is. Go down the nearer side first; skip a node whose box is farther than the k-th best
            found so far. What is skipped could not have changed the answer.
Cost        n log n to build; near log n per question in few dimensions, n in many.
The fast version keeps the nodes in flat arrays, answers many questions at once, and is compiled.
"""

from dataclasses import dataclass

import numpy as np


@dataclass
class Node:
    rows: np.ndarray  # numbers of the rows in it
    low: np.ndarray  # corners of the box around them
    high: np.ndarray
    left: "Node | None" = None
    right: "Node | None" = None


def build(X: np.ndarray, rows: np.ndarray, leaf: int) -> Node:
    """Median splits until a node has few rows, or equal ones."""
    low, high = X[rows].min(axis=0), X[rows].max(axis=0)
    node = Node(rows, low, high)
    j = int((high - low).argmax())
    if len(rows) > leaf and high[j] > low[j]:
        order = rows[np.argsort(X[rows, j], kind="stable")]
        node.left = build(X, order[: len(rows) // 2], leaf)
        node.right = build(X, order[len(rows) // 2 :], leaf)
    return node


def box_distance(q: np.ndarray, node: Node) -> float:
    outside = np.maximum(np.maximum(node.low - q, q - node.high), 0)
    return float(np.sqrt((outside**2).sum()))


def search(
    X: np.ndarray, node: Node, q: np.ndarray, k: int, best: list[tuple[float, int]]
) -> list[tuple[float, int]]:
    """The k best (distance, row) of ``best`` and of this node."""
    if len(best) == k and box_distance(q, node) > best[-1][0]:
        return best
    if node.left is None or node.right is None:
        d = np.sqrt(((X[node.rows] - q) ** 2).sum(axis=1))
        return sorted([*best, *zip(d.tolist(), node.rows.tolist(), strict=True)])[:k]
    sides = sorted([node.left, node.right], key=lambda side: box_distance(q, side))
    for side in sides:
        best = search(X, side, q, k, best)
    return best


def kd_tree(X: np.ndarray, Q: np.ndarray, k: int, leaf: int = 4) -> np.ndarray:
    """The rows of X nearest to every row of Q, (m, k), the nearest first."""
    root = build(X, np.arange(len(X)), leaf)
    return np.array([[row for _, row in search(X, root, q, k, [])] for q in Q])
