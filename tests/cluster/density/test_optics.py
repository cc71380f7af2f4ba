"""OPTICS against scikit-learn: the visits, both readings of them, every way to the distances."""

from tempfile import TemporaryDirectory

import numpy as np
import pytest
import sklearn.cluster as peers
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist
from sklearn.exceptions import DataConversionWarning
from sklearn.metrics import adjusted_rand_score
from sklearn.neighbors import radius_neighbors_graph

from pellucid import OPTICS
from pellucid.cluster import (
    cluster_optics_dbscan,
    cluster_optics_xi,
    compute_optics_graph,
    estimate_bandwidth,
)
from pellucid.cluster.density import optics_graph, reachability_tree
from pellucid.cluster.density.optics_kernels import rounded
from pellucid.core.functions.metrics import resolve
from pellucid.core.runtime.threads import limit_threads

SETTINGS = [
    {},
    {"min_samples": 10, "xi": 0.1},
    {"max_eps": 1.5},
    {"max_eps": 0.5, "cluster_method": "dbscan", "eps": 0.4},
    {"metric": "manhattan"},
    {"metric": "chebyshev", "max_eps": 2.0},
    {"p": 1.5, "max_eps": 3.0},
    {"min_samples": 0.5, "min_cluster_size": 0.1},
    {"predecessor_correction": False, "xi": 0.01},
    {"metric": "canberra", "max_eps": 0.3},
    {"metric": lambda a, b: abs(a - b).sum()},
]


def table(seed=0):
    g = np.random.default_rng(seed)
    return np.vstack([g.normal(size=(60, 2)), g.normal(6, 0.3, (60, 2)), g.uniform(-9, 9, (40, 2))])


def assert_same(ours, theirs):
    for name in ("ordering_", "predecessor_", "labels_"):
        assert_array_equal(getattr(ours, name), getattr(theirs, name), err_msg=name)
    for name in ("reachability_", "core_distances_"):
        assert_allclose(getattr(ours, name), getattr(theirs, name), rtol=1e-12, err_msg=name)
    found = getattr(theirs, "cluster_hierarchy_", np.empty((0, 2)))
    assert_array_equal(getattr(ours, "cluster_hierarchy_", found), found.reshape(-1, 2))


@pytest.mark.parametrize("settings", SETTINGS, ids=lambda s: ",".join(s))
@pytest.mark.parametrize("seed", range(3))
def test_oracle(seed, settings):
    X = table(seed)
    assert_same(OPTICS(**settings).fit(X), peers.OPTICS(**settings).fit(X))


@pytest.mark.parametrize("settings", [{}, {"max_eps": 1.5}, {"metric": "manhattan"}], ids=str)
@pytest.mark.filterwarnings("ignore:divide by zero:RuntimeWarning")  # scikit-learn's, at copies
def test_ties_go_to_the_lower_row(settings):
    """Whole numbers, where most distances are equal."""
    for seed in range(4):
        X = np.round(table(seed))
        assert_same(OPTICS(**settings).fit(X), peers.OPTICS(**settings).fit(X))


@pytest.mark.parametrize("max_eps", [np.inf, 1.5, 0.4])
def test_given_distances(max_eps):
    X = table(1)
    D = cdist(X, X)
    for M in (D, csr_array(radius_neighbors_graph(X, 6.0, mode="distance"))):
        eps = min(max_eps, 6.0)
        settings = {"metric": "precomputed", "max_eps": eps, "min_samples": 4}
        if not isinstance(M, np.ndarray) and np.diff(M.indptr).min() < 4:
            M = csr_array(np.where(D <= 12.0, D, 0.0))
        before = M.copy()
        assert_same(OPTICS(**settings).fit(M), peers.OPTICS(**settings).fit(M))
        assert abs(M - before).max() == 0
    rows = OPTICS(max_eps=max_eps).fit(X)
    assert_same(OPTICS(metric="precomputed", max_eps=max_eps).fit(D), rows)
    assert_same(OPTICS(max_eps=max_eps, metric="euclidean").fit(csr_array(X)), rows)


