"""Single and Ward linkage from rows sorted in space: SciPy's trees, any threads, little memory."""

import tracemalloc

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.cluster.hierarchy import linkage as scipy_linkage

from pellucid import AgglomerativeClustering
from pellucid.cluster.hierarchy.kernels.rows import spanning_tree
from pellucid.cluster.hierarchy.kernels.tiles import box_bounds
from pellucid.cluster.hierarchy.linkage import MANY, blank
from pellucid.cluster.hierarchy.near_merges import near_spanning_tree, tiles_of, ward_tree
from pellucid.core.runtime.threads import limit_threads


def groups(n, p, seed=0, apart=2.0):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, p)) + apart * rng.integers(0, 3, (n, 1))


def near_tree(X):
    ends, heights = blank(len(X))
    assert near_spanning_tree(X, ends, heights)
    return ends, heights


def prim(X):
    ends, heights = blank(len(X))
    spanning_tree(np.array(X.T, order="C"), 2, 2.0, ends, heights)
    return ends, heights


def sorted_edges(tree):
    ends, heights = tree
    ends = np.sort(ends, axis=1)
    order = np.lexsort((*ends.T, heights))
    return ends[order], heights[order]


def test_bounds_lie_below_all_distances_of_a_tile():
    X = groups(500, 3)
    T = tiles_of(X)
    assert_array_equal(np.sort(T.order), np.arange(500))
    assert_array_equal(T.columns, X[T.order].T)
    bounds = np.empty(len(T.first) - 1)
    for q in X[:20]:
        box_bounds(q, T.low, T.high, bounds)
        D = ((T.columns.T - q) ** 2).sum(axis=1)
        nearest = np.minimum.reduceat(D, T.first[:-1])
        assert (bounds <= nearest * (1 + 1e-12)).all()
        assert bounds.max() > 0


@pytest.mark.parametrize(("n", "p", "apart"), [(2_500, 2, 4.0), (2_500, 10, 2.0), (300, 1, 0.0)])
def test_ward_is_scipys_tree(n, p, apart):
    """2,500 rows: the centres are sorted anew several times on the way."""
    X = groups(n, p, apart=apart)
    Z = scipy_linkage(X, "ward")
    model = AgglomerativeClustering(3).fit(X)
    assert_allclose(model.distances_, Z[:, 2], rtol=1e-9)
    assert_array_equal(model.linkage_matrix_[:, [0, 1, 3]], Z[:, [0, 1, 3]])


@pytest.mark.parametrize(("n", "p"), [(3_000, 1), (3_000, 2), (3_000, 6), (65, 3), (2, 2)])
def test_the_spanning_tree_is_prims(n, p):
    X = groups(n, p)
    ends, heights = sorted_edges(near_tree(X))
    expected_ends, expected = sorted_edges(prim(X))
    assert_allclose(heights, expected, rtol=1e-12)
    assert_array_equal(ends, expected_ends)


def test_equal_lengths_and_copies():
    """A lattice with every row twice: lengths 0 and 1, a tree whatever is chosen; Ward's too."""
    X = np.repeat(np.random.default_rng(0).integers(0, 12, (1_000, 3)).astype(float), 2, axis=0)
    ends, heights = near_tree(X)
    assert_array_equal(np.sort(heights), np.sort(prim(X)[1]))
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    graph = coo_array((np.ones(len(ends)), ends.T), shape=(len(X), len(X)))
    assert connected_components(graph, directed=False)[0] == 1
    assert (ends[:, 0] < ends[:, 1]).all()
    assert_array_equal(np.diff(np.sort(blank_free_ward(X)[1])) >= 0, True)


def blank_free_ward(X):
    ends, heights = blank(len(X))
    ward_tree(X, ends, heights)
    assert np.isfinite(heights).all()
    return ends, heights


def test_many_rows_of_single_linkage_are_scipys():
    X = groups(MANY + 100, 3)
    model = AgglomerativeClustering(3, linkage="single").fit(X)
    Z = scipy_linkage(X, "single")
    assert_allclose(model.distances_, Z[:, 2], rtol=1e-10)
    assert_array_equal(model.children_, Z[:, :2])


def test_any_number_of_threads_gives_the_same_tree():
    X = groups(4_000, 4)
    found = []
    for threads in (1, 2, 3):
        with limit_threads(threads):
            found.append(near_tree(X))
    for ends, heights in found[1:]:
        assert_array_equal(ends, found[0][0])
        assert_array_equal(heights, found[0][1])


def test_many_columns_leave_it_to_prim():
    X = np.random.default_rng(0).standard_normal((2_000, 60))
    assert not near_spanning_tree(X, *blank(2_000))


@pytest.mark.parametrize("linkage", ["single", "ward"])
def test_memory_does_not_grow_with_the_square_of_the_rows(linkage):
    X = groups(12_000, 2)
    model = AgglomerativeClustering(3, linkage=linkage)
    model.fit(X[:100])
    tracemalloc.start()
    model.fit(X)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 20e6  # all pairs: 1.15 GB


def test_distances_that_overflow_are_said():
    X = groups(MANY, 2) * 1e200
    for linkage in ("single", "ward"):
        with pytest.raises(ValueError, match="overflow"):
            AgglomerativeClustering(3, linkage=linkage).fit(X)
