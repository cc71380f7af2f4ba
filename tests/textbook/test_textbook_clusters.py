"""The clusters of the textbook agree with the fast ones."""

from itertools import product

import numpy as np
import pytest
from agreement import same, same_mean
from numpy.testing import assert_array_equal
from sklearn.metrics import adjusted_rand_score

from pellucid import (
    DBSCAN,
    HDBSCAN,
    OPTICS,
    AgglomerativeClustering,
    BisectingKMeans,
    DivisiveClustering,
    FuzzyCMeans,
    KMeans,
    KMedoids,
    MeanShift,
    PossibilisticCMeans,
    SpectralClustering,
)
from pellucid import cluster as fast
from pellucid.textbook.clusters.adjusted_rand import adjusted_rand
from pellucid.textbook.clusters.bisecting_kmeans import bisecting_kmeans, splits
from pellucid.textbook.clusters.calinski_harabasz import calinski_harabasz
from pellucid.textbook.clusters.dbscan import dbscan
from pellucid.textbook.clusters.divisive import divisive
from pellucid.textbook.clusters.divisive import splits as divisions
from pellucid.textbook.clusters.elbow import elbow
from pellucid.textbook.clusters.fuzzy_c_means import fuzzy_c_means
from pellucid.textbook.clusters.fuzzy_c_means import rounds as fuzzy_rounds
from pellucid.textbook.clusters.hdbscan import hdbscan
from pellucid.textbook.clusters.k_medoids import k_medoids, swaps
from pellucid.textbook.clusters.kmeans import kmeans, rounds
from pellucid.textbook.clusters.kmeans_plus_plus import draws, kmeans_plus_plus
from pellucid.textbook.clusters.linkage import cut, linkage
from pellucid.textbook.clusters.mean_shift import bandwidth, climbs, mean_shift
from pellucid.textbook.clusters.optics import groups_below, optics, steep_groups
from pellucid.textbook.clusters.partition_counts import partition_counts
from pellucid.textbook.clusters.possibilistic_c_means import possibilistic_c_means
from pellucid.textbook.clusters.possibilistic_c_means import rounds as possibilistic_rounds
from pellucid.textbook.clusters.silhouette import silhouette
from pellucid.textbook.clusters.spectral_clustering import spectral_clustering, spectrum

rng = np.random.default_rng(0)


def blobs(n=60, k=3, p=2, gap=4.0):
    return rng.normal(size=(n, p)) + gap * rng.normal(size=(k, p))[rng.integers(k, size=n)]


def distances(X):
    return np.linalg.norm(X[:, None] - X[None], axis=2)


@pytest.mark.parametrize("seed", range(5))
def test_kmeans(seed):
    X = np.random.default_rng(seed).normal(size=(80, 3))
    book = kmeans(X, X[:4])
    model = KMeans(4, init=X[:4], n_init=1, stop="labels").fit(X)
    assert_array_equal(book.labels, model.labels_)
    same(book.centres, model.cluster_centers_, atol=1e-12)
    same(book.J, model.inertia_)
    assert np.all(np.diff([s.J for s in rounds(X, X[:4])]) <= 1e-9)


def test_kmeans_plus_plus():
    X = blobs()
    for state in draws(X, 4, rng):
        same(state.probability, fast.draw_probabilities(X, state.centres), atol=1e-12)
    assert len(np.unique(kmeans_plus_plus(X, 5, rng), axis=0)) == 5
    X = np.array([[0.0], [1.0], [3.0]])  # the first of two evenly, the other by squared distance
    chances = np.array([1 / 10 + 1 / 5, 9 / 10 + 9 / 13, 4 / 5 + 4 / 13]) / 3  # of {0, 1}, ...
    ours = [kmeans_plus_plus(X, 2, rng).sum() for _ in range(1000)]
    seeds = range(1000)
    theirs = [fast.kmeans_plusplus(X, 2, n_local_trials=1, random_state=s)[0].sum() for s in seeds]
    for drawn in (ours, theirs):
        same_mean(np.equal.outer(drawn, [1, 3, 4]), chances)


