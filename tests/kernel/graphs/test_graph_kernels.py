"""Graph isomorphism, the Weisfeiler-Lehman test and its kernel."""

from collections import Counter

import networkx
import numpy as np
import pytest

from pellucid.kernel import WeisfeilerLehmanKernel, are_isomorphic, weisfeiler_lehman_test

PATH, STAR = networkx.path_graph(4), networkx.star_graph(3)
HEXAGON = networkx.cycle_graph(6)
TRIANGLES = networkx.disjoint_union(networkx.cycle_graph(3), networkx.cycle_graph(3))


def random_graphs(count, n=12, p=0.3, seed=0):
    return [networkx.gnp_random_graph(n, p, seed=seed + i) for i in range(count)]


def array(graph):
    return networkx.to_numpy_array(graph)


def shuffled(A, rng):
    order = rng.permutation(len(A))
    return A[np.ix_(order, order)], order


def test_example_23():
    assert weisfeiler_lehman_test(PATH, STAR) == (True, 1, "not isomorphic")
    K = WeisfeilerLehmanKernel(n_iter=1)([PATH, STAR])
    np.testing.assert_array_equal(K, [[24, 22], [22, 26]])
    verdict = weisfeiler_lehman_test(HEXAGON, TRIANGLES)
    assert (verdict.distinguished, verdict.message) == (False, "possibly isomorphic")
    assert not are_isomorphic(HEXAGON, TRIANGLES).isomorphic


def test_shuffled_graphs_are_found_and_mapped():
    rng = np.random.default_rng(0)
    graphs = [array(g) for g in random_graphs(8)]
    graphs += [array(networkx.random_regular_graph(3, 14, seed=s)) for s in range(4)]
    graphs += [array(networkx.petersen_graph()), np.zeros((3, 3)), np.eye(2)]
    for A in graphs:
        B, _ = shuffled(A, rng)
        found = are_isomorphic(A, B)
        assert found.isomorphic
        m = np.array(found.mapping)
        np.testing.assert_array_equal(B[np.ix_(m, m)] != 0, A != 0)
        assert not weisfeiler_lehman_test(A, B).distinguished


def test_against_networkx():
    graphs = [networkx.random_regular_graph(3, 8, seed=s) for s in range(7)]
    graphs += random_graphs(4, 6, 0.5)
    for a in graphs:
        for b in graphs:
            same = networkx.is_isomorphic(a, b)
            assert are_isomorphic(a, b).isomorphic == same
            if weisfeiler_lehman_test(a, b).distinguished:
                assert not same


def test_strongly_regular_pair():
    """Shrikhande's graph and the 4 x 4 rook's graph: the same parameters, not isomorphic."""
    rook = networkx.line_graph(networkx.complete_bipartite_graph(4, 4))
    steps = [(0, 1), (1, 0), (1, 1)]
    shrikhande = networkx.Graph(
        ((i, j), ((i + s * a) % 4, (j + s * b) % 4))
        for i in range(4) for j in range(4) for a, b in steps for s in (1, -1)
    )  # fmt: skip
    assert not weisfeiler_lehman_test(rook, shrikhande).distinguished
    assert not are_isomorphic(rook, shrikhande).isomorphic


def test_labels_count():
    assert are_isomorphic(PATH, PATH, labels=("abba", "abba")).mapping is not None
    assert not are_isomorphic(PATH, PATH, labels=("abba", "baab")).isomorphic
    assert weisfeiler_lehman_test(PATH, PATH, labels=("abba", "aabb")).iteration == 1
    assert weisfeiler_lehman_test(PATH, PATH, labels=("abba", "aabb"), max_iter=0).iteration is None


def slow_histogram(graphs, labels, n_iter):
    """Signatures as nested tuples: no numbering, nothing shared with the code."""
    n = len(graphs)
    K = np.zeros((n, n))
    colours = [dict(enumerate(names)) for names in labels]
    for i in range(n_iter + 1):
        if i:
            colours = [
                {v: (c[v], tuple(sorted((c[u] for u in g[v]), key=repr))) for v in g}
                for g, c in zip(graphs, colours, strict=True)
            ]
        counts = [Counter(c.values()) for c in colours]
        K += [[sum(a[x] * b[x] for x in a) for b in counts] for a in counts]
    return K


@pytest.mark.parametrize("n_iter", [0, 1, 3])
def test_histogram_is_the_definition(n_iter):
    graphs = random_graphs(10, 9)
    rng = np.random.default_rng(0)
    labels = [list(rng.choice(list("abc"), size=9)) for _ in graphs]
    kernel = WeisfeilerLehmanKernel(n_iter=n_iter)
    items = list(zip(graphs, labels, strict=True))
    K = kernel(items)
    np.testing.assert_array_equal(K, slow_histogram(graphs, labels, n_iter))
    np.testing.assert_array_equal(kernel(items[:4], items[4:]), K[:4, 4:])
    np.testing.assert_array_equal(kernel.diagonal(items), np.diag(K))


