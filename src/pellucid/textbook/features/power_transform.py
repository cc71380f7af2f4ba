r"""Power transform (Yeo-Johnson): bend a column until it looks most normal.

Model       T(x) = ((1 + x)^l - 1) / l for x >= 0, -((1 - x)^(2-l) - 1) / (2 - l) for x < 0, with
            logarithms where a power is 0; T(x) is normal
Maximise    the likelihood of x, -(n/2) log var T(x) + (l - 1) sum sign(x) log(1 + |x|)
Step        the second term is the logarithm of the slope of T: densities of x and T(x) differ by
            it. Without it one could always shrink the variance. One number l: golden sections.
Cost        n per value of l.
The fast version takes Newton's steps for all columns at once; Box and Cox's powers too.
"""

import numpy as np


def bend(x: np.ndarray, power: float) -> np.ndarray:
    """T(x)."""
    up, down = np.maximum(x, 0), np.maximum(-x, 0)
    T_up = np.log1p(up) if power == 0 else ((1 + up) ** power - 1) / power
    other = 2 - power
    T_down = np.log1p(down) if other == 0 else ((1 + down) ** other - 1) / other
    return np.where(x >= 0, T_up, -T_down)


def log_likelihood(x: np.ndarray, power: float) -> float:
    slope = (power - 1) * (np.sign(x) * np.log1p(np.abs(x))).sum()
    return float(-len(x) / 2 * np.log(bend(x, power).var()) + slope)


def power_transform(x: np.ndarray, low: float = -5.0, high: float = 7.0) -> float:
    """The best power l."""
    ratio = (5**0.5 - 1) / 2
    while high - low > 1e-9:
        left, right = high - ratio * (high - low), low + ratio * (high - low)
        if log_likelihood(x, left) > log_likelihood(x, right):
            high = right
        else:
            low = left
    return (low + high) / 2
