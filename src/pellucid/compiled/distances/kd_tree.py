r"""A balanced kd-tree: built in place, searched by branch and bound.

Node v has the children 2v and 2v + 1; the rows of a node lie side by side, its median on the axis
of the widest spread at ``cut`` parts them in two halves (values equal to the median may lie on
both sides, so duplicates and constant columns do no harm). All leaves are on one level; a leaf
stores its rows by coordinate, WIDTH of them, so that their distances are computed at once.

A search keeps, for the node at hand, the offset o_t of the query from the node's cell along each
axis, and the bound  sum_t term(o_t) <= reduced distance to any row in it.  Crossing a cut changes
one offset only. Bounds are used with a slack that covers their rounding, so no
neighbour is lost; reduced distances are those of ``neighbours_brute``, ties go to the lower
index: the answer is that of the search over all rows, bit for bit.
"""

from typing import Any

import numpy as np

from pellucid.compiled.distances.brute import term
from pellucid.core.runtime.jit import jit

SLACK = 1e-12  # of the rounding of bounds
PER_COLUMN = 4e-16  # and of a sum, for each of its terms
TINY = 1e-300  # squares below it lose digits
DEPTH = 64  # more levels than any table has
WIDTH = 16  # rows in a leaf at most: two vectors of the widest registers


@jit
def swap_rows(P: Any, index: Any, i: int, j: int) -> None:
    for t in range(P.shape[1]):
        P[i, t], P[j, t] = P[j, t], P[i, t]
    index[i], index[j] = index[j], index[i]


@jit
def part_at(P: Any, index: Any, low: int, high: int, middle: int, axis: int) -> None:
    """Order rows low to high so that row ``middle`` is where sorting by the axis would put it."""
    high -= 1
    while low < high:
        a, b, c = P[low, axis], P[(low + high) >> 1, axis], P[high, axis]
        pivot = max(min(a, b), min(max(a, b), c))
        i, j = low, high
        while i <= j:
            while P[i, axis] < pivot:
                i += 1
            while P[j, axis] > pivot:
                j -= 1
            if i <= j:
                swap_rows(P, index, i, j)
                i += 1
                j -= 1
        if middle <= j:
            high = j
        elif middle >= i:
            low = i
        else:
            return


@jit
def widest_axis(P: Any, low: int, high: int) -> int:
    widest, axis = -1.0, 0
    for t in range(P.shape[1]):
        least = most = P[low, t]
        for i in range(low + 1, high):
            least = min(least, P[i, t])
            most = max(most, P[i, t])
        if most - least > widest:
            widest, axis = most - least, t
    return axis


@jit
def grow(
    P: Any, index: Any, start: Any, end: Any, axis: Any, cut: Any, root: int, stop: int
) -> None:
    """Split the nodes below ``root`` (itself included) that have numbers less than ``stop``."""
    first, count = root, 1
    while first < stop:
        for v in range(first, min(first + count, stop)):
            middle = (start[v] + end[v]) >> 1
            axis[v] = widest_axis(P, start[v], end[v])
            part_at(P, index, start[v], end[v], middle, axis[v])
            cut[v] = P[middle, axis[v]]
        first *= 2
        count *= 2


@jit
def leaves_of(Q: Any, axis: Any, cut: Any, bottom: int, out: Any) -> None:
    """The leaf in whose cell each query lies."""
    for i in range(len(Q)):
        v = 1
        while v < bottom:
            v = 2 * v + (1 if Q[i, axis[v]] >= cut[v] else 0)
        out[i] = v


@jit
def pack_leaves(P: Any, index: Any, start: Any, end: Any, tiles: Any, slots: Any) -> None:
    """Rows of leaf l by coordinate in tiles[l], their indices in slots[l]; inf and n fill up."""
    n, d = P.shape
    bottom = len(tiles)
    for leaf in range(bottom):
        first = start[bottom + leaf]
        size = end[bottom + leaf] - first
        for j in range(WIDTH):
            slots[leaf, j] = index[first + j] if j < size else n
            for t in range(d):
                tiles[leaf, t, j] = P[first + j, t] if j < size else np.inf


@jit
def leaf_distances(tiles: Any, leaf: int, q: Any, kind: int, p: float, out: Any) -> None:
    """Reduced distances of q to the WIDTH places of a leaf; inf where there is no row.

    The sums are those of ``neighbours_brute.reduced``, term by term.
    """
    for j in range(WIDTH):
        out[j] = 0.0
    for t in range(len(q)):
        c = q[t]
        if kind == 2:
            for j in range(WIDTH):
                e = tiles[leaf, t, j] - c
                out[j] += e * e
        elif kind == 1:
            for j in range(WIDTH):
                out[j] += abs(tiles[leaf, t, j] - c)
        elif kind == 0:
            for j in range(WIDTH):
                e = abs(tiles[leaf, t, j] - c)
                out[j] = e if e > out[j] else out[j]
        else:
            for j in range(WIDTH):
                out[j] += abs(tiles[leaf, t, j] - c) ** p


