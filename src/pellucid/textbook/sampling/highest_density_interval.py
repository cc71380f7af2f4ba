r"""Highest density interval: the shortest interval that holds a given share.

Minimise    b - a  subject to  F(b) - F(a) = c, F the distribution function
Step        with a = Q(u) and b = Q(u + c), Q the inverse of F, one number u is left. Where the
            derivative is 0 the densities at a and b are equal: moving the interval would give up
            more than it gains. Golden sections find u for a density with one peak.
Cost        some dozens of quantiles.
The fast version also knows densities that are highest at an end.
"""

from collections.abc import Callable


def highest_density_interval(Q: Callable[[float], float], c: float) -> tuple[float, float]:
    """From the quantile function of a density with one peak inside."""
    low, high, ratio = 1e-12, 1 - c - 1e-12, (5**0.5 - 1) / 2

    def width(u: float) -> float:
        return Q(u + c) - Q(u)

    while high - low > 1e-12:
        left, right = high - ratio * (high - low), low + ratio * (high - low)
        if width(left) < width(right):
            high = right
        else:
            low = left
    return Q(low), Q(low + c)
