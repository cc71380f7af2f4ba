r"""Laplace approximation: a normal density in the place of a posterior, fitted at its peak.

Given       log f(t), the logarithm of an unnormalised density
Step        at the maximum m the gradient is 0, so log f(t) ~ log f(m) + (t - m)'H(t - m) / 2 with
            the Hessian H < 0: that of N(m, -H^-1). Integrating the normal gives the evidence,
            log Z ~ log f(m) + (d log 2 pi - log |-H|) / 2. Newton's steps find m.
Cost        d^3 per step.
The fast version halves steps that overshoot, differentiates by itself, and looks for other peaks.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np


class Approximation(NamedTuple):
    mode: np.ndarray
    covariance: np.ndarray
    log_evidence: float


def laplace_approximation(
    log_f: Callable[[np.ndarray], float],
    gradient: Callable[[np.ndarray], np.ndarray],
    hessian: Callable[[np.ndarray], np.ndarray],
    t: np.ndarray,
) -> Approximation:
    while True:
        step = -np.linalg.solve(hessian(t), gradient(t))
        t = t + step
        if np.abs(step).max() < 1e-10:
            break
    H = hessian(t)
    log_Z = log_f(t) + (len(t) * np.log(2 * np.pi) - np.linalg.slogdet(-H)[1]) / 2
    return Approximation(t, -np.linalg.inv(H), float(log_Z))
