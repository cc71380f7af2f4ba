r"""Nested cross-validation: the error of a model together with its tuning.

Given       learners with settings 1, ..., M, outer folds, inner folds
Solve       for every outer fold: choose a setting by cross-validation on the OTHER rows, fit it
            there, take its loss on the fold
Step        the least of M estimated losses is too small: it was chosen for its luck. The outer rows
            have had no part in the choice, so their loss is honest; it judges the way of
            choosing, and the settings chosen may differ between folds.
Cost        outer times inner times M fits.
The fast version uses closed-form paths where a model has them.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

Predictor = Callable[[np.ndarray], np.ndarray]
Learner = Callable[[np.ndarray, np.ndarray], Predictor]


class Nested(NamedTuple):
    losses: np.ndarray  # (outer,)
    chosen: list[int]  # the setting of each outer fold


def mean_loss(learn: Learner, X: np.ndarray, y: np.ndarray, k: int) -> float:
    """Squared loss over k folds of neighbouring rows."""
    losses = []
    for out in np.array_split(np.arange(len(y)), k):
        kept = np.setdiff1d(np.arange(len(y)), out)
        losses.append(((y[out] - learn(X[kept], y[kept])(X[out])) ** 2).mean())
    return float(np.mean(losses))


def nested_cross_validation(
    learners: list[Learner], X: np.ndarray, y: np.ndarray, outer: int = 5, inner: int = 5
) -> Nested:
    losses, chosen = [], []
    for out in np.array_split(np.arange(len(y)), outer):
        kept = np.setdiff1d(np.arange(len(y)), out)
        best = int(np.argmin([mean_loss(learn, X[kept], y[kept], inner) for learn in learners]))
        said = learners[best](X[kept], y[kept])(X[out])
        losses.append(((y[out] - said) ** 2).mean())
        chosen.append(best)
    return Nested(np.array(losses), chosen)
