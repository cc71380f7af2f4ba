r"""Normal-inverse-gamma: mean and variance of normal data, both unknown.

Model       s ~ InverseGamma(a, b),  t | s ~ N(m, s / k),  x_i ~ N(t, s)
Step        complete the square in t: k (t - m)^2 + sum (x_i - t)^2
            = (k + n)(t - m')^2 + sum (x_i - mean)^2 + (k n / (k + n)) (mean - m)^2, so
            k' = k + n, m' = (k m + n mean) / k', a' = a + n/2, b' = b + (the last two terms) / 2.
            The next x is Student's t: 2a' degrees, centre m', scale^2 b' (k' + 1) / (a' k').
Cost        n additions.
The fast version gives the law of the pair, its intervals and draws.
"""

from typing import NamedTuple

import numpy as np
from scipy.special import gammaln


class Belief(NamedTuple):
    m: float
    k: float
    a: float
    b: float
    log_evidence: float


def normal_inverse_gamma(x: np.ndarray, m: float, k: float, a: float, b: float) -> Belief:
    n, mean = len(x), x.mean()
    k_new, a_new = k + n, a + n / 2
    m_new = (k * m + n * mean) / k_new
    b_new = b + (((x - mean) ** 2).sum() + k * n / k_new * (mean - m) ** 2) / 2
    ratio = gammaln(a_new) - gammaln(a) + a * np.log(b) - a_new * np.log(b_new)
    log_evidence = ratio + np.log(k / k_new) / 2 - n / 2 * np.log(2 * np.pi)
    return Belief(float(m_new), k_new, a_new, float(b_new), float(log_evidence))
