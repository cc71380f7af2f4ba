"""Exact inference: brute force, pgmpy's answers, impossible evidence, cost, sampling."""

from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose

from pellucid.core.runtime.threads import limit_threads
from pellucid.data import load_network
from pellucid.graphical import CPT, DAG, BayesianNetwork, Factor, enumerate_dags, read_network

SMALL = ["asia", "cancer", "earthquake", "survey"]
ALL = [*SMALL, "sachs", "child", "insurance", "alarm"]


def brute_force(network):
    """{assignment of state numbers: probability}, straight from the definition."""
    nodes = list(network.dag_.nodes)
    cards = [len(network.states_[v]) for v in nodes]
    table = {}
    for states in product(*map(range, cards)):
        at = dict(zip(nodes, states, strict=True))
        p = 1.0
        for v in nodes:
            cpd = network.cpds_[v]
            p *= cpd.values[(*(at[u] for u in cpd.parents), at[v])]
        table[states] = p
    return nodes, table


def posterior(nodes, table, card, target, evidence):
    share = np.zeros(card)
    for states, p in table.items():
        if all(states[nodes.index(v)] == k for v, k in evidence.items()):
            share[states[nodes.index(target)]] += p
    return share


def random_network(rng, n=6, zeros=0.0, most=4):
    names = [f"v{i}" for i in range(n)]
    order = [names[i] for i in rng.permutation(n)]
    cards = {v: int(rng.integers(1, most)) for v in names}
    cpds = []
    for j, v in enumerate(order):
        k = int(rng.integers(0, min(j, 3) + 1))
        parents = [order[i] for i in rng.choice(j, k, replace=False)] if j else []
        values = rng.dirichlet(np.ones(cards[v]), [cards[p] for p in parents])
        values = np.where(rng.random(values.shape) < zeros, 0.0, values)
        values[..., 0] += 1e-3
        values /= values.sum(axis=-1, keepdims=True)
        cpds.append(CPT(v, values, parents=parents))
    return BayesianNetwork(cpds=cpds)


def random_evidence(rng, network, k):
    nodes = network.dag_.nodes
    some = rng.choice(len(nodes), k, replace=False)
    return {nodes[i]: network.states_[nodes[i]][rng.integers(len(network.states_[nodes[i]]))]
            for i in some}  # fmt: skip


@pytest.mark.parametrize("name", SMALL)
def test_every_posterior_by_brute_force(name):
    network = read_network(load_network(name))
    nodes, table = brute_force(network)
    rng = np.random.default_rng(1)
    for k in (0, 1, 2, 3):
        evidence = random_evidence(rng, network, k)
        codes = {v: network.states_[v].index(s) for v, s in evidence.items()}
        everywhere = None
        for v in nodes:
            if v in evidence:
                continue
            share = posterior(nodes, table, len(network.states_[v]), v, codes)
            if share.sum() == 0:
                with pytest.raises(ValueError, match="impossible evidence"):
                    network.query(v, evidence)
                continue
            assert_allclose(network.query(v, evidence).values, share / share.sum(), atol=1e-12)
            everywhere = network.marginals(evidence) if everywhere is None else everywhere
            assert_allclose(everywhere[v].values, share / share.sum(), atol=1e-12)
            assert_allclose(network.probability(evidence), share.sum(), atol=1e-12)


@pytest.mark.parametrize("seed", range(25))
def test_random_networks_by_brute_force(seed):
    """Zeros, single states, several targets, any evidence: query, marginals, maximum."""
    rng = np.random.default_rng(seed)
    network = random_network(rng, zeros=0.3 if seed % 2 else 0.0)
    nodes, table = brute_force(network)
    evidence = random_evidence(rng, network, int(rng.integers(0, 4)))
    at = {nodes.index(v): s for v, s in evidence.items()}
    agreeing = {s: p for s, p in table.items() if all(s[i] == k for i, k in at.items())}
    total = sum(agreeing.values())
    free = [v for v in nodes if v not in evidence]
    targets = [free[i] for i in rng.choice(len(free), min(2, len(free)), replace=False)]
    if total == 0:
        for ask in (lambda: network.query(targets, evidence), lambda: network.marginals(evidence),
                    lambda: network.most_probable(evidence)):  # fmt: skip
            with pytest.raises(ValueError, match="impossible evidence"):
                ask()
        assert network.probability(evidence) == 0.0
        return
    found = network.query(targets, evidence)
    assert found.names == tuple(targets)
    truth = np.zeros(found.values.shape)
    for states, p in agreeing.items():
        truth[tuple(states[nodes.index(v)] for v in targets)] += p
    assert_allclose(found.values, truth / total, atol=1e-12)
    assert_allclose(network.probability(evidence), total, rtol=1e-9)
    best = network.most_probable(evidence)
    assert set(best) == set(free)
    states = tuple({**best, **evidence}[v] for v in nodes)
    assert_allclose(table[states], max(agreeing.values()), rtol=1e-9)


