r"""Condensed nearest neighbours: keep only the rows that are needed.

Solve       a subset by whose nearest neighbour every training row gets its own label
Step        start with the first row of each class; go through the data and keep every row that the
            kept ones misclassify; repeat until a pass keeps nothing new. Every row is kept at most
            once, so it ends; then all rows are right (unless equal rows differ in their label).
Cost        n p per kept row.
The fast version updates the nearest kept rows instead of searching them again.
"""

from collections.abc import Iterator

import numpy as np


def kept_rows(X: np.ndarray, y: np.ndarray) -> Iterator[list[int]]:
    """The rows kept so far, after every addition."""
    kept = [int(np.flatnonzero(y == c)[0]) for c in np.unique(y)]
    yield list(kept)
    added = True
    while added:
        added = False
        for i in range(len(X)):
            order = sorted(kept)  # the lower row number wins at equal distance
            nearest = order[int(((X[order] - X[i]) ** 2).sum(axis=1).argmin())]
            if y[nearest] != y[i] and i not in kept:
                kept.append(i)
                added = True
                yield list(kept)


def condensed_neighbours(X: np.ndarray, y: np.ndarray) -> list[int]:
    """The rows to keep, in the order in which they were found."""
    *_, last = kept_rows(X, y)
    return last
