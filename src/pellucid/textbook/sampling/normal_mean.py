r"""Normal mean: what measurements with known noise say about the quantity.

Model       t ~ N(m, v);  x_i ~ N(t, s), s known (variances)
Step        -2 log posterior = (t - m)^2 / v + sum (x_i - t)^2 / s + const is quadratic in t:
            normal, with precision 1/v' = 1/v + n/s and mean m' = v' (m/v + sum x / s): precisions
            add, and the mean is a weighted mean of prior and data. Next x ~ N(m', s + v').
Cost        n additions.
The fast version also plugs in an estimated noise, and gives the evidence.
"""

from typing import NamedTuple

import numpy as np


class Belief(NamedTuple):
    m: float
    v: float


def normal_mean(x: np.ndarray, s: float, m: float = 0.0, v: float = 1.0) -> Belief:
    v_new = 1 / (1 / v + len(x) / s)
    return Belief(float(v_new * (m / v + x.sum() / s)), v_new)