@jit
def descend(
    q: Any,
    v: int,
    bound: float,
    limit: float,
    offset: Any,
    axis: Any,
    cut: Any,
    bottom: int,
    kind: int,
    p: float,
    nodes: Any,
    bounds: Any,
    offsets: Any,
    depth: int,
) -> Any:
    """Go to the leaf nearest to q below v; what must be looked at later goes on the stack."""
    while v < bottom:
        t = axis[v]
        gap = q[t] - cut[v]
        near = 2 * v + (0 if gap < 0 else 1)
        size = term(gap, kind, p)
        far_bound = max(bound, size) if kind == 0 else bound - term(offset[t], kind, p) + size
        if not far_bound > limit:  # NaN, of values that overflow, must be looked at
            nodes[depth] = 4 * v + 1 - near  # the other child
            bounds[depth] = far_bound
            for u in range(len(q)):
                offsets[depth, u] = offset[u]
            offsets[depth, t] = gap
            depth += 1
        v = near
    return v, depth


@jit
def offer(values: Any, slots: Any, leaf: int, best: Any, which: Any) -> None:
    """Put the rows of a leaf into the list of the nearest, by distance, then by index."""
    last = len(best) - 1
    near = 0
    for j in range(WIDTH):
        near += values[j] <= best[last]
    if near == 0:
        return
    for j in range(WIDTH):
        value, row = values[j], slots[leaf, j]
        if value > best[last] or (value == best[last] and row >= which[last]):
            continue
        at = last
        while at > 0 and (best[at - 1] > value or (best[at - 1] == value and which[at - 1] > row)):
            best[at] = best[at - 1]
            which[at] = which[at - 1]
            at -= 1
        best[at] = value
        which[at] = row


@jit
def tree_nearest(
    tiles: Any,
    slots: Any,
    axis: Any,
    cut: Any,
    n: int,
    Q: Any,
    order: Any,
    a: int,
    b: int,
    kind: int,
    p: float,
    out: Any,
    out_index: Any,
    visited: Any,
) -> None:
    """The k nearest rows of queries order[a:b]; visited[0] counts the leaves looked at."""
    d = Q.shape[1]
    k = out.shape[1]
    bottom = len(axis)
    slack = 1.0 + SLACK + PER_COLUMN * d
    nodes, bounds = np.empty(DEPTH, np.int64), np.empty(DEPTH)
    offsets, offset, q = np.empty((DEPTH, d)), np.empty(d), np.empty(d)
    best, which, values = np.empty(k), np.empty(k, np.int64), np.empty(WIDTH)
    for o in range(a, b):
        i = order[o]
        for c in range(k):
            best[c] = np.inf
            which[c] = n
        limit = np.inf
        depth = 1
        nodes[0], bounds[0] = 1, 0.0
        for t in range(d):
            offsets[0, t] = 0.0
            q[t] = Q[i, t]
        while depth > 0:
            depth -= 1
            if bounds[depth] > limit:
                continue
            for t in range(d):
                offset[t] = offsets[depth, t]
            v, depth = descend(
                q,
                nodes[depth],
                bounds[depth],
                limit,
                offset,
                axis,
                cut,
                bottom,
                kind,
                p,
                nodes,
                bounds,
                offsets,
                depth,
            )
            visited[0] += 1
            leaf_distances(tiles, v - bottom, q, kind, p, values)
            offer(values, slots, v - bottom, best, which)
            limit = best[k - 1] * slack + TINY
        for c in range(k):
            out[i, c] = best[c]
            out_index[i, c] = which[c]


@jit
def tree_within(
    tiles: Any,
    slots: Any,
    axis: Any,
    cut: Any,
    n: int,
    Q: Any,
    limits: Any,
    kind: int,
    p: float,
    a: int,
    b: int,
    first: Any,
    out: Any,
    out_index: Any,
    fill: bool,
) -> None:
    """Rows with a reduced distance of at most limits[i]: counted into first[i + 1], or stored.

    With ``fill`` they are written to out and out_index from first[i] on, in the tree's order.
    """
    d = Q.shape[1]
    bottom = len(axis)
    slack = 1.0 + SLACK + PER_COLUMN * d
    nodes, bounds = np.empty(DEPTH, np.int64), np.empty(DEPTH)
    offsets, offset, q = np.empty((DEPTH, d)), np.empty(d), np.empty(d)
    values = np.empty(WIDTH)
    for i in range(a, b):
        found = 0
        limit = limits[i] * slack + TINY
        depth = 1
        nodes[0], bounds[0] = 1, 0.0
        for t in range(d):
            offsets[0, t] = 0.0
            q[t] = Q[i, t]
        while depth > 0:
            depth -= 1
            for t in range(d):
                offset[t] = offsets[depth, t]
            v, depth = descend(
                q,
                nodes[depth],
                bounds[depth],
                limit,
                offset,
                axis,
                cut,
                bottom,
                kind,
                p,
                nodes,
                bounds,
                offsets,
                depth,
            )
            leaf_distances(tiles, v - bottom, q, kind, p, values)
            for j in range(WIDTH):
                if values[j] <= limits[i] and slots[v - bottom, j] < n:
                    if fill:
                        out[first[i] + found] = values[j]
                        out_index[first[i] + found] = slots[v - bottom, j]
                    found += 1
        if not fill:
            first[i + 1] = found
