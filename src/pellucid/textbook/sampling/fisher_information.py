r"""Fisher information: how much one observation can say about a parameter.

Define      I(t) = E[(d/dt log p(x | t))^2] = -E[d^2/dt^2 log p(x | t)]
Solve       the least variance of an unbiased estimate from n observations
Step        the score has mean 0, and its covariance with an unbiased estimate is 1 (differentiate
            E[estimate] = t under the integral). Cauchy and Schwarz: variance >= 1 / (n I(t)), the
            bound of Cramer and Rao. Here the mean is a sum over the values a discrete x can take.
Cost        one sum over the support.
The fast version knows the closed forms, and integrates where there is none.
"""

from collections.abc import Callable

import numpy as np


def fisher_information(
    log_p: Callable[[np.ndarray, float], np.ndarray], support: np.ndarray, t: float, h: float = 1e-5
) -> float:
    """I(t) of log p(x | t) for x in the support."""
    score = (log_p(support, t + h) - log_p(support, t - h)) / (2 * h)
    return float((np.exp(log_p(support, t)) * score**2).sum())


def cramer_rao(information: float, n: int) -> float:
    return 1 / (n * information)
