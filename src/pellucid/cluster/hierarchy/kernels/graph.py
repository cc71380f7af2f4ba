r"""Merging along the edges of a graph: only clusters that are connected may join.

A heap holds the edges by (distance, newer end, older end). Merging i and j to k joins their
neighbours; where both knew a neighbour l,

    complete  max(d_il, d_jl)     average  (n_i d_il + n_j d_jl) / (n_i + n_j)
    ward      2 n_k n_l / (n_k + n_l) |c_k - c_l|^2, from the centres

and where one did, its value. Neighbours are linked lists whose dead entries are skipped.
"""

import numpy as np

from pellucid.core.runtime.jit import jit

COMPLETE, AVERAGE, WARD = 0, 1, 2


@jit
def before(d, a, b, e, f, g):
    """Whether edge (d, a, b) comes before (e, f, g)."""
    return d < e or (d == e and (a < f or (a == f and b < g)))


@jit
def push(value, left, right, count, d, a, b):
    """Put an edge into a heap of ``count`` edges."""
    at = count
    while at > 0:
        up = (at - 1) >> 1
        if not before(d, a, b, value[up], left[up], right[up]):
            break
        value[at], left[at], right[at] = value[up], left[up], right[up]
        at = up
    value[at], left[at], right[at] = d, a, b


@jit
def pop(value, left, right, count):
    """Take the first edge out of a heap that has ``count`` edges left afterwards."""
    d, a, b = value[count], left[count], right[count]
    at = 0
    while 2 * at + 1 < count:
        low = 2 * at + 1
        if low + 1 < count and before(
            value[low + 1], left[low + 1], right[low + 1], value[low], left[low], right[low]
        ):
            low += 1
        if not before(value[low], left[low], right[low], d, a, b):
            break
        value[at], left[at], right[at] = value[low], left[low], right[low]
        at = low
    value[at], left[at], right[at] = d, a, b


@jit
def wider(a, count):
    """The same array with room for twice as many."""
    b = np.empty(2 * len(a), a.dtype)
    b[:count] = a[:count]
    return b


@jit
def ward_gap(S, size, a, b):
    """Ward's squared height of merging clusters with coordinate sums S."""
    total = 0.0
    for t in range(S.shape[1]):
        e = S[a, t] / size[a] - S[b, t] / size[b]
        total += e * e
    return total * (2.0 * size[a] * size[b] / (size[a] + size[b]))


@jit
def joined_neighbours(i, j, size, head, to, cost, after, kind, cols, seen, joint, k):
    """The living neighbours of i and j in cols, their values in joint; how many."""
    count = 0
    for part in (i, j):
        e = head[part]
        while e >= 0:
            c = to[e]
            if size[c] > 0 and c != i and c != j:
                if seen[c] != k:
                    seen[c], joint[c] = k, cost[e]
                    cols[count] = c
                    count += 1
                elif kind == COMPLETE:
                    joint[c] = max(joint[c], cost[e])
                elif kind == AVERAGE:
                    joint[c] = (size[i] * joint[c] + size[j] * cost[e]) / (size[i] + size[j])
            e = after[e]
    return count


@jit
def graph_merges(a, b, d, S, kind, ends, heights):
    """Merge along the edges (a_e > b_e, d_e); how many merges there were.

    S (2n - 1, p) starts with the rows (Ward) or is empty; ends are numbers of nodes.
    """
    n, m = len(ends) + 1, len(a)
    size = np.zeros(2 * n - 1)
    size[:n] = 1.0
    head, seen = np.full(2 * n - 1, -1, np.int64), np.full(2 * n - 1, -1, np.int64)
    joint, cols = np.empty(2 * n - 1), np.empty(n, np.int64)
    room = 4 * m + 16
    to, after, cost = np.empty(room, np.int64), np.empty(room, np.int64), np.empty(room)
    value, left, right = np.empty(room), np.empty(room, np.int64), np.empty(room, np.int64)
    entries = waiting = 0
    for e in range(m):
        push(value, left, right, waiting, d[e], a[e], b[e])
        waiting += 1
        for x, y in ((a[e], b[e]), (b[e], a[e])):
            to[entries], cost[entries], after[entries] = y, d[e], head[x]
            head[x] = entries
            entries += 1
    for k in range(n, 2 * n - 1):
        i = j = -1
        gap = 0.0
        while waiting > 0:
            gap, i, j = value[0], left[0], right[0]
            waiting -= 1
            pop(value, left, right, waiting)
            if size[i] > 0 and size[j] > 0:
                break
            i = -1
        if i < 0:
            return k - n
        ends[k - n, 0], ends[k - n, 1], heights[k - n] = min(i, j), max(i, j), gap
        count = joined_neighbours(i, j, size, head, to, cost, after, kind, cols, seen, joint, k)
        size[k] = size[i] + size[j]
        size[i] = size[j] = 0
        if kind == WARD:
            for t in range(S.shape[1]):
                S[k, t] = S[i, t] + S[j, t]
        while entries + 2 * count > len(to):
            to, after, cost = wider(to, entries), wider(after, entries), wider(cost, entries)
        while waiting + count > len(value):
            value, left, right = wider(value, waiting), wider(left, waiting), wider(right, waiting)
        for s in range(count):
            c = cols[s]
            g = ward_gap(S, size, k, c) if kind == WARD else joint[c]
            push(value, left, right, waiting, g, k, c)
            waiting += 1
            for x, y in ((k, c), (c, k)):
                to[entries], cost[entries], after[entries] = y, g, head[x]
                head[x] = entries
                entries += 1
    return n - 1
