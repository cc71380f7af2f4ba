"""Every way of searching gives the same neighbours; the tree and the filter lose none."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial import cKDTree
from scipy.spatial.distance import cdist

from pellucid.compiled.distances.brute import direct_nearest, filtered_nearest
from pellucid.compiled.distances.search import Index, build_tree, pack_rows, query_scores
from pellucid.core.runtime.signatures import compile_modules
from pellucid.core.runtime.threads import limit_threads
from pellucid.neighbors import KDTree, NearestNeighbors
from pellucid.neighbors.search.metrics import resolve


def ranked(D, k):
    """Brute force: by distance, then by index."""
    order = np.argsort(D, axis=1, kind="stable")[:, :k]
    return np.take_along_axis(D, order, axis=1), order


def table(n, d, seed=0, digits=1):
    """Rounded values: many ties, and some repeated rows."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)).round(digits)
    X[n // 2 : n // 2 + 5] = X[0]
    return X, rng.normal(size=(40, d)).round(digits)


@pytest.mark.parametrize("p", [0.5, 1, 2, 3, np.inf])
@pytest.mark.parametrize(("n", "d", "k"), [(30, 2, 4), (1500, 3, 7), (1500, 12, 5), (900, 2, 600)])
def test_brute_and_tree_agree_bit_by_bit_and_with_scipy(n, d, k, p):
    X, Q = table(n, d)
    metric = resolve("minkowski", X, p)
    brute = Index(X, metric, "brute").nearest(Q, k)
    tree = Index(X, metric, "kd_tree").nearest(Q, k)
    for a, b in zip(brute, tree, strict=True):
        assert_array_equal(a, b)
    D = cdist(Q, X, "chebyshev") if np.isinf(p) else cdist(Q, X, "minkowski", p=p)
    assert_allclose(brute[0], ranked(D, k)[0], rtol=1e-12)


def test_ties_go_to_the_lower_index_everywhere():
    X = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0]] * 60)
    for method in ("brute", "kd_tree"):
        found = Index(X, resolve("euclidean", X), method).nearest(np.zeros((1, 2)), 7)
        assert_array_equal(found[1][0], np.arange(7))


@pytest.mark.parametrize("method", ["brute", "kd_tree"])
def test_any_number_of_threads_and_queries_together_or_alone(method):
    X, Q = table(5000, 8)
    Q = np.concatenate([Q, X[:300]])
    index = Index(X, resolve("euclidean", X), method)
    found = []
    for n in (1, 2, 3):
        with limit_threads(n):
            found.append(index.nearest(Q, 6))
    for other in found[1:]:
        assert_array_equal(other[0], found[0][0])
        assert_array_equal(other[1], found[0][1])
    alone = [index.nearest(Q[i : i + 1], 6) for i in (0, 50, 200)]
    for i, (distance, rows) in zip((0, 50, 200), alone, strict=True):
        assert_array_equal(rows[0], found[0][1][i])
        assert_array_equal(distance[0], found[0][0][i])


def filter_only(X, Q, k):
    """What the single-precision filter says by itself."""
    packed = pack_rows(X)
    S, floor = query_scores(packed, Q)
    out, index = np.empty((len(Q), k)), np.zeros((len(Q), k), np.int64)
    failed = np.zeros(len(Q), bool)
    filtered_nearest(
        S, packed.tiles, X, Q, floor, packed.unit, 6, 0, len(Q), out, index, failed
    )  # fmt: skip
    return out, index, failed


@pytest.mark.parametrize("shift", [0.0, 1e3, 1e8])
@pytest.mark.parametrize("spread", [1e-12, 1.0, 1e12])
def test_the_filter_certifies_only_what_is_right(shift, spread):
    rng = np.random.default_rng(1)
    X = (rng.normal(size=(3000, 20)) + shift) * spread
    Q = (rng.normal(size=(150, 20)) + shift) * spread
    out, index, failed = filter_only(X, Q, 5)
    truth, rows = np.empty((150, 5)), np.zeros((150, 5), np.int64)
    direct_nearest(np.ascontiguousarray(X.T), Q, np.arange(150), 2, 2.0, truth, rows)
    assert_array_equal(index[~failed], rows[~failed])
    assert_array_equal(out[~failed], truth[~failed])
    if shift == 0:
        assert failed.mean() < 0.05  # and it settles nearly all of them


