"""Tests, scores, searches, averaging: catalogue values, exact answers, recovery (GRA-10..14)."""

from itertools import combinations, product

import numpy as np
import polars as pl
import pytest
from numpy.testing import assert_allclose
from scipy.special import gammaln
from scipy.stats import chi2_contingency
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

from pellucid import ConstraintBasedStructure, ModelAveragingStructure, ScoreBasedStructure
from pellucid.core.loops.iterate import History
from pellucid.data import load_network
from pellucid.graphical import (
    CPDAG,
    CPT,
    DAG,
    BayesianNetwork,
    EdgeKnowledge,
    enumerate_dags,
    independence_test,
    read_network,
    structure_score,
)
from pellucid.graphical.learning.counts import encode_table
from pellucid.graphical.structure.constraint_based import extend, nearest_dag
from pellucid.graphical.structure.exact_search import graph_bits
from pellucid.graphical.structure.hill_climbing import REBUILD, Climber, n_colliders, shake
from pellucid.graphical.structure.knowledge import constraints_of
from pellucid.graphical.structure.scores import make_score
from pellucid.graphical.structure.structure_chain import draw_graphs
from pellucid.graphical.structure.trees import spanning_forest

PLAY = """Sunny Hot High Weak No; Sunny Hot High Strong No; Overcast Hot High Weak Yes;
Rainy Mild High Weak Yes; Rainy Cool Normal Weak Yes; Rainy Cool Normal Strong No;
Overcast Cool Normal Strong Yes; Sunny Mild High Weak No; Sunny Cool Normal Weak Yes;
Rainy Mild Normal Weak Yes; Sunny Mild Normal Strong Yes; Overcast Mild High Strong Yes;
Overcast Hot Normal Weak Yes; Rainy Mild High Strong No"""
COLUMNS = ["Outlook", "Temp", "Humidity", "Wind", "Play"]


def play_ball():
    return pl.DataFrame([r.split() for r in PLAY.split(";")], schema=COLUMNS, orient="row")


def genes():
    """1000 rows with the exact frequencies of example 19."""
    on = {(1, 1): 0.9, (1, 0): 0.6, (0, 1): 0.7, (0, 0): 0.1}
    rows = []
    for a, b in product((0, 1), repeat=2):
        p = (0.3 if a else 0.7) * (0.3 if b else 0.7)
        rows += [(a, b, 1)] * round(1000 * p * on[a, b])
        rows += [(a, b, 0)] * round(1000 * p * (1 - on[a, b]))
    return pl.DataFrame(rows, schema=["A", "B", "C"], orient="row")


COLLIDER = DAG([("A", "C"), ("B", "C")])


def random_table(seed, n=150, d=4, k=3):
    rng = np.random.default_rng(seed)
    Z = rng.integers(0, k, size=(n, d))
    Z[:, d - 1] = np.where(rng.random(n) < 0.6, (Z[:, 0] + Z[:, 1]) % k, Z[:, d - 1])
    Z[:, d - 2] = np.where(rng.random(n) < 0.7, Z[:, d - 1], Z[:, d - 2])
    return pl.DataFrame(Z, schema=list("abcdefgh")[:d])


# --- tests ---------------------------------------------------------------------------------


def test_example_24_tests_and_scores():
    X = play_ball()
    found = independence_test(X, "Outlook", "Play")
    assert_allclose(found, (4.7889503726, 2, 0.0912205401), atol=1e-9)
    assert_allclose(independence_test(X, "Outlook", "Play", method="chi2")[0], 3.5466666667)
    graph = [("Outlook", "Play"), ("Wind", "Play")]
    values = {
        "log_likelihood": -52.973748, "aic": -64.973748, "bic": -68.808092,
        "k2": -64.792193, "bdeu": -61.532068,
    }  # fmt: skip
    for name, value in values.items():
        assert_allclose(structure_score(graph, X, score=name), value, atol=5e-7)


