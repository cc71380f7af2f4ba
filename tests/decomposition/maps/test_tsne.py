"""TSNE: scikit-learn's probabilities and divergence, forces that are exact or nearly, maps."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from scipy.spatial.distance import pdist, squareform
from sklearn import manifold
from sklearn.datasets import load_digits
from sklearn.manifold import _t_sne as theirs
from sklearn.metrics import pairwise_distances
from sklearn.neighbors import NearestNeighbors, kneighbors_graph

from pellucid import TSNE
from pellucid.compiled.distances.nearest import nearest, nearest_others
from pellucid.core.runtime.threads import limit_threads
from pellucid.decomposition.maps import forces, grid, tree
from pellucid.decomposition.maps import tsne as core
from pellucid.decomposition.maps.affinities import conditional, dense_joint, joint, metric_of

EUCLIDEAN = metric_of("euclidean", None)


def groups(n=300, p=5, k=4, apart=6.0, seed=0):
    rng = np.random.default_rng(seed)
    label = rng.integers(k, size=n)
    return rng.normal(size=(n, p)) + apart * rng.normal(size=(k, p))[label], label


def layout(n, k, size, seed=0):
    """Points of a map with groups, by coordinate."""
    rng = np.random.default_rng(seed)
    centre = size * rng.normal(size=(k, 10))
    return centre[:, rng.integers(10, size=n)] + size / 6 * rng.normal(size=(k, n))


def repulsion(Y, f):
    """The sum as it stands."""
    gaps = Y[:, :, None] - Y[:, None]
    u = 1 / (1 + np.square(gaps).sum(axis=0) / f)
    w = u ** ((f + 1) / 2)
    np.fill_diagonal(w, 0)
    return (w * u * gaps).sum(axis=2), w.sum()


def off(found, wanted):
    return np.linalg.norm(found - wanted) / np.linalg.norm(wanted)


# --- probabilities ---------------------------------------------------------------------------


def test_oracle_of_the_probabilities():
    X, _ = groups()
    D = np.square(squareform(pdist(X)))
    P, _ = dense_joint(EUCLIDEAN.squares(X), 30.0)
    assert_allclose(P, squareform(theirs._joint_probabilities(D, 30.0, 0)), atol=1e-6)
    squares, index = EUCLIDEAN.neighbours(X, None, 91)
    sparse = joint(conditional(squares, 30.0)[0], index)
    graph = NearestNeighbors(n_neighbors=91).fit(X).kneighbors_graph(mode="distance")
    graph.data **= 2
    other = theirs._joint_probabilities_nn(graph, 30.0, 0)
    assert_allclose(sparse.toarray(), other.toarray(), atol=1e-6)


@pytest.mark.parametrize("perplexity", [1.5, 5.0, 30.0, 90.9])
def test_invariant_the_perplexity_is_the_one_asked_for(perplexity):
    X, _ = groups()
    squares, index = EUCLIDEAN.neighbours(X, None, 91)
    p, beta = conditional(squares.copy(), perplexity)
    with np.errstate(divide="ignore", invalid="ignore"):
        entropy = -np.where(p > 0, p * np.log(p), 0).sum(axis=1)
    assert_allclose(np.exp(entropy), perplexity, rtol=1e-13)
    weights = np.exp(-beta[:, None] * (squares - squares.min(axis=1)[:, None]))
    assert_allclose(p, weights / weights.sum(axis=1)[:, None], rtol=1e-9, atol=1e-300)
    P = joint(p, index)
    assert P.sum() == pytest.approx(1.0, rel=1e-13)
    assert abs(P - P.T).max() == 0


def test_invariant_the_unit_does_not_matter():
    squares, _ = EUCLIDEAN.neighbours(groups()[0], None, 20)
    p, _ = conditional(squares.copy(), 5.0)
    for factor in (2.0**-300, 2.0**300):
        assert_array_equal(conditional(squares * factor, 5.0)[0], p)
    assert_allclose(conditional(squares * 1e-7, 5.0)[0], p, rtol=1e-10)


def test_perplexities_that_no_width_has():
    """The limit: equal shares of the nearest where they are too many, of all where too few."""
    D = np.array([[1.0, 1.0, 1.0, 2.0], [3.0, 3.0, 3.0, 3.0], [1.0, 2.0, 3.0, np.inf]])
    p, _ = conditional(D.copy(), 2.0)
    assert_allclose(p[:2], [[1 / 3, 1 / 3, 1 / 3, 0], [0.25] * 4])
    assert_allclose(conditional(D.copy(), 3.5)[0][2], [1 / 3, 1 / 3, 1 / 3, 0])
    assert_allclose(conditional(D.copy(), 1.0)[0][2], [1, 0, 0, 0])


@pytest.mark.parametrize("shape", [(50, 2), (200, 30), (1500, 12)])
def test_oracle_of_the_nearest_rows(shape):
    rng = np.random.default_rng(1)
    X = np.round(rng.normal(size=shape), 1)  # with ties
    X[5:9] = X[4]
    D = np.square(X[:, None] - X).sum(axis=2)
    order = np.argsort(D, axis=1, kind="stable")
    for k in (3, 20, 40):
        squares, _ = nearest(X, X, k)
        assert_allclose(squares, np.take_along_axis(D, order, axis=1)[:, :k], atol=1e-12)
        assert_array_equal(np.sort(nearest_others(X, k)[0], axis=1)[:, 0], squares[:, 1])
        assert not (nearest_others(X, k)[1] == np.arange(len(X))[:, None]).any()
    squares, _ = nearest(X[:700], X[:50], min(len(X), 700) - 1)
    assert_allclose(squares, np.sort(D[:50, :700], axis=1)[:, : squares.shape[1]], atol=1e-12)


# --- forces ----------------------------------------------------------------------------------


@pytest.mark.parametrize("k", [1, 2, 3, 5])
@pytest.mark.parametrize("size", [1e-4, 3.0, 40.0])
def test_oracle_of_the_forces(k, size):
    """All pairs to rounding; grid and tree within the errors that the docstrings say."""
    Y, f = layout(1500, k, size), core.freedom(k)
    force, Z = repulsion(Y, f)
    pairs = forces.all_pairs(Y, f)
    assert off(pairs.force, force) < 1e-13
    assert_allclose(pairs.Z, Z, rtol=1e-13)
    assert abs(pairs.force.sum(axis=1)).max() < 1e-12 * abs(force).sum()
    if k <= 2:
        near, total, _ = grid.grid_forces(Y, None)
        assert off(near, force) < 0.012
        assert total == pytest.approx(Z, rel=2e-3)
        assert abs(near.sum(axis=1)).max() < 1e-12 * abs(force).sum()
    if k <= 3:
        near, total = tree.tree_forces(Y, f, 0.5)
        assert off(near, force) < 0.04
        assert total == pytest.approx(Z, rel=0.02)
        near, total = tree.tree_forces(Y, f, 1e-9)
        assert off(near, force) < 1e-12
        assert total == pytest.approx(Z, rel=1e-13)


def test_the_grid_errs_less_than_the_tree():
    Y = layout(2000, 2, 30.0)
    force, _ = repulsion(Y, 1.0)
    assert off(grid.grid_forces(Y, None)[0], force) < off(tree.tree_forces(Y, 1.0, 0.5)[0], force)


def test_the_grid_of_the_last_map_serves_again():
    Y = layout(500, 2, 10.0)
    _, _, first = grid.grid_forces(Y, None)
    moved = 1.02 * Y
    near, _, second = grid.grid_forces(moved, first)
    assert second is first
    assert_allclose(near, grid.grid_forces(moved, None)[0], atol=1e-6 * abs(near).max())
    assert grid.grid_forces(3 * Y, first)[2] is not first


def test_the_form_that_costs_least():
    assert forces.choose(layout(300, 2, 30.0), 0.5) == "pairs"
    assert forces.choose(layout(5000, 2, 15.0), 0.5) == "grid"
    assert forces.choose(layout(5000, 1, 15.0), 0.5) == "grid"
    assert forces.choose(layout(5000, 2, 1e7), 0.5) == "tree"
    assert forces.choose(layout(20000, 3, 15.0), 0.5) == "tree"
    assert forces.choose(layout(20000, 2, 15.0), 0.0) == "pairs"
    assert forces.choose(np.zeros((2, 5000)), 0.5) == "tree"


@pytest.mark.parametrize("k", [1, 2, 3])
def test_points_in_one_place(k):
    """They repel nobody among themselves, in every form."""
    Y = np.repeat(layout(40, k, 5.0), 30, axis=1)
    force, Z = repulsion(Y, core.freedom(k))
    near, total = tree.tree_forces(Y, core.freedom(k), 0.3)
    assert off(near, force) < 0.02
    assert total == pytest.approx(Z, rel=0.02)
    near, total = tree.tree_forces(np.ones((k, 50)), 1.0, 0.5)
    assert not near.any()
    assert total == 50 * 49


@pytest.mark.parametrize("k", [1, 2, 3, 4])
def test_oracle_of_the_gradient(k):
    """The derivative of the divergence by differences; scikit-learn's where f is 1."""
    X, _ = groups(60)
    Y = layout(60, k, 2.0)
    P, _ = dense_joint(EUCLIDEAN.squares(X), 10.0)
    A = core.affinities(P)

    def at(Y):
        pull, push, kl = core.divergence(A, Y, core.all_pairs_of, None)
        return core.Map(Y, pull, push, kl, Y, Y)

    G = core.gradient(at(Y), 1.0)
    rng = np.random.default_rng(3)
    for _ in range(5):
        v = rng.normal(size=Y.shape)
        slope = (at(Y + 1e-6 * v).kl - at(Y - 1e-6 * v).kl) / 2e-6
        assert np.vdot(G, v) == pytest.approx(slope, rel=1e-6, abs=1e-9)
    assert abs(G.sum(axis=1)).max() < 1e-14
    kl, other = theirs._kl_divergence(Y.T.ravel(), squareform(P), core.freedom(k), 60, k)
    assert at(Y).kl == pytest.approx(kl, rel=1e-9)
    if k <= 2:
        assert_allclose(G.T.ravel(), other, atol=1e-12)


