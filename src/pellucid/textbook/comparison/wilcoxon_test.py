r"""Wilcoxon test, by signed ranks: are the differences of pairs as often up as down?

Given       d_i = a_i - b_i without zeros, R_i the rank of |d_i| (ties share)
Statistic   W = sum of R_i over d_i > 0
Step        if a and b are alike every sign is a fair coin: go through all 2^n patterns of signs
            and see in how many W is as far out as it was.
Cost        2^n patterns.
The fast version adds one coin after the other, n^3, and takes a normal distribution for n > 50.
"""

from itertools import product

import numpy as np


def wilcoxon_test(a: np.ndarray, b: np.ndarray) -> tuple[float, float]:
    """W and its two-sided p-value."""
    d = (a - b)[a != b]
    size = np.abs(d)
    R = np.array([((size < s).sum() + (size <= s).sum() + 1) / 2 for s in size])
    W = R[d > 0].sum()
    every = np.array([R @ np.array(signs) for signs in product([0, 1], repeat=len(d))])
    low, high = (every <= W).mean(), (every >= W).mean()
    return float(W), float(min(1.0, 2 * min(low, high)))
