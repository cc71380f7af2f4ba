r"""Density outliers: the rows where a fitted density is lowest.

Model       x ~ N(m, S) with the mean and the 1/n covariance of the rows
Solve       score(x) = log N(x; m, S); a row is odd if its score is below the c-quantile of the
            scores of the training rows, c the share of odd rows one is ready to accept.
Step        maximum likelihood is the mean and the mean outer product; log N falls with Mahalanobis'
            squared distance (x - m)'S^-1(x - m), so the odd rows lie outside an ellipsoid.
Cost        n p^2 + p^3.
The fast version takes any density: a mixture, probabilistic components, a network.
"""

from typing import NamedTuple

import numpy as np


class Outliers(NamedTuple):
    score: np.ndarray  # (n,) log density of the training rows
    offset: float  # below it a row is odd
    odd: np.ndarray  # (n,) bool


def density_outlier(X: np.ndarray, share: float = 0.1) -> Outliers:
    d = X - X.mean(axis=0)
    S = d.T @ d / len(X)
    squares = (d * np.linalg.solve(S, d.T).T).sum(axis=1)
    score = -(squares + np.linalg.slogdet(2 * np.pi * S)[1]) / 2
    offset = float(np.quantile(score, share))
    return Outliers(score, offset, score < offset)