def test_example_25():
    X = genes()
    assert_allclose(independence_test(X, "A", "B")[0], 0.0, atol=1e-9)
    assert_allclose(independence_test(X, "A", "C")[0], 146.8236, atol=5e-5)
    assert_allclose(independence_test(X, "A", "B", "C")[0], 54.7694, atol=5e-5)
    for search, score in product(
        ("exhaustive", "hill_climbing", "tabu", "exact"), ("bic", "aic", "k2", "bdeu")
    ):
        model = ScoreBasedStructure(score=score, search=search).fit(X)
        assert model.dag_ == COLLIDER, (search, score)
        assert_allclose(model.score_, structure_score(COLLIDER, X, score=score))
    assert_allclose(ScoreBasedStructure().fit(X).score_, -1700.613948, atol=5e-7)
    for test in ("g2", "chi2"):
        model = ConstraintBasedStructure(test=test).fit(X)
        assert model.dag_ == COLLIDER
        assert model.sepsets_ == {frozenset("AB"): frozenset()}
        assert model.skeleton_ == COLLIDER.skeleton()
        assert model.cpdag_ == COLLIDER.cpdag()
        assert not model.conflicts_


@pytest.mark.parametrize(("method", "word"), [("g2", "log-likelihood"), ("chi2", "pearson")])
def test_statistics_against_scipy(method, word):
    """Strata add up; empty rows and columns of a stratum do not count."""
    X = random_table(0, 60)
    statistic = dof = 0
    for _, part in X.group_by("c"):
        N = part.group_by("a", "b").len().pivot(on="b", index="a", values="len").fill_null(0)
        found = chi2_contingency(N.drop("a").to_numpy(), correction=False, lambda_=word)
        statistic, dof = statistic + found.statistic, dof + found.dof
    mine = independence_test(X, "a", "b", given="c", method=method)
    assert_allclose(mine[:2], (statistic, dof))


def test_fisher_z_is_a_partial_correlation():
    rng = np.random.default_rng(1)
    Z = rng.normal(size=(200, 4)) @ rng.normal(size=(4, 4))
    P = np.linalg.inv(np.corrcoef(Z.T))
    r = -P[0, 1] / np.sqrt(P[0, 0] * P[1, 1])
    found = independence_test(Z, "x0", "x1", ["x2", "x3"], method="fisher_z")
    assert_allclose(found.statistic, np.sqrt(195) * np.arctanh(r))
    assert found.dof == 195


def test_the_level_is_kept():
    """Independent columns: p-values are uniform enough that 5 % lie below 0.05."""
    rng = np.random.default_rng(2)
    low = [
        independence_test(rng.integers(0, 2, size=(400, 3)), "x0", "x1", "x2").p_value < 0.05
        for _ in range(300)
    ]
    assert 0.02 < np.mean(low) < 0.09


def test_bad_questions_are_refused():
    X = play_ball()
    for call, word in (
        (lambda: independence_test(X, "Rain", "Play"), "'Rain'"),
        (lambda: independence_test(X, "Play", "Play"), "different"),
        (lambda: independence_test(X, "Wind", "Play", "Wind"), "different"),
        (lambda: independence_test(X, "Wind", "Play", method="fisher_z"), "numbers"),
        (lambda: independence_test(X, "Wind", "Play", method="t"), "method"),
        (lambda: structure_score([("a", "b")], X), "'a'"),
        (lambda: structure_score([], X, score="mdl"), "score"),
        (lambda: independence_test(np.ones((9, 2)), "x0", "x1", method="fisher_z"), "constant"),
    ):
        with pytest.raises(ValueError, match=word):
            call()


# --- scores --------------------------------------------------------------------------------


@pytest.mark.parametrize("score", ["log_likelihood", "aic", "bic", "bdeu"])
def test_equivalent_graphs_have_equal_scores(score):
    X = random_table(3)
    by_class = {}
    for dag in enumerate_dags("abcd"):
        by_class.setdefault(dag.cpdag(), []).append(dag)
    for dags in list(by_class.values())[::9]:
        values = [structure_score(dag, X, score=score) for dag in dags[:3]]
        assert_allclose(values, values[0])


def test_bdeu_is_a_marginal_likelihood():
    """The closed form, written out for one family."""
    X = random_table(4)
    N = np.zeros((3, 3))
    np.add.at(N, (X["a"].to_numpy(), X["b"].to_numpy()), 1)
    a = 5.0 / 9
    row = gammaln(3 * a) - gammaln(3 * a + N.sum(axis=1))
    family = (row + (gammaln(a + N) - gammaln(a)).sum(axis=1)).sum()
    root = 5.0 / 3
    first = gammaln(5.0) - gammaln(5.0 + N.sum())
    first += (gammaln(root + N.sum(axis=1)) - gammaln(root)).sum()
    found = structure_score(
        [("a", "b")], X.select("a", "b"), score="bdeu", equivalent_sample_size=5.0
    )
    assert_allclose(found, family + first)


