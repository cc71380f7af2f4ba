r"""Sandwich: standard errors of least squares where the noise is not the same everywhere.

Model       y = D b + e,  Cov(e) = W unknown
Solve       b = (D'D)^-1 D'y, hence Cov(b) = (D'D)^-1 D' W D (D'D)^-1: bread, meat, bread
Step        the squared residual of a row stands for its variance: D'WD ~ sum_i e_i^2 d_i d_i'.
            Residuals are too small where a row pulls the line: divide by (1 - h_i)^2 (HC3).
            Rows of one group share their noise: add up e_i d_i inside the group before squaring.
Cost        n p^2.
The fast version also offers HC1 and HC2, and keeps the factor of D'D of the fit.
"""

import numpy as np


def sandwich_errors(X: np.ndarray, y: np.ndarray, groups: np.ndarray | None = None) -> np.ndarray:
    """HC3 standard errors; with ``groups`` (one label per row) those of clusters."""
    D = np.column_stack([np.ones(len(X)), X])
    n, q = D.shape
    bread = np.linalg.inv(D.T @ D)
    e = y - D @ bread @ D.T @ y
    if groups is None:
        h = np.einsum("ij,jk,ik->i", D, bread, D)  # leverages
        scores, correction = D * (e / (1 - h))[:, None], 1.0
    else:
        labels = np.unique(groups)
        scores = np.array([D[groups == g].T @ e[groups == g] for g in labels])
        correction = len(labels) / (len(labels) - 1) * (n - 1) / (n - q)
    return np.sqrt(correction * np.diag(bread @ scores.T @ scores @ bread))
