"""Spectral clustering: exact eigenpairs, graphs in parts, scikit-learn's groups."""

import numpy as np
import pytest
from scipy import sparse
from scipy.linalg import eigh
from sklearn import cluster as theirs
from sklearn.datasets import make_blobs, make_circles
from sklearn.metrics import adjusted_rand_score

from pellucid.cluster import DisconnectedWarning, SpectralClustering
from pellucid.cluster.spectral import maps as spectral_maps
from pellucid.cluster.spectral.labels import cluster_qr, discretize
from pellucid.cluster.spectral.maps import laplacian_maps
from pellucid.compiled.distances.nearest import nearest

LAPLACIANS = ["symmetric", "random_walk", "unnormalized"]


def random_graph(n, seed=0, density=1.0):
    rng = np.random.default_rng(seed)
    W = rng.random((n, n)) * (rng.random((n, n)) < density)
    W = np.triu(W, 1)
    return W + W.T


def exact(W, laplacian):
    d = W.sum(axis=1)
    if laplacian == "unnormalized":
        return np.diag(d) - W
    return np.eye(len(W)) - W / np.sqrt(np.outer(d, d))


@pytest.mark.parametrize("laplacian", LAPLACIANS)
@pytest.mark.parametrize("route", ["whole", "cholesky", "lanczos", "sparse", "inverse"])
def test_eigenpairs_by_every_route(monkeypatch, laplacian, route):
    W = random_graph(150, density=0.3)
    L = exact(W, laplacian)
    if route != "whole":
        monkeypatch.setattr(spectral_maps, "SMALL", 10)
    if route == "lanczos":
        monkeypatch.setattr(spectral_maps, "FACTORED", 10)
    if route == "inverse":
        monkeypatch.setattr(spectral_maps, "RESTARTS", 1)
    given = sparse.csr_matrix(W) if route in ("sparse", "inverse") else W
    found = laplacian_maps(given, 6, laplacian, 1e-12)
    np.testing.assert_allclose(found.values, eigh(L, eigvals_only=True)[:6], atol=1e-8)
    V = found.vectors
    np.testing.assert_allclose(L @ V, V * found.values, atol=1e-6)
    np.testing.assert_allclose(V.T @ V, np.eye(6), atol=1e-8)


@pytest.mark.parametrize("laplacian", LAPLACIANS)
def test_a_graph_in_parts_has_one_zero_for_each(laplacian):
    sizes = [40, 25, 1, 30]
    W = np.zeros((96, 96))
    start = np.cumsum([0, *sizes])
    for i, n in enumerate(sizes):
        W[start[i] : start[i] + n, start[i] : start[i] + n] = random_graph(n, seed=i)
    order = np.random.default_rng(0).permutation(96)
    truth = np.repeat(np.arange(4), sizes)[order]
    model = SpectralClustering(4, affinity="precomputed", laplacian=laplacian, random_state=0).fit(
        W[np.ix_(order, order)]
    )
    assert model.n_parts_ == 4
    assert adjusted_rand_score(truth, model.labels_) == 1
    np.testing.assert_array_equal(model.eigenvalues_[:4], 0)
    assert model.eigenvalues_[4] > 0.01
    assert "4 parts" in str(model.card())
    with pytest.warns(DisconnectedWarning, match="4 parts"):
        SpectralClustering(2, affinity="precomputed", random_state=0).fit(W)


@pytest.mark.parametrize("laplacian", LAPLACIANS)
@pytest.mark.parametrize("assign_labels", ["kmeans", "discretize", "cluster_qr"])
def test_recovers_circles_that_kmeans_cannot(laplacian, assign_labels):
    X, truth = make_circles(300, factor=0.5, noise=0.05, random_state=0)
    model = SpectralClustering(
        2, affinity="nearest_neighbors", laplacian=laplacian, assign_labels=assign_labels,
        random_state=0,
    ).fit(X)  # fmt: skip
    assert adjusted_rand_score(truth, model.labels_) == 1


