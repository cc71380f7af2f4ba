r"""Mini-batch k-means: centres that are means of what they have been given so far.

Minimise    J = sum over rows of |x - nearest centre|^2
Step        draw a few rows; each goes to its nearest centre, and the centre moves to the mean of
            all the rows it was ever given: c <- c + (x - c) / N, with N of them. The steps 1/N
            shrink so slowly that any place can be reached and so fast that centres come to rest,
            which is stochastic descent on J with the best rate for means.
Cost        b k p for a batch of b rows, whatever the number of rows.
The fast version renews centres that hardly get rows, and stops when J does not fall any more.
"""

from collections.abc import Iterable

import numpy as np


def mini_batch_kmeans(C: np.ndarray, batches: Iterable[np.ndarray]) -> np.ndarray:
    """The centres after all batches, from the start C (k, p)."""
    C, N = C.copy(), np.zeros(len(C))
    for X in batches:
        near = ((X[:, None, :] - C[None, :, :]) ** 2).sum(axis=2).argmin(axis=1)
        for x, k in zip(X, near, strict=True):
            N[k] += 1
            C[k] += (x - C[k]) / N[k]
    return C
