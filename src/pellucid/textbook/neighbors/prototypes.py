r"""Prototypes: one representative per class.

Minimise    in every class: sum of squared distances (its mean), or sum of distances to one of its
            own rows (its medoid)
Step        the mean solves the first; the second is tried row by row. A new row gets the class
            of the nearest one: with means the boundaries are the planes half-way between them.
Cost        n p for means, n^2 p for medoids.
The fast version can keep several per class (k-means inside each).
"""

import numpy as np


def prototypes(X: np.ndarray, y: np.ndarray, medoid: bool = False) -> np.ndarray:
    """One row per class, (K, p)."""
    found = []
    for c in np.unique(y):
        rows = X[y == c]
        if medoid:
            d = np.sqrt(((rows[:, None, :] - rows[None, :, :]) ** 2).sum(axis=2))
            found.append(rows[d.sum(axis=0).argmin()])
        else:
            found.append(rows.mean(axis=0))
    return np.array(found)


def classify(P: np.ndarray, X: np.ndarray) -> np.ndarray:
    """Position of the nearest prototype."""
    return np.asarray(((X[:, None, :] - P[None, :, :]) ** 2).sum(axis=2).argmin(axis=1))
