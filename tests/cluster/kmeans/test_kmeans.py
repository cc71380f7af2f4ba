"""k-means: the catalogue's examples, scikit-learn's Lloyd, brute force, invariants, recovery."""

import inspect
import itertools
import pickle
import warnings

import numpy as np
import pytest
import sklearn.cluster
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.callback import ProgressBar
from sklearn.datasets import make_blobs
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score

from pellucid import KMeans
from pellucid.cluster import EmptyClusterWarning, Metric, draw_probabilities, kmeans_plusplus
from pellucid.cluster.kmeans import kernels, passes, seeding
from pellucid.cluster.kmeans import kmeans as module
from pellucid.core.functions.distances import sqeuclidean
from pellucid.core.loops.statistics import LEAF_ROWS, Rows
from pellucid.core.runtime.threads import limit_threads, map_threads

D = np.array([(2, 10), (2, 5), (8, 4), (5, 8), (7, 5), (6, 4), (1, 2), (4, 9)], dtype=float)


def three_clusters():
    r = np.random.RandomState(42)
    groups = (((1, 1), 0.4), ((3, 2), 0.5), ((2, 4), 0.3))
    return np.vstack([r.normal(c, s, (100, 2)) for c, s in groups])


class Spans:
    """Rows in memory, offered as blocks of ``block_rows`` would be."""

    def __init__(self, X, block_leaves, w=None):
        self.X, self.w = X, w
        self.block_rows = block_leaves * LEAF_ROWS
        self.n_rows, self.n_features = X.shape
        self.feature_names = self.target = None

    def spans(self):
        rows = Rows(self.X, None, self.w)
        return [Part(rows, s, self.block_rows) for s in range(0, self.n_rows, self.block_rows)]

    def __iter__(self):
        for s in range(0, self.n_rows, self.block_rows):
            yield self.X[s : s + self.block_rows], None


class Part:
    def __init__(self, rows, start, size):
        self.rows, self.start, self.stop = rows, start, min(start + size, rows.n_rows)

    def leaves(self):
        for s in range(self.start, self.stop, LEAF_ROWS):
            e = min(s + LEAF_ROWS, self.stop)
            w = None if self.rows.w is None else self.rows.w[s:e]
            yield Rows(self.rows.X[s:e], None, w)


def big(n=3 * LEAF_ROWS + 77, p=3, centers=6, seed=0):
    return make_blobs(n, p, centers=centers, cluster_std=2.5, random_state=seed)[0]


# --- the contract -----------------------------------------------------------------------------


def test_every_keyword_of_scikit_learn_is_here():
    theirs = inspect.signature(sklearn.cluster.KMeans).parameters
    ours = inspect.signature(KMeans).parameters
    for name, parameter in theirs.items():
        assert ours[name].default == parameter.default, name
    assert set(inspect.signature(sklearn.cluster.kmeans_plusplus).parameters) <= set(
        inspect.signature(kmeans_plusplus).parameters
    )


# --- examples of the catalogue ----------------------------------------------------------------


def test_example_eight_points():
    model = KMeans(3, init=D[[4, 5, 7]], stop="labels").fit(D)
    history = model.history_
    assert (history[0]["labels"] + 1).tolist() == [3, 2, 1, 3, 1, 2, 2, 3]
    assert (history[1]["labels"] + 1).tolist() == [3, 2, 1, 3, 1, 1, 2, 3]
    assert np.allclose(history["after_assignment"][:2], [55, 19.7222222], atol=1e-6)
    assert np.allclose(history["after_update"][:2], [26.3333333, 14.3333333], atol=1e-6)
    assert np.allclose(history[0]["centers"], [[7.5, 4.5], [3, 11 / 3], [11 / 3, 9]])
    assert np.allclose(history[1]["centers"], [[7, 13 / 3], [1.5, 3.5], [11 / 3, 9]])
    assert history["changed"].tolist() == [8, 1, 0]
    assert model.inertia_ == pytest.approx(43 / 3)
    assert model.n_iter_ == len(history) == 3


@pytest.mark.parametrize(("k", "best"), [(2, 51.4667), (3, 14.3333), (4, 8.6667)])
def test_example_global_optimum_against_brute_force(k, best):
    def value(labels):
        return sum(
            ((D[labels == j] - D[labels == j].mean(0)) ** 2).sum() for j in np.unique(labels)
        )

    brute = min(value(np.array(c)) for c in itertools.product(range(k), repeat=len(D)) if c[0] == 0)
    assert brute == pytest.approx(best, abs=1e-4)
    assert KMeans(k, n_init=30, random_state=0).fit(D).inertia_ == pytest.approx(brute)


