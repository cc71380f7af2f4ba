"""k-nearest-neighbour models against scikit-learn, by hand, and as the course defines them."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_matrix
from sklearn import neighbors as theirs
from sklearn.model_selection import GridSearchCV

import pellucid
from pellucid.neighbors import (
    KNeighborsClassifier,
    KNeighborsRegressor,
    LSHIndex,
    Mahalanobis,
    Minkowski,
    NearestNeighbors,
)

RNG = np.random.default_rng(0)
X = RNG.normal(size=(300, 4))
Q = RNG.normal(size=(60, 4))
LABELS = RNG.integers(3, size=300)
Y = X[:, 0] + RNG.normal(size=300)
METRICS = [
    {"metric": "minkowski", "p": 1},
    {"metric": "minkowski", "p": 3},
    {"metric": "minkowski", "p": np.inf},
    {"metric": "minkowski", "metric_params": {"w": np.array([1.0, 2.0, 0.5, 3.0])}},
    {"metric": "cosine"},
    {"metric": "correlation"},
    {"metric": "canberra"},
    {"metric": "seuclidean", "metric_params": {"V": X.var(axis=0)}},
    {"metric": "mahalanobis", "metric_params": {"VI": np.linalg.inv(np.cov(X.T))}},
    {"metric": "sqeuclidean"},
    {"metric": "nan_euclidean"},
]


@pytest.mark.parametrize("settings", METRICS, ids=lambda s: "-".join(map(str, s))[:40])
@pytest.mark.parametrize("weights", ["uniform", "distance"])
@pytest.mark.filterwarnings("ignore:Parameter p is found")  # theirs, of their own doing
def test_equals_scikit_learn(settings, weights):
    shared = {"n_neighbors": 7, "weights": weights, "algorithm": "brute", **settings}
    ours, sk = (m(**shared).fit(X, LABELS) for m in (KNeighborsClassifier, theirs.KNeighborsClassifier))  # fmt: skip  # noqa: E501
    assert_allclose(ours.kneighbors(Q)[0], sk.kneighbors(Q)[0], atol=1e-10)
    assert_allclose(ours.predict_proba(Q), sk.predict_proba(Q), atol=1e-8)
    assert_array_equal(ours.predict(Q), sk.predict(Q))
    ours, sk = (m(**shared).fit(X, Y) for m in (KNeighborsRegressor, theirs.KNeighborsRegressor))
    assert_allclose(ours.predict(Q), sk.predict(Q), atol=1e-8)
    assert sk.effective_metric_ == ours.effective_metric_


def test_several_outputs_and_own_rows_equal_scikit_learn():
    many = np.column_stack([LABELS, LABELS > 0, LABELS[::-1]])
    ours, sk = (m(5).fit(X, many) for m in (KNeighborsClassifier, theirs.KNeighborsClassifier))
    assert ours.outputs_2d_
    assert_array_equal(ours.predict(Q), sk.predict(Q))
    for a, b in zip(ours.predict_proba(Q), sk.predict_proba(Q), strict=True):
        assert_allclose(a, b)
    assert_array_equal(ours.predict(None), sk.predict(None))
    ours, sk = (m(5).fit(X, X[:, :2]) for m in (KNeighborsRegressor, theirs.KNeighborsRegressor))
    assert_allclose(ours.predict(Q), sk.predict(Q))
    one = KNeighborsRegressor(5).fit(X, Y)
    assert one.score(None, Y) == pytest.approx(
        theirs.KNeighborsRegressor(5).fit(X, Y).score(None, Y)
    )


def test_graphs_and_radius_equal_scikit_learn():
    ours, sk = (m(n_neighbors=4, radius=0.8).fit(X) for m in (NearestNeighbors, theirs.NearestNeighbors))  # fmt: skip  # noqa: E501
    for arguments in ((), (Q,)):
        for mode in ("connectivity", "distance"):
            a, b = (m.kneighbors_graph(*arguments, mode=mode) for m in (ours, sk))
            assert_allclose(a.toarray(), b.toarray())
            a, b = (m.radius_neighbors_graph(*arguments, mode=mode) for m in (ours, sk))
            assert_allclose(a.toarray(), b.toarray())
        a, b = (m.radius_neighbors(*arguments, sort_results=True) for m in (ours, sk))
        for left, right in zip(a[0], b[0], strict=True):
            assert_allclose(left, right)


@pytest.mark.parametrize("metric", ["euclidean", "cosine", "manhattan"])
def test_sparse_rows_equal_dense_ones(metric):
    S = np.where(np.abs(X) > 0.8, X, 0.0) + np.array([1.0, 0, 0, 0])
    dense = KNeighborsClassifier(5, metric=metric, algorithm="brute").fit(S, LABELS)
    sparse = KNeighborsClassifier(5, metric=metric).fit(csr_matrix(S), LABELS)
    assert_allclose(
        sparse.kneighbors(csr_matrix(S[:30]))[0], dense.kneighbors(S[:30])[0], atol=1e-7
    )
    with pytest.warns(UserWarning, match="brute is used"):
        NearestNeighbors(algorithm="kd_tree").fit(csr_matrix(S))


def test_precomputed_distances_in_a_search():
    from pellucid.neighbors import pairwise_distances

    D = pairwise_distances(X)
    plain = KNeighborsClassifier(5).fit(X, LABELS)
    known = KNeighborsClassifier(5, metric="precomputed").fit(D, LABELS)
    assert_array_equal(known.predict(pairwise_distances(Q, X)), plain.predict(Q))
    search = GridSearchCV(KNeighborsClassifier(metric="precomputed"), {"n_neighbors": [1, 5]}, cv=3)
    same = GridSearchCV(KNeighborsClassifier(), {"n_neighbors": [1, 5]}, cv=3)
    scores = [s.fit(A, LABELS).cv_results_["mean_test_score"] for s, A in ((search, D), (same, X))]
    assert_allclose(*scores)
    with pytest.raises(ValueError, match="square"):
        KNeighborsClassifier(metric="precomputed").fit(D[:, :5], LABELS)
    with pytest.raises(ValueError, match="Negative"):
        KNeighborsClassifier(metric="precomputed").fit(-D, LABELS)


def test_example_three_neighbours():
    model = KNeighborsClassifier(3).fit([[0.5], [-2.0], [3.0]], ["-", "+", "+"])
    assert model.predict([[0.0]])[0] == "+"
    vote = model.set_params(weights="distance").explain([[0.0]])[0]
    assert vote.winner == "-"
    assert_allclose(vote.totals, [0.8333333333, 2.0], atol=1e-8)
    assert_array_equal(vote.indices, [0, 1, 2])


def test_example_regression():
    x, y, query = [[1], [2], [4], [7]], [1, 3, 2, 8], [[3.4]]
    cases = [
        ({"n_neighbors": 2, "weights": "distance"}, 2.3),
        ({"n_neighbors": 3}, 2.0),
        ({"n_neighbors": 3, "average": "median"}, 2.0),
        ({"n_neighbors": "all", "weights": "distance"}, 2.6387096774),
        ({"n_neighbors": 4, "average": "median"}, 2.5),
    ]
    for settings, expected in cases:
        assert_allclose(
            KNeighborsRegressor(**settings).fit(x, y).predict(query), expected, atol=1e-8
        )


def test_weighted_median_is_the_median_of_repetitions():
    from pellucid.core.arrays.quantiles import weighted_median

    rng = np.random.default_rng(1)
    for _ in range(50):
        values = rng.normal(size=(1, 6, 1)).round(1)
        w = rng.integers(0, 4, size=(1, 6))
        w[0, 0] += 1
        repeated = np.repeat(values[0, :, 0], w[0])
        assert_allclose(weighted_median(values, w.astype(float), axis=1)[0, 0], np.median(repeated))


def test_spread_of_the_neighbours():
    model = KNeighborsRegressor(4).fit(X, Y)
    _, std = model.predict(Q, return_std=True)
    assert_allclose(std, Y[model.kneighbors(Q)[1]].std(axis=1))


def test_ties():
    x, y = [[1.0], [-2.0], [3.0], [-4.0]], [1, 0, 0, 1]
    assert KNeighborsClassifier(4).fit(x, y).predict([[0.0]])[0] == 0
    nearest = KNeighborsClassifier(4, ties="nearest").fit(x, y)
    assert nearest.predict([[0.0]])[0] == 0  # without the farthest: 1, 0, 0
    assert KNeighborsClassifier(2, ties="nearest").fit(x, y).predict([[0.0]])[0] == 1
    drawn = KNeighborsClassifier(2, ties="random", random_state=0).fit(x, y)
    answers = drawn.predict(np.zeros((400, 1)))
    assert 0.35 < answers.mean() < 0.65
    assert_array_equal(answers, drawn.predict(np.zeros((400, 1))))


@pytest.mark.parametrize("rule", ["similarity", "cosine", "pearson", "matching", "jaccard"])
def test_similarity_weights(rule):
    model = KNeighborsClassifier(9, weights=rule).fit(X, LABELS)
    shares = model.predict_proba(Q)
    assert_allclose(shares.sum(axis=1), 1.0)
    own = KNeighborsClassifier(5, weights="similarity", metric="cosine").fit(X, LABELS)
    vote = own.explain(Q[:1])[0]
    assert_allclose(vote.weights, 1 - vote.distances)


def test_callable_weights():
    model = KNeighborsRegressor(4, weights=lambda d: np.exp(-d)).fit(X, Y)
    distance, index = model.kneighbors(Q)
    w = np.exp(-distance)
    assert_allclose(model.predict(Q), (w * Y[index]).sum(axis=1) / w.sum(axis=1))
    with pytest.raises(ValueError, match="zero weights"):
        KNeighborsRegressor(4, weights=np.zeros_like).fit(X, Y).predict(Q)


def test_metric_objects_and_callables():
    w = np.array([1.0, 2.0, 0.0, 1.0])
    a = NearestNeighbors(metric=Minkowski(3, w)).fit(X).kneighbors(Q)
    b = NearestNeighbors(metric=lambda u, v: (w * np.abs(u - v) ** 3).sum() ** (1 / 3)).fit(X)
    assert_allclose(a[0], b.kneighbors(Q)[0])
    c = NearestNeighbors(metric=Mahalanobis()).fit(X).kneighbors(Q)
    VI = np.linalg.inv(np.cov(X.T))
    d = NearestNeighbors(metric="mahalanobis", metric_params={"VI": VI}).fit(X).kneighbors(Q)
    assert_allclose(c[0], d[0])


def test_models_with_value_objects_save_and_load(tmp_path):
    for settings in (
        {"metric": Mahalanobis()},
        {"metric": Minkowski(1, [1.0, 2.0, 3.0, 4.0])},
        {"algorithm": LSHIndex(4, 6)},
    ):
        model = KNeighborsClassifier(5, **settings).fit(X, LABELS)
        pellucid.save(model, tmp_path / "model.pellucid")
        again = pellucid.load(tmp_path / "model.pellucid")
        assert_array_equal(again.predict_proba(Q), model.predict_proba(Q))


def test_refusals():
    with pytest.raises(ValueError, match="n_samples = 3"):
        KNeighborsClassifier(4).fit([[0], [1], [2]], [0, 1, 1])
    with pytest.raises(ValueError, match="n_neighbors <= n_samples_fit"):
        KNeighborsClassifier(3).fit([[0], [1], [2]], [0, 1, 1]).kneighbors(n_neighbors=3)
    with pytest.raises(ValueError, match="n_jobs"):
        KNeighborsClassifier(n_jobs=0).fit(X, LABELS)
    with pytest.raises(ValueError, match="Minkowski's form"):
        KNeighborsClassifier(algorithm="kd_tree", metric="canberra").fit(X, LABELS)
    with pytest.raises(ValueError, match="did you mean 'distance'"):
        KNeighborsClassifier(weights="distances").fit(X, LABELS)


def test_one_class_and_one_row():
    model = KNeighborsClassifier(1).fit([[3.0]], ["a"])
    assert model.predict([[9.0]])[0] == "a"
    assert_array_equal(model.predict_proba([[9.0]]), [[1.0]])


def test_card_says_the_spread():
    wide = X * np.array([1.0, 1.0, 1.0, 1000.0])
    card = KNeighborsClassifier().fit(wide, LABELS).card()
    assert card.numbers["widest column by narrowest"] > 500
    assert card.warnings


def test_recovers_a_smooth_function():
    rng = np.random.default_rng(3)
    x = rng.uniform(0, 6, size=(4000, 1))
    y = np.sin(x[:, 0]) + 0.2 * rng.normal(size=4000)
    grid = np.linspace(0.5, 5.5, 50)[:, None]
    error = KNeighborsRegressor(60).fit(x, y).predict(grid) - np.sin(grid[:, 0])
    assert np.sqrt((error**2).mean()) < 0.05


def test_an_order_given_twice_is_said():
    """As scikit-learn does: the one in metric_params counts."""
    twice = {"metric_params": {"p": 1}}
    for model in (KNeighborsClassifier(**twice), pellucid.DBSCAN(p=2, **twice)):
        with pytest.warns(SyntaxWarning, match="Parameter p is found in metric_params"):
            model.fit([[0.0], [1.0], [2.0], [3.0], [4.0]], [0, 0, 1, 1, 1])