# --- searches ------------------------------------------------------------------------------


@pytest.mark.parametrize("score", ["bic", "aic", "k2", "bdeu", "log_likelihood"])
@pytest.mark.parametrize("max_parents", [None, 1])
def test_exact_finds_what_all_graphs_show(score, max_parents):
    X = random_table(5)
    options = {"score": score, "max_parents": max_parents}
    exact = ScoreBasedStructure(search="exact", **options).fit(X)
    every = ScoreBasedStructure(search="exhaustive", **options).fit(X)
    assert_allclose(exact.score_, every.score_)
    allowed = [
        d for d in enumerate_dags("abcd")
        if max_parents is None or all(len(d.parents(v)) <= 1 for v in "abcd")
    ]  # fmt: skip
    best = max(structure_score(dag, X, score=score) for dag in allowed)
    assert_allclose(every.score_, best)
    climbed = ScoreBasedStructure(search="tabu", n_restarts=3, random_state=0, **options).fit(X)
    assert_allclose(climbed.score_, best)


def test_history_is_the_climb():
    model = ScoreBasedStructure().fit(random_table(6))
    history = model.history_
    assert isinstance(history, History)
    assert (np.diff(history["objective"]) >= -1e-9).all()
    assert_allclose(np.diff(history["objective"]), history["gain"][1:], atol=1e-9)
    assert_allclose(history["objective"].max(), model.score_)
    assert set(history["move"]) <= {"start", "add", "remove", "reverse", "rebuild"}


def test_chow_liu_is_the_best_tree():
    X = random_table(7)
    model = ScoreBasedStructure(score="log_likelihood", search="chow_liu").fit(X)
    trees = [
        dag for dag in enumerate_dags("abcd")
        if len(dag.edges) == 3 and all(len(dag.parents(v)) <= 1 for v in "abcd")
    ]  # fmt: skip
    best = max(structure_score(tree, X, score="log_likelihood") for tree in trees)
    assert_allclose(model.score_, best)
    weights = np.array([[0, 1.0, 0], [1.0, 0, -2], [0, -2, 0]])
    assert spanning_forest(weights) == [(0, 1)]


@pytest.mark.parametrize("search", ["hill_climbing", "tabu", "exhaustive", "exact"])
def test_knowledge_is_kept(search):
    X = random_table(8)
    known = EdgeKnowledge(
        required=[("d", "a")], forbidden=[("b", "d")], tiers=[["c", "d"], ["a", "b"]]
    )
    model = ScoreBasedStructure(search=search, knowledge=known, n_restarts=2, random_state=0).fit(X)
    edges = model.dag_.edges
    assert ("d", "a") in edges
    assert not edges & {("b", "d"), *product("ab", "cd")}
    pc = ConstraintBasedStructure(knowledge=known).fit(X)
    assert ("d", "a") in pc.dag_.edges
    assert not pc.dag_.edges & set(product("ab", "cd"))


def test_contradictions_are_refused():
    X = random_table(9)
    for known, word in (
        (EdgeKnowledge(required=[("a", "b")], forbidden=[("a", "b")]), "both"),
        (EdgeKnowledge(required=[("a", "b"), ("b", "a")]), "cycle"),
        (EdgeKnowledge(required=[("a", "z")]), "'z'"),
        (EdgeKnowledge(required=["ab"]), "pair"),
        ("nothing", "EdgeKnowledge"),
    ):
        with pytest.raises(ValueError, match=word):
            ScoreBasedStructure(knowledge=known).fit(X)
    wide = np.zeros((5, 21), int)
    with pytest.raises(ValueError, match="at most 20"):
        ScoreBasedStructure(search="exact").fit(wide)
    with pytest.raises(ValueError, match="at most 5"):
        ScoreBasedStructure(search="exhaustive").fit(wide)
    broken = pl.DataFrame({"a": [1, None, 0], "b": [0, 1, 1]})
    with pytest.raises(ValueError, match=r"'a' contains NaN in row 1"):
        ScoreBasedStructure().fit(broken)


