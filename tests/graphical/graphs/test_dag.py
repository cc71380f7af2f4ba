"""Graphs as values: connections, maps, refusals; ``test_every_dag`` enumerates."""

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
