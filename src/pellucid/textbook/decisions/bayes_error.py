r"""Bayes error: what the best possible classifier still gets wrong, for two normal classes.

Model       x | class c ~ N(m_c, S), the same S; P(c) = w_c
Solve       the error of "decide 1 when w_1 N(x; m_1, S) > w_0 N(x; m_0, S)", which no rule beats
Step        the rule compares one number, z = (m_1 - m_0)'S^-1(x - midpoint), with t = log w_0 /
            w_1. In class 1 z ~ N(D^2/2, D^2), in class 0 N(-D^2/2, D^2), D the Mahalanobis distance
            of the means: the error is w_0 Phi(-D/2 - t/D) + w_1 Phi(-D/2 + t/D).
Cost        p^3.
The fast version integrates on the line or simulates for any densities, losses and classes.
"""

import numpy as np
from scipy.special import ndtr


def bayes_error(w: np.ndarray, m: np.ndarray, S: np.ndarray) -> float:
    """w (2,), m (2, p), S (p, p)."""
    gap = m[1] - m[0]
    D = np.sqrt(gap @ np.linalg.solve(S, gap))
    t = np.log(w[0] / w[1])
    return float(w[0] * ndtr(-D / 2 - t / D) + w[1] * ndtr(-D / 2 + t / D))
