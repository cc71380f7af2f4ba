r"""The columns of X that a proximal Newton step works on.

Three products are all it needs, for a chosen set A of columns and for all of them,

    X_A d,      X_A'r,      X_A' diag(h) X_A,

with h the curvature of the rows. Dense rows with few columns keep X as it is and take the weighted
cross-products from ``core.algebra.gram``; otherwise chosen columns are copied once, each as a row
of a buffer that only grows; sparse columns stay sparse. Sums over rows are taken in blocks of fixed
size, in order, so that the bits do not depend on the number of threads.
"""

from collections.abc import Callable
from functools import reduce
from operator import add
from typing import Any

import numpy as np
from scipy.sparse import csc_array, diags_array, issparse

from pellucid.core.algebra.least_squares import joint_moments
from pellucid.core.arrays.typing import Array, IntArray
from pellucid.core.loops.statistics import Rows
from pellucid.core.runtime.threads import map_threads

BLOCK_ROWS = 16384  # rows of one task
STRIP = 1 << 17  # cells that stay in cache between two products
BLOCK_COLUMNS = 512  # columns of one task
BAND = 64  # columns of one task of the cross-products
FEW_COLUMNS = 256  # columns up to which every one is worked on


def row_blocks(n: int) -> list[tuple[int, int]]:
    """Fixed blocks of rows."""
    return [(i, min(i + BLOCK_ROWS, n)) for i in range(0, n, BLOCK_ROWS)]


def sum_blocks(part: Callable[[int, int], Array], blocks: list[tuple[int, int]]) -> Array:
    """The sum of ``part(start, stop)`` over the blocks, first to last."""
    return reduce(add, map_threads(lambda block: part(*block), blocks))


