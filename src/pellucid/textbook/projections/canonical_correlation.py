r"""Canonical correlations: the directions of two tables whose scores go together most.

Maximise    corr(X g, Y h), then again among scores uncorrelated with those found
Step        X = U R, Y = W S (QR of the centred tables): any scores are U a and W b, and with
            |a| = |b| = 1 their correlation is a'U'W b. The largest a'M b over unit vectors is the
            largest singular value of M = U'W; the next singular vectors are orthogonal to it, so
            their scores are uncorrelated. g = R^-1 a, h = S^-1 b
Cost        n (p + q)^2.
The fast version reads the rows once, bears dependent columns, tests the correlations, and scales
the directions as scikit-learn does.
"""

from typing import NamedTuple

import numpy as np


class Pairs(NamedTuple):
    rho: np.ndarray  # (r,) correlations, falling
    G: np.ndarray  # (p, r) of X
    H: np.ndarray  # (q, r) of Y; all scores have length 1


def canonical_correlation(X: np.ndarray, Y: np.ndarray) -> Pairs:
    """All pairs of two tables with independent columns."""
    U, R = np.linalg.qr(X - X.mean(axis=0))
    W, S = np.linalg.qr(Y - Y.mean(axis=0))
    A, rho, Bt = np.linalg.svd(U.T @ W, full_matrices=False)
    return Pairs(rho, np.linalg.solve(R, A), np.linalg.solve(S, Bt.T))
