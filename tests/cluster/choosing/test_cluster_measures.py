"""Silhouettes, distortion, ratio, elbow, counts of partitions, stability, diagnosis."""

import tracemalloc

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn import metrics as peer
from sklearn.datasets import make_circles, make_moons
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from pellucid import FuzzyCMeans, KMeans
from pellucid.cluster import (
    ElbowResult,
    Metric,
    bell_number,
    calinski_harabasz_score,
    cluster_diagnosis,
    cluster_stability,
    consensus_matrix,
    distortion,
    elbow,
    silhouette_samples,
    silhouette_score,
    silhouette_values,
    stirling_number,
)
from pellucid.cluster.choosing.diagnosis import spanning_tree
from pellucid.cluster.choosing.stability import with_settings
from pellucid.core.arrays.partitions import adjusted_rand, cross_counts, renumbered
from pellucid.core.runtime.threads import limit_threads

D = np.array([(2, 10), (2, 5), (8, 4), (5, 8), (7, 5), (6, 4), (1, 2), (4, 9)], dtype=float)


def partitions(n):
    """All partitions of n rows, as labels numbered by first row."""
    found = [(0,)]
    for _ in range(n - 1):
        found = [(*labels, g) for labels in found for g in range(max(labels) + 2)]
    return found


# --- counts --------------------------------------------------------------------------------


def test_example_1_counts():
    assert (stirling_number(4, 2), stirling_number(5, 3), bell_number(5)) == (7, 25, 52)
    assert (stirling_number(0, 0), stirling_number(3, 5), stirling_number(3, 0)) == (1, 0, 0)


def test_counts_against_enumeration_and_recurrence():
    found = [max(labels) + 1 for labels in partitions(5)]
    assert [stirling_number(5, k) for k in range(1, 6)] == [found.count(k) for k in range(1, 6)]
    assert bell_number(5) == len(found)
    for n, k in [(30, 7), (60, 59), (100, 3)]:
        joined, alone = stirling_number(n - 1, k), stirling_number(n - 1, k - 1)
        assert stirling_number(n, k) == k * joined + alone
    assert bell_number(40) == sum(stirling_number(40, k) for k in range(41))
    with pytest.raises(ValueError, match="n must be a whole number >= 0"):
        bell_number(-1)


# --- silhouettes ---------------------------------------------------------------------------


def test_example_6_silhouettes():
    X, labels = [[0.0], [1.0], [2.0], [10.0], [11.0]], [0, 0, 0, 1, 1]
    values = silhouette_samples(X, labels)
    assert_allclose(values, [0.857143, 0.894737, 0.823529, 0.888889, 0.9], atol=5e-7)
    assert_allclose(silhouette_score(X, labels), 0.872860, atol=5e-7)
    assert_allclose(silhouette_score(X, labels, within="all"), 0.922277, atol=5e-7)


@pytest.mark.parametrize(
    "metric", ["euclidean", "manhattan", "cosine", "sqeuclidean", "chebyshev", "canberra"]
)
@pytest.mark.parametrize(("n", "p"), [(40, 2), (2500, 5), (300, 40)])
def test_silhouettes_against_scikit_learn(metric, n, p):
    if n > 1000 and metric in ("chebyshev", "canberra"):
        n = 400
    rng = np.random.default_rng(n)
    X = rng.normal(size=(n, p)) + 50.0
    labels = np.array(["a", "b", "c"])[rng.integers(3, size=n)]
    labels[0] = "z"  # alone
    values = silhouette_samples(X, labels, metric=metric)
    assert_allclose(values, peer.silhouette_samples(X, labels, metric=metric), atol=1e-9)
    assert values[0] == 0.0


def test_cohesion_separation_and_neighbour():
    rng = np.random.default_rng(0)
    X, labels = rng.normal(size=(30, 2)), rng.integers(3, size=30) + 5
    found = silhouette_values(X, labels)
    distances = peer.pairwise_distances(X)
    for i in range(30):
        own = (labels == labels[i]) & (np.arange(30) != i)
        means = {g: distances[i, labels == g].mean() for g in (5, 6, 7) if g != labels[i]}
        assert_allclose(found.cohesion[i], distances[i, own].mean())
        assert_allclose(found.separation[i], min(means.values()))
        assert found.neighbor[i] == min(means, key=means.get)
    table = silhouette_values(distances, labels, metric="precomputed")
    assert_allclose(table.silhouette, found.silhouette)
    words = ["cat", "cut", "dogs", "dig", "dog", "hat"]
    far = silhouette_values(words, [0, 0, 1, 1, 1, 0], metric=lambda a, b: len(set(a) ^ set(b)))
    assert far.silhouette.shape == (6,)
    assert_allclose(far.cohesion[1], np.mean([2, 4]))


