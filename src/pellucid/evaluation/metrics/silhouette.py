r"""Internal measures of a clustering: silhouettes (exact), Calinski-Harabasz, Davies-Bouldin.

Silhouette of row i (Rousseeuw 1987):

    a = mean distance to the other rows of its own cluster
    b = least mean distance to the rows of another cluster
    s = (b - a) / max(a, b),   0 for a cluster of one row

The sums of distances behind it are in ``cluster.choosing.distance_sums``.

    Calinski-Harabasz   (B / (k - 1)) / (W / (n - k)),  B, W the squares between and within
    Davies-Bouldin      mean_i max_{j != i} (s_i + s_j) / |m_i - m_j|,  s_i mean distance to m_i

Weights are repetitions. One cluster, or as many clusters as rows: NaN (the caller warns).
"""

from typing import Any

import numpy as np

from pellucid.cluster.choosing.distance_sums import euclidean_sums
from pellucid.compiled.distances.silhouettes import silhouette_values
from pellucid.core.arrays.typing import Array, IntArray
from pellucid.evaluation.metrics.point_scores import ratio


def silhouette_scores(X: Array, labels: IntArray, w: Array | None = None) -> Array:
    """The silhouette of every row; ``labels`` are codes 0..k-1."""
    n, k = len(X), int(labels.max()) + 1
    w = np.ones(n) if w is None else w
    order = np.argsort(labels, kind="stable")
    S, v, label = np.ascontiguousarray(X[order] - X.mean(axis=0)), w[order], labels[order]
    total = euclidean_sums(S, v, label, k)
    out = np.empty(n)
    silhouette_values(total, label, np.bincount(label, weights=v, minlength=k), out)
    answer = np.empty(n)
    answer[order] = out
    return answer


def _defined(labels: IntArray, w: Array | None) -> tuple[int, float, bool]:
    k = int(labels.max()) + 1
    n = float(len(labels) if w is None else w.sum())
    return k, n, 2 <= k < n


def mean_silhouette(X: Array, labels: IntArray, w: Array | None = None) -> float:
    """The mean silhouette; NaN for one cluster or as many as rows."""
    if not _defined(labels, w)[2]:
        return float("nan")
    return float(np.average(silhouette_scores(X, labels, w), weights=w))


def cluster_moments(X: Array, labels: IntArray, w: Array | None) -> tuple[Array, Array, Array]:
    """Weight and mean of every cluster, and the distance of every row to its mean."""
    k = int(labels.max()) + 1
    w = np.ones(len(X)) if w is None else w
    size: Any = np.bincount(labels, weights=w, minlength=k)
    sums = np.column_stack([np.bincount(labels, weights=w * x, minlength=k) for x in X.T])
    mean = sums / size[:, None]
    return size, mean, np.sqrt(((X - mean[labels]) ** 2).sum(axis=1))


def within_squares(X: Array, labels: IntArray, w: Array | None = None) -> float:
    """SSE: squared distances of the rows to the mean of their cluster."""
    _, _, distance = cluster_moments(X, labels, w)
    return float(np.sum(distance**2 if w is None else w * distance**2))


def calinski_harabasz_index(X: Array, labels: IntArray, w: Array | None = None) -> float:
    """The ratio of the variances between and within clusters; 1.0 when no row leaves its mean."""
    k, n, defined = _defined(labels, w)
    if not defined:
        return float("nan")
    size, mean, distance = cluster_moments(X, labels, w)
    centre = size @ mean / n
    between = float(size @ ((mean - centre) ** 2).sum(axis=1))
    within = float(np.sum(distance**2 if w is None else w * distance**2))
    return between / within * (n - k) / (k - 1) if within > 0 else 1.0


def davies_bouldin_index(X: Array, labels: IntArray, w: Array | None = None) -> float:
    """The mean over clusters of their worst overlap with another; smaller is better."""
    if not _defined(labels, w)[2]:
        return float("nan")
    size, mean, distance = cluster_moments(X, labels, w)
    weighted = distance if w is None else w * distance
    spread = np.bincount(labels, weights=weighted) / size
    apart = np.sqrt(((mean[:, None, :] - mean[None, :, :]) ** 2).sum(axis=2))
    if np.allclose(spread, 0) or np.allclose(apart, 0):
        return 0.0
    overlap = ratio(spread[:, None] + spread[None, :], apart)
    return float(np.nanmax(np.where(np.isnan(overlap), 0.0, overlap), axis=1).mean())
