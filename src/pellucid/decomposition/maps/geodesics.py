r"""Shortest paths between all pairs of nodes of a graph with lengths >= 0, given by rows (CSR).

One source   Dijkstra: take the nearest node that is not settled from a heap, relax its edges
LANES        sources near each other settle the nodes in nearly the same order. So Dijkstra is done
together     for one of them, and all nodes are relaxed in its order for LANES sources at once,
                 d_v <- min(d_v, d_u + length(u, v))      for the neighbours u of v
             without a branch; nodes whose neighbours have changed are looked at again until none is
             left. If that takes MOST passes, every source gets its own Dijkstra.

Rounded sums grow with their parts, so both ways end at the least rounded length of any path: the
bits are those of Dijkstra, for any number of threads.

Reference: Dijkstra (1959).
"""

from typing import Any, NamedTuple

import numpy as np

from pellucid.core.arrays.typing import Array, IntArray
from pellucid.core.runtime.jit import jit
from pellucid.core.runtime.threads import map_threads

LANES = 16  # sources that share a pass: their distances to a node are two lines of the cache
MOST = 32  # passes over the nodes, of which the later ones look at few
BLOCKS = 4  # of sources, in a task of a thread


class Graph(NamedTuple):
    """Edges of node v at first[v] to first[v + 1]; each stands at both of its ends."""

    first: IntArray  # (n + 1,)
    to: IntArray
    length: Array


def undirected(i: IntArray, j: IntArray, length: Array, n: int) -> Graph:
    """The graph of edges in either direction; of several between two nodes the shortest counts.

    >>> undirected(np.array([0, 1, 1]), np.array([1, 0, 2]), np.array([3.0, 2.0, 1.0]), 3)
    Graph(first=array([0, 1, 3, 4]), to=array([1, 0, 2, 1]), length=array([2., 2., 1., 1.]))
    """
    a, b = np.concatenate([i, j]), np.concatenate([j, i])
    both = np.concatenate([length, length])
    order = np.lexsort((both, a * n + b))
    key = (a * n + b)[order]
    order = order[np.append(True, key[1:] != key[:-1])] if len(key) else order
    first = np.searchsorted(a[order], np.arange(n + 1))
    return Graph(first.astype(np.int64), b[order].astype(np.int64), both[order])


@jit
def sift_up(heap: Any, at: Any, d: Any, i: int) -> None:
    """Move the node at place i of the heap of four children up to where it belongs."""
    v = heap[i]
    while i > 0:
        above = (i - 1) >> 2
        if d[heap[above]] <= d[v]:
            break
        heap[i] = heap[above]
        at[heap[i]] = i
        i = above
    heap[i] = v
    at[v] = i


@jit
def sift_down(heap: Any, at: Any, d: Any, size: int) -> None:
    """Move the node at the top of the heap down to where it belongs."""
    v, i = heap[0], 0
    while 4 * i + 1 < size:
        least = 4 * i + 1
        for c in range(4 * i + 2, min(4 * i + 5, size)):
            if d[heap[c]] < d[heap[least]]:
                least = c
        if d[heap[least]] >= d[v]:
            break
        heap[i] = heap[least]
        at[heap[i]] = i
        i = least
    heap[i] = v
    at[v] = i


@jit
def dijkstra(first: Any, to: Any, length: Any, source: int, d: Any, heap: Any, order: Any) -> int:
    """Distances d (n,) from the source; the nodes in the order settled; how many. heap (2, n)."""
    n = len(d)
    nodes, at = heap[0], heap[1]
    for v in range(n):
        d[v], at[v] = np.inf, -1
    d[source], nodes[0], at[source] = 0.0, source, 0
    size, settled = 1, 0
    while size > 0:
        v = nodes[0]
        order[settled] = v
        settled += 1
        size -= 1
        if size > 0:
            nodes[0] = nodes[size]
            sift_down(nodes, at, d, size)
        for e in range(first[v], first[v + 1]):
            u, there = to[e], d[v] + length[e]
            if there < d[u]:
                d[u] = there
                if at[u] < 0:
                    at[u] = size
                    nodes[size] = u
                    size += 1
                sift_up(nodes, at, d, at[u])
    return settled


