"""Fuzzy and possibilistic c-means: oracles, descent, limits, degenerate rows."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import ConvergenceWarning

from pellucid import FuzzyCMeans, KMeans, PossibilisticCMeans
from pellucid.cluster import CoincidentCentersWarning, Metric
from pellucid.cluster.kmeans.kmeans import RAW, problem_of
from pellucid.cluster.soft import kernels, rounds
from pellucid.cluster.soft.rounds import FUZZY, Weights, values_of, weigh
from pellucid.core.arrays.quantiles import weighted_median
from pellucid.core.loops.statistics import LEAF_ROWS, Rows
from pellucid.core.runtime.threads import map_threads

SIX = np.array([1.0, 2, 3, 10, 11, 12])[:, None]


def blobs(n, p=3, k=4, seed=0):
    rng = np.random.default_rng(seed)
    centers = 3.0 * rng.normal(size=(k, p))
    return centers[rng.integers(k, size=n)] + rng.normal(size=(n, p))


def plain_fuzzy(X, V, m, rounds):
    """The update rules as the books write them."""
    for _ in range(rounds):
        D = ((X[:, None] - V) ** 2).sum(axis=2)
        U = 1 / ((D[:, :, None] / D[:, None, :]) ** (1 / (m - 1))).sum(axis=2)
        V = (U**m).T @ X / (U**m).sum(axis=0)[:, None]
    return V


# --- examples of the catalogue -------------------------------------------------------------


def test_example_9_fuzzy():
    model = FuzzyCMeans(2, init=[[1.0], [12.0]], tol=1e-10).fit(SIX)
    assert_allclose(model.cluster_centers_.ravel(), [1.99721616, 11.00278384], atol=1e-8)
    first = [0.99015894, 0.99999990, 0.98454153, 0.01545847, 0.00000010, 0.00984106]
    assert_allclose(model.membership_[:, 0], first, atol=1e-8)
    assert_allclose(model.objective_, 3.94938450, atol=1e-8)
    assert_allclose(model.partition_coefficient_, 0.98335746, atol=1e-8)


def test_example_9_possibilistic():
    X = np.vstack([SIX, [[40.0]]])
    model = PossibilisticCMeans(2, scale=1.0, init=[[2.0], [11.0]], tol=1e-10).fit(X)
    assert_allclose(model.cluster_centers_.ravel(), [2.00848704, 10.99163154], atol=1e-8)
    assert_allclose(model.typicality_[-1], [0.00069235, 0.00118696], atol=1e-8)
    assert model.score_samples(X).argmin() == 6


# --- oracles -------------------------------------------------------------------------------


@pytest.mark.parametrize("m", [2.0, 1.4, 3.5])
def test_fuzzy_follows_the_books_round_by_round(m):
    X = blobs(150)
    model = FuzzyCMeans(4, m=m, init=X[:4] + 0.1, max_iter=8, tol=0.0)
    with pytest.warns(ConvergenceWarning, match="max_iter=8"):
        model.fit(X)
    for i, centers in enumerate(model.history_["centers"]):
        assert_allclose(centers, plain_fuzzy(X, X[:4] + 0.1, m, i + 1), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("m", [2.0, 1.05, 1.7, 4.0])
@pytest.mark.parametrize("p", [1, 7, 20])
def test_kernels_are_their_numpy_twins(m, p):
    """Memberships, typicalities, sums and costs; also rows on centres and far away."""
    rng = np.random.default_rng(p)
    X = rng.normal(size=(301, p))
    C = np.vstack([X[:2], rng.normal(size=(3, p)), X[:1] + 1e6])
    w = rng.uniform(size=301)
    D = ((X[:, None] - C) ** 2).sum(axis=2)
    problem = problem_of(Rows(X, None, w), map_threads, RAW)
    for eta in (FUZZY, rng.uniform(0.5, 2.0, size=6)):
        weights = Weights(m, eta)
        twin = weigh(D, weights)
        assert_allclose(values_of(RAW, X, C, weights), twin.u, atol=1e-12)
        sums = rounds.sweeps_of(problem).sums(C, weights)
        assert_allclose(sums.cost, w @ twin.cost, rtol=1e-10)
        assert_allclose(sums.total[:, -1], w @ twin.power, rtol=1e-10, atol=1e-290)
        shifted = X - problem.box.mean
        assert_allclose(sums.total[:, :-1], (w[:, None] * twin.power).T @ shifted, atol=1e-9)
        assert_allclose(sums.square, w @ (twin.u**2).sum(axis=1), rtol=1e-10)


def test_logarithm():
    x = np.exp(np.random.default_rng(0).uniform(-600, 600, size=500))
    assert_allclose([kernels.logarithm(v) for v in x], np.log(x), rtol=1e-15)


def test_against_scikit_fuzzy():
    """The peer stops by memberships; run long enough both are at the same point."""
    peer = pytest.importorskip("skfuzzy")
    X = blobs(300)
    D = np.abs(np.random.default_rng(1).normal(size=(4, 300)))
    centers, u, *_ = peer.cmeans(X.T, 4, 2.0, error=1e-12, maxiter=3000, init=D / D.sum(axis=0))
    model = FuzzyCMeans(4, init=centers, tol=1e-11, max_iter=2000).fit(X)
    assert_allclose(model.cluster_centers_, centers, atol=1e-6)
    assert_allclose(model.membership_, u.T, atol=1e-6)


def test_fixed_point_and_gradient():
    """At the end the objective of either is stationary in the centres."""
    X = blobs(120)
    for model in (
        FuzzyCMeans(3, m=1.8, tol=1e-11, random_state=0).fit(X),
        PossibilisticCMeans(2, m=1.5, scale=2.0, tol=1e-11, random_state=0).fit(X),
    ):
        V, start = model.cluster_centers_, -model.score(X)
        assert_allclose(start, model.objective_, rtol=1e-12)
        for step in (1e-4, -1e-4):
            moved = V.copy()
            moved[0, 1] += step
            model.cluster_centers_ = moved
            assert abs(-model.score(X) - start) < 1e-5 * start
            assert -model.score(X) >= start * (1 - 1e-12)
        model.cluster_centers_ = V


# --- invariants ----------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("metric", ["euclidean", "cosine", "manhattan"])
def test_the_objective_never_rises(seed, metric):
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(60, 2)), 1) + 3.0  # with copies
    w = rng.integers(0, 3, size=60)
    model = FuzzyCMeans(7, m=1.2 + seed / 2, metric=metric, random_state=seed, max_iter=1000)
    model.fit(X, sample_weight=w)
    values = np.column_stack([model.history_["before"], model.history_["objective"]]).ravel()
    assert (np.diff(values) <= 1e-12 * values[0]).all()
    assert_allclose(model.membership_.sum(axis=1), 1.0)
    assert model.card().numbers["steps in which J rose"] == 0


def test_the_possibilistic_objective_never_rises():
    X = blobs(200, 2)
    for m in (1.3, 2.0, 3.0):
        model = PossibilisticCMeans(2, m=m, scale=1.5, init=X[:2], max_iter=1000)
        with np.errstate(all="raise"):
            try:
                model.fit(X)
            except CoincidentCentersWarning:
                continue
        values = np.column_stack([model.history_["before"], model.history_["objective"]]).ravel()
        assert (np.diff(values) <= 1e-12 * values[0]).all()


def test_extrapolation_ends_where_plain_rounds_end(monkeypatch):
    X = blobs(400, k=3)
    quick = FuzzyCMeans(6, tol=1e-9, random_state=0, max_iter=3000).fit(X)
    monkeypatch.setattr(rounds, "PLAIN_ROUNDS", 10**9)
    plain = FuzzyCMeans(6, tol=1e-9, random_state=0, max_iter=3000).fit(X)
    assert_allclose(quick.objective_, plain.objective_, rtol=1e-9)
    assert quick.n_iter_ < plain.n_iter_ / 2


def test_rows_in_any_order_and_shifted():
    X = blobs(150)
    order = np.random.default_rng(0).permutation(150)
    a = FuzzyCMeans(3, init=X[:3]).fit(X)
    b = FuzzyCMeans(3, init=X[:3]).fit(X[order])
    assert_allclose(a.membership_[order], b.membership_, atol=1e-9)
    far = FuzzyCMeans(3, init=X[:3] + 1e6).fit(X + 1e6)
    assert_allclose(far.membership_, a.membership_, atol=1e-6)


# --- limits and recovery -------------------------------------------------------------------


def test_m_near_one_is_k_means():
    X = blobs(300, seed=3)
    start = X[[0, 50, 100, 150]]
    hard = KMeans(4, init=start, tol=0.0).fit(X)
    soft = FuzzyCMeans(4, m=1.001, init=start, max_iter=2000).fit(X)
    assert_array_equal(soft.labels_, hard.labels_)
    assert_allclose(soft.cluster_centers_, hard.cluster_centers_, atol=1e-3)
    assert_allclose(soft.objective_, hard.inertia_, rtol=1e-3)
    assert soft.partition_coefficient_ > 0.999


def test_large_m_makes_all_memberships_equal():
    X = blobs(100)
    models = [FuzzyCMeans(3, m=m, random_state=0, max_iter=1000).fit(X) for m in (2, 20, 2000)]
    above = [model.partition_coefficient_ - 1 / 3 for model in models]
    assert above[0] > above[1] > above[2] > -1e-12
    assert above[2] < 0.002


def test_recovers_groups_and_outliers():
    rng = np.random.default_rng(0)
    centers = np.array([[0.0, 0.0], [8.0, 0.0], [0.0, 8.0]])
    X = np.vstack([*(rng.normal(c, 0.7, (80, 2)) for c in centers), [[40.0, 40.0]]])
    fuzzy = FuzzyCMeans(3, n_init=3, random_state=0).fit(X)
    typical = PossibilisticCMeans(3, m=1.5, random_state=0).fit(X)
    found = typical.cluster_centers_[np.lexsort(typical.cluster_centers_.round().T)]
    assert_allclose(found, centers[np.lexsort(centers.T)], atol=0.25)
    assert typical.typicality_[-1].max() < 0.01  # belongs nowhere
    assert_allclose(fuzzy.membership_[-1].sum(), 1.0)  # has to belong somewhere
    assert typical.typicality_[:-1].max(axis=1).mean() > 0.5


def test_possibilistic_scale_is_that_of_the_fuzzy_fit():
    X = blobs(200, 2, 2, seed=1)
    fuzzy = FuzzyCMeans(2, m=1.5, random_state=0, tol=1e-10).fit(X)
    model = PossibilisticCMeans(2, m=1.5, random_state=0, tol=1e-10).fit(X)
    P = fuzzy.membership_**1.5
    D = ((X[:, None] - fuzzy.cluster_centers_) ** 2).sum(axis=2)
    assert_allclose(model.scale_, (P * D).sum(axis=0) / P.sum(axis=0), rtol=1e-3)


# --- metrics -------------------------------------------------------------------------------


def test_weighted_median_is_that_of_repeated_rows():
    rng = np.random.default_rng(0)
    X, w = rng.normal(size=(31, 3)), rng.integers(0, 4, size=31)
    assert_allclose(weighted_median(X, w.astype(float)), np.median(np.repeat(X, w, axis=0), axis=0))


def test_other_metrics():
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal((9, 1), 0.5, (40, 2)), rng.normal((1, 9), 0.5, (40, 2))])
    truth = np.repeat([0, 1], 40)
    for metric in ("cosine", "manhattan", Metric("chebyshev", "mean")):
        model = FuzzyCMeans(2, metric=metric, random_state=0).fit(X)
        assert len(set(zip(model.labels_, truth, strict=True))) == 2
        assert_allclose(-model.score(X), model.objective_)
    assert "descent is not sure" in str(model.card()).replace("\n                ", " ")
    cosine = FuzzyCMeans(2, metric="cosine", random_state=0).fit(X)
    assert_allclose((cosine.cluster_centers_**2).sum(axis=1), 1.0)
    lengths = rng.uniform(0.1, 10.0, size=(80, 1))
    again = FuzzyCMeans(2, metric="cosine", random_state=0).fit(X * lengths)
    assert_allclose(again.membership_, cosine.membership_, atol=1e-7)


# --- degenerate rows and bad input ---------------------------------------------------------


def test_a_row_on_a_centre_belongs_to_it():
    weights = Weights(2.0, FUZZY)
    U = values_of(RAW, np.array([[0.0], [1.0]]), np.array([[0.0], [3.0]]), weights)
    assert_array_equal(U[0], [1.0, 0.0])
    both = values_of(RAW, np.zeros((1, 1)), np.zeros((2, 1)), weights)
    assert_array_equal(both, [[0.5, 0.5]])  # two centres on it share it


def test_equal_rows_and_few_distinct_ones():
    same = FuzzyCMeans(2, random_state=0).fit(np.ones((5, 2)))
    assert_array_equal(same.cluster_centers_, np.ones((2, 2)))
    assert same.objective_ == 0.0
    few = FuzzyCMeans(3, random_state=0).fit(np.repeat([[0.0], [1.0]], 4, axis=0))
    assert np.isfinite(few.membership_).all()
    with pytest.warns(CoincidentCentersWarning, match="0 and 1"):
        none = PossibilisticCMeans(2, random_state=0).fit(np.ones((5, 2)))
    assert np.isfinite(none.typicality_).all()
    one_row = FuzzyCMeans(1).fit([[3.0, 4.0]])
    assert_array_equal(one_row.membership_, [[1.0]])


def test_coincident_centres_are_named():
    X = np.random.default_rng(0).normal(size=(100, 2))
    with pytest.warns(CoincidentCentersWarning, match=r"0 and 1 and 2"):
        model = PossibilisticCMeans(3, random_state=0, max_iter=3000).fit(X)
    assert "one place" in str(model.card())


@pytest.mark.parametrize(
    ("params", "sentence"),
    [
        ({"m": 1.0}, "m must be a finite number > 1"),
        ({"m": 0.5}, "m must be a finite number > 1"),
        ({"m": np.inf}, "m must be a finite number > 1"),
        ({"n_clusters": 9}, "at most the number of rows"),
        ({"init": np.zeros((2, 2))}, "does not match the number of features of the data 1"),
    ],
)
@pytest.mark.parametrize("cls", [FuzzyCMeans, PossibilisticCMeans])
def test_bad_parameters_are_one_sentence(cls, params, sentence):
    with pytest.raises(ValueError, match=sentence):
        cls(**{"n_clusters": 2, **params}).fit(SIX)


def test_bad_scales_and_zero_rows():
    for scale in (0.0, [1.0, 2.0, 3.0], [1.0, np.nan], "wide"):
        with pytest.raises(ValueError, match="scale must be"):
            PossibilisticCMeans(2, scale=scale).fit(SIX)
    given = PossibilisticCMeans(2, scale=[1, 2], init=SIX[[0, 5]]).fit(SIX)
    assert_array_equal(given.scale_, [1, 2])
    with pytest.raises(ValueError, match="zeros in row 0"):
        FuzzyCMeans(2, metric="cosine").fit(np.zeros((4, 2)))


def test_blocks_need_sums():
    from pellucid.data import blocks

    X = blobs(LEAF_ROWS + 50)
    with pytest.raises(ValueError, match="median"):
        FuzzyCMeans(2, metric="manhattan").fit_blocks(blocks(X))
    directions = FuzzyCMeans(2, metric="cosine", init=X[:2], m=1.5)
    whole = directions.fit(X).cluster_centers_
    assert_allclose(directions.fit_blocks(blocks(X, block_rows=777)).cluster_centers_, whole)
    assert not hasattr(directions, "membership_")


def test_starts():
    X = blobs(200)
    model = FuzzyCMeans(4, n_init=5, random_state=0).fit(X)
    assert len(model.runs_) == 5
    assert_allclose(model.objective_, model.runs_.min(), rtol=1e-11)
    with pytest.warns(RuntimeWarning, match="only one init instead of n_init=3"):
        FuzzyCMeans(2, init=X[:2], n_init=3).fit(X)
