r"""Probabilistic PCA by EM: the same density without an eigendecomposition.

Model       z ~ N(0, I_d),  x | z ~ N(Wz + m, s I);  S the 1/n covariance, m the mean
Step        E: z | x ~ N(M^-1 W'(x - m), s M^-1), M = W'W + s I;
            M: least squares of x on the expected z, and the mean square that is left:
            W+ = SW (s I + M^-1 W'SW)^-1,  s+ = tr(S - SW M^-1 W+') / p. l never falls.
Cost        p^2 d per round, given S; n p d without S.
The fast version uses the closed form unless cells are missing, where EM sums over them.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np


class State(NamedTuple):
    W: np.ndarray  # (p, d)
    s: float
    mean_l: float  # log-likelihood per row


def rounds(X: np.ndarray, W: np.ndarray, s: float, tol: float = 1e-14) -> Iterator[State]:
    """The start, then the parameters after each round."""
    p, d = W.shape
    S = np.cov(X.T, bias=True)
    before = -np.inf
    while True:
        C = W @ W.T + s * np.eye(p)
        value = -(np.linalg.slogdet(2 * np.pi * C)[1] + np.trace(np.linalg.solve(C, S))) / 2
        yield State(W, s, value)
        if value - before < tol:
            return
        before = value
        M = W.T @ W + s * np.eye(d)
        SW = S @ W
        new = SW @ np.linalg.inv(s * np.eye(d) + np.linalg.solve(M, W.T @ SW))
        s = np.trace(S - SW @ np.linalg.solve(M, new.T)) / p
        W = new


def probabilistic_pca_em(X: np.ndarray, W: np.ndarray, s: float = 1.0) -> State:
    """The maximum, from almost any start W (p, d)."""
    *_, last = rounds(X, W, s)
    return last
