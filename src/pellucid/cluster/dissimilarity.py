"""The matrix of distances between all rows, for the methods that need all of it.

Rows are mapped so that a Minkowski sum decides (``core.functions.metrics``) and compared by
compiled code in threads; metrics without such a form are computed pair by pair. Memory: 8 n^2
bytes, announced.
"""

import inspect
import logging
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np

from pellucid.compiled.distances.brute import direct_distances
from pellucid.core.arrays.typing import Array, ArrayLike, IntArray
from pellucid.core.functions.distances import Distance
from pellucid.core.functions.metrics import Metric, resolve
from pellucid.core.runtime.threads import map_threads

SMALL_WORK = 1 << 20  # products below which threads cost more than they save
ROWS = 32  # rows of the matrix that are computed and finished together
CHECKED = 64  # rows of a given matrix that are checked together
ASYMMETRY = 1e-8  # of the largest distance: more is refused

MetricLike: TypeAlias = str | Metric | Distance | Callable[..., Any]  # what metric= accepts
logger = logging.getLogger("pellucid")


def is_given(metric: MetricLike) -> bool:
    """Whether the distances themselves are given."""
    return isinstance(metric, str) and metric == "precomputed"


def attributes_of(model: Any, _: object = None) -> dict[str, Any]:
    """What ``fit`` has found so far, for the callbacks of a fit without rounds."""
    return {name: value for name, value in vars(model).items() if name.endswith("_")}


def kernel_order(metric: Metric) -> tuple[int, float]:
    """The kernels' number of the order, and the order.

    >>> kernel_order(Metric("euclidean", 2.0))
    (2, 2.0)
    """
    assert metric.order is not None
    return {np.inf: 0, 1.0: 1, 2.0: 2}.get(metric.order, 3), float(metric.order)


def mapped_rows(metric: Metric, X: Array) -> Array:
    """The rows between which a Minkowski sum is the distance.

    >>> mapped_rows(resolve("cosine", np.ones((1, 2))), np.array([[3.0, 4.0]]))
    array([[0.6, 0.8]])
    """
    E = X if metric.embed is None else metric.embed(X)
    if metric.directions and not (alive := E.any(axis=1)).all():
        row = int(np.argmin(alive))
        raise ValueError(f"{metric.name} needs rows with a direction, row {row} has none")
    return np.require(E, np.float64, ["C", "W"])


def announce(n: int, what: str) -> None:
    """Say how much memory the matrix takes, before it is taken."""
    logger.info("%s: the distances of %d rows take %.0f MB", what, n, 8e-6 * n * n)


def matrix_of(X: Array, metric: Metric, what: str = "distances") -> Array:
    """All distances, (n, n).

    >>> X = np.array([[0.0], [3.0]])
    >>> matrix_of(X, resolve("manhattan", X))
    array([[0., 3.],
           [3., 0.]])
    """
    n = len(X)
    announce(n, what)
    if metric.order is None:
        assert metric.pairwise is not None
        return checked_matrix(metric.pairwise(X, X))
    E, (kind, order) = mapped_rows(metric, X), kernel_order(metric)
    columns, D = np.ascontiguousarray(E.T), np.empty((n, n))

    def fill(start: int) -> None:
        stop = min(start + ROWS, n)
        direct_distances(columns, E, start, stop, kind, order, D)
        D[start:stop] = metric.finish(D[start:stop])

    in_threads = n * n * E.shape[1] >= SMALL_WORK
    list((map_threads if in_threads else map)(fill, range(0, n, ROWS)))
    return D


