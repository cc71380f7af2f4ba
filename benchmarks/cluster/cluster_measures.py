"""Silhouettes of 20,000 x 10 rows in 8 clusters, and the choice of the number of clusters."""

import numpy as np

from benchmarks.harness import Case

N, P, K = 20_000, 10, 8


def rows():
    rng = np.random.default_rng(0)
    labels = rng.integers(K, size=N)
    return rng.standard_normal((N, P)) + 2.0 * np.eye(K, P)[labels], labels


def pellucid_silhouette(data, metric="euclidean"):
    from pellucid.cluster import silhouette_score

    return silhouette_score(*data, metric=metric)


def sklearn_silhouette(data, metric="euclidean"):
    from sklearn.metrics import silhouette_score

    return silhouette_score(*data, metric=metric)


def pellucid_manhattan(data):
    return pellucid_silhouette(data, "manhattan")


def sklearn_manhattan(data):
    return sklearn_silhouette(data, "manhattan")


def pellucid_cosine(data):
    return pellucid_silhouette(data, "cosine")


def sklearn_cosine(data):
    return sklearn_silhouette(data, "cosine")


def few_groups():
    rng = np.random.default_rng(0)
    return np.vstack([rng.normal(m, 1.0, (1000, 5)) for m in (0.0, 5.0, 10.0, 15.0)])


def pellucid_search(X):
    """Inertia, silhouette and ratio for k = 2 .. 8."""
    from pellucid import ClusterNumberSearch

    model = ClusterNumberSearch(
        n_clusters=range(2, 9), criteria=("silhouette", "calinski_harabasz"), random_state=0
    )
    return model.fit(X).best_n_clusters_


def sklearn_loop(X):
    from sklearn.cluster import KMeans
    from sklearn.metrics import calinski_harabasz_score, silhouette_score

    values = {}
    for k in range(2, 9):
        labels = KMeans(k, n_init=10, random_state=0).fit_predict(X)
        values[k] = (silhouette_score(X, labels), calinski_harabasz_score(X, labels))
    return max(values, key=lambda k: values[k][0])


def close(ours, theirs):
    return bool(np.allclose(ours, theirs, atol=1e-9))


PAIRS = f"n^2/2 = {N * N // 2:,} distances of {P} columns, no n x n matrix"
CASES = [
    Case(
        f"silhouette_score {N:,} x {P}, euclidean", rows,
        {"pellucid": pellucid_silhouette, "scikit-learn": sklearn_silhouette}, close, PAIRS, "", 2,
        1,
    ),
    Case(
        f"silhouette_score {N:,} x {P}, manhattan", rows,
        {"pellucid": pellucid_manhattan, "scikit-learn": sklearn_manhattan}, close, PAIRS, "", 2, 1,
    ),
    Case(
        f"silhouette_score {N:,} x {P}, cosine", rows,
        {"pellucid": pellucid_cosine, "scikit-learn": sklearn_cosine}, close,
        "sums of 1 - cos need no pairs: n k p operations", "", 2, 1,
    ),
    Case(
        "ClusterNumberSearch 4,000 x 5, k = 2 .. 8", few_groups,
        {"pellucid": pellucid_search, "scikit-learn (loop)": sklearn_loop}, close,
        "70 starts of k-means and 7 times n^2/2 distances", "", 2, 1,
    ),
]  # fmt: skip
