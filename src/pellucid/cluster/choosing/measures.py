r"""Measures of one clustering: silhouettes, distortion, Calinski and Harabasz's ratio.

Silhouette of row i (Rousseeuw 1987):

    cohesion    a = mean distance to the other rows of its own cluster
    separation  b = least mean distance to the rows of another cluster, its neighbour
    silhouette  s = (b - a) / max(a, b),   0 for a cluster of one row

``within="all"`` divides the own cluster's sum by |C| instead of |C| - 1: the row itself, at
distance 0, is counted too (a convention of some notes; it flatters small clusters).

    distortion         sum_i d(x_i, centre of its cluster),  d squared Euclidean, centre the mean
    Calinski-Harabasz  (n - k) / (k - 1) x between / within,  sums of squares
"""

from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from pellucid.base import encode_labels, find_nonfinite
from pellucid.cluster.choosing import distance_sums
from pellucid.cluster.kmeans.kmeans import Metric, space_of
from pellucid.cluster.kmeans.passes import Space, dense_rows
from pellucid.core.arrays import check
from pellucid.core.arrays.frames import frame_matrix, is_frame
from pellucid.core.arrays.reading import check_array
from pellucid.core.arrays.typing import Array, ArrayLike, IntArray, Seed
from pellucid.core.functions.distances import DISTANCES, Distance, distance
from pellucid.core.loops.statistics import Rows, unit_weights
from pellucid.core.readable import readable
from pellucid.core.runtime.random import generator

Between: TypeAlias = str | Distance | Callable[..., Any]  # how far two rows are apart
SUMS = {"euclidean": distance_sums.euclidean_sums, "manhattan": distance_sums.manhattan_sums}
SUMS |= {"sqeuclidean": distance_sums.squared_sums, "cosine": distance_sums.cosine_sums}


@readable
class SilhouetteValues(NamedTuple):
    """Cohesion, separation and silhouette of every row, and the label of its neighbour.

    >>> silhouette_values([[0.0], [1.0], [9.0]], [0, 0, 1]).neighbor
    array([1, 1, 0])
    """

    cohesion: Array  # (n,)  NaN for a cluster of one row with within="others"
    separation: Array  # (n,)
    silhouette: Array  # (n,)
    neighbor: Any  # (n,)  label of the nearest other cluster


class Labelled(NamedTuple):
    """Rows with the codes 0..k-1 of their clusters."""

    X: Any
    classes: Any
    codes: IntArray


def labelled(X: Any, labels: ArrayLike, *, words: Between, several: bool) -> Labelled:
    """Check rows and labels; ``several`` refuses one cluster and as many as rows."""
    if callable(words):
        A = X if isinstance(X, np.ndarray) else list(X)
    else:
        A = frame_matrix(X) if is_frame(X) else X
        A = check_array(A, dtype=np.float64, order="C", ensure_all_finite=False)
        found = find_nonfinite(A, allow_nan=False)
        if found is not None:
            raise ValueError(f"X contains NaN or infinity in row {found[0]}, column {found[1]}")
    y = np.asarray(labels)
    if y.ndim != 1 or len(y) != len(A):
        raise ValueError(f"labels must be one for each of the {len(A)} rows, got shape {y.shape}")
    classes, codes = encode_labels(y)
    if several and not 2 <= len(classes) < len(y):
        given = f"got {len(classes)} labels of {len(y)} rows"
        raise ValueError(f"Number of labels must be from 2 to n_samples - 1, {given}")
    return Labelled(A, classes, codes)


def cluster_sums(data: Labelled, metric: Between) -> Array:
    """total[i, c] = sum of the distances of row i to the rows of cluster c."""
    n, k = len(data.codes), len(data.classes)
    order = np.argsort(data.codes, kind="stable")
    label, w = data.codes[order], np.ones(n)
    total = np.empty((n, k))
    if isinstance(metric, str) and metric == "precomputed":
        if data.X.shape != (n, n):
            raise ValueError(f"precomputed distances must be ({n}, {n}), got {data.X.shape}")
        places = np.searchsorted(label, np.arange(k))
        total[:] = np.add.reduceat(data.X[:, order], places, axis=1)
        return total
    if callable(metric) and not isinstance(metric, Distance):
        rows = [data.X[i] for i in order]
        total[order] = distance_sums.any_sums(_pairs_of(metric), rows, w, label, k)
        return total
    d = distance(metric)
    S = data.X[order]
    if d.name in ("euclidean", "sqeuclidean"):
        S = S - data.X.mean(axis=0)  # distances stay, digits are saved
    S = np.ascontiguousarray(S)
    known = SUMS.get(d.name)
    sums = known or partial(distance_sums.any_sums, d.pairwise)
    total[order] = sums(S, w, label, k)
    return total


def _pairs_of(function: Callable[[Any, Any], float]) -> Callable[[Any, Any], Array]:
    def pairwise(A: Sequence[Any], B: Sequence[Any]) -> Array:
        return np.array([[float(function(a, b)) for b in B] for a in A])

    return pairwise


