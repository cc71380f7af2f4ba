"""Graphs: separation, I-maps and equivalence against brute-force enumeration."""

from itertools import chain, combinations, permutations

import numpy as np
import pytest

from pellucid.graphical import (
    CPT,
    DAG,
    BayesianNetwork,
    Factor,
    count_dags,
    enumerate_dags,
    minimal_i_map,
)

GENES = BayesianNetwork(
    cpds=[
        CPT("A", [0.3, 0.7], states=["on", "off"]),
        CPT("B", [0.3, 0.7], states=["on", "off"]),
        CPT(
            "C",
            [[[0.9, 0.1], [0.6, 0.4]], [[0.7, 0.3], [0.1, 0.9]]],
            parents=["A", "B"],
            states=["on", "off"],
        ),
    ]
)


def paths(dag, a, b):
    """Every path between two nodes, along edges in either direction."""
    near = {v: dag.parents(v) | dag.children(v) for v in dag.nodes}

    def grow(path):
        if path[-1] == b:
            yield path
            return
        for v in near[path[-1]]:
            if v not in path:
                yield from grow([*path, v])

    return grow([a])


def below(dag, v):
    """v and everything that a directed walk from it reaches, by repeated steps."""
    found = {v}
    for _ in dag.nodes:
        found |= {b for a, b in dag.edges if a in found}
    return found


def blocked(dag, path, given):
    for before, v, after in zip(path, path[1:], path[2:], strict=False):
        collider = (before, v) in dag.edges and (after, v) in dag.edges
        if collider and not (below(dag, v) & given):
            return True
        if not collider and v in given:
            return True
    return False


def separated(dag, a, b, given):
    """The definition: every path is blocked."""
    return all(blocked(dag, path, given) for path in paths(dag, a, b))


def subsets(items):
    return chain.from_iterable(combinations(items, k) for k in range(len(items) + 1))


def check_separation(dag):
    found = dag.independencies()
    for a, b in combinations(dag.nodes, 2):
        rest = [v for v in dag.nodes if v not in (a, b)]
        for given in subsets(rest):
            truth = separated(dag, a, b, set(given))
            assert dag.d_separated(a, b, given) == truth
            assert ((frozenset([a, b]), frozenset(given)) in found) == truth
            path = dag.active_path(a, b, given)
            if truth:
                assert path is None
            else:
                assert path[0] == a
                assert path[-1] == b
                assert len(set(path)) == len(path)
                assert not blocked(dag, path, set(given))


def check_blankets(dag):
    """The blanket separates a node from all else, and no smaller set does."""
    for v in dag.nodes:
        blanket = dag.markov_blanket(v)
        for outside in set(dag.nodes) - blanket - {v}:
            assert dag.d_separated(v, outside, blanket)
        for one in blanket:
            assert not dag.d_separated(v, one, blanket - {one})


def check_equivalence(dags):
    """Equal independencies, equal skeleton and v-structures, equal essential graphs."""
    classes = {}
    for dag in dags:
        classes.setdefault(frozenset(dag.independencies()), []).append(dag)
    graphs = set()
    for members in classes.values():
        essential = members[0].cpdag()
        assert essential not in graphs
        graphs.add(essential)
        everywhere = frozenset.intersection(*(dag.edges for dag in members))
        assert essential.directed == everywhere  # directed where all agree
        assert essential.undirected == members[0].skeleton() - {frozenset(e) for e in everywhere}
        for dag in members:
            assert dag.is_i_equivalent(members[0])
            assert dag.cpdag() == essential
    for one, other in combinations([members[0] for members in classes.values()], 2):
        assert not one.is_i_equivalent(other)


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_every_small_dag(n):
    dags = list(enumerate_dags("ABCD"[:n]))
    assert len(dags) == len(set(dags)) == count_dags(n)
    for dag in dags:
        check_blankets(dag)
    for dag in dags:
        check_separation(dag)
    check_equivalence(dags)


@pytest.mark.slow
def test_every_dag_of_five_nodes():
    dags = list(enumerate_dags("ABCDE"))
    assert len(dags) == 29281
    for dag in dags[::29]:
        check_separation(dag)
    for dag in dags[::5]:
        check_blankets(dag)
    check_equivalence(dags)


def test_example_20_connections():
    dag = DAG([("A", "E"), ("F", "E"), ("F", "B"), ("E", "C")])
    assert dag.d_separated("A", "B", given="F")
    assert not dag.d_separated("A", "B", given="C")
    chain_, fork, collider = (
        DAG([("a", "c"), ("c", "b")]),
        DAG([("c", "a"), ("c", "b")]),
        DAG([("a", "c"), ("b", "c"), ("c", "d")]),
    )
    for dag in (chain_, fork):
        assert not dag.d_separated("a", "b")
        assert dag.d_separated("a", "b", "c")
    assert collider.d_separated("a", "b")
    assert not collider.d_separated("a", "b", "c")
    assert not collider.d_separated("a", "b", "d")
    kinds = [dag.connection("a", "c", "b") for dag in (fork, chain_, collider)]
    assert kinds == ["tail-to-tail", "head-to-tail", "head-to-head"]