def test_silhouettes_need_no_square_of_memory_and_no_luck_with_threads():
    rng = np.random.default_rng(0)
    X, labels = rng.normal(size=(4000, 3)), rng.integers(5, size=4000)
    silhouette_samples(X[:100], labels[:100])
    tracemalloc.start()
    one = silhouette_samples(X, labels)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8 * 4000**2 / 10
    with limit_threads(1):
        assert_array_equal(silhouette_samples(X, labels), one)
    assert_allclose(
        silhouette_score(X, labels, sample_size=500, random_state=0), one.mean(), atol=0.05
    )


def test_silhouettes_of_copies_and_bad_labels():
    X = np.ones((4, 2))
    assert_array_equal(silhouette_samples(X, [0, 0, 1, 1]), np.zeros(4))
    for labels in ([0, 0, 0, 0], [0, 1, 2, 3]):
        with pytest.raises(ValueError, match="from 2 to n_samples - 1"):
            silhouette_score(X, labels)
    with pytest.raises(ValueError, match="one for each of the 4 rows"):
        silhouette_score(X, [0, 1])
    with pytest.raises(ValueError, match="row 1, column 0"):
        silhouette_score([[0.0], [np.nan], [1.0]], [0, 0, 1])
    with pytest.raises(ValueError, match="metric must be one of"):
        silhouette_score(X, [0, 0, 1, 1], metric="euclidian")


# --- distortion and ratio ------------------------------------------------------------------


def test_example_2_distortion_and_ratio():
    assert_allclose(distortion(D, [0, 0, 0, 1, 1, 1, 2, 2]), 84.3333, atol=5e-5)
    best = {}
    for labels in partitions(8):
        k = max(labels) + 1
        if k in (2, 3, 4):
            best[k] = min(best.get(k, (np.inf, ())), (distortion(D, labels), labels))
    assert_allclose([best[k][0] for k in (2, 3, 4)], [51.4667, 14.3333, 8.6667], atol=5e-5)
    ratios = [calinski_harabasz_score(D, best[k][1]) for k in (2, 3, 4)]
    assert_allclose(ratios, [5.745466, 15.072674, 14.166667], atol=5e-7)


def test_distortion_is_the_objective_of_k_means():
    X = np.random.default_rng(0).normal(size=(80, 3)) + 2.0
    for metric in ("euclidean", "manhattan", "cosine", Metric("manhattan", "mean")):
        model = KMeans(3, metric=metric, tol=0.0, random_state=0).fit(X)
        assert_allclose(distortion(X, model.labels_, metric=metric), model.inertia_, rtol=1e-9)
    labels = np.arange(80) % 4
    ours = calinski_harabasz_score(X + 1e6, labels)
    assert_allclose(ours, peer.calinski_harabasz_score(X, labels), rtol=1e-6)


# --- elbow ---------------------------------------------------------------------------------


def test_elbow_rule():
    assert elbow([765.344, 334.300, 88.244, 72.740, 62.100]) == ElbowResult(3, (3,), "one")
    assert elbow([10.0, 8.0, 6.1, 4.3]) == ElbowResult(None, (), "none")
    assert elbow([100.0, 50, 40, 10, 8, 7]) == ElbowResult(4, (2, 4), "several")
    assert elbow([100.0, 50, 40, 10, 8, 7], range(3, 9)).candidates == (4, 6)
    assert elbow([10.0, 5.0, 5.0, 5.0]) == ElbowResult(2, (2,), "one")  # no later drop
    assert elbow([10.0, 5.0, 6.0, 5.5], ratio=50).n_clusters == 2  # a later rise
    assert elbow([3.0, 1.0]).kind == "none"
    assert "ambiguous" in str(elbow([100.0, 50, 40, 10, 8, 7]))
    assert elbow([100.0, 50, 40, 10, 8, 7], share=0.4).candidates == (2,)
    with pytest.raises(ValueError, match="consecutive"):
        elbow([3.0, 2.0, 1.0], [1, 2, 4])
    with pytest.raises(ValueError, match="finite"):
        elbow([3.0, np.nan])


# --- stability -----------------------------------------------------------------------------


def test_adjusted_rand_against_scikit_learn():
    rng = np.random.default_rng(0)
    for _ in range(20):
        a, b = rng.integers(4, size=(2, 30))
        ours = adjusted_rand(cross_counts(renumbered(a), renumbered(b)))
        assert_allclose(ours, peer.adjusted_rand_score(a, b), atol=1e-12)


def two_groups(n=40, seed=0):
    rng = np.random.default_rng(seed)
    return np.vstack([rng.normal(0, 1, (n, 2)), rng.normal(9, 1, (n, 2))])


