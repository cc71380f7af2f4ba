"""Kernels on graphs: WeisfeilerLehmanKernel, and the test of isomorphism.

Run with ``python -m benchmarks graph_kernels``.
"""

import numpy as np

from benchmarks.harness import Case

GRAPHS, NODES, P, ROUNDS = 1000, 30, 0.15, 3


def graphs():
    """Adjacency arrays and labels of random graphs."""
    rng = np.random.default_rng(0)
    found = []
    for _ in range(GRAPHS):
        A = np.triu(rng.random((NODES, NODES)) < P, 1).astype(int)
        A[0, 1:3] = 1  # no graph without edges
        found.append((A + A.T, rng.integers(5, size=NODES).tolist()))
    return found


def _ours(base):
    def gram(data):
        from pellucid.kernel import WeisfeilerLehmanKernel

        return WeisfeilerLehmanKernel(n_iter=ROUNDS, base=base)(data)

    return gram


def _grakel(data):
    from grakel import Graph
    from grakel.kernels import VertexHistogram, WeisfeilerLehman

    items = [Graph(A, node_labels=dict(enumerate(labels))) for A, labels in data]
    kernel = WeisfeilerLehman(n_iter=ROUNDS, base_graph_kernel=VertexHistogram)
    return kernel.fit_transform(items)


def _networkx(data):
    """Colour refinement only, by networkx's hashes; the counts are multiplied by NumPy."""
    from collections import Counter

    import networkx

    counts = []
    for A, labels in data:
        graph = networkx.from_numpy_array(A)
        networkx.set_node_attributes(graph, {i: str(c) for i, c in enumerate(labels)}, "label")
        hashes = networkx.weisfeiler_lehman_subgraph_hashes(
            graph, node_attr="label", iterations=ROUNDS
        )
        counts.append(
            Counter([f"0{c}" for c in labels] + [h for hs in hashes.values() for h in hs])
        )
    words = {w: i for i, w in enumerate(sorted(set().union(*counts)))}
    F = np.zeros((len(data), len(words)))
    for i, count in enumerate(counts):
        for word, many in count.items():
            F[i, words[word]] = many
    return F @ F.T


def regular_pairs():
    import networkx

    rng = np.random.default_rng(0)
    pairs = []
    for seed in range(20):
        A = networkx.to_numpy_array(networkx.random_regular_graph(4, 60, seed=seed))
        order = rng.permutation(60)
        pairs.append((A, A[np.ix_(order, order)]))
    return pairs


def _isomorphic(data):
    from pellucid.kernel import are_isomorphic

    return np.array([are_isomorphic(a, b).isomorphic for a, b in data])


def _isomorphic_peer(data):
    import networkx

    return np.array([
        networkx.is_isomorphic(networkx.from_numpy_array(a), networkx.from_numpy_array(b))
        for a, b in data
    ])  # fmt: skip


def same(ours, theirs):
    return bool(np.array_equal(ours, theirs))


CASES = [
    Case(
        f"WeisfeilerLehmanKernel, {GRAPHS} graphs of {NODES} nodes, {ROUNDS} rounds",
        graphs,
        {"pellucid": _ours("histogram"), "GraKeL": _grakel, "networkx hashes": _networkx},
        same,
        "130,000 neighbours sorted in each round, and the product of sparse counts",
    ),
    Case(
        "are_isomorphic, 20 shuffled 4-regular graphs of 60 nodes",
        regular_pairs,
        {"pellucid": _isomorphic, "networkx": _isomorphic_peer},
        same,
        "a few refinements of 120 nodes for each pair",
    ),
]
