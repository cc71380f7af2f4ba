r"""F test: does one column alone say anything about the target?

Given       a column x and classes, or a column x and a number y
Step        classes: B = sum_c n_c (mean_c - mean)^2, W = sum (x - mean_c)^2; if the class says
            nothing, [B / (K - 1)] / [W / (n - K)] is F distributed, near 1. Numbers: with the
            correlation r, F = r^2 / (1 - r^2) (n - 2) with 1 and n - 2 degrees. Large F: keep the
            column. It sees one column at a time and straight relations only.
Cost        n p.
The fast version sums blocks, and all columns at once.
"""

from typing import NamedTuple

import numpy as np
from scipy.special import fdtrc


class Test(NamedTuple):
    F: float
    p_value: float


def f_test(x: np.ndarray, classes: np.ndarray) -> Test:
    """Of a number and classes."""
    groups = [x[classes == c] for c in np.unique(classes)]
    K, n = len(groups), len(x)
    B = sum(len(g) * (g.mean() - x.mean()) ** 2 for g in groups)
    W = sum(((g - g.mean()) ** 2).sum() for g in groups)
    F = (B / (K - 1)) / (W / (n - K))
    return Test(float(F), float(fdtrc(K - 1, n - K, F)))


def correlation_test(x: np.ndarray, y: np.ndarray) -> Test:
    """Of two numbers."""
    r = np.corrcoef(x, y)[0, 1]
    F = r**2 / (1 - r**2) * (len(x) - 2)
    return Test(float(F), float(fdtrc(1, len(x) - 2, F)))
