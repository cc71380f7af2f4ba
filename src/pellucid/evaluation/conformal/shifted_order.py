r"""The r-th smallest of several sorted lists, each shifted: no list is merged or copied.

List k holds v_k[0] <= v_k[1] <= ...; wanted is the r-th smallest of all c_k + v_k[j]. The middle of
the longest remaining list is tried as pivot; binary searches count what lies below it and cut every
list on one side.    O(K log n) pivots of O(K log n) steps, against n for a selection

CV+ intervals need two of these for every new row: K predictions shift the residuals of K folds.
"""

import numpy as np

from pellucid.core.arrays.typing import Array, IntArray
from pellucid.core.runtime.jit import jit
from pellucid.core.runtime.threads import map_threads

BLOCK = 256  # new rows per task


@jit
def shifted_order(shifts, values, starts, rank, out):
    """out[i] = the rank-th smallest (from 1) of shifts[i, k] + values[starts[k] : starts[k+1]]."""
    K = len(starts) - 1
    low = np.empty(K, np.int64)
    high = np.empty(K, np.int64)
    below = np.empty(K, np.int64)
    upto = np.empty(K, np.int64)
    for i in range(len(shifts)):
        for k in range(K):
            low[k], high[k] = starts[k], starts[k + 1]
        left = rank  # place of the answer among what remains
        while True:
            longest, room = 0, 0
            for k in range(K):
                if high[k] - low[k] > room:
                    longest, room = k, high[k] - low[k]
            pivot = shifts[i, longest] + values[(low[longest] + high[longest]) // 2]
            less, equal = 0, 0
            for k in range(K):
                a, b = low[k], high[k]
                while a < b:  # the first value that is not below the pivot
                    middle = (a + b) // 2
                    if shifts[i, k] + values[middle] < pivot:
                        a = middle + 1
                    else:
                        b = middle
                below[k] = a
                b = high[k]
                while a < b:  # the first value above the pivot
                    middle = (a + b) // 2
                    if shifts[i, k] + values[middle] <= pivot:
                        a = middle + 1
                    else:
                        b = middle
                upto[k] = a
                less += below[k] - low[k]
                equal += upto[k] - below[k]
            if left <= less:
                for k in range(K):
                    high[k] = below[k]
            elif left <= less + equal:
                out[i] = pivot
                break
            else:
                left -= less + equal
                for k in range(K):
                    low[k] = upto[k]


def shifted_rank(shifts: Array, values: Array, starts: IntArray, rank: int) -> Array:
    """One answer for every row of ``shifts`` (m, K), in threads.

    >>> lists = np.array([0.0, 3.0, 1.0, 2.0])  # (0, 3) and (1, 2)
    >>> shifted_rank(np.array([[0.0, 0.0], [0.0, 5.0]]), lists, np.array([0, 2, 4]), 3)
    array([2., 6.])
    """
    shifts = np.ascontiguousarray(shifts)
    out = np.empty(len(shifts))
    starts = np.ascontiguousarray(starts, dtype=np.int64)

    def block(start: int) -> None:
        part = slice(start, start + BLOCK)
        shifted_order(shifts[part], values, starts, np.int64(rank), out[part])

    list(map_threads(block, range(0, len(shifts), BLOCK)))
    return out
