r"""Tree-augmented naive Bayes: the columns may lean on each other, one parent each.

Model       P(c) prod_v P(x_v | c, x_parent(v)), the parents a tree
Maximise    the likelihood over trees
Step        as in Chow and Liu with the class in every condition: the spanning tree of largest
            I(u, v | c) = sum p(u, v, c) log p(u, v | c) / (p(u | c) p(v | c)). Naive Bayes is the
            tree without edges; it counts what two columns both say twice. Then Bayes' rule.
Cost        d^2 n.
The fast version sums out missing cells, and takes any other graph.
"""

from typing import NamedTuple

import numpy as np


class Classifier(NamedTuple):
    prior: np.ndarray  # (classes,)
    parent: list[int]  # of each column; -1: only the class
    tables: list[np.ndarray]  # (classes, states of the parent, own states)


def information(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> float:
    """I(a, b | c)."""
    p = np.zeros((a.max() + 1, b.max() + 1, c.max() + 1))
    np.add.at(p, (a, b, c), 1 / len(a))
    q = p.sum(axis=1, keepdims=True) * p.sum(axis=0, keepdims=True) / p.sum(axis=(0, 1))
    return float((p[p > 0] * np.log(p[p > 0] / q[p > 0])).sum())


def tree_augmented_bayes(X: np.ndarray, c: np.ndarray, states: list[int], a: float) -> Classifier:
    """Tables with a imagined rows in every cell."""
    d, K = X.shape[1], c.max() + 1
    parent, inside = [-1] * d, [0]
    while len(inside) < d:
        pairs = [(u, v) for u in inside for v in range(d) if v not in inside]
        u, v = max(pairs, key=lambda e: information(X[:, e[0]], X[:, e[1]], c))
        parent[v] = u
        inside.append(v)
    tables = []
    for v, u in enumerate(parent):
        N = np.full((K, 1 if u < 0 else states[u], states[v]), a)
        above = np.zeros(len(X), dtype=int) if u < 0 else X[:, u]
        np.add.at(N, (c, above, X[:, v]), 1)
        tables.append(N / N.sum(axis=-1, keepdims=True))
    prior = np.bincount(c, minlength=K) + a
    return Classifier(prior / prior.sum(), parent, tables)


def probabilities(model: Classifier, X: np.ndarray) -> np.ndarray:
    """P(c | x), shape (rows, classes)."""
    log_p = np.tile(np.log(model.prior), (len(X), 1))
    for v, (u, table) in enumerate(zip(model.parent, model.tables, strict=True)):
        above = np.zeros(len(X), dtype=int) if u < 0 else X[:, u]
        log_p += np.log(table[:, above, X[:, v]]).T
    return np.exp(log_p - np.logaddexp.reduce(log_p, axis=1)[:, None])
