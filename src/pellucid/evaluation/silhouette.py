r"""Internal measures of a clustering: silhouettes (exact), Calinski-Harabasz, Davies-Bouldin.

Silhouette of row i (Rousseeuw 1987):

    a = mean distance to the other rows of its own cluster
    b = least mean distance to the rows of another cluster
    s = (b - a) / max(a, b),   0 for a cluster of one row

Every pair of rows is visited once, so the cost is n^2/2 distances: rows are sorted by cluster and
cut into an even number of blocks; the pairs of blocks are played like a tournament, whose rounds
have no block twice. So threads never write to the same rows, and every row adds up its sums in the
same order whatever the number of threads. Few columns: differences; many: matrix products.

    Calinski-Harabasz   (B / (k - 1)) / (W / (n - k)),  B, W the squares between and within
    Davies-Bouldin      mean_i max_{j != i} (s_i + s_j) / |m_i - m_j|,  s_i mean distance to m_i

Weights are repetitions. One cluster, or as many clusters as rows: NaN (the caller warns).
"""

from typing import Any

import numpy as np

from pellucid.compiled.silhouettes import direct_tile, product_tile, silhouette_values
from pellucid.core.threads import map_threads
from pellucid.core.typing import Array, IntArray
from pellucid.evaluation.point_scores import ratio

DIRECT_COLUMNS = 24  # up to here differences are as fast as a matrix product
BLOCK = 1024


def silhouette_scores(X: Array, labels: IntArray, w: Array | None = None) -> Array:
    """The silhouette of every row; ``labels`` are codes 0..k-1."""
    n, k = len(X), int(labels.max()) + 1
    w = np.ones(n) if w is None else w
    order = np.argsort(labels, kind="stable")
    S, v, label = np.ascontiguousarray(X[order] - X.mean(axis=0)), w[order], labels[order]
    total = _distance_sums(S, v, label, k)
    out = np.empty(n)
    silhouette_values(total, label, np.bincount(label, weights=v, minlength=k), out)
    answer = np.empty(n)
    answer[order] = out
    return answer


def _distance_sums(X: Array, w: Array, label: IntArray, k: int) -> Array:
    """total[i, c] = sum over the rows j of cluster c of w_j |x_i - x_j|."""
    n, p = X.shape
    total = np.zeros((n, k))
    n_blocks = 2 * max(1, -(-n // (2 * BLOCK)))
    cuts = np.linspace(0, n, n_blocks + 1).astype(np.intp)
    columns = np.ascontiguousarray(X.T)
    norm = np.einsum("ij,ij->i", X, X)

    def play(pair: tuple[int, int]) -> None:
        a, b = min(pair), max(pair)
        i0, i1, j0, j1 = cuts[a], cuts[a + 1], cuts[b], cuts[b + 1]
        if p <= DIRECT_COLUMNS:
            direct_tile(columns, w, label, i0, i1, j0, j1, a == b, total)
        else:
            inner = X[i0:i1] @ X[j0:j1].T
            product_tile(X, inner, norm, w, label, i0, i1, j0, j1, a == b, total)

    for games in tournament(n_blocks):
        list(map_threads(play, games))
    return total


def tournament(n: int) -> list[list[tuple[int, int]]]:
    """Rounds in which each of n (even) players meets once; first everyone meets himself.

    >>> tournament(4)
    [[(0, 0), (1, 1), (2, 2), (3, 3)], [(0, 3), (1, 2)], [(0, 2), (3, 1)], [(0, 1), (2, 3)]]
    """
    circle = list(range(n))
    rounds = [[(i, i) for i in circle]]
    for _ in range(n - 1):
        rounds.append([(circle[i], circle[n - 1 - i]) for i in range(n // 2)])
        circle = [circle[0], circle[-1], *circle[1:-1]]
    return rounds


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
