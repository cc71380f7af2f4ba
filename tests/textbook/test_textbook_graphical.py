"""The graphical models of the textbook agree with the fast ones."""

from itertools import combinations

import numpy as np
import polars as pl
import pytest
from agreement import same, same_mean

from pellucid.graphical import (
    CPT,
    DAG,
    BayesianNetwork,
    ConditionalGaussianCPD,
    DirichletPrior,
    Factor,
    LinearGaussianCPD,
    MixedBayesianNetwork,
)
from pellucid.graphical import minimal_i_map as fast_i_map
from pellucid.textbook.graphical.adjustment_formula import (
    adjustment_formula,
    truncated_factorisation,
)
from pellucid.textbook.graphical.clique_tree import clique_tree
from pellucid.textbook.graphical.conditional_gaussian_network import conditional_gaussian_network
from pellucid.textbook.graphical.d_separation import d_separation
from pellucid.textbook.graphical.equivalence_class import equivalence_class
from pellucid.textbook.graphical.gaussian_network import fit, gaussian_network, given
from pellucid.textbook.graphical.gibbs_sampling import full_conditional, gibbs_sampling
from pellucid.textbook.graphical.joint_enumeration import joint_enumeration
from pellucid.textbook.graphical.likelihood_weighting import likelihood_weighting
from pellucid.textbook.graphical.minimal_i_map import minimal_i_map
from pellucid.textbook.graphical.most_probable_explanation import most_probable_explanation
from pellucid.textbook.graphical.network_em import network_em, rounds
from pellucid.textbook.graphical.table_learning import table_learning
from pellucid.textbook.graphical.variable_elimination import eliminations, variable_elimination

rng = np.random.default_rng(0)


def graph(d=6, share=0.4):
    return [[p for p in range(v) if rng.random() < share] for v in range(d)]


def dag_of(parents):
    edges = [(f"x{p}", f"x{v}") for v, family in enumerate(parents) for p in family]
    return DAG(edges, [f"x{v}" for v in range(len(parents))])


def network(d=6):
    parents = graph(d)
    states = rng.integers(2, 4, size=d).tolist()
    tables = [
        rng.dirichlet(np.ones(states[v]), size=[states[p] for p in parents[v]]) for v in range(d)
    ]
    names = [f"x{v}" for v in range(d)]
    cpds = [CPT(names[v], tables[v], parents=tuple(names[p] for p in parents[v])) for v in range(d)]
    return parents, tables, BayesianNetwork(dag_of(parents), cpds=cpds)


@pytest.mark.parametrize("seed", range(4))
def test_d_separation(seed):
    rng.bit_generator.state = np.random.default_rng(seed).bit_generator.state
    parents = graph()
    dag = dag_of(parents)
    for a, b in combinations(range(6), 2):
        for size in range(4):
            for Z in combinations(set(range(6)) - {a, b}, size):
                expected = dag.d_separated(f"x{a}", f"x{b}", [f"x{z}" for z in Z])
                assert d_separation(parents, a, b, set(Z)) == expected


@pytest.mark.parametrize("seed", range(6))
def test_equivalence_class(seed):
    rng.bit_generator.state = np.random.default_rng(seed).bit_generator.state
    parents = graph(7, 0.5)
    directed, undirected = equivalence_class(parents)
    fast = dag_of(parents).cpdag()
    assert {(f"x{a}", f"x{b}") for a, b in directed} == fast.directed
    assert {frozenset(f"x{v}" for v in edge) for edge in undirected} == fast.undirected


def test_minimal_i_map():
    P = np.einsum(
        "a,b,abc->abc", [0.7, 0.3], [0.7, 0.3], [[[0.9, 0.1], [0.3, 0.7]], [[0.4, 0.6], [0.1, 0.9]]]
    )
    p = Factor(dict.fromkeys("abc", (0, 1)), P)
    for order in ([0, 1, 2], [0, 2, 1], [2, 1, 0]):
        parents = minimal_i_map(P, order)
        edges = {("abc"[q], "abc"[v]) for v, family in enumerate(parents) for q in family}
        assert edges == fast_i_map(p, ["abc"[v] for v in order]).edges


@pytest.mark.parametrize("seed", range(4))
def test_exact_answers(seed):
    rng.bit_generator.state = np.random.default_rng(seed).bit_generator.state
    parents, tables, fast = network()
    q, *seen = rng.permutation(6)[:3].tolist()
    evidence = {int(v): 0 for v in seen}
    named = {f"x{v}": s for v, s in evidence.items()}
    expected = fast.query(f"x{q}", named).values
    same(joint_enumeration(parents, tables, q, evidence), expected, atol=1e-10)
    same(variable_elimination(parents, tables, q, evidence), expected, atol=1e-10)
    for factors in eliminations(parents, tables, q, evidence):  # the same product all the way
        total = np.einsum(*(part for f in factors for part in (f.values, f.scope)), [])
        same(total, fast.probability(named))
    marginals, log_p = clique_tree(parents, tables, evidence)
    same(log_p, np.log(fast.probability(named)))
    for v, table in marginals.items():
        same(table, fast.marginals(named)[f"x{v}"].values, atol=1e-10)
    best = most_probable_explanation(parents, tables, evidence)
    assert {f"x{v}": s for v, s in best.items() if v not in evidence} == {
        k: v for k, v in fast.most_probable(named).items() if k not in named
    }


