"""Models of all rows within a radius, against scikit-learn and by hand."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_matrix
from sklearn import neighbors as theirs

from pellucid.compiled.distances.search import Index
from pellucid.core.runtime.threads import limit_threads
from pellucid.neighbors import (
    NearestNeighbors,
    RadiusNeighborsClassifier,
    RadiusNeighborsRegressor,
    pairwise_distances,
)
from pellucid.neighbors.search.metrics import resolve

RNG = np.random.default_rng(0)
X = RNG.normal(size=(1500, 3))
Q = RNG.normal(size=(80, 3))
LABELS = RNG.integers(3, size=1500)
Y = X[:, 0] + RNG.normal(size=1500)
MANY = np.column_stack([LABELS, LABELS > 0, LABELS[::-1]])
SETTINGS = [
    {},
    {"algorithm": "brute", "weights": "distance"},
    {"metric": "manhattan", "weights": "distance", "radius": 1.5},
    {"metric": "cosine", "radius": 0.2},
    {"metric": "minkowski", "p": 3, "weights": None},
    {"metric": "canberra", "radius": 1.2},
]


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_equals_scikit_learn(settings):
    shared = {"radius": 0.8, **settings}
    outliers = {"outlier_label": "most_frequent"}
    pair = RadiusNeighborsClassifier, theirs.RadiusNeighborsClassifier
    ours, sk = (m(**shared, **outliers).fit(X, LABELS) for m in pair)
    assert_allclose(ours.predict_proba(Q), sk.predict_proba(Q), atol=1e-9)
    assert_array_equal(ours.predict(Q), sk.predict(Q))
    assert ours.effective_metric_ == sk.effective_metric_
    near = sk.radius_neighbors(Q, return_distance=False)
    there = np.array([len(row) > 0 for row in near])
    pair = RadiusNeighborsRegressor, theirs.RadiusNeighborsRegressor
    ours, sk = (m(**shared).fit(X, Y) for m in pair)
    assert_allclose(ours.predict(Q[there]), sk.predict(Q[there]), atol=1e-9)


def test_several_outputs_own_rows_and_outliers_equal_scikit_learn():
    shared = {"radius": 0.5, "outlier_label": [0, 1, 2]}
    pair = RadiusNeighborsClassifier, theirs.RadiusNeighborsClassifier
    ours, sk = (m(**shared).fit(X, MANY) for m in pair)
    far = np.vstack([Q, [[9.0, 9.0, 9.0]]])
    assert_array_equal(ours.predict(far), sk.predict(far))
    assert ours.outputs_2d_
    assert ours.outlier_label_ == list(sk.outlier_label_)
    for a, b in zip(ours.predict_proba(far), sk.predict_proba(far), strict=True):
        assert_allclose(a, b)
    assert_array_equal(ours.predict(None), sk.predict(None))
    pair = RadiusNeighborsRegressor, theirs.RadiusNeighborsRegressor
    ours, sk = (m(1.0).fit(X, X[:, :2]) for m in pair)
    assert_allclose(ours.predict(Q[:5]), sk.predict(Q[:5]))


def test_every_way_gives_the_same_bits():
    tree = RadiusNeighborsRegressor(0.7, algorithm="kd_tree", weights="distance").fit(X, Y)
    brute = RadiusNeighborsRegressor(0.7, algorithm="brute", weights="distance").fit(X, Y)
    inner = Q[np.linalg.norm(Q, axis=1) < 1.5]
    assert_array_equal(tree.predict(inner), brute.predict(inner))
    with limit_threads(1):
        assert_array_equal(tree.predict(inner), brute.predict(inner))
    D, E = pairwise_distances(X), pairwise_distances(inner, X)
    known = RadiusNeighborsRegressor(0.7, metric="precomputed", weights="distance").fit(D, Y)
    assert_allclose(known.predict(E), tree.predict(inner))
    sparse = RadiusNeighborsRegressor(0.7, weights="distance").fit(csr_matrix(X), Y)
    assert_allclose(sparse.predict(csr_matrix(inner)), tree.predict(inner))


def test_rows_without_neighbours():
    far = [[50.0, 0.0, 0.0], [0.0, 0.0, 0.0]]
    model = RadiusNeighborsClassifier(0.5).fit(X, LABELS)
    with pytest.raises(ValueError, match="No neighbors found for 1 rows, the first is row 0"):
        model.predict(far)
    model = RadiusNeighborsClassifier(0.5, outlier_label=-1).fit(X, LABELS)
    with pytest.warns(UserWarning, match="-1 is not in training classes"):
        assert model.predict(far)[0] == -1
    with pytest.warns(UserWarning, match="-1 is not in training classes"):
        assert_allclose(model.predict_proba(far).sum(axis=1), [0, 1])
    words = RadiusNeighborsClassifier(0.5, outlier_label="outlier").fit(X, np.array(list("abc"))[LABELS])  # fmt: skip  # noqa: E501
    with pytest.warns(UserWarning, match="'outlier' is not in training classes"):
        assert words.predict(far)[0] == "outlier"
    with pytest.warns(UserWarning, match="1 rows, the first is row 0, have none"):
        assert np.isnan(RadiusNeighborsRegressor(0.5).fit(X, Y).predict(far)[0])
    for label, error in (("a", TypeError), ([1, 2], ValueError), ([[1]], TypeError)):
        with pytest.raises(error, match="outlier_label"):
            RadiusNeighborsClassifier(outlier_label=label).fit(X, LABELS)
    with pytest.raises(ValueError, match="radius"):
        RadiusNeighborsRegressor(-1.0).fit(X, Y)


def test_ties():
    x, y = [[0.0], [1.0], [3.0], [4.0]], ["b", "a", "a", "b"]
    ask = [[1.6]]  # distances 1.6, 0.6, 1.4, 2.4: two against two
    answers = {
        ties: RadiusNeighborsClassifier(3.0, ties=ties, random_state=3).fit(x, y).predict(ask)[0]
        for ties in ("lowest", "nearest")
    }
    assert answers == {"lowest": "a", "nearest": "a"}
    swapped = RadiusNeighborsClassifier(3.0, ties="nearest").fit(x, ["a", "b", "b", "a"])
    assert swapped.predict(ask)[0] == "b"
    drawn = RadiusNeighborsClassifier(3.0, ties="random", random_state=0).fit(x, y)
    assert set(drawn.predict(np.repeat(ask, 60, axis=0))) == {"a", "b"}


def test_own_weights_median_and_spread():
    def triangle(d):
        return np.maximum(0.0, 1.0 - d / 0.9)

    query = X[:40]
    D = pairwise_distances(query, X)
    W = triangle(D) * (D <= 0.9)
    mean = W @ Y / W.sum(axis=1)
    std = np.sqrt(W @ Y**2 / W.sum(axis=1) - mean**2)
    model = RadiusNeighborsRegressor(0.9, weights=triangle).fit(X, Y)
    ours = model.predict(query, return_std=True)
    assert_allclose(ours[0], mean)
    assert_allclose(ours[1], std, atol=1e-7)
    medians = [np.median(Y[row <= 0.9]) for row in D]
    plain = RadiusNeighborsRegressor(0.9, average="median").fit(X, Y)
    assert_allclose(plain.predict(query), medians)
    W = np.round(3 * W)  # weights are repetitions
    counted = RadiusNeighborsRegressor(
        0.9, average="median", weights=lambda d: np.round(3 * triangle(d))
    ).fit(X, Y)
    repeated = [np.median(np.repeat(Y, w.astype(int))) for w in W]
    assert_allclose(counted.predict(query), repeated)
    with pytest.raises(ValueError, match="weights must return numbers >= 0"):
        RadiusNeighborsRegressor(weights=np.negative).fit(X, Y).predict(query)
    similar = RadiusNeighborsRegressor(0.5, weights="similarity", metric="cosine").fit(X, Y)
    C = 1 - pairwise_distances(query, X, "cosine")
    C[C < 0.5] = 0
    assert_allclose(similar.predict(query), C @ Y / C.sum(axis=1))


@pytest.mark.filterwarnings("ignore:divide by zero:RuntimeWarning")
def test_weights_without_end_decide_alone():
    """1/d at a training row, as with weights="distance"."""
    own = RadiusNeighborsRegressor(0.9, weights=lambda d: 1 / d).fit(X, Y)
    same = RadiusNeighborsRegressor(0.9, weights="distance").fit(X, Y)
    assert_allclose(own.predict(X[:5]), Y[:5])
    assert_allclose(own.predict(Q), same.predict(Q))


def test_a_radius_for_each_query():
    """Trees of scikit-learn take one, and every algorithm of ours."""
    each = np.linspace(0.1, 1.5, len(Q))
    known = theirs.NearestNeighbors(algorithm="kd_tree").fit(X).radius_neighbors(Q, each)[1]
    for algorithm in ("kd_tree", "brute"):
        ours = NearestNeighbors(algorithm=algorithm).fit(X)
        found = ours.radius_neighbors(Q, radius=each)[1]
        for one, two in zip(found, known, strict=True):
            assert_array_equal(one, np.sort(two))
        for bad in (each[1:], -each):
            with pytest.raises(ValueError, match="one for each of the 80 queries"):
                ours.radius_neighbors(Q, radius=bad)


def test_recovers_a_smooth_function():
    rng = np.random.default_rng(1)
    x = rng.uniform(0, 3, size=(4000, 1))
    y = np.sin(2 * x[:, 0]) + 0.3 * rng.normal(size=4000)
    grid = np.linspace(0.2, 2.8, 50)[:, None]
    fit = RadiusNeighborsRegressor(0.1).fit(x, y).predict(grid)
    assert np.abs(fit - np.sin(2 * grid[:, 0])).max() < 0.1


def test_blocks_and_crowds_give_the_distances_of_the_tree():
    """Few, some and most of three blocks of rows, bit for bit; the last block is short."""
    rng = np.random.default_rng(3)
    rows = np.vstack([rng.normal(size=(2500, 6)), 0.01 * rng.normal(size=(2001, 6))])
    asked = 0.3 * rng.normal(size=(40, 6))
    metric = resolve("euclidean", rows)
    brute, tree = Index(rows, metric, "brute"), Index(rows, metric, "kd_tree")
    assert brute._filters(len(asked), 1)
    radius = np.tile([0.7, 1.2, 2.5, 9.0], 10)
    for one, other in zip(brute.within(asked, radius), tree.within(asked, radius), strict=True):
        assert_array_equal(one, other)