@pytest.mark.parametrize("name", ["sachs", "child", "insurance", "alarm"])
def test_two_algorithms_agree(name):
    """Elimination with pruning and the clique tree share no arithmetic."""
    network = read_network(load_network(name))
    row = network.sample(5, random_state=3).to_dicts()
    rng = np.random.default_rng(0)
    for states in row:
        seen = {v: states[v] for v in rng.choice(network.dag_.nodes, 4, replace=False)}
        for v, found in network.marginals(seen).items():
            assert_allclose(network.query(v, seen).values, found.values, atol=1e-12)


@pytest.mark.parametrize("name", [*SMALL, "sachs", "child", "insurance", "alarm"])
def test_every_posterior_against_pyagrum(name):
    """Every node given random evidence, to 1e-9, on all networks that come with the library."""
    gum = pytest.importorskip("pyagrum")
    from benchmarks.graphical.networks import agrum_network

    network = read_network(load_network(name))
    rng, nodes = np.random.default_rng(0), network.dag_.nodes
    rows = network.sample(6, random_state=0)
    engine = gum.LazyPropagation(agrum_network(name))
    for i in range(6):
        seen = {nodes[v]: rows[nodes[v]][i] for v in rng.choice(len(nodes), i, replace=False)}
        engine.setEvidence({v: network.states_[v].index(s) for v, s in seen.items()})
        engine.makeInference()
        shares = network.marginals(seen)
        for node in nodes:
            if node not in seen:
                exact = engine.posterior(node).toarray()
                assert_allclose(network.query(node, seen).values, exact, rtol=0, atol=1e-9)
                assert_allclose(shares[node].values, exact, rtol=0, atol=1e-9)


def test_example_19_explaining_away():
    on = ["on", "off"]
    network = BayesianNetwork(cpds=[
        CPT("A", [0.3, 0.7], states=on), CPT("B", [0.3, 0.7], states=on),
        CPT("C", [[[0.9, 0.1], [0.6, 0.4]], [[0.7, 0.3], [0.1, 0.9]]], parents=["A", "B"],
            states=on),
    ])  # fmt: skip
    assert_allclose(network.probability({"C": "on"}), 0.403)
    assert_allclose(network.probability({"A": "on"}, {"C": "on"}), 0.5136476427, atol=1e-10)
    given = {"C": "on", "B": "on"}
    assert_allclose(network.query("A", given).at({"A": "on"}), 0.3552631579, atol=1e-10)
    assert network.most_probable({"C": "on"}) == {"A": "off", "B": "on"}
    assert network.n_parameters_ == 6
    assert network.probability({"A": "on"}, {"A": "off"}) == 0.0


def test_example_23_known_networks():
    asia = read_network(load_network("asia"))
    yes = {"tub": 0.0104, "lung": 0.055, "bronc": 0.45, "either": 0.064828, "xray": 0.11029004}
    for v, p in yes.items():
        assert_allclose(asia.probability({v: "yes"}), p, atol=1e-9)
    seen = {"xray": "yes", "dysp": "yes"}
    assert_allclose(asia.probability({"lung": "yes"}, seen), 0.6212528, atol=1e-7)
    alarm = read_network(load_network("alarm"))
    found = alarm.query("HYPOVOLEMIA", {"BP": "LOW", "CVP": "LOW"}).at({"HYPOVOLEMIA": "TRUE"})
    assert_allclose(found, 0.15168951, atol=5e-9)
    found = alarm.query("INTUBATION", {"PRESS": "HIGH", "EXPCO2": "LOW"}).values
    assert_allclose(found, [0.95106212, 0.02384694, 0.02509094], atol=5e-9)
    child = read_network(load_network("child"))
    expected = [0.04797166, 0.38996280, 0.26040498, 0.20522424, 0.04922902, 0.04720729]
    assert_allclose(child.query("Disease", {"LowerBodyO2": "<5"}).values, expected, atol=5e-9)