def test_sampling():
    parents, tables, fast = network(5)
    expected = fast.query("x0", {"x4": 0}).values
    book = [likelihood_weighting(parents, tables, 0, {4: 0}, 1000, rng) for _ in range(40)]
    weighted = [
        fast.approximate("x0", {"x4": 0}, n_samples=1000, random_state=i) for i in range(40)
    ]
    for shares in ([b.p for b in book], [w.factor.values for w in weighted]):
        same_mean(shares, expected)
    same_mean([b.effective for b in book], [w.effective_sample_size for w in weighted])
    chains = [gibbs_sampling(parents, tables, 0, {4: 0}, 100, rng) for _ in range(20)]
    same_mean(chains, expected)
    x = np.zeros(5, dtype=int)
    rest = {f"x{v}": 0 for v in range(1, 5)}
    same(full_conditional(parents, tables, x, 0), fast.query("x0", rest).values)


def test_gaussian_network():
    parents = graph(4, 0.7)
    b, s = rng.normal(size=4), rng.exponential(size=4)
    B = np.zeros((4, 4))
    for v in range(4):
        B[v, parents[v]] = rng.normal(size=len(parents[v]))
    names = [f"x{v}" for v in range(4)]
    cpds = [
        LinearGaussianCPD(n, b[v], B[v, parents[v]], s[v], parents=[names[p] for p in parents[v]])
        for v, n in enumerate(names)
    ]
    fast = BayesianNetwork(dag_of(parents), cpds=cpds)
    book = given(gaussian_network(b, B, s), [0, 2], {1: 0.5, 3: -1.0})
    answer = fast.query(["x0", "x2"], {"x1": 0.5, "x3": -1.0})
    same(book.mean, answer.mean, atol=1e-10)
    same(book.covariance, answer.covariance, atol=1e-10)
    X = rng.normal(size=(40, 4))
    learned = MixedBayesianNetwork(dag_of(parents)).fit(pl.DataFrame(X, schema=names)).cpds_
    b, B, s = fit(X, parents)
    for v, n in enumerate(names):
        same([b[v], s[v]], [learned[n].intercepts, learned[n].variances])
        same(B[v, parents[v]], learned[n].coefficients, atol=1e-10)


def test_conditional_gaussian_network():
    p, a, w, v = np.array([0.3, 0.7]), [0.0, 1.0], [1.0, 2.0], np.array([[1.0, 2.0], [0.5, 1.5]])
    cpds = [
        CPT("k", p),
        ConditionalGaussianCPD("x", [0.5, -1.0], np.zeros((2, 0)), v[0], given=("k",)),
        ConditionalGaussianCPD("y", a, np.array(w)[:, None], v[1], parents=("x",), given=("k",)),
    ]
    answer = MixedBayesianNetwork(cpds=cpds).query(["k", "x"], {"y": 1.0})
    laws = [
        gaussian_network(np.array([x, a[k]]), np.array([[0.0, 0.0], [w[k], 0.0]]), v[:, k])
        for k, x in enumerate([0.5, -1.0])
    ]
    m, S = (np.array(part) for part in zip(*laws, strict=True))
    book = conditional_gaussian_network(p, m, S, [0], {1: 1.0})
    same(book.p, answer.factor.values)
    same(book.mean, answer.mean)
    same(book.covariance, answer.covariance)


def test_adjustment_formula():
    parents = [[], [0], [0, 1]]  # z -> x, z -> y, x -> y
    tables = [rng.dirichlet(np.ones(2), size=[2] * k) for k in range(3)]
    cpds = [
        CPT("z", tables[0]),
        CPT("x", tables[1], parents=("z",)),
        CPT("y", tables[2], parents=("z", "x")),
    ]
    fast = BayesianNetwork(cpds=cpds)
    joint = np.einsum("z,zx,zxy->xyz", *tables)
    expected = fast.query("y", do={"x": 1}).values
    same(adjustment_formula(joint, 1), expected)
    same(adjustment_formula(joint, 1), fast.effect("y", {"x": 1}, adjust=["z"]).values)
    cut = truncated_factorisation(parents, tables, 1, 1)
    same(joint_enumeration(*cut, 2, {}), expected)
    assert np.abs(joint_enumeration(parents, tables, 2, {1: 1}) - expected).max() > 1e-5


def test_table_learning():
    parents, tables, fast = network(4)
    states = [t.shape[-1] for t in tables]
    X = np.column_stack([rng.integers(r, size=300) for r in states])
    frame = pl.DataFrame(X, schema=[f"x{v}" for v in range(4)])
    known = {f"x{v}": tuple(range(r)) for v, r in enumerate(states)}
    for a, prior in ((0.0, None), (0.5, DirichletPrior(0.5))):
        learned = BayesianNetwork(fast.dag_, states=known, prior=prior).fit(frame)
        for v, table in enumerate(table_learning(X, parents, states, a)):
            names = [f"x{p}" for p in parents[v]]
            cpd = learned.cpds_[f"x{v}"]
            order = [cpd.parents.index(n) for n in names]
            same(table, cpd.values.transpose([*order, len(names)]), atol=1e-12)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_network_em():
    parents, start = [[], [0], [0, 1]], [np.array([0.5, 0.5])]
    start += [rng.dirichlet(np.ones(2), size=[2] * k) for k in (1, 2)]
    X = rng.integers(2, size=(40, 3))
    X[rng.random(X.shape) < 0.3] = -1
    cpds = [
        CPT("x0", start[0]),
        CPT("x1", start[1], parents=("x0",)),
        CPT("x2", start[2], parents=("x0", "x1")),
    ]
    cells = {f"x{v}": [None if x < 0 else int(x) for x in X[:, v]] for v in range(3)}
    fast = BayesianNetwork(cpds=cpds, tol=0.0, max_iter=12).fit(pl.DataFrame(cells))
    states = list(rounds(X, parents, start, 12))
    assert np.all(np.diff([s.log_likelihood for s in states]) > -1e-9)
    for v, table in enumerate(network_em(X, parents, start, 12).tables):
        same(table, fast.cpds_[f"x{v}"].values, atol=1e-8)
