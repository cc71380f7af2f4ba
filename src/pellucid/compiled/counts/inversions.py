"""Inversions of a sequence by merging: how many pairs stand in the wrong order."""

import numpy as np

from pellucid.core.runtime.jit import jit


@jit
def inversions(values):
    """Pairs i < j with values[i] > values[j]; O(n log n). ``values`` is left sorted."""
    n = len(values)
    other = np.empty_like(values)
    count = np.int64(0)
    width = 1
    while width < n:
        for start in range(0, n, 2 * width):
            middle, end = min(start + width, n), min(start + 2 * width, n)
            i, j = start, middle
            for k in range(start, end):
                if i < middle and (j >= end or values[i] <= values[j]):
                    other[k] = values[i]
                    i += 1
                else:
                    other[k] = values[j]
                    count += middle - i
                    j += 1
        values[:] = other
        width *= 2
    return count
