"""HDBSCAN against scikit-learn: the tree, the choice from it, the labels."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import squareform
from sklearn import cluster as peers
from sklearn.cluster._hdbscan._tree import HIERARCHY_dtype, tree_to_labels
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score
from sklearn.metrics.pairwise import pairwise_distances

from pellucid import DBSCAN, HDBSCAN
from pellucid.cluster.density.reachability_tree import condensed, stabilities
from pellucid.cluster.hierarchy.linkage import MergeTree

SETTINGS = [
    {},
    {"min_samples": 2},
    {"min_samples": 1},
    {"min_cluster_size": 15, "min_samples": 3},
    {"cluster_selection_method": "leaf"},
    {"cluster_selection_epsilon": 1.5},
    {"cluster_selection_method": "leaf", "cluster_selection_epsilon": 1.5},
    {"allow_single_cluster": True},
    {"max_cluster_size": 60},
    {"alpha": 1.5},
    {"metric": "manhattan"},
    {"metric": "braycurtis"},
]


def tables():
    for seed in range(8):
        rng = np.random.default_rng(seed)
        n, p, k = (int(rng.integers(*ends)) for ends in ((40, 300), (1, 5), (2, 6)))
        spread = rng.uniform(0.5, 3)
        yield make_blobs(n, p, centers=k, cluster_std=spread, random_state=seed)[0] + 30


def same_partition(a, b):
    assert_array_equal(a < 0, b < 0)
    assert adjusted_rand_score(a, b) == 1


@pytest.mark.parametrize("settings", SETTINGS)
def test_scikit_learn_chooses_the_same_from_the_same_tree(settings):
    for X in tables():
        model = HDBSCAN(**settings).fit(X)
        peer = peers.HDBSCAN(copy=True, **{**settings, "cluster_selection_epsilon": 0.0}).fit(X)
        heights = np.sort(peer._single_linkage_tree_["value"])
        if settings.get("metric") != "braycurtis":  # ours divides by the size of the sum
            assert_allclose(model.distances_, heights, rtol=1e-9)
        tree = np.zeros(len(X) - 1, dtype=HIERARCHY_dtype)
        tree["left_node"], tree["right_node"] = model.children_.T
        tree["value"], tree["cluster_size"] = model.distances_, model._sizes
        try:
            labels, strength = tree_to_labels(
                tree, model.min_cluster_size, model.cluster_selection_method,
                model.allow_single_cluster, model.cluster_selection_epsilon,
                model.max_cluster_size,
            )  # fmt: skip
        except TypeError:  # theirs fails where the root is reached
            assert model.cluster_selection_epsilon > 0
            continue
        same_partition(model.labels_, labels)
        assert_allclose(model.probabilities_, strength, atol=1e-12)


@pytest.mark.parametrize("settings", [{}, {"min_cluster_size": 15}, {"metric": "manhattan"}])
def test_labels_of_scikit_learn_without_ties(settings):
    """With min_samples=1 no two reachabilities are equal, and the answer is unique."""
    for X in tables():
        ours = HDBSCAN(min_samples=1, **settings).fit(X)
        theirs = peers.HDBSCAN(min_samples=1, copy=True, **settings).fit(X)
        same_partition(ours.labels_, theirs.labels_)
        assert_allclose(ours.probabilities_, theirs.probabilities_, atol=1e-9)


def test_few_rows_differ_where_reachabilities_are_tied():
    for X in tables():
        ours, theirs = HDBSCAN(8).fit(X).labels_, peers.HDBSCAN(8, copy=True).fit(X).labels_
        assert np.mean((ours < 0) != (theirs < 0)) <= 0.05
        both = (ours >= 0) & (theirs >= 0)
        assert adjusted_rand_score(ours[both], theirs[both]) > 0.95


def test_tree_is_single_linkage_of_reachability():
    X = next(iter(tables()))
    D = pairwise_distances(X)
    core = np.sort(D, axis=1)[:, 5 - 1]
    M = np.maximum(D, np.maximum(core[:, None], core))
    np.fill_diagonal(M, 0.0)
    model = HDBSCAN().fit(X)
    assert_allclose(model.distances_, linkage(squareform(M), "single")[:, 2], rtol=1e-9)
    cut = float(np.median(model.distances_)) * 1.001
    groups = fcluster(linkage(squareform(M), "single"), cut, "distance")
    small = np.bincount(groups)[groups] < 5
    found = model.dbscan_clustering(cut)
    assert_array_equal(found < 0, small)
    assert adjusted_rand_score(found[~small], groups[~small]) == 1
    core_rows = DBSCAN(eps=cut, min_samples=5).fit(X)
    inside = core_rows.core_sample_indices_
    inside = inside[found[inside] >= 0]
    assert adjusted_rand_score(found[inside], core_rows.labels_[inside]) == 1


def test_precomputed_and_metrics_agree():
    X = next(iter(tables()))
    plain = HDBSCAN(6).fit(X)
    given = HDBSCAN(6, metric="precomputed").fit(pairwise_distances(X))
    assert_allclose(given.distances_, plain.distances_, rtol=1e-9)
    assert adjusted_rand_score(given.labels_, plain.labels_) > 0.95
    with pytest.raises(ValueError, match="Cannot store centers when using a precomputed"):
        HDBSCAN(metric="precomputed", store_centers="both").fit(pairwise_distances(X))


def test_stability_by_hand():
    """0 1 | 5 6: two pairs born at 1 / 4, left at 1; the root loses four rows at 1 / 4."""
    tree = MergeTree(np.array([[0, 1], [2, 3], [4, 5]]), np.array([1.0, 1, 4]), np.array([2, 2, 4]))
    assert_allclose(stabilities(condensed(tree, 2)), [4 * 0.25, 2 * 0.75, 2 * 0.75])


def test_finds_regions_of_different_density_and_noise():
    rng = np.random.default_rng(0)
    dense, wide = rng.normal(size=(80, 2)) * 0.2, rng.normal(size=(80, 2)) * 2 + 14
    far = np.array([[60.0, 0], [0, 60], [-60, -60]])
    model = HDBSCAN(15, store_centers="both").fit(np.vstack([dense, wide, far]))
    assert (model.labels_[:80] == 0).mean() > 0.9
    assert (model.labels_[80:160] == 1).mean() > 0.9
    assert (model.labels_[160:] == -1).all()
    assert_allclose(model.centroids_, [[0, 0], [14, 14]], atol=0.7)
    assert_allclose(model.medoids_, [[0, 0], [14, 14]], atol=1.0)


def test_missing_cells_copies_and_bad_input():
    X = np.vstack([np.zeros((8, 2)), np.ones((8, 2)), [[np.nan, 1.0]]])
    model = HDBSCAN(4).fit(X)
    assert model.labels_.tolist() == [0] * 8 + [1] * 8 + [-3]
    assert np.isnan(model.probabilities_[-1])
    assert (model.probabilities_[:-1] == 1).all()
    assert np.isfinite(model.stabilities_).all() or np.isinf(model.stabilities_).all()
    assert model.dbscan_clustering(0.5).tolist() == model.labels_.tolist()
    one = HDBSCAN(4, allow_single_cluster=True).fit(np.zeros((6, 1)))
    assert (one.labels_ == 0).all()
    assert (HDBSCAN(4).fit(np.zeros((6, 1))).labels_ == -1).all()
    with pytest.raises(ValueError, match="min_samples"):
        HDBSCAN(5).fit(np.zeros((3, 1)))
    with pytest.raises(ValueError, match="min_cluster_size"):
        HDBSCAN(1).fit(X)
