"""Trees of merges: SciPy's heights for every linkage, scikit-learn on graphs, the examples."""

import numpy as np
import pytest
import sklearn.cluster
from numpy.testing import assert_allclose, assert_array_equal
from scipy.cluster.hierarchy import cophenet, fcluster
from scipy.cluster.hierarchy import linkage as scipy_linkage
from scipy.spatial.distance import pdist, squareform
from sklearn.metrics import adjusted_rand_score
from sklearn.neighbors import kneighbors_graph

from pellucid import AgglomerativeClustering
from pellucid.cluster import linkage_distance
from pellucid.cluster.hierarchy.linkage import LINKAGES, tree_of_distances, tree_of_rows
from pellucid.core.functions.metrics import resolve

CENTRES = ("centroid", "median", "ward")
every_linkage = pytest.mark.parametrize("linkage", LINKAGES)


def rows(n, p=3, seed=0):
    return np.random.default_rng(seed).normal(size=(n, p))


def fitted(X, linkage, k=2, **params):
    return AgglomerativeClustering(k, linkage=linkage, **params).fit(X)


@every_linkage
@pytest.mark.parametrize(("n", "p"), [(2, 1), (7, 2), (130, 5), (700, 3)])
@pytest.mark.filterwarnings("ignore:.*inversions")
def test_the_tree_is_scipys(linkage, n, p):
    """700 rows: several tiles, and merged slots are dropped on the way."""
    X = rows(n, p)
    Z = scipy_linkage(X, linkage)
    model = fitted(X, linkage)
    assert_allclose(model.distances_, Z[:, 2], rtol=1e-10)
    assert_array_equal(model.linkage_matrix_[:, [0, 1, 3]], Z[:, [0, 1, 3]])
    assert_array_equal(model.children_, Z[:, :2])


@pytest.mark.parametrize("linkage", ["single", "complete", "average", "weighted"])
def test_ties_are_broken_as_in_scipy(linkage):
    X = np.random.default_rng(1).integers(0, 4, size=(300, 3)).astype(float)
    assert_array_equal(fitted(X, linkage).children_, scipy_linkage(X, linkage)[:, :2])


@pytest.mark.parametrize("linkage", CENTRES)
@pytest.mark.filterwarnings("ignore:.*inversions")
def test_ties_by_definition(linkage):
    """On a grid every merge must be one of the least, by the definition of the linkage."""
    X = np.array([(i, j) for i in range(4) for j in range(4)], dtype=float)
    tree = tree_of_rows(X, linkage, resolve("euclidean", X))
    centre, size = dict(enumerate(X)), dict.fromkeys(range(len(X)), 1)

    def gap(a, b):
        d = np.linalg.norm(centre[a] - centre[b])
        return d * np.sqrt(2 * size[a] * size[b] / (size[a] + size[b])) if linkage == "ward" else d

    for k, (a, b) in enumerate(tree.children.tolist(), len(X)):
        nodes = sorted(centre)
        low = min(gap(i, j) for i in nodes for j in nodes if i < j)
        assert_allclose(gap(a, b), low, rtol=1e-12)
        assert_allclose(tree.heights[k - len(X)], low, rtol=1e-12)
        share = 0.5 if linkage == "median" else size[a] / (size[a] + size[b])
        centre[k], size[k] = share * centre[a] + (1 - share) * centre[b], size[a] + size[b]
        del centre[a], centre[b]


@pytest.mark.parametrize("metric", ["manhattan", "chebyshev", "cosine", "canberra", "correlation"])
@pytest.mark.parametrize("linkage", ["single", "complete", "average", "weighted"])
def test_other_metrics(metric, linkage):
    X = rows(60, 4)
    D = pdist(X, "cityblock" if metric == "manhattan" else metric)
    Z = scipy_linkage(D, linkage)
    assert_allclose(fitted(X, linkage, metric=metric).distances_, Z[:, 2], rtol=1e-9)
    given = squareform(D)
    before = given.copy()
    assert_allclose(fitted(given, linkage, metric="precomputed").distances_, Z[:, 2], rtol=1e-12)
    assert_array_equal(given, before)


