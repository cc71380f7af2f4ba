r"""Distances of sparse rows.

    |a - b|^2 = |a|^2 + |b|^2 - 2 a'b        (never below 0; equal rows may keep a rounding error)
    cosine    = 1 - a'b / (|a| |b|)

Only the products a'b touch the entries, so the cost is that of a sparse matrix product. Other
metrics have no sparse form and are computed from dense blocks of the queries and rows.
"""

from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse

from pellucid.core.arrays.typing import Array
from pellucid.neighbors.search.metrics import Metric, warn_zero_rows


def sparse_distances(A: Any, B: Any, metric: Metric) -> Array:
    """The matrix of distances between the rows of A and of B, at least one of them sparse.

    >>> from pellucid.neighbors.search.metrics import resolve
    >>> A = csr_array([[3.0, 0.0], [0.0, 4.0]])
    >>> sparse_distances(A, A, resolve("euclidean", A))
    array([[0., 5.],
           [5., 0.]])
    """
    plain = metric.order == 2.0 and metric.embed is None
    if not (plain or metric.name == "cosine"):
        return dense_distances(A, B, metric)
    A, B = csr_array(A), csr_array(B)
    products = (A @ B.T).toarray()
    a, b = (np.asarray(S.multiply(S).sum(axis=1)).ravel() for S in (A, B))
    if plain:
        squares = np.maximum(a[:, None] + b - 2 * products, 0.0)
        squares[squares <= 4e-16 * (a[:, None] + b)] = 0.0  # no more than rounding
        return metric.finish(squares)
    if not (a.all() and b.all()):
        warn_zero_rows(int((a == 0).sum() + (b == 0).sum()), "cosine")
    lengths = np.sqrt(np.where(a > 0, a, 1.0))[:, None] * np.sqrt(np.where(b > 0, b, 1.0))
    return np.clip(1 - products / lengths, 0.0, 2.0)


def dense_distances(A: Any, B: Any, metric: Metric) -> Array:
    """The same by way of dense rows."""
    from pellucid.neighbors.search.search import Index

    A, B = (np.ascontiguousarray(S.toarray() if issparse(S) else S) for S in (A, B))
    return Index(B, metric, "brute").distances(A)
