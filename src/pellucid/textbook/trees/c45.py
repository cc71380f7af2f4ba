r"""C4.5: ID3 with numbers, and a fair price for every question.

Maximise    gain / H_A among questions of at least average gain, H_A the entropy of the branch sizes
Step        a category with many values gains by chance; dividing by H_A takes that back. A number
            is cut at the best of m thresholds, which gains by chance too: log2(m) / n is taken
            off. Each side of a threshold keeps min(25, max(2, n / 10 K)) rows, two branches of
            a category two each. The threshold is put on the next lower value of the column.
Cost        n p log n per level.
The fast version sends rows with missing cells down every branch in fractions, and prunes.
"""

from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

import numpy as np


@dataclass
class Node:
    counts: np.ndarray  # (K,)
    feature: int = -1
    threshold: float = np.nan  # NaN for a category
    branches: dict[float, "Node"] = field(default_factory=dict)  # a number: 0 below, 1 above


class Question(NamedTuple):
    merit: float
    gain: float
    feature: int
    threshold: float


def entropy(counts: np.ndarray) -> float:
    p = counts[counts > 0] / counts.sum()
    return float(-(p * np.log2(p)).sum())


def worth(groups: np.ndarray) -> tuple[float, float]:
    """(gain, H_A) of counts (branches, K)."""
    size = groups.sum(axis=1)
    inside = sum(s * entropy(g) for s, g in zip(size, groups, strict=True)) / size.sum()
    return entropy(groups.sum(axis=0)) - inside, entropy(size)


def about_category(x: np.ndarray, Y: np.ndarray, j: int) -> Question | None:
    groups = np.array([Y[x == v].sum(axis=0) for v in np.unique(x)])
    if (groups.sum(axis=1) >= 2).sum() < 2:
        return None
    gain, bits = worth(groups)
    return Question(gain / bits, gain, j, np.nan)


def about_number(x: np.ndarray, Y: np.ndarray, j: int, column: np.ndarray) -> Question | None:
    n, K = Y.shape
    least = np.clip(0.1 * n / K, 2, 25)
    values = np.unique(x)
    cuts = [(a + b) / 2 for a, b in pairwise(values)]
    cuts = [t for t in cuts if min((x <= t).sum(), (x > t).sum()) >= least - 1e-12]
    found = []
    for t in cuts:
        gain, bits = worth(np.array([Y[x <= t].sum(axis=0), Y[x > t].sum(axis=0)]))
        found.append((gain, bits, t))
    if not found:
        return None
    top = max(gain for gain, _, _ in found)
    gain, bits, t = next(f for f in found if f[0] >= top - 1e-12)
    paid = gain - np.log2(len(cuts)) / n
    below = column[column <= t].max()
    return Question(paid / bits, paid, j, float(below)) if paid > 0 else None


def grow(
    X: np.ndarray, Y: np.ndarray, named: list[bool], free: list[int], whole: np.ndarray
) -> Node:
    """``named`` says which columns are categories, ``whole`` is the table of the root."""
    node = Node(Y.sum(axis=0))
    if node.counts.max() == len(X):
        return node
    asked = [
        about_category(X[:, j], Y, j) if named[j] else about_number(X[:, j], Y, j, whole[:, j])
        for j in free
    ]
    questions = [q for q in asked if q is not None]
    many = [named[j] and len(np.unique(whole[:, j])) >= 0.3 * len(whole) for j in range(len(named))]
    counted = [q.gain for q in questions if all(many) or not many[q.feature]]
    average = np.mean(counted) if counted else 0.0
    questions = [q for q in questions if q.gain >= average - 1e-3]
    if not questions:
        return node
    top = max(q.merit for q in questions)
    best = next(q for q in questions if q.merit >= top - 1e-12)  # the first of equals
    node.feature, node.threshold = best.feature, best.threshold
    x = X[:, best.feature]
    branch = x if named[best.feature] else (x > best.threshold).astype(float)
    rest = [j for j in free if not (named[j] and j == best.feature)]
    for v in np.unique(branch):
        node.branches[float(v)] = grow(X[branch == v], Y[branch == v], named, rest, whole)
    return node


def c45(X: np.ndarray, y: np.ndarray, named: list[bool]) -> Node:
    """The tree before pruning; y holds 0, ..., K - 1."""
    return grow(X, np.eye(int(y.max()) + 1)[y], named, list(range(X.shape[1])), X)


def shares(node: Node, x: np.ndarray) -> np.ndarray:
    """Class shares where x ends; a value the node has not seen gets the node's own."""
    while node.feature >= 0:
        named = np.isnan(node.threshold)
        value = x[node.feature] if named else x[node.feature] > node.threshold
        if float(value) not in node.branches:
            break
        node = node.branches[float(value)]
    return np.asarray(node.counts / node.counts.sum())
