"""Trees of merges: 10,000 x 10, every linkage; 50,000 x 10, single and Ward, without a matrix.

Also Ward along a graph, and splits. The answers are the heights.
"""

import numpy as np

from benchmarks.harness import Case

N, P = 10_000, 10
MANY = 50_000
LIMIT = "50 M distances of 10 columns: 1.5 G operations, or 800 MB of them written and read"


def rows(n=N):
    rng = np.random.default_rng(0)
    return rng.standard_normal((n, P)) + 2.0 * rng.integers(0, 3, (n, 1))


def many_rows():
    return rows(MANY)


def many_even_rows():
    """No groups: boxes rule out least."""
    return np.random.default_rng(0).standard_normal((MANY, P))


def few_rows():
    return rows()[:2_000]


def ours(linkage):
    def fit(X):
        from pellucid import AgglomerativeClustering

        return np.sort(AgglomerativeClustering(5, linkage=linkage).fit(X).distances_)

    return fit


def scipy_linkage(linkage):
    def fit(X):
        from scipy.cluster.hierarchy import linkage as tree

        return np.sort(tree(X, linkage)[:, 2])

    return fit


def fastcluster_linkage(linkage):
    def fit(X):
        import fastcluster

        return np.sort(fastcluster.linkage(X, linkage)[:, 2])

    return fit


def fastcluster_vector(linkage):
    def fit(X):
        import fastcluster

        return np.sort(fastcluster.linkage_vector(X, linkage)[:, 2])

    return fit


def sklearn_linkage(linkage):
    def fit(X):
        from sklearn.cluster import AgglomerativeClustering

        model = AgglomerativeClustering(5, linkage=linkage, compute_distances=True)
        return np.sort(model.fit(X).distances_)

    return fit


def grid_graph(X):
    from sklearn.neighbors import kneighbors_graph

    return kneighbors_graph(X, 10, include_self=False)


def on_graph(name):
    def fit(X):
        import warnings

        if name == "pellucid":
            from pellucid import AgglomerativeClustering
        else:
            from sklearn.cluster import AgglomerativeClustering
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # parts of the graph are joined
            model = AgglomerativeClustering(
                5, connectivity=grid_graph, compute_full_tree=True, compute_distances=True
            )
            return np.sort(model.fit(X).distances_)

    return fit


def same(a, b):
    return bool(np.allclose(a, b, rtol=1e-9, atol=1e-9))


def contenders(linkage):
    found = {
        "pellucid": ours(linkage),
        "SciPy": scipy_linkage(linkage),
        "fastcluster": fastcluster_linkage(linkage),
    }
    if linkage in ("single", "ward", "centroid", "median"):
        found["fastcluster, no matrix"] = fastcluster_vector(linkage)
    if linkage in ("single", "ward", "complete", "average"):
        found["scikit-learn"] = sklearn_linkage(linkage)
    return found


def without_matrix(linkage):
    """Those whose memory does not grow with the square of the rows."""
    found = {
        "pellucid": ours(linkage),
        "fastcluster, no matrix": fastcluster_vector(linkage),
    }
    if linkage == "single":
        found["scikit-learn"] = sklearn_linkage(linkage)
    return found


NEED_A_MATRIX = (
    "All pairs of 50,000 rows are 10 GB: SciPy and fastcluster's plain linkage need them, for Ward "
    "SciPy holds them twice and scikit-learn calls SciPy. They have no line."
)


def pellucid_divisive(X):
    from pellucid import DivisiveClustering

    return DivisiveClustering(5).fit(X).heights_


def numpy_divisive(X):
    """The same splits with whole rows of the matrix at a time in NumPy; the first twenty."""
    from scipy.spatial.distance import pdist, squareform

    D = squareform(pdist(X))
    clusters, heights = [np.arange(len(X))], []
    while len(heights) < 20:
        size = [D[np.ix_(c, c)].max() for c in clusters]
        stay = clusters.pop(int(np.argmax(size)))
        heights.append(max(size))
        s = D[np.ix_(stay, stay)].sum(axis=1)
        gone = [stay[np.argmax(s)]]
        s, stay = np.delete(s, np.argmax(s)), np.delete(stay, np.argmax(s))
        t = np.zeros(len(stay))
        while True:
            d = D[gone[-1], stay]
            s, t = s - d, t + d
            gain = s / max(len(stay) - 1, 1) - t / len(gone)
            if len(stay) < 2 or gain.max() <= 0:
                break
            at = np.argmax(gain)
            gone.append(stay[at])
            stay, s, t = np.delete(stay, at), np.delete(s, at), np.delete(t, at)
        clusters += [stay, np.array(gone)]
    return np.array(heights)


CASES = [
    *(
        Case(
            f"AgglomerativeClustering, {linkage}, {N:,} x {P}",
            rows,
            contenders(linkage),
            same,
            LIMIT,
            rounds=2,
            repeats=1,
            memory=True,
        )
        for linkage in ("single", "ward", "complete", "average", "weighted", "centroid", "median")
    ),
    *(
        Case(
            f"AgglomerativeClustering, {linkage}, {MANY:,} x {P}, {what}",
            data,
            without_matrix(linkage),
            same,
            "1.25 G distances of 10 columns at most; bounds of 64 rows at a time rule most out",
            NEED_A_MATRIX,
            rounds=1,
            repeats=1,
            memory=True,
        )
        for linkage in ("single", "ward")
        for what, data in (("three groups", many_rows), ("no groups", many_even_rows))
    ),
    Case(
        "AgglomerativeClustering, ward on the graph of 10 neighbours, 10,000 x 10",
        rows,
        {"pellucid": on_graph("pellucid"), "scikit-learn": on_graph("sklearn")},
        same,
        "some 100,000 edges, a heap operation each",
        "Both build the graph of neighbours with scikit-learn, within the time.",
        rounds=2,
        repeats=1,
    ),
    Case(
        "DivisiveClustering, 2,000 x 10, all splits",
        few_rows,
        {
            "pellucid": pellucid_divisive,
            "NumPy (no maintained peer), first 20 splits": numpy_divisive,
        },
        lambda a, b: bool(np.allclose(a[: len(b)], b)),
        "4 M distances, read once for every level of the tree",
        rounds=2,
        repeats=2,
    ),
]