def test_bisecting_kmeans():
    X = np.repeat([[0.0, 0], [9, 0], [0, 30], [9, 30]], 15, axis=0) + rng.normal(size=(60, 2))
    book = bisecting_kmeans(X, 4, rng)
    model = BisectingKMeans(4, n_init=3, random_state=0).fit(X)
    assert adjusted_rand_score(book.labels, model.labels_) == 1.0
    same(book.inertia.sum(), model.inertia_)
    assert np.all(np.diff([s.inertia.sum() for s in splits(X, 6, rng)]) < 0)


@pytest.mark.parametrize("seed", range(3))
def test_k_medoids(seed):
    X = np.random.default_rng(seed).normal(size=(25, 2))
    D = distances(X)
    book = k_medoids(D, 3)
    assert np.all(np.diff([s.J for s in swaps(D, 3)]) < 0)
    start = next(swaps(D, 3)).medoids
    assert_array_equal(start, fast.medoids.medoids.build_medoids(D, 3))
    clear = np.repeat([[0.0, 0], [9, 0], [0, 9]], 8, axis=0) + 0.3 * X[:24]
    model = KMedoids(3, metric="precomputed").fit(distances(clear))
    book = k_medoids(distances(clear), 3)
    assert set(book.medoids) == set(model.medoid_indices_)
    same(book.J, model.inertia_)


@pytest.mark.parametrize(
    "kind", ["single", "complete", "average", "weighted", "centroid", "median", "ward"]
)
@pytest.mark.filterwarnings("ignore:.*inver.*")
def test_linkage(kind):
    X = rng.normal(size=(18, 2))
    model = AgglomerativeClustering(3, linkage=kind).fit(X)
    tree = linkage(X, kind)
    same(tree, model.linkage_matrix_, atol=1e-9)
    assert_array_equal(cut(tree, 3), model.labels_)


@pytest.mark.parametrize("seed", range(3))
def test_divisive(seed):
    D = distances(np.random.default_rng(seed).normal(size=(20, 2)))
    model = DivisiveClustering(4, metric="precomputed").fit(D)
    assert_array_equal(divisive(D, 4), model.labels_)
    same([s.height for s in divisions(D)], np.sort(model.heights_)[::-1])


@pytest.mark.parametrize("seed", range(4))
def test_dbscan(seed):
    X = np.random.default_rng(seed).normal(size=(70, 2))
    book, model = dbscan(X, 0.4, 5), DBSCAN(0.4, min_samples=5).fit(X)
    assert_array_equal(np.flatnonzero(book.core), model.core_sample_indices_)
    assert_array_equal(book.labels[book.core], model.labels_[book.core])
    assert_array_equal(book.labels, model.labels_)
    assert_array_equal(dbscan(X, 1e-6).labels, -np.ones(70))


@pytest.mark.parametrize("seed", range(3))
def test_hdbscan(seed):
    g = np.random.default_rng(seed)
    X = np.vstack(
        [g.normal(size=(15, 2)), g.normal(9, 0.5, size=(15, 2)), g.uniform(-9, 0, (8, 2))]
    )
    assert_array_equal(hdbscan(X, 5), HDBSCAN(5).fit(X).labels_)


@pytest.mark.parametrize(("m", "xi", "eps"), [(5, 0.05, np.inf), (8, 0.1, 2.0), (4, 0.3, 1.0)])
@pytest.mark.parametrize("seed", range(3))
def test_optics(seed, m, xi, eps):
    g = np.random.default_rng(seed)
    X = np.vstack([g.normal(size=(30, 2)), g.normal(6, 0.3, (30, 2)), g.uniform(-9, 9, (20, 2))])
    book, model = optics(X, m, eps), OPTICS(min_samples=m, xi=xi, max_eps=eps).fit(X)
    assert_array_equal(book.order, model.ordering_)
    assert_array_equal(book.source, model.predecessor_)
    same(book.core, model.core_distances_)
    same(book.reach, model.reachability_)
    assert steep_groups(book, m, xi) == list(map(tuple, model.cluster_hierarchy_.tolist()))
    visits = {"reachability": model.reachability_, "ordering": model.ordering_}
    cut = fast.cluster_optics_dbscan(**visits, core_distances=model.core_distances_, eps=0.8)
    assert_array_equal(groups_below(book, 0.8), cut)


