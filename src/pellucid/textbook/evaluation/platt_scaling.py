r"""Platt's scaling: probabilities from scores by a sigmoid.

Model       P(y = 1 | f) = 1 / (1 + exp(a f + b))
Minimise    the log loss, with targets (n+ + 1)/(n+ + 2) for true and 1/(n- + 2) for false rows
Step        logistic regression of the label on one number, the score. 0 and 1 as targets would
            drive the slope to infinity if the scores separate the rows; Platt's targets are what
            Laplace's rule expects of the next row. Newton in (a, b).
Cost        n per step.
The fast version halves steps that overshoot; the scores come from rows that the model has not seen.
"""

from typing import NamedTuple

import numpy as np


class Curve(NamedTuple):
    a: float
    b: float


def platt_scaling(f: np.ndarray, y: np.ndarray) -> Curve:
    """y holds 0 and 1."""
    up, down = y.sum(), (1 - y).sum()
    target = np.where(y == 1, (up + 1) / (up + 2), 1 / (down + 2))
    D = np.column_stack([f, np.ones(len(f))])
    v = np.array([0.0, np.log((down + 1) / (up + 1))])
    while True:
        p = 1 / (1 + np.exp(D @ v))
        g = D.T @ (target - p)  # of the log loss
        if np.abs(g).max() < 1e-11 * len(f):
            return Curve(float(v[0]), float(v[1]))
        H = D.T @ ((p * (1 - p))[:, None] * D)
        v = v - np.linalg.solve(H, g)