def test_example_six_numbers():
    x = np.array([[1.0], [2.0], [3.0], [10.0], [11.0], [12.0]])
    history = KMeans(2, init=[[1.0], [2.0]]).fit(x).history_
    assert np.allclose(history["centers"][:2, :, 0], [[1, 7.6], [2, 11]])
    assert np.allclose(history["objective"][:2], [89.2, 4])
    assert np.array_equal(history["inertia"], history["objective"])


def test_example_draw_probabilities():
    assert draw_probabilities(D, [[7, 5]])[0] == pytest.approx(0.308642, abs=1e-6)
    assert draw_probabilities(D, [[7, 5]], power=1)[0] == pytest.approx(0.234039, abs=1e-6)


def test_example_three_clusters():
    X = three_clusters()
    model = KMeans(3, n_init=10, random_state=0).fit(X)
    assert model.inertia_ == pytest.approx(88.24404652, abs=1e-8)
    order = np.argsort(-model.cluster_centers_[:, 1])
    expected = [(2.00812792, 3.9427195), (3.09213305, 1.98748216), (0.95798808, 1.01830395)]
    assert np.allclose(model.cluster_centers_[order], expected, atol=1e-8)
    assert np.bincount(model.labels_)[order].tolist() == [103, 96, 101]
    starts = {1: 1, 2: 10, 4: 80, 5: 80}  # one start in forty finds the best of five groups
    best = [
        KMeans(k, n_init=m, random_state=1, tol=1e-6).fit(X).inertia_ for k, m in starts.items()
    ]
    assert np.allclose(best, [765.344, 334.300, 72.740, 62.100], rtol=0, atol=1e-3)


def test_example_manhattan():
    M = np.array([(0, 0), (1, 0), (0, 4), (10, 10), (11, 10), (10, 13)], dtype=float)
    model = KMeans(2, init=M[[0, 3]], metric="manhattan").fit(M)
    assert model.cluster_centers_.tolist() == [[0, 0], [10, 10]]
    assert model.inertia_ == 9
    model = KMeans(2, init=M[[0, 3]], metric=Metric("manhattan", "mean")).fit(M)
    assert np.allclose(model.cluster_centers_, [[1 / 3, 4 / 3], [31 / 3, 11]])
    assert model.inertia_ == pytest.approx(12)
    assert "descent is not guaranteed" in model.card().warnings[0]


# --- oracles ----------------------------------------------------------------------------------


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_same_as_scikit_learn_from_the_same_start(weighted, offset):
    X = big() + offset
    rng = np.random.default_rng(1)
    w = rng.uniform(0.1, 3, len(X)) if weighted else None
    start = X[rng.choice(len(X), 7, replace=False)]
    ours = KMeans(7, init=start, tol=0, max_iter=500).fit(X, sample_weight=w)
    theirs = sklearn.cluster.KMeans(7, init=start, n_init=1, tol=0, max_iter=500)
    theirs.fit(X, sample_weight=w)
    assert np.array_equal(ours.labels_, theirs.labels_)
    assert np.allclose(ours.cluster_centers_ - offset, theirs.cluster_centers_ - offset, atol=1e-8)
    assert ours.inertia_ == pytest.approx(theirs.inertia_, rel=1e-8)
    assert ours.n_iter_ == theirs.n_iter_
    assert np.allclose(ours.transform(X), cdist(X, theirs.cluster_centers_), rtol=1e-8)
    assert ours.score(X, sample_weight=w) == pytest.approx(-ours.inertia_, rel=1e-12)


def test_stops_where_scikit_learn_stops():
    X = big(seed=3)
    start = X[:6]
    ours = KMeans(6, init=start, tol=1e-2).fit(X)
    theirs = sklearn.cluster.KMeans(6, init=start, n_init=1, tol=1e-2).fit(X)
    assert ours.n_iter_ == theirs.n_iter_
    assert np.allclose(ours.cluster_centers_, theirs.cluster_centers_, rtol=1e-9)
    assert np.array_equal(ours.labels_, theirs.labels_)
    assert np.array_equal(ours.labels_, ours.predict(X))


def naive_labels(X, C):
    E = [
        [sum((a - b) ** 2 for a, b in zip(x, c, strict=True)) for c in C.tolist()]
        for x in X.tolist()
    ]
    return np.array([row.index(min(row)) for row in E])


