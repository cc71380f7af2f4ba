r"""Linear separability: is there a plane with the classes on its two sides?

Solve       find (b, w): y_i (b + w'x_i) >= 1 for all rows, y = -1 or +1
Step        a plane with all y f > 0 can be scaled to y f >= 1, so the question is whether linear
            inequalities have a solution: a linear programme. Its variables: one slack per row,
            max sum over rows of t_i with 0 <= t_i <= 1 and y_i f(x_i) >= t_i. All t = 1: separable;
            some t > 0: rows on the plane at best (quasi); all 0: the classes overlap.
Cost        that of the programme.
The fast version solves it on a few rows that decide, and for more than two classes.
"""

import numpy as np
from scipy.optimize import linprog


def linear_separability(X: np.ndarray, y: np.ndarray) -> str:
    """ "separable", "quasi" or "overlapping"."""
    n, p = X.shape
    D = y[:, None] * np.column_stack([np.ones(n), X])
    cost = np.concatenate([np.zeros(p + 1), -np.ones(n)])
    A = np.hstack([-D, np.eye(n)])  # t - y f <= 0
    bounds = [(None, None)] * (p + 1) + [(0, 1)] * n
    t = linprog(cost, A_ub=A, b_ub=np.zeros(n), bounds=bounds, method="highs").x[p + 1 :]
    if t.min() > 0.5:  # scaling a plane makes a positive t equal to 1
        return "separable"
    return "quasi" if t.max() > 0.5 else "overlapping"
