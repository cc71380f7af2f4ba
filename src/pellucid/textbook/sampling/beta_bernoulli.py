r"""Beta-Bernoulli: what a series of yes and no says about the chance of yes.

Model       t ~ Beta(a, b), density ~ t^(a-1) (1-t)^(b-1);  x_i = 1 with probability t
Step        the likelihood of s ones and f zeros is t^s (1-t)^f, so the posterior ~ t^(a+s-1)
            (1-t)^(b+f-1): again a beta. a and b are ones and zeros imagined beforehand.
            Evidence: p(x) = B(a + s, b + f) / B(a, b), the ratio of normalising constants.
Cost        n additions.
The fast version updates by counts, with intervals and predictions of many trials.
"""

from typing import NamedTuple

import numpy as np
from scipy.special import betaln


class Belief(NamedTuple):
    a: float
    b: float
    log_evidence: float  # of the data seen, under the belief before them

    @property
    def mean(self) -> float:
        """Also the probability that the next one is 1."""
        return self.a / (self.a + self.b)


def beta_bernoulli(x: np.ndarray, a: float = 1.0, b: float = 1.0) -> Belief:
    s, f = x.sum(), (1 - x).sum()
    return Belief(a + s, b + f, float(betaln(a + s, b + f) - betaln(a, b)))
