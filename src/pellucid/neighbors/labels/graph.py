r"""How labels travel along a graph of weights W (``core.algebra.graph``).

Propagation walks at random: P = D^-1 W. Spreading uses S = D^-1/2 W D^-1/2 with a diagonal of 0,
where D are the column sums (those of scikit-learn's normalised Laplacian).

Weights that underflow to 0 are no edges: where most do, the matrix is stored sparse, which changes
no product.
"""

from typing import Any

import numpy as np
from scipy.sparse import csr_matrix, issparse

from pellucid.core.algebra.graph import row_chunks, row_squares, squared_distances, thinned
from pellucid.core.arrays.typing import Array
from pellucid.core.runtime.threads import map_threads


def walk_matrix(W: Any) -> Any:
    """P = D^-1 W: rows sum to 1 (a row without weights stays 0). W may be overwritten."""
    degree = np.asarray(W.sum(axis=1)).ravel()
    inverse = 1 / np.where(degree > 0, degree, 1.0)
    if issparse(W):
        data = W.data * np.repeat(inverse, np.diff(W.indptr))
        return csr_matrix((data, W.indices, W.indptr), shape=W.shape)
    W *= inverse[:, None]
    return thinned(W)


def spread_matrix(W: Any) -> Any:
    """S = D^-1/2 W D^-1/2 with a diagonal of 0, D the column sums without it; W is overwritten."""
    if issparse(W):
        W = W.tocsr()
        W.setdiag(0.0)
        W.eliminate_zeros()
    else:
        np.fill_diagonal(W, 0.0)
    degree = np.asarray(W.sum(axis=0)).ravel()
    root = 1 / np.sqrt(np.where(degree > 0, degree, 1.0))
    if issparse(W):
        data = W.data * np.repeat(root, np.diff(W.indptr)) * root[W.indices]
        return csr_matrix((data, W.indices, W.indptr), shape=W.shape)
    W *= root[:, None]
    W *= root
    return thinned(W)


def rbf_vote(Q: np.ndarray, X: np.ndarray, gamma: float, F: Array) -> Array:
    """sum_i exp(-gamma (|q - x_i|^2 - nearest)) F_i: votes up to a factor, never all 0."""
    squares = row_squares(X)

    def vote(rows: slice) -> Array:
        D = squared_distances(Q[rows], X, squares)
        D -= D.min(axis=1, keepdims=True)
        D *= -gamma
        return np.exp(D, out=D) @ F

    return np.concatenate(list(map_threads(vote, row_chunks(Q.shape[0], X.shape[0]))))