def test_oracle_of_the_logarithm():
    """The sum of logarithms in the pass over the neighbours, over many powers of ten."""
    rng = np.random.default_rng(0)
    Y = 10.0 ** rng.uniform(-9, 9, size=(2, 200)) * rng.choice([-1, 1], size=(2, 200))
    P = csr_array(rng.random((200, 200)) * (rng.random((200, 200)) < 0.3))
    A = core.affinities(P)
    pull, logs = forces.attraction(A.first, A.index, A.p, Y, 1.0)
    gaps = Y[:, :, None] - Y[:, None]
    square = 1 + np.square(gaps).sum(axis=0)
    dense = P.toarray()
    assert logs == pytest.approx((dense * np.log(square)).sum(), rel=1e-13)
    assert_allclose(pull, (dense / square * gaps).sum(axis=2), rtol=1e-9)


# --- maps ------------------------------------------------------------------------------------


def test_oracle_of_the_map():
    """From scikit-learn's start, as small a divergence and as trustworthy a map."""
    X = load_digits().data[:600]
    mine = TSNE(random_state=0).fit(X)
    other = manifold.TSNE(random_state=0).fit(X)
    assert mine.learning_rate_ == other.learning_rate_
    assert mine.kl_divergence_ <= other.kl_divergence_ + 0.02
    trust = [manifold.trustworthiness(X, m.embedding_) for m in (mine, other)]
    assert trust[0] >= trust[1] - 0.002


