r"""RANSAC: fit a few rows drawn at random, count who agrees, and keep the fit most agree with.

Model       y = b + x'w + e for the inliers; the others may be anything
Maximise    the number of rows with |y - b - x'w| <= threshold
Step        p + 1 rows decide a plane; if all are inliers, the other inliers lie near it.
            With a share s of inliers a set is clean with probability s^(p+1), so
            log(1 - 0.99)/log(1 - s^(p+1)) sets contain a clean one with probability 0.99.
            In the end all inliers of the best set are fitted together.
Cost        n p per set.
The fast version solves many sets at once, takes any regressor, and counts weights as repetitions.
"""

from typing import NamedTuple

import numpy as np


class Fit(NamedTuple):
    theta: np.ndarray  # (b, w)
    inliers: np.ndarray  # (n,) bool
    trials: int


def ransac(
    X: np.ndarray, y: np.ndarray, sets: list[np.ndarray], threshold: float, sure: float = 0.99
) -> Fit:
    """``sets``: rows of each trial, p + 1 of them, drawn beforehand."""
    D = np.column_stack([np.ones(len(X)), X])
    best, needed, trials = np.zeros(len(X), dtype=bool), np.inf, 0
    for rows in sets:
        trials += 1
        theta = np.linalg.lstsq(D[rows], y[rows], rcond=None)[0]
        inliers = np.abs(y - D @ theta) <= threshold
        if inliers.sum() > best.sum():
            best = inliers
            clean = inliers.mean() ** D.shape[1]
            needed = np.log(1 - sure) / np.log(1 - clean) if clean < 1 else 1
        if trials >= needed:
            break
    return Fit(np.linalg.lstsq(D[best], y[best], rcond=None)[0], best, trials)
