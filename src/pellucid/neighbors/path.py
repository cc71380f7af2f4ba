r"""How many neighbours? The error for every k from one search, and why many columns are hard.

With the neighbours of each row sorted, the votes of the k nearest are a running sum over the
list, so one search at the largest k gives the error of every smaller one.

    leave-one-out   each row is judged by the others
    folds           rows held out are judged by the rest
    bootstrap       rows that a draw left out are judged by the draw

The standard error is that of a mean of rows (leave-one-out) or of folds. ``one_standard_error``
is the LARGEST k, the smoothest rule, whose error is within one standard error of the best.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
from sklearn.model_selection import check_cv

from pellucid.base import encode_labels
from pellucid.compiled.distances.search import Index
from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike, Folds, IntArray
from pellucid.core.readable import readable
from pellucid.core.runtime.random import generator
from pellucid.neighbors.search.metrics import MetricLike, resolve
from pellucid.neighbors.search.pairwise import pairwise_distances
from pellucid.neighbors.search.similarities import matrix
from pellucid.neighbors.search.weights import check_rule, neighbour_weights

DRAWS = 25  # bootstrap samples
ROWS = 1000  # whose pairwise distances show the concentration
TREE_COLUMNS = 15


@readable
class NeighborsPath(NamedTuple):
    """The error of every k.

    >>> from pellucid.neighbors import select_n_neighbors
    >>> X, y = [[0.0], [1.0], [2.0], [8.0], [9.0], [10.0]], [0, 0, 0, 1, 1, 1]
    >>> select_n_neighbors(X, y, [1, 2, 5]).errors
    array([0., 0., 1.])
    """

    n_neighbors: IntArray  # (m,) the k that were tried
    errors: Array  # (m,) mean loss
    standard_errors: Array  # (m,) of the means
    best: int  # the k of least error
    one_standard_error: int  # the largest k within one standard error of it


def running_losses(
    values: Array | IntArray, weights: Array | None, truth: Any, ks: IntArray, n_classes: int
) -> Array:
    """Loss of each row for each k: (m, len(ks)); values (m, k) are codes or numbers.

    n_classes 0: squared error of numbers, else 0/1 loss.
    """
    w = np.ones(values.shape) if weights is None else weights
    if n_classes == 0:
        total = np.cumsum(w, axis=1)[:, ks - 1]
        means = np.cumsum(w * values, axis=1)[:, ks - 1] / total
        return (means - truth[:, None]) ** 2
    votes = np.stack([np.cumsum(w * (values == c), axis=1)[:, ks - 1] for c in range(n_classes)])
    return (votes.argmax(axis=0) != truth[:, None]).astype(np.float64)


def splits(cv: Folds, X: Array, y: ArrayLike, labels: bool) -> Iterator[tuple[IntArray, IntArray]]:
    """Training and test rows of folds, or of bootstrap draws."""
    if isinstance(cv, str):
        check.one_of(("bootstrap",), cv=cv)
        rng = generator(0)
        for _ in range(DRAWS):
            drawn = np.sort(rng.integers(len(X), size=len(X)))
            out = np.setdiff1d(np.arange(len(X)), drawn)
            if len(out):
                yield drawn, out
        return
    yield from check_cv(cv, y, classifier=labels).split(X, y)


def search(X: Array, Q: Array | None, k: int, metric: MetricLike) -> tuple[Array, IntArray]:
    """The k nearest rows of Q, or of each row of X among the others."""
    found = resolve(metric, X)
    small = X.shape[1] <= TREE_COLUMNS and len(X) >= 128 and found.order is not None
    index = Index(X, found, "kd_tree" if small else "brute")
    if Q is not None:
        return index.nearest(Q, k)
    distance, rows = index.nearest(X, k + 1)
    own = rows == np.arange(len(X))[:, None]
    own[~own.any(axis=1), -1] = True
    return distance[~own].reshape(len(X), k), rows[~own].reshape(len(X), k)


def select_n_neighbors(
    X: ArrayLike,
    y: ArrayLike,
    n_neighbors: Iterable[int] = range(1, 31),
    *,
    cv: Folds | None = None,
    weights: str | Callable[..., Any] | None = "uniform",
    metric: MetricLike = "euclidean",
) -> NeighborsPath:
    """The error of k nearest neighbours for many k, from one search.

    Parameters
    ----------
    X : array of shape (n, p)
        The rows.
    y : array of shape (n,)
        Real numbers (float: squared error) or labels (anything else: error rate).
    n_neighbors : whole numbers, default=range(1, 31)
        Those that exceed the rows there are left out.
    cv : int, splitter, 'bootstrap' or None, default=None
        None: leave-one-out. 'bootstrap': rows left out of 25 draws (with a fixed seed).
    weights, metric
        As in KNeighborsClassifier.

    Returns
    -------
    NeighborsPath

    Examples
    --------
    >>> import numpy as np
    >>> from pellucid.neighbors import select_n_neighbors
    >>> X = np.arange(20.0)[:, None]
    >>> path = select_n_neighbors(X, 2 * X[:, 0], [1, 2, 3])
    >>> path.best, path.errors.round(2)
    (2, array([4. , 0.9, 3.2]))
    """
    X = matrix(X, "X")
    y = np.asarray(y)
    if y.shape != (len(X),):
        raise ValueError(f"y must have one value for each of {len(X)} rows, got shape {y.shape}")
    check_rule(weights)
    labels = y.dtype.kind != "f"
    codes = encode_labels(y)[1] if labels else y.astype(np.float64)
    n_classes = int(codes.max()) + 1 if labels else 0
    parts = [(None, np.arange(len(X)))] if cv is None else list(splits(cv, X, y, labels))
    there = min(len(X) - 1 if train is None else len(train) for train, _ in parts)
    ks = usable(n_neighbors, there)
    losses = []
    for train, test in parts:
        rows, target = (X, codes) if train is None else (X[train], codes[train])
        queries = None if train is None else X[test]
        distance, index = search(rows, queries, int(ks.max()), metric)
        w = neighbour_weights(weights, metric, queries, rows, distance, index)
        losses.append(running_losses(target[index], w, codes[test], ks, n_classes))
    units = losses[0] if cv is None else np.array([part.mean(axis=0) for part in losses])
    return summarise(ks, units)


def usable(n_neighbors: Iterable[int], there: int) -> IntArray:
    ks = np.unique(np.asarray(list(n_neighbors)))
    if not len(ks) or ks.dtype.kind not in "iu" or ks[0] < 1:
        raise ValueError(f"n_neighbors must be whole numbers >= 1, got {n_neighbors!r}")
    if ks[0] > there:
        raise ValueError(f"n_neighbors must be at most {there}, the rows there are, got {ks[0]}")
    return ks[ks <= there]


def summarise(ks: IntArray, units: Array) -> NeighborsPath:
    """Means and standard errors over rows or folds, and the two choices."""
    errors = units.mean(axis=0)
    m = len(units)
    spread = units.std(axis=0, ddof=1) / np.sqrt(m) if m > 1 else np.zeros(len(ks))
    best = int(np.argmin(errors))
    within = errors <= errors[best] + spread[best]
    return NeighborsPath(ks, errors, spread, int(ks[best]), int(ks[within].max()))


def neighborhood_edge(fraction: float, n_features: int) -> float:
    """The share of each column's range that a cube with a fraction of uniform data takes up.

    Parameters
    ----------
    fraction : float
        Of the data to catch, in (0, 1].
    n_features : int
        Number of columns.

    Examples
    --------
    >>> from pellucid.neighbors import neighborhood_edge
    >>> round(neighborhood_edge(0.01, 10), 4)
    0.631
    """
    check.whole(n_features=n_features)
    check.positive(fraction=fraction)
    if fraction > 1:
        raise ValueError(f"fraction must be at most 1, got {fraction!r}")
    return float(fraction ** (1 / n_features))


@readable
class DistanceConcentration(NamedTuple):
    """How far the farthest rows are beyond the nearest, and the same of a uniform cube.

    >>> from pellucid.neighbors import distance_concentration
    >>> distance_concentration([[0.0], [1.0], [4.0]]).contrast
    3.0
    """

    contrast: float  # (farthest - nearest) / nearest
    uniform_cube: float  # the same for uniform random rows of this shape


def contrast(X: Array) -> float:
    D = pairwise_distances(X)[np.triu_indices(len(X), 1)]
    return float((D.max() - D.min()) / D.min())


def distance_concentration(X: ArrayLike) -> DistanceConcentration:
    """(max - min) / min of the pairwise distances: near 0, no row is much nearer than another.

    Parameters
    ----------
    X : array of shape (n, p)
        Repeated rows count once; of more than 1000 rows, as many are drawn with a fixed seed.

    Examples
    --------
    >>> import numpy as np
    >>> from pellucid.neighbors import distance_concentration
    >>> X = np.random.default_rng(0).random((200, 500))
    >>> distance_concentration(X).contrast < 1
    True
    """
    rows = np.unique(matrix(X, "X"), axis=0)
    if len(rows) < 2:
        raise ValueError(f"X needs at least 2 different rows, got {len(rows)}")
    if len(rows) > ROWS:
        rows = rows[generator(0).permutation(len(rows))[:ROWS]]
    return DistanceConcentration(contrast(rows), contrast(generator(1).random(rows.shape)))