def test_impossible_evidence_is_one_sentence_even_where_it_is_pruned():
    """z cannot matter to a, yet evidence on it that cannot happen is refused."""
    network = BayesianNetwork(cpds=[
        CPT("a", [0.4, 0.6]), CPT("y", [1.0, 0.0]), CPT("z", [[1.0, 0.0], [0.5, 0.5]], parents="y"),
    ])  # fmt: skip
    with pytest.raises(ValueError, match="impossible evidence: the network gives z = 1"):
        network.query("a", {"z": 1})
    assert_allclose(network.query("a", {"z": 0}).values, [0.4, 0.6])
    with pytest.raises(ValueError, match="impossible evidence"):
        network.sample(3, evidence={"z": 1})
    with pytest.raises(ValueError, match="impossible evidence"):
        network.probability({"a": 0}, {"z": 1})


def test_many_observations_do_not_underflow():
    """3,000 observed children of one class, each with probability 1e-3."""
    n = 3000
    cpds = [CPT("c", [0.5, 0.5])]
    cpds += [CPT(i, [[1e-3, 0.999], [2e-3, 0.998]], parents=["c"]) for i in range(n)]
    network = BayesianNetwork(cpds=cpds)
    few = dict.fromkeys(range(5), 0)
    assert_allclose(network.query("c", few).values, [1 / 33, 32 / 33], rtol=1e-12)
    balanced = {i: 0 if i < 400 else 1 for i in range(n)}
    ratio = 400 * np.log(2) + 2600 * np.log(0.998 / 0.999)
    found = network.query("c", balanced).values
    assert_allclose(np.log(found[1] / found[0]), ratio, rtol=1e-9)


def test_cost_is_known_before_anything_is_built():
    states = {f"p{i}": (0, 1) for i in range(40)} | {"x": (0, 1)}
    network = BayesianNetwork([(f"p{i}", "x") for i in range(40)], states=states)
    cost = network.cost("x")
    assert cost.largest_table >= 2.0**40
    assert cost.bytes > 2.0**40
    import polars as pl

    frame = pl.DataFrame({name: [0, 1, 1, 0] for name in states})
    with pytest.raises(MemoryError, match=r"table of 'x' with its 40 parents needs 16 TiB"):
        network.fit(frame)


def test_too_large_a_query_is_refused_with_a_cure():
    alarm = read_network(load_network("alarm"))
    with pytest.raises(MemoryError, match="sample"):
        alarm.joint()
    cost = alarm.cost("HYPOVOLEMIA", ["BP"])
    with pytest.raises(MemoryError, match="max_bytes"):
        alarm.query("HYPOVOLEMIA", {"BP": "LOW"}, max_bytes=cost.bytes / 2)
    expected = alarm.query("HYPOVOLEMIA", {"BP": "LOW"})
    found = alarm.query("HYPOVOLEMIA", {"BP": "LOW"}, max_bytes=cost.bytes)
    assert_allclose(found.values, expected.values, rtol=1e-12)
    assert set(cost.order) <= set(alarm.dag_.ancestors(["HYPOVOLEMIA", "BP"]))


def test_large_intermediate_tables():
    """A table larger than the first arena: 2^18 entries, against a product of margins."""
    n = 17
    rng = np.random.default_rng(0)
    cpds = [CPT(i, rng.dirichlet(np.ones(2))) for i in range(n)]
    cpds.append(CPT("y", rng.dirichlet(np.ones(2), [2] * n), parents=range(n)))
    network = BayesianNetwork(cpds=cpds)
    truth = cpds[-1].values
    for i in range(n):
        truth = np.tensordot(cpds[i].values, truth, axes=(0, 0))
    assert_allclose(network.query("y").values, truth, rtol=1e-10)
    assert network.query(list(range(n))).values.shape == (2,) * n


def test_unknown_names_and_states():
    asia = read_network(load_network("asia"))
    for ask, words in [
        (lambda: asia.query("lungs"), "no variable 'lungs'"),
        (lambda: asia.query("lung", {"xray": "maybe"}), "no state 'maybe'"),
        (lambda: asia.query("lung", {"x": "yes"}), "no variable 'x'"),
        (lambda: asia.query("lung", {"lung": "yes"}), "asked for and observed"),
        (lambda: asia.query("lung", max_bytes=-1), "max_bytes must be > 0"),
        (lambda: asia.sample(0), "n_samples"),
        (lambda: BayesianNetwork(cpds=[]).dag_, "at least one"),
        (lambda: BayesianNetwork(cpds=[CPT("a", [1.0], parents=())] * 2).dag_, "two distributions"),
        (lambda: BayesianNetwork([("a", "b")], cpds=[CPT("a", [1.0])]).dag_, "differ"),
        (lambda: CPT("a", [[0.5, 0.5], [0.5, 0.4]], parents=["b"]), r"row \(1,\)"),
        (lambda: Factor({"a": (0, 1)}, [0.0, 0.0]).normalise(), "impossible evidence"),
    ]:
        with pytest.raises(ValueError, match=words):
            ask()