@pytest.mark.parametrize("offset", [0.0, 1e7])
def test_labels_are_exact_with_ties_everywhere(offset):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 4, size=(700, 3)) + offset
    C = rng.integers(0, 4, size=(9, 3)) + offset
    space = module.space_of("euclidean")
    assert np.array_equal(passes.nearest(space, X, np.ones(700), C).labels, naive_labels(X, C))


def test_bounds_never_change_a_label():
    X = np.ascontiguousarray(np.round(big(9000, p=2, seed=5)))  # rounded: many ties
    start = X[:11].copy()
    history = KMeans(11, init=start, tol=0, stop="labels").fit(X).history_
    C = start
    for row in history:
        D2 = sqeuclidean.pairwise(X, C)
        assert np.array_equal(row["labels"], D2.argmin(axis=1))
        assert row["after_assignment"] == pytest.approx(D2.min(axis=1).sum(), rel=1e-11)
        C = row["centers"]
        assert np.allclose(C, [X[row["labels"] == j].mean(0) for j in range(11)], rtol=1e-13)
        assert row["after_update"] == pytest.approx(((X - C[row["labels"]]) ** 2).sum(), rel=1e-11)


def test_median_and_cosine_descend_like_their_plain_forms():
    X = three_clusters()
    C = X[:3].copy()
    for row in KMeans(3, init=C, metric="manhattan", stop="labels").fit(X).history_:
        labels = np.abs(X[:, None] - C).sum(2).argmin(1)
        C = np.array([np.median(X[labels == j], axis=0) for j in range(3)])
        assert np.allclose(row["centers"], C)
        assert row["objective"] == pytest.approx(np.abs(X - C[labels]).sum())
    U = X / np.linalg.norm(X, axis=1)[:, None]
    C = U[[0, 100, 200]]
    model = KMeans(3, init=C, metric="cosine", stop="labels").fit(X)
    for row in model.history_:
        labels = (U @ C.T).argmax(1)
        C = np.array([U[labels == j].sum(0) for j in range(3)])
        C /= np.linalg.norm(C, axis=1)[:, None]
        assert np.allclose(row["centers"], C)
        assert row["objective"] == pytest.approx((1 - (U * C[labels]).sum(1)).sum())
    assert np.allclose(model.transform(X), 1 - U @ model.cluster_centers_.T)


def test_cosine_with_the_plain_mean():
    X = three_clusters()
    model = KMeans(2, metric=Metric("cosine", "mean"), random_state=0, stop="labels").fit(X)
    means = [X[model.labels_ == j].mean(0) for j in range(2)]
    assert np.allclose(model.cluster_centers_, means)


# --- kernels against plain NumPy --------------------------------------------------------------


def test_tile_kernels_against_numpy():
    rng = np.random.default_rng(0)
    G, C = rng.normal(size=(4, kernels.GATHER)), rng.normal(size=(8, 4))
    scratch, best, second = np.empty((8, kernels.GATHER)), *np.empty((2, kernels.GATHER))
    index = np.empty(kernels.GATHER, np.int64)
    kernels.tile_scores(G, C.T.copy(), (C**2).sum(1), scratch, best, second, index)
    scores = np.sort((C**2).sum(1)[:, None] + C @ G, axis=0)
    assert np.allclose(best, scores[0])
    assert np.allclose(second, scores[1])
    assert np.array_equal(index, ((C**2).sum(1)[:, None] + C @ G).argmin(axis=0))
    G, D = rng.normal(size=(4, kernels.BLOCK)), np.empty((8, kernels.BLOCK))
    kernels.tile_distances(G, C.T.copy(), D)
    assert np.allclose(D, ((C[:, :, None] - G) ** 2).sum(axis=1))
    best = D[0]
    w, second = rng.uniform(size=kernels.BLOCK), rng.uniform(0, 20, kernels.BLOCK)
    w[:9] = 0
    for power in (0.0, 1.0, 2.0, 3.0):
        v = np.minimum(best, second)
        expected = (w * (v > 0 if power == 0 else v ** (power / 2))).sum()
        assert kernels.tile_potential(best, second, w, power) == pytest.approx(expected)
    assert kernels.tile_potential(best, second, w, np.inf) == v[w > 0].max()
    j, least, next_ = kernels.nearest_two(G[:, 0].copy(), C)
    d = ((C - G[:, 0]) ** 2).sum(1)
    assert j == d.argmin()
    assert np.allclose([least, next_], np.sort(d)[:2])