def test_the_filter_gives_up_where_single_precision_cannot_tell():
    rng = np.random.default_rng(2)
    X = 1.0 + 1e-9 * rng.normal(size=(2000, 6))
    X[0] = 100.0  # a far row makes all others look alike in single precision
    Q = 1.0 + 1e-9 * rng.normal(size=(50, 6))
    assert filter_only(X, Q, 3)[2].all()
    found = Index(X, resolve("euclidean", X), "brute").nearest(Q, 3)
    assert_array_equal(found[1], Index(X, resolve("euclidean", X), "kd_tree").nearest(Q, 3)[1])


def test_far_queries_and_overflow():
    X, _ = table(2000, 5)
    far = np.full((5, 5), 1e200)
    for Q in (far, -far, np.full((5, 5), 1e30)):
        brute = Index(X, resolve("euclidean", X), "brute").nearest(Q, 3)
        tree = Index(X, resolve("euclidean", X), "kd_tree").nearest(Q, 3)
        assert_array_equal(brute[1], tree[1])


def test_duplicates_and_constant_columns_end():
    X = np.zeros((5000, 4))
    X[:, 2] = 7.0
    tree = KDTree(X)
    distance, index = tree.query(X[:2], 3)
    assert_array_equal(index, [[0, 1, 2]] * 2)
    assert (distance == 0).all()


def test_tree_is_the_same_for_any_number_of_threads():
    X = np.random.default_rng(0).normal(size=(150_000, 3))
    trees = []
    for n in (1, 2):
        with limit_threads(n):
            trees.append(build_tree(X))
    with limit_threads(2):
        trees.append(build_tree(X))
    for field in ("tiles", "slots", "axis", "cut"):
        # more threads cut off more branches as tasks, which changes no node
        assert_array_equal(getattr(trees[1], field), getattr(trees[2], field))
        assert_array_equal(getattr(trees[0], field), getattr(trees[1], field))


@pytest.mark.parametrize("p", [1, 2, np.inf, 3])
def test_radius_equals_scipy_and_brute(p):
    X, Q = table(700, 3)
    tree = KDTree(X, p=p)
    distance, index = tree.query_radius(Q, 0.5)
    expected = cKDTree(X).query_ball_point(Q, 0.5 * (1 + 1e-12), p=p, return_sorted=True)
    D = cdist(Q, X, "chebyshev") if np.isinf(p) else cdist(Q, X, "minkowski", p=p)
    brute = Index(X, resolve("minkowski", X, p), "brute").within(Q, np.full(len(Q), 0.5))
    assert_array_equal(np.concatenate(list(index)), brute[2])
    assert_array_equal(np.concatenate(list(distance)), brute[1])
    for i in range(len(Q)):
        assert set(index[i]) <= set(expected[i])
        assert set(index[i]) >= set(np.flatnonzero(D[i] < 0.5 * (1 - 1e-12)))


def test_stats_and_refusals():
    tree = KDTree(np.arange(64.0)[:, None], leaf_size=4)
    assert tree.stats()[:4] == (64, 31, 16, 5)
    tree.query([[3.2]], 2)
    assert 1 <= tree.stats().leaves_visited <= 3
    with pytest.raises(ValueError, match="k must be at most 64"):
        tree.query([[1.0]], 65)
    with pytest.raises(ValueError, match="2 columns, the tree 1"):
        tree.query([[1.0, 2.0]])
    with pytest.raises(ValueError, match="Minkowski's form"):
        KDTree([[0.0]], metric="hamming")


def test_own_rows_are_left_out_also_among_equals():
    X = np.array([[0.0], [0.0], [0.0], [5.0]])
    distance, index = NearestNeighbors(n_neighbors=2).fit(X).kneighbors()
    assert_array_equal(index, [[1, 2], [0, 2], [0, 1], [0, 1]])
    assert_array_equal(distance[:3], 0.0)


def test_warm_runs():
    compile_modules([direct_nearest.py_func.__module__])
    assert direct_nearest.signatures


def test_leaving_the_tree_changes_no_answer():
    rng = np.random.default_rng(4)
    X, Q = rng.normal(size=(3000, 14)), rng.normal(size=(300, 14))
    adaptive = Index(X, resolve("euclidean", X), "kd_tree", adaptive=True)
    assert adaptive._tree_is_lost(Q, 5)
    tree = Index(X, resolve("euclidean", X), "kd_tree").nearest(Q, 5)
    for a, b in zip(adaptive.nearest(Q, 5), tree, strict=True):
        assert_array_equal(a, b)
    flat = X[:, :2] @ rng.normal(size=(2, 14))
    stays = Index(flat, resolve("euclidean", flat), "kd_tree", adaptive=True)
    assert not stays._tree_is_lost(flat[:300], 5)
