r"""How mixed the targets of a node are.

Classes      p_k = share of class k (by weight)
             gini               sum_k p_k (1 - p_k)
             entropy            -sum_k p_k log2 p_k, in bits, 0 log 0 = 0
             misclassification  1 - max_k p_k
Numbers      squared_error      (1/W) sum_i w_i (y_i - mean)^2
             absolute_error     (1/W) sum_i w_i |y_i - median|
             poisson            (1/W) sum_i w_i y_i log(y_i / mean), half the deviance
"""

import numpy as np

from pellucid.core.arrays.quantiles import weighted_median
from pellucid.core.arrays.typing import Array

CLASS_CRITERIA = ("gini", "entropy", "log_loss", "misclassification")
NUMBER_CRITERIA = ("squared_error", "absolute_error", "poisson")


def class_impurity(weight: Array, criterion: str) -> Array:
    """Impurity of every row of class weights (..., K); an empty row has impurity 0.

    >>> class_impurity(np.array([[1.0, 1.0], [3.0, 1.0], [2.0, 0.0]]), "gini")
    array([0.5  , 0.375, 0.   ])
    >>> class_impurity(np.array([1.0, 1.0]), "entropy").item()
    1.0
    """
    total = weight.sum(axis=-1, keepdims=True)
    p = weight / np.where(total > 0, total, 1.0)
    if criterion == "gini":
        return (p * (1.0 - p)).sum(axis=-1)
    if criterion == "misclassification":
        return np.where(total[..., 0] > 0, 1.0 - p.max(axis=-1), 0.0)
    return -(p * np.log2(np.where(p > 0, p, 1.0))).sum(axis=-1) + 0.0


def number_impurity(y: Array, w: Array, criterion: str) -> float:
    """Impurity of numbers y with weights w.

    >>> y = np.array([1.0, 2.0, 6.0])
    >>> number_impurity(y, np.ones(3), "absolute_error")
    1.6666666666666667
    """
    total = w.sum()
    if not total > 0:
        return 0.0
    if criterion == "absolute_error":
        return float(w @ np.abs(y - weighted_median(y, w)) / total)
    mean = w @ y / total
    if criterion == "squared_error":
        return float(w @ (y - mean) ** 2 / total)
    if mean <= 0:
        return 0.0
    return float(w @ (y * np.log(np.where(y > 0, y / mean, 1.0))) / total)
