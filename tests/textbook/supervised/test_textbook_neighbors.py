"""Each textbook method of neighbours against the fast one, on random rows."""

from functools import partial

import numpy as np
import pytest
from agreement import same, same_mean

import pellucid
from pellucid.neighbors import (
    Gower,
    KDTree,
    LSHIndex,
    Mahalanobis,
    pairwise_distances,
    select_n_neighbors,
)
from pellucid.neighbors import collision_probability as fast_collision_probability
from pellucid.neighbors import voronoi_cells as fast_voronoi_cells
from pellucid.textbook.neighbors import distances as measure
from pellucid.textbook.neighbors.condensed_neighbours import condensed_neighbours
from pellucid.textbook.neighbors.distances import distances
from pellucid.textbook.neighbors.edited_neighbours import edited_neighbours
from pellucid.textbook.neighbors.gower_distance import gower_distance
from pellucid.textbook.neighbors.hashing import candidates, collision_probability, hashing
from pellucid.textbook.neighbors.kd_tree import kd_tree
from pellucid.textbook.neighbors.label_propagation import label_propagation
from pellucid.textbook.neighbors.label_spreading import label_spreading
from pellucid.textbook.neighbors.local_outlier_factor import local_outlier_factor
from pellucid.textbook.neighbors.nearest_neighbours import mean, nearest_neighbours, vote
from pellucid.textbook.neighbors.number_of_neighbours import number_of_neighbours
from pellucid.textbook.neighbors.prototypes import classify, prototypes
from pellucid.textbook.neighbors.radius_neighbours import radius_neighbours
from pellucid.textbook.neighbors.voronoi_cells import area, voronoi_cells


def problem(seed, n=80, p=3, K=3):
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n) % K)
    return rng.normal(size=(n, p)) + rng.normal(size=(K, p))[y], y, rng.normal(size=(20, p))


def test_nearest_neighbours():
    X, y, Q = problem(0)
    found = nearest_neighbours(X, Q, 5)
    fast = pellucid.KNeighborsClassifier(5).fit(X, y)
    distance, rows = fast.kneighbors(Q)
    assert (found.rows == rows).all()
    same(found.distances, distance)
    same(vote(found, y), fast.predict_proba(Q))
    weighted = pellucid.KNeighborsClassifier(5, weights="distance").fit(X, y)
    same(vote(found, y, by_distance=True), weighted.predict_proba(Q))
    target = X[:, 0] ** 2
    same(mean(found, target), pellucid.KNeighborsRegressor(5).fit(X, target).predict(Q))


def test_radius_neighbours():
    X, y, Q = problem(1)
    target, r = X[:, 0] ** 2, 1.5
    ours = radius_neighbours(X, target, Q, r)
    assert not np.isnan(ours).any()
    fast = pellucid.RadiusNeighborsRegressor(r).fit(X, target)
    same(ours, fast.predict(Q))
    shares = pellucid.RadiusNeighborsClassifier(r).fit(X, y == 1).predict_proba(Q)
    same(radius_neighbours(X, (y == 1).astype(float), Q, r), shares[:, 1])


def test_kd_tree():
    X, _, Q = problem(2, n=150)
    X[10:20] = X[0]  # equal rows: the lower number first
    assert (kd_tree(X, Q, 4) == KDTree(X).query(Q, 4)[1]).all()
    assert (kd_tree(X, Q, 4) == nearest_neighbours(X, Q, 4).rows).all()


def test_hashing():
    rng = np.random.default_rng(3)
    a, b = rng.normal(size=(2, 4))
    cosine = a @ b / np.sqrt((a @ a) * (b @ b))
    expected = fast_collision_probability(cosine, 3, 2)
    same(collision_probability(cosine, 3, 2), expected)
    shared = [len(candidates(hashing(np.array([a]), 2, 3, rng), b)) for _ in range(1500)]
    same_mean(shared, expected)