def test_functions_of_two_rows_and_of_the_table():
    X = rows(40)
    Z = scipy_linkage(X, "average", "cityblock")

    def of_two(a, b):
        return np.abs(a - b).sum()

    def of_all(X):
        return squareform(pdist(X, "cityblock"))

    for metric in (of_two, of_all):
        model = fitted(X, "average", metric=metric)
        assert_allclose(model.distances_, Z[:, 2], rtol=1e-12)


@pytest.mark.parametrize("linkage", ["ward", "complete", "average", "single"])
@pytest.mark.filterwarnings("ignore:the number of connected components")
@pytest.mark.parametrize("k", [4, 12])
def test_graphs_as_in_scikit_learn(linkage, k):
    """4 neighbours leave several parts, which are joined by their nearest rows."""
    X = np.concatenate([rows(60, 2), rows(60, 2, 1) + 8])
    graph = kneighbors_graph(X, k, include_self=False)
    theirs = sklearn.cluster.AgglomerativeClustering(
        5, linkage=linkage, connectivity=graph, compute_distances=True, compute_full_tree=True
    ).fit(X)
    ours = fitted(X, linkage, 5, connectivity=graph)
    assert_allclose(ours.distances_, theirs.distances_, rtol=1e-9)
    assert adjusted_rand_score(ours.labels_, theirs.labels_) == 1.0
    assert ours.n_connected_components_ == theirs.n_connected_components_


def test_graphs_of_given_distances_and_of_a_function():
    X = rows(50, 2)
    D = squareform(pdist(X))
    graph = kneighbors_graph(X, 8, include_self=False)
    plain = fitted(X, "average", connectivity=graph)
    given = fitted(D, "average", metric="precomputed", connectivity=graph.toarray())
    asked = fitted(X, "average", connectivity=lambda X: graph)
    assert_allclose(given.distances_, plain.distances_, rtol=1e-12)
    assert_array_equal(asked.children_, plain.children_)


def test_a_graph_of_all_pairs_is_no_restriction():
    X = rows(40)
    everything = np.ones((40, 40))
    for linkage in ("ward", "complete", "average", "single"):
        free = fitted(X, linkage)
        assert_allclose(fitted(X, linkage, connectivity=everything).distances_, free.distances_)


@every_linkage
@pytest.mark.filterwarnings("ignore:.*inversions")
def test_cuts_are_scipys(linkage):
    X = rows(80)
    model = fitted(X, linkage, 4)
    for k in (1, 4, 17, 80):
        labels = model.cut(k)
        first = [int(np.argmax(labels == c)) for c in range(k)]
        assert first == sorted(first)  # numbered by first row
        if linkage not in ("centroid", "median"):
            theirs = fcluster(scipy_linkage(X, linkage), k, "maxclust")
            assert adjusted_rand_score(labels, theirs) == 1.0
    assert_array_equal(model.labels_, model.cut(4))


def test_threshold_as_in_scikit_learn():
    X = rows(80)
    for height in (0.0, 1.0, 2.5, 1e9):
        options = {"distance_threshold": height, "linkage": "average"}
        theirs = sklearn.cluster.AgglomerativeClustering(None, **options).fit(X)
        ours = AgglomerativeClustering(None, **options).fit(X)
        assert ours.n_clusters_ == theirs.n_clusters_
        assert adjusted_rand_score(ours.labels_, theirs.labels_) == 1.0
        assert_array_equal(ours.cut(height=height), ours.labels_)


def test_rows_in_another_order_give_the_same_heights():
    X = rows(200)
    turned = np.random.default_rng(3).permutation(200)
    for linkage in ("single", "complete", "average", "weighted", "ward"):
        a, b = fitted(X, linkage, 6), fitted(X[turned], linkage, 6)
        assert_allclose(b.distances_, a.distances_, rtol=1e-9)
        assert adjusted_rand_score(a.labels_[turned], b.labels_) == 1.0


def test_cophenetic_correlation_is_scipys():
    X = rows(60)
    model = fitted(X, "average")
    expected = cophenet(scipy_linkage(X, "average"), pdist(X))[0]
    assert model.cophenetic_correlation_ == pytest.approx(expected, rel=1e-12)
    assert "cophenetic correlation" in model.card().numbers
    many = fitted(rows(700), "average")
    assert "500 of the rows" in str(many.card())


