"""A CSR matrix and its products by threads, with the same bits for any number of them.

The rows are cut in the same few spans whatever the machine; each span adds to columns of its own,
and the spans are added up in their order.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from pellucid.core.arrays.typing import Array
from pellucid.core.runtime.threads import map_threads
from pellucid.kernel.linear_svm import sparse_kernels as kernels

SPANS = 16  # of rows, at most
EACH = 24  # numbers that a span stores for each column of sums that it costs, at least


def narrow(X: Any) -> Any:
    """The same CSR matrix with 32-bit indices where they suffice.

    >>> narrow(csr_array(np.eye(2))).indices.dtype
    dtype('int32')
    """
    if X.nnz >= 2**31 or X.indices.dtype == X.indptr.dtype == np.int32:
        return X
    parts = (X.data, X.indices.astype(np.int32), X.indptr.astype(np.int32))
    return csr_array(parts, shape=X.shape)


class SparseRows:
    """Products with the rows of a CSR matrix.

    >>> SparseRows(csr_array([[1.0, 0.0], [2.0, 3.0]])).scores(np.array([1.0, 2.0]), 0.5)
    array([1.5, 8.5])
    """

    def __init__(self, X: Any) -> None:
        self.matrix = X = narrow(X)
        kind = np.uint32 if X.indices.dtype == np.int32 else np.uint64
        data = X.data if X.data.flags.writeable else X.data.copy()
        self.parts = data, X.indices.view(kind), X.indptr.view(kind)
        n, p = self.shape = X.shape
        spans = 1
        while spans < SPANS and 2 * spans * EACH * p <= X.nnz:
            spans *= 2
        goals = np.linspace(0, X.nnz, spans + 1)[1:-1]
        cuts = np.searchsorted(X.indptr, goals)
        self.spans = list(zip([0, *cuts.tolist()], [*cuts.tolist(), n], strict=True))
        self.room = np.empty((spans, p))  # a row of sums for each span

    def _each(self, function: Callable[[int, int], Any]) -> list[Any]:
        return list(map_threads(lambda span: function(*span), self.spans))

    def scores(self, w: Array, b: float) -> Array:
        """X w + b."""
        z = np.empty(self.shape[0])
        self._each(lambda first, last: kernels.sparse_scores(*self.parts, first, last, w, b, z))
        return z

    def slopes(self, q: Array) -> Array:
        """X'q of the rows with q > 0 and of those with q < 0, (2, p)."""

        def part(first: int, last: int) -> Array:
            g = np.zeros((2, self.shape[1]))
            kernels.sparse_slopes(*self.parts, first, last, q, g[0], g[1])
            return g

        return np.asarray(sum(self._each(part)))

    def curvature(self, h: Array, d: Array, b: float) -> tuple[Array, float]:
        """u = h (X d + b): X'u and the sum of u."""

        def part(k: int) -> float:
            return kernels.sparse_curvature(*self.parts, *self.spans[k], h, d, b, self.room[k])

        totals = list(map_threads(part, range(len(self.spans))))
        return self.room.sum(axis=0), float(sum(totals))

    def squares(self, h: Array) -> Array:
        """sum of h_i x_ij^2 of every column."""

        def part(first: int, last: int) -> Array:
            out = np.zeros(self.shape[1])
            kernels.sparse_squares(*self.parts, first, last, h, out)
            return out

        return np.asarray(sum(self._each(part)))
