"""Weighted quantiles of the training targets that share leaves with a row."""

import numpy as np

from pellucid.core.runtime.jit import jit
from pellucid.core.runtime.simd import trailing_zeros


@jit
def leaf_quantiles(leaves, first, last, start, begin, size, place, counts, values, quantiles, out):
    """out[i] = the lowest values whose weights up to there reach the quantiles.

    leaves (T, n), negative where a tree does not count; no tree at all: NaN. The leaf at node k
    holds the entries begin[k]..begin[k] + size[k] - 1 of ``place`` (the rank of the target) and
    ``counts``; ``values`` are the sorted targets.
    """
    n = len(values)
    weight, marks = np.zeros(n), np.zeros((n + 63) // 64, np.uint64)
    for i in range(first, last):
        top = 0.0
        for t in range(len(start) - 1):
            if leaves[t, i] < 0:
                continue
            top += 1.0
            node = start[t] + leaves[t, i]
            a, b = begin[node], begin[node] + size[node]
            total = 0.0
            for k in range(a, b):
                total += counts[k]
            for k in range(a, b):
                r = place[k]
                weight[r] += counts[k] / total
                marks[r >> 6] |= np.uint64(1) << np.uint64(r & 63)
        total, q = 0.0, 0
        value = np.nan
        for word in range(len(marks)):
            bits = marks[word]
            while bits != np.uint64(0):
                r = np.int64(trailing_zeros(bits)) + (word << 6)
                bits &= bits - np.uint64(1)
                total += weight[r]
                weight[r] = 0.0
                value = values[r]
                while q < len(quantiles) and total >= quantiles[q] * top * (1 - 1e-12):
                    out[i, q] = value
                    q += 1
            marks[word] = np.uint64(0)
        while q < len(quantiles):
            out[i, q] = value
            q += 1
