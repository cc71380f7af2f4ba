r"""Leave-one-out without leaving out, for every fit that is linear in y.

Given       yhat = H y (least squares, ridge, splines, kernel ridge)
Solve       mean_i (y_i - yhat_i without row i)^2
Step        put the prediction v without row i in the place of y_i: the fit without the row fits
            these data too, so H (y with v at i) gives v at i. Hence v = yhat_i + H_ii (v - y_i),
            and y_i - v = (y_i - yhat_i) / (1 - H_ii). With the mean of H_ii for each: generalised
            cross-validation, which is the same for all rotations of the data.
Cost        that of one fit.
The fast version never forms H, only its diagonal.
"""

from typing import NamedTuple

import numpy as np


class Errors(NamedTuple):
    loo: float
    gcv: float


def leave_one_out(H: np.ndarray, y: np.ndarray) -> Errors:
    """Mean squared errors, exact and generalised."""
    r, h = y - H @ y, np.diag(H)
    return Errors(float(((r / (1 - h)) ** 2).mean()), float((r**2).mean() / (1 - h.mean()) ** 2))
