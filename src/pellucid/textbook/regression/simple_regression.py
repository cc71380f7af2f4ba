r"""Simple regression: the least-squares line of one input.

Minimise    L(a, b) = sum_i (y_i - a - b x_i)^2
Step        dL/da = 0 gives a = mean(y) - b mean(x): the line passes through the means;
            put it into dL/db = 0: b = Cov(x, y) / Var(x),
            in raw sums b = (n Sxy - Sx Sy) / (n Sxx - Sx^2).
Cost        n.
The fast version is the same formula on centred data, where it loses fewer digits.
"""

from typing import NamedTuple

import numpy as np


class Line(NamedTuple):
    slope: float
    intercept: float


def simple_regression(x: np.ndarray, y: np.ndarray) -> Line:
    """The best line."""
    n, Sx, Sy, Sxy, Sxx = len(x), x.sum(), y.sum(), x @ y, x @ x
    slope = (n * Sxy - Sx * Sy) / (n * Sxx - Sx**2)
    return Line(slope, (Sy - slope * Sx) / n)
