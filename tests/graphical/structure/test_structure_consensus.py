"""Essential graphs, consensus, open sizes, tests in bulk; distance to the truth (GRA-12..14).

Paired with pgmpy and pyAgrum on the same rows where they are installed.
"""

from itertools import combinations

import numpy as np
import polars as pl
import pytest
from numpy.testing import assert_allclose
from scipy.special import chdtrc, comb

from pellucid import ConstraintBasedStructure, ModelAveragingStructure, ScoreBasedStructure
from pellucid.data import load_network
from pellucid.graphical import (
    CPDAG,
    DAG,
    EdgeKnowledge,
    enumerate_dags,
    independence_test,
    read_network,
    structure_score,
)
from pellucid.graphical.learning.counts import encode_table
from pellucid.graphical.structure.consensus import consensus_graph, marks_of, neighbours
from pellucid.graphical.structure.independence import count_test
from pellucid.graphical.structure.knowledge import constraints_of
from pellucid.graphical.structure.scores import SIZES, likeliest_size, make_score, parents_of
from pellucid.graphical.structure.separating_kernels import chi2_tail, separate
from pellucid.graphical.structure.structure_chain import draw_graphs


def distance(one, other):
    def marks(graph):
        return {frozenset(e): e for e in graph.directed} | dict.fromkeys(graph.undirected, "-")

    a, b = marks(one), marks(other)
    return sum(a.get(pair) != b.get(pair) for pair in a.keys() | b.keys())


def bits(dag):
    return [sum(1 << dag.nodes.index(p) for p in dag.parents(v)) for v in dag.nodes]


def from_bits(graph, names):
    d = len(names)
    return DAG([(names[u], names[v]) for v in range(d) for u in range(d) if graph[v] >> u & 1],
               list(names))  # fmt: skip


def small_table(seed, n=80, d=4, k=2):
    rng = np.random.default_rng(seed)
    Z = rng.integers(0, k, size=(n, d))
    Z[:, 1] = np.where(rng.random(n) < 0.6, Z[:, 0], Z[:, 1])
    Z[:, 2] = np.where(rng.random(n) < 0.5, (Z[:, 1] + Z[:, -1]) % k, Z[:, 2])
    return pl.DataFrame(Z, schema=list("abcdefgh")[:d])


def coded(X, w=None):
    w = np.ones(len(X)) if w is None else w
    return encode_table([X[c].to_numpy() for c in X.columns], X.columns, w)


# --- tests in bulk -------------------------------------------------------------------------


def test_tail_of_chi2():
    dof, x = np.meshgrid([1, 2, 3, 4, 7, 30, 101, 5001], [1e-8, 0.3, 2.0, 9, 80, 5100])
    mine = np.vectorize(chi2_tail)(dof, x)
    assert_allclose(mine, chdtrc(dof, x), rtol=1e-10, atol=1e-300)
    assert chi2_tail(0, 3.0) == chi2_tail(4, 0.0) == 1.0


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("m", [0, 1, 2, 3])
def test_a_round_is_its_single_tests(m, weighted):
    """The sets in order, those of b that a had already left out, until one separates."""
    rng = np.random.default_rng(m)
    X = rng.integers(0, [2, 3, 2, 4, 2, 3], size=(120, 6)).astype(np.int16)
    w = rng.integers(0, 3, 120).astype(float) if weighted else np.ones(120)
    table = coded(pl.DataFrame(X, schema=list("abcdef")), w)
    graph = rng.random((6, 6)) < 0.8
    graph |= graph.T
    graph[np.arange(6), np.arange(6)] = False
    for alpha in (0.3, 1.0):
        sets, results, separated = separate(
            table.codes, graph, 1, 4, m, table.card, table.w, True, alpha, 1e6
        )
        expected, tried = [], []
        for centre, other in ((1, 4), (4, 1)):
            near = [u for u in np.flatnonzero(graph[centre]) if u != other]
            tried += [s for s in combinations(near, m) if s not in tried]
        for given in tried:
            expected.append(count_test(table, 1, 4, given, "g2"))
            if expected[-1].p_value > alpha:
                break
        assert [tuple(s) for s in sets] == tried[: len(expected)]
        assert_allclose(results, expected, rtol=1e-10, atol=1e-10)
        assert separated == (expected[-1].p_value > alpha)
    none, *_ = separate(table.codes, graph, 1, 4, m, table.card, table.w, True, 0.3, 5.0)
    assert len(none) == 0  # 6 cells are more than 5


