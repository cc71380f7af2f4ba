r"""Merging by nearest-neighbour chains: from cluster to nearest cluster, until two are mutual.

For a reducible linkage, d(A + B, C) >= min(d(A, C), d(B, C)), such a pair may be merged at once
and the rest of the chain stays valid, so n clusters need O(n) scans in all. Order of scans and
ties are those of SciPy: the chain starts at the lowest slot, the one before wins a tie, then the
lowest; the pair goes on in the higher slot.

    complete  max(d_a, d_b)     average  (n_a d_a + n_b d_b) / (n_a + n_b)
    weighted  (d_a + d_b) / 2   ward     from centres, without a matrix: ``ward.py``

Merged slots are dropped, in order, once many are dead.

References: Murtagh (1983); Müllner (2011), Modern hierarchical, agglomerative clustering.
"""

import numpy as np

from pellucid.cluster.hierarchy.kernels.rows import LANES, TILE, first_equal, least
from pellucid.core.runtime.jit import jit

COMPLETE, AVERAGE, WEIGHTED = 0, 1, 2


@jit
def merge_rows(r, s, width, kind, m, n):
    """s becomes the distances of the merged cluster, from r and s of its parts of m and n rows."""
    if kind == COMPLETE:
        for j in range(width):
            s[j] = r[j] if r[j] > s[j] else s[j]
    elif kind == AVERAGE:
        total = m + n
        for j in range(width):
            s[j] = (m * r[j] + n * s[j]) / total
    else:
        for j in range(width):
            s[j] = 0.5 * (r[j] + s[j])


@jit
def first_alive(size):
    j = 0
    while size[j] == 0:
        j += 1
    return j


@jit
def shrink(D, size, dead, name, chain, length, width):
    """Move what is alive together, in order, in rows and columns; the new width."""
    place = np.empty(width, np.int64)
    keep = np.empty(width, np.int64)
    new = 0
    for j in range(width):
        place[j] = new
        if size[j] > 0:
            keep[new] = j
            new += 1
    for i in range(new):
        row, old = D[i], D[keep[i]]
        for j in range(new):
            row[j] = old[keep[j]]
    for j in range(new):
        size[j], name[j], dead[j] = size[keep[j]], name[keep[j]], 0.0
    for c in range(length):
        chain[c] = place[chain[c]]
    return new


@jit
def matrix_chain(D, kind, ends, heights):
    """Merge by complete, average or weighted linkage; D, with inf on the diagonal, is used up."""
    n = len(D)
    size, dead, name = np.ones(n), np.zeros(n), np.arange(n)
    chain, lanes, masked = np.empty(n, np.int64), np.empty(LANES), np.empty(TILE)
    width, alive, length, k = n, n, 0, 0
    while k < n - 1:
        if length == 0:
            chain[0], length = first_alive(size), 1
        c = chain[length - 1]
        row = D[c]
        low, at = np.inf, -1
        for start in range(0, width, TILE):
            part = min(TILE, width - start)
            r, gone = row[start : start + part], dead[start : start + part]
            for j in range(part):
                masked[j] = r[j] + gone[j]
            value = least(masked, part, lanes)
            if value < low:
                low, at = value, start + first_equal(masked, value)
        if length > 1 and not low < row[chain[length - 2]]:
            at, low = chain[length - 2], row[chain[length - 2]]
        if at < 0 or not low < np.inf:
            heights[k] = np.nan
            return
        if length < 2 or at != chain[length - 2]:
            chain[length] = at
            length += 1
            continue
        length -= 2
        x, y = min(c, at), max(c, at)
        ends[k, 0], ends[k, 1], heights[k] = name[x], name[y], low
        k += 1
        merge_rows(D[x], D[y], width, kind, size[x], size[y])
        new = D[y]
        new[y] = np.inf
        size[y] += size[x]
        size[x], dead[x] = 0, np.inf
        for j in range(width):
            if size[j] > 0:
                D[j, y] = new[j]
        alive -= 1
        if 2 * alive < width:  # rarely: moving a matrix costs more than passing over the dead
            width = shrink(D, size, dead, name, chain, length, width)
