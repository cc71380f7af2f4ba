r"""Inducing points: a Gaussian process of n rows through its heights u at m places Z.

Maximise    F = log N(y; 0, Q + s2 I) - tr(K - Q) / (2 s2) <= log p(y),  Q = C'K^-1 C
Step        any law q(u) gives a bound of log p(y); the best q is normal, and its bound is F
            (Titsias). With A = K + C C'/s2 the inverse and the determinant of Q + s2 I are those of
            m x m matrices: y'(Q + s2 I)^-1 y = (y'y - b'C y)/s2, b = A^-1 C y / s2, and the mean at
            new rows is k'b
Cost        n m^2.
The fast version learns the kernel by F's gradient, chooses the places, and reads rows in blocks.
"""

from typing import NamedTuple

import numpy as np


class Sparse(NamedTuple):
    bound: float
    b: np.ndarray  # (m,): the mean is k(x, Z) b


def inducing_points(K: np.ndarray, C: np.ndarray, trace: float, y: np.ndarray, s2: float) -> Sparse:
    """From K (m, m) of the places, C (m, n) between them and the rows, and the trace of k(x, x)."""
    n = len(y)
    A = K + C @ C.T / s2
    b = np.linalg.solve(A, C @ y / s2)
    log_det = np.linalg.slogdet(A)[1] - np.linalg.slogdet(K)[1] + n * np.log(s2)
    fit = (y @ y - b @ C @ y) / s2
    left = trace - np.trace(np.linalg.solve(K, C @ C.T))
    return Sparse(-0.5 * (log_det + n * np.log(2 * np.pi) + fit + left / s2), b)