def test_exact_sums_do_not_depend_on_order():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 3)) * np.array([1e-6, 1.0, 1e6])
    w = rng.uniform(0, 2, 500)
    space = module.space_of("euclidean")
    box = passes.leaf_box(space, Rows(X, None, w))
    grid, zero = passes.limb_grid(box), np.zeros(500, np.int32)

    def total(order):
        out = np.zeros((1, kernels.LIMBS, 4))
        kernels.group_rows(X[order], w[order], zero, grid, out)
        return out

    plain = total(np.arange(500))
    assert np.array_equal(plain, total(rng.permutation(500)))
    weight, S = passes.collapse(plain)
    exact = [float(sum(map(_fraction, w * X[:, t]))) for t in range(3)]
    assert np.allclose(S[0], exact, rtol=1e-13, atol=1e-16)
    assert weight[0] == pytest.approx(w.sum(), rel=1e-15)
    for i in range(500):  # taking every row away again leaves nothing
        kernels.add_row(plain[0], X[i], -w[i], grid)
    assert not plain.any()


def _fraction(value):
    from fractions import Fraction

    return Fraction(float(value))


# --- invariants -------------------------------------------------------------------------------

finite = st.floats(-50, 50, allow_nan=False, width=16)


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_the_objective_never_rises(data):
    n = data.draw(st.integers(1, 25))
    X = data.draw(arrays(np.float64, (n, 2), elements=finite))
    w = data.draw(arrays(np.float64, n, elements=st.sampled_from([0.0, 0.5, 1.0, 3.0])))
    w[0] = 1.0
    k = data.draw(st.integers(1, n))
    init = data.draw(st.sampled_from(module.STARTS))
    metric = data.draw(st.sampled_from(["euclidean", "manhattan"]))
    model = KMeans(k, init=init, n_init=1, tol=0, metric=metric, random_state=n)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X, sample_weight=w)
    history = model.history_
    values = np.column_stack([history["after_assignment"], history["after_update"]]).ravel()
    top = 1e-12 * max(values[0], 1.0)
    assert (np.diff(values) <= (0.0 if metric == "euclidean" else top)).all()
    assert model.inertia_ <= values[-1] + top
    assert np.isfinite(model.cluster_centers_).all()
    d = model.transform(X)
    J = (w * (d.min(axis=1) ** 2 if metric == "euclidean" else d.min(axis=1))).sum()
    assert model.inertia_ == pytest.approx(J, rel=1e-9, abs=1e-9)
    assert np.array_equal(model.labels_, model.predict(X))
    if metric == "euclidean":
        assert model.card().numbers["steps in which J rose"] == 0


@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "cosine"])
@pytest.mark.parametrize("init", module.STARTS)
def test_weights_are_repetitions_and_order_does_not_matter(init, metric):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(60, 3)) + 0.5
    w = rng.integers(0, 4, size=60)
    shuffle = rng.permutation(60)
    model = KMeans(4, init=init, random_state=5, n_init=2, metric=metric)
    a = clone(model).fit(X.repeat(w, axis=0))
    b = clone(model).fit(X[shuffle], sample_weight=w[shuffle])
    assert np.allclose(a.cluster_centers_, b.cluster_centers_, rtol=1e-12)
    assert np.allclose(a.runs_, b.runs_)
    assert a.inertia_ == pytest.approx(b.inertia_)