def checked_matrix(D: ArrayLike) -> Array:
    """A matrix of distances that came from outside: square, symmetric, no negative value.

    >>> checked_matrix([[0, 1], [2, 0]])
    Traceback (most recent call last):
    ValueError: distances must be symmetric, got 1.0 at (0, 1) and 2.0 at (1, 0)
    """
    D = np.asarray(D, dtype=np.float64)
    if D.ndim != 2 or D.shape[0] != D.shape[1]:
        raise ValueError(f"Distance matrix should be square, got matrix of shape {D.shape}")
    largest = D.max() if D.size else 0.0
    if np.isnan(largest):
        raise ValueError("the metric gave NaN; distances must be numbers")
    for start in range(0, len(D), CHECKED):
        block = D[start : start + CHECKED]
        if (block < 0).any():
            i, j = np.argwhere(block < 0)[0]
            what = "Negative values in data passed to a precomputed metric: distances must be >= 0"
            raise ValueError(f"{what}, got {float(block[i, j])!r} at ({start + i}, {j})")
        with np.errstate(invalid="ignore"):
            odd = np.abs(block[:, start:] - D[start:, start : start + CHECKED].T)
        if (odd > ASYMMETRY * largest).any():
            i, j = np.argwhere(odd > ASYMMETRY * largest)[0] + start
            both = f"{float(D[i, j])!r} at ({i}, {j}) and {float(D[j, i])!r} at ({j}, {i})"
            raise ValueError(f"distances must be symmetric, got {both}")
    return D


def takes_whole_table(function: Callable[..., Any]) -> bool:
    """Whether a callable metric wants all rows at once, as scikit-learn's do, or two items.

    >>> takes_whole_table(lambda a, b: abs(a - b)), takes_whole_table(lambda X: X)
    (False, True)
    """
    try:
        parameters = inspect.signature(function).parameters.values()
    except ValueError:  # compiled code that does not say: as in scikit-learn
        return True
    places = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    needed = [p for p in parameters if p.kind in places and p.default is inspect.Parameter.empty]
    return len(needed) < 2


def matrix_of_items(items: Sequence[Any] | Array, function: MetricLike) -> Array:
    """Distances of any objects; the function is called once a pair and taken as symmetric.

    >>> matrix_of_items(["a", "abc"], lambda a, b: abs(len(a) - len(b)))
    array([[0., 2.],
           [2., 0.]])
    """
    assert callable(function)
    n = len(items)
    announce(n, getattr(function, "__name__", "distances"))
    D = np.zeros((n, n))
    for i in range(n):
        for j in range(i):
            D[i, j] = D[j, i] = function(items[i], items[j])
    return checked_matrix(D)


def distances_of(X: Array, metric: MetricLike, what: str = "distances") -> Array:
    """All distances of checked rows for any ``metric=``; X itself where it is precomputed.

    >>> distances_of(np.array([[0.0], [2.0]]), lambda a, b: abs(a[0] - b[0]))
    array([[0., 2.],
           [2., 0.]])
    """
    if is_given(metric):
        return checked_matrix(X)
    if callable(metric) and not hasattr(metric, "pairwise"):
        whole = takes_whole_table(metric)
        return checked_matrix(metric(X)) if whole else matrix_of_items(X, metric)
    return matrix_of(X, resolve(metric, X), what)


def cross_distances(A: Array, B: Array, metric: MetricLike) -> Array:
    """Distances of the rows of A to those of B, (n, m); what a metric learns, it learns from B.

    >>> cross_distances(np.array([[1.0]]), np.array([[0.0], [3.0]]), "manhattan")
    array([[1., 2.]])
    """
    found = resolve(metric, B)
    if found.order is None:
        assert found.pairwise is not None
        return found.pairwise(A, B)
    E, F, (kind, order) = mapped_rows(found, A), mapped_rows(found, B), kernel_order(found)
    D = np.empty((len(A), len(B)))
    direct_distances(np.array(F.T, order="C"), E, 0, len(E), kind, order, D)
    return found.finish(D)


def pair_distances(X: Array, a: IntArray, b: IntArray, metric: MetricLike) -> Array:
    """The distances of rows a_e and b_e, one per pair.

    >>> pair_distances(np.array([[0.0], [3.0]]), np.array([1]), np.array([0]), "euclidean")
    array([3.])
    """
    if is_given(metric):
        return np.ascontiguousarray(X[a, b])
    if callable(metric) and takes_whole_table(metric):
        return np.ascontiguousarray(checked_matrix(metric(X))[a, b])
    found = resolve(metric, X)
    if found.order is None:
        pairwise = found.pairwise
        assert pairwise is not None
        pairs = zip(a, b, strict=True)
        return np.array([pairwise(X[i : i + 1], X[j : j + 1])[0, 0] for i, j in pairs])
    E = mapped_rows(found, X)
    gaps, order = np.abs(E[a] - E[b]), found.order
    return found.finish(gaps.max(axis=1) if np.isinf(order) else (gaps**order).sum(axis=1))