def silhouette_values(
    X: ArrayLike, labels: ArrayLike, *, metric: Between = "euclidean", within: str = "others"
) -> SilhouetteValues:
    """Cohesion, separation, silhouette and neighbouring cluster of every row.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Or distances (n_samples, n_samples) with ``metric="precomputed"``; with a function of two
        items, any sequence of items.
    labels : array-like of shape (n_samples,)
        The cluster of each row.
    metric : str, Distance or callable, default="euclidean"
        The distance between two rows.
    within : {"others", "all"}, default="others"
        Whether the mean distance within the own cluster leaves out the row itself.

    Returns
    -------
    SilhouetteValues
        ``cohesion`` (NaN where a row is alone), ``separation``, ``silhouette``, ``neighbor``.

    Examples
    --------
    >>> values = silhouette_values([[0.0], [1.0], [2.0], [10.0], [11.0]], [0, 0, 0, 1, 1])
    >>> values.silhouette.round(4)
    array([0.8571, 0.8947, 0.8235, 0.8889, 0.9   ])
    """
    check.one_of(("others", "all"), within=within)
    if isinstance(metric, str):
        check.one_of((*DISTANCES, "l1", "l2", "cityblock", "precomputed"), metric=metric)
    data = labelled(X, labels, words=metric, several=True)
    total = cluster_sums(data, metric)
    n, c = len(data.codes), data.codes
    size = np.bincount(c).astype(np.float64)
    rows = np.arange(n)
    others = size[c] - (1.0 if within == "others" else 0.0)
    with np.errstate(invalid="ignore"):
        a = total[rows, c] / others  # 0/0 = NaN: alone
    means = total / size
    means[rows, c] = np.inf
    nearest = np.argmin(means, axis=1)
    b = means[rows, nearest]
    larger = np.fmax(a, b)
    s = np.divide(b - a, larger, out=np.zeros(n), where=(larger > 0) & (size[c] > 1))
    return SilhouetteValues(a, b, s, data.classes[nearest])


def silhouette_samples(
    X: ArrayLike, labels: ArrayLike, *, metric: Between = "euclidean", within: str = "others"
) -> Array:
    """The silhouette of every row; ``X``, ``labels``, ``metric``, ``within`` as in
    ``silhouette_values``.

    >>> silhouette_samples([[0.0], [1.0], [10.0], [11.0]], [0, 0, 1, 1]).round(4)
    array([0.9048, 0.8947, 0.8947, 0.9048])
    """
    return silhouette_values(X, labels, metric=metric, within=within).silhouette


def silhouette_score(
    X: ArrayLike,
    labels: ArrayLike,
    *,
    metric: Between = "euclidean",
    within: str = "others",
    sample_size: int | None = None,
    random_state: Seed = None,
) -> float:
    """The mean silhouette of ``X`` with these ``labels``; ``metric`` and ``within`` as in
    ``silhouette_values``. ``sample_size`` looks at so many random rows (``random_state``) only.

    >>> round(silhouette_score([[0.0], [1.0], [10.0], [11.0]], [0, 0, 1, 1]), 4)
    0.8997
    """
    if sample_size is not None:
        check.whole(sample_size=sample_size)
        A, y = np.asarray(X), np.asarray(labels)
        pick = generator(random_state).permutation(len(A))[:sample_size]
        X = A[pick][:, pick] if isinstance(metric, str) and metric == "precomputed" else A[pick]
        labels = y[pick]
    return float(silhouette_samples(X, labels, metric=metric, within=within).mean())


def group_centers(space: Space, X: Array, codes: IntArray) -> Array:
    """The centre of each group of prepared rows, by the rule of the space."""
    k = int(codes.max()) + 1
    if space.center == "median":
        return np.array([np.median(X[codes == g], axis=0) for g in range(k)])
    S = np.column_stack([np.bincount(codes, weights=x, minlength=k) for x in X.T])
    if space.center == "mean":
        return S / np.bincount(codes)[:, None]
    length = np.sqrt((S**2).sum(axis=1, keepdims=True))
    if not length.all():
        raise ValueError("the rows of a group cancel: it has no mean direction")
    return S / length


def distortion(X: ArrayLike, labels: ArrayLike, *, metric: str | Metric = "euclidean") -> float:
    """The sum of the distances of the rows to the centre of their group, for any labels.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        The rows.
    labels : array-like of shape (n_samples,)
        The group of each row.
    metric : {"euclidean", "manhattan", "cosine"} or Metric, default="euclidean"
        As for ``KMeans``: squared Euclidean to the mean, absolute differences to the median, or
        one minus the cosine to the mean direction.

    Examples
    --------
    >>> distortion([[1.0], [3.0], [7.0]], [0, 0, 1]), distortion([[1.0], [3.0]], [0, 1])
    (2.0, 0.0)
    """
    space = space_of(metric)
    data = labelled(X, labels, words="numbers", several=False)
    A, _ = dense_rows(space, Rows(data.X, None, unit_weights(len(data.X))))
    C = group_centers(space, A, data.codes)
    if space.distance.name == "sqeuclidean":
        return float(((A - C[data.codes]) ** 2).sum())
    order = np.argsort(data.codes, kind="stable")
    ends = np.searchsorted(data.codes[order], np.arange(len(C) + 1))
    groups = [order[a:b] for a, b in pairwise(ends)]
    terms = (space.distance.pairwise(A[g], C[j : j + 1]).sum() for j, g in enumerate(groups))
    return float(sum(terms))


def calinski_harabasz_score(X: ArrayLike, labels: ArrayLike) -> float:
    """The variance between the clusters (``labels``) of ``X`` over that within; 1.0 if that is 0.

    >>> round(calinski_harabasz_score([[0.0], [1.0], [10.0], [11.0]], [0, 0, 1, 1]), 4)
    200.0
    """
    data = labelled(X, labels, words="numbers", several=True)
    n, k = len(data.codes), len(data.classes)
    A = data.X - data.X.mean(axis=0)
    C = group_centers(Space(DISTANCES["sqeuclidean"], "mean"), A, data.codes)
    within = float(((A - C[data.codes]) ** 2).sum())
    between = float((np.bincount(data.codes) * (C**2).sum(axis=1)).sum())
    return between / within * (n - k) / (k - 1) if within > 0 else 1.0
