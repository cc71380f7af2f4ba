r"""Independence test: are two categories independent, given a third?

Given       counts N_abz of rows with states a, b and the state z of the condition
Solve       the probability that independent variables look at least as dependent as these
Step        under independence given z the expected count is E = N_a.z N_.bz / N_..z. Twice the
            log-likelihood ratio, G = 2 sum N log (N / E), is chi^2 with (r_a - 1)(r_b - 1) degrees
            of freedom for each z (Wilks); states that do not occur in a stratum do not count there.
Cost        n.
The fast version does many tests over the same rows at once, and Fisher's z for numbers.
"""

from typing import NamedTuple

import numpy as np
from scipy.special import chdtrc


class Test(NamedTuple):
    G: float
    degrees: int
    p_value: float


def independence_test(a: np.ndarray, b: np.ndarray, z: np.ndarray | None = None) -> Test:
    """Of state numbers; z is one number per row for all states of the condition together."""
    z = np.zeros(len(a), dtype=int) if z is None else z
    G, degrees = 0.0, 0
    for stratum in np.unique(z):
        N = np.zeros((a.max() + 1, b.max() + 1))
        np.add.at(N, (a[z == stratum], b[z == stratum]), 1)
        N = N[N.sum(axis=1) > 0][:, N.sum(axis=0) > 0]
        E = np.outer(N.sum(axis=1), N.sum(axis=0)) / N.sum()
        G += 2 * (N[N > 0] * np.log(N[N > 0] / E[N > 0])).sum()
        degrees += (N.shape[0] - 1) * (N.shape[1] - 1)
    return Test(float(G), degrees, float(chdtrc(degrees, G)) if degrees else 1.0)
