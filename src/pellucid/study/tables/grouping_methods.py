"""Ways to group rows, by the names that ``pellucid cluster --method`` takes."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

import pellucid
from pellucid.cluster.density.dbscan import k_distances
from pellucid.core.arrays.typing import Array
from pellucid.study.candidates.candidates import public
from pellucid.study.tables.inputs import known_method

LEAST_GROUP = 0.05  # share of the rows that hdbscan calls a group
RADII, SEARCHED_ROWS = 25, 5000  # that are tried for dbscan


Make = Callable[[int, str, int, int], Any]  # (k, distance, restarts, seed)


class Method(NamedTuple):
    """A way to group rows: its class and how it is made for k groups."""

    needs: str  # public class
    make: Make
    dense: Callable[[Array, str], Any] | None = None  # (Z, distance): finds k itself


def _maker(name: str, *, metric: bool = False, starts: bool = True) -> Make:
    """Make the class ``name``, which may take a ``metric`` and several random ``starts``."""

    def make(k: int, distance: str, restarts: int, seed: int) -> Any:
        options: dict[str, Any] = {"metric": distance} if metric else {}
        options |= {"n_init": restarts, "random_state": seed} if starts else {}
        return public(name)(k, **options)

    return make


def _merging(k: int, distance: str, restarts: int, seed: int) -> Any:
    linkage = "ward" if distance == "euclidean" else "average"
    return public("AgglomerativeClustering")(k, metric=distance, linkage=linkage)


def _no_count(k: int, distance: str, restarts: int, seed: int) -> Any:
    raise NotImplementedError("the method finds the number of groups itself")


def dense_rows(n: int, p: int) -> int:
    """Rows that make a neighbourhood dense: twice the features, but no more than the rows allow.

    >>> dense_rows(1000, 3), dense_rows(60, 20), dense_rows(1000, 100)
    (6, 4, 50)
    """
    return max(4, min(2 * p, n // 20))


def _dbscan(Z: Array, distance: str) -> Any:
    """DBSCAN with the radius in the middle of those that give the same number of groups longest.

    The radii rise by equal factors from a small distance to the m-th neighbour to thrice a large
    one; many rows are searched in a sample, with m in proportion.
    """
    m = dense_rows(*Z.shape)
    rows = np.random.default_rng(0).permutation(len(Z))[:SEARCHED_ROWS]
    some = Z if len(rows) == len(Z) else np.ascontiguousarray(Z[np.sort(rows)])
    least = max(4, round(m * len(some) / len(Z)))
    near = k_distances(some, least - 1, metric=distance)
    near = near[near > 0]
    low, high = np.quantile(near, (0.1, 0.95)) if len(near) else (1.0, 1.0)
    radii = np.geomspace(low, 3 * high, RADII)
    counts = [
        public("DBSCAN")(eps=r, min_samples=least, metric=distance).fit(some).labels_.max() + 1
        for r in radii
    ]
    eps = float(radii[longest_run(counts)])
    return public("DBSCAN")(eps=eps, min_samples=m, metric=distance)


def longest_run(counts: Sequence[int]) -> int:
    """The middle of the longest run of one count; a count of none does not count.

    >>> longest_run([0, 7, 4, 3, 3, 3, 1, 1]), longest_run([0, 0])
    (4, 1)
    """
    runs, start = [], 0
    for i in range(1, len(counts) + 1):
        if i == len(counts) or counts[i] != counts[start]:
            if counts[start] > 0:
                runs.append((start - i, start, i))
            start = i
    if not runs:
        return len(counts) - 1
    _, first, end = min(runs)
    return (first + end - 1) // 2


def _hdbscan(Z: Array, distance: str) -> Any:
    size = max(8, round(LEAST_GROUP * len(Z)))
    return public("HDBSCAN")(size, min_samples=dense_rows(*Z.shape), metric=distance)


METHODS = {
    "kmeans": Method("KMeans", _maker("KMeans", metric=True)),
    "bisecting": Method("BisectingKMeans", _maker("BisectingKMeans")),
    "fuzzy": Method("FuzzyCMeans", _maker("FuzzyCMeans")),
    "gmm": Method("GaussianMixture", _maker("GaussianMixture")),
    "agglomerative": Method("AgglomerativeClustering", _merging),
    "divisive": Method(
        "DivisiveClustering", _maker("DivisiveClustering", metric=True, starts=False)
    ),
    "spectral": Method("SpectralClustering", _maker("SpectralClustering")),
    "dbscan": Method("DBSCAN", _no_count, _dbscan),
    "hdbscan": Method("HDBSCAN", _no_count, _hdbscan),
}
EUCLIDEAN = ("bisecting", "fuzzy", "gmm", "spectral")  # these know no other distance


def find_method(name: str) -> Method:
    """The method called ``name``, or one sentence about which there are."""
    ready = [key for key, method in METHODS.items() if method.needs in pellucid._HOME]
    return METHODS[known_method(name, ready)]
