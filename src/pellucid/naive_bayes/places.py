"""The place of every cell of a matrix of numbers among the values of its column."""

import numpy as np

from pellucid.core.arrays.typing import Array, IntArray
from pellucid.core.loops.statistics import LEAF_ROWS
from pellucid.core.runtime.jit import jit
from pellucid.core.runtime.threads import map_threads


@jit
def place_numbers(X, columns, values, starts, unseen):
    """Put the place of X[i, j] among values[starts_t:starts_t+1] into X[i, j], j = columns_t.

    A cell that is not there becomes NaN, and ``unseen[t]`` one such value unless it was NaN.
    """
    for i in range(len(X)):
        for t in range(len(columns)):
            x = X[i, columns[t]]
            low, high = starts[t], starts[t + 1]
            while low < high:  # the first value >= x
                middle = (low + high) // 2
                if values[middle] < x:
                    low = middle + 1
                else:
                    high = middle
            if low < starts[t + 1] and values[low] == x:
                X[i, columns[t]] = low - starts[t]
            else:
                if x == x:
                    unseen[t] = x
                X[i, columns[t]] = np.nan


def places(X: Array, columns: list[int], known: list[Array]) -> tuple[Array, Array]:
    """A copy of X with places in ``columns``; and for each of them an unknown value, or NaN.

    >>> out, unseen = places(np.array([[5.0], [7.0]]), [0], [np.array([3.0, 5.0])])
    >>> out.ravel(), unseen
    (array([ 1., nan]), array([7.]))
    """
    out = np.empty_like(X)
    at: IntArray = np.array(columns, dtype=np.intp)
    values = np.concatenate([np.asarray(v, dtype=np.float64) for v in known])
    starts = np.cumsum([0, *(len(v) for v in known)]).astype(np.intp)

    def leaf(start: int) -> Array:
        rows, unseen = out[start : start + LEAF_ROWS], np.full(len(columns), np.nan)
        rows[:] = X[start : start + LEAF_ROWS]
        place_numbers(rows, at, values, starts, unseen)
        return unseen

    found = np.array(list(map_threads(leaf, range(0, len(X), LEAF_ROWS))))
    first = np.argmin(np.isnan(found), axis=0)  # of the first leaf that has one
    return out, found[first, np.arange(len(columns))]
