r"""Linear-Gaussian: a normal belief about a vector after noisy linear measurements.

Model       t ~ N(m, V),  y = A t + b + e,  e ~ N(0, R)
Step        t and y are jointly normal with cov(t, y) = VA', cov(y) = AVA' + R. Conditioning gives
            gain K = VA' (AVA' + R)^-1,  m' = m + K (y - Am - b),  V' = V - KAV:
            go from the prior towards what was measured, as far as it is to be trusted. Regression
            with a normal prior is A = X; one time step of a Kalman filter is this, too.
Cost        n^3 for n measurements.
The fast version solves the smaller of the two systems, n or the size of t, and gives the evidence.
"""

from typing import NamedTuple

import numpy as np


class Belief(NamedTuple):
    m: np.ndarray
    V: np.ndarray


def linear_gaussian(
    y: np.ndarray, A: np.ndarray, R: np.ndarray, m: np.ndarray, V: np.ndarray, b: float = 0.0
) -> Belief:
    C = A @ V @ A.T + R  # covariance of y
    K = np.linalg.solve(C, A @ V).T
    return Belief(m + K @ (y - A @ m - b), V - K @ A @ V)
