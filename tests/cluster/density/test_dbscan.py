"""DBSCAN: scikit-learn's labels exactly, the definition by brute force, weights, metrics."""

import numpy as np
import pytest
import sklearn.cluster
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist
from sklearn.neighbors import NearestNeighbors, radius_neighbors_graph

from pellucid import DBSCAN
from pellucid.cluster import k_distances
from pellucid.cluster.density import regions
from pellucid.core.runtime.threads import limit_threads


def rows(n, p=2, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, p)) * 0.4 + 2.0 * rng.integers(0, 3, size=(n, 1))


def assert_same(ours, theirs):
    assert_array_equal(ours.labels_, theirs.labels_)
    assert_array_equal(ours.core_sample_indices_, theirs.core_sample_indices_)
    assert_array_equal(ours.components_, theirs.components_)


@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "chebyshev", "cosine", "canberra"])
@pytest.mark.parametrize(("n", "p", "eps"), [(1, 1, 0.5), (200, 2, 0.2), (1500, 3, 0.3)])
def test_labels_are_scikit_learns(metric, n, p, eps):
    for X in (rows(n, p), np.round(rows(n, p, 1) + 9, 1)):  # the second has many ties
        eps = 0.001 if metric == "cosine" else 0.07 if metric == "canberra" else eps
        params = {"eps": eps, "min_samples": 5, "metric": metric}
        assert_same(DBSCAN(**params).fit(X), sklearn.cluster.DBSCAN(**params).fit(X))


@pytest.mark.parametrize(("eps", "enough"), [(0.05, 3), (0.3, 10), (5.0, 4), (1e-9, 1), (0.2, 900)])
def test_sparse_to_crowded(eps, enough):
    X = rows(6000, 2)
    params = {"eps": eps, "min_samples": enough}
    assert_same(DBSCAN(**params).fit(X), sklearn.cluster.DBSCAN(**params).fit(X))


@given(
    st.integers(1, 80), st.integers(1, 3), st.integers(1, 6), st.integers(1, 4), st.integers(0, 99)
)
@settings(max_examples=60, deadline=None)
def test_definition_by_brute_force(n, p, enough, steps, seed):
    """On a grid, where ties abound: core, connected, border and noise by looking at all pairs."""
    X = np.random.default_rng(seed).integers(0, 12, size=(n, p)).astype(float)
    eps = float(steps)
    near = cdist(X, X) <= eps
    core = near.sum(axis=1) >= enough
    labels, found = np.full(n, -1), 0
    for i in range(n):
        if core[i] and labels[i] < 0:
            reach = np.zeros(n, dtype=bool)
            reach[i] = True
            while (grown := (near[reach & core].any(axis=0) & core) | reach).sum() > reach.sum():
                reach = grown
            labels[reach] = found
            found += 1
    for i in np.flatnonzero(~core):
        around = labels[near[i] & core]
        labels[i] = around.min() if len(around) else -1
    model = DBSCAN(eps=eps, min_samples=enough).fit(X)
    assert_array_equal(model.labels_, labels)
    assert_array_equal(model.core_sample_indices_, np.flatnonzero(core))


def test_weights_are_repetitions_and_scikit_learns():
    X = rows(400)
    w = np.random.default_rng(1).integers(1, 4, size=400)
    params = {"eps": 0.12, "min_samples": 9}
    weighted = DBSCAN(**params).fit(X, sample_weight=w)
    repeated = DBSCAN(**params).fit(np.repeat(X, w, axis=0))
    assert_array_equal(np.repeat(weighted.labels_, w), repeated.labels_)
    for v in (w, np.where(w > 2, 0, w), 0.5 * w):
        assert_same(
            DBSCAN(**params).fit(X, sample_weight=v),
            sklearn.cluster.DBSCAN(**params).fit(X, sample_weight=v),
        )


