"""Ancestral sampling: every row draws its variables parents first.

The random number of a cell depends on (seed, variable, row) only, so that rows can be drawn by
any number of threads, or again one by one. A table row is the thresholds of its cumulative sums
as 63-bit whole numbers; the state is the number of thresholds that the draw reaches.
"""

import numpy as np

from pellucid.core.runtime.jit import jit
from pellucid.core.runtime.splitmix import GOLDEN, splitmix64

BLOCK = 2048  # rows drawn together, so that their cells stay in the nearest cache


@jit
def draw_rows(out, a, b, order, card, parent_start, parents, start, threshold, seed):
    """Rows a .. b-1 of ``out`` (variables, rows)."""
    index = np.empty(BLOCK, np.int32)
    for r0 in range(a, b, BLOCK):
        m = min(BLOCK, b - r0)
        for v in order:
            k = card[v] - 1
            column = out[v, r0 : r0 + m]
            for i in range(m):
                index[i] = 0
            for z in range(parent_start[v], parent_start[v + 1]):
                p = parents[z]
                radix = np.int32(card[p])
                above = out[p, r0 : r0 + m]
                for i in range(m):
                    index[i] = index[i] * radix + np.int32(above[i])
            key = splitmix64(seed + np.uint64(v + 1) * np.uint64(0xD1342543DE82EF95))
            t = threshold[start[v] :]
            if k == 1:
                for i in range(m):
                    u = splitmix64(key + np.uint64(r0 + i) * GOLDEN) >> np.uint64(1)
                    column[i] = u >= t[index[i]]
            else:
                for i in range(m):
                    u = splitmix64(key + np.uint64(r0 + i) * GOLDEN) >> np.uint64(1)
                    j = index[i] * k
                    x = 0
                    for c in range(k):
                        x += u >= t[j + c]
                    column[i] = x