class WholeColumns:
    """Dense X with few columns: all of them are always worked on."""

    whole = True

    def __init__(self, X: Array) -> None:
        self.X = X
        self.n, self.p = X.shape
        self.blocks = row_blocks(self.n)
        self.strip = max(64, STRIP // self.p)

    def dot(self, index: IntArray, d: Array) -> Array:
        """X_A d, (n,)."""
        return np.concatenate(list(map_threads(lambda s: self.X[s[0] : s[1]] @ d, self.blocks)))

    def transposed(self, index: IntArray, R: Array) -> Array:
        """R X_A for R (q, n): (q, m)."""

        def part(start: int, stop: int) -> Array:
            total = np.zeros((len(R), self.p))
            for a in range(start, stop, self.strip):
                b = min(a + self.strip, stop)
                for q in range(len(R)):
                    total[q] += R[q, a:b] @ self.X[a:b]
            return total

        return sum_blocks(part, self.blocks)

    def all(self, R: Array) -> Array:
        """R X, (q, p)."""
        return self.transposed(np.arange(self.p), R)

    def gram(self, index: IntArray, h: Array) -> tuple[Array, Array]:
        """X'diag(h)X about the weighted means, and those means."""
        total = joint_moments(Rows(self.X, h[:, None], h), map_threads)
        return np.ascontiguousarray(total.scatter[: self.p, : self.p]), total.mean[: self.p]


class BufferedColumns:
    """Dense X: a column is copied into a row of the buffer when it is first worked on."""

    whole = False

    def __init__(self, X: Array) -> None:
        self.X = X
        self.n, self.p = X.shape
        self.blocks = row_blocks(self.n)
        self.place = np.full(self.p, -1, np.intp)
        self.count = 0
        self.B = np.empty((min(64, self.p), self.n))
        self.last: tuple[IntArray, Array] = (np.empty(0, np.intp), self.B[:0])

    def rows_of(self, index: IntArray) -> Array:
        """The chosen columns as rows, (m, n)."""
        if np.array_equal(index, self.last[0]):
            return self.last[1]
        new = index[self.place[index] < 0]
        if len(new):
            need = self.count + len(new)
            if need > len(self.B):
                B = np.empty((min(max(2 * len(self.B), need), self.p), self.n))
                B[: self.count] = self.B[: self.count]
                self.B = B
            self.B[self.count : need] = self.X[:, new].T
            self.place[new] = np.arange(self.count, need)
            self.count = need
        self.last = (index.copy(), self.B[self.place[index]])
        return self.last[1]

    def dot(self, index: IntArray, d: Array) -> Array:
        S = self.rows_of(index)
        return np.concatenate(list(map_threads(lambda s: d @ S[:, s[0] : s[1]], self.blocks)))

    def transposed(self, index: IntArray, R: Array) -> Array:
        S = self.rows_of(index)
        return sum_blocks(lambda a, b: R[:, a:b] @ S[:, a:b].T, self.blocks)

    def all(self, R: Array) -> Array:
        out = np.empty((len(R), self.p))

        def fill(start: int) -> None:
            stop = min(start + BLOCK_COLUMNS, self.p)
            for q in range(len(R)):
                out[q, start:stop] = R[q] @ self.X[:, start:stop]

        list(map_threads(fill, range(0, self.p, BLOCK_COLUMNS)))
        return out

    def cross(self, left: IntArray, right: IntArray, h: Array) -> Array:
        """X_left' diag(h) X_right, (a, b)."""
        L, R = self.rows_of(left), self.rows_of(right)
        return sum_blocks(lambda a, b: (L[:, a:b] * h[a:b]) @ R[:, a:b].T, self.blocks)

    def gram(self, index: IntArray, h: Array) -> tuple[Array, Array]:
        S = self.rows_of(index)
        mean = (S @ h) / h.sum()
        root = np.sqrt(h)
        if len(self.blocks) == 1:  # few rows: the columns are shared out instead
            return self._gram_by_columns(S, mean, root), mean

        def part(a: int, b: int) -> Array:
            T = (S[:, a:b] - mean[:, None]) * root[a:b]
            return T @ T.T

        return sum_blocks(part, self.blocks), mean

    def _gram_by_columns(self, S: Array, mean: Array, root: Array) -> Array:
        """The same cross-products, a band of columns against itself and those before at a time."""
        T, G = np.empty_like(S), np.empty((len(S), len(S)))
        bands = [slice(a, min(a + BAND, len(S))) for a in range(0, len(S), BAND)]

        def scale(band: slice) -> None:
            np.subtract(S[band], mean[band, None], out=T[band])
            T[band] *= root

        def fill(band: slice) -> None:
            G[band, : band.stop] = T[band] @ T[: band.stop].T
            G[: band.start, band] = G[band, : band.start].T

        list(map_threads(scale, bands))
        list(map_threads(fill, bands[::-1]))  # the widest first
        return G


class SparseColumns:
    """Sparse X by columns; the chosen ones are cut out when the choice changes."""

    whole = False

    def __init__(self, X: np.ndarray) -> None:
        self.X = csc_array(X)
        self.Xt = self.X.T  # CSR view
        self.n, self.p = X.shape
        self.index = np.empty(0, np.intp)
        self.A = self.X[:, self.index]

    def cut(self, index: IntArray) -> Any:
        if not np.array_equal(index, self.index):
            self.index, self.A = index.copy(), self.X[:, index]
        return self.A

    def dot(self, index: IntArray, d: Array) -> Array:
        return self.cut(index) @ d

    def transposed(self, index: IntArray, R: Array) -> Array:
        return (self.cut(index).T @ R.T).T

    def all(self, R: Array) -> Array:
        return (self.Xt @ R.T).T

    def cross(self, left: IntArray, right: IntArray, h: Array) -> Array:
        L, R = self.X[:, left], self.X[:, right]
        return (L.T @ (diags_array(h) @ R)).toarray()

    def gram(self, index: IntArray, h: Array) -> tuple[Array, Array]:
        A = self.cut(index)
        mean = (A.T @ h) / h.sum()
        G = (A.T @ (diags_array(h) @ A)).toarray()
        raw = np.diag(G).copy()
        G -= h.sum() * np.outer(mean, mean)
        gone = np.diag(G) <= 1e-13 * raw  # nothing is left of a constant column
        G[gone], G[:, gone] = 0.0, 0.0
        return G, mean


def make_columns(X: Any, n_classes: int) -> Any:
    """The design that suits X."""
    if issparse(X):
        return SparseColumns(X)
    n, p = X.shape
    if n_classes == 2 and p <= FEW_COLUMNS and n >= 4 * p and X.flags.c_contiguous:
        return WholeColumns(X)
    return BufferedColumns(X)
