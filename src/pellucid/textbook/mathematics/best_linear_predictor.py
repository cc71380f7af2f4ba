r"""Best linear predictor: the least expected squared error of a straight line.

Minimise    E (y - a - w.x)^2, given means and covariances of (x, y)
Step        derivative by a: a = E y - w.E x; by w: cov(x) w = cov(x, y). The error left is
            var y - w.cov(x, y). For normal variables it is the conditional mean, the best predictor
            of all; for others the best straight one. Least squares puts
            sample moments in their place.
Cost        p^3.
The fast version takes any of the variables for the target.
"""

import numpy as np


def best_linear_predictor(mean: np.ndarray, S: np.ndarray) -> tuple[np.ndarray, float, float]:
    """w, a and the mean squared error, for the last variable from the others."""
    w = np.linalg.solve(S[:-1, :-1], S[:-1, -1])
    return w, float(mean[-1] - w @ mean[:-1]), float(S[-1, -1] - w @ S[:-1, -1])
