r"""Cochran's Q test: more than two classifiers on the same rows.

Given       R (n, m): 1 where classifier j gets row i right
Solve       Q = (m - 1) (m sum_j G_j^2 - T^2) / (m T - sum_i L_i^2), G_j, L_i, T the sums by column,
            by row, and of all
Step        given how many classifiers get a row right, equal classifiers share these rights by
            chance. Then G_j has variance sum_i L_i (m - L_i) / m^2 and the G_j are equally
            correlated: their standardised squares add up to chi^2 with m - 1 degrees. m = 2 is
            McNemar.
Cost        n m.
The fast version is the same formula with its checks.
"""

from typing import NamedTuple

import numpy as np
from scipy.special import chdtrc


class Test(NamedTuple):
    Q: float
    p_value: float


def cochran_q_test(R: np.ndarray) -> Test:
    m = R.shape[1]
    G, L, T = R.sum(axis=0), R.sum(axis=1), R.sum()
    Q = (m - 1) * (m * (G**2).sum() - T**2) / (m * T - (L**2).sum())
    return Test(float(Q), float(chdtrc(m - 1, Q)))
