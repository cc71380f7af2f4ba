r"""Ridge with its penalty chosen by leave-one-out, from one decomposition.

Minimise    over alpha: mean_i (y_i - fit without row i at x_i)^2
Step        ridge is linear in y: yhat = H y. The fit without row i is the fit with y_i moved to
            that fit's prediction: its error is (y_i - yhat_i) / (1 - H_ii), no row is left out.
            Xc = U diag(d) V' gives H = 1/n + U diag(d^2 / (d^2 + alpha)) U' for every alpha.
            The sum of these factors, plus 1, is the number of effective parameters.
Cost        n p^2 once, then n p per alpha.
The fast version also does generalised cross-validation, folds and the one-standard-error rule.
"""

from typing import NamedTuple

import numpy as np


class Path(NamedTuple):
    alphas: np.ndarray
    loocv: np.ndarray  # mean squared leave-one-out error
    gcv: np.ndarray  # every H_ii replaced by their mean
    df: np.ndarray  # effective parameters
    best: float


def ridge_leave_one_out(X: np.ndarray, y: np.ndarray, alphas: np.ndarray) -> Path:
    """The leave-one-out error of every alpha, and the best of them."""
    n = len(y)
    U, d, _ = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)
    loocv, gcv, df = [], [], []
    for alpha in alphas:
        factors = d**2 / (d**2 + alpha)
        H = 1 / n + U @ (factors[:, None] * U.T)
        r = y - H @ y
        loocv.append(np.mean((r / (1 - np.diag(H))) ** 2))
        df.append(1 + factors.sum())
        gcv.append(np.mean(r**2) / (1 - df[-1] / n) ** 2)
    best = float(np.asarray(alphas)[np.argmin(loocv)])
    return Path(np.asarray(alphas), np.array(loocv), np.array(gcv), np.array(df), best)
