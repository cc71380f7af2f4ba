r"""The minimum spanning tree of columns that lie in tiles (``tiles.py``), by Borůvka's rounds.

Every component but the largest looks for its shortest edge to another, and all these edges are
added at once: components at least halve, a dozen rounds for any table. A place remembers the
nearest place of another component that it found, or how far it has looked in vain; both stay lower
bounds when components grow. So a place searches again only if its bound is not above the shortest
edge that its component has so far, and skips tiles that are farther or all its own.

Equal lengths: the edge with the lower rows. Threads may share ``best``: it only says what need not
be looked at, and the shortest edge of every component is found for any order of the searches.

Reference: March, Ram & Gray (2010), Fast Euclidean minimum spanning tree.
"""

import numpy as np

from pellucid.cluster.density.kernels import root_of
from pellucid.cluster.hierarchy.kernels.rows import squares_tile
from pellucid.cluster.hierarchy.kernels.tiles import ROWS, SLACK, at_most, box_bounds
from pellucid.core.runtime.jit import jit


@jit
def nearest_foreign(XT, row, component, first, whole, own, home, limit, q, bounds, tile):
    """Distance and place of the nearest column of another component within ``limit``, and tiles.

    Tiles with whole[j] == own are all of our component.
    """
    low, at, looked = limit, -1, 0
    for step in range(len(bounds) + 1):
        j = home if step == 0 else step - 1  # its own tile first
        if (step > 0 and j == home) or whole[j] == own or bounds[j] > low * SLACK:
            continue
        looked += 1
        a = first[j]
        width = first[j + 1] - a
        squares_tile(XT, q, a, width, tile)
        if at_most(tile, width, low) == 0:
            continue
        for s in range(width):
            i, v = a + s, tile[s]
            if v > low or component[i] == own:
                continue
            if v < low or at < 0 or row[i] < row[at]:
                low, at = v, i
    return low, at, looked


@jit
def search_places(
    XT, row, component, first, low, high, whole, home, largest, best, gap, other, places, a, b
):
    """Renew gap and other, the nearest place elsewhere, of places[a:b] where it may matter.

    best[c]: the shortest edge of component c so far. The number of tiles looked at.
    """
    q, bounds, tile = np.empty(len(XT)), np.empty(len(whole)), np.empty(ROWS)
    total = 0
    for o in range(a, b):
        i = places[o]
        c = component[i]
        if c == largest or gap[i] > best[c]:
            continue
        if other[i] >= 0 and component[other[i]] != c:
            continue
        for t in range(len(q)):
            q[t] = XT[t, i]
        box_bounds(q, low, high, bounds)
        gap[i], other[i], looked = nearest_foreign(
            XT, row, component, first, whole, c, home[i], best[c], q, bounds, tile
        )
        total += looked
        if gap[i] < best[c]:
            best[c] = gap[i]
    return total


@jit
def shorter(d, a, b, e, u, v):
    """Whether edge (a, b) of length d comes before edge (u, v) of length e."""
    if d != e:
        return d < e
    low, high = min(u, v), max(u, v)
    return min(a, b) < low or (min(a, b) == low and max(a, b) < high)


@jit
def join_nearest(row, component, gap, other, largest, k, ends, heights):
    """Add the shortest edge of every component but the largest; how many edges there are now."""
    n = len(row)
    chosen, parent = np.full(n, -1, np.int64), np.arange(n)
    for i in range(n):
        j = other[i]
        if j < 0 or component[i] == component[j]:
            continue
        for c in (component[i], component[j]):
            e = chosen[c]
            if e < 0 or shorter(gap[i], row[i], row[j], gap[e], row[e], row[other[e]]):
                chosen[c] = i
    for c in range(n):
        i = chosen[c]
        if i < 0 or c == largest:
            continue
        u, v = root_of(parent, component[i]), root_of(parent, component[other[i]])
        if u != v:
            parent[max(u, v)] = min(u, v)
            ends[k, 0], ends[k, 1] = min(row[i], row[other[i]]), max(row[i], row[other[i]])
            heights[k] = gap[i]
            k += 1
    for i in range(n):
        component[i] = root_of(parent, component[i])
    return k


@jit
def next_round(component, first, gap, other, best, whole):
    """Set best and whole for the components as they are; the largest component."""
    n = len(component)
    count = np.zeros(n, np.int64)
    best[:] = np.inf
    for i in range(n):
        c, j = component[i], other[i]
        count[c] += 1
        if j >= 0 and component[j] != c:
            best[c] = min(best[c], gap[i])
            best[component[j]] = min(best[component[j]], gap[i])
    for t in range(len(whole)):
        whole[t] = component[first[t]]
        for i in range(first[t], first[t + 1]):
            if component[i] != whole[t]:
                whole[t] = -1
                break
    return int(np.argmax(count))
