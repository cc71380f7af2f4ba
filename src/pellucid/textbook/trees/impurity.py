r"""Impurity: how mixed the labels of a group are, and what a question about them is worth.

Given       shares p_k of the classes in a group S
Solve       gini sum_k p_k (1 - p_k): the chance that two draws differ;
            entropy -sum_k p_k log2 p_k: bits to name a label; misclassification 1 - max p_k
Step        all are concave in p, so the mean impurity of the parts of S cannot exceed that of S:
            gain = I(S) - sum_v |S_v| / |S| I(S_v) >= 0. Many small parts gain by chance; C4.5
            divides by the entropy of the parts' own sizes (gain ratio).
Cost        n.
The fast version updates the counts as a threshold moves along a sorted column.
"""

import numpy as np


def impurity(y: np.ndarray, kind: str = "gini") -> float:
    """Of labels 0, ..., K - 1."""
    p = np.bincount(y) / len(y)
    p = p[p > 0]
    if kind == "gini":
        return float(1 - (p**2).sum())
    return float(-(p * np.log2(p)).sum()) if kind == "entropy" else float(1 - p.max())


def information_gain(y: np.ndarray, groups: np.ndarray, kind: str = "entropy") -> float:
    """What knowing the group takes off the impurity."""
    inside = sum((groups == v).mean() * impurity(y[groups == v], kind) for v in np.unique(groups))
    return impurity(y, kind) - float(inside)


def gain_ratio(y: np.ndarray, groups: np.ndarray) -> float:
    """Information gain per bit of the question itself."""
    return information_gain(y, groups) / impurity(
        np.unique(groups, return_inverse=True)[1], "entropy"
    )
