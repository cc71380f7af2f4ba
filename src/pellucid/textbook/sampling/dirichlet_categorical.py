r"""Dirichlet-categorical: what counts of categories say about their probabilities.

Model       t ~ Dirichlet(a), density ~ prod_k t_k^(a_k - 1);  P(x_i = k) = t_k
Step        the likelihood of counts n_k is prod_k t_k^n_k, so the posterior is Dirichlet(a + n).
            The next one is k with probability (a_k + n_k) / sum(a + n): Laplace's rule for a = 1.
            Evidence: p(x) = D(a + n) / D(a), with D(a) = prod G(a_k) / G(sum a).
Cost        n additions.
The fast version names the categories, and starts from expected shares and a weight.
"""

from typing import NamedTuple

import numpy as np
from scipy.special import gammaln


class Belief(NamedTuple):
    a: np.ndarray  # (K,)
    log_evidence: float

    @property
    def mean(self) -> np.ndarray:
        return self.a / self.a.sum()


def log_constant(a: np.ndarray) -> float:
    return float(gammaln(a).sum() - gammaln(a.sum()))


def dirichlet_categorical(x: np.ndarray, a: np.ndarray) -> Belief:
    """x holds category numbers 0..K-1."""
    n = np.bincount(x, minlength=len(a))
    return Belief(a + n, log_constant(a + n) - log_constant(a))
