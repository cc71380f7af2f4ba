r"""Graphs of similar rows as matrices of weights, and products with them in threads.

    rbf   W_ij = exp(-gamma |x_i - x_j|^2)                         dense
    knn   W_ij = 1 where j is among the k nearest rows of i        sparse
    any function of two tables that returns their weights

Rows are cut into chunks by the shape alone, so products have the same bits for any number of
threads.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix, issparse

from pellucid.core.arrays.typing import Array, ArrayLike, IntArray
from pellucid.core.runtime.threads import map_threads

CHUNK_VALUES = 1 << 19  # weights a thread works on at a time: 4 MB
SPARSE_SHARE = 0.1  # share of non-zero weights below which sparse products are quicker


def row_chunks(n: int, width: int) -> list[slice]:
    """Row ranges of about CHUNK_VALUES cells: cut by the shape alone."""
    step = max(1, CHUNK_VALUES // max(1, width))
    return [slice(a, min(a + step, n)) for a in range(0, n, step)]


def row_squares(X: Any) -> Array:
    """|x|^2 of every row."""
    if issparse(X):
        return np.asarray(X.multiply(X).sum(axis=1)).ravel()
    return np.einsum("ij,ij->i", X, X)


def squared_distances(A: ArrayLike, B: Any, b_squares: Array) -> Array:
    """|a|^2 + |b|^2 - 2 a'b for all pairs, never below 0."""
    product = A @ B.T
    D = product.toarray() if issparse(product) else product
    D *= -2
    D += row_squares(A)[:, None]
    D += b_squares
    return np.maximum(D, 0.0, out=D)


def rbf_weights(X: np.ndarray, gamma: float) -> Array:
    """exp(-gamma |x_i - x_j|^2), 1 on the diagonal.

    >>> rbf_weights(np.array([[0.0], [1.0]]), 1.0).round(4)
    array([[1.    , 0.3679],
           [0.3679, 1.    ]])
    """
    n = X.shape[0]
    W, squares = np.empty((n, n)), row_squares(X)

    def fill(rows: slice) -> None:
        D = squared_distances(X[rows], X, squares)
        D[np.arange(len(D)), np.arange(rows.start, rows.stop)] = 0.0
        D *= -gamma
        np.exp(D, out=W[rows])

    list(map_threads(fill, row_chunks(n, n)))
    return W


def knn_weights(index: IntArray, n: int) -> csr_matrix:
    """1 for every neighbour."""
    m, k = index.shape
    order = np.sort(index, axis=1)
    return csr_matrix((np.ones(m * k), order.ravel(), np.arange(0, m * k + 1, k)), shape=(m, n))


def checked_weights(W: Any, shape: tuple[int, int]) -> Any:
    """What a user's kernel returned, if it can serve as weights."""
    W = W.tocsr().astype(np.float64) if issparse(W) else np.array(W, dtype=np.float64)
    values = W.data if issparse(W) else W
    if W.shape != shape:
        raise ValueError(f"the kernel must return weights of shape {shape}, got {W.shape}")
    if not (np.isfinite(values).all() and (values >= 0).all()):
        raise ValueError("the kernel must return finite weights >= 0, got others")
    return W


def thinned(W: np.ndarray) -> Any:
    """The same matrix, sparse where few weights are not 0."""
    if issparse(W) or np.count_nonzero(W) > SPARSE_SHARE * W.size:
        return W
    return csr_matrix(W)


def product(P: Any) -> Callable[[Array], Array]:
    """F -> P F in threads, the same bits for any number of them."""
    n, m = P.shape
    width = max(1, P.nnz // max(1, n)) * 8 if issparse(P) else m
    chunks = row_chunks(n, width)
    if len(chunks) == 1:
        return lambda F: next(map_threads(lambda p: np.asarray(p @ F), [P]))
    parts = [(rows, P[rows]) for rows in chunks]

    def times(F: Array) -> Array:
        out = np.empty((n, F.shape[1]))

        def fill(part: tuple[slice, Any]) -> None:
            out[part[0]] = part[1] @ F

        list(map_threads(fill, parts))
        return out

    return times
