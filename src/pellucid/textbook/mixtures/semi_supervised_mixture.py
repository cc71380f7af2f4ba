r"""Semi-supervised mixture: one normal density per class, learned from few labels and many rows.

Maximise    sum_labelled log w_c N(x; m_c, S_c) + sum_unlabelled log sum_c w_c N(x; m_c, S_c)
Step        EM in which a labelled row belongs to its class for certain:
            E: q_ic = p(c | x_i) for a row without a label, 1 or 0 for a row with one;
            M: weighted shares, means and covariances. Start with the labelled rows alone.
Cost        n k p^2 per round.
The fast version can let unlabelled rows count less, and warns when they carry a class away.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np


class State(NamedTuple):
    w: np.ndarray  # (k,)
    m: np.ndarray  # (k, p)
    S: np.ndarray  # (k, p, p)
    q: np.ndarray  # (n, k) under these parameters
    value: float  # what is maximised


def maximisation(X: np.ndarray, q: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    N = q.sum(axis=0)
    m = q.T @ X / N[:, None]
    d = X[:, None, :] - m  # (n, k, p)
    return N / N.sum(), m, np.einsum("nk,nki,nkj->kij", q, d, d) / N[:, None, None]


def rounds(X: np.ndarray, y: np.ndarray, tol: float = 1e-10) -> Iterator[State]:
    """The fit to the labelled rows, then the parameters after each round."""
    known = y >= 0
    certain = np.eye(y.max() + 1)[y[known]]  # (labelled, k)
    w, m, S = maximisation(X[known], certain)
    before = -np.inf
    while True:
        d = X[:, None, :] - m
        squares = np.einsum("nki,kij,nkj->nk", d, np.linalg.inv(S), d)
        joint = np.log(w) - (squares + np.linalg.slogdet(2 * np.pi * S)[1]) / 2
        log_p = np.logaddexp.reduce(joint, axis=1)
        q = np.exp(joint - log_p[:, None])
        q[known] = certain
        value = log_p[~known].sum() + (joint[known] * certain).sum()
        yield State(w, m, S, q, value)
        if value - before < tol * len(X):
            return
        before = value
        w, m, S = maximisation(X, q)


def semi_supervised_mixture(X: np.ndarray, y: np.ndarray) -> State:
    """Classes 0..k-1; y is -1 where there is no label."""
    *_, last = rounds(X, y)
    return last
