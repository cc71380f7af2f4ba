"""Setting instead of seeing, against the truncated factorisation; back-door sets by enumeration."""

from itertools import chain, combinations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from pellucid.data import load_network
from pellucid.graphical import (
    CPT,
    DAG,
    BayesianNetwork,
    LinearGaussianCPD,
    enumerate_dags,
    read_network,
)


def planted(dag, rng):
    parents = {v: dag.family(v)[:-1] for v in dag.nodes}
    return BayesianNetwork(cpds=[
        CPT(v, rng.dirichlet(np.ones(2), [2] * len(some)), parents=some)
        for v, some in parents.items()
    ])  # fmt: skip


def truncated(network, settings):
    """prod p(v | parents) over the variables that are not set, at the settings: a table."""
    nodes = network.dag_.nodes
    shape = tuple(len(network.states_[v]) for v in nodes)
    out = np.ones(shape)
    for at in np.ndindex(shape):
        state = dict(zip(nodes, at, strict=True))
        if any(state[v] != s for v, s in settings.items()):
            out[at] = 0.0
            continue
        for v in nodes:
            if v not in settings:
                cpd = network.cpds_[v]
                out[at] *= cpd.values[(*(state[p] for p in cpd.parents), state[v])]
    return out


def subsets(items):
    sizes = range(len(items) + 1)
    return map(frozenset, chain.from_iterable(combinations(items, k) for k in sizes))


def has_open_back_door(dag, x, y, given):
    """The definition, path by path: some path that enters x by an arrow is open."""
    near = {v: dag.parents(v) | dag.children(v) for v in dag.nodes}

    def is_open(path):
        for u, v, w in zip(path, path[1:], path[2:], strict=False):
            collider = (u, v) in dag.edges and (w, v) in dag.edges
            if collider != bool(({v} | (dag.descendants(v) if collider else set())) & given):
                return False
        return True

    def paths(path):
        if path[-1] == y:
            yield path
            return
        for v in near[path[-1]] - set(path):
            yield from paths([*path, v])

    return any((path[1], x) in dag.edges and is_open(path) for path in paths([x]))


@pytest.mark.parametrize("seed", range(3))
def test_setting_against_the_truncated_product(seed):
    rng = np.random.default_rng(seed)
    network = planted(list(enumerate_dags("ABCD"))[int(rng.integers(543))], rng)
    for settings in ({"B": 1}, {"A": 0, "C": 1}):
        table = truncated(network, settings)
        changed = network.do(settings)
        assert_allclose(changed.joint().reorder("ABCD").values, table, atol=1e-12)
        assert_allclose(network.query("D", do=settings).values,
                        table.sum(axis=(0, 1, 2)), atol=1e-12)  # fmt: skip
        seen = table[..., 1].sum(axis=(1, 2)) if "A" not in settings else None
        if seen is not None:
            answer = network.query("A", {"D": 1}, do=settings)
            assert_allclose(answer.values, seen / seen.sum(), atol=1e-12)


def test_every_back_door_set_of_every_graph_of_four_nodes():
    """The criterion is the definition; minimal sets are found; each valid set gives do(x)."""
    rng = np.random.default_rng(0)
    for g, dag in enumerate(enumerate_dags("ABCD")):
        others = [v for v in dag.nodes if v not in ("A", "B")]
        valid = []
        for z in subsets(others):
            truth = not (z & dag.descendants("A")) and not has_open_back_door(dag, "A", "B", z)
            assert dag.is_adjustment_set("A", "B", z) == truth
            if truth:
                valid.append(z)
        minimal = {z for z in valid if not any(other < z for other in valid)}
        assert set(dag.adjustment_sets("A", "B")) == minimal
        if g % 20 == 0 and valid:
            network = planted(dag, rng)
            exact = network.query("B", do={"A": 1}).values
            for z in valid:
                assert_allclose(network.effect("B", {"A": 1}, adjust=z).values, exact, atol=1e-10)


def test_hidden_causes_and_refusals():
    dag = DAG([("u", "x"), ("u", "y"), ("x", "m"), ("m", "y")])
    assert dag.adjustment_sets("x", "y") == [frozenset("u")]
    assert dag.adjustment_sets("x", "y", hidden="u") == []
    assert not dag.is_adjustment_set("x", "y", ["u", "m"])  # m is an effect of x
    assert dag.do("x").parents("x") == frozenset()
    network = planted(dag, np.random.default_rng(0))
    with pytest.raises(ValueError, match="back-door"):
        network.effect("y", {"x": 1}, adjust="m")
    with pytest.raises(ValueError, match="set and observed"):
        network.query("y", {"x": 1}, do={"x": 0})
    with pytest.raises(ValueError, match="one variable"):
        network.effect("y", {})
    with pytest.raises(ValueError, match="no state"):
        network.do({"x": 7})


