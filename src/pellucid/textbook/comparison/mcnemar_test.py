r"""McNemar's test: two classifiers on the same rows.

Given       b rows that only A gets right, c rows that only B gets right
Solve       is b / (b + c) different from 1/2?
Step        rows that both get right or wrong say nothing about the difference. If the classifiers
            are equally good, each of the others is a fair coin: b ~ Binomial(b + c, 1/2), exactly;
            for many rows (|b - c| - 1)^2 / (b + c) is nearly chi^2 with one degree of freedom.
Cost        n.
The fast version chooses between the two, and refuses rows of different length.
"""

from math import comb
from typing import NamedTuple

import numpy as np
from scipy.special import chdtrc


class Test(NamedTuple):
    exact: float  # p-value of the coin
    chi2: float
    p_chi2: float


def mcnemar_test(right_a: np.ndarray, right_b: np.ndarray) -> Test:
    """From which rows each classifier gets right."""
    b, c = int((right_a & ~right_b).sum()), int((~right_a & right_b).sum())
    n = b + c
    tail = sum(comb(n, k) for k in range(min(b, c) + 1)) / 2**n
    chi2 = (abs(b - c) - 1) ** 2 / n
    return Test(min(1.0, 2 * tail), chi2, float(chdtrc(1, chi2)))
