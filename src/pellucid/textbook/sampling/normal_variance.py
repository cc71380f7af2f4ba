r"""Normal variance: what deviations from a known mean say about the spread.

Model       s ~ InverseGamma(a, b), density ~ s^(-a-1) exp(-b / s);  x_i ~ N(c, s), c known
Step        the likelihood is ~ s^(-n/2) exp(-sum (x_i - c)^2 / (2 s)): powers and exponents add,
            a' = a + n/2,  b' = b + sum (x_i - c)^2 / 2. Mean b' / (a' - 1).
            Evidence: (2 pi)^(-n/2) G(a') b^a / (G(a) b'^a').
Cost        n additions.
The fast version also gives the next x, which is Student's t with 2a' degrees of freedom.
"""

from typing import NamedTuple

import numpy as np
from scipy.special import gammaln


class Belief(NamedTuple):
    a: float
    b: float
    log_evidence: float

    @property
    def mean(self) -> float:
        return self.b / (self.a - 1)


def normal_variance(x: np.ndarray, c: float, a: float = 1.0, b: float = 1.0) -> Belief:
    n = len(x)
    a_new, b_new = a + n / 2, float(b + ((x - c) ** 2).sum() / 2)
    ratio = gammaln(a_new) - gammaln(a) + a * np.log(b) - a_new * np.log(b_new)
    return Belief(a_new, b_new, float(ratio - n / 2 * np.log(2 * np.pi)))
