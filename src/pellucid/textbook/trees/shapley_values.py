r"""Shapley values of a tree: what each column adds to one prediction.

Given       v(S): the prediction when only the columns in S are known; at a question about another
            column both sides count with their shares of the training rows
Solve       phi_j = mean over all orders of the columns of v(S + j) - v(S), S those before j
Step        it is the only division with: the parts add up to v(all) - v(none); equal columns get
            equal parts; a column never asked gets none; for a sum of trees they add up (Shapley).
            A set S of size s comes before j in a share s! (p - s - 1)! / p! of the orders.
Cost        2^p passes down the tree.
The fast version keeps all subsets of a path at once: leaves times depth^2, whatever p is.
"""

from itertools import combinations
from math import comb
from typing import NamedTuple

import numpy as np


class Tree(NamedTuple):
    left: np.ndarray  # (nodes,), -1 in a leaf
    right: np.ndarray
    feature: np.ndarray
    threshold: np.ndarray
    value: np.ndarray  # (nodes,)
    rows: np.ndarray  # (nodes,) training rows


def expected(tree: Tree, x: np.ndarray, known: frozenset[int], t: int = 0) -> float:
    """v(S) for S = known."""
    if tree.left[t] < 0:
        return float(tree.value[t])
    a, b = tree.left[t], tree.right[t]
    if tree.feature[t] in known:
        return expected(tree, x, known, a if x[tree.feature[t]] <= tree.threshold[t] else b)
    share = tree.rows[a] / tree.rows[t]
    return share * expected(tree, x, known, a) + (1 - share) * expected(tree, x, known, b)


def shapley_values(tree: Tree, x: np.ndarray) -> np.ndarray:
    """phi_j of every column."""
    p = len(x)
    phi = np.zeros(p)
    for j in range(p):
        others = [i for i in range(p) if i != j]
        for s in range(p):
            for chosen in combinations(others, s):
                S = frozenset(chosen)
                added = expected(tree, x, S | {j}) - expected(tree, x, S)
                phi[j] += added / (p * comb(p - 1, s))
    return phi