def labelled_graphs(count, n=9):
    """Random graphs with an edge at least, and letters on their nodes."""
    rng = np.random.default_rng(1)
    graphs = [g for g in random_graphs(2 * count, n) if g.number_of_edges()][:count]
    for graph in graphs:
        networkx.set_node_attributes(graph, dict(enumerate(rng.choice(list("abc"), n))), "label")
    return graphs, [[graph.nodes[v]["label"] for v in graph] for graph in graphs]


def test_labels_are_networkx_hashes():
    """Two nodes share a label after i rounds exactly when they share networkx's i-th hash."""
    graphs, labels = labelled_graphs(10)
    found = [
        networkx.weisfeiler_lehman_subgraph_hashes(
            g, node_attr="label", iterations=3, include_initial_labels=True
        )
        for g in graphs
    ]
    expected = np.zeros((10, 10))
    for i in range(4):
        counts = [Counter(hashes[i] for hashes in nodes.values()) for nodes in found]
        expected += [[sum(a[x] * b[x] for x in a) for b in counts] for a in counts]
    items = list(zip(graphs, labels, strict=True))
    np.testing.assert_array_equal(WeisfeilerLehmanKernel(n_iter=3)(items), expected)
    for a, x in items:
        for b, z in items:
            told = weisfeiler_lehman_test(a, b, labels=(x, z), max_iter=3)
            hashes = [
                networkx.weisfeiler_lehman_graph_hash(g, node_attr="label", iterations=3)
                for g in (a, b)
            ]
            assert told.distinguished == (hashes[0] != hashes[1])


def test_kernel_is_grakels():
    grakel = pytest.importorskip("grakel")  # no wheels for the newest Pythons
    graphs, labels = labelled_graphs(10)
    theirs = grakel.WeisfeilerLehman(n_iter=3, base_graph_kernel=grakel.VertexHistogram)
    K = theirs.fit_transform(
        [
            grakel.Graph({v: list(g[v]) for v in g}, node_labels=dict(enumerate(names)))
            for g, names in zip(graphs, labels, strict=True)
        ]
    )
    ours = WeisfeilerLehmanKernel(n_iter=3)(list(zip(graphs, labels, strict=True)))
    np.testing.assert_array_equal(ours, K)


@pytest.mark.parametrize("base", ["histogram", "edge", "shortest_path"])
def test_kernels_are_positive_semi_definite_and_blind_to_names(base):
    rng = np.random.default_rng(0)
    graphs = [array(g) for g in random_graphs(12, 8)]
    kernel = WeisfeilerLehmanKernel(base=base, normalize=True)
    K = kernel(graphs)
    assert np.linalg.eigvalsh(K).min() > -1e-10
    np.testing.assert_allclose(np.diag(K), 1)
    other = kernel([shuffled(A, rng)[0] for A in graphs])
    np.testing.assert_allclose(other, K, atol=1e-12)
    np.testing.assert_allclose(kernel(graphs[:3], graphs), K[:3], atol=1e-12)


def test_bases_by_hand():
    """P4 and S4 without labels, round 0: edges 3 and 3; lengths 1, 2, 3: (3, 2, 1) and (3, 3)."""
    edge = WeisfeilerLehmanKernel(n_iter=0, base="edge")([PATH, STAR])
    np.testing.assert_array_equal(edge, [[9, 9], [9, 9]])
    paths = WeisfeilerLehmanKernel(n_iter=0, base="shortest_path")([PATH, STAR])
    np.testing.assert_array_equal(paths, [[14, 15], [15, 18]])


def count_alike(A, a, B, b):
    return float((a[:, None] == b).sum())


def test_a_function_as_base():
    graphs = random_graphs(5, 7)
    K = WeisfeilerLehmanKernel(base=count_alike)(graphs)
    np.testing.assert_array_equal(K, WeisfeilerLehmanKernel()(graphs))


def test_many_features_are_counted_sparsely():
    graphs = random_graphs(150, 20, 0.3)
    K = WeisfeilerLehmanKernel(n_iter=2)(graphs)
    np.testing.assert_array_equal(K[:3, :3], WeisfeilerLehmanKernel(n_iter=2)(graphs[:3]))


def test_bad_graphs_are_refused():
    with pytest.raises(ValueError, match="symmetric"):
        are_isomorphic([[0, 1], [0, 0]], [[0, 1], [1, 0]])
    with pytest.raises(ValueError, match="square"):
        are_isomorphic([[0, 1]], [[0, 1], [1, 0]])
    with pytest.raises(ValueError, match="undirected"):
        are_isomorphic(networkx.DiGraph([(0, 1)]), PATH)
    with pytest.raises(ValueError, match="pair"):
        are_isomorphic(PATH, PATH, labels="abba")
    with pytest.raises(ValueError, match="one for each of 4 nodes"):
        are_isomorphic(PATH, PATH, labels=("abb", "abba"))
    with pytest.raises(ValueError, match="base must be one of"):
        WeisfeilerLehmanKernel(base="histogramm")
    with pytest.raises(ValueError, match="list of graphs"):
        WeisfeilerLehmanKernel()(PATH)
