"""A radius for mean shift: how far the nearest share of the rows reaches, on average."""

import numpy as np
from sklearn.utils import check_random_state

from pellucid.cluster.density.reachability_tree import core_distances
from pellucid.core.arrays import check
from pellucid.core.arrays.reading import check_array
from pellucid.core.arrays.typing import Array, ArrayLike, Seed

BATCH = 500  # rows that are added up together


def mean_reach(X: Array, quantile: float) -> np.float64:
    """The mean distance of the rows to the last of their nearest ``quantile`` of all rows.

    >>> mean_reach(np.array([[0.0], [1.0], [3.0], [7.0]]), 0.5)
    np.float64(2.0)
    """
    n = len(X)
    reach = np.sqrt(core_distances(X, 2, 2.0, max(int(n * quantile), 1)))
    total = np.float64(0.0)
    for start in range(0, n, BATCH):
        total += reach[start : start + BATCH].sum()
    return total / n


def estimate_bandwidth(
    X: ArrayLike,
    *,
    quantile: float = 0.3,
    n_samples: int | None = None,
    random_state: Seed = 0,
    n_jobs: int | None = None,
) -> np.float64:
    """A bandwidth for ``MeanShift``: the mean distance to the k-th nearest row, k a share of all.

    Parameters
    ----------
    X : array of shape (n, p)
        The rows.
    quantile : float, default=0.3
        k by the number of rows, from 0 to 1; the row itself counts, and k is at least 1.
    n_samples : int, default=None
        Rows drawn to estimate from; None takes all. Time grows with the square of their number.
    random_state : int, RandomState or None, default=0
        Seed of the draw.
    n_jobs : ignored
        For compatibility with scikit-learn.

    Examples
    --------
    >>> from pellucid.cluster import estimate_bandwidth
    >>> X = [[1, 1], [2, 1], [1, 0], [4, 7], [3, 5], [3, 6]]
    >>> float(estimate_bandwidth(X, quantile=0.5).round(2))
    1.62
    """
    check.non_negative(quantile=quantile)
    if quantile > 1:
        raise ValueError(f"quantile must be between 0 and 1, got {quantile!r}")
    check.whole(**check.given(n_samples=n_samples))
    rows = check_array(X, dtype=np.float64, order="C")
    rng = check_random_state(random_state)
    if n_samples is not None:
        rows = rows[rng.permutation(len(rows))[:n_samples]]
    return mean_reach(rows, quantile)
