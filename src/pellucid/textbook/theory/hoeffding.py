r"""Hoeffding's inequality: a mean of bounded values is near its expectation, exponentially surely.

Given       n independent values in an interval of width w
Solve       the d with P(|mean - expectation| >= e) <= d
Step        for any s > 0 Markov for exp(s (sum - E)) gives exp(-s n e) prod E exp(s (X - E X)); a
            value in an interval of width w has E exp(s (X - EX)) <= exp(s^2 w^2 / 8). Best s:
            exp(-2 n e^2 / w^2); twice that for both sides. Solved for e: w
            sqrt(log(2 / d) / (2 n)).
Cost        none.
The fast version solves for any of n, e and d, and takes widths that differ.
"""

import numpy as np


def hoeffding(n: int, e: float, w: float = 1.0) -> float:
    """d, for both sides."""
    return float(min(1.0, 2 * np.exp(-2 * n * e**2 / w**2)))


def deviation(n: int, d: float, w: float = 1.0) -> float:
    """e, for both sides."""
    return float(w * np.sqrt(np.log(2 / d) / (2 * n)))
