"""How much each neighbour counts: equally, by 1/distance, by similarity, or as a function says."""

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from scipy.sparse import issparse

from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, IntArray
from pellucid.neighbors.search.metrics import MetricLike
from pellucid.neighbors.search.similarities import SIMILARITIES, similarity_pairs

Rule: TypeAlias = str | Callable[..., Any] | None  # what weights= takes
RULES = ("uniform", "distance", "similarity", *SIMILARITIES)
COMPLEMENTS = ("cosine", "correlation", "hamming", "jaccard")  # similarity = 1 - distance


def check_rule(rule: str | Callable[..., Any] | None) -> None:
    """Raise ValueError unless ``rule`` is a known name, a callable or None."""
    if rule is not None and not callable(rule):
        check.one_of(RULES, weights=rule)


def inverse_distances(distance: Array) -> Array:
    """1/d; where a neighbour is at distance 0, those alone count, each 1.

    >>> inverse_distances(np.array([[0.5, 2.0], [0.0, 1.0]]))
    array([[2. , 0.5],
           [1. , 0. ]])
    """
    zero = distance == 0
    with np.errstate(divide="ignore"):
        weights = 1.0 / distance
    weights[np.isinf(distance).all(axis=1)] = 1.0  # no distance is known: all count alike
    return np.where(zero.any(axis=1, keepdims=True), zero.astype(np.float64), weights)


def similar(
    rule: str, metric: MetricLike, Q: Any, X: Any, distance: Array, index: IntArray
) -> Array:
    """Similarities to the neighbours, negative ones 0; equal where none is positive."""
    name = metric if rule == "similarity" and isinstance(metric, str) else rule
    if rule == "similarity" and name in COMPLEMENTS:
        S = 1.0 - distance
    else:
        if issparse(X) or issparse(Q):
            raise ValueError(f"weights={rule!r} needs dense rows, got a sparse matrix")
        S = similarity_pairs("cosine" if rule == "similarity" else rule, Q, X, index)
    S = np.maximum(S, 0.0)
    none = ~(S > 0).any(axis=1, keepdims=True)
    return np.where(none, 1.0, S)


def neighbour_weights(
    rule: Rule, metric: MetricLike, Q: Any, X: np.ndarray, distance: Array, index: IntArray
) -> Array | None:
    """Weights (m, k), or None where all are equal; Q None are the training rows X."""
    if rule is None or (isinstance(rule, str) and rule == "uniform"):
        return None
    if callable(rule):
        weights = np.asarray(rule(distance), dtype=np.float64)
        if weights.shape != distance.shape or np.isnan(weights).any():
            shapes = f"the shape {distance.shape} it was given, got shape {weights.shape}"
            raise ValueError(f"weights must return numbers, none of them NaN, of {shapes}")
        endless = np.isposinf(weights)  # 1/0 at a training row: such neighbours decide alone
        weights = np.where(endless.any(axis=1, keepdims=True), endless.astype(float), weights)
        if not (weights.sum(axis=1) > 0).all():
            row = int(np.argmin(weights.sum(axis=1) > 0))
            raise ValueError(f"All neighbors of row {row} get zero weights; one must be positive")
        return weights
    if rule == "distance":
        return inverse_distances(distance)
    return similar(rule, metric, X if Q is None else Q, X, distance, index)
