"""Separation, blankets, equivalence and I-maps on ALL graphs of up to five nodes.

The truth is the definition itself, for all graphs at once: every path of the complete graph is
walked, its colliders are found from the edges, and each conditioning set (a bit mask) either
blocks it or not. Graphs with the same answers are a class; what all members share is directed.
"""

from functools import cache
from itertools import combinations, pairwise, permutations
from typing import NamedTuple

import numpy as np
import pytest

from pellucid.graphical import CPT, DAG, BayesianNetwork, count_dags, enumerate_dags, minimal_i_map

NAMES = "ABCDE"


class Truth(NamedTuple):
    n: int
    dags: list
    has: np.ndarray  # (N, n, n) bool: a -> b
    place: dict  # edges -> number of the graph
    blocked: dict  # (a, b, mask) -> (N,) bool, a < b
    open_path: dict  # (a, path, mask) -> (N,) bool
    signature: np.ndarray  # (N,) the classes, as numbers
    blanket: np.ndarray  # (N, n) masks


def below(has):
    """Masks of each node and its descendants, (N, n)."""
    n = has.shape[1]
    reach = has | np.eye(n, dtype=bool)
    for _ in range(n):
        reach = np.einsum("gij,gjk->gik", reach, has) | reach
    return (reach * (1 << np.arange(n))).sum(axis=2)


def open_given(has, under, path, mask):
    """Whether the path is there and open in each graph: the definition."""
    joined = has | has.transpose(0, 2, 1)
    found = np.logical_and.reduce([joined[:, u, v] for u, v in pairwise(path)])
    for u, v, w in zip(path, path[1:], path[2:], strict=False):
        collider = has[:, u, v] & has[:, w, v]
        found &= np.where(collider, under[:, v] & mask > 0, not mask >> v & 1)
    return found


def blankets(n, blocked, size):
    """The smallest set that separates each node from all else; it must be the only one."""
    found = np.empty((size, n), int)
    for v in range(n):
        masks = sorted((m for m in range(1 << n) if not m >> v & 1), key=int.bit_count)
        valid = np.array([
            np.logical_and.reduce(
                [np.ones(size, bool)]
                + [blocked[min(u, v), max(u, v), m] for u in range(n) if u != v and not m >> u & 1]
            )
            for m in masks
        ])  # fmt: skip
        found[:, v] = np.array(masks)[valid.argmax(axis=0)]
        for m, ok in zip(masks, valid, strict=True):
            assert ((found[ok, v] & m) == found[ok, v]).all()
    return found


@cache
def truth(n):
    dags = list(enumerate_dags(NAMES[:n]))
    assert len(dags) == len(set(dags)) == count_dags(n)
    has = np.zeros((len(dags), n, n), bool)
    for g, dag in enumerate(dags):
        for a, b in dag.edges:
            has[g, NAMES.index(a), NAMES.index(b)] = True
    under, blocked, open_path = below(has), {}, {}
    for a, b in combinations(range(n), 2):
        rest = [v for v in range(n) if v not in (a, b)]
        middles = [m for k in range(n - 1) for m in permutations(rest, k)]
        for mask in (sum(1 << v for v in s) for k in range(n - 1) for s in combinations(rest, k)):
            free = np.ones(len(dags), bool)
            for middle in middles:
                path = (a, *middle, b)
                open_path[path, mask] = open_given(has, under, path, mask)
                free &= ~open_path[path, mask]
            blocked[a, b, mask] = free
    answers = np.packbits(np.array(list(blocked.values()) or [[True] * len(dags)]), axis=0)
    _, signature = np.unique(answers.T, axis=0, return_inverse=True)
    place = {dag.edges: g for g, dag in enumerate(dags)}
    blanket = blankets(n, blocked, len(dags))
    return Truth(n, dags, has, place, blocked, open_path, signature.ravel(), blanket)


def names(mask):
    return frozenset(v for i, v in enumerate(NAMES) if mask >> i & 1)


def check_separation(t):
    keys = [(a, b, m, NAMES[a], NAMES[b], names(m)) for a, b, m in t.blocked]
    for g, dag in enumerate(t.dags):
        found = set()
        for a, b, mask, first, last, given in keys:
            truth_ = bool(t.blocked[a, b, mask][g])
            assert dag.d_separated(first, last, given) == truth_
            path = dag.active_path(first, last, given)
            if truth_:
                assert path is None
                found.add((frozenset((first, last)), given))
            else:
                assert t.open_path[tuple(map(NAMES.index, path)), mask][g]
        assert dag.independencies() == found


def check_blankets(t):
    for g, dag in enumerate(t.dags):
        for v, mask in zip(dag.nodes, t.blanket[g], strict=True):
            assert dag.markov_blanket(v) == names(mask)


