"""Equal rows as one row that weighs as much as they do together.

A machine on weighted rows and one on repeated rows then solve the same problem, to the last bit,
and equal rows share their multiplier in proportion to their weights. Kinds are put in an order of
their own, so that the order of the rows changes nothing either.
"""

from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array, issparse

from pellucid.core.arrays.typing import Array, ArrayLike, IntArray
from pellucid.core.runtime.random import generator


class Distinct(NamedTuple):
    """first (m,): the first row of each kind; kind (n,): of each row, -1 for weight 0."""

    first: IntArray
    kind: IntArray
    w: Array  # (m,) together

    def spread(self, values: Array, w: Array) -> Array:
        """Share a value per kind among its rows, in proportion to their weights."""
        return np.where(self.kind >= 0, values[self.kind] * w / self.w[self.kind], 0.0)

    def repeat(self, values: Array, missing: float) -> Array:
        """The value of each row's kind; ``missing`` for rows of weight 0."""
        return np.where(self.kind >= 0, values[self.kind], missing)


def own_rows(w: Array) -> Distinct:
    """Every row of positive weight is a kind of its own."""
    first = np.flatnonzero(w > 0)
    kind = np.full(len(w), -1)
    kind[first] = np.arange(len(first))
    return Distinct(first, kind, w[first])


def distinct_rows(X: ArrayLike, y: Array, w: Array, *, by_class: bool = False) -> Distinct:
    """Rows with the same x and y are one kind; ``by_class``: those of the smallest y come first.

    >>> found = distinct_rows(np.array([[1.0], [2.0], [1.0]]), np.zeros(3), np.array([1.0, 1, 2]))
    >>> found.first, found.kind, found.w
    (array([0, 1]), array([0, 1, 0]), array([3., 1.]))
    """
    live = np.flatnonzero(w > 0)
    mark = row_marks(X)[live] + 0.7548776662466927 * y[live]
    order = np.lexsort((mark, y[live])) if by_class else np.argsort(mark, kind="stable")
    ordered = mark[order]
    new = np.concatenate([[True], ordered[1:] != ordered[:-1]])
    kind = np.empty(len(live), dtype=np.intp)
    kind[order] = np.cumsum(new) - 1
    first = live[order[new]]
    if len(first) < len(live) and not same_rows(X, y, live, first[kind]):  # only marks are shared
        return own_rows(w)
    kinds = np.full(len(w), -1)
    kinds[live] = kind
    total: Array = np.bincount(kind, weights=w[live], minlength=len(first)).astype(np.float64)
    return Distinct(first, kinds, total)


def row_marks(X: Any) -> Array:
    """One number per row; equal rows have equal numbers to the last bit."""
    r = generator(0).uniform(1.0, 2.0, size=X.shape[1])
    if issparse(X):
        X = csr_array(X)
        X.sum_duplicates()
        return X @ r
    return (X * r).sum(axis=1)


def same_rows(X: Any, y: Array, a: IntArray, b: IntArray) -> bool:
    if not np.array_equal(y[a], y[b]):
        return False
    if issparse(X):
        return abs(X[a] - X[b]).sum() == 0
    return np.array_equal(X[a], X[b])
