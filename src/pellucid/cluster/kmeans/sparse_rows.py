r"""k-means on sparse rows that are not written out.

    |x - c|^2 = |x|^2 - 2 x'c + |c|^2,      x'c over the values of x alone

The sums of the groups are exact (``passes.limb_grid``), and zeros add nothing to them, so a round
costs O(values x k) and the centres are all that is dense. A distance that is rounding of the two
squares is 0, so that a row lies on a centre that is one of its copies.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix

from pellucid.cluster.kmeans import kernels
from pellucid.cluster.kmeans.kernels import LIMBS
from pellucid.cluster.kmeans.passes import (
    Assigned,
    Box,
    Far,
    MemoryRows,
    Near,
    SourceRows,
    Space,
    check_reach,
    collapse,
    first_far,
    limb_grid,
    merge_sum,
    plain_array,
)
from pellucid.cluster.kmeans.seeding import Start, draw_rows, row_masses
from pellucid.core.arrays.sparse import column_spread
from pellucid.core.arrays.typing import Array, IntArray
from pellucid.core.loops import statistics
from pellucid.core.loops.statistics import LEAF_ROWS, Node, Rows
from pellucid.core.runtime.threads import map_threads

ROUNDING = 16 * np.finfo(np.float64).eps  # of |x|^2 + |c|^2: a distance below it is 0


def canonical(X: Any, *, unit: bool) -> Any:
    """CSR rows without stored zeros, their columns rising; of length 1 where ``unit``."""
    X = csr_matrix(X)
    if unit or not X.has_canonical_format or (len(X.data) and not X.data.all()):
        X = X.copy()
        X.sum_duplicates()
        X.eliminate_zeros()
    if unit:
        count = np.diff(X.indptr)
        if not count.all():
            row = int(np.argmin(count))
            raise ValueError(f"cosine needs rows that are not all zero, got zeros in row {row}")
        X.data /= np.asarray(abs(X).max(axis=1).todense()).ravel().repeat(count)  # no overflow
        X.data /= np.sqrt(squared_norms(X)).repeat(count)
    return X


def squared_norms(X: Any) -> Array:
    """|x|^2 of every row."""
    return np.asarray(X.multiply(X).sum(axis=1)).ravel()


def sparse_box(X: Any, w: Array) -> Box:
    """What is known of the rows before the start."""
    p, live = X.shape[1], X if statistics.is_unit(w) else X[np.flatnonzero(w > 0)]
    spread = column_spread(X, w)
    low, high = (np.asarray(end(axis=0).todense()).ravel() for end in (live.min, live.max))
    reach = check_reach(X.data) if len(X.data) else 0.0
    low, high = low.reshape(p), high.reshape(p)
    return Box(X.shape[0], *spread, low, high, reach, float(w.max()))


def squared_distances(X: Any, norms: Array, C: Array) -> Array:
    """|x - c|^2 of the rows of X and the centres, (n, k).

    >>> squared_distances(csr_matrix([[0.0, 3.0]]), np.array([9.0]), np.array([[4.0, 0.0]]))
    array([[25.]])
    """
    both = norms[:, None] + np.einsum("kt,kt->k", C, C)
    D = both - 2.0 * np.asarray(X @ C.T)
    D[ROUNDING * both >= D] = 0.0
    return D


def leaves_of(n: int) -> list[slice]:
    """The rows, LEAF_ROWS at a time."""
    return [slice(start, min(start + LEAF_ROWS, n)) for start in range(0, n, LEAF_ROWS)]


def nearest_sparse(space: Space, X: Any, C: Array) -> Near:
    """Nearest centres of all rows of a sparse X, and the terms of J."""
    X = canonical(X, unit=space.unit)
    norms, C = squared_norms(X), plain_array(C)

    def leaf(rows: slice) -> Near:
        D = squared_distances(X[rows], norms[rows], C)
        labels = D.argmin(axis=1).astype(np.int32)
        return Near(labels, space.scale * D[np.arange(len(labels)), labels])

    parts = list(map_threads(leaf, leaves_of(X.shape[0])))
    return Near(*(np.concatenate([part[i] for part in parts]) for i in range(2)))


class SparseRows:
    """Passes over sparse rows in memory."""

    def __init__(self, rows: Rows, space: Space, box: Box) -> None:
        self.X, self.space, self.grid = rows.X, space, limb_grid(box)
        self.w = np.ones(rows.n_rows) if statistics.is_unit(rows.w) else plain_array(rows.w)
        self.norms = squared_norms(self.X)
        self.labels: Any = None

    def begin(self) -> None:
        self.labels = None

    def _near(self, C: Array) -> Iterator[Near]:
        """The nearest centres, leaf by leaf."""

        def leaf(rows: slice) -> Near:
            D = squared_distances(self.X[rows], self.norms[rows], C)
            labels = D.argmin(axis=1).astype(np.int32)
            return Near(labels, self.space.scale * D[np.arange(len(labels)), labels])

        return iter(map_threads(leaf, leaves_of(self.X.shape[0])))

    def assign(self, C: Array, objective: float) -> Assigned:
        """Assign every row to its nearest centre (``objective`` is not needed here)."""
        near = list(self._near(C))
        values = [
            Node(0, i, float((self.w[rows] * part.terms).sum()))
            for i, (rows, part) in enumerate(zip(leaves_of(len(self.w)), near, strict=True))
        ]
        old, self.labels = self.labels, np.concatenate([part.labels for part in near])
        changed = len(self.labels) if old is None else int((self.labels != old).sum())
        value = float(statistics.merge_nodes(values, merge_sum))
        return Assigned(self._totals(len(C)), value, changed)

    def _totals(self, k: int) -> Array:
        """(k, LIMBS, p + 1): the exact sums of w (x, 1) of every group."""
        p = self.X.shape[1]
        total = np.zeros((k, LIMBS, p + 1))
        count = np.diff(self.X.indptr)
        place = self.labels.astype(np.intp).repeat(count) * p + self.X.indices
        cells, weights = self.w.repeat(count) * self.X.data, self.w.copy()
        for q in range(LIMBS):
            piece = (cells + self.grid[0, q]) - self.grid[0, q]
            cells -= piece
            total[:, q, :p] = np.bincount(place, piece, k * p).reshape(k, p)
            piece = (weights + self.grid[1, q]) - self.grid[1, q]
            weights -= piece
            total[:, q, p] = np.bincount(self.labels, piece, k)
        return total

    def _row(self, i: int) -> Array:
        row = np.zeros(self.X.shape[1])
        at = slice(self.X.indptr[i], self.X.indptr[i + 1])
        row[self.X.indices[at]] = self.X.data[at]
        return row

    def farthest(self, C: Array, count: int) -> tuple[Far, ...]:
        """The distinct rows farthest from their centres, one row written out at a time."""
        terms = np.concatenate([part.terms for part in self._near(C)])
        inside = np.flatnonzero((self.w > 0) & (terms > 0))
        distinct = np.unique(terms[inside])
        inside = inside[terms[inside] >= distinct[max(0, len(distinct) - count)]]
        found: dict[tuple[float, ...], Far] = {}
        for i in inside:
            x = self._row(int(i))
            row, label = tuple(x.tolist()), int(self.labels[i])
            if row not in found:
                none = np.zeros((LIMBS, len(x) + 1))
                found[row] = Far(float(terms[i]), row, label, none)
            kernels.add_row(found[row].total, x, float(self.w[i]), self.grid)
            if len(found) > 2 * count:  # a row that falls out now would fall out at the end
                found = {far.row: far for far in first_far(found.values(), count)}
        return first_far(found.values(), count)

    def relabel(self, far: Far, j: int) -> None:
        """Give a distinct row to centre j."""
        row = np.array(far.row)
        D = squared_distances(self.X, self.norms, row[None])[:, 0]
        same = [i for i in np.flatnonzero(D == 0.0) if (self._row(int(i)) == row).all()]
        self.labels[same] = j

    def finish(self, C: Array) -> tuple[float, Array]:
        """J and the weight of each centre once every row is with its nearest one."""
        assigned = self.assign(C, 0.0)
        return assigned.objective, collapse(assigned.total)[0]


Passes = SourceRows | MemoryRows | SparseRows


class SparseField:
    """Masses of sparse rows for the starts; see ``seeding.Field``."""

    def __init__(self, rows: Rows, power: float) -> None:
        self.X, self.power = rows.X, power
        self.w = np.ascontiguousarray(rows.w)
        self.norms = squared_norms(self.X)
        self.leaves = leaves_of(rows.n_rows)

    def begin(self, starts: int) -> Array:
        """Forget all centres; returns the sum of w in each leaf."""
        self.near = np.full((starts, len(self.w)), np.inf)
        self.count = 0
        return np.array([self.w[rows].sum() for rows in self.leaves])

    def _distances(self, C: Array) -> Array:
        """(n, m) distances of all rows to the rows of C."""

        def leaf(rows: slice) -> Array:
            return squared_distances(self.X[rows], self.norms[rows], C)

        return np.concatenate(list(map_threads(leaf, self.leaves)))

    def _follow(self, chosen: Array) -> None:
        """Bring the distances to the nearest chosen centre up to date."""
        for i in range(self.count, chosen.shape[1]):
            for near, D in zip(self.near, self._distances(chosen[:, i]).T, strict=True):
                np.minimum(near, D, out=near)
        self.count = chosen.shape[1]

    def masses(self, chosen: Array, candidates: Array) -> Array:
        """(leaves, starts, m): the mass of each leaf if candidate j were chosen next."""
        self._follow(chosen)
        starts, m = candidates.shape[:2]
        out = np.empty((len(self.leaves), starts, m))
        for r in range(starts):
            D = np.minimum(self._distances(candidates[r]), self.near[r][:, None])
            for a, rows in enumerate(self.leaves):
                out[a, r] = [self._mass(D[rows, j], self.w[rows]) for j in range(m)]
        return out

    def _mass(self, v: Array, w: Array) -> float:
        if self.power == np.inf:
            return float(v[w > 0].max(initial=0.0))
        return float(row_masses(v, w, self.power).sum())

    def draw(self, chosen: Array, leaves: IntArray, u: Array, by_weight: list[bool]) -> Start:
        """Rows (starts, m) from the leaves (starts, m), at the quantiles u of their mass."""
        self._follow(chosen)
        starts, m = leaves.shape
        indices = np.empty((starts, m), dtype=np.intp)
        for leaf in np.unique(leaves):
            rows = self.leaves[leaf]
            order = lexicographic_sparse(self.X[rows])
            for r, j in np.argwhere(leaves == leaf).tolist():
                v = None if by_weight[r] else self.near[r][rows]
                drawn = draw_rows(v, self.w[rows], order, u[r, j : j + 1], self.power)
                indices[r, j] = rows.start + int(drawn[0])
        centers = np.asarray(self.X[indices.ravel()].todense())
        return Start(centers.reshape(starts, m, -1), indices)


def lexicographic_sparse(X: Any) -> IntArray:
    """The order of sparse rows by first column, then second, ...

    Two rows first differ at a column where one has a value that the other does not: a negative one
    puts it before, a positive one after, the more so the earlier the column.

    >>> lexicographic_sparse(csr_matrix([[1.0, 5.0], [0.0, 9.0], [1.0, 2.0], [-1.0, 0.0]]))
    array([3, 1, 2, 0])
    """
    keys: list[list[tuple[int, int, float]]] = []
    for i in range(X.shape[0]):
        at = slice(X.indptr[i], X.indptr[i + 1])
        pairs = zip(X.indices[at].tolist(), X.data[at].tolist(), strict=True)
        keys.append([(-1, c, v) if v < 0 else (1, -c, v) for c, v in pairs] + [(0, 0, 0.0)])
    return np.array(sorted(range(len(keys)), key=keys.__getitem__), dtype=np.intp)
