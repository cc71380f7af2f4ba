r"""Gaussian mixture with missing cells: EM sums over what was not seen.

Model       as a Gaussian mixture; of row i only the cells o are seen, u are missing at random.
            l = sum_i log sum_k w_k N(x_io; m_ko, S_koo)
Step        given k and x_o, the missing cells are normal with mean m_u + S_uo S_oo^-1 (x_o - m_o)
            and covariance S_uu - S_uo S_oo^-1 S_ou. E: responsibilities from the seen cells, and
            these two; M: as ever, with the mean in the place of the cell and its covariance added.
Cost        n k p^3 per round.
The fast version treats all rows with the same missing cells at once.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np


class State(NamedTuple):
    w: np.ndarray  # (k,)
    m: np.ndarray  # (k, p)
    S: np.ndarray  # (k, p, p)
    log_likelihood: float  # of the seen cells


def complete(x: np.ndarray, m: np.ndarray, S: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
    """log N of the seen cells; mean and covariance of the whole row given them."""
    o, u = ~np.isnan(x), np.isnan(x)
    d, S_oo = x[o] - m[o], S[np.ix_(o, o)]
    A = np.linalg.solve(S_oo, S[np.ix_(o, u)]).T  # S_uo S_oo^-1
    log_det = np.linalg.slogdet(2 * np.pi * S_oo)[1] if o.any() else 0.0
    filled, C = x.copy(), np.zeros_like(S)
    filled[u] = m[u] + A @ d
    C[np.ix_(u, u)] = S[np.ix_(u, u)] - A @ S[np.ix_(o, u)]
    return -(log_det + d @ np.linalg.solve(S_oo, d)) / 2, filled, C


def rounds(
    X: np.ndarray, w: np.ndarray, m: np.ndarray, S: np.ndarray, tol: float = 1e-10
) -> Iterator[State]:
    """The start, then the parameters after each round."""
    before = -np.inf
    while True:
        rows = [[complete(x, m[k], S[k]) for k in range(len(w))] for x in X]
        joint = np.log(w) + np.array([[part[0] for part in row] for row in rows])  # (n, k)
        log_p = np.logaddexp.reduce(joint, axis=1)
        yield State(w, m, S, log_p.sum())
        if log_p.sum() - before < tol * len(X):
            return
        before = log_p.sum()
        q = np.exp(joint - log_p[:, None])
        filled = np.array([[part[1] for part in row] for row in rows])  # (n, k, p)
        C = np.array([[part[2] for part in row] for row in rows])  # (n, k, p, p)
        N = q.sum(axis=0)
        w, m = N / len(X), np.einsum("nk,nkp->kp", q, filled) / N[:, None]
        d = filled - m
        S = np.einsum("nk,nkij->kij", q, d[..., :, None] * d[..., None, :] + C) / N[:, None, None]


def missing_cells_mixture(X: np.ndarray, w: np.ndarray, m: np.ndarray, S: np.ndarray) -> State:
    """The local maximum that the start leads to; missing cells are NaN."""
    *_, last = rounds(X, w, m, S)
    return last
