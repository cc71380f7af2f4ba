"""The kd-tree of a table, built in threads: see ``compiled.distances.kd_tree`` for its form."""

from typing import NamedTuple

import numpy as np

from pellucid.compiled.distances.kd_tree import WIDTH, grow, pack_leaves
from pellucid.core.arrays.typing import Array, IntArray
from pellucid.core.runtime.threads import map_threads, thread_count

SMALL_WORK = 1 << 18  # values below which threads cost more than they save


class Tree(NamedTuple):
    """A balanced kd-tree; see ``compiled.distances.kd_tree``."""

    tiles: Array  # (leaves, d, WIDTH) the rows of each leaf by coordinate
    slots: IntArray  # (leaves, WIDTH) where they stood
    axis: IntArray  # (leaves,) of the inner nodes, from 1 on
    cut: Array
    n_rows: int


def node_ranges(n: int, bottom: int) -> tuple[IntArray, IntArray]:
    """First and last row of every node: each level halves the ranges of the one above."""
    start, end = np.zeros(2 * bottom, np.int64), np.zeros(2 * bottom, np.int64)
    end[1] = n
    first = 1
    while first < bottom:
        a, b = start[first : 2 * first], end[first : 2 * first]
        middle = (a + b) >> 1
        start[2 * first : 4 * first : 2], end[2 * first : 4 * first : 2] = a, middle
        start[2 * first + 1 : 4 * first : 2], end[2 * first + 1 : 4 * first : 2] = middle, b
        first *= 2
    return start, end


def build_tree(X: Array, leaf_size: int = WIDTH) -> Tree:
    """The kd-tree of the rows; the same one for any number of threads.

    >>> build_tree(np.arange(20.0)[:, None], 5).cut[1:].tolist()
    [10.0, 5.0, 15.0]
    """
    n = len(X)
    bottom = 1
    while n / bottom > min(leaf_size, WIDTH):
        bottom *= 2
    start, end = node_ranges(n, bottom)
    rows, index = X.copy(), np.arange(n)
    axis, cut = np.zeros(bottom, np.int64), np.zeros(bottom)
    top = 1  # nodes of this level are the tasks
    while top < bottom and n * X.shape[1] > SMALL_WORK and top < 4 * thread_count():
        top *= 2
    grow(rows, index, start, end, axis, cut, 1, top)

    def branch(root: int) -> None:
        grow(rows, index, start, end, axis, cut, root, bottom)

    if top == 1:
        branch(1)
    else:
        list(map_threads(branch, range(top, 2 * top)))
    tiles, slots = np.empty((bottom, X.shape[1], WIDTH)), np.empty((bottom, WIDTH), np.int64)
    pack_leaves(rows, index, start, end, tiles, slots)
    return Tree(tiles, slots, axis, cut, n)