def test_given_distances_dense_and_sparse():
    X = rows(300)
    params = {"eps": 0.2, "min_samples": 6}
    plain = DBSCAN(**params).fit(X)
    D = cdist(X, X)
    graph = radius_neighbors_graph(X, 0.25, mode="distance")
    for given_ in (D, graph):
        model = DBSCAN(metric="precomputed", **params).fit(given_)
        assert_array_equal(model.labels_, plain.labels_)
    one_way = NearestNeighbors(n_neighbors=5).fit(X).kneighbors_graph(mode="distance")
    theirs = sklearn.cluster.DBSCAN(metric="precomputed", **params).fit(one_way.copy())
    ours = DBSCAN(metric="precomputed", **params).fit(one_way)
    assert_array_equal(ours.labels_, theirs.labels_)


def test_functions_keywords_and_sparse_tables():
    X = rows(200)
    params = {"eps": 0.2, "min_samples": 4}
    plain = DBSCAN(**params).fit(X).labels_
    as_function = DBSCAN(metric=lambda a, b: np.sqrt(((a - b) ** 2).sum()), **params).fit(X)
    assert_array_equal(as_function.labels_, plain)
    assert_array_equal(DBSCAN(**params).fit(csr_array(X)).labels_, plain)
    cubic = {"metric": "minkowski", "p": 3, **params}
    assert_same(DBSCAN(**cubic).fit(X), sklearn.cluster.DBSCAN(**cubic).fit(X))


def test_threads_and_order():
    X = rows(9000, 3)
    models = []
    for n in (1, 2, 3):
        with limit_threads(n):
            models.append(DBSCAN(0.15).fit(X))
    for model in models[1:]:
        assert_array_equal(model.labels_, models[0].labels_)
    turned = np.random.default_rng(2).permutation(len(X))
    again = DBSCAN(0.15).fit(X[turned])
    cores = np.isin(np.arange(len(X)), models[0].core_sample_indices_)
    assert_array_equal(np.sort(turned[again.core_sample_indices_]), np.flatnonzero(cores))


def test_recovers_rings_and_noise():
    angle = np.linspace(0, 2 * np.pi, 200, endpoint=False)
    ring = np.column_stack([np.cos(angle), np.sin(angle)])
    X = np.concatenate([ring, 3 * ring, [[10.0, 0.0]]])
    model = DBSCAN(eps=0.2, min_samples=3).fit(X)
    assert_array_equal(model.labels_, [*np.repeat([0, 1], 200), -1])
    assert model.card().numbers["noise"] == 1


def test_everything_or_nothing():
    X = rows(50)
    assert "no row is core" in str(DBSCAN(1e-6).fit(X).card())
    assert DBSCAN(1e-6).fit(X).components_.shape == (0, 2)
    assert "one cluster" in str(DBSCAN(100.0).fit(X).card())
    assert_array_equal(DBSCAN(0.5, min_samples=1).fit(np.zeros((40, 2))).labels_, 0)


@pytest.mark.parametrize("metric", ["euclidean", "chebyshev", "canberra"])
@pytest.mark.parametrize("k", [1, 4])
def test_k_distances(metric, k):
    X = rows(300, 2) + 9
    D = np.sort(cdist(X, X, metric), axis=1)[:, k]
    assert_allclose(k_distances(X, k, metric=metric), np.sort(D), rtol=1e-12)


def test_refusals(monkeypatch):
    X = rows(20)
    with pytest.raises(ValueError, match="k must be less"):
        k_distances(X, 20)
    with pytest.raises(ValueError, match="square"):
        DBSCAN(metric="precomputed").fit(X)
    with pytest.raises(ValueError, match="Negative"):
        DBSCAN(metric="precomputed").fit(-np.ones((3, 3)))
    with pytest.raises(ValueError, match="direction"):
        DBSCAN(metric="cosine").fit(np.zeros((3, 2)))
    monkeypatch.setattr(regions, "DENSE_VALUES", 10)
    with pytest.raises(ValueError, match="no room"):
        DBSCAN().fit(csr_array(X))
