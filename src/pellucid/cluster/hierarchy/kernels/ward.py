r"""Ward's linkage by nearest-neighbour chains over centres that lie in tiles (``tiles.py``).

    d(A, B)^2 = 2 a b / (a + b) |c_A - c_B|^2        a, b rows, centres c

From cluster to nearest cluster, until two are mutual; they merge, and the rest of the chain stays
valid (the linkage is reducible), so n clusters need O(n) searches. A search knows how near the
cluster before it is, and skips every tile whose box is farther, weighted by its smallest cluster.
A merged centre widens the box of its tile. Ties are SciPy's: the chain starts at the lowest slot,
the one before wins a tie, then the lowest; the pair goes on in the higher slot. A slot is named
after the row it began with, whatever its place.

References: Murtagh (1983); Müllner (2011), Modern hierarchical, agglomerative clustering.
"""

import numpy as np

from pellucid.cluster.hierarchy.kernels.rows import squares_tile
from pellucid.cluster.hierarchy.kernels.tiles import ROWS, SLACK, box_bounds
from pellucid.core.runtime.jit import jit

SAME = 1.0 + 1e-14  # rounding of centres: distances nearer than that are ties


@jit(reassociate=True)
def ward_scale(v, size, mine):
    """Ward's factor 2 m n / (m + n) on squared distances; a dead centre stays at inf."""
    for j in range(len(size)):
        s = size[j] if size[j] > 0.0 else 1.0
        v[j] *= 2.0 * mine * s / (mine + s)


@jit
def some_near(v, size, mine, limit):
    """How many scaled distances may be at most the limit; no division, dead centres are none."""
    found = 0
    for j in range(len(size)):
        found += v[j] * (2.0 * mine * size[j]) <= limit * (mine + size[j])
    return found


@jit
def ward_pair(XT, a, b, size):
    total = 0.0
    for t in range(len(XT)):
        e = XT[t, a] - XT[t, b]
        total += e * e
    return total * (2.0 * size[a] * size[b] / (size[a] + size[b]))


@jit
def look(XT, q, c, a, b, size, name, low, at, tile):
    """The nearest of the places a to b to place c, if nearer than ``low``, the distance of at."""
    squares_tile(XT, q, a, b - a, tile)
    part = size[a:b]
    if some_near(tile, part, size[c], low * SLACK) == 0:
        return low, at
    ward_scale(tile, part, size[c])
    if a <= c < b:
        tile[c - a] = np.inf
    for j in range(b - a):
        v = tile[j]
        if v < low or (v == low and at >= 0 and name[a + j] < name[at]):
            low, at = v, a + j
    return low, at


@jit
def nearest_centre(XT, c, size, name, first, home, few, limit, q, bounds, tile):
    """The nearest centre that is nearer than ``limit`` (else -1): its own tile first."""
    low, at = look(XT, q, c, first[home], first[home + 1], size, name, limit, -1, tile)
    mine = size[c]
    for j in range(len(bounds)):
        if j == home or bounds[j] * (2.0 * mine * few[j]) > low * SLACK * (mine + few[j]):
            continue
        low, at = look(XT, q, c, first[j], first[j + 1], size, name, low, at, tile)
    return low, at


@jit
def ward_merges(
    XT, name, size, first, low, high, few, home, where, chain, state, stop, ends, heights
):
    """Merge until ``stop`` clusters are left; XT (p, places) holds their centres.

    name, size, home: of each place, its slot, rows and tile. few: the smallest cluster of each
    tile. where: the place of each slot, -1 if merged. chain: slots. state: merges so far, length
    of the chain, a slot below which none is alive. heights are squared.
    """
    p, n = len(XT), len(where)
    q, tile, bounds = np.empty(p), np.empty(ROWS), np.empty(len(few))
    k, length, lowest = state[0], state[1], state[2]
    while n - k > stop:
        if length == 0:
            while where[lowest] < 0:
                lowest += 1
            chain[0], length = lowest, 1
        c = where[chain[length - 1]]
        for t in range(p):
            q[t] = XT[t, c]
        previous = where[chain[length - 2]] if length > 1 else -1
        before = ward_pair(XT, c, previous, size) if length > 1 else np.inf
        box_bounds(q, low, high, bounds)
        d, at = nearest_centre(XT, c, size, name, first, home[c], few, before, q, bounds, tile)
        if length > 1 and (at < 0 or before <= d * SAME):
            d, at = before, previous
        if at < 0:  # distances that overflow
            heights[k] = np.nan
            state[0] = n
            return
        if at != previous:
            chain[length] = name[at]
            length += 1
            continue
        length -= 2
        x, y = (c, at) if name[c] < name[at] else (at, c)
        ends[k, 0], ends[k, 1], heights[k] = name[x], name[y], d
        k += 1
        share = size[x] / (size[x] + size[y])
        j = home[y]
        for t in range(p):
            XT[t, y] += share * (XT[t, x] - XT[t, y])
            XT[t, x] = np.inf
            low[t, j], high[t, j] = min(low[t, j], XT[t, y]), max(high[t, j], XT[t, y])
        size[y] += size[x]
        size[x] = 0
        where[name[x]] = -1
    state[0], state[1], state[2] = k, length, lowest
