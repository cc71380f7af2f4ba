r"""Factor analysis by EM: few common factors, and noise of its own in every column.

Model       z ~ N(0, I_d),  x | z ~ N(Wz + m, Psi), Psi diagonal, so x ~ N(m, C) with C = WW' + Psi
Step        E: with B = W'C^-1, E[z | x] = B (x - m) and the mean of E[zz' | x] is I - BW + BSB',
            S the 1/n covariance; M: regression of x on z with these moments,
            W+ = SB' (I - BW + BSB')^-1,  Psi+ = diag(S - W+ BS). The likelihood never falls.
Cost        p^3 per round, whatever n.
The fast version takes the best W for each Psi by an eigendecomposition: fewer rounds, same maximum.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np


class State(NamedTuple):
    W: np.ndarray  # (p, d)
    psi: np.ndarray  # (p,) the diagonal of Psi
    mean_l: float  # log-likelihood per row


def rounds(X: np.ndarray, d: int, tol: float = 1e-12) -> Iterator[State]:
    """The start (principal components), then the parameters after each round."""
    S = np.cov(X.T, bias=True)
    values, V = np.linalg.eigh(S)
    W, psi, before = V[:, -d:] * np.sqrt(values[-d:]) / 2, np.diag(S) / 2, -np.inf
    while True:
        C = W @ W.T + np.diag(psi)
        value = -(np.linalg.slogdet(2 * np.pi * C)[1] + np.trace(np.linalg.solve(C, S))) / 2
        yield State(W, psi, value)
        if value - before < tol:
            return
        before = value
        B = np.linalg.solve(C, W).T  # (d, p)
        W = S @ B.T @ np.linalg.inv(np.eye(d) - B @ W + B @ S @ B.T)
        psi = np.diag(S - W @ B @ S).copy()


def factor_analysis(X: np.ndarray, d: int) -> State:
    """The maximum of the likelihood; only WW' and Psi are determined, W up to a rotation."""
    *_, last = rounds(X, d)
    return last
