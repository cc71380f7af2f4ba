r"""Maximum margin: the plane farthest from both classes.

Minimise    |w|^2 / 2 subject to y_i (w'x_i + b) >= 1, y = -1 or +1
Step        the distance of x to the plane is |w'x + b| / |w|; scaled so that the nearest row has
            y f = 1 it is 1 / |w|: the widest margin has the least |w|. Convex with linear
            constraints: at the minimum w = sum_i a_i y_i x_i, a_i >= 0, and a_i > 0 only for
            rows with y f = 1, the support vectors: the others could be moved without effect.
Cost        that of a quadratic programme in p + 1 variables.
The fast version uses an interior-point method on the smaller of primal and dual, to 1e-8.
"""

from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize


class Plane(NamedTuple):
    w: np.ndarray
    b: float
    margin: float  # 1 / |w|


def maximum_margin(X: np.ndarray, y: np.ndarray) -> Plane:
    """The hard margin; the classes must be separable."""
    D = y[:, None] * np.column_stack([X, np.ones(len(X))])  # y f = D v, v = (w, b)
    flat = np.append(np.ones(X.shape[1]), 0.0)
    start = np.linalg.lstsq(D, np.ones(len(X)), rcond=None)[0]
    found = minimize(
        lambda v: (flat * v) @ v / 2,
        start,
        jac=lambda v: flat * v,
        method="SLSQP",
        constraints={"type": "ineq", "fun": lambda v: D @ v - 1, "jac": lambda v: D},
        options={"ftol": 1e-16, "maxiter": 1000},
    )
    w, b = found.x[:-1], float(found.x[-1])
    return Plane(w, b, float(1 / np.linalg.norm(w)))
