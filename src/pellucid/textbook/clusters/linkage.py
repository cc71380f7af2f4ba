r"""Linkage, or agglomerative clustering: merge the two nearest groups until one is left.

Distance    of groups: single = nearest pair, complete = farthest pair, average = mean of all pairs,
            weighted = mean of the distances of the two parts, centroid = of the means, median = of
            midpoints, ward = root of twice the rise of the sum of squares that a merge causes
Step        merge a and b, then the distance of the new group to any other group c follows from the
            three old ones (Lance & Williams, 1967), for squares in the last three linkages:
            d(ab, c) = al d(a, c) + be d(b, c) + ga d(a, b) + de |d(a, c) - d(b, c)|
Cost        n^3 as written here.
The fast version needs n^2: a spanning tree for single, chains of neighbours for most others.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np


class Merge(NamedTuple):
    first: int  # rows are 0..n-1, the group made by merge t is n + t
    second: int
    height: float
    size: int


def weights(linkage: str, a: int, b: int, c: int) -> tuple[float, float, float, float]:
    """Lance and Williams' al, be, ga, de for groups of a, b and c rows."""
    n, m = a + b, a + b + c
    return {
        "single": (1 / 2, 1 / 2, 0.0, -1 / 2),
        "complete": (1 / 2, 1 / 2, 0.0, 1 / 2),
        "average": (a / n, b / n, 0.0, 0.0),
        "weighted": (1 / 2, 1 / 2, 0.0, 0.0),
        "centroid": (a / n, b / n, -a * b / n**2, 0.0),
        "median": (1 / 2, 1 / 2, -1 / 4, 0.0),
        "ward": ((a + c) / m, (b + c) / m, -c / m, 0.0),
    }[linkage]


def merges(X: np.ndarray, linkage: str = "average") -> Iterator[Merge]:
    """The n - 1 merges, nearest groups first."""
    power = 2 if linkage in ("centroid", "median", "ward") else 1
    d = np.linalg.norm(X[:, None, :] - X[None, :, :], axis=2) ** power
    np.fill_diagonal(d, np.inf)
    number, size = list(range(len(X))), [1] * len(X)
    for t in range(len(X) - 1):
        a, b = sorted(np.unravel_index(d.argmin(), d.shape))  # places of the two nearest groups
        first, second = sorted((number[a], number[b]))
        yield Merge(first, second, d[a, b] ** (1 / power), size[a] + size[b])
        for c in range(len(number)):
            if c not in (a, b):
                al, be, ga, de = weights(linkage, size[a], size[b], size[c])
                new = al * d[a, c] + be * d[b, c] + ga * d[a, b] + de * abs(d[a, c] - d[b, c])
                d[a, c] = d[c, a] = new
        d = np.delete(np.delete(d, b, axis=0), b, axis=1)
        number[a], size[a] = len(X) + t, size[a] + size[b]
        del number[b], size[b]


def linkage(X: np.ndarray, linkage: str = "average") -> np.ndarray:
    """The tree as a table (first, second, height, size), one row per merge: SciPy's layout."""
    return np.array(list(merges(X, linkage)), dtype=float)


def cut(tree: np.ndarray, k: int) -> np.ndarray:
    """Labels of the k groups that are there before the last k - 1 merges, by first row."""
    n = len(tree) + 1
    group = [{i} for i in range(n)]
    for first, second in tree[: n - k, :2].astype(int):
        group.append(group[first] | group[second])
        group[first] = group[second] = set()
    labels = np.empty(n, dtype=int)
    for label, rows in enumerate(sorted((g for g in group if g), key=min)):
        labels[list(rows)] = label
    return labels
