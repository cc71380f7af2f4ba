r"""Cost-complexity pruning: every tree that is best for some price of a leaf.

Minimise    R(T) + alpha |leaves of T| over the subtrees T that end where branches are cut off,
            R(T) the sum over leaves of their share of the rows times their impurity
Step        cutting the branch at t raises R by R(t) - R(T_t) and saves |T_t| - 1 leaves: it
            pays from alpha = g(t) = (R(t) - R(T_t)) / (|T_t| - 1) on. Cut the node with the
            least g, the weakest link, and repeat: the trees for rising alpha are nested
            (Breiman), so the sequence holds the best one for every alpha.
Cost        nodes per cut as written.
The fast version keeps the least g in a tournament and updates only the ancestors of a cut.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np


class State(NamedTuple):
    alpha: float
    risk: float  # R of the tree that is left
    node: int  # the one that became a leaf, -1 at the start


def cuts(left: np.ndarray, right: np.ndarray, risk: np.ndarray) -> Iterator[State]:
    """From the whole tree to its root; children are -1 in a leaf, parents have lower numbers."""
    left, right, alpha = left.copy(), right.copy(), 0.0

    def branch(t: int) -> tuple[float, int]:
        """R and number of leaves below t."""
        if left[t] < 0:
            return float(risk[t]), 1
        (a, m), (b, k) = branch(left[t]), branch(right[t])
        return a + b, m + k

    def inner(t: int) -> list[int]:
        return [] if left[t] < 0 else [t, *inner(left[t]), *inner(right[t])]

    yield State(0.0, branch(0)[0], -1)
    while left[0] >= 0:
        links = []
        for t in inner(0):
            below, leaves = branch(t)
            links.append(((risk[t] - below) / (leaves - 1), t))
        g, t = min(links)
        left[t] = right[t] = -1
        alpha = max(alpha, g)  # rounding must not make it fall
        yield State(alpha, branch(0)[0], t)


def cost_complexity_pruning(
    left: np.ndarray, right: np.ndarray, risk: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """(alphas, risks) of the whole sequence."""
    states = list(cuts(left, right, risk))
    return np.array([s.alpha for s in states]), np.array([s.risk for s in states])