def test_lists_and_sweep_are_the_same(monkeypatch):
    """With a radius, lists by the tree and the sweep give the same bits."""
    X = np.vstack([table(2), np.repeat(table(2)[:3], 4, axis=0)])
    metric = resolve("euclidean", X)
    by_lists = optics_graph.graph_of_rows(X, metric, 5, 1.0)
    monkeypatch.setattr(optics_graph, "PAIRS", 0)
    by_sweep = optics_graph.graph_of_rows(X, metric, 5, 1.0)
    for a, b in zip(by_lists, by_sweep, strict=True):
        assert_array_equal(a, b)


def test_selected_core_distances(monkeypatch):
    X = table(3)
    few = reachability_tree.core_distances(X, 2, 2.0, 7)
    assert_array_equal(few, reachability_tree.selected_distances(X, 2, 2.0, 7))
    assert_allclose(np.sqrt(few), np.sort(cdist(X, X), axis=1)[:, 6])
    assert_allclose(estimate_bandwidth(X), peers.estimate_bandwidth(X))


def test_the_least_reachability_comes_next():
    """The definition, visit by visit."""
    X = table(4)
    order, core, reach, source = compute_optics_graph(X, min_samples=6)
    D = cdist(X, X)
    assert_allclose(core, np.sort(D, axis=1)[:, 5])
    for i in range(1, len(X)):
        seen, left = order[:i], order[i:]
        all_reach = np.maximum(D[np.ix_(seen, left)], core[seen][:, None]).min(axis=0)
        assert_allclose(reach[order[i]], all_reach.min())
        assert_allclose(max(D[order[i], source[order[i]]], core[source[order[i]]]), all_reach.min())


def test_rounding_is_relative():
    values = np.random.default_rng(0).lognormal(0, 50, 1000)
    short = np.array([rounded(v) for v in values])
    assert_array_equal(optics_graph.rounded(values), short)
    assert_array_equal(optics_graph.rounded(values * 2.0**30), short * 2.0**30)
    assert_allclose(short, values, rtol=2.0**-49)
    assert_array_equal(optics_graph.rounded(np.array([np.inf, 1e308, 0.0])), [np.inf, 1e308, 0.0])


@pytest.mark.parametrize("unit", [2.0**30, 2.0**-40])
def test_units_do_not_matter(unit):
    X = table(5)
    for eps in (np.inf, 1.0):
        a, b = OPTICS(max_eps=eps).fit(X), OPTICS(max_eps=eps * unit).fit(X * unit)
        assert_array_equal(a.ordering_, b.ordering_)
        assert_array_equal(a.labels_, b.labels_)
        assert_array_equal(a.reachability_ * unit, b.reachability_)


def test_threads_do_not_matter():
    X = np.random.default_rng(0).normal(size=(9000, 2))
    with limit_threads(1):
        one = OPTICS(max_eps=0.1).fit(X)
    with limit_threads(2):
        assert_same(OPTICS(max_eps=0.1).fit(X), one)


def test_recovers_groups_of_different_density():
    g = np.random.default_rng(0)
    X = np.vstack([g.normal(0, 0.1, (80, 2)), g.normal(5, 1.0, (80, 2))])
    labels = OPTICS(min_samples=15, xi=0.2).fit(X).labels_
    known = labels >= 0
    assert known.mean() > 0.7
    assert adjusted_rand_score(np.repeat([0, 1], 80)[known], labels[known]) == 1.0


def test_nothing_in_reach():
    X = table(0)
    with pytest.warns(UserWarning, match="All reachability values are inf"):
        model = OPTICS(max_eps=1e-9).fit(X)
    assert (model.labels_ == -1).all()
    assert_array_equal(model.ordering_, np.arange(len(X)))
    assert model.cluster_hierarchy_.shape == (0, 2)
    assert "no cluster was found" in str(model.card())


