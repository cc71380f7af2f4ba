"""Isomap: scikit-learn's map, paths equal to Dijkstra's bits, surfaces that come back flat."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.sparse.csgraph import shortest_path
from scipy.spatial.distance import pdist, squareform
from sklearn import manifold
from sklearn.datasets import make_swiss_roll
from sklearn.neighbors import KDTree, KNeighborsTransformer, NearestNeighbors, kneighbors_graph

from pellucid import Isomap
from pellucid.core.runtime.threads import limit_threads
from pellucid.decomposition.maps import geodesics
from pellucid.decomposition.maps.geodesics import geodesic_distances, undirected

rng = np.random.default_rng(0)
ROLL = make_swiss_roll(700, random_state=0)[0]
PARTS = "ignore:The number of connected components"


def graph_of(A):
    A = A.tocoo()
    i, j = A.row.astype(np.int64), A.col.astype(np.int64)
    return undirected(i, j, A.data.astype(np.float64), A.shape[0])


@pytest.mark.filterwarnings(PARTS)
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"n_neighbors": 12, "n_components": 3},
        {"n_neighbors": None, "radius": 4.0},
        {"metric": "manhattan", "eigen_solver": "dense"},
        {"metric": "chebyshev", "neighbors_algorithm": "brute", "path_method": "FW"},
        {"p": 3, "neighbors_algorithm": "kd_tree", "eigen_solver": "arpack"},
        {"metric": "cosine", "path_method": "D"},
        {"metric": "seuclidean", "metric_params": {"V": np.array([1.0, 2.0, 3.0])}},
    ],
)
def test_oracle(options):
    """scikit-learn's geodesic distances, map, signs, error and places of new rows."""
    mine, other = Isomap(**options).fit(ROLL), manifold.Isomap(**options).fit(ROLL)
    np.testing.assert_allclose(mine.dist_matrix_, other.dist_matrix_, rtol=1e-10, atol=1e-12)
    size = np.abs(other.embedding_).max()
    np.testing.assert_allclose(mine.embedding_, other.embedding_, atol=1e-8 * size)
    assert mine.reconstruction_error() == pytest.approx(other.reconstruction_error(), rel=1e-6)
    new = ROLL[:40] + 0.01
    np.testing.assert_allclose(mine.transform(new), other.transform(new), atol=1e-8 * size)
    eigenvalues = other.kernel_pca_.eigenvalues_
    np.testing.assert_allclose(mine.kernel_pca_.eigenvalues_, eigenvalues, rtol=1e-9)
    near = other.nbrs_.kneighbors(new, 3)[0]
    np.testing.assert_allclose(mine.nbrs_.kneighbors(new, 3)[0], near, rtol=1e-7, atol=1e-12)


def test_what_may_be_given():
    """Rows, a sparse table, distances, a graph of neighbours and a fitted search are one map."""
    X = ROLL[:300]
    map_ = Isomap(n_neighbors=8).fit_transform(X)
    D = squareform(pdist(X))
    graph = KNeighborsTransformer(n_neighbors=8).fit(X)
    given = Isomap(n_neighbors=8, metric="precomputed")
    np.testing.assert_allclose(given.fit_transform(D), map_, atol=1e-8)
    new = X[:20] + 0.01
    known = np.linalg.norm(new[:, None] - X, axis=2)
    placed = Isomap(n_neighbors=8).fit(X).transform(new)
    np.testing.assert_allclose(given.transform(known), placed, atol=1e-8)
    np.testing.assert_allclose(given.fit_transform(graph.transform(X)), map_, atol=1e-8)
    np.testing.assert_allclose(given.transform(graph.transform(new)), placed, atol=1e-8)
    assert not hasattr(given, "nbrs_")
    assert not hasattr(Isomap(), "kernel_pca_")
    np.testing.assert_allclose(Isomap(n_neighbors=8).fit_transform(csr_array(X)), map_, atol=1e-6)
    for held in (NearestNeighbors().fit(X), KDTree(X)):
        np.testing.assert_array_equal(Isomap(n_neighbors=8).fit_transform(held), map_)
    model = Isomap(n_neighbors=8).fit(X)
    np.testing.assert_allclose(
        model.kernel_pca_.transform(-0.5 * model.dist_matrix_**2), map_, atol=1e-9
    )


@pytest.mark.parametrize("k", [2, 6, 20])
def test_invariant_paths_have_the_bits_of_dijkstra(k, monkeypatch):
    """Sources together, alone, in threads, and scipy: the same numbers to the last bit."""
    X = np.vstack([ROLL[:200], ROLL[:9]])  # rows twice: edges of length 0
    A = kneighbors_graph(X, k, mode="distance")
    expected = shortest_path(A, method="D", directed=False)
    graph = graph_of(A)
    np.testing.assert_array_equal(geodesic_distances(graph), expected)
    with limit_threads(3):
        np.testing.assert_array_equal(geodesic_distances(graph), expected)
    n = len(X)
    D, heap, order = np.empty((n, n)), np.empty((2, n), np.int64), np.empty(n, np.int64)
    for source in range(n):
        geodesics.dijkstra(*graph, source, D[source], heap, order)
    np.testing.assert_array_equal(D, expected)


def test_invariant_sources_that_take_too_long_go_alone():
    """A path whose numbers are shuffled, and a star: together() may give up, the answer stays."""
    n = 400
    way = rng.permutation(n)
    chain = undirected(way[:-1], way[1:], rng.random(n - 1), n)
    A = csr_array((chain.length, chain.to, chain.first), shape=(n, n))
    np.testing.assert_array_equal(
        geodesic_distances(chain), shortest_path(A, method="D", directed=False)
    )
    d, dirty = np.full((n, geodesics.LANES), np.inf), np.ones(n, np.bool_)
    d[way[-1]] = 0.0
    assert not geodesics.together(*chain, way.copy(), d, dirty)  # against the order of the path


