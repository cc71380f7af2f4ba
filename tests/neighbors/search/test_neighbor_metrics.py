"""Distances against SciPy, similarities by hand, the axioms, and the choice of k."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_matrix
from scipy.spatial.distance import cdist
from sklearn.model_selection import KFold, cross_val_score

from pellucid.neighbors import (
    KNeighborsClassifier,
    KNeighborsRegressor,
    Mahalanobis,
    Minkowski,
    NearestNeighbors,
    check_metric,
    check_similarity,
    distance_concentration,
    neighborhood_edge,
    pairwise_distances,
    pairwise_similarities,
    select_n_neighbors,
)

RNG = np.random.default_rng(0)
A, B = RNG.normal(size=(40, 5)), RNG.normal(size=(30, 5))
SCIPY = [
    "euclidean", "sqeuclidean", "cityblock", "chebyshev", "cosine", "correlation", "canberra",
    "braycurtis",
]  # fmt: skip
BINARY = [
    "jaccard", "dice", "russellrao", "rogerstanimoto", "sokalsneath", "yule", "hamming",
]  # fmt: skip


@pytest.mark.parametrize("metric", SCIPY)
def test_numbers_equal_scipy(metric):
    assert_allclose(pairwise_distances(A, B, metric), cdist(A, B, metric), atol=1e-13)


@pytest.mark.parametrize("metric", BINARY)
def test_truth_values_equal_scipy(metric):
    a, b = (RNG.random(s.shape) < 0.4 for s in (A, B))
    expected = np.nan_to_num(cdist(a, b, metric))  # SciPy's dice of two empty rows is 0/0
    assert_allclose(pairwise_distances(a, b, metric), expected, atol=1e-13)


def test_parameters_equal_scipy():
    w = RNG.random(5)
    ours = pairwise_distances(A, B, Minkowski(3, w))
    assert_allclose(ours, cdist(A, B, "minkowski", p=3, w=w), rtol=1e-12)
    assert_allclose(pairwise_distances(A, B, "minkowski", p=3, w=w), ours)
    V = A.var(axis=0)
    assert_allclose(pairwise_distances(A, B, "seuclidean", V=V), cdist(A, B, "seuclidean", V=V))
    S = np.cov(A.T)
    expected = cdist(A, B, "mahalanobis", VI=np.linalg.inv(S))
    assert_allclose(pairwise_distances(A, B, Mahalanobis(S)), expected)
    assert_allclose(pairwise_distances(A, B, Mahalanobis(S, squared=True)), expected**2)
    assert_allclose(pairwise_distances(A, metric=Mahalanobis()), cdist(A, A, "mahalanobis", VI=np.linalg.inv(S)), atol=1e-12)  # fmt: skip  # noqa: E501


def test_example_bits_and_points():
    a, b = ([[int(c) for c in bits]] for bits in ("10010000110000", "11000001100001"))
    assert_allclose(pairwise_similarities(a, b, "matching"), 9 / 14, atol=1e-8)
    assert_allclose(pairwise_distances(a, b, "hamming"), 5 / 14, atol=1e-8)
    assert_allclose(pairwise_similarities(a, b, "jaccard"), 2 / 7, atol=1e-8)
    expected = {"euclidean": 5, "manhattan": 7, "chebyshev": 4, "cosine": 0.0077221233}
    for metric, value in expected.items():
        assert_allclose(pairwise_distances([[1, 2]], [[4, 6]], metric), value, atol=1e-8)


def test_words_under_hamming():
    D = pairwise_distances([["a", "b"], ["a", "c"]], [["a", "b"]], "hamming")
    assert_array_equal(D, [[0.0], [0.5]])


def test_zero_vectors_are_at_distance_one():
    with pytest.warns(UserWarning, match="no direction"):
        D = pairwise_distances([[0.0, 0.0], [1.0, 1.0]], [[2.0, 0.0], [0.0, 0.0]], "cosine")
    assert_allclose(D, [[1, 1], [1 - 1 / np.sqrt(2), 1]])
    X = np.array([[1.0, 0.0], [0.0, 0.0], [0.0, 1.0]])
    with pytest.warns(UserWarning, match="no direction"):
        model = KNeighborsClassifier(3, metric="cosine").fit(X, [0, 1, 2])
    assert_allclose(model.kneighbors([[1.0, 0.1]])[0], [[0.00496281, 0.90049628, 1.0]], atol=1e-6)


def test_singular_covariance_warns():
    X = np.column_stack([A[:, 0], 2 * A[:, 0]])
    with pytest.warns(UserWarning, match="pseudo-inverse"):
        D = pairwise_distances(X, metric=Mahalanobis())
    assert_allclose(D, np.abs(np.subtract.outer(A[:, 0], A[:, 0])) / A[:, 0].std(ddof=1), atol=1e-9)


def test_sparse_and_missing():
    S = np.where(np.abs(A) > 0.7, A, 0.0)
    assert_allclose(pairwise_distances(csr_matrix(S)), cdist(S, S), atol=1e-7)
    holes = A.copy()
    holes[0, :2] = np.nan
    D = pairwise_distances(holes, B, "nan_euclidean")
    assert_allclose(D[0], np.sqrt(5 / 3) * cdist(A[:1, 2:], B[:, 2:])[0])


def test_pearson_by_rows_and_by_data():
    assert_allclose(pairwise_similarities(A, metric="pearson"), np.corrcoef(A), atol=1e-12)
    C = A - A.mean(axis=0)
    expected = 1 - cdist(C, B - A.mean(axis=0), "cosine")
    assert_allclose(pairwise_similarities(A, B, "pearson", center="data"), expected, atol=1e-12)


def test_metric_axioms():
    assert check_metric("euclidean", A) == (True, True, True, True, True, None)
    squared = check_metric(Mahalanobis(squared=True), A)
    assert squared.triangle is False
    assert squared.counterexample.startswith("triangle: d(")
    assert not check_metric("minkowski", [[0.0, 0.0]]).counterexample
    assert not check_metric(Minkowski(0.5), [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0]]).triangle
    assert not check_metric("cosine", [[1.0, 0.0], [2.0, 0.0]]).identity
    assert not check_metric(lambda a, b: a[0] - b[0], [[0.0], [1.0]]).non_negative


def test_example_similarity_axioms():
    report = check_similarity("cosine", [[1, 0], [2, 0], [0, 1]])
    assert report.identity is False
    assert report.bounded
    assert report.symmetric
    assert not check_similarity(lambda a, b: 2 * a @ b, [[1.0], [3.0]]).bounded


@pytest.mark.parametrize("weights", ["uniform", "distance"])
def test_every_k_from_one_search_equals_separate_fits(weights):
    X = RNG.normal(size=(120, 3))
    labels = (X[:, 0] + RNG.normal(size=120) > 0).astype(int)
    ks = [1, 4, 9]
    path = select_n_neighbors(X, labels, ks, weights=weights)
    for k, error in zip(ks, path.errors, strict=True):
        model = KNeighborsClassifier(k, weights=weights).fit(X, labels)
        assert_allclose(error, (model.predict(None) != labels).mean())
    y = X[:, 0] + RNG.normal(size=120)
    folds = KFold(4, shuffle=True, random_state=0)
    path = select_n_neighbors(X, y, ks, cv=folds, weights=weights)
    for k, error in zip(ks, path.errors, strict=True):
        scores = cross_val_score(
            KNeighborsRegressor(k, weights=weights), X, y, cv=folds,
            scoring="neg_mean_squared_error",
        )  # fmt: skip
        assert_allclose(error, -scores.mean())


def test_choices_of_k():
    X = RNG.normal(size=(300, 2))
    y = X[:, 0] + RNG.normal(size=300)
    path = select_n_neighbors(X, y)
    at = int(np.argmin(path.errors))
    assert path.best == path.n_neighbors[at]
    limit = path.errors[at] + path.standard_errors[at]
    assert path.one_standard_error == path.n_neighbors[path.errors <= limit].max()
    assert path.one_standard_error >= path.best > 2
    boot = select_n_neighbors(X, y, cv="bootstrap")
    assert_allclose(boot.errors[5:], path.errors[5:], rtol=0.25)
    assert_array_equal(select_n_neighbors(X[:5], y[:5]).n_neighbors, [1, 2, 3, 4])
    with pytest.raises(ValueError, match="whole numbers"):
        select_n_neighbors(X, y, [0])


def test_example_edge_and_concentration():
    assert_allclose(neighborhood_edge(0.01, 10), 0.6309573445, atol=1e-8)
    low, high = (distance_concentration(RNG.random((100, d))) for d in (2, 200))
    assert low.contrast > 10 > 1 > high.contrast
    assert_allclose(high.contrast, high.uniform_cube, rtol=0.5)


@pytest.mark.parametrize("scale", [1e-100, 1e-7, 1e7, 1e100])
@pytest.mark.parametrize("p", [0.5, 3, 10, 20])
@pytest.mark.parametrize("method", ["brute", "kd_tree"])
def test_the_unit_of_the_columns_does_not_matter(p, scale, method):
    """Powers of differences overflowed or vanished, and any rows were the nearest."""
    X = np.random.default_rng(0).normal(size=(80, 3)) + 5
    plain, other = (
        NearestNeighbors(p=p, algorithm=method).fit(Z).kneighbors(Z) for Z in (X, X * scale)
    )
    np.testing.assert_array_equal(other[1], plain[1])
    assert_allclose(other[0], plain[0] * scale, rtol=1e-12)
    far = pairwise_distances(X[:5] * scale, X[5:9] * scale, metric="minkowski", p=p, w=[1, 2, 3])
    assert_allclose(
        far, scale * pairwise_distances(X[:5], X[5:9], metric="minkowski", p=p, w=[1, 2, 3])
    )


def test_an_order_that_loses_small_differences_says_so():
    with pytest.warns(UserWarning, match="order is 200: differences below 0.024 of the largest"):
        NearestNeighbors(p=200).fit(np.arange(8.0)[:, None])