def test_the_clearest_set_separates():
    """Of every pair with a common neighbour: the largest p among all sets of neighbours."""
    X = small_table(7, 400, 6)
    model = ConstraintBasedStructure().fit(X)
    near = {v: {u for pair in model.skeleton_ if v in pair for u in pair - {v}} for v in X.columns}
    most = max(len(test.given) for test in model.tests_)
    pairs = [pair for pair in model.sepsets_ if set.intersection(*(near[v] for v in pair))]
    assert pairs
    for a, b in map(sorted, pairs):
        sets = {
            s for v in (a, b) for m in range(most + 1) for s in combinations(sorted(near[v]), m)
        }
        best = max(independence_test(X, a, b, s).p_value for s in sets)
        found = independence_test(X, a, b, sorted(model.sepsets_[frozenset((a, b))])).p_value
        assert found >= best - 1e-12
    made = [(test.a, test.b, test.given) for test in model.tests_]
    assert len(made) == len(set(made))
    with pytest.raises(ValueError, match="colliders"):
        ConstraintBasedStructure(colliders="last").fit(X)


def test_clear_sets_leave_sachs_undirected():
    """Its class has no direction at all; the first sets found make colliders of common causes."""
    truth = read_network(load_network("sachs"))
    X = truth.sample(5000, random_state=0)
    far = [
        distance(ConstraintBasedStructure(alpha=0.01, test="chi2", colliders=c).fit(X).cpdag_,
                 truth.dag_.cpdag())
        for c in ("clearest", "first")
    ]  # fmt: skip
    assert far[0] <= 2
    assert far[0] < far[1]


# --- consensus -----------------------------------------------------------------------------


def test_marks_are_those_of_the_essential_graph():
    """Of graphs on four nodes, and larger ones."""
    rng = np.random.default_rng(0)
    dags = list(enumerate_dags("abcd"))[::3]
    for _ in range(40):
        upper = np.triu(rng.random((7, 7)) < 0.4, 1)
        names = rng.permutation(list("abcdefg")).tolist()
        dags.append(DAG([(names[u], names[v]) for u, v in np.argwhere(upper)], names))
    for dag in dags:
        (found,) = marks_of([bits(dag)])
        graph = dag.cpdag()
        for mark, (a, b) in zip(found, combinations(dag.nodes, 2), strict=True):
            line = 3 * (frozenset((a, b)) in graph.undirected)
            assert mark == line + ((a, b) in graph.directed) + 2 * ((b, a) in graph.directed)


def test_consensus_has_the_least_expected_distance():
    dags = list(enumerate_dags("abcd"))
    rng = np.random.default_rng(0)
    some = rng.choice(len(dags), 12, replace=False)
    weights = rng.dirichlet(np.ones(12))
    limits = constraints_of(None, "abcd")

    def risk(dag):
        return sum(w * distance(dag.cpdag(), dags[g].cpdag())
                   for w, g in zip(weights, some, strict=True))  # fmt: skip

    found = consensus_graph(np.array([bits(dags[g]) for g in some]), weights, limits, 3)
    assert_allclose(found.distance, risk(from_bits(found.graph, "abcd")))
    assert found.distance <= min(risk(dags[g]) for g in some) + 1e-12
    assert found.distance <= min(map(risk, dags)) + 0.3


def test_neighbours_are_all_legal_graphs_one_edge_away():
    start, names = DAG([("a", "b"), ("b", "c"), ("a", "c")], list("abcd")), "abcd"
    known = EdgeKnowledge(required=[("a", "b")], forbidden=[("d", "a")])
    limits = constraints_of(known, names)
    found = {from_bits(g, names).edges for g in neighbours(bits(start), limits, 2)}
    expected = set()
    for dag in enumerate_dags(names):
        pairs = {frozenset(e) for e in dag.edges ^ start.edges}
        legal = ("a", "b") in dag.edges and ("d", "a") not in dag.edges
        if len(pairs) == 1 and legal and all(len(dag.parents(v)) <= 2 for v in names):
            expected.add(dag.edges)
    assert found == expected