def chain_and_collider(n, seed):
    """a -> b -> d <- c, d -> e: directed everywhere but a - b."""
    rng = np.random.default_rng(seed)

    def noisy(x):
        return np.where(rng.random(n) < 0.15, 1 - x, x)

    a, c = rng.integers(0, 2, n), rng.integers(0, 2, n)
    b = noisy(a)
    d = noisy(b & c)
    return pl.DataFrame({"a": a, "b": b, "c": c, "d": d, "e": noisy(d)})


TRUTH = DAG([("a", "b"), ("b", "d"), ("c", "d"), ("d", "e")])


@pytest.mark.parametrize("model", [
    ScoreBasedStructure(),
    ScoreBasedStructure(score="bdeu", search="tabu"),
    ScoreBasedStructure(search="exact"),
    ConstraintBasedStructure(alpha=0.001),
    ConstraintBasedStructure(alpha=0.001, test="chi2", stable=False),
    ModelAveragingStructure(),
], ids=str)  # fmt: skip
def test_recovers_the_class(model):
    assert clone(model).fit(chain_and_collider(4000, 0)).cpdag_ == TRUTH.cpdag()


def test_pc_does_not_depend_on_the_order_of_columns():
    X = chain_and_collider(600, 1)
    found = ConstraintBasedStructure().fit(X)
    turned = ConstraintBasedStructure().fit(X.select(X.columns[::-1]))
    assert found.skeleton_ == turned.skeleton_
    assert len(found.tests_) >= 10
    for a, b, given, statistic, dof, p in found.tests_[::5]:
        assert_allclose(independence_test(X, a, b, given), (statistic, dof, p))


def test_pc_on_numbers():
    rng = np.random.default_rng(3)
    Z = rng.normal(size=(3000, 4))
    Z[:, 2] += Z[:, 0] + Z[:, 1]
    Z[:, 3] += Z[:, 2]
    model = ConstraintBasedStructure(test="fisher_z", alpha=0.001).fit(Z)
    assert model.dag_ == DAG([("x0", "x2"), ("x1", "x2"), ("x2", "x3")])
    assert -7 < model.score_samples(Z).mean() < -5


def test_extension_and_its_failure():
    line = CPDAG(frozenset(), frozenset(frozenset(e) for e in ("ab", "bc", "cd", "da")))
    assert extend(line, "abcd") is None  # a square without diagonal has a collider
    dag, conflicts = nearest_dag(CPDAG(frozenset([*zip("abc", "bca", strict=True)]), frozenset()),
                                 "abc")  # fmt: skip
    assert len(dag.edges) == 3
    assert "cycle" in conflicts[0]


def test_shaken_graphs_stay_legal():
    limits = constraints_of(EdgeKnowledge(required=[("a", "b")], forbidden=[("c", "d")]), "abcdef")
    rng = np.random.default_rng(0)
    for _ in range(30):
        edges = shake(limits.required, limits, 2, 8, rng)
        DAG([("abcdef"[u], "abcdef"[v]) for u, v in np.argwhere(edges)])
        assert edges[0, 1]
        assert not edges[2, 3]
        assert edges.sum(axis=0).max() <= 2


def test_tabu_search_recovers_asia():
    """Structural distance to the class of the sampled network: few edges are off on average."""
    yes = {"asia": ((), [0.01]), "smoke": ((), [0.5])}
    yes |= {"tub": (("asia",), [0.01, 0.05]), "lung": (("smoke",), [0.01, 0.1])}
    yes |= {"bronc": (("smoke",), [0.3, 0.6]), "either": (("lung", "tub"), [0.0, 1, 1, 1])}
    yes |= {"xray": (("either",), [0.05, 0.98])}
    yes |= {"dysp": (("bronc", "either"), [0.1, 0.7, 0.8, 0.9])}
    cpds = [
        CPT(v, np.stack([1 - np.array(p), p], -1).reshape(*(2,) * len(some), 2), parents=some)
        for v, (some, p) in yes.items()
    ]
    truth = BayesianNetwork(cpds=cpds)
    distances = []
    for seed in range(5):
        X = truth.sample(3000, random_state=seed)
        model = ScoreBasedStructure(search="tabu").fit(X)
        distances.append(distance(model.dag_, truth.dag_))
    assert np.mean(distances) <= 3.0


