r"""Scans over the clusters that are left: distances of one to all, and the first of the least.

Clusters live in columns of XT (p, width), in the order of their first slot; a dead column holds
inf. Distances are computed a TILE at a time, so that they are compared while still in the first
cache. Ties go to the lowest slot.
"""

import numpy as np

from pellucid.compiled.distances.brute import reduced_tile
from pellucid.core.runtime.jit import jit

TILE = 512
LANES = 64  # minima kept side by side: a single one would not vectorise


@jit(reassociate=True)
def squares_tile(XT, q, start, width, out):
    """Squared distances of q to columns start to start + width, four coordinates at a time."""
    p = len(q)
    for j in range(width):
        out[j] = 0.0
    t = 0
    while t + 4 <= p:
        x0, x1 = XT[t, start : start + width], XT[t + 1, start : start + width]
        x2, x3 = XT[t + 2, start : start + width], XT[t + 3, start : start + width]
        a, b, c, d = q[t], q[t + 1], q[t + 2], q[t + 3]
        for j in range(width):
            e, f, g, h = x0[j] - a, x1[j] - b, x2[j] - c, x3[j] - d
            out[j] += e * e + f * f + g * g + h * h
        t += 4
    while t < p:
        x0, a = XT[t, start : start + width], q[t]
        for j in range(width):
            e = x0[j] - a
            out[j] += e * e
        t += 1


@jit
def tile_distances(XT, q, start, width, kind, order, out):
    """Reduced distances of q (``compiled.distances.brute``) to ``width`` columns from start on."""
    if kind == 2:
        squares_tile(XT, q, start, width, out)
    else:
        reduced_tile(XT, q, start, width, kind, order, out)


@jit
def least(v, width, lanes):
    """The least of v[:width]."""
    whole = width // LANES * LANES
    low = np.inf
    if whole > 0:
        for s in range(LANES):
            lanes[s] = v[s]
        for a in range(LANES, whole, LANES):
            part = v[a : a + LANES]
            for s in range(LANES):
                lanes[s] = part[s] if part[s] < lanes[s] else lanes[s]
        for s in range(LANES):
            low = lanes[s] if lanes[s] < low else low
    for j in range(whole, width):
        low = v[j] if v[j] < low else low
    return low


@jit
def first_equal(v, value):
    """The first place that holds the value."""
    j = 0
    while v[j] != value:
        j += 1
    return j


@jit
def spanning_tree(XT, kind, order, ends, heights):
    """Prim's tree from row 0, without a matrix; XT (p, n) is used up.

    Edge k joins ends[k, 0], already in the tree, to ends[k, 1], the nearest row outside it. Rows
    that are in the tree are dropped by moving the others together, in order.
    """
    p, n = XT.shape
    index, source = np.arange(n), np.zeros(n, np.int64)
    best, tile, lanes, q = np.full(n, np.inf), np.empty(TILE), np.empty(LANES), np.empty(p)
    width, alive, at, row = n, n, 0, 0
    for k in range(n - 1):
        for t in range(p):
            q[t] = XT[t, at]
            XT[t, at] = np.inf
        best[at] = np.inf
        index[at] = -1
        alive -= 1
        if 8 * alive < 7 * width:
            width = drop_dead(XT, index, best, source, width)
        low, at = np.inf, -1
        for start in range(0, width, TILE):
            size = min(TILE, width - start)
            tile_distances(XT, q, start, size, kind, order, tile)
            near, whose = best[start : start + size], source[start : start + size]
            for j in range(size):
                closer = tile[j] < near[j]
                whose[j] = row if closer else whose[j]
                near[j] = tile[j] if closer else near[j]
            value = least(near, size, lanes)
            if value < low:
                low = value
                at = start + first_equal(near, value)
        if at < 0:  # distances that overflow
            heights[k] = np.nan
            return
        ends[k, 0], ends[k, 1], heights[k] = source[at], index[at], low
        row = index[at]


@jit
def drop_dead(XT, index, best, source, width):
    """Move the columns with index >= 0 together, in order; how many they are."""
    new = 0
    for j in range(width):
        if index[j] >= 0:
            if new < j:
                for t in range(len(XT)):
                    XT[t, new] = XT[t, j]
                index[new], best[new], source[new] = index[j], best[j], source[j]
            new += 1
    return new


@jit
def matrix_spanning_tree(D, ends, heights):
    """The same from a matrix of distances, which is only read."""
    n = len(D)
    source = np.zeros(n, np.int64)
    best, done, lanes = np.full(n, np.inf), np.zeros(n), np.empty(LANES)
    masked = np.empty(n)
    row = 0
    for k in range(n - 1):
        done[row] = np.inf
        line = D[row]
        for j in range(n):
            closer = line[j] < best[j]
            source[j] = row if closer else source[j]
            best[j] = line[j] if closer else best[j]
            masked[j] = best[j] + done[j]
        low = least(masked, n, lanes)
        if not low < np.inf:
            heights[k] = np.nan
            return
        row = first_equal(masked, low)
        ends[k, 0], ends[k, 1], heights[k] = source[row], row, low
