r"""Bias and variance: why a method errs.

Given       predictions f_b(x_i) of models built on B training sets, the truth t_i
Solve       mean (f_b - t)^2 = bias^2 + variance, at every x; noise adds to both
Step        with m the mean of f_b: (f_b - t)^2 = (m - t)^2 + (f_b - m)^2 + 2 (m - t)(f_b - m), and
            the last term has mean 0 over b. For labels: the main prediction is the mode, bias
            whether it is wrong, variance how often a model departs from it.
Cost        B fits.
The fast version draws the training sets and builds the whole model on each.
"""

from typing import NamedTuple

import numpy as np


class Parts(NamedTuple):
    bias2: float
    variance: float
    total: float


def bias_variance(F: np.ndarray, t: np.ndarray) -> Parts:
    """Squared loss, from predictions (B, n) and the truth (n,)."""
    m = F.mean(axis=0)
    parts = ((m - t) ** 2).mean(), ((F - m) ** 2).mean()
    return Parts(float(parts[0]), float(parts[1]), float(((F - t) ** 2).mean()))


def zero_one(F: np.ndarray, y: np.ndarray) -> Parts:
    """Labels 0, ..., K - 1; the lowest label wins an even vote."""
    main = np.array([np.bincount(column).argmax() for column in F.T])
    return Parts(float((main != y).mean()), float((main != F).mean()), float((y != F).mean()))
