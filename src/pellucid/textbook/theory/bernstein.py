r"""Bernstein's inequality: better than Hoeffding where the variance is small.

Given       n independent values in an interval of width w, with variance v
Solve       the d with P(|mean - expectation| >= e) <= d
Step        as for Hoeffding, but bound E exp(s (X - EX)) with the variance: the square term of the
            exponential has v in it, the others are at most w^k. Result 2 exp(-n e^2 / (2 v + 2 w e
            / 3)): like a normal tail with variance v while e is small, linear in e beyond.
Cost        none.
The fast version solves for n and e too, and has a form with the variance of the sample.
"""

import numpy as np


def bernstein(n: int, e: float, v: float, w: float = 1.0) -> float:
    """d, for both sides."""
    return float(min(1.0, 2 * np.exp(-n * e**2 / (2 * v + 2 * w * e / 3))))