@pytest.mark.parametrize("params", [
    {"gamma": 0.5}, {"affinity": "nearest_neighbors", "n_neighbors": 20},
    {"affinity": "laplacian", "gamma": 0.3}, {"affinity": "poly", "degree": 2, "gamma": 0.05},
    {"gamma": 0.5, "assign_labels": "cluster_qr"}, {"gamma": 0.5, "n_components": 3},
], ids=str)  # fmt: skip
def test_the_groups_of_scikit_learn(params):
    X, _ = make_blobs(240, 3, centers=3, cluster_std=1.6, random_state=2)
    X = np.abs(X) if params.get("affinity") == "poly" else X
    same = {"random_state": 0, "n_init": 100, **params}
    ours = SpectralClustering(3, laplacian="random_walk", **same).fit(X)
    other = theirs.SpectralClustering(3, **same).fit(X)
    if params.get("assign_labels") == "cluster_qr":
        assert adjusted_rand_score(other.labels_, ours.labels_) == 1
    else:  # k-means of the same embedding: no worse, whichever of two borders it took
        a, b = (within_squares(ours.embedding_, m.labels_) for m in (ours, other))
        assert a <= b * (1 + 1e-6)
        assert adjusted_rand_score(other.labels_, ours.labels_) > 0.95
    W, V = ours.affinity_matrix_, other.affinity_matrix_
    W, V = (M.toarray() if sparse.issparse(M) else M for M in (W, V))
    np.testing.assert_allclose(W, V, atol=1e-9)


def within_squares(H, labels):
    return sum(((H[labels == k] - H[labels == k].mean(axis=0)) ** 2).sum() for k in set(labels))


def test_eigengap_tells_the_number_of_groups():
    X, truth = make_blobs(400, 2, centers=[[0, 0], [9, 0], [0, 9], [9, 9]], random_state=0)
    model = SpectralClustering(4, gamma=0.2, random_state=0).fit(X)
    assert model.eigengap_ == 4
    assert adjusted_rand_score(truth, model.labels_) == 1
    assert model.embedding_.shape == (400, 4)


def test_seed_and_order_of_rows_do_not_change_the_embedding():
    X, _ = make_blobs(120, 3, centers=3, random_state=1)
    a, b = (SpectralClustering(3, gamma=0.1, random_state=s).fit(X) for s in (0, 7))
    np.testing.assert_array_equal(a.embedding_, b.embedding_)
    order = np.random.default_rng(0).permutation(120)
    turned = SpectralClustering(3, gamma=0.1, random_state=0).fit(X[order])
    np.testing.assert_allclose(turned.eigenvalues_, a.eigenvalues_, atol=1e-10)
    assert adjusted_rand_score(turned.labels_, a.labels_[order]) == 1


def test_neighbours_by_brute_force():
    X = np.random.default_rng(0).normal(size=(300, 4))
    D = ((X[:, None] - X) ** 2).sum(axis=2)
    np.testing.assert_array_equal(nearest(X, X, 6)[1], np.argsort(D, axis=1, kind="stable")[:, :6])
    known = SpectralClustering(
        3, affinity="precomputed_nearest_neighbors", n_neighbors=6, random_state=0
    ).fit(D)
    plain = SpectralClustering(3, affinity="nearest_neighbors", n_neighbors=6, random_state=0)
    np.testing.assert_array_equal(known.labels_, plain.fit(X).labels_)


def test_rules_for_labels_on_a_rotated_indicator():
    rng = np.random.default_rng(0)
    truth = rng.integers(4, size=200)
    X = np.eye(4)[truth] @ np.linalg.qr(rng.normal(size=(4, 4)))[0]
    X += 0.02 * rng.normal(size=X.shape)
    labels, run = discretize(X, rng)
    assert adjusted_rand_score(truth, labels) == adjusted_rand_score(truth, cluster_qr(X)) == 1
    assert (np.diff(run.history["objective"][1:]) <= 1e-9).all()


def test_bad_input():
    X = np.random.default_rng(0).normal(size=(20, 2))
    with pytest.raises(ValueError, match="n_samples=20"):
        SpectralClustering(21).fit(X)
    with pytest.raises(ValueError, match="square"):
        SpectralClustering(2, affinity="precomputed").fit(X)
    with pytest.raises(ValueError, match="n_neighbors must be at most n_samples=20"):
        SpectralClustering(2, affinity="nearest_neighbors", n_neighbors=21).fit(X)
    with pytest.raises(ValueError, match="sums >= 0"):
        SpectralClustering(2, affinity="precomputed").fit(-np.ones((5, 5)))
    with pytest.warns(UserWarning, match="not symmetric"):
        SpectralClustering(2, affinity="precomputed", random_state=0).fit(
            np.triu(random_graph(12)) + 0.1
        )
