r"""Dantzig selector: the smallest coefficients whose residual no column explains.

Minimise    |w|_1 subject to |x_j'(y - X w)| / n <= alpha for every column (X, y centred)
Step        the lasso's minimum satisfies these bounds with equality where w_j is not 0;
            here they are the whole definition. With w = u - v, u, v >= 0,
            objective and bounds are linear: a linear programme.
Cost        that of the programme, in 2 p variables.
The fast version solves the same programme, for several targets and from a file too.
"""

from typing import NamedTuple

import numpy as np
from scipy.optimize import linprog


class Fit(NamedTuple):
    b: float
    w: np.ndarray


def dantzig_selector(X: np.ndarray, y: np.ndarray, alpha: float = 1.0) -> Fit:
    """A minimiser."""
    n, p = X.shape
    Xc, yc = X - X.mean(axis=0), y - y.mean()
    G, g = Xc.T @ Xc / n, Xc.T @ yc / n  # |g - G w| <= alpha
    A = np.block([[G, -G], [-G, G]])
    bound = np.concatenate([g + alpha, alpha - g])
    z = linprog(np.ones(2 * p), A_ub=A, b_ub=bound, bounds=(0, None), method="highs").x
    w = z[:p] - z[p:]
    return Fit(y.mean() - X.mean(axis=0) @ w, w)