def test_example_21_maps_and_counts():
    p = GENES.joint()
    true = DAG([("A", "C"), ("B", "C")])
    more = DAG([("A", "C"), ("B", "C"), ("A", "B")])
    assert true.is_minimal_i_map(p)
    assert true.is_perfect_i_map(p)
    assert more.is_i_map(p)
    assert not more.is_minimal_i_map(p)
    assert not DAG([("A", "C"), ("C", "B")]).is_i_map(p)
    assert minimal_i_map(p, ["A", "B", "C"]) == true
    assert len(minimal_i_map(p, ["A", "C", "B"]).edges) == 3
    assert [count_dags(n) for n in range(1, 6)] == [1, 3, 25, 543, 29281]


@pytest.mark.parametrize("seed", range(3))
def test_i_maps_by_brute_force(seed):
    """Against factorisation: G is an I-map of p iff p is the product of its conditionals."""
    rng = np.random.default_rng(seed)
    truth = list(enumerate_dags("ABCD"))[int(rng.integers(543))]
    cpds = [
        CPT(v, rng.dirichlet(np.ones(2), [2] * len(truth.family(v)[:-1])),
            parents=truth.family(v)[:-1])
        for v in truth.nodes
    ]  # fmt: skip
    p = BayesianNetwork(cpds=cpds).joint().reorder("ABCD")
    maps = []
    for dag in enumerate_dags("ABCD"):
        product = Factor({}, np.array(1.0))
        for v in dag.nodes:
            product = product * p._keep(dag.family(v)).condition(dag.family(v)[:-1])
        factorises = np.allclose(product.reorder("ABCD").values, p.values, atol=1e-10)
        assert dag.is_i_map(p) == factorises
        if factorises:
            maps.append(dag)
    edges = {dag.edges for dag in maps}
    for dag in maps:
        smaller = any(dag.edges - {edge} in edges for edge in dag.edges)
        assert dag.is_minimal_i_map(p) != smaller
        assert dag.is_perfect_i_map(p) == dag.is_i_equivalent(truth)
    for order in permutations("ABCD"):
        assert minimal_i_map(p, order).is_minimal_i_map(p)


def test_exclusive_or_has_no_perfect_map():
    """Pairwise independence is not independence: pairs alone would accept an empty graph."""
    p = Factor(dict.fromkeys("abc", (0, 1)), [0.25, 0, 0, 0.25, 0, 0.25, 0.25, 0])
    assert not DAG(nodes=["a", "b", "c"]).is_i_map(p)
    assert not any(dag.is_perfect_i_map(p) for dag in enumerate_dags("abc"))


def test_graph_is_a_value():
    a, b = DAG([("x", "y")], ["z"]), DAG([("x", "y")], ["y", "z"])
    assert a == b
    assert hash(a) == hash(b)
    assert a != DAG([("x", "y")])
    assert DAG.complete("abc").topological_order() == ("a", "b", "c")
    assert a.non_descendants("x") == {"z"}
    assert a.descendants("x") == {"y"}
    with pytest.raises(AttributeError):
        a.nodes = ()


def test_mistakes_are_one_sentence():
    dag = DAG([("a", "b"), ("b", "c")])
    with pytest.raises(ValueError, match="cycle: 'a' -> 'b' -> 'c' -> 'a'"):
        DAG([("a", "b"), ("b", "c"), ("c", "a"), ("c", "d"), ("z", "a")])
    with pytest.raises(ValueError, match="no node 'q'"):
        dag.d_separated("a", "q")
    with pytest.raises(ValueError, match="must not overlap"):
        dag.d_separated("a", "b", given="a")
    with pytest.raises(ValueError, match="pair"):
        DAG(["abc"])
    with pytest.raises(ValueError, match="no edge between"):
        dag.connection("a", "c", "b")
    with pytest.raises(ValueError, match="at most 5"):
        enumerate_dags("abcdef")
    with pytest.raises(ValueError, match="same variables"):
        dag.is_i_map(GENES.joint())
    with pytest.raises(ValueError, match="set max_given"):
        DAG.complete(range(25)).independencies()
    assert DAG.complete(range(25)).independencies(max_given=1) == set()


def test_linear_time_on_a_large_graph():
    n = 20_000
    dag = DAG([(i, i + 1) for i in range(n)])
    assert not dag.d_separated(0, n)
    assert dag.d_separated(0, n, given=n // 2)
    assert len(dag.active_path(0, n)) == n + 1
