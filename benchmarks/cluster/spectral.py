"""Graphs of similar rows: labels that spread over them, clusters cut out of them."""

import numpy as np

from benchmarks.harness import Case


def few_labels(n, p, share):
    def make():
        from sklearn.datasets import make_blobs

        X, y = make_blobs(n, p, centers=10, cluster_std=3.0, random_state=0)
        y[np.random.default_rng(0).random(n) > share] = -1
        return X, y

    return make


def pellucid_knn(data):
    from pellucid import LabelPropagation

    return LabelPropagation("knn", max_iter=200, tol=1.0).fit(*data).transduction_


def sklearn_knn(data):
    from sklearn.semi_supervised import LabelPropagation

    return LabelPropagation("knn", max_iter=200, tol=1.0).fit(*data).transduction_


def pellucid_rbf(data):
    from pellucid import LabelSpreading

    return LabelSpreading(gamma=0.05).fit(*data).transduction_


def sklearn_rbf(data):
    from sklearn.semi_supervised import LabelSpreading

    return LabelSpreading(gamma=0.05).fit(*data).transduction_


def pellucid_predict(data):
    from pellucid import LabelPropagation

    X, y = data
    return LabelPropagation("knn", max_iter=200, tol=1.0).fit(X[:5000], y[:5000]).predict(X)


def sklearn_predict(data):
    from sklearn.semi_supervised import LabelPropagation

    X, y = data
    return LabelPropagation("knn", max_iter=200, tol=1.0).fit(X[:5000], y[:5000]).predict(X)


def mostly(ours, theirs):
    return bool((ours == theirs).mean() > 0.999)


CASES = [
    Case(
        "LabelPropagation 50,000 x 5, 7 neighbours, 5 % labelled",
        few_labels(50_000, 5, 0.05),
        {"pellucid": pellucid_knn, "scikit-learn": sklearn_knn},
        mostly,
        "the search, then rounds of 350,000 edges x 10 classes",
        rounds=2,
        repeats=2,
    ),
    Case(
        "LabelSpreading 5,000 x 10, all pairs, 5 % labelled",
        few_labels(5000, 10, 0.05),
        {"pellucid": pellucid_rbf, "scikit-learn": sklearn_rbf},
        mostly,
        "25 M weights, 200 MB read per round",
        rounds=2,
        repeats=2,
    ),
    Case(
        "LabelPropagation fit on 5,000, predict 50,000 x 5",
        few_labels(50_000, 5, 0.05),
        {"pellucid": pellucid_predict, "scikit-learn": sklearn_predict},
        mostly,
        "50,000 searches among 5,000",
        rounds=2,
        repeats=2,
    ),
]


# --- clusters and components of kernels --------------------------------------------------------


def moons(n):
    def make():
        from sklearn.datasets import make_moons

        return make_moons(n, noise=0.07, random_state=0)[0]

    return make


def pellucid_neighbours(X):
    from pellucid import SpectralClustering

    return SpectralClustering(2, affinity="nearest_neighbors", random_state=0).fit(X).labels_


def sklearn_neighbours(X):
    from sklearn.cluster import SpectralClustering

    return SpectralClustering(2, affinity="nearest_neighbors", random_state=0).fit(X).labels_


def pellucid_kernel(X):
    from pellucid import SpectralClustering

    return SpectralClustering(2, gamma=30, random_state=0).fit(X).labels_


def sklearn_kernel(X):
    from sklearn.cluster import SpectralClustering

    return SpectralClustering(2, gamma=30, random_state=0).fit(X).labels_


def same_groups(ours, theirs):
    from sklearn.metrics import adjusted_rand_score

    return bool(adjusted_rand_score(ours, theirs) > 0.98)


def gauss():
    return np.random.default_rng(0).standard_normal((3000, 10))


def pellucid_kernel_pca(X):
    from pellucid import KernelPCA

    return KernelPCA(5, kernel="rbf", gamma=0.05).fit(X).eigenvalues_


def sklearn_kernel_pca(X):
    from sklearn.decomposition import KernelPCA

    return KernelPCA(5, kernel="rbf", gamma=0.05).fit(X).eigenvalues_


def same_values(ours, theirs):
    return bool(np.allclose(ours, theirs, rtol=1e-6))


CASES += [
    Case(
        "SpectralClustering 20,000 x 2, 10 neighbours",
        moons(20_000),
        {"pellucid": pellucid_neighbours, "scikit-learn": sklearn_neighbours},
        same_groups,
        "the search, then some hundred products with 140,000 edges",
        rounds=2,
        repeats=1,
    ),
    Case(
        "SpectralClustering 3,000 x 2, all pairs",
        moons(3000),
        {"pellucid": pellucid_kernel, "scikit-learn": sklearn_kernel},
        same_groups,
        "9 M weights; a factorisation of n^3/3",
        rounds=2,
        repeats=1,
    ),
    Case(
        "KernelPCA 3,000 x 10, rbf, 5 components",
        gauss,
        {"pellucid": pellucid_kernel_pca, "scikit-learn": sklearn_kernel_pca},
        same_values,
        "9 M weights; some dozens of products with them",
        rounds=2,
        repeats=1,
    ),
]
