r"""Robust scaling: median and quartiles in the place of mean and deviation.

Given       a column x
Step        z = (x - median) / (Q3 - Q1). One wild value moves a mean by its size / n, however
            large; it moves a median by one place in the order. Up to a quarter of the rows may be
            wild before the quartiles follow. For normal data Q3 - Q1 = 1.349 standard deviations.
Cost        n p, by selection.
The fast version takes any pair of quantiles, and can give normal columns variance 1.
"""

import numpy as np


def robust_scaling(X: np.ndarray, X_new: np.ndarray) -> np.ndarray:
    """New rows in the units of X."""
    low, middle, high = np.quantile(X, [0.25, 0.5, 0.75], axis=0)
    return (X_new - middle) / (high - low)
