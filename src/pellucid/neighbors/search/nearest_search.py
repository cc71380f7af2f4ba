"""The nearest training rows of each query: the question and its answer."""

from collections.abc import Iterator
from numbers import Integral
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.utils.validation import check_is_fitted

from pellucid.compiled.distances.search import without_own
from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike, IntArray
from pellucid.neighbors.neighbor_model import ANSWERS, NeighborsModel, jobs


def count(model: NeighborsModel, n_neighbors: int | str | None, own: bool) -> int:
    """How many neighbours are asked for; ``own``: a row does not count as its own."""
    k = model.n_neighbors if n_neighbors is None else n_neighbors
    there = model.n_samples_fit_ - own
    if isinstance(k, str):
        check.one_of(("all",), n_neighbors=k)
        return max(there, 1)
    if k is not None and not isinstance(k, Integral):
        raise TypeError(f"n_neighbors does not take {type(k)} value, enter integer value")
    check.whole(n_neighbors=k)
    k = int(k or 1)
    if k > there:
        limit = f"n_samples_fit ({'others only: ' if own else ''}{there})"
        raise ValueError(f"Expected n_neighbors <= {limit}, got n_neighbors = {k}")
    return k


def nearest(model: NeighborsModel, Q: Any, k: int) -> tuple[Array, IntArray]:
    """For checked queries; None: the training rows, each without itself."""
    with jobs(model.n_jobs):
        if Q is not None:
            return checked(model, model._index.nearest(Q, k))
        distance, index = model._index.nearest(model._fit_X, min(k + 1, model.n_samples_fit_))
    return checked(model, without_own(distance, index))


def checked(model: NeighborsModel, found: tuple[Array, IntArray]) -> tuple[Array, IntArray]:
    """The answer, refused where a precomputed matrix holds too few neighbours."""
    if model._precomputed and np.isinf(found[0]).any():
        raise ValueError(f"some rows have fewer than {found[0].shape[1]} precomputed neighbours")
    return found


def kneighbors(
    self: NeighborsModel,
    X: ArrayLike | None = None,
    n_neighbors: int | str | None = None,
    return_distance: bool = True,
) -> Any:
    """Distances and indices of the nearest training rows, nearest first.

    X None: of the training rows themselves, a row not being its own neighbour. Rows at equal
    distance come in the order of the training table.
    """
    check_is_fitted(self)
    k = count(self, n_neighbors, own=X is None)
    Q = None if X is None else self._check_questions(X)
    distance, index = nearest(self, Q, k)
    return (distance, index) if return_distance else index


def kneighbors_graph(
    self: NeighborsModel,
    X: ArrayLike | None = None,
    n_neighbors: int | str | None = None,
    mode: str = "connectivity",
) -> csr_matrix:
    """A sparse matrix (queries, training rows) of ones, or of distances."""
    if mode not in ("connectivity", "distance"):
        known = 'must be one of "connectivity", or "distance"'
        raise ValueError(f'Unsupported mode, {known} but got "{mode}" instead')
    distance, index = kneighbors(self, X, n_neighbors)
    m, k = index.shape
    values = distance.ravel() if mode == "distance" else np.ones(m * k)
    first = np.arange(0, m * k + 1, k)
    return csr_matrix((values, index.ravel(), first), shape=(m, self.n_samples_fit_))


def answers(model: NeighborsModel, X: ArrayLike) -> Iterator[tuple[Any, Array, IntArray]]:
    """(queries, distances, indices) of what a prediction needs, a few queries at a time."""
    check_is_fitted(model)
    k = count(model, None, own=X is None)
    if X is None:
        yield None, *nearest(model, None, k)
        return
    Q = model._check_questions(X)
    step = max(1, ANSWERS // k)
    for start in range(0, Q.shape[0], step):
        part = Q[start : start + step]
        yield part, *nearest(model, part, k)


def edge(model: NeighborsModel) -> dict[str, float]:
    """The share of each column's range that k of n rows take up, were they uniform."""
    k = model.n_samples_fit_ if isinstance(model.n_neighbors, str) else model.n_neighbors or 1
    share = k / model.n_samples_fit_
    return {"edge of a neighbourhood": float(share ** (1 / model.n_features_in_))}
