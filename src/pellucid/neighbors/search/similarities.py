r"""Similarities between rows.

cosine    a'b / (|a| |b|)
pearson   the same after centring: each row by its own mean (``rows``), or every row by the
          mean row of X (``data``, the form some courses use)
matching  share of EQUAL entries (also called Hamming similarity)
jaccard   coordinates where both are 1 / coordinates where at least one is 1, 0/0 := 1
"""

import numpy as np

from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike, IntArray
from pellucid.core.functions.dissimilarities import pairwise_binary
from pellucid.core.functions.distances import pairwise_hamming
from pellucid.neighbors.search.metrics import directions

SIMILARITIES = ("cosine", "pearson", "matching", "jaccard")


def matrix(values: ArrayLike, name: str) -> Array:
    """A finite two-dimensional array of numbers."""
    values = np.asarray(values)
    if values.ndim != 2:
        raise ValueError(f"{name} must have two dimensions, rows and columns, got {values.ndim}")
    values = values.astype(np.float64)
    if not np.isfinite(values).all():
        raise ValueError(f"{name} must be finite, got NaN or inf")
    return np.ascontiguousarray(values)


def angles(A: Array, B: Array) -> Array:
    """Cosines of unit rows, inside [-1, 1]; a row of zeros has cosine 0 with every other."""
    return np.clip(A @ B.T, -1.0, 1.0)


def similarity_pairs(name: str, Q: Array, X: Array, index: IntArray) -> Array:
    """The similarity of each query and each of its neighbours X[index]: (m, k)."""
    out = np.empty(index.shape)
    for i, neighbours in enumerate(index):
        out[i] = pairwise_similarities(Q[i : i + 1], X[neighbours], name)[0]
    return out


def pairwise_similarities(
    X: ArrayLike, Y: ArrayLike | None = None, metric: str = "cosine", *, center: str = "rows"
) -> Array:
    """The matrix of similarities between the rows of X and of Y.

    Parameters
    ----------
    X, Y : arrays of shape (n, p) and (m, p)
        The rows; Y None: X itself.
    metric : {'cosine', 'pearson', 'matching', 'jaccard'}, default='cosine'
        Which similarity.
    center : {'rows', 'data'}, default='rows'
        What pearson subtracts: each row's own mean, or the mean row of X.

    Returns
    -------
    ndarray of shape (n, m)

    Examples
    --------
    >>> from pellucid.neighbors import pairwise_similarities
    >>> pairwise_similarities([[1, 0, 1]], [[1, 1, 0]], "matching").round(4)
    array([[0.3333]])
    """
    check.one_of(SIMILARITIES, metric=metric)
    check.one_of(("rows", "data"), center=center)
    A = matrix(X, "X")
    B = A if Y is None else matrix(Y, "Y")
    if A.shape[1] != B.shape[1]:
        raise ValueError(
            f"X and Y need the same number of columns, got {A.shape[1]} and {B.shape[1]}"
        )
    if metric == "matching":
        return 1.0 - pairwise_hamming(A, B)
    if metric == "jaccard":
        return 1.0 - pairwise_binary(A, B, name="jaccard")
    if metric == "pearson" and center == "data":
        mean = A.mean(axis=0)
        A, B = A - mean, B - mean
    by_row = metric == "pearson" and center == "rows"
    return angles(directions(A, centre=by_row), directions(B, centre=by_row))
