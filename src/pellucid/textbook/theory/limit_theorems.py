r"""Limit theorems: how means of many values behave, seen by simulation.

Given       a way to draw, with mean m and variance v
Solve       how often the mean of n is off by e or more, and how near
            sqrt(n)(mean - m) is to N(0, v)
Step        the law of large numbers: the frequency goes to 0, at most v / (n e^2). The central
            limit theorem: the distance of the distribution functions, max |F_n - Phi|, falls like 1
            / sqrt(n), slower for skewed values (Berry & Esseen).
Cost        n draws, repeated.
The fast version draws many means at once, beside the bounds of Chebyshev and Hoeffding.
"""

from collections.abc import Callable

import numpy as np
from scipy.special import ndtr


def limit_theorems(
    draw: Callable[[int, int], np.ndarray], m: float, v: float, n: int, e: float, repeats: int
) -> tuple[float, float]:
    """Frequency of a deviation of e or more, and the largest distance from the normal law.

    ``draw(repeats, n)`` gives a table of values.
    """
    means = draw(repeats, n).mean(axis=1)
    z = np.sort(np.sqrt(n / v) * (means - m))
    below, upto = np.arange(repeats) / repeats, np.arange(1, repeats + 1) / repeats
    distance = max(np.abs(ndtr(z) - below).max(), np.abs(ndtr(z) - upto).max())
    return float((np.abs(means - m) >= e).mean()), float(distance)