@jit
def look(first: Any, to: Any, length: Any, v: int, d: Any, new: Any) -> bool:
    """Relax the edges into v for all lanes of d (n, LANES); whether anything became shorter."""
    for c in range(LANES):
        new[c] = d[v, c]
    for e in range(first[v], first[v + 1]):
        u, along = to[e], length[e]
        for c in range(LANES):
            there = d[u, c] + along
            new[c] = there if there < new[c] else new[c]
    shorter = 0
    for c in range(LANES):
        shorter += new[c] < d[v, c]
        d[v, c] = new[c]
    return shorter > 0


@jit
def together(first: Any, to: Any, length: Any, order: Any, d: Any, dirty: Any) -> bool:
    """Relax the nodes in the given order until nothing changes; False where it takes too long."""
    n, passes, left = len(d), 0, True
    new = np.empty(LANES)
    while left:
        if passes == MOST:
            return False
        left = False
        passes += 1
        for i in range(n):
            v = order[i]
            if not dirty[v]:
                continue
            dirty[v] = False
            if look(first, to, length, v, d, new):
                left = True
                for e in range(first[v], first[v + 1]):
                    dirty[to[e]] = True
    return True


@jit
def block_distances(
    first: Any, to: Any, length: Any, sources: Any, begin: int, end: int, D: Any
) -> None:
    """Rows sources[begin:end] of D (n, n), LANES at a time."""
    n = len(first) - 1
    heap, order = np.empty((2, n), np.int64), np.empty(n, np.int64)
    d, dirty = np.empty((n, LANES)), np.empty(n, np.bool_)
    for b in range(begin, end, LANES):
        m = min(LANES, end - b)
        whole = dijkstra(first, to, length, sources[b], D[sources[b]], heap, order) == n
        done = False
        if whole and m > 1:
            d[:] = np.inf
            dirty[:] = True
            for c in range(LANES):
                d[sources[b + min(c, m - 1)], c] = 0.0
            done = together(first, to, length, order, d, dirty)
        for c in range(1, m):
            s = sources[b + c]
            if done:
                for v in range(n):
                    D[s, v] = d[v, c]
            else:
                dijkstra(first, to, length, s, D[s], heap, order)


@jit
def near_each_other(first: Any, to: Any, out: Any) -> None:
    """All nodes, LANES after each other that are few edges apart; out (n,)."""
    n = len(out)
    taken, seen, queue = np.zeros(n, np.bool_), np.full(n, -1), np.empty(n, np.int64)
    found = 0
    for s in range(n):
        if taken[s]:
            continue
        queue[0], seen[s] = s, s
        begin, end, left = 0, 1, LANES
        while begin < end and left > 0:
            v = queue[begin]
            begin += 1
            if not taken[v]:
                taken[v] = True
                out[found] = v
                found += 1
                left -= 1
            for e in range(first[v], first[v + 1]):
                if seen[to[e]] != s:
                    seen[to[e]] = s
                    queue[end] = to[e]
                    end += 1


def geodesic_distances(graph: Graph) -> Array:
    """Lengths of the shortest paths between all nodes, (n, n); inf where there is none.

    >>> geodesic_distances(Graph(np.array([0, 1, 2]), np.array([1, 0]), np.array([3.0, 3.0])))
    array([[0., 3.],
           [3., 0.]])
    """
    n = len(graph.first) - 1
    D, sources = np.empty((n, n)), np.empty(n, np.int64)
    near_each_other(graph.first, graph.to, sources)

    def rows(begin: int) -> None:
        block_distances(*graph, sources, begin, min(begin + BLOCKS * LANES, n), D)

    list(map_threads(rows, range(0, n, BLOCKS * LANES)))
    return D
