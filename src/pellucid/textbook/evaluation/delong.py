r"""DeLong's standard error of the area under the ROC curve.

Given       scores of m true rows and n false rows
Solve       Var(area) = Var(V) / m + Var(U) / n, V_i = share of false rows below true row i (ties
            half), U_j = share of true rows above false row j
Step        the area is a mean over pairs; each row sits in many of them, so pairs are not
            independent, but rows are. To first order the area moves with each row as V_i or U_j do
            (Hoeffding's projection of a U-statistic): their spread is its variance. For two models
            on the same rows use the covariances of their V and U.
Cost        m n as written; n log n by ranks.
The fast version ranks instead of comparing all pairs.
"""

from typing import NamedTuple

import numpy as np


class Area(NamedTuple):
    area: float
    standard_error: float


def delong(s: np.ndarray, y: np.ndarray) -> Area:
    """y holds 0 and 1."""
    gap = s[y == 1][:, None] - s[y == 0][None, :]
    right = (gap > 0) + (gap == 0) / 2
    V, U = right.mean(axis=1), right.mean(axis=0)
    variance = V.var(ddof=1) / len(V) + U.var(ddof=1) / len(U)
    return Area(float(right.mean()), float(np.sqrt(variance)))
