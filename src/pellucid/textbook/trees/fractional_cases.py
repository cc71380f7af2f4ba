r"""Fractional cases: a row with a missing cell goes down every branch.

Given       a tree with many-way branches, and the share of its known training rows in each branch
Solve       P(k | x) = sum over the leaves that x may reach of (its chance to get there) P(k | leaf)
Step        where the cell is missing, P(branch | node) is estimated by the share of the rows; by
            the rule of total probability the leaves' class shares are added up with these weights.
            A row of gaps only gets the class shares of the training set.
Cost        the number of leaves that can be reached.
The fast version does the same in growth: a training row counts in fractions below such a node.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np


class Node(NamedTuple):
    shares: np.ndarray  # (K,) of the training rows here
    feature: int = -1  # -1 in a leaf
    branches: Mapping[float, Any] = MappingProxyType({})  # value to Node
    weights: Mapping[float, float] = MappingProxyType({})  # value to share


def fractional_cases(node: Node, x: np.ndarray) -> np.ndarray:
    """Class probabilities of a row of category codes; NaN is a missing cell."""
    if node.feature < 0:
        return node.shares
    value = x[node.feature]
    if not np.isnan(value):
        known = node.branches.get(float(value))
        return node.shares if known is None else fractional_cases(known, x)
    parts = [node.weights[v] * fractional_cases(child, x) for v, child in node.branches.items()]
    return np.asarray(np.sum(parts, axis=0))
