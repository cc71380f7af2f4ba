r"""Theil-Sen: the median of the planes through all small sets of rows.

Model       y = b + x'w + e, some rows wrong altogether
Solve       theta_s = the plane through the rows of set s (p + 1 rows), for every set
Minimise    over t: sum_s |theta_s - t|, the spatial median: one bad row spoils only the sets it
            is in, and a median bears nearly half of bad sets
Step        the derivative is sum_s (t - theta_s)/|t - theta_s|; setting it to 0 gives the mean of
            the theta_s weighted by 1/|t - theta_s| (Weiszfeld), which is repeated
Cost        (number of sets) p^3, then (number of sets) p per step.
The fast version draws sets where there are many, solves them in one call, and takes Newton steps.
"""

from collections.abc import Iterator
from itertools import combinations

import numpy as np


def planes(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """(b, w) through every set of p + 1 rows: (sets, p + 1)."""
    D = np.column_stack([np.ones(len(X)), X])
    sets = [list(s) for s in combinations(range(len(X)), D.shape[1])]
    return np.array([np.linalg.lstsq(D[s], y[s], rcond=None)[0] for s in sets])


def theil_sen(X: np.ndarray, y: np.ndarray, steps: int = 500) -> Iterator[np.ndarray]:
    """(b, w) after each step to the spatial median."""
    P = planes(X, y)
    t = P.mean(axis=0)
    for _ in range(steps):
        weight = 1 / np.linalg.norm(P - t, axis=1)
        t = weight @ P / weight.sum()
        yield t
