r"""Quantile transform: a value becomes its rank.

Given       a column x (n,), new values v, m levels between 0 and 1
Step        q_k, the quantiles of x at these levels, are an empirical distribution function F read
            backwards. F(v) lies on the straight line between the two q around v; where v fills
            several q (a value that occurs often) it is the middle of its step. If x has the
            distribution function F, F(x) is uniform, and Phi^-1(F(x)) normal: the rank keeps the
            order of the values and nothing else.
Cost        n log n for the quantiles, log m for each value.
The fast version sorts a sample of the rows and searches in compiled code.
"""

import numpy as np


def quantile_transform(x: np.ndarray, v: np.ndarray, m: int) -> np.ndarray:
    level = np.linspace(0, 1, m)
    q = np.quantile(x, level)
    from_below = np.interp(v, q, level)  # of equal quantiles the last
    from_above = -np.interp(-v, -q[::-1], -level[::-1])  # the first
    rank = (from_below + from_above) / 2
    return np.asarray(np.where(v <= q[0], 0, np.where(v >= q[-1], 1, rank)))