def test_oracle_of_the_divergence():
    """kl_divergence_ is that of embedding_, as scikit-learn computes it."""
    X, _ = groups(150)
    model = TSNE(perplexity=15, max_iter=300, method="exact").fit(X)
    P, _ = dense_joint(EUCLIDEAN.squares(X), 15.0)
    kl, _ = theirs._kl_divergence(model.embedding_.ravel(), squareform(P), 1, 150, 2)
    assert model.kl_divergence_ == pytest.approx(kl, rel=1e-6)


@pytest.mark.parametrize("k", [1, 2, 3])
def test_recovery_of_groups(k):
    """Separated groups stay separated: the nearest point on the map is of one's own group."""
    X, label = groups(400, apart=12.0)
    model = TSNE(k, random_state=0, max_iter=400).fit(X)
    index = nearest_others(model.embedding_, 5)[1]
    assert (label[index] == label[:, None]).mean() > 0.99


def test_invariant_the_divergence_falls_after_the_exaggeration():
    model = TSNE(perplexity=20).fit(groups(300)[0])
    history = model.history_
    kl = history["objective"][~history["exaggerated"]]
    assert kl[-1] < kl[0]
    assert (np.diff(kl[::50]) <= 1e-3).all()
    assert history["exaggerated"].sum() == 250
    assert len(history) == model.n_iter_


