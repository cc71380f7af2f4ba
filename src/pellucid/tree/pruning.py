r"""Cost-complexity pruning: the nested sequence of smallest trees.

Cost         R_alpha(T) = sum over leaves of W_t / W impurity_t + alpha (number of leaves)
Weakest link g(t) = (R(t) - R(T_t)) / (leaves(T_t) - 1): from this alpha on, the branch T_t is not
             worth its leaves. Cut the node of least g (the first of equals), bring the sums of
             its ancestors up to date, repeat until the root is left.
Algorithm    the least g is kept at the top of a tournament; every cut costs depth times log nodes.

References: Breiman, Friedman, Olshen & Stone (1984), section 3.3.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from pellucid.core.arrays.typing import Array, IntArray
from pellucid.core.runtime.jit import jit
from pellucid.tree.record import LEAF, UNDEFINED, Tree


class PruningPath(NamedTuple):
    """The sequence of cuts; entry 0 is the whole tree."""

    ccp_alphas: Array  # (cuts + 1,)
    impurities: Array  # (cuts + 1,) R of the tree that is left
    nodes: Any  # (cuts + 1,) the node that became a leaf, -1 for entry 0


@jit
def play(values, winner, half, i):
    """Let entry i play its way up: the least value wins, the lower place if equal."""
    k = (i + half) // 2
    while k >= 1:
        a, b = winner[2 * k], winner[2 * k + 1]
        winner[k] = a if values[a] <= values[b] else b
        k //= 2


@jit
def cut_weakest(left, right, parent, risk, alphas, risks, nodes):
    """Fill the path; returns the number of cuts."""
    n = len(left)
    branch, leaves, end = risk.copy(), np.ones(n, np.int64), np.arange(n)
    for i in range(n - 1, -1, -1):
        if left[i] >= 0:
            branch[i] = branch[left[i]] + branch[right[i]]
            leaves[i] = leaves[left[i]] + leaves[right[i]]
            end[i] = end[right[i]]
    half = 1
    while half < n:
        half *= 2
    link = np.full(half, np.inf)
    inner = left >= 0
    for i in range(n):
        if inner[i]:
            link[i] = (risk[i] - branch[i]) / (leaves[i] - 1)
    winner = np.empty(2 * half, np.int64)
    for i in range(half):
        winner[half + i] = i
    for k in range(half - 1, 0, -1):
        a, b = winner[2 * k], winner[2 * k + 1]
        winner[k] = a if link[a] <= link[b] else b
    cuts = 0
    while inner[0]:
        t = winner[1]
        cuts += 1
        alphas[cuts], nodes[cuts] = max(link[t], alphas[cuts - 1]), t
        more, fewer = risk[t] - branch[t], leaves[t] - 1
        for i in range(t, end[t] + 1):
            if inner[i]:
                inner[i] = False
                link[i] = np.inf
                play(link, winner, half, i)
        branch[t], leaves[t] = risk[t], 1
        i = parent[t]
        while i >= 0:
            branch[i] += more
            leaves[i] -= fewer
            link[i] = (risk[i] - branch[i]) / (leaves[i] - 1)
            play(link, winner, half, i)
            i = parent[i]
        risks[cuts] = branch[0]
    return cuts


def pruning_path(tree: Tree) -> PruningPath:
    """The whole nested sequence from one tree.

    >>> from pellucid import DecisionTreeRegressor
    >>> X, y = [[1.0], [2.0], [3.0]], [0.0, 0.0, 6.0]
    >>> pruning_path(DecisionTreeRegressor().fit(X, y).tree_).ccp_alphas
    array([0., 8.])
    """
    n = tree.node_count
    risk = tree.weighted_n_node_samples * tree.impurity / tree.weighted_n_node_samples[0]
    _, parent = tree.depths()
    alphas, risks, nodes = np.zeros(n), np.zeros(n), np.full(n, -1, np.int64)
    risks[0] = risk[tree.feature < 0].sum()
    left, right = tree.children_left, tree.children_right
    k = 1 + cut_weakest(left, right, parent, risk, alphas, risks, nodes)
    return PruningPath(alphas[:k], risks[:k], nodes[:k])


def prune_at(tree: Tree, alpha: float) -> Tree:
    """The smallest tree that minimises R + alpha (number of leaves)."""
    path = pruning_path(tree)
    return make_leaves(tree, path.nodes[1:][path.ccp_alphas[1:] <= alpha])


def make_leaves(tree: Tree, nodes: Sequence[int] | IntArray) -> Tree:
    """The tree in which these nodes are leaves, renumbered.

    >>> from pellucid import DecisionTreeClassifier
    >>> tree = DecisionTreeClassifier().fit([[0.0], [1.0]], [0, 1]).tree_
    >>> make_leaves(tree, [0]).node_count
    1
    """
    leaf = tree.feature < 0
    leaf[nodes] = True
    kept = np.ones(tree.node_count, bool)
    for i in range(tree.node_count):  # children come after their parents
        if leaf[i] or not kept[i]:
            children = (tree.children_left[i], tree.children_right[i])
            if children[0] >= 0:
                kept[list(children)] = False
    number = (np.cumsum(kept) - 1).astype(np.int32)
    inner = (~leaf)[kept]

    def child(places: IntArray) -> Any:
        return np.where(inner, number[places[kept]], LEAF).astype(np.int32)

    unchanged = {name: getattr(tree, name)[kept] for name in Tree._fields[4:10]}
    return tree._replace(
        children_left=child(tree.children_left),
        children_right=child(tree.children_right),
        feature=np.where(inner, tree.feature[kept], UNDEFINED).astype(np.int32),
        threshold=np.where(inner, tree.threshold[kept], float(UNDEFINED)),
        **unchanged,
    )
