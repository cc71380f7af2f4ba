r"""From probabilities to a decision: costs for any number of classes, a threshold for two.

    costs       argmin_d sum_k P(k | x) L[k, d]
    threshold   "yes" iff P(yes | x) >= t, which is the decision of least cost where a false "yes"
                costs t and a false "no" costs 1 - t
    balance     argmax_k P(k | x) / pi_k: a miss of class k costs 1 / pi_k

So one table of costs says both, and ``LossMatrixClassifier`` carries it out in the saved model.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from pellucid.core.arrays.typing import Array, ArrayLike


def least_cost(P: Array, classes: np.ndarray, cost_matrix: ArrayLike) -> Any:
    """The label of least expected cost for every row of probabilities.

    >>> least_cost(np.array([[0.8, 0.2]]), np.array(["no", "yes"]), [[0, 1], [9, 0]])
    array(['yes'], dtype='<U3')
    """
    return classes[(P @ np.asarray(cost_matrix, dtype=np.float64)).argmin(axis=1)]


def balancing_costs(shares: Array) -> Array:
    """Costs by which the class most above its share is said.

    >>> least_cost(np.array([[0.8, 0.2]]), np.array(["no", "yes"]), balancing_costs([0.9, 0.1]))
    array(['yes'], dtype='<U3')
    """
    L = np.repeat(1 / np.asarray(shares)[:, None], len(shares), axis=1)
    np.fill_diagonal(L, 0.0)
    return L


def costs_among(costs: ArrayLike, classes: Sequence[Any], known: Any) -> Array:
    """The costs of the classes that a model knows; ``classes`` are those of the table of costs.

    >>> costs_among([[0, 1, 2], [3, 0, 4], [5, 6, 0]], ("a", "b", "c"), ["a", "c"])
    array([[0., 2.],
           [5., 0.]])
    """
    at = np.flatnonzero(np.isin(np.asarray(classes), np.asarray(known)))
    return np.asarray(costs, dtype=np.float64)[np.ix_(at, at)]


def threshold_costs(threshold: float, place: int) -> Array:
    """The costs of two classes that put the threshold of class ``place`` at this probability.

    >>> threshold_costs(0.25, 1)
    array([[0.  , 0.25],
           [0.75, 0.  ]])
    """
    L = np.zeros((2, 2))
    L[1 - place, place], L[place, 1 - place] = threshold, 1.0 - threshold
    return L
