"""DBSCAN, HDBSCAN, OPTICS, MeanShift, k-medoids on blobs; answers are labels or the objective."""

import numpy as np

from benchmarks.harness import Case

SIZES = ((100_000, 2, 0.1), (100_000, 3, 0.3), (20_000, 10, 2.0), (20_000, 30, 6.0))
MEDOID_ROWS, K = 5_000, 20


def blobs(n, p):
    def make():
        from sklearn.datasets import make_blobs

        return np.ascontiguousarray(make_blobs(n, p, centers=20, random_state=0)[0])

    return make


def ours(eps):
    def fit(X):
        from pellucid import DBSCAN

        return DBSCAN(eps=eps, min_samples=10).fit(X).labels_

    return fit


def sklearn_dbscan(eps):
    def fit(X):
        from sklearn.cluster import DBSCAN

        return DBSCAN(eps=eps, min_samples=10, n_jobs=-1).fit(X).labels_

    return fit


def intelex_dbscan(eps):
    def fit(X):
        from sklearnex.cluster import DBSCAN

        return DBSCAN(eps=eps, min_samples=10).fit(X).labels_

    return fit


def contenders(n, eps):
    found = {"pellucid": ours(eps), "scikit-learn": sklearn_dbscan(eps)}
    if n <= 20_000:  # it compares all pairs
        found["scikit-learn-intelex"] = intelex_dbscan(eps)
    return found


def pellucid_medoids(X):
    from pellucid import KMedoids

    return KMedoids(K).fit(X).inertia_


def rust_medoids(X):
    from kmedoids import KMedoids

    return KMedoids(K, method="fasterpam", metric="euclidean", init="build").fit(X).inertia_


MEDOIDS = Case(
    f"KMedoids, {MEDOID_ROWS:,} x 10, k = {K}",
    blobs(MEDOID_ROWS, 10),
    {"pellucid": pellucid_medoids, "kmedoids (FasterPAM in Rust)": rust_medoids},
    lambda a, b: bool(a <= 1.01 * b),
    "25 M distances, read once a pass",
    rounds=2,
    repeats=2,
)


def pellucid_hierarchy(X):
    from pellucid import HDBSCAN

    return HDBSCAN(20).fit(X).labels_


def sklearn_hierarchy(X):
    from sklearn.cluster import HDBSCAN

    return HDBSCAN(20, copy=True).fit(X).labels_


def alike(a, b):
    """The same clusters, but for rows at tied reachabilities."""
    from sklearn.metrics import adjusted_rand_score

    return bool(adjusted_rand_score(a, b) > 0.98)


def pellucid_visits(max_eps):
    def fit(X):
        from pellucid import OPTICS

        model = OPTICS(min_samples=10, max_eps=max_eps).fit(X)
        return model.ordering_, model.reachability_, model.labels_

    return fit


def sklearn_visits(max_eps):
    def fit(X):
        from sklearn.cluster import OPTICS

        model = OPTICS(min_samples=10, max_eps=max_eps).fit(
            X
        )  # n_jobs=-1 is slower: one query a call
        return model.ordering_, model.reachability_, model.labels_

    return fit


def same_visits(a, b):
    """The same order and labels, reachabilities to rounding."""
    exact = np.array_equal(a[0], b[0]) and np.array_equal(a[2], b[2])
    return bool(exact and np.allclose(a[1], b[1], rtol=1e-9))


def pellucid_climb(X):
    from pellucid import MeanShift

    return peaks_of(MeanShift(bandwidth=1.5).fit(X))


def sklearn_climb(X):
    from sklearn.cluster import MeanShift

    return peaks_of(MeanShift(bandwidth=1.5, n_jobs=-1).fit(X))


def peaks_of(model):
    """The peak that each row climbed to, and its label."""
    return np.column_stack([model.cluster_centers_[model.labels_], model.labels_])


def same_peaks(a, b):
    """The same labels, centres to rounding."""
    return bool(np.array_equal(a[:, -1], b[:, -1]) and np.allclose(a, b, rtol=1e-9))


CASES = [
    MEDOIDS,
    *(
        Case(
            f"OPTICS, {n:,} x 3, max_eps {eps:g}",
            blobs(n, 3),
            {"pellucid": pellucid_visits(eps), "scikit-learn": sklearn_visits(eps)},
            same_visits,
            "all pairs once, without a matrix; with a radius, lists by a tree and a heap",
            rounds=2,
            repeats=1,
        )
        for n, eps in ((2_000, np.inf), (10_000, np.inf), (10_000, 1.0))
    ),
    Case(
        "MeanShift, 5,000 x 2, bandwidth 1.5",
        blobs(5_000, 2),
        {"pellucid": pellucid_climb, "scikit-learn": sklearn_climb},
        same_peaks,
        "a search of the tree per seed and move, nodes inside the ball taken whole",
        rounds=2,
        repeats=1,
    ),
    *(
        Case(
            f"HDBSCAN, {n:,} x {p}, clusters of 20",
            blobs(n, p),
            {"pellucid": pellucid_hierarchy, "scikit-learn": sklearn_hierarchy},
            alike,
            "all pairs once, without a matrix",
            rounds=2,
            repeats=1,
        )
        for n, p in ((20_000, 3), (20_000, 10))
    ),
    *(
        Case(
            f"DBSCAN, {n:,} x {p}, eps {eps}",
            blobs(n, p),
            contenders(n, eps),
            lambda a, b: bool(np.array_equal(a, b)),
            "a search of the tree per row; all pairs where the columns are many",
            rounds=2,
            repeats=2,
        )
        for n, p, eps in SIZES
    ),
]
