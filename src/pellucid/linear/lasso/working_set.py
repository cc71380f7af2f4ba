r"""Columns of a large X, and a working set of them that is solved on its cross-products.

The intercept and unpenalised columns F are projected out: with Q an orthonormal basis of F and
M = I - QQ', the problem is that of M X and M y. X itself is neither copied nor made dense: the
columns of the working set are projected one by one, and X'r needs no projection since r = M r.
Products with all columns are cut at fixed places, so that threads do not change their bits.
"""

from typing import Any

import numpy as np
from scipy.sparse import csc_array

from pellucid.compiled.epochs.coordinate import extrapolate, solve_gram
from pellucid.core.algebra.linalg import EPS
from pellucid.core.arrays.typing import Array, BoolArray, IntArray
from pellucid.core.runtime.threads import map_threads
from pellucid.linear.lasso.sums import DEPENDENT

CHUNK = 1024  # columns of X'r that one thread takes
FIRST = 128  # columns a working set starts with, and the fewest it grows by


class DenseColumns:
    """M X of a dense X: products with all columns, copies of a few."""

    def __init__(self, X: Array, Q: Array) -> None:
        self.X, self.Q, self.n = X, Q, len(X)
        self.XQ = self._products(Q) if Q.shape[1] else np.zeros((X.shape[1], 0))
        self.kept = np.empty((FIRST, self.n))  # the working set, one column a row
        self.size = 0

    def _products(self, R: Array) -> Array:
        out = np.empty((self.X.shape[1], R.shape[1]))

        def part(start: int) -> None:
            np.matmul(self.X[:, start : start + CHUNK].T, R, out=out[start : start + CHUNK])

        list(map_threads(part, range(0, len(out), CHUNK)))
        return out

    def correlate(self, R: Array) -> Array:
        """X'R for R = M R, (p, k)."""
        return self._products(R) - self.XQ @ (self.Q.T @ R)

    def columns(self, index: IntArray) -> Array:
        """M x_j of some columns, one a row."""
        C = np.ascontiguousarray(self.X[:, index].T)
        before = (C**2).sum(axis=1)
        for _ in range(2):  # a column far from 0 needs it twice
            C -= (C @ self.Q) @ self.Q.T
        C[(C**2).sum(axis=1) <= (10 * EPS) ** 2 * before] = 0.0
        if self.Q.shape[1] > 1:
            C[(C**2).sum(axis=1) <= DEPENDENT * before] = 0.0
        return C

    def cross_products(self, index: IntArray) -> Array:
        C = self.columns(index)
        return C @ C.T

    def clear(self) -> None:
        self.size = 0

    def join(self, index: IntArray) -> Array:
        """Let columns join the working set; their products with all of it, (new, size)."""
        m, k = self.size, len(index)
        if m + k > len(self.kept):
            grown = np.empty((max(2 * len(self.kept), m + k), self.n))
            grown[:m] = self.kept[:m]
            self.kept = grown
        self.kept[m : m + k] = self.columns(index)
        self.size = m + k
        return self.kept[m : m + k] @ self.kept[: m + k].T

    def fitted(self, S: Array) -> Array:
        """M X W of coefficients S (m, b) of the working set."""
        live = np.flatnonzero(S.any(axis=1))
        return self.kept[live].T @ S[live]


