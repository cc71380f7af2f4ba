r"""Gower's distance: rows of numbers and categories, with gaps.

Given       columns of numbers (NaN missing) and of categories (-1 missing)
Solve       d(a, b) = mean over the columns that both rows have of
            |a_j - b_j| / range_j for a number, [a_j != b_j] for a category
Step        every column speaks between 0 and 1, so that none drowns the others; a gap leaves a
            column out of the mean for that pair only.
Cost        p per pair.
The fast version takes frames and weights, and is compiled.
"""

import numpy as np


def gower_distance(numbers: np.ndarray, categories: np.ndarray) -> np.ndarray:
    """All pairs of rows, (n, n); the ranges are those of these rows."""
    span = np.nanmax(numbers, axis=0) - np.nanmin(numbers, axis=0)
    far = np.abs(numbers[:, None, :] - numbers[None, :, :]) / span  # (n, n, p), NaN for a gap
    differ = (categories[:, None, :] != categories[None, :, :]).astype(float)
    gap = (categories < 0)[:, None, :] | (categories < 0)[None, :, :]
    parts = np.concatenate([far, np.where(gap, np.nan, differ)], axis=2)
    return np.nanmean(parts, axis=2)