def test_invariant_units_and_order_of_rows():
    """A power of two scales the map to the bit; rows in another order give the same places."""
    map_ = Isomap(n_neighbors=7).fit_transform(ROLL)
    for unit in (2.0**30, 2.0**-30):
        np.testing.assert_allclose(Isomap(n_neighbors=7).fit_transform(ROLL * unit), map_ * unit)
    order = rng.permutation(len(ROLL))
    turned = Isomap(n_neighbors=7).fit_transform(ROLL[order])
    np.testing.assert_allclose(turned, map_[order], atol=1e-8)


def test_recovery_of_a_rolled_sheet():
    """A sheet rolled up in space comes back flat; rows of the fit stand where they stood."""
    turn, wide = rng.uniform(0, 4, size=900), rng.uniform(0, 2, size=900)
    sheet = np.c_[turn, wide]
    rolled = np.c_[np.cos(turn), np.sin(turn), wide]
    model = Isomap(n_neighbors=8).fit(rolled)
    assert np.corrcoef(pdist(model.embedding_), pdist(sheet))[0, 1] > 0.995
    np.testing.assert_allclose(model.transform(rolled), model.embedding_, atol=1e-8)
    flat = Isomap(n_neighbors=len(sheet) - 1).fit(sheet)
    assert flat.reconstruction_error() < 1e-9
    np.testing.assert_allclose(pdist(flat.embedding_), pdist(sheet), atol=1e-8)


@pytest.mark.filterwarnings("ignore::scipy.sparse.SparseEfficiencyWarning")  # theirs
def test_parts_are_joined_and_said():
    """Each two parts by their shortest edge, as scikit-learn does; card and warning agree."""
    X = np.vstack([rng.normal(c, 0.3, size=(25, 2)) for c in (0, 5, 20)])
    with pytest.warns(UserWarning, match="connected components of the neighbors graph is 3 > 1"):
        mine = Isomap(n_neighbors=4).fit(X)
    with pytest.warns(UserWarning, match="connected components"):
        other = manifold.Isomap(n_neighbors=4).fit(X)
    np.testing.assert_allclose(mine.dist_matrix_, other.dist_matrix_, rtol=1e-10)
    assert "3 parts" in str(mine.card())
    assert "parts, joined" not in str(Isomap(n_neighbors=30).fit(X).card())
    graph = kneighbors_graph(X, 4, mode="distance")
    with pytest.raises(RuntimeError, match="number of connected components"):
        Isomap(n_neighbors=4, metric="precomputed").fit(graph)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"radius": 1.0}, "Both n_neighbors and radius are provided"),
        ({"n_neighbors": None}, "n_neighbors or radius must be given"),
        ({"n_neighbors": 700}, "n_neighbors must be below n_samples = 700"),
        ({"p": 0.5}, "p must be >= 1"),
        ({"eigen_solver": "lobpcg"}, "eigen_solver"),
        ({"path_method": "A*"}, "path_method"),
        ({"neighbors_algorithm": "hash"}, "neighbors_algorithm"),
        ({"neighbors_algorithm": "kd_tree", "metric": "canberra"}, "Minkowski's form"),
        ({"metric": "nonsense"}, "metric"),
        ({"metric": "precomputed"}, "must be square"),
        ({"metric_params": 3}, "metric_params must be a dict"),
        ({"n_neighbors": None, "radius": -1.0}, "radius"),
    ],
)
def test_refusals(options, sentence):
    with pytest.raises(ValueError, match=sentence):
        Isomap(**options).fit(ROLL)


def test_a_new_row_without_neighbours_is_refused():
    model = Isomap(n_neighbors=None, radius=4.0).fit(ROLL)
    with pytest.raises(ValueError, match="row 1 has no neighbour in the fit within radius"):
        model.transform([ROLL[0], [900.0, 900.0, 900.0]])
    given = Isomap(n_neighbors=3, metric="precomputed")
    with pytest.raises(ValueError, match="3 neighbors are required"):
        given.fit(kneighbors_graph(ROLL, 2, mode="distance"))


def test_more_neighbours_than_rows_are_refused_after_the_fit_too():
    """Set by hand or by a forged file, the number would ask for any amount of memory."""
    model = Isomap(n_neighbors=5).fit(ROLL[:60])
    with pytest.raises(ValueError, match="n_neighbors <= n_samples_fit, but n_neighbors = 61"):
        model.nbrs_.kneighbors(ROLL[:2], 61)
    with pytest.raises(ValueError, match="NaN"):
        model.nbrs_.kneighbors([[np.nan, 0.0, 0.0]])
    model.set_params(n_neighbors=10**9)
    with pytest.raises(ValueError, match="n_neighbors must be below n_samples = 60"):
        model.transform(ROLL[:2])
    with pytest.raises(ValueError, match="n_neighbors must be below n_samples = 60"):
        model._check_state()
    model.set_params(n_neighbors=0)
    for forged in (model._check_state, lambda: model.transform(ROLL[:2])):
        with pytest.raises(ValueError, match="n_neighbors must be"):
            forged()
    for k in (0, 61):
        with pytest.raises(ValueError, match="neighbours must be 1 to 60"):
            model.nbrs_.search.nearest(ROLL[:2], k)
