r"""Values of the nodes of a tree, computed from its leaves up.

Sizes, weights   n = n_l + n_r,  W = W_l + W_r
Classes          a pure leaf of class k gives its weight to class k; shares = class weights / W
Numbers          mean = sum over the leaves of W_leaf mean_leaf / W
                 S = S_l + S_r + (W_l W_r / W) (mean_l - mean_r)^2,  impurity = S / W

All sums run along the tree, so that they depend on nothing but the tree.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pellucid.compiled.trees.walk import merge_spreads, sum_up
from pellucid.core.arrays.typing import Array

LEAF = -1  # as a child


def left_children(right: NDArray[np.int32]) -> Any:
    """The left child is the next node; -1 in a leaf.

    >>> left_children(np.array([2, -1, -1])).tolist()
    [1, -1, -1]
    """
    return np.where(right >= 0, np.arange(1, len(right) + 1, dtype=np.int32), LEAF).astype(np.int32)


def node_sums(right: NDArray[np.int32], at_leaves: Array) -> Array:
    """Sums (nodes, q) of all leaves below each node, from those at the leaves (leaves, q).

    >>> node_sums(np.array([2, -1, -1], np.int32), np.array([[3.0], [4.0]])).ravel().tolist()
    [7.0, 3.0, 4.0]
    """
    sums = np.zeros((len(right), at_leaves.shape[1]))
    sums[right < 0] = at_leaves
    sum_up(left_children(right), right, sums)
    return sums


def node_means(right: NDArray[np.int32], weight: Array, at_leaves: Array) -> Array:
    """Means (nodes, 1) from those of the leaves (leaves,)."""
    ends = right < 0
    mean = node_sums(right, (weight[ends] * at_leaves)[:, None]) / weight[:, None]
    mean[ends, 0] = at_leaves
    return mean


def class_weights(right: NDArray[np.int32], weight: Array, label: Array, n_classes: int) -> Array:
    """Class weights (nodes, K) where every leaf is of one class, ``label`` (leaves,)."""
    ends = right < 0
    found = np.zeros((len(label), n_classes))
    found[np.arange(len(label)), label.astype(np.int64)] = weight[ends]
    return node_sums(right, found)


def number_impurities(right: NDArray[np.int32], weight: Array, mean: Array) -> Array:
    """Mean squares about the mean (nodes,) where all targets of a leaf are equal."""
    squares = np.zeros((len(right), 1))
    merge_spreads(left_children(right), right, weight, np.ascontiguousarray(mean), squares)
    return squares[:, 0] / weight