def test_consensus_of_a_fit():
    X = small_table(1)
    model = ModelAveragingStructure().fit(X)
    risks = [
        sum(w * distance(one.cpdag(), dag.cpdag())
            for w, dag in zip(model.weights_[:60], model.dags_[:60], strict=True))
        for one in (model.consensus_, model.dag_)
    ]  # fmt: skip
    assert_allclose(model.expected_distance_, risks[0], atol=6 * model.weights_[60:].sum())
    assert risks[0] <= risks[1] + 6 * model.weights_[60:].sum()
    known = EdgeKnowledge(required=[("d", "a")])
    model = ModelAveragingStructure(knowledge=known).fit(X)
    assert ("d", "a") in model.consensus_.edges
    assert "expected distance" in str(model.card())


# --- open sample sizes ---------------------------------------------------------------------


def test_sizes_are_averaged_by_their_posterior():
    X = small_table(2, d=3)
    model = ModelAveragingStructure(equivalent_sample_size="auto").fit(X)
    values = np.array([
        [structure_score(dag, X, score="bdeu", equivalent_sample_size=e) for e in SIZES]
        for dag in model.dags_
    ])  # fmt: skip
    P = np.exp(values - values.max())
    P /= P.sum()
    assert_allclose(model.weights_, P.sum(axis=1))
    assert_allclose(np.log(model.equivalent_sample_size_), P.sum(axis=0) @ np.log(SIZES))


@pytest.mark.parametrize("graphs", ["all", "given"])
def test_the_sparse_prior_is_uniform_over_the_number_of_parents(graphs):
    X = small_table(5)
    model = ModelAveragingStructure(structure_prior="sparse")
    if graphs == "given":
        model.candidates = [[("a", "b")], [("a", "b"), ("c", "b")], []]
    model.fit(X)
    values = np.array([structure_score(dag, X, score="bdeu") for dag in model.dags_])
    values -= [sum(np.log(comb(3, len(dag.parents(v)))) for v in "abcd") for dag in model.dags_]
    P = np.exp(values - np.max(values))
    assert_allclose(model.weights_, P / P.sum())
    with pytest.raises(ValueError, match="structure_prior"):
        ModelAveragingStructure(structure_prior="dense").fit(X)


def test_the_chain_keeps_to_the_prior():
    X = small_table(6, d=5)
    exact = ModelAveragingStructure(structure_prior="sparse").fit(X)
    prior = exact._by_parents(5)
    ladder, limits = [make_score(coded(X), "bdeu", 10.0)], constraints_of(None, X.columns)
    rng = np.random.default_rng(0)
    drawn = draw_graphs(ladder, np.zeros((5, 5), bool), limits, 4, 4000, rng, prior=prior)
    edges = np.array(drawn.graphs)[:, None, :] >> np.arange(5)[:, None] & 1
    found = np.tensordot(drawn.counts, edges, 1) / 4000
    assert_allclose(found, exact.edge_probabilities_, atol=0.07)


def test_the_chain_climbs_the_ladder():
    X = small_table(3)
    exact = ModelAveragingStructure(equivalent_sample_size="auto").fit(X)
    table = coded(X)
    ladder = [make_score(table, "bdeu", e) for e in SIZES]
    drawn = draw_graphs(
        ladder, np.zeros((4, 4), bool), constraints_of(None, X.columns), 3, 6000,
        np.random.default_rng(0), 5,
    )  # fmt: skip
    edges = np.zeros((4, 4))
    for graph, count in zip(drawn.graphs, drawn.counts, strict=True):
        edges += count * (np.array(graph)[None, :] >> np.arange(4)[:, None] & 1)
    assert_allclose(edges / 6000, exact.edge_probabilities_, atol=0.06)
    mean = np.exp(drawn.rungs @ np.log(SIZES) / 6000)
    assert 0.6 < mean / exact.equivalent_sample_size_ < 1.6


@pytest.mark.parametrize("search", ["hill_climbing", "exact"])
def test_an_open_size_suits_the_graph(search):
    X = small_table(4, 300, 5)
    options = {"score": "bdeu", "search": search}
    model = ScoreBasedStructure(equivalent_sample_size="auto", **options).fit(X)
    table = coded(X)
    size = likeliest_size(table, parents_of(model.dag_, table.names))
    assert size == model.equivalent_sample_size_
    first = ScoreBasedStructure(equivalent_sample_size=8.0, **options).fit(X)
    assert model.score_ >= first.score_
    assert f"sample size {size:g}" in str(model.card())
    for cls in (ScoreBasedStructure, ModelAveragingStructure):
        with pytest.raises(ValueError, match="equivalent_sample_size"):
            cls(equivalent_sample_size="many").fit(X)


