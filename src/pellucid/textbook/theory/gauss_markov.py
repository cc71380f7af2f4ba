r"""Gauss-Markov: no linear unbiased estimate beats least squares.

Model       y = X b + e, E e = 0, cov e = s^2 I
Solve       the covariance of any estimate Cy that is unbiased, CX = I, beside that of least squares
Step        least squares is P = (X'X)^-1 X'. With M = C - P, MX = 0, so MP' = MX (X'X)^-1 = 0 and
            cov(Cy) = s^2 CC' = s^2 (PP' + MM'): larger by a positive semidefinite matrix. Give up
            unbiasedness (ridge) or linearity and the theorem does not hold.
Cost        n p^2.
The fast version also says how biased a C is.
"""

import numpy as np


def gauss_markov(X: np.ndarray, C: np.ndarray, s2: float = 1.0) -> np.ndarray:
    """cov(Cy) - cov(least squares), for a C with CX = I."""
    P = np.linalg.solve(X.T @ X, X.T)
    return s2 * (C @ C.T - P @ P.T)