def test_example_7_two_groups():
    A, B = [[0, 0], [1, 0]], [[4, 0], [6, 0]]
    expected = {"single": 3, "complete": 6, "average": 4.5, "centroid": 4.5, "ward": 6.363961}
    for linkage, value in expected.items():
        assert linkage_distance(A, B, linkage) == pytest.approx(value, abs=1e-6)
    assert linkage_distance(A, B, "complete", "chebyshev") == 6
    with pytest.raises(ValueError, match="linkage must be one of"):
        linkage_distance(A, B, "median")
    with pytest.raises(ValueError, match="euclidean"):
        linkage_distance(A, B, "ward", "manhattan")


def test_example_7_heights():
    X = np.array([0, 1, 5, 6.5, 20])[:, None]
    expected = {
        "single": [1, 1.5, 4, 13.5],
        "complete": [1, 1.5, 6.5, 20],
        "average": [1, 1.5, 5.25, 16.875],
        "centroid": [1, 1.5, 5.25, 16.875],
        "ward": [1, 1.5, 7.424621, 21.345374],
    }
    for linkage, heights in expected.items():
        assert_allclose(fitted(X, linkage).distances_, heights, atol=5e-7)


def test_example_7_inversion():
    X = [[0, 0], [1, 0], [0.5, 0.8660254]]
    with pytest.warns(UserWarning, match="inversions"):
        model = fitted(X, "centroid")
    assert_allclose(model.distances_, [1, 0.866025], atol=1e-6)
    assert_array_equal(model.labels_, [0, 1, 0])  # row 2 is a rounding nearer than 1
    assert "inversion" in str(model.card())


def test_recovers_chains_and_blobs():
    angle = np.linspace(0, 2 * np.pi, 100, endpoint=False)
    ring = np.column_stack([np.cos(angle), np.sin(angle)])
    rings = np.concatenate([ring, 4 * ring])
    truth = np.repeat([0, 1], 100)
    assert_array_equal(fitted(rings, "single").labels_, truth)
    blobs = np.concatenate([rows(50, 2), rows(50, 2, 1) + 12])
    for linkage in ("ward", "complete", "average"):
        assert_array_equal(fitted(blobs, linkage).labels_, np.repeat([0, 1], 50))


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"n_clusters": 9}, "at most the number of rows"),
        ({"n_clusters": None}, "Exactly one of"),
        ({"distance_threshold": 1.0}, "Exactly one of"),
        ({"metric": "manhattan"}, "euclidean"),
        ({"linkage": "centroid", "metric": "precomputed"}, "euclidean"),
        ({"linkage": "median", "connectivity": np.ones((5, 5))}, "connectivity needs"),
        ({"connectivity": np.ones((3, 3))}, "Wrong shape for connectivity"),
        ({"linkage": "single", "metric": "precomputed"}, "square"),
        ({"linkage": "average", "metric": "cosine"}, "row 0"),
    ],
)
def test_refusals(params, message):
    X = np.arange(10.0).reshape(5, 2)
    X[0] = 0
    with pytest.raises(ValueError, match=message):
        AgglomerativeClustering(**params).fit(X)


def test_odd_matrices_are_refused():
    for D, message in (([[0, 1], [2, 0]], "symmetric"), ([[0, -1], [-1, 0]], "Negative")):
        with pytest.raises(ValueError, match=message):
            AgglomerativeClustering(linkage="single", metric="precomputed").fit(np.array(D, float))
    with pytest.raises(ValueError, match="overflow"):
        AgglomerativeClustering().fit([[1e200], [-1e200], [0]])
    model = fitted(rows(5), "ward")
    with pytest.raises(ValueError, match="cut needs"):
        model.cut()
    with pytest.raises(ValueError, match="at most"):
        model.cut(6)


def test_equal_rows_merge_at_zero():
    X = np.ones((6, 2))
    for linkage in ("single", "complete", "average", "weighted", "ward", "centroid", "median"):
        model = fitted(X, linkage)
        assert_array_equal(model.distances_, 0)
        assert np.isnan(model.cophenetic_correlation_)
        assert len(set(model.labels_)) == 2


def test_the_matrix_is_only_used_up_where_it_is_ours():
    D = squareform(pdist(rows(30)))
    before = D.copy()
    tree_of_distances(D, "complete")
    assert_array_equal(D, before)
