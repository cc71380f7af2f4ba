r"""Median as minimiser: the number with the least sum of absolute deviations.

Minimise    f(a) = sum_i w_i |x_i - a|
Step        between data points f is straight; its slope is (weight below a) - (weight above a) and
            grows by 2 w_i at each x_i. So f is convex, and least where the slope changes sign:
            where half of the weight is below. With an even number of equal weights it is flat
            between the two middle values: all of them are medians.
Cost        a sort.
The fast version also draws the broken line.
"""

import numpy as np


def median_minimiser(x: np.ndarray, w: np.ndarray | None = None) -> tuple[float, float]:
    """The lowest and the highest minimiser."""
    w = np.ones(len(x)) if w is None else w
    order = np.argsort(x)
    x, below = x[order], np.cumsum(w[order])
    half = below[-1] / 2
    low = x[np.argmax(below >= half * (1 - 1e-12))]
    high = x[np.argmax(below > half * (1 + 1e-12))]
    return float(low), float(high)