@pytest.mark.parametrize("metric", ["euclidean", "cosine", Metric("manhattan", "mean")])
@pytest.mark.parametrize("init", module.STARTS)
def test_blocks_give_the_same_bits(init, metric):
    X = big() if metric == "euclidean" else big(LEAF_ROWS + 500)
    w = np.random.default_rng(0).integers(0, 3, len(X)) * 1.0
    model = KMeans(5, init=init, n_init=2, random_state=0, metric=metric, max_iter=6, tol=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        memory = clone(model).fit(X, sample_weight=w)
        for leaves in (1, 2, 100):
            blocks = clone(model).fit_blocks(Spans(X, leaves, w))
            assert np.array_equal(memory.cluster_centers_, blocks.cluster_centers_)
            assert memory.inertia_ == blocks.inertia_
            assert np.array_equal(memory.runs_, blocks.runs_)
            assert memory.n_iter_ == blocks.n_iter_
            assert np.allclose(memory.history_["objective"], blocks.history_["objective"])
            assert not hasattr(blocks, "labels_")
            labels = np.concatenate(list(blocks.predict_blocks(Spans(X, leaves))))
            assert np.array_equal(labels, memory.labels_)


@pytest.mark.parametrize("init", ["k-means++", "uniform"])
def test_threads_give_the_same_bits(init):
    X = big()

    def fit(threads):
        with limit_threads(threads):
            return KMeans(9, init=init, random_state=3, n_init=2).fit(X)

    one = fit(1)
    for threads in (2, 3):
        other = fit(threads)
        assert np.array_equal(one.cluster_centers_, other.cluster_centers_)
        assert np.array_equal(one.labels_, other.labels_)
        assert one.inertia_ == other.inertia_
        assert np.array_equal(one.history_["objective"], other.history_["objective"])


def test_sparse_dense_and_by_leaves_agree(monkeypatch):
    X = np.round(big(LEAF_ROWS + 100))
    X[np.abs(X) < 3] = 0
    dense = KMeans(4, random_state=0).fit(X)
    sparse = KMeans(4, random_state=0).fit(csr_array(X))
    monkeypatch.setattr(module, "DENSE_VALUES", 10)
    leaves = KMeans(4, random_state=0).fit(csr_array(X))
    for other in (sparse, leaves):
        assert np.array_equal(dense.cluster_centers_, other.cluster_centers_)
        assert np.array_equal(dense.labels_, other.labels_)
        assert np.array_equal(dense.transform(X), other.transform(csr_array(X)))
    assert leaves.history_["changed"].tolist() == dense.history_["changed"].tolist()


def test_float32_and_read_only_input():
    X = three_clusters()
    model = KMeans(3, random_state=0).fit(X.astype(np.float32))
    assert model.cluster_centers_.dtype == np.float64
    X.flags.writeable = False
    assert KMeans(3, random_state=0).fit(X).inertia_ == pytest.approx(88.24404652)


# --- recovery ---------------------------------------------------------------------------------


@pytest.mark.parametrize("init", module.STARTS)
def test_finds_well_separated_groups(init):
    X, y = make_blobs(600, 4, centers=5, cluster_std=0.3, center_box=(-20, 20), random_state=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EmptyClusterWarning)
        model = KMeans(5, init=init, n_init=10, random_state=0).fit(X)
    assert adjusted_rand_score(y, model.labels_) == 1
    assert model.runs_.shape == (10,)
    assert model.inertia_ == model.runs_.min()


# --- starts -----------------------------------------------------------------------------------


@pytest.mark.parametrize("power", [0, 1, 2, 3])
def test_draws_follow_their_probabilities(power):
    X = np.array([[0.0], [1.0], [2.0], [5.0]])
    w = np.array([1.0, 2.0, 0.0, 1.0])
    rng = np.random.default_rng(0)
    firsts, seconds = np.zeros(4), np.zeros((4, 4))
    for _ in range(1500):
        i, j = kmeans_plusplus(
            X, 2, power=power, n_local_trials=1, sample_weight=w, random_state=rng
        )[1]
        firsts[i] += 1
        seconds[i, j] += 1
    assert np.allclose(firsts / 1500, w / 4, atol=0.05)
    for i in (0, 1, 3):
        p = draw_probabilities(X, X[[i]], power=power, sample_weight=w)
        assert np.allclose(seconds[i] / seconds[i].sum(), p, atol=0.09)


def test_draws_from_many_leaves_reach_every_leaf():
    X = np.arange(5.0 * LEAF_ROWS)[:, None]
    leaves = [
        kmeans_plusplus(X, 1, random_state=seed).indices[0] // LEAF_ROWS for seed in range(150)
    ]
    assert (np.bincount(leaves, minlength=5) > 12).all()


def test_start_returns_rows_and_distinct_ones():
    X = three_clusters()
    centers, indices = kmeans_plusplus(X, 30, random_state=0)
    assert np.array_equal(X[indices], centers)
    assert len(set(indices.tolist())) == 30
    assert len(set(kmeans_plusplus(X, 300, power=0, random_state=0).indices.tolist())) == 300


def test_greedy_draws_leave_less():
    X = big(2000, p=2, centers=12)

    def left(trials, seed):
        C = kmeans_plusplus(X, 12, n_local_trials=trials, random_state=seed).centers
        return sqeuclidean.pairwise(X, C).min(1).sum()

    assert np.mean([left(5, s) for s in range(25)]) < np.mean([left(1, s) for s in range(25)])


@pytest.mark.parametrize("power", [2.0, 1.0, 0.0, np.inf])
@pytest.mark.parametrize("kind", ["leaves", "few distinct"])
def test_the_chain_of_draws_is_that_of_the_passes(power, kind):
    """A small table is seeded in one kernel, a large one pass by pass: the same rows are drawn."""
    own = np.random.default_rng(2)
    X = own.normal(size=(LEAF_ROWS + 700, 3))
    X = X if kind == "leaves" else X[:300].round() % 2
    w = own.integers(0, 3, size=len(X)).astype(float)
    chain, passes = (module.MemoryField(X, w, power) for _ in range(2))
    passes.small = False
    trials = 4 if power == 2 else 1
    for one, other in zip(
        module.choose_centers(chain, 12, trials, [np.random.default_rng(s) for s in range(5)]),
        module.choose_centers(passes, 12, trials, [np.random.default_rng(s) for s in range(5)]),
        strict=True,
    ):
        np.testing.assert_array_equal(one.indices, other.indices)
        np.testing.assert_array_equal(one.centers, other.centers)


def test_farthest_first():
    X = np.array([[0.0], [1.0], [10.0], [4.0]])
    space = module.space_of("euclidean")
    rows = Rows(X, None, np.ones(4))
    problem = module.problem_of(rows, map_threads, space)
    for seed in range(5):
        C = next(problem.starts("farthest", 3, 1, np.random.default_rng(seed)))[:, 0].tolist()
        for i in (1, 2):
            distance = np.abs(X - np.array(C[:i])).min(axis=1)
            assert np.abs(C[i] - np.array(C[:i])).min() == distance.max()


def test_uniform_start_lies_in_the_box_of_the_weighted_rows():
    X = np.array([[0.0, 0.0], [1.0, 2.0], [99.0, 99.0]])
    rows = Rows(X, None, np.array([1.0, 1.0, 0.0]))
    problem = module.problem_of(rows, map_threads, module.space_of("euclidean"))
    C = next(problem.starts("uniform", 500, 1, np.random.default_rng(0)))
    assert C.min() >= 0
    assert (C.max(axis=0) <= [1, 2]).all()
    assert (C.max(axis=0) > [0.9, 1.8]).all()


def test_callable_start_gets_what_scikit_learn_passes():
    def first(X, n_clusters, random_state):
        random_state.randint(10)
        return X[:n_clusters].copy()

    X = three_clusters()
    ours = KMeans(3, init=first, n_init=1).fit(X)
    theirs = sklearn.cluster.KMeans(3, init=first, n_init=1).fit(X)
    assert np.allclose(ours.cluster_centers_, theirs.cluster_centers_)
    with pytest.raises(ValueError, match="must not be a function in fit_blocks"):
        KMeans(3, init=first).fit_blocks(Spans(X, 1))


def test_random_state_forms():
    X = three_clusters()
    for state in (None, 3, np.random.RandomState(3), np.random.default_rng(3)):
        KMeans(3, random_state=state).fit(X)
    a, b = (KMeans(3, random_state=np.random.RandomState(1)).fit(X) for _ in range(2))
    assert np.array_equal(a.cluster_centers_, b.cluster_centers_)


# --- degenerate cases -------------------------------------------------------------------------


@pytest.mark.parametrize("metric", ["euclidean", "manhattan"])
def test_an_empty_cluster_takes_the_farthest_row(metric):
    X = np.array([[0.0], [1.0], [2.0], [30.0]])
    model = KMeans(3, init=[[0.0], [1.0], [900.0]], metric=metric, stop="labels")
    with pytest.warns(EmptyClusterWarning, match="farthest"):
        model.fit(X)
    first = model.history_[0]
    assert first["reseeded"] == 1
    assert first["labels"].tolist() == [0, 1, 1, 2]
    assert first["centers"][2] == 30
    assert np.allclose(first["centers"][1], 1.5)
    assert first["after_assignment"] == pytest.approx(1)
    assert (np.diff(model.history_["objective"]) <= 0).all()
    assert "empty" in " ".join(model.card().warnings)


def test_empty_clusters_over_blocks_and_with_copies():
    X = np.repeat(np.array([[0.0], [1.0], [2.0], [30.0], [40.0]]), 1200, axis=0)
    X = X[np.random.default_rng(0).permutation(len(X))]
    start = [[0.0], [1.0], [900.0], [901.0]]
    model = KMeans(4, init=start, stop="labels")
    with pytest.warns(EmptyClusterWarning):
        memory = clone(model).fit(X)
    with pytest.warns(EmptyClusterWarning):
        blocks = clone(model).fit_blocks(Spans(X, 1))
    with pytest.warns(EmptyClusterWarning):
        weighted = clone(model).fit(
            [[0.0], [1.0], [2.0], [30.0], [40.0]], sample_weight=np.full(5, 1200)
        )
    assert np.array_equal(memory.cluster_centers_, blocks.cluster_centers_)
    assert np.allclose(memory.cluster_centers_, weighted.cluster_centers_)
    assert np.allclose(memory.history_["objective"], blocks.history_["objective"])
    assert memory.history_["reseeded"][0] == 2


@pytest.mark.parametrize("init", [i for i in module.STARTS if i != "uniform"])
def test_fewer_distinct_points_than_clusters_warns(init):
    X = np.array([[0.0], [0.0], [1.0], [1.0], [1.0]])
    model = KMeans(4, init=init, random_state=0, n_init=1)
    with pytest.warns(ConvergenceWarning, match=r"distinct clusters \(2\).*n_clusters \(4\)"):
        model.fit(X)
    assert model.inertia_ == 0
    assert set(np.unique(model.cluster_centers_)) == {0.0, 1.0}


def test_max_iter_warns_with_the_last_gap():
    with pytest.warns(ConvergenceWarning, match="max_iter=2 rounds: last gap"):
        model = KMeans(6, max_iter=2, tol=0, random_state=0).fit(big())
    assert "max_iter" in " ".join(model.card().warnings)


def test_stopping_rules():
    X = big()
    start = X[:6]
    fits = {
        stop: KMeans(6, init=start, stop=stop, tol=0.5).fit(X)
        for stop in ("shift", "each", "labels")
    }
    assert fits["labels"].history_["changed"][-1] == 0
    assert fits["labels"].history_["shift"][-1] == 0
    last = fits["each"].history_
    assert last["gap"][-1] < 0.5 <= last["gap"][-2]
    assert fits["shift"].history_["gap"][-1] <= 0.5 * X.var(axis=0).mean()
    assert fits["shift"].n_iter_ <= fits["each"].n_iter_ < fits["labels"].n_iter_


@pytest.mark.parametrize(
    ("params", "sentence"),
    [
        ({"n_clusters": 9}, "n_samples=8 should be >= n_clusters=9"),
        ({"n_clusters": 0}, "n_clusters must be a whole number >= 1"),
        ({"init": "kmeans++"}, "did you mean 'k-means..'"),
        (
            {"init": [[1.0, 2.0]]},
            r"initial centers \(1, 2\) does not match the number of clusters 3",
        ),
        ({"init": [[1e200, 2.0]] * 3}, "overflow"),
        ({"n_init": 0}, "n_init must be a whole number >= 1"),
        ({"n_init": "many"}, "n_init must be 'auto' or a whole number"),
        ({"tol": -1}, "tol must be >= 0"),
        ({"max_iter": 0}, "max_iter must be"),
        ({"stop": "never"}, "stop must be one of"),
        ({"algorithm": "auto"}, "algorithm must be one of"),
        ({"copy_x": "no"}, "copy_x must be"),
        ({"metric": "euclid"}, "metric must be one of"),
        ({"metric": Metric("cosine", "middle")}, "center must be one of"),
        ({"metric": Metric("manhattan", "direction")}, "needs distance='cosine'"),
        ({"random_state": "x"}, "random_state must be"),
    ],
)
def test_bad_parameters_are_one_sentence(params, sentence):
    with pytest.raises(ValueError, match=sentence):
        KMeans(**{"n_clusters": 3, **params}).fit(D)


def test_bad_data():
    with pytest.raises(ValueError, match="not all zero, got zeros in row 1"):
        KMeans(2, metric="cosine").fit([[1.0, 1.0], [0.0, 0.0], [2.0, 1.0]])
    with pytest.raises(ValueError, match="overflow"):
        KMeans(2).fit([[1e200], [0.0], [1.0]])
    with pytest.raises(ValueError, match="NaN in column 0, row 1"):
        KMeans(2).fit([[1.0], [np.nan], [1.0]])
    with pytest.raises(ValueError, match="median is no sum over blocks"):
        KMeans(2, metric="manhattan").fit_blocks(Spans(D, 1))
    with pytest.raises(ValueError, match="at most the 8 rows"):
        kmeans_plusplus(D, 9)
    with pytest.raises(ValueError, match="NaN or infinity"):
        kmeans_plusplus([[np.nan]], 1)
    with pytest.raises(ValueError, match="every row"):
        draw_probabilities([[1.0]], [[1.0]])


def test_given_centres_run_once():
    with pytest.warns(RuntimeWarning, match="only one init instead of n_init=4"):
        model = KMeans(3, init=D[:3], n_init=4).fit(D)
    assert len(model.runs_) == 1


def test_outliers_and_scales_do_not_spoil_the_sums():
    X = np.vstack([three_clusters(), [[1e12, 1e12]]])
    model = KMeans(4, random_state=0, n_init=10, stop="labels").fit(X)
    rest = np.delete(np.sort(model.cluster_centers_[:, 0]), -1)
    assert np.allclose(rest, [0.95798808, 2.00812792, 3.09213305], atol=1e-8)


# --- callbacks and records --------------------------------------------------------------------


class Recorder:
    def __init__(self, stop_at=None):
        self.names, self.values, self.stop_at = [], [], stop_at

    def setup(self, estimator, context):
        self.names.append("setup")

    def on_fit_task_begin(self, estimator, context):
        pass

    def on_fit_task_end(self, estimator, context, *, fitted_estimator):
        self.names.append(context.task_name)
        if context.task_name.startswith("step"):
            self.values.append(-fitted_estimator.score(self.X))
        return context.task_name == self.stop_at

    def teardown(self, estimator, context):
        self.names.append("teardown")


def test_a_callback_sees_every_round_and_can_stop():
    X = three_clusters()
    seen = Recorder()
    seen.X = X
    model = KMeans(3, random_state=0, init="uniform", n_init=1).set_callbacks(seen).fit(X)
    steps = [f"step {i}" for i in range(1, model.n_iter_ + 1)]
    assert seen.names == ["setup", *steps, "fit", "teardown"]
    assert seen.values[-1] == pytest.approx(model.inertia_)
    stopper = Recorder("step 1")
    stopper.X = X
    model = KMeans(3, random_state=0, init="uniform", n_init=1).set_callbacks(stopper).fit(X)
    assert model.n_iter_ == 1
    assert "stopped" in " ".join(model.card().warnings)


def test_restarts_are_tasks_of_their_own():
    X = three_clusters()
    seen = Recorder()
    seen.X = X
    model = KMeans(3, random_state=0, n_init=3).set_callbacks(seen).fit(X)
    assert [n for n in seen.names if n.startswith("start")] == ["start 0", "start 1", "start 2"]
    assert len(model.runs_) == 3
    stopper = Recorder("start 1")
    stopper.X = X
    model = KMeans(3, random_state=0, n_init=5).set_callbacks(stopper).fit(X)
    assert len(model.runs_) == 2


@pytest.mark.parametrize("n_init", [1, 3])
def test_progress_bar(n_init, capsys):
    KMeans(3, random_state=0, n_init=n_init).set_callbacks(ProgressBar()).fit(three_clusters())
    assert "100%" in capsys.readouterr().out


def test_history_keeps_labels_only_while_they_fit(monkeypatch):
    X = big()
    monkeypatch.setattr("pellucid.cluster.kmeans.lloyd.KEPT_LABELS", 2 * len(X))
    history = KMeans(6, random_state=0, tol=0).fit(X).history_
    kept = ["labels" in row and "centers" in row for row in history]
    assert kept == [True, True] + [False] * (len(history) - 2)
    assert history.columns[:2] == ("step", "objective")
    assert {"gap", "seconds", "shift", "changed", "reseeded"} <= set(history.columns)


def test_card_and_names():
    model = KMeans(3, random_state=0, n_init=4).fit(three_clusters())
    card = model.card()
    assert card.numbers["inertia"] == model.inertia_
    assert card.numbers["steps in which J rose"] == 0
    assert "88.244" in card.evaluation
    assert "of 4 start(s)" in card.optimisation
    assert card.warnings == ()
    assert model.get_feature_names_out().tolist() == ["kmeans0", "kmeans1", "kmeans2"]


def test_pickle_and_clone():
    model = KMeans(3, random_state=0, metric=Metric("cosine", "direction")).fit(three_clusters())
    copy = pickle.loads(pickle.dumps(model))
    assert np.array_equal(copy.predict(three_clusters()), model.labels_)
    assert clone(model).metric == model.metric


def test_leaf_functions_travel_by_name():
    rows = Rows(D, None, np.ones(8))
    space = pickle.loads(pickle.dumps(module.space_of("euclidean")))
    assert space.compiled
    field = seeding.SourceField(rows, map_threads, space, 2.0)
    assert pickle.dumps((seeding.leaf_masses, seeding.draw_in_span, passes.leaf_assign))
    assert field.begin(1).tolist() == [8]


def test_the_potential_of_the_start_is_no_worse_than_scikit_learns():
    """Means over 50 seeds, within three standard errors of their difference."""
    from sklearn.cluster import kmeans_plusplus as peer

    X = big(1500, p=3, centers=12)
    left = np.array(
        [
            [sqeuclidean.pairwise(X, f(X, 12, random_state=s)[0]).min(1).sum() for s in range(50)]
            for f in (kmeans_plusplus, peer)
        ]
    )
    error = np.sqrt(left.var(axis=1, ddof=1).sum() / 50)
    assert left[0].mean() <= left[1].mean() + 3 * error
