r"""From probabilities to a decision: costs for any number of classes, a threshold for two.

    costs       argmin_d sum_k P(k | x) L[k, d]
    threshold   "yes" iff P(yes | x) >= t, which is the decision of least cost where a false "yes"
                costs t and a false "no" costs 1 - t

So one table of costs says both, and ``LossMatrixClassifier`` carries it out in the saved model.
"""

from typing import Any

import numpy as np

from pellucid.core.arrays.typing import Array, ArrayLike


def least_cost(P: Array, classes: np.ndarray, cost_matrix: ArrayLike) -> Any:
    """The label of least expected cost for every row of probabilities.

    >>> least_cost(np.array([[0.8, 0.2]]), np.array(["no", "yes"]), [[0, 1], [9, 0]])
    array(['yes'], dtype='<U3')
    """
    return classes[(P @ np.asarray(cost_matrix, dtype=np.float64)).argmin(axis=1)]


def threshold_costs(threshold: float, place: int) -> Array:
    """The costs of two classes that put the threshold of class ``place`` at this probability.

    >>> threshold_costs(0.25, 1)
    array([[0.  , 0.25],
           [0.75, 0.  ]])
    """
    L = np.zeros((2, 2))
    L[1 - place, place], L[place, 1 - place] = threshold, 1.0 - threshold
    return L
