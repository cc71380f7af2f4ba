r"""Spanning trees of mutual reachability, and the tree of clusters that is left of them.

    reach(i, j) = max(d_ij, core_i, core_j)        core: distance to the k-th nearest row

``condense`` walks down a tree of merges. A merge of two clusters of at least ``least`` rows makes
two new clusters; otherwise the small side falls out of the cluster that goes on. Everything is
measured in density, lambda = 1 / height.
"""

import numpy as np

from pellucid.cluster.hierarchy.kernels.rows import (
    LANES,
    TILE,
    drop_dead,
    first_equal,
    least,
    tile_distances,
)
from pellucid.core.runtime.jit import jit


@jit
def reach_tree(XT, kind, order, scale, ends, heights):
    """Prim's tree from row 0; XT (p + 1, n), which is used up, has the core distances below.

    Reduced distances of the first p rows are multiplied by ``scale``; core distances are reduced
    ones too.
    """
    p, n = XT.shape[0] - 1, XT.shape[1]
    index, source = np.arange(n), np.zeros(n, np.int64)
    best, tile, lanes, q = np.full(n, np.inf), np.empty(TILE), np.empty(LANES), np.empty(p)
    width, alive, at, row = n, n, 0, 0
    for k in range(n - 1):
        own = XT[p, at]
        for t in range(p):
            q[t] = XT[t, at]
            XT[t, at] = np.inf
        XT[p, at] = np.inf
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
            core = XT[p, start : start + size]
            for j in range(size):
                far = core[j] if core[j] > own else own
                d = tile[j] * scale
                d = d if d > far else far
                closer = d < near[j]
                whose[j] = row if closer else whose[j]
                near[j] = d if closer else near[j]
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
def condense(children, heights, sizes, fewest, parent, birth, size, cluster, fall):
    """Clusters (parent, birth, size), numbered from the root down; how many.

    cluster and fall (2 n - 1,): the cluster that a node belongs to, and the density at which it
    falls out of it (-1 for nodes that go on).
    """
    n = len(heights) + 1
    parent[0], birth[0], size[0] = -1, 0.0, n
    cluster[2 * n - 2], fall[2 * n - 2] = 0, -1.0
    found = 1
    for node in range(2 * n - 2, n - 1, -1):
        own, lost = cluster[node], fall[node]
        a, b = children[node - n, 0], children[node - n, 1]
        many_a = sizes[a - n] if a >= n else 1
        many_b = sizes[b - n] if b >= n else 1
        height = heights[node - n]
        density = 1.0 / height if height > 0.0 else np.inf
        splits = lost < 0.0 and many_a >= fewest and many_b >= fewest
        for side in range(2):
            child, many = (a, many_a) if side == 0 else (b, many_b)
            if splits:
                parent[found], birth[found], size[found] = own, density, many
                cluster[child], fall[child] = found, -1.0
                found += 1
            else:
                cluster[child] = own
                fall[child] = lost if lost >= 0.0 else (-1.0 if many >= fewest else density)
    return found