def check_equivalence(t):
    """Classes by brute force = equal skeleton and v-structures = equal essential graphs."""
    essential, keys = {}, {}
    for g, dag in enumerate(t.dags):
        keys.setdefault((dag.skeleton(), dag.v_structures()), set()).add(t.signature[g])
        essential.setdefault(t.signature[g], set()).add(dag.cpdag())
    assert all(len(found) == 1 for found in keys.values())
    assert all(len(found) == 1 for found in essential.values())
    assert len(keys) == len(essential) == len(set.union(*essential.values()))
    for number, (graph,) in essential.items():
        members = t.has[t.signature == number]
        shared = np.argwhere(members.all(axis=0))
        directed = {(NAMES[a], NAMES[b]) for a, b in shared}
        joined = {frozenset((NAMES[a], NAMES[b])) for a, b in np.argwhere(members.any(axis=0))}
        assert graph.directed == directed
        assert graph.undirected == joined - {frozenset(edge) for edge in directed}


def check_equivalent_neighbours(t):
    """Turning one edge keeps the class exactly where brute force says so."""
    for g, dag in enumerate(t.dags):
        for a, b in dag.edges:
            h = t.place.get(dag.edges - {(a, b)} | {(b, a)})
            if h is not None:
                assert dag.is_i_equivalent(t.dags[h]) == (t.signature[g] == t.signature[h])


def planted(dag, rng):
    """A joint of binary variables along the graph, with numbers that cancel nowhere."""
    parents = {v: dag.family(v)[:-1] for v in dag.nodes}
    cpds = [
        CPT(v, rng.dirichlet(np.ones(2), [2] * len(some)), parents=some)
        for v, some in parents.items()
    ]
    return BayesianNetwork(cpds=cpds).joint().reorder(dag.nodes)


def factorises(t, p):
    """Whether p is the product of its own conditionals along each graph, (N,)."""
    every = tuple(range(t.n))
    conditional = np.empty((t.n, 1 << t.n, p.values.size))
    for v in every:
        for mask in range(1 << t.n):
            if not mask >> v & 1:
                both = p.values.sum(tuple(u for u in every if u != v and not mask >> u & 1),
                                    keepdims=True)  # fmt: skip
                share = both / both.sum(v, keepdims=True)
                conditional[v, mask] = np.broadcast_to(share, p.values.shape).ravel()
    parents = (t.has * (1 << np.arange(t.n))[:, None]).sum(axis=1)  # (N, n)
    product = np.prod([conditional[v, parents[:, v]] for v in every], axis=0)
    return np.abs(product - p.values.ravel()).max(axis=1) < 1e-10


def check_maps(t, g, rng):
    """I-maps of a joint planted along graph g, minimal and perfect ones, among all graphs."""
    p = planted(t.dags[g], rng)
    maps = factorises(t, p)
    for h, dag in enumerate(t.dags):
        assert dag.is_i_map(p) == maps[h]
        if not maps[h]:
            assert not dag.is_minimal_i_map(p)
            continue
        smaller = any(maps[t.place[dag.edges - {edge}]] for edge in dag.edges)
        assert dag.is_minimal_i_map(p) != smaller
        assert dag.is_perfect_i_map(p) == (t.signature[g] == t.signature[h])
    for order in permutations(NAMES[: t.n]):
        found = minimal_i_map(p, order)
        assert maps[t.place[found.edges]]
        assert not any(maps[t.place[found.edges - {edge}]] for edge in found.edges)
        assert all(order.index(a) < order.index(b) for a, b in found.edges)


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_every_graph_of_up_to_four_nodes(n):
    t = truth(n)
    assert len(set(t.signature)) == [1, 2, 11, 185][n - 1]  # classes, Gillispie & Perlman 2001
    check_blankets(t)
    check_separation(t)
    check_equivalence(t)
    check_equivalent_neighbours(t)


def test_maps_of_every_graph_of_three_nodes():
    t, rng = truth(3), np.random.default_rng(0)
    for g in range(len(t.dags)):
        check_maps(t, g, rng)


@pytest.mark.parametrize("seed", range(2))
def test_maps_among_all_graphs_of_four_nodes(seed):
    rng = np.random.default_rng(seed)
    check_maps(truth(4), int(rng.integers(543)), rng)


@pytest.mark.slow
@pytest.mark.parametrize(
    "check", [check_blankets, check_separation, check_equivalence, check_equivalent_neighbours]
)
def test_every_graph_of_five_nodes(check):
    t = truth(5)
    assert len(t.dags) == 29281
    assert len(set(t.signature)) == 8782
    check(t)


@pytest.mark.slow
def test_maps_of_every_class_of_four_nodes():
    t, rng = truth(4), np.random.default_rng(1)
    for g in np.unique(t.signature, return_index=True)[1]:
        check_maps(t, int(g), rng)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_maps_among_all_graphs_of_five_nodes(seed):
    rng = np.random.default_rng(seed)
    check_maps(truth(5), int(rng.integers(29281)), rng)


def test_the_definition_on_a_known_graph():
    """The brute force itself, on example 20: A -> E <- F -> B, E -> C."""
    t = truth(4)
    g = t.place[DAG([("A", "B"), ("C", "B"), ("B", "D")]).edges]
    assert t.blocked[0, 2, 0][g]
    assert not t.blocked[0, 2, 0b0010][g]  # given the collider
    assert not t.blocked[0, 2, 0b1000][g]  # given its child
    assert t.blocked[0, 3, 0b0010][g]
