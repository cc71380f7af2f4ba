r"""Automatic relevance determination: one prior variance per column, found from the data.

Model       y = b + X w + e,  e ~ N(0, 1 / a),  w_j ~ N(0, 1 / k_j)
Maximise    p(y | a, k), the likelihood with w integrated out
Step        given a and k, w has covariance S = (diag(k) + a Xc'Xc)^-1 and mean m = a S Xc'yc.
            g_j = 1 - k_j S_jj says how far the data decide w_j; k_j = g_j / m_j^2,
            a = (n - sum g) / RSS. Columns that explain nothing get k_j -> infinity: drop them.
Cost        q^3 per step for q columns that are left.
The fast version factors the smaller of columns and rows, and keeps scikit-learn's numbers.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np


class State(NamedTuple):
    w: np.ndarray
    a: float
    k: np.ndarray  # (p,), infinite for a column that was dropped


def steps(X: np.ndarray, y: np.ndarray, prior: float, largest: float) -> Iterator[State]:
    """Posterior mean, then precisions, until they stay."""
    n, p = X.shape
    Xc, yc = X - X.mean(axis=0), y - y.mean()
    a, k, last = 1 / y.var(), np.ones(p), np.full(p, np.inf)
    while True:
        kept = k < largest
        A = Xc[:, kept]
        S = np.linalg.inv(np.diag(k[kept]) + a * A.T @ A)
        m = np.zeros(p)
        m[kept] = a * S @ A.T @ yc
        yield State(m, a, np.where(kept, k, np.inf))
        if np.abs(m - last).max() <= 1e-13 * np.abs(m).max():
            return
        last, g = m, 1 - k[kept] * np.diag(S)
        k[kept] = (g + 2 * prior) / (m[kept] ** 2 + 2 * prior)
        a = (n - g.sum() + 2 * prior) / (((yc - Xc @ m) ** 2).sum() + 2 * prior)


def automatic_relevance(
    X: np.ndarray, y: np.ndarray, prior: float = 1e-6, largest: float = 1e4
) -> State:
    """Where the evidence is stationary."""
    *_, last = steps(X, y, prior, largest)
    return last