@pytest.mark.parametrize("resample", ["seeds", "subsample", "bootstrap"])
def test_stability_of_groups_and_of_noise(resample):
    X = two_groups()
    good = cluster_stability(KMeans(2), X, n_runs=8, resample=resample, random_state=0)
    assert good.score == good.modal_share == 1.0
    assert good.agreement.shape == (8, 8)
    assert_array_equal(good.modal_labels, np.repeat([0, 1], 40))
    noise = np.random.default_rng(0).normal(size=(80, 6))
    bad = cluster_stability(KMeans(6), noise, n_runs=8, resample=resample, random_state=0)
    assert bad.score < 0.6
    assert bad.modal_share < 0.5
    again = cluster_stability(KMeans(6), noise, n_runs=8, resample=resample, random_state=0)
    assert_array_equal(again.agreement, bad.agreement)


class Halves(KMeans):
    """A clustering that cannot predict and has no seed: by the sign of the first column."""

    def __init__(self, n_clusters=2):
        self.n_clusters = n_clusters

    def fit_predict(self, X, y=None):
        return (X[:, 0] > 4.5).astype(int)

    @property
    def predict(self):
        raise AttributeError("predict")


def test_stability_without_seeds_or_prediction():
    X = two_groups()
    with pytest.raises(ValueError, match="no random_state"):
        cluster_stability(Halves(), X)
    found = cluster_stability(Halves(), X, n_runs=4, resample="subsample", random_state=0)
    assert (found.score, found.modal_share) == (1.0, 1.0)
    with pytest.raises(TypeError, match="fit_predict"):
        cluster_stability(StandardScaler(), X)


def test_settings_reach_into_a_pipeline():
    model = with_settings(make_pipeline(StandardScaler(), KMeans(3)), n_init=1, random_state=4)
    assert (model[-1].n_init, model[-1].random_state, model[-1].n_clusters) == (1, 4, 3)
    assert cluster_stability(model, two_groups(), n_runs=3, random_state=0).score < 1.0


def test_consensus_matrix():
    X = two_groups(15)
    C = consensus_matrix(FuzzyCMeans(2), X, n_runs=10, random_state=0)
    assert_array_equal(C, np.kron(np.eye(2), np.ones((15, 15))))
    with pytest.raises(ValueError, match="GB"):
        consensus_matrix(KMeans(2), np.zeros((20_001, 1)))


# --- diagnosis -----------------------------------------------------------------------------


def labels_by_kmeans(X, k):
    return KMeans(k, n_init=10, random_state=0).fit_predict(X)


@pytest.mark.parametrize("make", [make_moons, make_circles])
def test_diagnosis_of_chains(make):
    options = {"factor": 0.4} if make is make_circles else {}
    X, truth = make(400, noise=0.04, random_state=0, **options)
    found = cluster_diagnosis(X, labels_by_kmeans(X, 2))
    assert "shape" in found.names
    assert "transitivity" in str(found)
    assert "shape" not in cluster_diagnosis(X, truth).names


def test_diagnosis_names_each_trouble():
    rng = np.random.default_rng(0)
    X = two_groups(100)
    good = np.repeat([0, 1], 100)
    assert cluster_diagnosis(X, good).names == ()
    assert cluster_diagnosis(X * [1.0, 100.0], good).names == ("scales",)
    uneven = np.vstack([rng.normal(0, 1, (500, 2)), rng.normal(9, 1, (20, 2))])
    assert "sizes" in cluster_diagnosis(uneven, np.repeat([0, 1], [500, 20])).names
    wide = np.vstack([rng.normal(0, 0.2, (100, 2)), rng.normal(9, 2, (100, 2))])
    assert "spreads" in cluster_diagnosis(wide, good).names
    spoiled = np.vstack([X, [[4.0, 90.0]]])
    found = cluster_diagnosis(spoiled, np.append(good, 1))
    assert "outliers" in found.names
    assert found.findings[found.names.index("outliers")].numbers["rows"][0] == 200
    many = np.vstack([rng.normal(c, 0.05, (20, 2)) for c in rng.uniform(0, 100, (12, 2))])
    assert "stuck" in cluster_diagnosis(many, np.repeat(np.arange(12), 20)).names
    one = cluster_diagnosis(rng.normal(size=(100, 3)))
    assert "none" in one.names


def test_round_groups_are_not_called_chains():
    for seed in range(5):
        rng = np.random.default_rng(seed)
        X = np.vstack([rng.normal(m, 1.0, (100, 2)) for m in (0.0, 3.5)])
        assert "shape" not in cluster_diagnosis(X, labels_by_kmeans(X, 2)).names
        even = rng.uniform(size=(200, 2))
        assert "shape" not in cluster_diagnosis(even, labels_by_kmeans(even, 4)).names


def test_spanning_tree_against_scipy():
    from scipy.sparse.csgraph import minimum_spanning_tree

    distances = peer.pairwise_distances(np.random.default_rng(0).normal(size=(60, 3)))
    assert_allclose(spanning_tree(distances)[1].sum(), minimum_spanning_tree(distances).sum())
