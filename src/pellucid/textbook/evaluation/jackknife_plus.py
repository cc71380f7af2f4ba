r"""Jackknife+ (plus): intervals that cover, with every row used for both fitting and judging.

Given       f_-i fitted without row i, R_i = |y_i - f_-i(x_i)|, a = 1 - confidence
Solve       [the floor(a (n + 1))-th smallest of f_-i(x) - R_i,
             the ceil((1 - a) (n + 1))-th smallest of f_-i(x) + R_i]
Step        compare the new row with row i on equal terms: both predicted by a model that saw
            neither. Few rows can be farther out than most others in such a tournament: at least 1 -
            2a is covered, about 1 - a in practice (Barber et al.). With folds in the place of rows:
            cv+.
Cost        n fits.
The fast version needs no refit for least squares and ridge: f_-i(x) = f(x) - h(x, x_i) r_i / (1 -
h_ii).
"""

from collections.abc import Callable

import numpy as np

Predictor = Callable[[np.ndarray], np.ndarray]
Learner = Callable[[np.ndarray, np.ndarray], Predictor]


def jackknife_plus(
    learn: Learner, X: np.ndarray, y: np.ndarray, Q: np.ndarray, confidence: float = 0.95
) -> np.ndarray:
    """Intervals (m, 2) for the rows of Q."""
    n = len(y)
    low, high = [], []
    for i in range(n):
        f = learn(np.delete(X, i, axis=0), np.delete(y, i))
        R = abs(y[i] - f(X[i : i + 1])[0])
        low.append(f(Q) - R)
        high.append(f(Q) + R)
    down = int(np.floor((1 - confidence) * (n + 1) + 1e-9))
    up = int(np.ceil(confidence * (n + 1) - 1e-9))
    return np.column_stack([np.sort(low, axis=0)[down - 1], np.sort(high, axis=0)[up - 1]])
