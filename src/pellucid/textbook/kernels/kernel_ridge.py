r"""Kernel ridge: ridge regression in the space of a kernel.

Minimise    |y - f|^2 + alpha |w|^2, f(x) = w'phi(x)
Step        the gradient in w vanishes where w = sum_i a_i phi(x_i), a = (y - f) / alpha: a
            combination of the rows. Put it back: f = K a, so (K + alpha I) a = y: n equations,
            however many features. The error of row i without it is a_i / ((K + alpha I)^-1)_ii.
Cost        n^3.
The fast version takes weights, several targets with an alpha each, and kernel objects.
"""

from typing import NamedTuple

import numpy as np


class Fit(NamedTuple):
    a: np.ndarray  # (n,); f(x) = sum_i a_i k(x_i, x)
    leave_one_out: np.ndarray  # residuals of the fits without each row


def kernel_ridge(K: np.ndarray, y: np.ndarray, alpha: float = 1.0) -> Fit:
    """From the Gram matrix of the training rows."""
    A = np.linalg.inv(K + alpha * np.eye(len(y)))
    a = A @ y
    return Fit(a, a / np.diag(A))
