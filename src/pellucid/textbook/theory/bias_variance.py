r"""Bias and variance: why a model errs.

Given       predictions P[b, i] of models b trained on different samples, the truth f(x_i)
Solve       E (y - prediction)^2 = bias^2 + variance + noise at each point
Step        with m the mean prediction, y - p = (y - f) + (f - m) + (m - p); the three parts are
            uncorrelated, so their mean squares add up: noise, bias^2 = (f - m)^2, variance = E (p -
            m)^2. A stiff model has bias, a supple one variance; no model can touch the noise.
Cost        one pass over the predictions.
The fast version trains the models itself, and knows 0/1 loss.
"""

from typing import NamedTuple

import numpy as np


class Parts(NamedTuple):
    bias2: float
    variance: float
    noise: float
    total: float


def bias_variance(P: np.ndarray, truth: np.ndarray, y: np.ndarray) -> Parts:
    """Means over the points; P (models, points), y (observations, points)."""
    m = P.mean(axis=0)
    bias2, variance = ((truth - m) ** 2).mean(), ((P - m) ** 2).mean()
    noise = ((y - truth) ** 2).mean()
    return Parts(float(bias2), float(variance), float(noise), float(bias2 + variance + noise))
