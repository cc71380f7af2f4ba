"""Factors that give every class the same total weight."""

from collections.abc import Callable
from typing import Any

import numpy as np

from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, IntArray


def balanced(codes: IntArray, w: Array) -> Array:
    """W / (K W_k) for the class k of every row; several outputs multiply.

    >>> balanced(np.array([[0], [0], [0], [1]]), np.ones(4)).round(4).tolist()
    [0.6667, 0.6667, 0.6667, 2.0]
    """
    factor = np.ones(len(codes))
    for column in codes.T:
        size = np.bincount(column, w)
        seen = size > 0
        share = np.where(seen, w.sum() / (np.count_nonzero(seen) * np.where(seen, size, 1.0)), 0.0)
        factor *= share[column]
    return factor


def class_factor(wanted: Any, codes: IntArray, w: Array) -> Callable[[Array], Array] | None:
    """Row factors as a function of how often a tree sees each row; None: all 1."""
    if wanted is None:
        return None
    check.one_of(("balanced", "balanced_subsample"), class_weight=wanted)
    if wanted == "balanced":
        fixed = balanced(codes, w)
        return lambda counts: fixed
    return lambda counts: balanced(codes, counts)
