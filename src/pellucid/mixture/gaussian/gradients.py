r"""The gradient of the log-likelihood of a Gaussian mixture.

d/d theta log p(x) = sum_k r_k d/d theta log pi_k N(x; mu_k, S_k)

weights      sum_i r_ik / pi_k
means        S_k^-1 sum_i r_ik (x_i - mu_k)
covariances  1/2 sum_i r_ik (S_k^-1 d d' S_k^-1 - S_k^-1),   d = x_i - mu_k
"""

from typing import NamedTuple

from pellucid.core.arrays.typing import Array
from pellucid.core.readable import readable


@readable
class MixtureGradient(NamedTuple):
    """The gradient of the total log-likelihood, entries taken as independent.

    >>> from pellucid import GaussianMixture
    >>> model = GaussianMixture.from_parameters([1.0], [[0.0]], [[[1.0]]])
    >>> model.gradient([[2.0]]).means
    array([[2.]])
    """

    weights: Array  # (k,)
    means: Array  # (k, p)
    covariances: Array  # (k, p, p)