@pytest.mark.parametrize("name", ["asia", "sachs"])
def test_climbing_reaches_the_optimum(name):
    """Of samples where plain climbing ends lower: the score that all graphs together allow."""
    truth = read_network(load_network(name))
    gaps, distances = [], []
    for seed in range(6):
        X = truth.sample(2000, random_state=seed)
        model, best = ScoreBasedStructure().fit(X), ScoreBasedStructure(search="exact").fit(X)
        gaps.append(best.score_ - model.score_)
        distances.append((distance(model.dag_, truth.dag_), distance(best.dag_, truth.dag_)))
        assert (np.diff(model.history_["objective"]) >= -1e-6).all()
    assert sum(gap < 1e-6 for gap in gaps) >= 5
    ours, optimal = np.mean(distances, axis=0)
    assert ours <= optimal + 1.5


@pytest.mark.slow
@pytest.mark.parametrize("name", ["asia", "sachs"])
@pytest.mark.parametrize("search", ["hill_climbing", "tabu"])
def test_distance_to_the_truth_against_peers(name, search):
    """Mean structural distance over samples: no worse than pyAgrum and pgmpy on the same rows."""
    gum = pytest.importorskip("pyagrum")
    discovery = pytest.importorskip("pgmpy.causal_discovery")
    truth = read_network(load_network(name))
    found = []
    for n, seed in product((1000, 2000, 5000), range(8)):
        X = truth.sample(n, random_state=seed).to_pandas().astype(str).astype("category")
        mine = ScoreBasedStructure(search=search).fit(X)
        learner = gum.BNLearner(X.astype(str))
        learner.useScoreBIC()
        learner.useNoPrior()
        if search == "tabu":
            learner.useLocalSearchWithTabuList(100, 2)
        else:
            learner.useGreedyHillClimbing()
        arcs = [tuple(map(learner.nameFromId, arc)) for arc in learner.learnDAG().arcs()]
        climb = discovery.HillClimbSearch(
            scoring_method="bic-d", return_type="dag", show_progress=False
        )
        theirs = [DAG(arcs, X.columns), DAG(list(climb.fit(X).causal_graph_.edges()), X.columns)]
        found.append([distance(dag, truth.dag_) for dag in (mine.dag_, *theirs)])
    ours, agrum, pgmpy = np.mean(found, axis=0)
    assert ours <= agrum
    assert ours <= pgmpy


def distance(one, other):
    def marks(dag):
        graph = dag.cpdag()
        return {frozenset(e): e for e in graph.directed} | dict.fromkeys(graph.undirected, "-")

    a, b = marks(one), marks(other)
    return sum(a.get(pair) != b.get(pair) for pair in a.keys() | b.keys())


# --- averaging -----------------------------------------------------------------------------


def test_posterior_of_all_graphs():
    X = random_table(10, 40, 3)
    model = ModelAveragingStructure(equivalent_sample_size=4.0).fit(X)
    scores = np.array(
        [structure_score(d, X, score="bdeu", equivalent_sample_size=4.0) for d in model.dags_]
    )
    weights = np.exp(scores - scores.max())
    assert_allclose(model.weights_, weights / weights.sum())
    assert len(model.dags_) == 25
    assert model.dag_ == model.dags_[0]
    with_edge = [
        w for w, d in zip(model.weights_, model.dags_, strict=True) if ("a", "b") in d.edges
    ]
    assert_allclose(model.edge_probability("a", "b"), sum(with_edge))


def test_answers_are_weighted_averages():
    X = random_table(11, 60, 3)
    model = ModelAveragingStructure().fit(X)
    parts = model._networks()
    exact = sum(w * net.query(["a", "c"], {"b": 1}).values for w, net in parts)
    assert_allclose(model.query(["a", "c"], {"b": 1}).values, exact)
    shares = sum(w * net.predict_proba(X, "b") for w, net in parts)
    assert_allclose(model.predict_proba(X, "b"), shares)
    holes = X.with_columns(a=pl.when(pl.col("a") == 1).then(None).otherwise(pl.col("a")))
    shares = sum(w * net.predict_proba(holes, "b") for w, net in parts)
    assert_allclose(model.predict_proba(holes, "b"), shares)
    density = np.log(sum(w * np.exp(net.score_samples(X)) for w, net in parts))
    assert_allclose(model.score_samples(X), density)


