r"""Columns sorted in space, in tiles with boxes: which tiles a search need not look at.

The columns of XT (p, n) lie in the order of a kd-tree; tile j is first[j] to first[j + 1], and
low[:, j], high[:, j] is its box. The squared distance of q to a box,

    sum_t max(0, low_t - q_t, q_t - high_t)^2,

is at most that to any column in it, but for rounding: compare with SLACK. It is computed for all
tiles at once, which is faster than walking down a tree where columns are more than a few.
"""

import numpy as np

from pellucid.core.runtime.jit import jit

SLACK = 1.0 + 1e-12  # covers the rounding of bounds
ROWS = 64  # columns of a tile at most


@jit
def tile_boxes(XT, first, low, high):
    """The box of every tile; low and high are (p, tiles)."""
    for j in range(len(first) - 1):
        for t in range(len(XT)):
            least, most = np.inf, -np.inf
            for i in range(first[j], first[j + 1]):
                least = min(least, XT[t, i])
                most = max(most, XT[t, i])
            low[t, j], high[t, j] = least, most


@jit(reassociate=True)
def box_bounds(q, low, high, out):
    """The squared distance of q to every box."""
    m = len(out)
    for j in range(m):
        out[j] = 0.0
    for t in range(len(q)):
        below, above, c = low[t], high[t], q[t]
        for j in range(m):
            e, f = below[j] - c, c - above[j]
            e = e if e > f else f
            e = e if e > 0.0 else 0.0
            out[j] += e * e


@jit
def at_most(v, width, value):
    """How many of v[:width] are at most the value."""
    found = 0
    for j in range(width):
        found += v[j] <= value
    return found
