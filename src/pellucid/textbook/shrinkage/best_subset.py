r"""Best subset: the best few columns, by trying all choices.

Minimise    for every size k: RSS of least squares over all subsets of k columns;
            then the size by BIC = n ln(RSS / n) + (k + 1) ln n
Step        RSS falls with every column, so it cannot choose the size; the criterion adds what a
            useless column would gain by chance. The best sets need not be nested.
Cost        2^p fits.
The fast version cuts branches whose RSS cannot beat the best known set of a size; exact to p = 40.
"""

from itertools import combinations
from typing import NamedTuple

import numpy as np


class Subset(NamedTuple):
    columns: tuple[int, ...]
    rss: float
    bic: float


def residual_squares(X: np.ndarray, y: np.ndarray, columns: tuple[int, ...]) -> float:
    D = np.column_stack([np.ones(len(y)), X[:, columns]])
    r = y - D @ np.linalg.lstsq(D, y, rcond=None)[0]
    return float(r @ r)


def best_of_each_size(X: np.ndarray, y: np.ndarray) -> list[Subset]:
    """By size, from no column to all of them."""
    n, p = X.shape
    found = []
    for k in range(p + 1):
        rss, columns = min((residual_squares(X, y, c), c) for c in combinations(range(p), k))
        found.append(Subset(columns, rss, n * np.log(rss / n) + (k + 1) * np.log(n)))
    return found


def best_subset(X: np.ndarray, y: np.ndarray) -> Subset:
    """The one that BIC prefers."""
    return min(best_of_each_size(X, y), key=lambda subset: subset.bic)
