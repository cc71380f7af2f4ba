"""Boosted trees as scikit-learn lays out their nodes, for the tools that read them.

``model._predictors[round][score].nodes`` has one row a node, children after their parents; the
fields and their order are those of scikit-learn.
"""

from typing import Any, NamedTuple

import numpy as np

from pellucid.core.arrays.typing import Array
from pellucid.ensemble.boosting.boosted_trees import Trees, part_of
from pellucid.tree.record import recursive_means

NODE = np.dtype(
    [
        ("value", np.float64),
        ("count", np.float64),  # the weight of the rows
        ("feature_idx", np.intp),
        ("num_threshold", np.float64),
        ("missing_go_to_left", np.uint8),
        ("left", np.uint32),
        ("right", np.uint32),
        ("gain", np.float64),
        ("depth", np.uint32),
        ("is_leaf", np.uint8),
        ("bin_threshold", np.uint8),
        ("is_categorical", np.uint8),
        ("bitset_idx", np.uint32),
    ]
)


class Predictor(NamedTuple):
    """One tree."""

    nodes: Any  # (nodes,) of NODE

    def means(self, X: Array, target_features: Any) -> Array:
        """Partial dependence by recursion at the values X (n, k) of the target features."""
        nodes = self.nodes
        leaf = nodes["is_leaf"] == 1
        walked = Walked(
            np.where(leaf, -1, nodes["left"].astype(np.int64)),
            np.where(leaf, -1, nodes["right"].astype(np.int64)),
            nodes["feature_idx"],
            nodes["num_threshold"],
            nodes["count"],
        )
        return recursive_means(walked, nodes["value"], X, target_features)


class Walked(NamedTuple):
    """Nodes by the names of ``tree_``."""

    children_left: Any
    children_right: Any
    feature: Any
    threshold: Any
    weighted_n_node_samples: Any


def predictors(trees: Trees, bins: Any, n_scores: int) -> list[list[Predictor]]:
    """All trees, round by round; ValueError where a question is about categories."""
    if np.any(trees.category >= 0):
        raise ValueError("trees with questions about categories have no nodes of thresholds alone")
    n = len(trees.node_start) - 1
    found = [Predictor(laid_out(part_of(trees, t, t + 1), bins)) for t in range(n)]
    return [found[t : t + n_scores] for t in range(0, n, n_scores)]


def laid_out(tree: Trees, bins: Any) -> Any:
    """The nodes of one tree: questions first, as they are, then its leaves."""
    inner, leaves = len(tree.feature), len(tree.value)
    nodes = np.zeros(inner + leaves, NODE)
    nodes["is_leaf"][inner:] = 1
    nodes["value"][inner:], nodes["count"][inner:] = tree.value, tree.weight
    asks = nodes[:inner]
    asks["feature_idx"], asks["gain"] = tree.feature, tree.gain
    asks["num_threshold"] = bins.edges[tree.feature, tree.threshold]
    asks["bin_threshold"], asks["missing_go_to_left"] = tree.threshold, tree.missing_left
    for side, child in (("left", tree.left), ("right", tree.right)):
        asks[side] = np.where(child >= 0, child, inner + ~child)
    for i in range(inner - 1, -1, -1):  # what is below is known already
        pair = nodes[[nodes["left"][i], nodes["right"][i]]]
        nodes["count"][i] = pair["count"].sum()
        nodes["value"][i] = (pair["count"] * pair["value"]).sum() / nodes["count"][i]
    for i in range(inner):
        nodes["depth"][[nodes["left"][i], nodes["right"][i]]] = nodes["depth"][i] + 1
    return nodes
