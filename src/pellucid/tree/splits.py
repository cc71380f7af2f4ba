r"""Split measures: how good a division of the examples is.

Gain         I(S) - sum_v |S_v| / |S| I(S_v)
Information  H_A(S) = -sum_v |S_v| / |S| log2 |S_v| / |S|: how finely A divides, whatever y
Ratio        gain by entropy / H_A
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from pellucid.base import encode_labels
from pellucid.compiled.trees.presort import presort
from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike
from pellucid.core.functions import impurities
from pellucid.tree.growing import Classes, Growth, grow_tree

THRESHOLDS = ("midpoint", "label_change", "observed")


class SplitSearch(NamedTuple):
    """How a tree looks for its splits, beside scikit-learn's keywords: ``criterion=SplitSearch()``.

    What is said here replaces the tree's own keyword of the same name.

    Parameters
    ----------
    impurity : str, default="gini"
        gini, entropy, log_loss or misclassification; for regression squared_error,
        absolute_error or poisson.
    threshold : {"midpoint", "label_change", "observed"}, default="midpoint"
        Between all neighbouring values; only where the label changes; at the values themselves.
    min_impurity_decrease : float, default=0.0
        A split must lower the impurity of the whole tree by this much.
    max_leaf_nodes : int, default=None
        Grow best first until there are so many leaves.
    min_weight_fraction_leaf : float, default=0.0
        The least share of the total weight in a leaf, 0 to 0.5.
    monotonic_cst : array-like of -1, 0, 1, default=None
        Whether the prediction falls, is free or grows with each feature.
    splitter : {"best", "random"}, default="best"
        "random" tries one random threshold for each feature.

    Examples
    --------
    >>> from pellucid.tree import DecisionTreeClassifier, SplitSearch
    >>> search = SplitSearch(threshold="observed")
    >>> DecisionTreeClassifier(criterion=search).fit([[0], [1]], [0, 1]).tree_.threshold[0].item()
    0.0
    """

    impurity: str = "gini"
    threshold: str = "midpoint"
    min_impurity_decrease: float = 0.0
    max_leaf_nodes: int | None = None
    min_weight_fraction_leaf: float = 0.0
    monotonic_cst: Any = None
    splitter: str = "best"


class Split(NamedTuple):
    """A division of the examples by one question.

    >>> best_split([[1.0], [2.0]], ["a", "b"]).n_left
    1
    """

    feature: int
    threshold: float
    score: float  # size-weighted impurity of the sides
    gain: float
    n_left: int
    n_right: int


def _weights(sample_weight: ArrayLike | None, n: int) -> Array:
    if sample_weight is None:
        return np.ones(n)
    w = np.asarray(sample_weight, np.float64)
    if w.shape != (n,) or not (np.isfinite(w) & (w >= 0)).all():
        raise ValueError(f"sample_weight must be {n} finite numbers >= 0, got shape {w.shape}")
    return w


def _targets(y: np.ndarray) -> Any:
    y = np.asarray(y)
    if y.ndim != 1 or len(y) == 0:
        raise ValueError(f"y must be a vector of at least one target, got shape {y.shape}")
    return y


def impurity(y: Any, criterion: str = "gini", *, sample_weight: Any = None) -> float:
    """How mixed the targets are.

    Parameters
    ----------
    y : array-like of shape (n,)
        Labels, or numbers for the last three criteria.
    criterion : str, default="gini"
        gini, entropy (bits), log_loss (the same), misclassification, squared_error (1/n),
        absolute_error, poisson.
    sample_weight : array-like of shape (n,), default=None

    Examples
    --------
    >>> impurity(["+", "+", "-", "-"], "entropy"), impurity([1, 1, 0, 1])
    (1.0, 0.375)
    >>> impurity([1.0, 3.0], "squared_error")
    1.0
    """
    check.one_of((*impurities.CLASS_CRITERIA, *impurities.NUMBER_CRITERIA), criterion=criterion)
    y = _targets(y)
    w = _weights(sample_weight, len(y))
    if criterion in impurities.NUMBER_CRITERIA:
        return impurities.number_impurity(y.astype(np.float64), w, criterion)
    _, codes = encode_labels(y)
    return float(impurities.class_impurity(np.bincount(codes, w).astype(np.float64), criterion))


def information_gain(y: Any, groups: ArrayLike, *, criterion: str = "entropy") -> float:
    """I(S) - sum_v |S_v| / |S| I(S_v) for the groups of an attribute's values.

    >>> round(information_gain(["+", "+", "-", "-", "+"], [0, 0, 1, 1, 1]), 4)
    0.42
    """
    y = _targets(y)
    values, place = np.unique(np.asarray(groups), return_inverse=True)
    if len(place) != len(y):
        raise ValueError(f"y and groups need the same length, got {len(y)} and {len(place)}")
    parts = [y[place == v] for v in range(len(values))]
    inside = sum(len(part) / len(y) * impurity(part, criterion) for part in parts)
    return impurity(y, criterion) - inside


def split_information(groups: ArrayLike) -> float:
    """H_A(S), the entropy of the groups themselves, in bits.

    >>> split_information(["a", "a", "b", "b"])
    1.0
    """
    return impurity(groups, "entropy")


def gain_ratio(y: ArrayLike, groups: ArrayLike) -> float:
    """Information gain / split information; nan where all are in one group.

    >>> round(gain_ratio(["+", "+", "-", "-", "+"], [0, 0, 1, 1, 1]), 4)
    0.4325
    """
    information = split_information(groups)
    return information_gain(y, groups) / information if information > 0 else float("nan")


def candidate_thresholds(x: ArrayLike, y: np.ndarray, *, rule: str = "label_change") -> Array:
    """The thresholds worth a try for one numeric column.

    Parameters
    ----------
    x, y : array-like of shape (n,)
    rule : {"label_change", "midpoint", "observed"}
        "midpoint": between all neighbouring distinct values. "label_change": only between
        neighbouring values whose examples together have more than one label; the optimum is
        among them. "observed": the values themselves without the largest, ``<=`` goes left.

    Examples
    --------
    >>> candidate_thresholds([2.5, 3, 4.5, 5, 6], ["+", "+", "-", "-", "+"])
    array([3.75, 5.5 ])
    """
    check.one_of(THRESHOLDS, rule=rule)
    x, y = np.asarray(x, np.float64), _targets(y)
    if x.shape != y.shape:
        raise ValueError(f"x and y need the same length, got {x.shape} and {y.shape}")
    known = ~np.isnan(x)
    values, group = np.unique(x[known], return_inverse=True)
    if rule == "observed" or len(values) < 2:
        return values[:-1]
    middle = 0.5 * values[:-1] + 0.5 * values[1:]
    if rule == "midpoint":
        return middle
    _, codes = np.unique(y[known], return_inverse=True)
    lowest = np.full(len(values), codes.max())
    highest = np.zeros(len(values), codes.dtype)
    np.minimum.at(lowest, group, codes)
    np.maximum.at(highest, group, codes)
    first = np.minimum(lowest[:-1], lowest[1:])
    return middle[first != np.maximum(highest[:-1], highest[1:])]


def best_split(
    X: np.ndarray, y: np.ndarray, *, criterion: str = "gini", threshold: str = "midpoint"
) -> Split | None:
    """The best question ``x_j <= t``; ties go to the lowest feature, then the lowest threshold.

    ``score`` is the size-weighted impurity of the sides (squared_error: their summed squares / n);
    None where no question divides the rows.

    >>> best_split([[1.0], [2.0], [3.0]], [0.0, 0.0, 6.0], criterion="squared_error")
    Split(feature=0, threshold=2.5, score=0.0, gain=8.0, n_left=2, n_right=1)
    """
    check.one_of((*impurities.CLASS_CRITERIA, *impurities.NUMBER_CRITERIA), criterion=criterion)
    check.one_of(THRESHOLDS, threshold=threshold)
    X, y = np.asarray(X, np.float64), _targets(y)
    if X.ndim != 2 or len(X) != len(y):
        raise ValueError(f"X must be a table of {len(y)} rows, got shape {X.shape}")
    if criterion in impurities.NUMBER_CRITERIA:
        target: Any = y.astype(np.float64)[:, None]
    else:
        classes, codes = encode_labels(y)
        target = Classes(codes[:, None], np.array([len(classes)]))
    growth = Growth(criterion, threshold, max_depth=1)
    tree = grow_tree(presort(X), target, np.ones(len(y)), growth)
    if tree.node_count == 1:
        return None
    share = tree.n_node_samples[1:] / len(y)
    score = float(share @ tree.impurity[1:])
    counts: Sequence[int] = tree.n_node_samples.tolist()
    gain = float(tree.impurity[0]) - score
    return Split(int(tree.feature[0]), float(tree.threshold[0]), score, gain, *counts[1:])