@pytest.mark.parametrize("seed", range(3))
def test_mean_shift(seed):
    g = np.random.default_rng(seed)
    X = np.vstack([g.normal(size=(30, 2)), g.normal(6, 0.3, (30, 2)), g.uniform(-9, 9, (20, 2))])
    peaks, labels = mean_shift(X, 2.0)
    model = MeanShift(bandwidth=2.0).fit(X)
    same(peaks, model.cluster_centers_)
    assert_array_equal(labels, model.labels_)
    assert len(list(climbs(X, 2.0))) == len(model.history_)
    same(bandwidth(X), fast.estimate_bandwidth(X))


def test_spectral_clustering():
    angle = rng.uniform(0, 2 * np.pi, 80)
    X = np.repeat([1.0, 4.0], 40)[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    book = spectrum(X, 2, 2.0)
    model = SpectralClustering(2, gamma=2.0, random_state=0).fit(X)
    same(book.eigenvalues[:4], model.eigenvalues_[:4], atol=1e-9)
    overlap = book.embedding @ book.embedding.T  # rotations of the eigenvectors cancel
    same(overlap, model.embedding_ @ model.embedding_.T, atol=1e-8)
    assert adjusted_rand_score(spectral_clustering(X, 2, 2.0), model.labels_) == 1.0


@pytest.mark.parametrize("m", [1.3, 2.0])
def test_fuzzy_c_means(m):
    X = blobs()
    book = fuzzy_c_means(X, X[:3], m)
    model = FuzzyCMeans(3, m=m, init=X[:3], tol=1e-12, max_iter=5000).fit(X)
    same(book.centres, model.cluster_centers_, atol=1e-8)
    same(book.membership, model.membership_, atol=1e-8)
    same(book.J, model.objective_)
    assert np.all(np.diff([s.J for s in fuzzy_rounds(X, X[:3], m)]) <= 1e-9)


def test_possibilistic_c_means():
    X = blobs(gap=6.0)
    start = fuzzy_c_means(X, X[:2]).centres
    eta = np.array([1.0, 2.0])
    book = possibilistic_c_means(X, start, eta)
    model = PossibilisticCMeans(2, scale=eta, init=start, tol=1e-12, max_iter=5000).fit(X)
    same(book.centres, model.cluster_centers_, atol=1e-8)
    same(book.typicality, model.typicality_, atol=1e-8)
    J = [s.J for s in possibilistic_rounds(X, start, eta)]
    assert np.all(np.diff(J) <= 1e-9)


def test_measures():
    X, labels = blobs(), rng.integers(4, size=60)
    labels[:1] = 9  # a group of one
    same(silhouette(X, labels), fast.silhouette_samples(X, labels), atol=1e-12)
    same(calinski_harabasz(X, labels), fast.calinski_harabasz_score(X, labels))
    other = rng.integers(3, size=60)
    same(adjusted_rand(labels, other), adjusted_rand_score(labels, other))
    assert adjusted_rand(labels, labels) == 1.0


def test_elbow():
    for _ in range(50):
        E = np.sort(rng.exponential(size=8) ** 2)[::-1]
        assert elbow(E) == fast.elbow(E, range(1, 9)).n_clusters


def test_partition_counts():
    for n in range(9):
        assert partition_counts(n) == [fast.stirling_number(n, k) for k in range(n + 1)]
        assert sum(partition_counts(n)) == fast.bell_number(n)
    all_labels = {tuple(map(t.index, t)) for t in product(range(5), repeat=5)}
    assert len(all_labels) == sum(partition_counts(5))