def test_invariant_of_scale_and_threads():
    """The same bits for X times a power of two, and for any number of threads, in every form."""
    X, _ = groups(1200, 12)
    for k in (2, 3):
        model = TSNE(k, max_iter=250, angle=0.9)
        with limit_threads(1):
            one = model.fit(X)
            forms, map_ = set(one.history_["form"]), one.embedding_
        with limit_threads(3):
            assert_array_equal(model.fit(X).embedding_, map_)
        assert_array_equal(model.fit(X * 2.0**600).embedding_, map_)
        assert forms == ({"grid", "pairs"} if k == 2 else {"pairs"})
    Y = layout(3000, 3, 20.0)
    with limit_threads(1):
        force, Z = tree.tree_forces(Y, 2.0, 0.5)
    with limit_threads(3):
        again = tree.tree_forces(Y, 2.0, 0.5)
    assert_array_equal(again[0], force)
    assert again[1] == Z


def test_exact_and_all_neighbours_are_one():
    X, _ = groups(80)
    P, _ = dense_joint(EUCLIDEAN.squares(X), 26.5)
    squares, index = EUCLIDEAN.neighbours(X, None, 79)
    assert_allclose(joint(conditional(squares, 26.5)[0], index).toarray(), P, atol=1e-15)


def test_duplicates_and_equal_rows():
    X = np.repeat(groups(30)[0], 10, axis=0)
    for method in ("barnes_hut", "exact"):
        assert np.isfinite(TSNE(method=method, max_iter=300).fit_transform(X)).all()
    with pytest.warns(UserWarning, match="all rows are equal"):
        model = TSNE(perplexity=5).fit(np.ones((40, 3)))
    assert not model.embedding_.any()
    assert model.n_iter_ == 100  # nothing moves, with exaggeration or without


def test_distances_given():
    """Dense and sparse matrices of the same distances give the same map."""
    X, _ = groups(100)
    D = pairwise_distances(X)
    np.fill_diagonal(D, 0)
    model = TSNE(metric="precomputed", init="random", random_state=0, perplexity=10, max_iter=300)
    dense = model.fit_transform(D)
    full = csr_array((D.ravel(), np.tile(np.arange(100), 100), np.arange(101) * 100))
    assert_array_equal(model.fit_transform(full), dense)
    near = kneighbors_graph(X, 31, mode="distance")
    assert np.isfinite(model.fit_transform(near)).all()
    with pytest.raises(ValueError, match=r"32 neighbors per samples are required.*only 31"):
        model.fit(kneighbors_graph(X, 30, mode="distance"))


