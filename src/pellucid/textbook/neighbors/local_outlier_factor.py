r"""Local outlier factor: is a row in a thinner place than its neighbours?

Given       N(a), the k nearest other rows of a
Solve       reach(a, b) = max(d(a, b), distance of b to its own k-th neighbour)
            density(a) = 1 / mean of reach(a, b) over N(a)
            LOF(a) = mean of density(b) over N(a) / density(a)
Step        a plain distance calls every row of a loose cluster an outlier; a ratio of densities
            asks each row to be as close as its surroundings are. Near 1 inside, above 1 outside.
Cost        n^2 p, or a search.
The fast version searches a tree and scores new rows too.
"""

import numpy as np


def local_outlier_factor(X: np.ndarray, k: int) -> np.ndarray:
    """LOF of every row."""
    d = np.sqrt(((X[:, None, :] - X[None, :, :]) ** 2).sum(axis=2))
    np.fill_diagonal(d, np.inf)
    N = np.argsort(d, axis=1, kind="stable")[:, :k]
    near = np.take_along_axis(d, N, axis=1)  # (n, k)
    reach = np.maximum(near, near[:, -1][N])
    density = 1 / (reach.mean(axis=1) + 1e-10)  # finite for repeated rows
    return np.asarray(density[N].mean(axis=1) / density)
