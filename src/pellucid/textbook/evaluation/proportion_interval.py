r"""Interval of a proportion: k of n, and the truth?

Given       k successes in n independent tries of probability p
Solve       all p that a test at the level alpha would not reject
Step        Wilson: (phat - p)^2 <= z^2 p (1 - p) / n, a quadratic in p, with the variance at p
            itself and not at phat. Clopper-Pearson: P(X >= k | p) and P(X <= k | p) both >= alpha /
            2: Beta quantiles; never too short, somewhat too long.
Cost        nothing.
The fast version also has Hoeffding's and the normal interval.
"""

from typing import NamedTuple

import numpy as np
from scipy.special import betaincinv, ndtri


class Limits(NamedTuple):
    low: float
    high: float


def proportion_interval(k: int, n: int, confidence: float = 0.95) -> Limits:
    """Wilson's."""
    z, p = ndtri((1 + confidence) / 2), k / n
    middle = (p + z**2 / (2 * n)) / (1 + z**2 / n)
    half = z / (1 + z**2 / n) * np.sqrt(p * (1 - p) / n + z**2 / (4 * n**2))
    return Limits(float(middle - half), float(middle + half))


def clopper_pearson(k: int, n: int, confidence: float = 0.95) -> Limits:
    tail = (1 - confidence) / 2
    low = betaincinv(k, n - k + 1, tail) if k > 0 else 0.0
    high = betaincinv(k + 1, n - k, 1 - tail) if k < n else 1.0
    return Limits(float(low), float(high))
