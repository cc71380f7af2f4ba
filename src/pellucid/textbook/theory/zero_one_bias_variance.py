r"""Bias and variance for zero-one loss: where voting helps and where it hurts.

Given       labels P[b, i] of models b trained on different samples, the true labels y_i
Step        the main prediction is the most frequent label; bias_i = 1 if it is wrong, variance_i =
            share of models that differ from it. If the main one is right, the error is the
            variance; if it is wrong, in two classes, the error is 1 - variance: there disagreement
            helps. So the parts do not add up, and averaging pays for models
            that are mostly right (Domingos, 2000).
Cost        one pass over the labels.
The fast version trains the models itself.
"""

from typing import NamedTuple

import numpy as np


class Parts(NamedTuple):
    bias: float
    variance: float
    error: float


def zero_one_bias_variance(P: np.ndarray, y: np.ndarray) -> Parts:
    """Means over the points; the lowest label on ties."""
    labels = np.unique(P)
    votes = (P[None] == labels[:, None, None]).sum(axis=1)  # (labels, points)
    main = labels[votes.argmax(axis=0)]
    return Parts(float((main != y).mean()), float((main != P).mean()), float((y != P).mean()))
