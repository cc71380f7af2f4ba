r"""DBSCAN on a kd-tree: which rows are dense, which of them are connected, whose border is where.

The tree is that of ``compiled.distances.kd_tree``: leaf l holds its rows by coordinate in
tiles[l]; a *place*
is leaf * WIDTH + position. Every node has the box of its rows. The gap of two boxes,

    sum_t term(max(0, low_t - high'_t, low'_t - high_t)),

rounds the same way as a reduced distance and term by term no higher, so it never lies above one of
them and no neighbour is lost. A search takes a whole leaf at a time.

Components are kept as a forest of places. A node is *one* when all its dense rows are known to be
connected; two nodes that are one, and the same one, need no distances at all. Components do not
depend on the order of unions, so threads work on forests of their own, which are merged.
"""

import numpy as np

from pellucid.compiled.distances.brute import term
from pellucid.compiled.distances.kd_tree import DEPTH, WIDTH, leaf_distances
from pellucid.core.runtime.jit import jit


@jit
def node_boxes(tiles, slots, n, low, high):
    """The box of every node, from the leaves up."""
    bottom, d = tiles.shape[0], tiles.shape[1]
    for v in range(2 * bottom - 1, 0, -1):
        for t in range(d):
            low[v, t], high[v, t] = np.inf, -np.inf
            if v >= bottom:
                for j in range(WIDTH):
                    if slots[v - bottom, j] < n:
                        low[v, t] = min(low[v, t], tiles[v - bottom, t, j])
                        high[v, t] = max(high[v, t], tiles[v - bottom, t, j])
            else:
                low[v, t] = min(low[2 * v, t], low[2 * v + 1, t])
                high[v, t] = max(high[2 * v, t], high[2 * v + 1, t])


@jit
def box_gap(low, high, u, v, kind, p):
    """A lower bound of the reduced distances between rows of two nodes."""
    total = 0.0
    for t in range(low.shape[1]):
        gap = max(0.0, max(low[u, t] - high[v, t], low[v, t] - high[u, t]))
        total = max(total, gap) if kind == 0 else total + term(gap, kind, p)
    return total


@jit
def row_gap(q, low, high, v, kind, p):
    """A lower bound of the reduced distances of q to the rows of a node."""
    total = 0.0
    for t in range(len(q)):
        gap = max(0.0, max(low[v, t] - q[t], q[t] - high[v, t]))
        total = max(total, gap) if kind == 0 else total + term(gap, kind, p)
    return total


@jit
def dense_places(tiles, slots, n, low, high, w, kind, p, limit, enough, a, b, dense):
    """dense[place]: whether the weights within the limit reach ``enough``; leaves a to b."""
    bottom, d = tiles.shape[0], tiles.shape[1]
    nodes, near = np.empty(DEPTH, np.int64), np.empty(bottom, np.int64)
    q, values = np.empty(d), np.empty(WIDTH)
    for leaf in range(a, b):
        near[0], count = leaf, 1  # its own leaf first: that is often enough
        depth = 1
        nodes[0] = 1
        while depth > 0:
            depth -= 1
            v = nodes[depth]
            if box_gap(low, high, bottom + leaf, v, kind, p) > limit:
                continue
            if v < bottom:
                nodes[depth], nodes[depth + 1] = 2 * v, 2 * v + 1
                depth += 2
            elif v - bottom != leaf:
                near[count] = v - bottom
                count += 1
        for j in range(WIDTH):
            if slots[leaf, j] >= n:
                continue
            for t in range(d):
                q[t] = tiles[leaf, t, j]
            total = 0.0
            for c in range(count):
                if row_gap(q, low, high, bottom + near[c], kind, p) > limit:
                    continue
                leaf_distances(tiles, near[c], q, kind, p, values)
                for s in range(WIDTH):
                    if values[s] <= limit and slots[near[c], s] < n:
                        total += w[near[c] * WIDTH + s]
                if total >= enough:
                    break
            dense[leaf * WIDTH + j] = total >= enough


@jit
def root_of(parent, i):
    while parent[i] != i:
        parent[i] = parent[parent[i]]
        i = parent[i]
    return i


@jit
def unite(parent, i, j):
    i, j = root_of(parent, i), root_of(parent, j)
    if i < j:
        parent[j] = i
    elif j < i:
        parent[i] = j


@jit
def unite_leaves(tiles, x, y, kind, p, limit, dense, parent, once, q, values):
    """Unite the dense rows of two leaves that are near; ``once``: the first such pair is enough."""
    for i in range(WIDTH):
        if not dense[x * WIDTH + i]:
            continue
        for t in range(len(q)):
            q[t] = tiles[x, t, i]
        leaf_distances(tiles, y, q, kind, p, values)
        for j in range(WIDTH):
            if values[j] <= limit and dense[y * WIDTH + j]:
                unite(parent, x * WIDTH + i, y * WIDTH + j)
                if once:
                    return


@jit
def look_at_leaf(dense, parent, leaf, bottom, one, some):
    """Note a dense place of the leaf, and whether its dense rows are all one."""
    v = bottom + leaf
    first = some[v]
    if first < 0 or one[v]:
        return
    for j in range(WIDTH):
        i = leaf * WIDTH + j
        if dense[i] and root_of(parent, i) != root_of(parent, first):
            return
    one[v] = True


