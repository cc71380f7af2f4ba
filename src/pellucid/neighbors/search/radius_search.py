"""All training rows within a radius: the question, its answer, and how much each row counts."""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from sklearn.utils.validation import check_is_fitted

from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike, IntArray
from pellucid.neighbors.neighbor_model import ANSWERS, NeighborsModel, jobs
from pellucid.neighbors.search.metrics import MetricLike
from pellucid.neighbors.search.weights import Rule, neighbour_weights

QUERIES = 64  # asked at once at least, however many rows there are
GROWTH = 8  # times more queries in the next question, while the answers are short


class Found(NamedTuple):
    """The rows near each of m queries, one pair after the other, in the order of the queries."""

    n_queries: int
    query: IntArray  # (pairs,) rising
    distance: Array  # (pairs,)
    row: IntArray  # (pairs,) training rows, rising within a query

    @property
    def first(self) -> IntArray:
        """Where the pairs of each query begin, and the end: (m + 1,)."""
        return np.searchsorted(self.query, np.arange(self.n_queries + 1))

    def total(self, values: ArrayLike | None = None) -> Array:
        """Sums over the neighbours of each query; counts without values."""
        first = self.first
        counts = np.diff(first).astype(np.float64)
        if values is None or not len(self.query):
            return counts
        out, there = np.zeros(self.n_queries), counts > 0
        out[there] = np.add.reduceat(np.asarray(values, np.float64), first[:-1][there])
        return out


def ragged(values: NDArray[Any], first: IntArray) -> Any:
    """An array of arrays: values cut at ``first``."""
    out = np.empty(len(first) - 1, dtype=object)
    for i in range(len(out)):
        out[i] = values[first[i] : first[i + 1]]
    return out


def pair_weights(rule: Rule, metric: MetricLike, Q: Any, X: Any, found: Found) -> Array | None:
    """A weight per pair, or None where all count alike; see ``weights``.

    >>> pairs = Found(2, np.array([0, 0, 1]), np.array([0.0, 2.0, 4.0]), np.array([0, 1, 1]))
    >>> pair_weights("distance", "euclidean", None, None, pairs)
    array([1.  , 0.  , 0.25])
    """
    if rule is None or (isinstance(rule, str) and rule == "uniform"):
        return None
    if isinstance(rule, str) and rule == "distance":
        zero = found.distance == 0
        alone = found.total(zero) > 0  # rows at distance 0 decide alone
        with np.errstate(divide="ignore"):
            return np.where(alone[found.query], zero, 1.0 / found.distance)
    out, first = np.empty(len(found.query)), found.first
    for i in np.flatnonzero(np.diff(first)):
        part = slice(first[i], first[i + 1])
        d, j = found.distance[part], found.row[part]
        if callable(rule):
            out[part] = own_rule(rule, d)
        else:
            similar = neighbour_weights(rule, metric, Q[i : i + 1], X, d[None], j[None])
            assert similar is not None
            out[part] = similar[0]
    return out


def own_rule(rule: Callable[..., Any], distance: Array) -> Array:
    """The caller's weights of the neighbours of one query."""
    weights = np.asarray(rule(distance), dtype=np.float64)
    if weights.shape != distance.shape or not (weights >= 0).all():
        got = f"{weights.ravel()[:5].tolist()} of shape {weights.shape}"
        what = f"numbers >= 0 of the shape {distance.shape} it was given"
        raise ValueError(f"weights must return {what}, got {got}")
    endless = np.isposinf(weights)  # 1/0 at a training row: such neighbours decide alone
    return endless.astype(np.float64) if endless.any() else weights


def check_radius(model: NeighborsModel) -> None:
    """Raise ValueError for an impossible radius or other parameter."""
    model._check_parameters()
    if model.radius is not None:
        check.non_negative(radius=model.radius)


def radii(radius: ArrayLike, m: int) -> Array:
    """The radius of each of m queries: one number for all, or an array with one for each.

    >>> radii(0.5, 2), radii([0.5, 1.0], 2)
    (array([0.5, 0.5]), array([0.5, 1. ]))
    """
    if np.ndim(radius) == 0:
        check.non_negative(radius=radius)
        return np.full(m, radius, dtype=np.float64)
    each = np.asarray(radius, dtype=np.float64)
    if each.shape != (m,) or not (each >= 0).all():
        what = f"one number >= 0, or one for each of the {m} queries"
        raise ValueError(f"radius must be {what}, got {radius!r}")
    return each


def find(
    model: NeighborsModel, X: ArrayLike, radius: ArrayLike | None = None
) -> Iterator[tuple[Any, Found]]:
    """(queries, what lies near them) a few at a time; X None: rows without themselves."""
    check_is_fitted(model)
    Q = model._fit_X if X is None else model._check_questions(X)
    each = radii(model.radius if radius is None else radius, Q.shape[0])
    start, step = 0, max(QUERIES, ANSWERS // model.n_samples_fit_)
    while start < Q.shape[0]:
        part = Q[start : start + step]
        m = part.shape[0]
        with jobs(model.n_jobs):
            first, distance, index = model._index.within(part, each[start : start + m])
        query = np.repeat(np.arange(m), np.diff(first))
        if X is None:
            other = index != query + start
            query, distance, index = query[other], distance[other], index[other]
        yield part, Found(m, query, distance, index)
        start += m
        step = min(GROWTH * step, max(QUERIES, ANSWERS * m // max(1, first[-1])))


def radius_neighbors(
    self: NeighborsModel,
    X: Any = None,
    radius: ArrayLike | None = None,
    return_distance: bool = True,
    sort_results: bool = False,
) -> Any:
    """Arrays of distances and indices of all rows within the radius, one pair per query.

    ``radius`` is one number, or an array with one for each query. Rows come by index, or nearest
    first with ``sort_results``; X None: the training rows, a row not being its own neighbour.
    """
    if sort_results and not return_distance:
        raise ValueError("return_distance must be True if sort_results is True")
    distances, indices = [], []
    for _, found in find(self, X, radius):
        d, j = found.distance, found.row
        if sort_results:
            order = np.lexsort((j, d, found.query))
            d, j = d[order], j[order]
        distances.append(ragged(d, found.first))
        indices.append(ragged(j, found.first))
    index = np.concatenate(indices)
    return (np.concatenate(distances), index) if return_distance else index


def radius_neighbors_graph(
    self: NeighborsModel,
    X: ArrayLike | None = None,
    radius: ArrayLike | None = None,
    mode: str = "connectivity",
    sort_results: bool = False,
) -> csr_matrix:
    """A sparse matrix (queries, training rows) of ones, or of distances."""
    if mode not in ("connectivity", "distance"):
        known = 'must be one of "connectivity", or "distance"'
        raise ValueError(f'Unsupported mode, {known} but got "{mode}" instead')
    distance, index = radius_neighbors(self, X, radius, sort_results=sort_results)
    first = np.append(0, np.cumsum([len(row) for row in index]))
    columns = np.concatenate(list(index))
    values = np.concatenate(list(distance)) if mode == "distance" else np.ones(len(columns))
    return csr_matrix((values, columns, first), shape=(len(index), self.n_samples_fit_))
