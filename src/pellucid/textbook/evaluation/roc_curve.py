r"""ROC curve: every threshold of a score at once.

Given       scores s_i, y_i = 0 or 1; say 1 if s >= t
Solve       for every t the shares of true and of false ones found; the area below the curve;
            precision against recall, and its average
Step        lowering t past the rows in falling order moves one up for a true row, one right for a
            false one. The area counts the pairs (true, false) in the right order, ties half: it is
            the chance that a true row scores above a false one, and does not depend on how
            rare they are. Average precision: the precision at each true row found, averaged.
Cost        n log n to sort.
The fast version gives costs and all rates from the same sort.
"""

from typing import NamedTuple

import numpy as np


class Curve(NamedTuple):
    thresholds: np.ndarray  # distinct scores, falling
    true_rate: np.ndarray
    false_rate: np.ndarray
    area: float
    average_precision: float


def roc_curve(s: np.ndarray, y: np.ndarray) -> Curve:
    t = np.unique(s)[::-1]
    tp = np.array([((s >= c) & (y == 1)).sum() for c in t])
    fp = np.array([((s >= c) & (y == 0)).sum() for c in t])
    gap = s[y == 1][:, None] - s[y == 0][None, :]
    area = ((gap > 0) + (gap == 0) / 2).mean()
    recall, precision = tp / tp[-1], tp / (tp + fp)
    steps = np.diff(recall, prepend=0.0)
    return Curve(t, recall, fp / fp[-1], float(area), float(steps @ precision))