def test_hashing_finds_what_the_fast_index_finds():
    X, _, Q = problem(4, n=300)
    exact = pellucid.NearestNeighbors(n_neighbors=5, metric="cosine").fit(X).kneighbors(Q)[1]
    rng, ours, fast = np.random.default_rng(0), [], []
    for seed in range(20):
        tables = hashing(X, 20, 4, rng)
        index = LSHIndex(20, 4, family="cosine", random_state=seed, n_probes=1).fit(X)
        ours.append([np.isin(row, candidates(tables, q)) for q, row in zip(Q, exact, strict=True)])
        found = zip(index.query(Q, 5)[1], exact, strict=True)
        fast.append([np.isin(row, rows) for rows, row in found])
    shares = np.mean(ours, axis=(1, 2)), np.mean(fast, axis=(1, 2))  # of the nearest, found
    same_mean(*shares)
    assert np.mean(shares[0]) > 0.9


@pytest.mark.parametrize("name", ["manhattan", "euclidean", "chebyshev", "cosine", "mahalanobis"])
def test_distances(name):
    X, _, _ = problem(5, n=15)
    S = np.cov(X.T)
    ours = {
        "manhattan": partial(measure.minkowski, q=1),
        "euclidean": measure.minkowski,
        "chebyshev": partial(measure.minkowski, q=np.inf),
        "cosine": measure.cosine,
        "mahalanobis": partial(measure.mahalanobis, S=S),
    }[name]
    metric = Mahalanobis(S) if name == "mahalanobis" else name
    same(distances(X, ours), pairwise_distances(X, metric=metric), atol=1e-10)


def test_jaccard():
    B = np.random.default_rng(6).random((12, 6)) < 0.5
    B[:, 0] = True
    same(distances(B, measure.jaccard), pairwise_distances(B, metric="jaccard"))


def test_gower_distance():
    rng = np.random.default_rng(7)
    numbers = rng.normal(size=(12, 2))
    numbers[3, 0] = np.nan
    categories = rng.integers(3, size=(12, 2))
    table = np.hstack([numbers, categories.astype(float)])
    table[5, 2] = np.nan
    categories[5, 0] = -1
    same(gower_distance(numbers, categories), pairwise_distances(table, metric=Gower([2, 3])))


def test_number_of_neighbours():
    X, y, _ = problem(8)
    ours = number_of_neighbours(X, y, [1, 3, 5, 7, 15])
    fast = select_n_neighbors(X, y, [1, 3, 5, 7, 15])
    same(ours.errors, fast.errors)
    same(ours.standard_errors, fast.standard_errors)
    assert (ours.best, ours.one_standard_error) == (fast.best, fast.one_standard_error)


def test_fewer_rows():
    X, y, Q = problem(9)
    condensed = pellucid.CondensedNearestNeighbour().fit(X, y)
    assert condensed_neighbours(X, y) == condensed.sample_indices_.tolist()
    edited = pellucid.EditedNearestNeighbours().fit(X, y)
    assert edited_neighbours(X, y).tolist() == edited.removed_indices_.tolist()
    for medoid in (False, True):
        method = "medoid" if medoid else "mean"
        fast = pellucid.NearestPrototypes(method=method).fit(X, y)
        P = prototypes(X, y, medoid)
        same(P, fast.prototypes_)
        assert (classify(P, Q) == fast.predict(Q)).all()


def test_local_outlier_factor():
    X, _, _ = problem(10)
    fast = pellucid.LocalOutlierFactor(7).fit(X)
    same(local_outlier_factor(X, 7), -fast.negative_outlier_factor_)


def test_labels_along_a_graph():
    X, y, _ = problem(11, n=60)
    hidden = np.where(np.arange(60) % 5, -1, y)
    fast = pellucid.LabelPropagation(gamma=2.0, tol=1e-13, max_iter=100_000).fit(X, hidden)
    same(label_propagation(X, hidden, 2.0), fast.label_distributions_, atol=1e-8)
    fast = pellucid.LabelSpreading(gamma=2.0, tol=1e-13, max_iter=1000).fit(X, hidden)
    same(label_spreading(X, hidden, gamma=2.0), fast.label_distributions_, atol=1e-8)


def test_voronoi_cells():
    X = np.random.default_rng(12).uniform(0, 1, size=(15, 2))
    fast = fast_voronoi_cells(X, bounds=(0, 1, 0, 1))
    ours = voronoi_cells(X, np.zeros(2), np.ones(2))
    same([area(c) for c in ours], [area(np.asarray(c)) for c in fast.polygons], atol=1e-10)
    same(sum(area(c) for c in ours), 1)