def test_copies_of_one_row():
    model = OPTICS(min_samples=3).fit(np.ones((6, 2)))
    assert_array_equal(model.core_distances_, np.zeros(6))
    assert_array_equal(model.reachability_, [np.inf, 0, 0, 0, 0, 0])
    assert_array_equal(model.ordering_, np.arange(6))


def test_another_method_forgets_the_hierarchy():
    X = table(0)
    model = OPTICS().fit(X)
    assert hasattr(model, "cluster_hierarchy_")
    assert not hasattr(
        model.set_params(cluster_method="dbscan", eps=1.0).fit(X), "cluster_hierarchy_"
    )


def test_memory_keeps_the_visits():
    X = table(0)
    with TemporaryDirectory() as folder:
        first = OPTICS(memory=folder).fit(X)
        again = OPTICS(memory=folder, xi=0.2).fit(X)
    assert_array_equal(first.ordering_, again.ordering_)
    assert_array_equal(again.labels_, OPTICS(xi=0.2).fit(X).labels_)


def test_functions_are_those_of_the_class():
    X = table(0)
    model, graph = OPTICS(min_samples=7).fit(X), compute_optics_graph(X, min_samples=7)
    assert_array_equal(graph.ordering, model.ordering_)
    visits = {"reachability": graph.reachability, "ordering": graph.ordering}
    found = cluster_optics_xi(**visits, predecessor=graph.predecessor, min_samples=7)
    assert_array_equal(found.labels, model.labels_)
    theirs = peers.cluster_optics_xi(**visits, predecessor=graph.predecessor, min_samples=7)
    assert_array_equal(found.clusters, theirs[1])
    cut = {**visits, "core_distances": graph.core_distances, "eps": 0.7}
    assert_array_equal(cluster_optics_dbscan(**cut), peers.cluster_optics_dbscan(**cut))


def test_truth_values():
    X = np.random.default_rng(0).integers(0, 2, (30, 6))
    with pytest.warns(DataConversionWarning, match="converted to boolean"):
        ours = OPTICS(metric="jaccard").fit(X)
    assert_same(ours, peers.OPTICS(metric="jaccard").fit(X.astype(bool)))


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"min_samples": 1}, "whole number of at least 2"),
        ({"min_samples": 1.5}, "min_samples must be"),
        ({"min_samples": True}, "min_samples must be"),
        ({"min_samples": 999}, "no greater than the number of samples"),
        ({"min_cluster_size": 999}, "no greater than the number of samples"),
        ({"xi": 1.1}, "between 0 and 1"),
        ({"p": 0.5}, "p must be at least 1"),
        ({"max_eps": -1}, "max_eps must be >= 0"),
        ({"cluster_method": "ward"}, "cluster_method"),
        ({"max_eps": 0.15, "eps": 0.3, "cluster_method": "dbscan"}, "smaller than 0.15. Got 0.3"),
        ({"metric": "precomputed"}, "square"),
        ({"predecessor_correction": 1}, "True or False"),
    ],
)
def test_refusals(settings, words):
    with pytest.raises(ValueError, match=words):
        OPTICS(**settings).fit(table(0))


def test_refusals_of_the_functions():
    three = np.arange(3.0)
    with pytest.raises(ValueError, match="each of the 3 rows once"):
        cluster_optics_dbscan(reachability=three, core_distances=three, ordering=[0, 1, 1], eps=1)
    with pytest.raises(ValueError, match="from 0 to 2"):
        cluster_optics_xi(
            reachability=three, predecessor=[0, 7, 1], ordering=[0, 1, 2], min_samples=2
        )
    with pytest.raises(ValueError, match="must hold 3 numbers"):
        cluster_optics_dbscan(reachability=[1.0], core_distances=three, ordering=[0, 1, 2], eps=1)
    with pytest.raises(ValueError, match="neighbors are required"):
        OPTICS(metric="precomputed").fit(csr_array(np.eye(9)))
    with pytest.raises(ValueError, match="Negative"):
        OPTICS(metric="precomputed").fit(-np.ones((9, 9)))
