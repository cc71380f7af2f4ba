r"""Trees of merges from rows sorted in space: no matrix, and most distances never computed.

    ward    nearest-neighbour chains over centres (``kernels/ward.py``); the centres that are
            left are sorted anew whenever a quarter has been merged
    single  minimum spanning tree by Borůvka's rounds (``kernels/spanning.py``)

Cost: O(n p) memory; time n^2 p / 64 for the bounds plus the distances that they do not rule out,
few in ten columns of grouped rows, most where columns are many.
"""

from typing import NamedTuple

import numpy as np

from pellucid.cluster.hierarchy.kernels.spanning import join_nearest, next_round, search_places
from pellucid.cluster.hierarchy.kernels.tiles import ROWS, tile_boxes
from pellucid.cluster.hierarchy.kernels.ward import ward_merges
from pellucid.compiled.distances.kd_building import build_tree, node_ranges
from pellucid.core.arrays.typing import Array, IntArray
from pellucid.core.runtime.threads import map_threads

FEW = 4 * ROWS  # centres that are not sorted anew
PLACES = 512  # places that a thread searches before it asks for more
SAMPLE = 128  # places that are searched first, to see how much the boxes rule out
WORTH = 0.3  # of the tiles looked at: with more, Prim's tree is as fast


class Tiles(NamedTuple):
    """Rows in the order of a kd-tree, by coordinate, in tiles with boxes."""

    columns: Array  # (p, n)
    order: IntArray  # (n,) the row at each place
    first: IntArray  # (tiles + 1,)
    low: Array  # (p, tiles)
    high: Array
    home: IntArray  # (n,) the tile of each place


def tiles_of(X: Array) -> Tiles:
    """Sort rows in space.

    >>> tiles_of(np.array([[3.0], [1.0]])).low
    array([[1.]])
    """
    n, p = X.shape
    slots = build_tree(X).slots.ravel()
    order = slots[slots < n]
    m = 1
    while n / m > ROWS:
        m *= 2
    first = np.append(node_ranges(n, m)[0][m:], n)
    columns = np.ascontiguousarray(X[order].T)
    low, high = np.empty((p, m)), np.empty((p, m))
    tile_boxes(columns, first, low, high)
    return Tiles(columns, order, first, low, high, np.repeat(np.arange(m), np.diff(first)))


def ward_tree(X: Array, ends: IntArray, heights: Array) -> None:
    """Ward's merges of rows, each between two rows' clusters; heights are squared.

    >>> ends, heights = np.empty((2, 2), np.int64), np.empty(2)
    >>> ward_tree(np.array([[0.0], [1.0], [5.0]]), ends, heights)
    >>> ends.tolist(), heights
    ([[0, 1], [1, 2]], array([ 1., 27.]))
    """
    n = len(X)
    chain, state = np.empty(n, np.int64), np.zeros(3, np.int64)
    slots, C, size = np.arange(n), X, np.ones(n)
    while state[0] < n - 1:
        T = tiles_of(C)
        size = size[T.order]
        name, where = slots[T.order], np.full(n, -1)
        where[name] = np.arange(len(name))
        few = np.minimum.reduceat(size, T.first[:-1])
        alive = len(name)
        stop = 1 if alive <= FEW else 3 * alive // 4
        places = T.columns, name, size, *T[2:5], few, T.home, where
        ward_merges(*places, chain, state, stop, ends, heights)
        left = np.flatnonzero(size > 0)
        slots, C, size = name[left], np.ascontiguousarray(T.columns[:, left].T), size[left]


def near_spanning_tree(X: Array, ends: IntArray, heights: Array) -> bool:
    """The Euclidean minimum spanning tree, lengths squared; False if boxes rule out too little.

    >>> ends, heights = np.empty((2, 2), np.int64), np.empty(2)
    >>> near_spanning_tree(np.array([[0.0], [1.0], [5.0]]), ends, heights)
    True
    >>> ends.tolist(), heights
    ([[0, 1], [1, 2]], array([ 1., 16.]))
    """
    n, T = len(X), tiles_of(X)
    component, places = np.arange(n), np.arange(n)
    gap, other, best = np.zeros(n), np.full(n, -1), np.full(n, np.inf)
    whole = np.full(len(T.first) - 1, -1)
    largest, k = -1, 0

    def search(span: tuple[IntArray, int, int]) -> int:
        tiles = T.columns, T.order, component, *T[2:5], whole, T.home
        return search_places(*tiles, largest, best, gap, other, *span)

    tried = np.linspace(0, n - 1, min(SAMPLE, n)).astype(np.int64)
    if search((tried, 0, len(tried))) > max(WORTH * len(whole), 16) * len(tried):
        return False
    while k < n - 1:
        list(map_threads(search, [(places, a, min(a + PLACES, n)) for a in range(0, n, PLACES)]))
        k = join_nearest(T.order, component, gap, other, largest, k, ends, heights)
        largest = next_round(component, T.first, gap, other, best, whole)
    return True
