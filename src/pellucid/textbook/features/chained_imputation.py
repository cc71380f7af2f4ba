r"""Chained imputation: every column is predicted from the others, in turn.

Given       rows with gaps
Step        fill the gaps with the means of their columns. Then, column by column, fit a regression
            of the column on all others with the rows that have it, and put its predictions into
            its gaps; the next column sees them. Go round until nothing moves: then every filled
            cell is what the rest of its row says. For normal columns the fixed point is nearly the
            maximum-likelihood answer, whose EM algorithm does all columns at once.
Cost        p regressions for each round.
The fast version shrinks its regressions, can draw from their errors, and keeps them for new rows.
"""

import numpy as np


def chained_imputation(X: np.ndarray, rounds: int) -> np.ndarray:
    """X with every NaN filled; columns with few gaps first."""
    gaps = np.isnan(X)
    Z = np.where(gaps, np.nanmean(X, axis=0), X)
    for _ in range(rounds):
        for j in np.argsort(gaps.mean(axis=0), kind="stable"):
            A = np.column_stack([np.ones(len(Z)), np.delete(Z, j, axis=1)])
            w = np.linalg.lstsq(A[~gaps[:, j]], Z[~gaps[:, j], j])[0]
            Z[gaps[:, j], j] = A[gaps[:, j]] @ w
    return Z
