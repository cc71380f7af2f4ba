r"""What may be wrong with a clustering, and what to do about it.

    scales     the spreads of the columns differ more than 10 times: the widest decides alone
    sizes      the smallest cluster has less than a tenth of the rows of the largest
    spreads    the widest cluster is more than 3 times as wide as the narrowest
    outliers   1 % of the rows (at least one) carry more than a third of J
    shape      groups joined by chains of near rows (single linkage of mutual reachability, as in
               DBSCAN) are clearly separated and disagree with the clusters: similarity by
               transitivity, not by proximity
    stuck      few of the starts of k-means reach the best J, so it is a matter of luck
    none       one cluster holds all rows

Chains are looked for in at most SAMPLE rows. With r_i the distance of row i to its NEIGHBOURS-th
neighbour, d'(i, j) = max(d(i, j), r_i, r_j); the groups are the parts, of at least 5 % of the rows,
that are left of the minimum spanning tree of d' when edges longer than h are cut. Of all h the one
that stays longest with the same two or more parts, 80 % of the rows in them, is taken; they count
as separated if h may grow by half meanwhile.

References: Campello, Moulavi & Sander (2013); von Luxburg, Williamson & Guyon (2012).
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from pellucid.cluster.choosing.measures import labelled
from pellucid.cluster.choosing.number_search import ClusterNumberSearch
from pellucid.cluster.choosing.stability import labels_of
from pellucid.cluster.kmeans.kmeans import KMeans
from pellucid.core.arrays.partitions import adjusted_rand, cross_counts
from pellucid.core.arrays.typing import Array, IntArray, MaybeArray
from pellucid.core.functions.distances import pairwise_euclidean
from pellucid.core.readable import readable

SAMPLE, NEIGHBOURS = 1000, 5
LEAST_PART, MOST = 0.05, 0.8  # of the rows: in one part, in all parts together
SCALES, SIZES, SPREADS, CARRIED = 10.0, 10.0, 3.0, 1 / 3
SAME, GROWTH, STARTS = 0.7, 1.5, 10


@readable
class ClusterFinding(NamedTuple):
    """One thing to know about a clustering.

    >>> finding = ClusterFinding("scales", "columns differ", "standardise them", {"ratio": 50.0})
    >>> print(finding)
    columns differ; standardise them
    """

    name: str  # which check found it
    message: str  # what was seen
    cure: str  # what to do about it
    numbers: dict[str, Any]  # the numbers of the message

    def __str__(self) -> str:
        return f"{self.message}; {self.cure}"


@readable
class ClusterDiagnosis(NamedTuple):
    """All findings of one clustering, none if nothing was found.

    >>> print(ClusterDiagnosis((), 2))
    nothing was found that speaks against these 2 clusters
    """

    findings: tuple[ClusterFinding, ...]  # what speaks against the clustering
    n_clusters: int  # of the clustering that was looked at

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(finding.name for finding in self.findings)

    def __str__(self) -> str:
        if not self.findings:
            return f"nothing was found that speaks against these {self.n_clusters} clusters"
        return "\n".join(f"- {finding}" for finding in self.findings)


def check_scales(X: Array) -> ClusterFinding | None:
    """Columns whose spreads differ too much for a common distance."""
    spread = X.std(axis=0)
    spread = spread[spread > 0]
    if len(spread) < 2 or spread.max() <= SCALES * spread.min():
        return None
    ratio = float(spread.max() / spread.min())
    return ClusterFinding(
        "scales",
        f"the spreads of the columns differ {ratio:.3g} times, so the widest decides",
        "standardise the columns (StandardScaler) before clustering",
        {"ratio": ratio},
    )


def check_sizes(codes: IntArray) -> ClusterFinding | None:
    """Very unequal numbers of rows."""
    size = np.bincount(codes)
    if size.max() <= SIZES * size.min():
        return None
    return ClusterFinding(
        "sizes",
        f"clusters have between {size.min()} and {size.max()} rows",
        "k-means cuts large groups to balance them: a mixture with free weights, or density-based "
        "clustering, does not",
        {"smallest": int(size.min()), "largest": int(size.max())},
    )


def squared_errors(X: Array, codes: IntArray) -> Array:
    """Squared distance of each row to the mean of its cluster."""
    k = int(codes.max()) + 1
    sums = np.column_stack([np.bincount(codes, weights=x, minlength=k) for x in X.T])
    return ((X - (sums / np.bincount(codes)[:, None])[codes]) ** 2).sum(axis=1)


def check_spreads(X: Array, codes: IntArray) -> ClusterFinding | None:
    """Very unequal widths of clusters (by the median distance to the mean)."""
    error, big = np.sqrt(squared_errors(X, codes)), np.flatnonzero(np.bincount(codes) >= 3)
    width = np.array([np.median(error[codes == g]) for g in big])
    width = width[width > 0]
    if len(width) < 2 or width.max() <= SPREADS * width.min():
        return None
    ratio = float(width.max() / width.min())
    return ClusterFinding(
        "spreads",
        f"the widest cluster is {ratio:.3g} times as wide as the narrowest",
        "k-means gives the border half way between the centres: use a mixture with a covariance "
        "for each cluster",
        {"ratio": ratio},
    )


def check_outliers(X: Array, codes: IntArray) -> ClusterFinding | None:
    """A few rows that carry most of J."""
    error = squared_errors(X, codes)
    few = max(1, len(X) // 100)
    if len(X) < 10 or not error.sum() > 0:
        return None
    worst = np.argsort(-error, kind="stable")[:few]
    share = float(error[worst].sum() / error.sum())
    alone = np.flatnonzero(np.bincount(codes) == 1)
    if share <= CARRIED and not len(alone):
        return None
    if share > CARRIED:
        rows, what = worst, f"{few} of {len(X)} rows carry {share:.0%} of the error J"
    else:
        rows = np.flatnonzero(np.isin(codes, alone))
        what = f"{len(rows)} cluster(s) of one row"
    return ClusterFinding(
        "outliers",
        f"{what} (rows {', '.join(map(str, rows[:5].tolist()))})",
        "look at these rows; medians (metric='manhattan'), k-medoids or possibilistic c-means give "
        "them less weight, density-based clustering none",
        {"share": share, "rows": rows[:20].tolist()},
    )


def spanning_tree(D: Array) -> tuple[IntArray, Array]:
    """The minimum spanning tree of distances (n, n): parent and length of the edge of each node.

    Prim's algorithm from node 0, whose own edge has length 0; nodes come in the order joined.

    >>> spanning_tree(np.array([[0.0, 1.0, 5.0], [1.0, 0.0, 2.0], [5.0, 2.0, 0.0]]))[1]
    array([0., 1., 2.])
    """
    n = len(D)
    parent, length = np.zeros(n, dtype=np.intp), D[0].copy()
    inside = np.zeros(n, dtype=bool)
    length[0], inside[0] = 0.0, True
    for _ in range(n - 1):
        new = int(np.argmin(np.where(inside, np.inf, length)))
        inside[new] = True
        nearer = ~inside & (D[new] < length)
        parent[nearer], length[nearer] = new, D[new][nearer]
    return parent, length


def parts_at(parent: IntArray, length: Array, height: float) -> IntArray:
    """The part of each node when edges longer than ``height`` are cut."""
    root = np.where(length > height, np.arange(len(parent)), parent)
    while (root[root] != root).any():
        root = root[root]
    return np.unique(root, return_inverse=True)[1]


class Chains(NamedTuple):
    """Groups joined by chains: part of each row (-1: too small a part), how far h may grow."""

    parts: IntArray
    growth: float


def find_chains(X: Array) -> Chains | None:
    """The two or more parts that stay the same for the longest range of heights."""
    D = pairwise_euclidean(X, X)
    n = len(X)
    reach = np.sort(D, axis=1)[:, min(NEIGHBOURS, n - 1)]
    D = np.maximum(D, np.maximum(reach[:, None], reach))
    parent, length = spanning_tree(D)
    heights = np.unique(length[1:])[::-1]
    least = max(3, LEAST_PART * n)
    best: Chains | None = None
    top = 0.0  # the height at which the parts in view appeared
    seen = 1
    for i, height in enumerate(heights[: n // 4]):
        parts = parts_at(parent, length, np.nextafter(height, 0.0))
        size = np.bincount(parts)
        big = np.flatnonzero(size >= least)
        if size[big].sum() < MOST * n:
            break
        if len(big) != seen:
            seen, top = len(big), float(height)
        if len(big) < 2:
            continue
        below = heights[i + 1] if i + 1 < len(heights) else 0.0
        growth = top / max(float(below), 1e-300)
        if best is None or growth > best.growth:
            place = np.full(len(size), -1)
            place[big] = np.arange(len(big))
            best = Chains(place[parts], growth)
    return best


def check_shape(X: Array, codes: IntArray) -> ClusterFinding | None:
    """Separated chains that the clusters cut or join."""
    rows = np.random.default_rng(0).permutation(len(X))[:SAMPLE]
    if len(rows) < 20:
        return None
    found = find_chains(X[rows])
    if found is None or found.growth < GROWTH:
        return None
    inside = found.parts >= 0
    agreement = adjusted_rand(cross_counts(found.parts[inside], codes[rows][inside]))
    if agreement >= SAME:
        return None
    return ClusterFinding(
        "shape",
        f"{found.parts.max() + 1} groups joined by chains of near rows are clearly apart, but the "
        f"clusters are others (adjusted Rand index {agreement:.2f})",
        "similarity by transitivity: use single linkage, spectral clustering or DBSCAN; k-means "
        "and mixtures are for similarity by proximity (round groups)",
        {"agreement": agreement, "parts": int(found.parts.max()) + 1, "growth": found.growth},
    )


def check_starts(X: Array, k: int) -> ClusterFinding | None:
    """k-means from several random starts: how many reach the best J?"""
    model = KMeans(k, init="random", n_init=STARTS, random_state=0)
    labels_of(model, X)
    reached = int((model.runs_ <= model.inertia_ * 1.001).sum())
    if reached > STARTS // 4:
        return None
    return ClusterFinding(
        "stuck",
        f"only {reached} of {STARTS} random starts of k-means reach its best error",
        "use more starts (n_init) and init='k-means++', or another number of clusters",
        {"reached": reached, "starts": STARTS},
    )


def _all_checks(X: Array, codes: IntArray) -> Iterator[ClusterFinding | None]:
    k = int(codes.max()) + 1
    yield check_scales(X)
    if k == 1:
        yield ClusterFinding(
            "none",
            "one cluster holds all rows",
            "give labels of several clusters, or choose their number with ClusterNumberSearch",
            {},
        )
    else:
        yield check_sizes(codes)
        yield check_spreads(X, codes)
    yield check_outliers(X, codes)
    yield check_shape(X, codes)
    if 1 < k < len(np.unique(X, axis=0)):
        yield check_starts(X, k)


def cluster_diagnosis(X: Any, labels: MaybeArray = None) -> ClusterDiagnosis:
    """Look for what may be wrong with a clustering of X.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        The rows.
    labels : array-like of shape (n_samples,), default=None
        A clustering; None takes that of k-means with the number of clusters that
        ``ClusterNumberSearch`` finds.

    Returns
    -------
    ClusterDiagnosis
        ``findings``: each with ``name``, ``message``, ``cure`` and ``numbers``.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = np.vstack([rng.normal(m, 1.0, (50, 2)) for m in (0, 9)]) * [1.0, 500.0]
    >>> cluster_diagnosis(X, np.repeat([0, 1], 50)).names
    ('scales',)
    """
    if labels is None:
        data = labelled(X, np.zeros(len(X), dtype=np.intp), words="numbers", several=False)
        tried = range(1, max(min(8, len(data.X) - 1), 1) + 1)
        criteria = ("silhouette", "calinski_harabasz", "elbow")
        search = ClusterNumberSearch(n_clusters=tried, criteria=criteria, random_state=0)
        labels = search.fit(data.X).labels_
    data = labelled(X, labels, words="numbers", several=False)
    found = tuple(f for f in _all_checks(data.X, data.codes) if f is not None)
    return ClusterDiagnosis(found, len(data.classes))
