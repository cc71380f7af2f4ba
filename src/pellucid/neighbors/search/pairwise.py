"""The matrix of distances between rows, for every metric of the registry."""

from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse

from pellucid.compiled.distances.search import Index, known_distances
from pellucid.core.arrays.sparse import check_places
from pellucid.core.arrays.typing import Array, ArrayLike
from pellucid.core.functions.distances import pairwise_hamming
from pellucid.core.runtime.warn import warn
from pellucid.neighbors.neighbor_model import jobs
from pellucid.neighbors.search.metrics import resolve
from pellucid.neighbors.search.mixed import is_gower, pair_of_tables
from pellucid.neighbors.search.similarities import matrix


def text_distances(X: ArrayLike, Y: ArrayLike | None) -> Array:
    """Hamming distances of rows of words."""
    A = np.asarray(X)
    B = A if Y is None else np.asarray(Y)
    if A.ndim != 2 or B.ndim != 2 or A.shape[1] != B.shape[1]:
        raise ValueError(f"X and Y need equally many words a row, got {A.shape} and {B.shape}")
    both = np.concatenate([A, B]).astype(str)
    codes = np.unique(both, return_inverse=True)[1].reshape(both.shape).astype(np.float64)
    return pairwise_hamming(codes[: len(A)], codes[len(A) :])


def mixed_distances(X: ArrayLike, Y: ArrayLike, metric: Any, keywords: dict) -> Array:
    """Gower's distances of tables that may mix numbers and words; NaN, warned, for no cell."""
    A, B, found = pair_of_tables(X, Y, metric, keywords)
    D = Index(B, resolve(found, B), "brute").distances(A)
    unknown = int(np.isnan(D).sum())
    if unknown:
        warn(f"{unknown} pairs of rows share no cell: their distance is NaN")
    return D


def pairwise_distances(
    X: ArrayLike,
    Y: Any = None,
    metric: Any = "euclidean",
    *,
    n_jobs: int | None = None,
    **keywords: Any,
) -> Array:
    """The matrix of distances between the rows of X and of Y.

    Parameters
    ----------
    X : array or sparse matrix of shape (n, p)
        Under 'hamming' also words.
    Y : array or sparse matrix of shape (m, p), default=None
        None: X itself.
    metric : str, callable, Minkowski, Mahalanobis or Gower, default='euclidean'
        minkowski, euclidean, sqeuclidean, manhattan, chebyshev, cosine (1 - cos), correlation,
        hamming (share of DIFFERENT entries), jaccard (1 - similarity) and other distances of
        truth values, seuclidean (columns divided by their deviation), mahalanobis, canberra,
        braycurtis, haversine, nan_euclidean, gower (also of frames with words), precomputed.
    n_jobs : int, default=None
        Threads; None and -1: all that the library may use. The answer is the same.
    **keywords
        Of the metric: p, w, V, VI, or those of a callable. Variances and covariances that are
        not given are those of X (of Y where there is one), with 1 / (n - 1).

    Returns
    -------
    ndarray of shape (n, m)

    Examples
    --------
    >>> from pellucid.neighbors import pairwise_distances
    >>> pairwise_distances([[1, 2]], [[4, 6]], "manhattan")
    array([[7.]])
    """
    hamming = isinstance(metric, str) and metric == "hamming"
    if hamming and not issparse(X) and np.asarray(X).dtype.kind in "USO":
        return text_distances(X, Y)
    if is_gower(metric):
        return mixed_distances(X, Y, metric, keywords)
    missing = isinstance(metric, str) and metric == "nan_euclidean"
    A = door(X, "X", missing)
    B = A if Y is None else door(Y, "Y", missing)
    found = resolve(metric, B, keywords.get("p", 2), keywords)
    if found.name == "precomputed":
        return known_distances(A)
    if A.shape[1] != B.shape[1]:
        raise ValueError(
            f"X and Y need the same number of columns, got {A.shape[1]} and {B.shape[1]}"
        )
    with jobs(n_jobs):
        D = Index(B, found, "brute").distances(A)
    if Y is None and found.order is not None:
        np.fill_diagonal(D, 0.0)
    return D


def door(values: ArrayLike, name: str, missing: bool) -> Any:
    """Numbers in two dimensions, dense or sparse; NaN only where the metric skips it."""
    check_places(values, name)
    if issparse(values):
        return csr_array(values).astype(np.float64)
    if missing:
        return np.ascontiguousarray(values, dtype=np.float64)
    return matrix(values, name)
