r"""2-means of rows in memory, the split of bisecting k-means.

Model        two centres; a row belongs to the nearer (the first on ties)
Algorithm    Lloyd's rounds: the sides of the plane between the centres, then their means,

                 S_1 = sum_{side 1} w_i (x_i, 1),     S_0 = S - S_1

             with sums that are exact (in limbs, see ``kernels.py``), so that S_0 needs no sum of
             its own, S_1 changes only by the rows that cross the plane, and neither depends on
             the order of rows or threads
Cost         one product per row and round, none for rows too far from the plane to cross it

After the first round both sides hold rows: with c_1 the mean of its side, the signed distances
of its rows from the plane have a positive mean. Only a start may leave one empty.
"""

import math
from collections.abc import Callable
from copy import copy
from typing import Any, NamedTuple

import numpy as np

from pellucid.cluster.kmeans import kernels as kmeans
from pellucid.cluster.kmeans import two_means_kernels as two_means
from pellucid.cluster.kmeans.kernels import LIMBS
from pellucid.cluster.kmeans.lloyd import Limits
from pellucid.cluster.kmeans.passes import collapse
from pellucid.core.arrays.typing import Array
from pellucid.core.loops.iterate import Iteration, iterate
from pellucid.core.loops.statistics import LEAF_ROWS
from pellucid.core.runtime.threads import map_threads

CHUNK = 4 * LEAF_ROWS  # rows that a thread takes at a time
SMALL_WORK = 1 << 20  # about half a nanosecond each, below which threads cost more than they save
SMALL_TABLE = 1 << 22  # below it threads share the starts, not the rows of each round


class Halved(NamedTuple):
    """Rows in two parts."""

    centers: Array  # (2, p)
    inertia: Array  # (2,)
    weight: Array  # (2,)
    side: Any  # (m,) int32, 0 or 1 for each row
    iteration: Iteration


class Halves:
    """Rows X (n, p) with weights w, and on which side of two centres each of them is."""

    def __init__(self, X: Array, w: Array, grid: Array) -> None:
        n, p = X.shape
        self.X, self.w, self.grid = X, w, grid
        self.chunks = [slice(start, min(start + CHUNK, n)) for start in range(0, n, CHUNK)]
        none = np.zeros(n, np.int32)

        def part(rows: slice) -> Array:
            total = np.zeros((1, LIMBS, p + 1))
            kmeans.group_rows(X[rows], w[rows], none[rows], grid, total)
            return total

        self.whole = sum(self._map(part, n), np.zeros((1, LIMBS, p + 1)))[0]

    @property
    def small(self) -> bool:
        """Whether a run of its own for each thread is better than threads in every round."""
        n, p = self.X.shape
        return n * (p + 16) < SMALL_TABLE

    def _map(self, part: Callable[[slice], Any], looked: int) -> list[Any]:
        """``part`` of every chunk, in order; of all at once if few rows will be looked at."""
        n, p = self.X.shape
        if looked * (p + 16) + 2 * n < SMALL_WORK:
            return [part(slice(0, n))]
        return list(map_threads(part, self.chunks))

    def fresh(self) -> "Halves":
        """The same rows, all on side 0, none of them surely; runs may go on at the same time."""
        own = copy(self)
        own._begin()
        return own

    def _begin(self) -> None:
        n, p = self.X.shape
        self.side, self.sure = np.zeros(n, np.int32), np.full(n, -1.0)
        self.total = np.zeros((LIMBS, p + 1))
        self.spent, self.C, self.looked = 0.0, np.empty((0, p)), n

    def assign(self, C: Array) -> tuple[Array, Array]:
        """Every row to the nearer centre; the weights (2,) and sums (2, p) of the sides."""
        p = C.shape[1]
        slack = 4.0 * (p + 8) * 2.0**-52
        if len(self.C):
            way = float(np.sqrt(((C - self.C) ** 2).sum(axis=1)).sum())
            self.spent = (self.spent + way * (1 + slack)) * (1 + 2.0**-50)
        origin = C[0] + 0.5 * (C[1] - C[0])
        about = C - origin
        squares, d = (about**2).sum(axis=1), C[1] - C[0]
        offset, spread = 0.5 * float(squares[1] - squares[0]), 2.0 * float(squares.sum())
        apart = float(np.sqrt((about.sum(axis=0) ** 2).sum())) + slack * math.sqrt(spread)

        def part(rows: slice) -> tuple[Array, int]:
            total = np.zeros((LIMBS, p + 1))
            plane = C, origin, d, offset, spread, apart, self.spent, self.grid
            known = self.side[rows], self.sure[rows]
            looked = two_means.side_sweep(self.X[rows], self.w[rows], *plane, *known, total)
            return total, looked

        parts = self._map(part, self.looked)
        self.total = sum((total for total, _ in parts), self.total)
        self.C, self.looked = C, sum(looked for _, looked in parts)
        return collapse(np.array([self.whole - self.total, self.total]))

    def costs(self, C: Array) -> Array:
        """(2,) sum of w |x - c|^2 of each side, leaf by leaf."""

        def part(rows: slice) -> Array:
            starts = range(rows.start, rows.stop, LEAF_ROWS)
            out = np.zeros((len(starts), 2))
            for leaf, start in zip(out, starts, strict=True):
                at = slice(start, min(start + LEAF_ROWS, rows.stop))
                two_means.side_costs(self.X[at], self.w[at], C, self.side[at], leaf)
            return out

        return np.concatenate(self._map(part, len(self.X))).sum(axis=0)


def run_two_means(rows: Halves, start: Array, limits: Limits) -> Halved | None:
    """Rounds until the squared moves sum to at most ``tol``, then the sides of the last centres.

    None if the start leaves a side empty.
    """
    rows, empty = rows.fresh(), False

    def step(C: Array) -> tuple[Array, float]:
        nonlocal empty
        weight, S = rows.assign(C)
        empty = not (weight > 0).all()
        new = C if empty else S / weight[:, None]
        return new, float(((new - C) ** 2).sum())

    run = iterate(step, start, max_iter=limits.max_iter, tol=limits.tol, warn=False)
    weight, _ = rows.assign(run.state)
    if empty or not (weight > 0).all():
        return None
    return Halved(run.state, rows.costs(run.state), weight, rows.side, run)
