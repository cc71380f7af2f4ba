r"""Five-by-two test: two models on five random halvings.

Given       differences d_ij of their scores, i = 1..5 halvings, j = 1, 2 which half was tested
Solve       F = sum d_ij^2 / (2 sum_i s_i^2), s_i^2 = sum_j (d_ij - mean_i)^2
Step        the two halves share no training row, so s_i^2 is an honest variance with one degree of
            freedom. If the models are equal, sum d^2 / s^2 has ten degrees and sum s_i^2 / s^2
            five: F(10, 5) (Alpaydin). Dietterich's form takes one difference only:
            t = d_11 / sqrt(mean s_i^2), five degrees of freedom.
Cost        ten fits of each model.
The fast version runs the halvings too.
"""

from typing import NamedTuple

import numpy as np
from scipy.special import fdtrc, stdtr


class Test(NamedTuple):
    F: float
    p_of_f: float
    t: float
    p_of_t: float


def five_by_two_test(d: np.ndarray) -> Test:
    """d has shape (5, 2)."""
    s2 = ((d - d.mean(axis=1, keepdims=True)) ** 2).sum(axis=1)
    F = float((d**2).sum() / (2 * s2.sum()))
    t = float(d[0, 0] / np.sqrt(s2.mean()))
    return Test(F, float(fdtrc(10, 5, F)), t, float(2 * stdtr(5, -abs(t))))