class SparseColumns:
    """M X of a sparse X; only products are dense."""

    def __init__(self, X: Any, Q: Array) -> None:
        self.X, self.Q, self.n = csc_array(X), Q, X.shape[0]
        starts = range(0, X.shape[1], CHUNK)
        self.blocks = [self.X[:, start : start + CHUNK].T.tocsr() for start in starts]
        self.XQ = self._products(Q) if Q.shape[1] else np.zeros((X.shape[1], 0))
        self.index = np.empty(0, np.intp)

    def _products(self, R: Array) -> Array:
        return np.vstack(list(map_threads(lambda block: block @ R, self.blocks)))

    def correlate(self, R: Array) -> Array:
        return self._products(R) - self.XQ @ (self.Q.T @ R)

    def _cross(self, a: IntArray, b: IntArray) -> Array:
        raw = (self.X[:, a].T @ self.X[:, b]).toarray()
        G = raw - self.XQ[a] @ self.XQ[b].T
        same = a[:, None] == b[None, :]
        floor = DEPENDENT if self.Q.shape[1] > 1 else 100 * EPS
        G[same & (floor * raw >= G)] = 0.0  # nothing is left of the column
        return G

    def cross_products(self, index: IntArray) -> Array:
        return self._cross(index, index)

    def clear(self) -> None:
        self.index = np.empty(0, np.intp)

    def join(self, index: IntArray) -> Array:
        self.index = np.append(self.index, index)
        return self._cross(index, self.index)

    def fitted(self, S: Array) -> Array:
        live = np.flatnonzero(S.any(axis=1))
        F = self.X[:, self.index[live]] @ S[live]
        return F - self.Q @ (self.Q.T @ F)


class WorkingSet:
    """The columns being solved: their cross-products, coefficients and c = X'r."""

    def __init__(
        self, design: DenseColumns | SparseColumns, q: Array, weights: Array, positive: BoolArray
    ) -> None:
        self.design, self.q_all = design, q
        self.weights_all, self.positive_all = weights, positive
        self.index = np.empty(0, np.intp)
        self.inside = np.zeros(len(q), bool)
        self.G = np.empty((FIRST, FIRST))
        self.q, self.c, self.w, self.before, self.weights = (np.zeros(FIRST) for _ in range(5))
        self.positive = np.zeros(FIRST, bool)
        design.clear()

    @property
    def size(self) -> int:
        return len(self.index)

    def add(self, index: IntArray) -> None:
        """Let columns join with coefficient 0."""
        m, k = self.size, len(index)
        if k == 0:
            return
        if m + k > len(self.G):
            self._grow(max(2 * len(self.G), m + k))
        B = self.design.join(index)
        self.G[m : m + k, : m + k], self.G[:m, m : m + k] = B, B[:, :m].T
        new = slice(m, m + k)
        self.q[new], self.w[new], self.before[new] = self.q_all[index], 0.0, 0.0
        self.weights[new], self.positive[new] = self.weights_all[index], self.positive_all[index]
        self.c[new] = self.q[new] - B[:, :m] @ self.w[:m]
        self.index, self.inside[index] = np.append(self.index, index), True

    def _grow(self, size: int) -> None:
        m = self.size
        G = np.empty((size, size))
        G[:m, :m] = self.G[:m, :m]
        self.G = G
        for name in ("q", "c", "w", "before", "weights", "positive"):
            old = getattr(self, name)
            new = np.zeros(size, old.dtype)
            new[:m] = old[:m]
            setattr(self, name, new)

    def set(self, w: Array) -> None:
        """Start from coefficients of all columns; those that are not zero must be inside."""
        m = self.size
        self.w[:m] = w[self.index]
        self.c[:m] = self.q[:m] - self.G[:m, :m] @ self.w[:m]

    def restart(self, w: Array) -> None:
        """Go on from coefficients of the first columns, with nothing to extrapolate from."""
        m = len(w)
        self.w[:m], self.before[:m] = w, 0.0
        self.c[:m] = self.q[:m] - self.G[:m, :m] @ w

    def extrapolate(self, factor: float) -> None:
        """Start the next strength of a path where its last two point to."""
        extrapolate(self.G, self.size, self.c, self.w, self.before, factor)

    def solve(self, l1: float, l2: float, yy: float, tol: float, exact: bool, sweeps: int) -> int:
        """Coordinate descent inside the working set."""
        a, b = l1 * self.weights, l2 * self.weights
        problem = self.G, self.size, self.q, self.c, self.w, a, b, self.positive
        done, _, _ = solve_gram(*problem, yy, tol * yy, exact, sweeps)
        return int(done)
