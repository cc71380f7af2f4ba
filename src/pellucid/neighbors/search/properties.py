"""Is it a metric, is it a similarity? The axioms, tried on the user's own rows.

    distance     d >= 0;  d = 0 iff equal;  d(a, b) = d(b, a);  d(a, c) <= d(a, b) + d(b, c)
    similarity   inside [-1, 1];  1 iff equal;  s(a, b) = s(b, a)

All pairs and all triples of rows, or a million random triples where there are more. A failure
disproves; the lack of one does not prove.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike, BoolArray, IntArray
from pellucid.core.readable import readable
from pellucid.core.runtime.random import generator
from pellucid.neighbors.search.metrics import MetricLike
from pellucid.neighbors.search.pairwise import pairwise_distances
from pellucid.neighbors.search.similarities import matrix, pairwise_similarities

TRIPLES = 1_000_000


@readable
class MetricReport(NamedTuple):
    """Which axioms of a metric hold on the rows.

    >>> from pellucid.neighbors import check_metric
    >>> check_metric("sqeuclidean", [[0.0], [1.0], [2.0]]).counterexample
    'triangle: d(0, 2) = 4 > d(0, 1) + d(1, 2) = 2'
    """

    non_negative: bool  # d >= 0
    identity: bool  # d = 0 exactly for equal rows
    symmetric: bool  # d(a, b) = d(b, a)
    triangle: bool  # d(a, c) <= d(a, b) + d(b, c)
    is_metric: bool  # all of these
    counterexample: str | None  # the first failure in words


@readable
class SimilarityReport(NamedTuple):
    """Which properties of a similarity hold on the rows.

    >>> from pellucid.neighbors import check_similarity
    >>> check_similarity("cosine", [[1, 0], [0, 1]]).identity
    True
    """

    bounded: bool  # inside [-1, 1]
    identity: bool  # 1 exactly for equal rows
    symmetric: bool  # s(a, b) = s(b, a)
    counterexample: str | None  # the first failure in words


def equal_rows(X: Array) -> BoolArray:
    return np.all(X[:, None, :] == X[None, :, :], axis=2)


def first_pair(wrong: BoolArray) -> tuple[int, int] | None:
    found = np.argwhere(wrong)
    return (int(found[0, 0]), int(found[0, 1])) if len(found) else None


def triples(n: int) -> IntArray:
    """All triples of rows, or TRIPLES random ones: (m, 3)."""
    if n**3 <= TRIPLES:
        return np.stack(np.meshgrid(*[np.arange(n)] * 3, indexing="ij"), axis=-1).reshape(-1, 3)
    return generator(0).integers(n, size=(TRIPLES, 3))


def broken_triangle(D: Array, slack: float) -> str | None:
    i, j, k = triples(len(D)).T
    excess = D[i, k] - (D[i, j] + D[j, k])
    worst = int(np.argmax(excess))
    if not excess[worst] > slack:
        return None
    a, b, c = int(i[worst]), int(j[worst]), int(k[worst])
    sum_ = D[a, b] + D[b, c]
    return f"triangle: d({a}, {c}) = {D[a, c]:.10g} > d({a}, {b}) + d({b}, {c}) = {sum_:.10g}"


def pair_sentence(
    what: str, letter: str, values: Array, pair: tuple[int, int] | None
) -> str | None:
    if pair is None:
        return None
    i, j = pair
    there, back = values[i, j], values[j, i]
    return f"{what}: {letter}({i}, {j}) = {there:.10g}, {letter}({j}, {i}) = {back:.10g}"


def check_metric(metric: MetricLike, X: ArrayLike, *, tol: float = 1e-12) -> MetricReport:
    """Try the axioms of a metric on all pairs and triples of the rows of X.

    Parameters
    ----------
    metric : str, callable, Minkowski or Mahalanobis
        The distance to test.
    X : array of shape (n, p)
        The rows it is tried on.
    tol : float, default=1e-12
        Rounding that is overlooked, relative to the largest distance.

    Examples
    --------
    >>> from pellucid.neighbors import check_metric
    >>> check_metric("manhattan", [[0.0, 1.0], [2.0, 2.0], [5.0, 1.0]]).is_metric
    True
    """
    check.non_negative(tol=tol)
    rows = matrix(X, "X")
    D = pairwise_distances(rows, rows, metric)
    slack = tol * float(np.abs(D).max())
    pairs = {
        "non_negative": first_pair(-slack > D),
        "identity": first_pair((np.abs(D) <= slack) != equal_rows(rows)),
        "symmetric": first_pair(np.abs(D - D.T) > slack),
    }
    sentences = [pair_sentence(name, "d", D, pair) for name, pair in pairs.items()]
    sentences.append(broken_triangle(D, slack))
    a, b, c, d = (sentence is None for sentence in sentences)
    found = next((s for s in sentences if s), None)
    return MetricReport(a, b, c, d, a and b and c and d, found)


def similarity_matrix(similarity: str | Callable[[Array, Array], float], X: Array) -> Array:
    if isinstance(similarity, str):
        return pairwise_similarities(X, X, similarity)
    if not callable(similarity):
        raise ValueError(f"similarity must be a name or a callable, got {similarity!r}")
    return np.array([[similarity(a, b) for b in X] for a in X], dtype=np.float64)


def check_similarity(
    similarity: str | Callable[[Array, Array], float], X: ArrayLike, *, tol: float = 1e-12
) -> SimilarityReport:
    """Try the properties of a similarity on all pairs of the rows of X.

    Parameters
    ----------
    similarity : {'cosine', 'pearson', 'matching', 'jaccard'} or callable
        The similarity to test.
    X : array of shape (n, p)
        The rows it is tried on.
    tol : float, default=1e-12
        Rounding that is overlooked.

    Examples
    --------
    >>> from pellucid.neighbors import check_similarity
    >>> check_similarity("cosine", [[1, 0], [2, 0], [0, 1]]).counterexample
    'identity: s(0, 1) = 1, s(1, 0) = 1'
    """
    check.non_negative(tol=tol)
    rows = matrix(X, "X")
    S = similarity_matrix(similarity, rows)
    pairs = {
        "bounded": first_pair(np.abs(S) > 1 + tol),
        "identity": first_pair((np.abs(S - 1) <= tol) != equal_rows(rows)),
        "symmetric": first_pair(np.abs(S - S.T) > tol),
    }
    sentences = [pair_sentence(name, "s", S, pair) for name, pair in pairs.items()]
    a, b, c = (sentence is None for sentence in sentences)
    return SimilarityReport(a, b, c, next((s for s in sentences if s), None))
