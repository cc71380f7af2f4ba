r"""C4.5's pessimistic pruning: cut where a leaf would promise no more errors than the branch.

A leaf with N training examples of which E are wrong is a sample of E failures in N; its error is
taken at the upper end of the confidence limits of a binomial,

    U_CF(E, N) = the p with P(at most E failures in N | p) = CF      (Beta quantile)

so that few examples are trusted less. From the leaves up a branch T at node t becomes a leaf if

    N_t U(E_t, N_t) <= sum over the leaves l of T of N_l U(E_l, N_l)

A smaller ``confidence_factor`` prunes more. No examples are held back.

References: Quinlan, C4.5: Programs for Machine Learning (1993), chapter 4.
"""

from typing import Any

import numpy as np
from scipy.special import betaincinv
from sklearn.base import BaseEstimator, is_classifier
from sklearn.utils.validation import check_is_fitted

from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike, BoolArray, IntArray
from pellucid.tree.cart import CartTree
from pellucid.tree.multiway.multiway_model import MultiwayBase
from pellucid.tree.multiway.record import MultiwayTree
from pellucid.tree.reduced_error import PruneStep, below, subtree_sizes, with_leaves

TIE = 1e-12


def pessimistic_errors(
    errors: ArrayLike, total: ArrayLike, confidence_factor: float = 0.25
) -> Array:
    """N U_CF(E, N): errors to fear among ``total`` examples of which ``errors`` are wrong.

    Parameters
    ----------
    errors, total : number or array, 0 <= errors <= total, total > 0
    confidence_factor : float in (0, 1), default=0.25

    Examples
    --------
    >>> from pellucid.tree import pessimistic_errors
    >>> (pessimistic_errors([0, 0, 0, 1], [6, 9, 1, 16]) / [6, 9, 1, 16]).round(3)
    array([0.206, 0.143, 0.75 , 0.16 ])
    """
    check.fraction(confidence_factor=confidence_factor)
    E, N = np.asarray(errors, np.float64), np.asarray(total, np.float64)
    if not ((N > 0) & (E >= 0) & (E <= N)).all():
        raise ValueError("errors must be between 0 and total, and total > 0")
    all_wrong = E >= N
    limit = betaincinv(E + 1, np.where(all_wrong, 1.0, N - E), 1 - confidence_factor)
    return N * np.where(all_wrong, 1.0, limit)


def pessimistic_prune(model: BaseEstimator, *, confidence_factor: float = 0.25) -> Any:
    """A pruned copy of a classification tree, with ``pruning_log_``.

    Parameters
    ----------
    model : fitted DecisionTreeClassifier (one output) or MultiwayTreeClassifier
    confidence_factor : float in (0, 1), default=0.25
        C4.5's; smaller prunes more.

    Returns
    -------
    A copy whose tree has leaves in place of the branches; ``pruning_log_`` has a ``PruneStep`` for
    every cut, with minus the errors to fear of the whole tree as score.

    Examples
    --------
    >>> from pellucid.tree import DecisionTreeClassifier, pessimistic_prune
    >>> X, y = [[i] for i in range(16)], ["a"] * 6 + ["b"] + ["a"] * 9
    >>> model = DecisionTreeClassifier().fit(X, y)
    >>> model.get_n_leaves(), pessimistic_prune(model).get_n_leaves()
    (3, 1)
    """
    check.fraction(confidence_factor=confidence_factor)
    if not isinstance(model, CartTree | MultiwayBase) or not is_classifier(model):
        raise TypeError(f"a classification tree of pellucid is needed, got {type(model).__name__}")
    check_is_fitted(model)
    tree = model.tree_
    if tree.value.shape[1] > 1:
        raise ValueError(f"pessimistic pruning needs one target, got {tree.value.shape[1]}")
    parent = tree.parent if isinstance(tree, MultiwayTree) else tree.depths()[1]
    N = tree.weighted_n_node_samples
    E = np.clip(N * (1 - tree.value[:, 0].max(axis=1)), 0.0, N)
    E = np.where(E < 1e-9 * N, 0.0, E)  # pure up to rounding
    as_leaf = pessimistic_errors(E, N, confidence_factor)
    nodes, log = cuts(parent, tree.feature >= 0, as_leaf)
    pruned = with_leaves(model, nodes)
    pruned.pruning_log_ = log
    return pruned


def cuts(parent: IntArray, inner: BoolArray, as_leaf: Array) -> tuple[list[int], list[PruneStep]]:
    """Nodes that become leaves, from the leaves up, and their log."""
    branch, inner = np.where(inner, 0.0, as_leaf), inner.copy()
    size, made = subtree_sizes(parent), []
    for i in range(len(parent) - 1, -1, -1):  # children come after their parents
        if inner[i] and as_leaf[i] <= branch[i] + TIE:
            made.append((i, float(branch[i] - as_leaf[i])))
            branch[i] = as_leaf[i]
            inner[below(parent, i, size)] = False
        if i > 0:
            branch[parent[i]] += branch[i]
    total = float(branch[0]) + sum(gain for _, gain in made)
    count, log = size.copy(), []
    for node, gain in made:
        gone = int(count[node]) - 1
        i = node
        while i >= 0:
            count[i] -= gone
            i = int(parent[i])
        log.append(PruneStep(node, -total, -(total - gain), int(count[0])))
        total -= gain
    return [node for node, _ in made], log