def test_sampling_has_the_right_frequencies_for_any_number_of_threads():
    alarm = read_network(load_network("alarm"))
    n = 60_000
    with limit_threads(1):
        one = alarm.sample(n, random_state=5)
    with limit_threads(3):
        assert alarm.sample(n, random_state=5).equals(one)
    assert alarm.sample(100, random_state=5).equals(one[:100])  # keyed by row
    for v, share in alarm.marginals().items():
        found = np.array([(one[v] == s).mean() for s in alarm.states_[v]])
        error = np.sqrt(share.values * (1 - share.values) / n)
        assert (np.abs(found - share.values) <= 5 * error + 1e-9).all()
    pair = alarm.query(["HR", "CO"])
    for i, j in np.ndindex(pair.values.shape):
        both = ((one["HR"] == pair.scope["HR"][i]) & (one["CO"] == pair.scope["CO"][j])).mean()
        assert abs(both - pair.values[i, j]) < 5 * np.sqrt(0.25 / n)


def test_sampling_given_evidence_is_exact():
    network = random_network(np.random.default_rng(11), n=5)
    nodes = network.dag_.nodes
    last = network.dag_.topological_order()[-1]
    seen = {last: network.states_[last][-1]}
    n = 40_000
    drawn = network.sample(n, evidence=seen, random_state=1)
    assert drawn.columns == list(nodes)
    assert (drawn[last] == seen[last]).all()
    joint = network.query([v for v in nodes if v != last], seen)
    counts = np.zeros(joint.values.shape)
    np.add.at(counts, tuple(drawn[v].to_numpy() for v in joint.names), 1)
    live = joint.values > 0
    assert counts[~live].sum() == 0
    expected = n * joint.values[live]
    statistic = ((counts[live] - expected) ** 2 / expected).sum()
    assert statistic < live.sum() + 6 * np.sqrt(2 * live.sum())


def test_factor_rules():
    rng = np.random.default_rng(0)
    p = Factor(dict.fromkeys("abc", (0, 1, 2)), rng.dirichlet(np.ones(27)))
    chain = p._keep(("a",)) * p._keep(("a", "b")).condition("a") * p.condition(["a", "b"])
    assert_allclose(chain.reorder("abc").values, p.values)
    prior, likelihood = p._keep(("a",)), p._keep(("a", "b")).condition("a")
    bayes = (prior * likelihood).reduce({"b": 2}).normalise()
    assert_allclose(bayes.values, p._keep(("a", "b")).condition("b").reduce({"b": 2}).values)
    assert_allclose(p.maximise({"a", "c"}).values, p.values.max(axis=(0, 2)))
    assert p.at({"a": 0, "b": 1, "c": 2}) == p.values[0, 1, 2]
    assert p.at(p.best()) == p.values.max()
    with pytest.raises(ValueError, match="states"):
        p * Factor({"a": (0, 1)}, [1, 1])


def test_joint_table_converts():
    class Table:
        p = np.array([[0.1, 0.2], [0.3, 0.4]])
        variables = {"a": (0, 1), "b": ("n", "y")}  # noqa: RUF012

    assert Factor.from_table(Table()).at({"a": 1, "b": "n"}) == 0.3
    assert DAG([("a", "b")]).is_i_map(Table())


def test_pruned_and_full_answers_are_equal_on_every_small_dag():
    """Separation in the graph is what pruning uses: posterior unchanged by separated evidence."""
    rng = np.random.default_rng(2)
    for dag in list(enumerate_dags("ABCD"))[::23]:
        cpds = [CPT(v, rng.dirichlet(np.ones(2), [2] * (len(dag.family(v)) - 1)),
                    parents=dag.family(v)[:-1]) for v in dag.nodes]  # fmt: skip
        network = BayesianNetwork(cpds=cpds)
        joint = network.joint()
        for given in ((), ("C",), ("C", "D")):
            seen = dict.fromkeys(given, 1)
            with_b = joint.reduce({**seen, "B": 1})._keep(("A",)).normalise()
            without = joint.reduce(seen)._keep(("A",)).normalise()
            assert_allclose(network.query("A", {**seen, "B": 1}).values, with_b.values, atol=1e-12)
            if dag.d_separated("A", "B", given):
                assert_allclose(with_b.values, without.values, atol=1e-12)
