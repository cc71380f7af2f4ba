r"""Friedman's test: several models over several data sets.

Given       scores (N, m): N data sets, m models
Solve       chi^2 = 12 N / (m (m + 1)) sum_j (R_j - (m + 1) / 2)^2, R_j the mean rank of model j
Step        scores of different data sets cannot be compared, ranks can. If the models are equal,
            every order of ranks is equally likely: a rank has mean (m + 1) / 2 and variance (m^2 -
            1) / 12, and the standardised squares are nearly chi^2 with m - 1 degrees.
Cost        N m log m.
The fast version corrects for ties and gives Nemenyi's distance between mean ranks.
"""

from typing import NamedTuple

import numpy as np
from scipy.special import chdtrc


class Test(NamedTuple):
    chi2: float
    p_value: float
    ranks: np.ndarray  # (m,) mean ranks, 1 is best


def friedman_test(S: np.ndarray) -> Test:
    """Greater scores are better; no ties inside a row."""
    N, m = S.shape
    ranks = (S[:, :, None] < S[:, None, :]).sum(axis=2) + 1  # how many are better, and one
    R = ranks.mean(axis=0)
    chi2 = 12 * N / (m * (m + 1)) * ((R - (m + 1) / 2) ** 2).sum()
    return Test(float(chi2), float(chdtrc(m - 1, chi2)), R)
