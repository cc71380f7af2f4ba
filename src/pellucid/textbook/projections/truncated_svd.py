r"""Truncated SVD: the nearest matrix of rank d.

Minimise    |A - B|^2 (sum of squares) over matrices B of rank d
Step        A = U D V' rotates, stretches, rotates, and rotations change no length. So the problem
            is D's, and for a diagonal matrix one keeps the d largest: B = U_d D_d V_d', with
            |A - B|^2 = sum of the D^2 left out (Eckart & Young, 1936).
Cost        n p min(n, p) to compute, d (n + p + 1) numbers to store.
The fast version finds d directions by random products, without all the others.
"""

from typing import NamedTuple

import numpy as np


class LowRank(NamedTuple):
    U: np.ndarray  # (n, d)
    D: np.ndarray  # (d,)
    Vt: np.ndarray  # (d, p)
    error: float  # root of the sum of squares left out


def truncated_svd(A: np.ndarray, d: int) -> LowRank:
    U, D, Vt = np.linalg.svd(A, full_matrices=False)
    return LowRank(U[:, :d], D[:d], Vt[:d], float(np.sqrt((D[d:] ** 2).sum())))
