"""Sweeps that put numbers into bins."""

import numpy as np

from pellucid.core.runtime.jit import jit

FEW = 32  # edges that are counted one after the other; more are searched


@jit
def bin_rows(X, edges, starts, begin, end, codes):
    """codes_ji = the number of edges of column j that are <= x_ij."""
    for j in range(X.shape[1]):
        low, high = starts[j], starts[j + 1]
        if high - low <= FEW:
            for i in range(begin, end):
                x = X[i, j]
                k = 0
                for e in range(low, high):
                    k += edges[e] <= x
                codes[j, i] = k
        else:
            for i in range(begin, end):
                codes[j, i] = np.searchsorted(edges[low:high], X[i, j], side="right")
