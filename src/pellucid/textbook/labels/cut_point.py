r"""Cut-point: where to cut a score so that the training rows cost least.

Given       scores s_i, classes y_i = 0 or 1; say 1 if s >= t
Minimise    C(t) = sum of L[y_i, 1] over s_i >= t + sum of L[y_i, 0] over s_i < t
Step        C changes only when t passes a score: try the middle between neighbouring scores, and
            the two ends. Raising t past row i adds L[y_i, 0] - L[y_i, 1].
Cost        n log n to sort.
The fast version keeps the whole curve, and breaks ties towards the classifier's own cut.
"""

from typing import NamedTuple

import numpy as np


class Cut(NamedTuple):
    thresholds: np.ndarray
    costs: np.ndarray
    best: float  # the least cost


def cut_point(s: np.ndarray, y: np.ndarray, L: np.ndarray) -> Cut:
    """The cost of every cut; ``thresholds[costs == best]`` are equally good."""
    values = np.unique(s)
    thresholds = np.concatenate([[-np.inf], (values[:-1] + values[1:]) / 2, [np.inf]])
    costs = [L[y, (s >= t).astype(int)].sum() for t in thresholds]
    return Cut(thresholds, np.array(costs), float(np.min(costs)))
