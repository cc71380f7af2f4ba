"""Bisecting k-means against scikit-learn from the same starts, and its tree."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from sklearn.cluster import BisectingKMeans as Peer
from sklearn.exceptions import ConvergenceWarning

from pellucid import BisectingKMeans, KMeans
from pellucid.cluster.kmeans import bisecting, two_means
from pellucid.cluster.kmeans.lloyd import Limits
from pellucid.cluster.kmeans.passes import dense_rows, limb_grid
from pellucid.cluster.kmeans.two_means import Halves, run_two_means
from pellucid.core.loops.statistics import Rows
from pellucid.core.runtime.threads import limit_threads, map_threads

rng = np.random.default_rng(0)
X = rng.normal(size=(500, 3)) * [3.0, 2.0, 1.0] + 5.0


def ends(X, n_clusters, random_state):
    """Two rows that do not depend on any seed."""
    return X[[X[:, 0].argmin(), X[:, 0].argmax()]]


@pytest.mark.parametrize("strategy", ["biggest_inertia", "largest_cluster"])
@pytest.mark.parametrize("k", [1, 2, 9])
def test_scikit_learn_makes_the_same_splits(strategy, k):
    params = {"init": ends, "tol": 0.0, "bisecting_strategy": strategy}
    ours, theirs = BisectingKMeans(k, **params).fit(X), Peer(k, **params).fit(X)
    assert_array_equal(ours.labels_, theirs.labels_)
    assert_allclose(ours.cluster_centers_, theirs.cluster_centers_, atol=1e-10)
    assert_allclose(ours.inertia_, theirs.inertia_)
    new = rng.normal(size=(200, 3)) * 4 + 5
    assert_array_equal(ours.predict(new), theirs.predict(new))
    assert_allclose(ours.transform(new), theirs.transform(new))
    assert_allclose(ours.score(new), theirs.score(new))


@pytest.mark.parametrize("kind", ["plain", "far away", "ties", "tiny", "weights"])
def test_planes_and_margins_give_the_rounds_of_kmeans(kind):
    """One product per row and skipped rows: every label and centre as from all distances."""
    own = np.random.default_rng(7)
    Z, w = own.normal(size=(3000, 5)) * [4.0, 3.0, 2.0, 1.0, 1.0], np.ones(3000)
    Z = {"far away": Z + 1e7, "ties": Z.round(), "tiny": Z * 1e-100}.get(kind, Z)
    w = own.integers(0, 3, size=3000).astype(float) if kind == "weights" else w
    problem = bisecting.problem_of(Rows(Z, None, w), map_threads, bisecting.RAW)
    halves = Halves(*dense_rows(bisecting.RAW, problem.source), limb_grid(problem.box))
    for start in (Z[:2].copy(), Z[[5, 900]], Z[[7, 8]] + 1e-9 * np.abs(Z).max()):
        ours = run_two_means(halves, start, Limits(100, 0.0))
        theirs = bisecting.general_run(problem, start, Limits(100, 0.0))
        assert_array_equal(ours.side, theirs.side)
        assert_allclose(ours.centers, theirs.centers, rtol=1e-13, atol=1e-13 * np.abs(Z).max())
        assert_allclose(ours.inertia, theirs.inertia, rtol=1e-12)
        assert_array_equal(ours.weight, theirs.weight)
        assert ours.iteration.n_iter == theirs.iteration.n_iter > 1


def test_a_start_with_an_empty_side_is_filled():
    def beyond(X, n_clusters, random_state):
        return np.array([X.mean(axis=0), X.max(axis=0) + 1e6])

    model = BisectingKMeans(3, init=beyond).fit(X)
    assert (model.node_weight_ > 0).all()
    assert len(model.cluster_centers_) == 3


def test_threads_order_and_weights_leave_the_splits_alone(monkeypatch):
    monkeypatch.setattr(two_means, "SMALL_WORK", 0)  # threads share the rows of every round
    monkeypatch.setattr(two_means, "SMALL_TABLE", 0)
    own = np.random.default_rng(3)
    n = two_means.CHUNK + 900
    Z, w = own.normal(size=(n, 2)) * [5.0, 2.0], own.integers(1, 4, n)
    model = BisectingKMeans(6, init=ends).fit(Z, sample_weight=w)
    with limit_threads(1):
        alone = BisectingKMeans(6, init=ends).fit(Z, sample_weight=w)
    assert_array_equal(model.node_centers_, alone.node_centers_)
    assert_array_equal(model.node_inertia_, alone.node_inertia_)
    monkeypatch.undo()  # now each takes a start
    several = BisectingKMeans(6, n_init=3, random_state=0).fit(Z, sample_weight=w)
    with limit_threads(1):
        alone = BisectingKMeans(6, n_init=3, random_state=0).fit(Z, sample_weight=w)
    assert_array_equal(several.node_centers_, alone.node_centers_)
    order = own.permutation(len(Z))
    mixed = BisectingKMeans(6, init=ends).fit(Z[order], sample_weight=w[order])
    assert_array_equal(mixed.labels_, model.labels_[order])
    repeated = BisectingKMeans(6, init=ends).fit(np.repeat(Z, w, axis=0))
    assert_array_equal(repeated.labels_, np.repeat(model.labels_, w))
    assert_allclose(repeated.node_inertia_, model.node_inertia_, rtol=1e-11)


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 10**6), n=st.integers(2, 40), p=st.integers(1, 3), k=st.integers(1, 40),
    rounding=st.integers(0, 2), strategy=st.sampled_from(["biggest_inertia", "largest_cluster"]),
)  # fmt: skip
@example(seed=11505, n=27, p=1, k=12, rounding=1, strategy="biggest_inertia")  # a row in between
@pytest.mark.filterwarnings("ignore:Number of distinct")
def test_laws_of_the_tree(seed, n, p, k, rounding, strategy):
    """Also with duplicate rows, weights of zero and k near n."""
    own = np.random.default_rng(seed)
    Z, w = own.normal(size=(n, p)).round(rounding), own.integers(0, 3, size=n)
    w[0] = 1
    k = min(k, n)
    model = BisectingKMeans(k, bisecting_strategy=strategy, random_state=seed)
    model.fit(Z, sample_weight=w)
    found = len(model.cluster_centers_)
    assert found == min(k, len(np.unique(Z[w > 0], axis=0)))
    objective = model.history_["objective"]
    assert (np.diff(objective) <= 1e-9 * (1 + objective[0])).all()
    assert_array_equal(model.predict(Z), model.labels_)
    J = (w * ((Z - model.cluster_centers_[model.labels_]) ** 2).sum(axis=1)).sum()
    assert_allclose(model.inertia_, J, atol=1e-9)
    assert_allclose(model.inertia_, objective[-1], atol=1e-9)
    for node, (left, right) in enumerate(model.children_):
        if left >= 0:
            parts = model.node_weight_[[left, right]]
            assert_allclose(parts.sum(), model.node_weight_[node])
            assert (parts > 0).all()
            mean = parts @ model.node_centers_[[left, right]] / parts.sum()
            assert_allclose(mean, model.node_centers_[node], atol=1e-9)


def test_every_cut_is_the_fit_with_fewer_clusters():
    model = BisectingKMeans(8, init=ends).fit(X)
    for k in range(1, 9):
        assert_array_equal(model.cut(k), BisectingKMeans(k, init=ends).fit(X).labels_)
    with pytest.raises(ValueError, match="at most 8"):
        model.cut(9)


def test_finds_groups_and_is_near_kmeans():
    centers = np.array([[0, 0], [0, 9], [30, 0], [30, 9.0]])
    group = np.arange(400) % 4
    Z = centers[group] + rng.normal(size=(400, 2))
    model = BisectingKMeans(4, n_init=5, random_state=0).fit(Z)
    assert_allclose(model.inertia_, KMeans(4, n_init=10, random_state=0).fit(Z).inertia_)
    assert all(len(np.unique(model.labels_[group == g])) == 1 for g in range(4))
    assert_array_equal(model.cut(2), BisectingKMeans(2, n_init=5, random_state=0).fit_predict(Z))


def test_sparse_float32_and_starts():
    Z = np.where(rng.random((300, 6)) < 0.6, 0.0, rng.normal(size=(300, 6)).astype(np.float32))
    dense = BisectingKMeans(5, init="k-means++", random_state=1).fit(Z)
    sparse = BisectingKMeans(5, init="k-means++", random_state=1).fit(csr_array(Z))
    assert_array_equal(dense.labels_, sparse.labels_)
    assert_array_equal(sparse.predict(csr_array(Z)), dense.labels_)
    assert_allclose(sparse.score(csr_array(Z)), dense.score(Z))
    better = BisectingKMeans(5, n_init=20, random_state=1).fit(Z)
    assert better.history_["objective"][1] <= dense.history_["objective"][1] + 1e-9


def test_degenerate_input_is_said():
    with pytest.warns(ConvergenceWarning, match=r"clusters \(2\) found smaller than"):
        model = BisectingKMeans(4).fit([[1.0], [1.0], [2.0], [2.0], [2.0]])
    assert model.inertia_ == 0.0
    with pytest.warns(ConvergenceWarning, match=r"clusters \(1\)"):
        BisectingKMeans(2).fit(np.ones((4, 2)))
    with pytest.warns(ConvergenceWarning, match="did not converge in max_iter=1"):
        BisectingKMeans(3, max_iter=1, tol=0.0, random_state=0).fit(X)
    with pytest.raises(ValueError, match="at most the number of rows"):
        BisectingKMeans(6).fit([[1.0], [2.0]])
    with pytest.raises(ValueError, match="init must"):
        BisectingKMeans(2, init=X[:2]).fit(X)
