r"""The order of OPTICS: always the unvisited row with the least reachability, ties by lower index.

    reach(j) = min over visited i with d_ij <= eps of  max(d_ij, core_i)

``order_by_sweep`` compares the row at hand with all that are left, a tile at a time, and needs no
matrix; ``order_by_lists`` has the neighbours of every row and keeps a heap. Distances are rounded
to BITS bits, so that the order does not hang on the last bits of sums: a rounding relative to the
number, which is the same in every unit.
"""

import numpy as np

from pellucid.cluster.hierarchy.kernels.graph import pop, push, wider
from pellucid.cluster.hierarchy.kernels.rows import LANES, TILE, drop_dead, first_equal, least
from pellucid.compiled.distances.brute import reduced_tile
from pellucid.core.runtime.jit import jit

BITS = 49  # of 53
SPLIT = 2.0 ** (53 - BITS) + 1.0  # Veltkamp's constant
HEAP = 1024  # places of the heap at the start


@jit
def rounded(value):
    """The value with BITS bits; what overflows on the way is left alone."""
    long = value * SPLIT
    short = long - (long - value)
    return short if short == short else value


@jit
def finish_tile(tile, size, power, factor):
    """Rounded distances from reduced ones, in place."""
    if power == 0.5:
        for j in range(size):
            tile[j] = rounded(factor * np.sqrt(tile[j]))
    elif power == 1.0:
        for j in range(size):
            tile[j] = rounded(factor * tile[j])
    else:
        for j in range(size):
            tile[j] = rounded(factor * tile[j] ** power)


@jit
def order_by_sweep(XT, kind, order, power, factor, limit, core, ordering, reach, source):
    """Fill ordering, reach and source (from which row); XT (p, n) is used up.

    ``limit``: the reduced distance up to which rows are neighbours.
    """
    p, n = XT.shape
    index, whose = np.arange(n), np.full(n, -1)
    best, tile, lanes, q = np.full(n, np.inf), np.empty(TILE), np.empty(LANES), np.empty(p)
    width, alive, at = n, n, 0
    for k in range(n):
        row = index[at]
        ordering[k], reach[row], source[row] = row, best[at], whose[at]
        own = core[row]
        for t in range(p):
            q[t] = XT[t, at]
            XT[t, at] = np.inf
        best[at] = np.inf
        index[at] = -1
        alive -= 1
        if 8 * alive < 7 * width:
            width = drop_dead(XT, index, best, whose, width)
        low, at = np.inf, -1
        for start in range(0, width, TILE):
            size = min(TILE, width - start)
            near, from_row = best[start : start + size], whose[start : start + size]
            if own < np.inf:
                reduced_tile(XT, q, start, size, kind, order, tile)
                if limit < np.inf:
                    for j in range(size):
                        tile[j] = tile[j] if tile[j] <= limit else np.inf
                finish_tile(tile, size, power, factor)
                for j in range(size):
                    d = tile[j] if tile[j] > own else own
                    closer = d < near[j]
                    from_row[j] = row if closer else from_row[j]
                    near[j] = d if closer else near[j]
            value = least(near, size, lanes)
            if value < low:
                low = value
                at = start + first_equal(near, value)
        if at < 0 and alive > 0:  # nothing in reach: the first row that is left
            at = 0
            while index[at] < 0:
                at += 1


@jit
def order_by_lists(first, neighbour, gap, core, ordering, reach, source):
    """The same where row i has the neighbours neighbour[first[i]:first[i + 1]] at the gaps."""
    n = len(core)
    value, left, right = np.empty(HEAP), np.empty(HEAP, np.int64), np.empty(HEAP, np.int64)
    done = np.zeros(n, np.bool_)
    reach[:], source[:] = np.inf, -1
    count, fresh = 0, 0
    for k in range(n):
        row = -1
        while count > 0 and row < 0:
            row = -1 if done[left[0]] else left[0]
            count -= 1
            pop(value, left, right, count)
        if row < 0:
            while done[fresh]:
                fresh += 1
            row = fresh
        done[row] = True
        ordering[k] = row
        if not core[row] < np.inf:
            continue
        for e in range(first[row], first[row + 1]):
            j = neighbour[e]
            d = max(gap[e], core[row])
            if not done[j] and d < reach[j]:
                reach[j], source[j] = d, row
                if count == len(value):
                    value, left, right = (
                        wider(value, count),
                        wider(left, count),
                        wider(right, count),
                    )
                push(value, left, right, count, d, j, row)
                count += 1