# --- distance to the truth, beside the peers -----------------------------------------------


def agrum_graph(X, score):
    gum = pytest.importorskip("pyagrum")
    learner = gum.BNLearner(X.astype(str))
    getattr(learner, f"useScore{score}")()
    learner.useNoPrior()
    learner.useGreedyHillClimbing()
    arcs = [tuple(map(learner.nameFromId, arc)) for arc in learner.learnDAG().arcs()]
    return DAG(arcs, X.columns).cpdag()


def pgmpy_graph(X, score):
    discovery = pytest.importorskip("pgmpy.causal_discovery")
    climb = discovery.HillClimbSearch(
        scoring_method={"BIC": "bic-d", "BDeu": "bdeu", "K2": "k2"}[score], return_type="dag",
        show_progress=False,
    )  # fmt: skip
    found = climb.fit(X.astype(str).astype("category")).causal_graph_
    return DAG(list(found.edges()), X.columns).cpdag()


def paired(name, rows, seeds, learners):
    """Distances to the truth, (samples, learners), all on the same rows."""
    truth = read_network(load_network(name))
    target = truth.dag_.cpdag()
    found = []
    for n in rows:
        for seed in seeds:
            X = truth.sample(n, random_state=seed).to_pandas().astype(str)
            found.append([distance(learn(X), target) for learn in learners])
    return np.array(found, float)


def no_farther(ours, theirs):
    """The mean paired difference is not above zero by more than its standard error."""
    d = ours - theirs
    return d.mean() <= d.std(ddof=1) / np.sqrt(len(d))


def averaged(X):
    model = ModelAveragingStructure(
        equivalent_sample_size="auto", structure_prior="sparse", n_samples=150, random_state=0
    )
    return model.fit(X).consensus_.cpdag()


def climbed(X):
    return ScoreBasedStructure().fit(X).cpdag_


def test_asia_is_found_no_farther_than_by_peers():
    pytest.importorskip("pyagrum")
    D = paired("asia", (1000,), range(6), [
        climbed, averaged, lambda X: agrum_graph(X, "BIC"), lambda X: agrum_graph(X, "BDeu")
    ])  # fmt: skip
    for ours in (0, 1):
        for theirs in (2, 3):
            assert no_farther(D[:, ours], D[:, theirs])


def agrum_pc(X):
    gum = pytest.importorskip("pyagrum")
    learner = gum.BNLearner(X.astype(str))
    learner.usePC()
    learner.useChi2Test()
    learner.setPCAlpha(0.01)
    learner.setPCStable(True)
    found, name = learner.learnPDAG(), learner.nameFromId
    return CPDAG(
        frozenset((name(a), name(b)) for a, b in found.arcs()),
        frozenset(frozenset((name(a), name(b))) for a, b in found.edges()),
    )


@pytest.mark.parametrize("name", ["asia", "sachs"])
def test_every_score_and_pc_beside_pyagrum(name):
    """Over samples of three sizes the mean distance is no larger, learner by learner."""
    options = [{"score": "bic"}, {"score": "bdeu", "equivalent_sample_size": 1.0}, {"score": "k2"}]
    learners = [lambda X, o=o: ScoreBasedStructure(**o).fit(X).cpdag_ for o in options]
    learners += [lambda X: ConstraintBasedStructure(test="chi2", alpha=0.01).fit(X).cpdag_]
    learners += [lambda X, s=s: agrum_graph(X, s) for s in ("BIC", "BDeu", "K2")]
    D = paired(name, (500, 1000, 5000), range(5), [*learners, agrum_pc])
    assert (D[:, :4].mean(axis=0) <= D[:, 4:].mean(axis=0)).all(), D.mean(axis=0)


@pytest.mark.slow
def test_sachs_is_found_no_farther_than_by_peers():
    """Few rows: an open sample size, alone or averaged over graphs, against every score."""
    D = paired("sachs", (500, 2000), range(6), [
        lambda X: ScoreBasedStructure(score="bdeu", equivalent_sample_size="auto").fit(X).cpdag_,
        averaged,
        *(lambda X, score=score: agrum_graph(X, score) for score in ("BIC", "BDeu", "K2")),
        *(lambda X, score=score: pgmpy_graph(X, score) for score in ("BIC", "BDeu", "K2")),
    ])  # fmt: skip
    for ours in (0, 1):
        for theirs in range(2, 8):
            assert no_farther(D[:, ours], D[:, theirs])