@pytest.mark.parametrize("metric", ["manhattan", "cosine", "chebyshev", "sqeuclidean"])
def test_other_metrics(metric):
    """The neighbours and squares of scikit-learn's distances."""
    X, _ = groups(60)
    D = pairwise_distances(X, metric=metric)
    squares, index = metric_of(metric, None).neighbours(X, None, 10)
    np.fill_diagonal(D, np.inf)
    assert_array_equal(index, np.argsort(D, axis=1, kind="stable")[:, :10])
    assert_allclose(squares, np.square(np.sort(D, axis=1)[:, :10]), rtol=1e-9)
    for method in ("barnes_hut", "exact"):
        model = TSNE(metric=metric, method=method, perplexity=5, max_iter=250).fit(X)
        assert np.isfinite(model.embedding_).all()


def test_sparse_rows():
    X, _ = groups(90)
    X[X < 0] = 0
    options = {"init": "random", "random_state": 0, "perplexity": 8, "max_iter": 250}
    dense, sparse = (TSNE(**options).fit(T) for T in (X, csr_array(X)))
    assert sparse.kl_divergence_ == pytest.approx(dense.kl_divergence_, rel=0.02)
    assert_allclose(sparse.transform(csr_array(X)), sparse.embedding_, atol=1e-9)


def test_new_rows_stand_among_their_neighbours():
    X, label = groups(400, apart=12.0)
    model = TSNE(max_iter=400).fit(X[:350])
    assert_array_equal(model.transform(X[:350]), model.embedding_)
    new = model.transform(X[350:])
    _, index = nearest(model.embedding_, new, 5)
    assert (label[:350][index] == label[350:, None]).mean() > 0.98
    p, index = conditional(np.array([[1.0, 2.0, 3.0]]), 2.0)[0], np.array([[0, 1, 2]])
    Y = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    at = core.placed(p, index, Y)[0]
    pull = (p[0] / (1 + np.square(at - Y).sum(axis=1)))[:, None] * (at - Y)
    assert abs(pull.sum(axis=0)).max() < 1e-6


def test_a_rate_that_is_far_too_large_ends_with_numbers():
    model = TSNE(perplexity=5, learning_rate=1e12, max_iter=250).fit(groups(100)[0])
    assert np.isfinite(model.embedding_).all()
    assert np.isfinite(model.kl_divergence_)


def test_what_it_says(capsys):
    model = TSNE(perplexity=5, max_iter=300, verbose=2).fit(groups(60)[0])
    out = capsys.readouterr().out
    assert f"[t-SNE] Iteration 300: error = {model.kl_divergence_:.7f}" in out
    card = str(model.card())
    assert f"{model.kl_divergence_:.6g}" in card
    assert "pairs" in card
    assert "another start" in str(model.summary())
    assert list(model.get_feature_names_out()) == ["tsne0", "tsne1"]


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"perplexity": 60}, r"perplexity \(60\) must be less than n_samples \(60\)"),
        ({"n_components": 4}, "inferior to 4"),
        ({"n_components": 6, "method": "exact"}, "n_features=5"),
        ({"max_iter": 249}, "max_iter"),
        ({"early_exaggeration": 0.5}, "early_exaggeration must be >= 1"),
        ({"angle": 1.5}, "angle must be between 0 and 1"),
        ({"learning_rate": 0}, "learning_rate must be > 0"),
        ({"learning_rate": "fast"}, "learning_rate"),
        ({"init": np.ones((3, 2))}, r"shape \(60, 2\)"),
        ({"init": np.full((60, 2), np.nan)}, "finite"),
        ({"metric": "precomputed"}, 'init="pca" cannot be used'),
        ({"metric": "mahalanobis"}, "Must provide either V or VI"),
        ({"metric": lambda a, b: np.nan, "init": "random"}, "not finite"),
    ],
)
def test_refusals(options, sentence):
    with pytest.raises(ValueError, match=sentence):
        TSNE(**{"perplexity": 5} | options).fit(groups(60)[0])
