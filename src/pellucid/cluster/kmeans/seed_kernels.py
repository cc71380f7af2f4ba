"""A whole k-means start in one call, for small tables where Python calls would dominate.

The steps are those of ``seeding.py``: pick leaves by their mass, then rows in them, keep the
candidate that leaves the least mass. The distances of the candidates are kept, so that each
centre costs one pass over the tiles (see ``kernels.py``).
"""

from typing import Any

import numpy as np

from pellucid.cluster.kmeans.kernels import BLOCK, draw_in_order, tile_distances, tile_potential
from pellucid.core.arrays.typing import Array
from pellucid.core.loops.statistics import LEAF_ROWS
from pellucid.core.runtime import simd
from pellucid.core.runtime.jit import jit

TILES = LEAF_ROWS // BLOCK  # tiles in a leaf


@jit
def pick_leaf(mass, u, largest):
    """The leaf at the quantile u of the mass, never one of mass 0; or the one of largest mass."""
    total, last, top = 0.0, 0, 0
    for leaf in range(len(mass)):
        total += mass[leaf]
        last = leaf if mass[leaf] > 0.0 else last
        top = leaf if mass[leaf] > mass[top] else top
    if largest:
        return top
    below = 0.0
    for leaf in range(last):
        below += mass[leaf]
        if below > u * total:
            return leaf
    return last


@jit
def seed_chain(tiles, w, weights, order, u, power, near, C, D, after, mass, level, slots, out):
    """out (k,): the rows of one start; m candidates are drawn for each centre but the first.

    tiles (n / BLOCK, d4, BLOCK) and w (n / BLOCK, BLOCK) are the rows and their weights, weights
    (leaves,) the sums of w, order (n,) the order of the rows in each leaf, counted from its first;
    u (2, draws) holds the quantiles of leaves and of rows in them. Scratch: near like w, inf at
    first; C (d4, m8) of zeros, D (n / BLOCK, m8, BLOCK), after (leaves, m), mass like weights,
    level (m,), slots (4, m).
    """
    n, leaves, k, at = len(order), len(weights), len(out), 0
    home, which, found, drawn = slots[0], slots[1], slots[2], slots[3]
    for i in range(k):
        m = len(level) if i > 0 else 1
        by_weight = True  # also where there are fewer distinct rows than centres
        for leaf in range(leaves):
            by_weight = by_weight and (i == 0 or not mass[leaf] > 0.0)
        left, how = (weights, -1.0) if by_weight else (mass, power)
        for j in range(m):
            home[j] = pick_leaf(left, u[0, at + j], how == np.inf)
        for first in range(0, n, LEAF_ROWS):
            count, stop = 0, min(first + LEAF_ROWS, n)
            for j in range(m):
                if home[j] * LEAF_ROWS == first:
                    which[count], level[count] = j, u[1, at + j]
                    count += 1
            if count > 0:
                v, own = near.reshape(-1)[first:stop], w.reshape(-1)[first:stop]
                draw_in_order(v, own, order[first:stop], level[:count], how, found[:count])
            for s in range(count):
                drawn[which[s]] = first + found[s]
        at += m
        best = 0
        if m > 1 or i < k - 1:
            for j in range(m):
                for t in range(C.shape[0]):
                    C[t, j] = tiles[drawn[j] // BLOCK, t, drawn[j] % BLOCK]
            best = try_candidates(tiles, w, near, C, m, power, D, after)
            for leaf in range(leaves):
                mass[leaf] = after[leaf, best]
        out[i] = drawn[best]


@jit
def try_candidates(tiles, w, near, C, m, power, D, after):
    """after (leaves, m) = the mass each column of C would leave; near then counts the best.

    Returns which leaves the least, the first of equals.
    """
    leaves = after.shape[0]
    for leaf in range(leaves):
        for j in range(m):
            after[leaf, j] = 0.0
    for b in range(tiles.shape[0]):
        tile_distances(tiles[b], C, D[b])
        mass = after[b // TILES]
        for j in range(m):
            s = tile_potential(D[b, j], near[b], w[b], power)
            mass[j] = max(mass[j], s) if power == np.inf else mass[j] + s
    best, least = 0, np.inf
    for j in range(m):
        total = 0.0
        for leaf in range(leaves):
            total += after[leaf, j]
        if total < least:
            best, least = j, total
    for b in range(tiles.shape[0]):
        now, new = near[b], D[b, best]
        for r in range(BLOCK):
            now[r] = min(now[r], new[r])
    return best


def seed_scratch(w: Array, d4: int, leaves: int, m: int) -> tuple[Any, ...]:
    """The scratch arrays of ``seed_chain``, from near to slots."""
    columns = -(-m // simd.TILE_ROWS) * simd.TILE_ROWS
    return (
        np.full(w.shape, np.inf),
        np.zeros((d4, columns)),
        np.empty((len(w), columns, BLOCK)),
        np.empty((leaves, m)),
        np.zeros(leaves),
        np.empty(m),
        np.zeros((4, m), np.int64),
    )
