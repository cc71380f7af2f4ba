r"""Merging by the distance of centres: centroid and median linkage, which may fall (inversions).

A merged centre can be nearer to a third than its parts were, so chains of nearest neighbours do
not serve. Every slot i keeps its nearest slot j > i, or a lower bound of that distance where the
neighbour has since been merged; the least of them is looked up, renewed if it was only a bound,
and merged (Müllner's generic algorithm). Centres replace the matrix: O(n p) memory.

    centroid   c = (m c_a + n c_b) / (m + n)      median   c = (c_a + c_b) / 2
"""

import numpy as np

from pellucid.cluster.hierarchy.kernels.rows import LANES, TILE, first_equal, least, squares_tile
from pellucid.core.runtime.jit import jit


@jit
def nearest_after(XT, i, width, q, tile, lanes):
    """The nearest slot after i, and its squared distance (inf where there is none)."""
    for t in range(len(q)):
        q[t] = XT[t, i]
    low, at = np.inf, -1
    for start in range(i + 1, width, TILE):
        part = min(TILE, width - start)
        squares_tile(XT, q, start, part, tile)
        value = least(tile, part, lanes)
        if value < low:
            low, at = value, start + first_equal(tile, value)
    return at, low


@jit
def shrink_slots(XT, size, name, near, value, bound, width):
    """Move the living slots together, in order; the new width."""
    place = np.empty(width, np.int64)
    new = 0
    for j in range(width):
        place[j] = new
        new += size[j] > 0
    new = 0
    for j in range(width):
        if size[j] > 0:
            for t in range(len(XT)):
                XT[t, new] = XT[t, j]
            size[new], name[new], value[new], bound[new] = size[j], name[j], value[j], bound[j]
            near[new] = place[near[j]] if near[j] >= 0 else -1
            new += 1
    return new


@jit
def renew(q, XT, y, x, near, value, bound, tile):
    """Tell the slots before y of its new centre q; x is dead."""
    for start in range(0, y, TILE):
        part = min(TILE, y - start)
        squares_tile(XT, q, start, part, tile)
        for s in range(part):
            j = start + s
            if tile[s] < value[j]:
                near[j], value[j], bound[j] = y, tile[s], False
            elif near[j] == x or near[j] == y:
                bound[j] = True


@jit
def centre_merges(XT, median, ends, heights):
    """Merge the two nearest centres until one is left; XT (p, n) is used up.

    ends are numbers of clusters: n + k is the one made by merge k; heights are squared.
    """
    p, n = XT.shape
    size, name, near = np.ones(n), np.arange(n), np.empty(n, np.int64)
    value, bound = np.full(n, np.inf), np.zeros(n, np.bool_)
    q, tile, lanes = np.empty(p), np.empty(TILE), np.empty(LANES)
    for i in range(n):
        near[i], value[i] = nearest_after(XT, i, n, q, tile, lanes)
    width, alive, k = n, n, 0
    while k < n - 1:
        low = least(value, width, lanes)
        if not low < np.inf:
            heights[k] = np.nan
            return
        x = first_equal(value, low)
        if bound[x]:
            near[x], value[x] = nearest_after(XT, x, width, q, tile, lanes)
            bound[x] = False
            continue
        y = near[x]
        a, b = name[x], name[y]
        ends[k, 0], ends[k, 1], heights[k] = min(a, b), max(a, b), low
        share = 0.5 if median else size[x] / (size[x] + size[y])
        for t in range(p):
            q[t] = XT[t, y] + share * (XT[t, x] - XT[t, y])
            XT[t, y], XT[t, x] = q[t], np.inf
        size[y] += size[x]
        size[x], value[x], near[x], name[y] = 0, -np.inf, -1, n + k
        renew(q, XT, y, x, near, value, bound, tile)
        value[x] = np.inf
        near[y], value[y] = nearest_after(XT, y, width, q, tile, lanes)
        bound[y] = False
        k += 1
        alive -= 1
        if 8 * alive < 7 * width:
            width = shrink_slots(XT, size, name, near, value, bound, width)
