r"""Radius neighbours: answer as all rows within a distance did.

Model       P(y | x) is nearly constant within the radius r
Solve       the rows with |x - x_i| <= r; the majority of their labels, or their mean
Step        the number of rows varies where k neighbours would vary the distance: the bias is the
            same everywhere, the variance is large in thin places, and far from all rows there is
            no answer at all (NaN).
Cost        n p per question.
The fast version prunes the search with a kd-tree and says what to answer where no row is near.
"""

import numpy as np


def radius_neighbours(X: np.ndarray, y: np.ndarray, Q: np.ndarray, r: float) -> np.ndarray:
    """The mean of y within r of every row of Q; of a 0/1 column it is the share of ones."""
    d = np.sqrt(((Q[:, None, :] - X[None, :, :]) ** 2).sum(axis=2))
    near = d <= r  # (m, n)
    count = near.sum(axis=1)
    return np.where(count > 0, near @ y / np.maximum(count, 1), np.nan)