def test_the_chain_draws_from_the_posterior():
    X = random_table(12, 50, 4, 2)
    exact = ModelAveragingStructure().fit(X)
    table = encode_table([X[c].to_numpy() for c in X.columns], X.columns, np.ones(50))
    limits = constraints_of(None, X.columns)
    drawn = draw_graphs(
        [make_score(table, "bdeu", 10.0)], np.zeros((4, 4), bool), limits, 3, 6000,
        np.random.default_rng(0),
    )  # fmt: skip
    edges = np.zeros((4, 4))
    for graph, count in zip(drawn.graphs, drawn.counts, strict=True):
        edges += count * (np.array(graph)[None, :] >> np.arange(4)[:, None] & 1)
    assert_allclose(edges / 6000, exact.edge_probabilities_, atol=0.05)


def test_given_candidates_and_many_variables():
    X = random_table(13, 80, 7)
    chosen = [DAG([("a", "g")]), [("f", "g"), ("a", "g")]]
    model = ModelAveragingStructure(candidates=chosen).fit(X)
    assert len(model.weights_) == 2
    assert set(model.dag_.nodes) == set("abcdefg")
    model = ModelAveragingStructure(n_samples=100, random_state=0).fit(X)
    assert model.edge_probability("f", "g") + model.edge_probability("g", "f") > 0.9
    assert_allclose(model.query("g", {"f": 1}).values.sum(), 1.0)
    with pytest.raises(ValueError, match="candidates"):
        ModelAveragingStructure(candidates=[]).fit(X)
    with pytest.raises(ValueError, match="observed"):
        ModelAveragingStructure(candidates=chosen).fit(X).query("g", {"g": 1})


def test_all_graphs_are_counted():
    assert [len(graph_bits(d)) for d in range(1, 6)] == [1, 3, 25, 543, 29281]


def test_a_learner_is_tuned_by_held_out_rows():
    """``score`` names the criterion and is scikit-learn's method too."""
    model = ScoreBasedStructure(score="aic")
    assert model.score == "aic"
    assert clone(model).get_params()["score"] == "aic"
    X = chain_and_collider(300, 4)
    grid = GridSearchCV(model, {"score": ["bic", "log_likelihood"]}, cv=3).fit(X)
    assert grid.best_params_["score"] == "bic"
    assert_allclose(grid.best_estimator_.score(X), grid.best_estimator_.score_samples(X).mean())


def test_a_function_of_its_causes_keeps_its_other_edges():
    """Given both causes nothing varies: such a test must not remove what the function acts on."""
    rng = np.random.default_rng(0)
    a, b = rng.random((2, 4000)) < 0.3
    c = a | b
    x = np.where(c, rng.random(4000) < 0.9, rng.random(4000) < 0.1)
    X = np.stack([a, b, c, x], axis=1).astype(int)
    found = ConstraintBasedStructure(alpha=0.01).fit(X)
    truth = DAG([("x0", "x2"), ("x1", "x2"), ("x2", "x3")], ["x0", "x1", "x2", "x3"])
    assert found.cpdag_ == truth.cpdag()
    few = np.arange(30)[:, None] * np.ones((1, 12), int)  # every row a stratum of its own
    assert len(ConstraintBasedStructure().fit(few).tests_) < 5000


def test_colliders_are_counted_as_by_hand():
    rng = np.random.default_rng(0)
    for _ in range(50):
        d = int(rng.integers(2, 7))
        edges = np.triu(rng.random((d, d)) < 0.5, 1)
        joined = edges | edges.T
        pairs = [pair for v in range(d) for pair in combinations(np.flatnonzero(edges[:, v]), 2)]
        assert n_colliders(edges) == sum(not joined[pair] for pair in pairs)


def test_a_rebuilt_node_adds_no_collider():
    """A compound move leads to a larger score and to no more colliders than the best graph had."""
    network = read_network(load_network("sachs"))
    seen = 0
    for seed in range(4):
        rows = network.sample(1000, random_state=seed)
        columns = [rows[v].to_physical().to_numpy() for v in rows.columns]
        table = encode_table(columns, rows.columns, np.ones(len(rows)))
        d = rows.width
        limits = constraints_of(None, rows.columns)
        climber = Climber(make_score(table, "bic", 1.0), limits, d, False, {})
        state, gap = climber.begin(np.zeros((d, d), bool)), 1.0
        while gap:
            before, (state, gap) = state, climber.step(state)
            if state.last.kind == REBUILD and state.step > before.step:
                seen += 1
                assert state.score > before.best_score
                assert n_colliders(state.edges) <= n_colliders(before.best_edges)
    assert seen
