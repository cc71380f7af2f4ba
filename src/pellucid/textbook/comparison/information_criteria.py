r"""Information criteria: the price of a parameter.

Given       the largest log-likelihood l of a model with k parameters on n rows
Minimise    AIC = -2 l + 2 k,  AICc = AIC + 2 k (k + 1) / (n - k - 1),  BIC = -2 l + k ln n
Step        l is too large by about k, since the parameters were fitted to these rows: on new rows
            -2 l grows by 2 k (Akaike). BIC approximates -2 log of the evidence: integrating the
            likelihood over k parameters costs (1/2) ln n each (Laplace). With normal noise
            -2 l = n ln(RSS / n) + constant.
Cost        nothing.
The fast version has Mallows' Cp too.
"""

from typing import NamedTuple

import numpy as np


class Criteria(NamedTuple):
    aic: float
    aicc: float
    bic: float


def information_criteria(log_likelihood: float, k: int, n: int) -> Criteria:
    aic = -2 * log_likelihood + 2 * k
    return Criteria(
        aic, aic + 2 * k * (k + 1) / (n - k - 1), -2 * log_likelihood + k * float(np.log(n))
    )


def normal_noise(rss: float, k: int, n: int) -> Criteria:
    """For least squares, without the constant."""
    return information_criteria(-n / 2 * float(np.log(rss / n)), k, n)
