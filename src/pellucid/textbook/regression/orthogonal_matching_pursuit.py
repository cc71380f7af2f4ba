r"""Orthogonal matching pursuit: take the column that looks most like what is left of y, fit again.

Minimise    |y - b - X w|^2 with at most k non-zero w_j, greedily
Step        r = y - fit of the columns taken so far, which are orthogonal to r.
            Moving w_j alone lowers |r|^2 at the rate 2 |x_j'r|: take the largest.
            Fit all taken columns together; a column is never taken twice, since x_j'r is 0 then.
Cost        n p for the correlations of each step, and a small least squares problem.
The fast version keeps an orthonormal basis of the taken columns, so nothing is solved again, and
works on at most p rows that stand for all of them.
"""

from typing import NamedTuple

import numpy as np


class Fit(NamedTuple):
    intercept: float
    w: np.ndarray  # (p,)
    active: list[int]  # columns in the order taken


def orthogonal_matching_pursuit(X: np.ndarray, y: np.ndarray, k: int) -> Fit:
    """k columns of X, one after the other."""
    Xc, yc = X - X.mean(axis=0), y - y.mean()
    active: list[int] = []
    r = yc
    for _ in range(k):
        active.append(int(np.abs(Xc.T @ r).argmax()))
        A = Xc[:, active]
        r = yc - A @ np.linalg.lstsq(A, yc, rcond=None)[0]
    w = np.zeros(X.shape[1])
    w[active] = np.linalg.lstsq(Xc[:, active], yc, rcond=None)[0]
    return Fit(float(y.mean() - X.mean(axis=0) @ w), w, active)