def test_setting_a_gaussian_variable():
    """z -> x -> y <- z: the slope of do(x) is the coefficient, that of seeing x is not."""
    cpds = [
        LinearGaussianCPD("z", 0.0, [], 1.0),
        LinearGaussianCPD("x", 1.0, [2.0], 1.0, parents=["z"]),
        LinearGaussianCPD("y", 0.5, [3.0, -4.0], 2.0, parents=["x", "z"]),
    ]
    network = BayesianNetwork(cpds=cpds)
    law = network.query("y", do={"x": 2.0})
    assert_allclose([law.mean[0], law.covariance[0, 0]], [6.5, 18.0])
    assert network.query("y", {"x": 2.0}).mean[0] < 6.0
    with pytest.raises(ValueError, match="Gaussian"):
        network.do({"x": 2.0})


# --- answers from draws --------------------------------------------------------------------


@pytest.mark.parametrize("method", ["likelihood_weighting", "gibbs"])
@pytest.mark.parametrize("name", ["sachs", "child"])
def test_answers_from_draws(name, method):
    """Within four standard errors of the exact posterior, jointly for two targets too."""
    network = read_network(load_network(name))
    rows = network.sample(3, random_state=1)
    nodes = network.dag_.nodes
    for i in range(3):
        seen = {v: rows[v][i] for v in nodes[2 + i :: 5]}
        asked = [v for v in nodes if v not in seen][: 1 + i % 2]
        found = network.approximate(asked, seen, method=method, n_samples=40_000, random_state=i)
        exact = network.query(asked, seen).values
        gap = np.abs(found.factor.values - exact)
        assert (gap <= 4.5 * found.standard_error + 2e-3).all()
        assert 100 < found.effective_sample_size <= 40_000 * 1.001


def test_the_errors_are_true():
    """The spread over many seeds is the standard error that each run states."""
    asia, sachs = (read_network(load_network(name)) for name in ("asia", "sachs"))
    akt = {"Akt": sachs.states_["Akt"][0]}
    rows = [[0.7, 0.3], [0.4, 0.6]]
    chain_ = BayesianNetwork(
        cpds=[CPT("a", [0.6, 0.4]), CPT("b", rows, parents="a"), CPT("c", rows, parents="b")]
    )
    for network, method, asked, seen in (
        (asia, "likelihood_weighting", "lung", {"xray": "yes"}),
        (sachs, "likelihood_weighting", "PKA", akt),
        (chain_, "gibbs", "a", {"c": 1}),
    ):
        runs = [
            network.approximate(asked, seen, method=method, n_samples=8000, random_state=s)
            for s in range(60)
        ]
        spread = np.std([run.factor.values[0] for run in runs])
        stated = np.mean([run.standard_error[0] for run in runs])
        assert 0.7 < stated / spread < 1.5
    alone = asia.approximate("smoke", n_samples=1000, random_state=0)
    assert alone.effective_sample_size == 1000


def test_same_draws_for_any_thread_count():
    from pellucid.core.runtime.threads import limit_threads

    network = read_network(load_network("child"))
    answers = []
    for threads in (1, 3):
        with limit_threads(threads):
            answers.append(network.approximate("Age", {"LVHreport": "yes"}, method="gibbs",
                                               n_samples=4000, random_state=0))  # fmt: skip
    assert (answers[0].factor.values == answers[1].factor.values).all()


def test_a_network_that_is_too_large_for_exact_answers():
    """A grid of 24 x 24: exact inference is refused and offers draws, which then answer."""
    n, cpds = 24, []
    for i in range(n):
        for j in range(n):
            parents = [f"{a}.{b}" for a, b in ((i - 1, j), (i, j - 1)) if a >= 0 and b >= 0]
            table = np.full((2,) * (len(parents) + 1), 0.5)
            if parents:
                table[(0,) * len(parents)] = [0.8, 0.2]
                table[(1,) * len(parents)] = [0.2, 0.8]
            cpds.append(CPT(f"{i}.{j}", table, parents=parents))
    network = BayesianNetwork(cpds=cpds)
    with pytest.raises(MemoryError, match="approximate"):
        network.query("0.0", {"23.23": 1}, max_bytes=1e6)
    found = network.approximate("12.12", {"12.13": 1}, n_samples=4000, random_state=0)
    assert 0.55 < found.factor.at({"12.12": 1}) < 0.75


def test_few_rows_warn_and_none_raise():
    network = BayesianNetwork(
        cpds=[CPT("a", [0.999, 0.001]), CPT("b", [[1.0, 0.0], [0.0, 1.0]], parents="a")]
    )
    with pytest.warns(UserWarning, match="effective rows"):
        network.approximate("a", {"b": 1}, n_samples=20_000, random_state=3)
    with pytest.raises(ValueError, match="none of the 10 draws"):
        network.approximate("a", {"b": 1}, n_samples=10, random_state=0)
    with pytest.raises(ValueError, match="asked for and observed"):
        network.approximate("a", {"a": 1})
    for wrong in (0, 2.5):
        with pytest.raises(ValueError, match=f"n_samples must be a whole number >= 1, got {wrong}"):
            network.approximate("a", n_samples=wrong)
