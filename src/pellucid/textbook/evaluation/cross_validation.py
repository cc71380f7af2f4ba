r"""Cross-validation: every row is predicted by a model that has not seen it.

Given       a learner, a loss, k folds of the rows
Solve       for every fold: fit on the others, mean loss on it; then the mean over the folds
Step        the loss on training rows is too small, because the model was chosen for them; rows kept
            aside are as new. The mean of k fold losses has variance about s^2 / k, s^2 that
            of the folds (divisor k - 1). The training sets overlap, so this is too small;
            1/k + n_test/n_train in the place of 1/k corrects for it (Nadeau and Bengio).
Cost        k fits.
The fast version fits the folds in parallel, with splitters for classes, groups and time.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

Predictor = Callable[[np.ndarray], np.ndarray]
Learner = Callable[[np.ndarray, np.ndarray], Predictor]
Loss = Callable[[np.ndarray, np.ndarray], float]


class Scores(NamedTuple):
    folds: np.ndarray  # (k,) mean loss of each fold
    mean: float
    standard_error: float
    corrected: float  # standard error, corrected for overlapping training sets
    predictions: np.ndarray  # (n,) each by the model without its fold


def squared_loss(y: np.ndarray, f: np.ndarray) -> float:
    return float(((y - f) ** 2).mean())


def cross_validation(
    learn: Learner, X: np.ndarray, y: np.ndarray, k: int = 5, loss: Loss = squared_loss
) -> Scores:
    """Folds of neighbouring rows."""
    said, losses = np.zeros(len(y)), []
    for out in np.array_split(np.arange(len(y)), k):
        kept = np.setdiff1d(np.arange(len(y)), out)
        said[out] = learn(X[kept], y[kept])(X[out])
        losses.append(loss(y[out], said[out]))
    s = np.std(losses, ddof=1)
    ratio = 1 / (k - 1)  # n_test / n_train
    folds = np.array(losses)
    return Scores(folds, folds.mean(), s / np.sqrt(k), s * np.sqrt(1 / k + ratio), said)