@jit
def unite_dense(tiles, low, high, kind, p, limit, dense, parent, some, a, b):
    """Unite dense rows of leaves a to b with those of the same and later leaves near them.

    some[v]: a dense place of node v, or -1.
    """
    bottom, d = tiles.shape[0], tiles.shape[1]
    one = np.zeros(2 * bottom, np.bool_)
    nodes, q, values = np.empty(DEPTH, np.int64), np.empty(d), np.empty(WIDTH)
    for x in range(a, b):
        u = bottom + x
        if some[u] < 0:
            continue
        if not one[u]:
            unite_leaves(tiles, x, x, kind, p, limit, dense, parent, False, q, values)
            look_at_leaf(dense, parent, x, bottom, one, some)
        depth = 1
        nodes[0] = 1
        while depth > 0:
            depth -= 1
            v = nodes[depth]
            if some[v] < 0 or box_gap(low, high, u, v, kind, p) > limit:
                continue
            if v < bottom and not one[v]:
                left, right = 2 * v, 2 * v + 1
                if some[left] < 0 or some[right] < 0:
                    one[v] = one[left] if some[right] < 0 else one[right]
                elif one[left] and one[right]:
                    one[v] = root_of(parent, some[left]) == root_of(parent, some[right])
            if one[v] and one[u] and root_of(parent, some[v]) == root_of(parent, some[u]):
                continue
            if v < bottom:
                nodes[depth], nodes[depth + 1] = 2 * v + 1, 2 * v
                depth += 2
            elif v - bottom > x:
                y = v - bottom
                if not one[v]:
                    unite_leaves(tiles, y, y, kind, p, limit, dense, parent, False, q, values)
                    look_at_leaf(dense, parent, y, bottom, one, some)
                once = one[u] and one[v]
                unite_leaves(tiles, x, y, kind, p, limit, dense, parent, once, q, values)


@jit
def merge_forests(into, other):
    for i in range(len(other)):
        if other[i] != i:
            unite(into, i, other[i])


@jit
def some_dense(dense, bottom, some):
    """some[v]: the first dense place of every node, or -1."""
    for v in range(2 * bottom - 1, 0, -1):
        some[v] = -1
        if v >= bottom:
            for j in range(WIDTH):
                if some[v] < 0 and dense[(v - bottom) * WIDTH + j]:
                    some[v] = (v - bottom) * WIDTH + j
        else:
            some[v] = some[2 * v] if some[2 * v] >= 0 else some[2 * v + 1]


@jit
def number_dense(parent, dense, place, labels):
    """Number the components by their first row; labels of places that are not dense are -1."""
    number = np.full(len(parent), -1, np.int64)
    labels[:] = -1
    found = 0
    for i in range(len(place)):
        at = place[i]
        if dense[at]:
            r = root_of(parent, at)
            if number[r] < 0:
                number[r] = found
                found += 1
            labels[at] = number[r]
    return found


@jit
def border_labels(tiles, slots, n, low, high, kind, p, limit, dense, labels, lowest, a, b):
    """Other rows take the lowest label of the dense rows near them; leaves a to b.

    lowest[v]: the lowest label in node v, or a large number.
    """
    bottom, d = tiles.shape[0], tiles.shape[1]
    nodes, q, values = np.empty(DEPTH, np.int64), np.empty(d), np.empty(WIDTH)
    for leaf in range(a, b):
        for i in range(WIDTH):
            at = leaf * WIDTH + i
            if slots[leaf, i] >= n or dense[at]:
                continue
            for t in range(d):
                q[t] = tiles[leaf, t, i]
            best = n
            depth = 1
            nodes[0] = 1
            while depth > 0:
                depth -= 1
                v = nodes[depth]
                if lowest[v] >= best or row_gap(q, low, high, v, kind, p) > limit:
                    continue
                if v < bottom:
                    nodes[depth], nodes[depth + 1] = 2 * v, 2 * v + 1
                    depth += 2
                    continue
                leaf_distances(tiles, v - bottom, q, kind, p, values)
                for j in range(WIDTH):
                    other = (v - bottom) * WIDTH + j
                    if values[j] <= limit and dense[other] and labels[other] < best:
                        best = labels[other]
            labels[at] = best if best < n else -1


@jit
def spread_labels(first, neighbour, dense, labels):
    """The same on given lists of neighbours, which need not be mutual: depth first from each row.

    Neighbours of row i are neighbour[first[i]:first[i + 1]].
    """
    n = len(dense)
    stack = np.empty(max(1, len(neighbour)) + 1, np.int64)
    found = 0
    for i in range(n):
        if labels[i] >= 0 or not dense[i]:
            continue
        stack[0], depth = i, 1
        while depth > 0:
            depth -= 1
            r = stack[depth]
            if labels[r] >= 0:
                continue
            labels[r] = found
            if dense[r]:
                for e in range(first[r], first[r + 1]):
                    if labels[neighbour[e]] < 0:
                        stack[depth] = neighbour[e]
                        depth += 1
        found += 1
    return found
