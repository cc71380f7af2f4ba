r"""Temperature scaling: one number that makes sure answers less sure.

Model       P(k | x) = softmax(beta z(x)), z the scores (logarithms of probabilities) of a
            classifier
Minimise    the log loss in beta > 0, on rows that the classifier has not seen
Step        dL/dbeta = sum_i sum_k p_ik z_ik - z_{i, y_i}: the expected minus the actual score. It
            rises with beta (its derivative is a sum of variances), so its root is found by halving
            an interval. The order of the classes, and so the prediction, stays.
Cost        n K per try.
The fast version takes Newton steps inside the interval.
"""

import numpy as np


def slope(beta: float, Z: np.ndarray, y: np.ndarray) -> float:
    E = np.exp(beta * (Z - Z.max(axis=1, keepdims=True)))
    P = E / E.sum(axis=1, keepdims=True)
    return float((P * Z).sum() - Z[np.arange(len(y)), y].sum())


def temperature_scaling(Z: np.ndarray, y: np.ndarray) -> float:
    """beta; 1 / beta is the temperature. y holds 0, ..., K - 1."""
    low, high = np.exp(-10.0), np.exp(10.0)
    for _ in range(200):
        middle = np.sqrt(low * high)
        if slope(middle, Z, y) > 0:
            high = middle
        else:
            low = middle
    return float(np.sqrt(low * high))
