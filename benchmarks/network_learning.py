"""Learning Bayesian networks: tables, EM, structure, classifiers; pyAgrum, pgmpy, scikit-learn."""

from functools import cache, partial

import numpy as np

from benchmarks.harness import Case
from pellucid.data import load_network
from pellucid.graphical import DAG, read_network, structure_score


@cache
def network(name):
    return read_network(load_network(name))


def rows(name, n):
    """Rows of a network as numbers, one pandas column per variable."""
    model = network(name)
    drawn = model.sample(n, random_state=7).to_pandas()
    for node, states in model.states_.items():
        place = {state: k for k, state in enumerate(states)}
        drawn[node] = drawn[node].map(place).astype(np.int64)
    return name, drawn


def declared(name):
    return {node: list(range(len(states))) for node, states in network(name).states_.items()}


def agrum_learner(data):
    import pyagrum as gum

    name, X = data
    template = gum.BayesNet()
    for node, states in network(name).states_.items():
        template.add(gum.RangeVariable(node, node, 0, len(states) - 1))
    return gum.BNLearner(X, template), template


# --- tables --------------------------------------------------------------------------------


def our_tables(data):
    from pellucid.graphical import BayesianNetwork

    name, X = data
    true = network(name)
    model = BayesianNetwork(true.dag_, states=declared(name)).fit(X)
    return np.concatenate([model.cpds_[v].values.ravel() for v in true.dag_.nodes])


def agrum_tables(data):
    learner, template = agrum_learner(data)
    dag = network(data[0]).dag_
    for a, b in dag.sorted_edges:
        template.addArc(a, b)
    learner.useNoPrior()
    learned = learner.learnParameters(template.dag())
    out = []
    for v in dag.nodes:
        table, own = learned.cpt(v), (*dag.family(v),)
        axes = list(reversed(table.names))
        out.append(np.transpose(table.toarray(), [axes.index(u) for u in own]).ravel())
    return np.concatenate(out)


def bincount_tables(data):
    name, X = data
    dag, states = network(name).dag_, declared(name)
    codes = {v: X[v].to_numpy() for v in dag.nodes}
    out = []
    for v in dag.nodes:
        family = dag.family(v)
        shape = [len(states[u]) for u in family]
        at = np.ravel_multi_index([codes[u] for u in family], shape)
        N = np.bincount(at, minlength=int(np.prod(shape))).reshape(-1, shape[-1])
        total = N.sum(axis=1, keepdims=True)
        out.append(np.where(total > 0, N / np.maximum(total, 1), 1 / shape[-1]).ravel())
    return np.concatenate(out)


def close(ours, theirs):
    """Rows of a configuration that was never seen are 0 or uniform, as one likes."""
    return bool((np.abs(ours - theirs) < 1e-6).mean() > 0.9)


# --- EM ------------------------------------------------------------------------------------


def holes(name, n, share):
    _, X = rows(name, n)
    gone = np.random.default_rng(0).random(X.shape) < share
    return name, X.astype(float).mask(gone)


def our_em(data):
    from pellucid.graphical import BayesianNetwork

    name, X = data
    model = BayesianNetwork(
        network(name).dag_, states=declared(name), max_iter=200, tol=1e-2, random_state=0
    ).fit(X)
    return model.history_["log_likelihood"][-1] / len(X)


def agrum_em(data):
    import pyagrum as gum

    name, X = data
    text = X.apply(lambda c: c.map(lambda v: "?" if np.isnan(v) else str(int(v))))
    template = gum.BayesNet()
    for node, states in network(name).states_.items():
        template.add(gum.LabelizedVariable(node, node, [str(k) for k in range(len(states))]))
    for a, b in network(name).dag_.sorted_edges:
        template.addArc(a, b)
    learner = gum.BNLearner(text, template, ["?"])
    learner.useEM(1e-5)
    learned = learner.learnParameters(template.dag())
    return agrum_likelihood(name, X, learned)


def agrum_likelihood(name, X, learned):
    from pellucid.graphical import CPT, BayesianNetwork

    cpds = []
    for v in network(name).dag_.nodes:
        table, own = learned.cpt(v), network(name).dag_.family(v)
        axes = list(reversed(table.names))
        values = np.transpose(table.toarray(), [axes.index(u) for u in own])
        cpds.append(CPT(v, values, parents=own[:-1]))
    return BayesianNetwork(cpds=cpds).score(X)


# --- structure -----------------------------------------------------------------------------


def bic_of(edges, data):
    return structure_score(DAG(edges, data[1].columns), data[1])


def our_climb(search, data, n_restarts=0):
    from pellucid import ScoreBasedStructure

    model = ScoreBasedStructure(search=search, n_restarts=n_restarts, random_state=0)
    return model.fit(data[1]).score_


def agrum_climb(search, data):
    learner, _ = agrum_learner(data)
    learner.useScoreBIC()
    learner.useNoPrior()
    if search == "tabu":
        learner.useLocalSearchWithTabuList(100, 10)
    else:
        learner.useGreedyHillClimbing()
    dag = learner.learnDAG()
    name = learner.nameFromId
    return bic_of([(name(a), name(b)) for a, b in dag.arcs()], data)


def pgmpy_climb(data):
    from pgmpy.causal_discovery import HillClimbSearch

    search = HillClimbSearch(scoring_method="bic-d", return_type="dag", show_progress=False)
    return bic_of(list(search.fit(data[1].astype("category")).causal_graph_.edges()), data)


def no_worse(ours, theirs):
    """The score found is at least as large, within a thousandth."""
    return bool(ours >= theirs - 1e-3 * abs(theirs))


def our_pc(data):
    from pellucid import ConstraintBasedStructure

    model = ConstraintBasedStructure(test="chi2", alpha=0.01, max_given=3).fit(data[1])
    return len(model.skeleton_ ^ network(data[0]).dag_.skeleton())


def agrum_pc(data):
    learner, _ = agrum_learner(data)
    learner.usePC()
    learner.useChi2Test()
    learner.setPCAlpha(0.01)
    learner.setPCMaxCondSetSize(3)
    learner.setPCStable(True)
    found, name = learner.learnPDAG(), learner.nameFromId
    pairs = [*found.arcs(), *found.edges()]
    return len({frozenset(map(name, pair)) for pair in pairs} ^ network(data[0]).dag_.skeleton())


def pgmpy_pc(data):
    from pgmpy.causal_discovery import PC

    search = PC(
        ci_test="chi_square", variant="stable", significance_level=0.01, max_cond_vars=3,
        return_type="pdag", show_progress=False,
    )  # fmt: skip
    found = search.fit(data[1].astype("category")).causal_graph_
    pairs = [*found.directed_edges, *found.undirected_edges]
    return len({frozenset(pair) for pair in pairs} ^ network(data[0]).dag_.skeleton())


def nearer(ours, theirs):
    """Edges of the skeleton that differ from the truth."""
    return bool(ours <= theirs + 2)


def our_average(data):
    from pellucid import ModelAveragingStructure

    return ModelAveragingStructure(score="bdeu").fit(data[1]).weights_.max()


def pgmpy_average(data):
    """All graphs, every family scored once."""
    from pgmpy.structure_score import BDeu

    from pellucid.graphical import enumerate_dags

    score = BDeu(data[1].astype("category"), equivalent_sample_size=10)
    known, values = {}, []
    for dag in enumerate_dags(data[1].columns):
        total = 0.0
        for v in dag.nodes:
            family = dag.family(v)
            if family not in known:
                known[family] = score.local_score(v, family[:-1])
            total += known[family]
        values.append(total)
    weights = np.exp(np.array(values) - max(values))
    return (weights / weights.sum()).max()


# --- classifiers ---------------------------------------------------------------------------


def labelled():
    rng = np.random.default_rng(0)
    y = rng.integers(5, size=200_000)
    return (rng.integers(6, size=(200_000, 20)) * (1 + y[:, None])) % 7, y


def our_classifier(data):
    from pellucid import BayesianNetworkClassifier

    X, y = data
    return BayesianNetworkClassifier().fit(X, y).predict_proba(X)[::100]


def scikit_classifier(data):
    from sklearn.naive_bayes import CategoricalNB

    X, y = data
    return CategoricalNB().fit(X, y).predict_proba(X)[::100]


def similar(ours, theirs):
    """scikit-learn does not smooth the class prior."""
    return bool(np.abs(ours - theirs).max() < 1e-3)


CASES = [
    Case(
        name="BayesianNetwork.fit: tables of alarm from 1,000,000 rows",
        data=partial(rows, "alarm", 1_000_000),
        contenders={"pellucid": our_tables, "pyAgrum": agrum_tables, "NumPy": bincount_tables},
        same=close,
        limit="one pass over 37 columns",
        rounds=1,
    ),
    Case(
        name="BayesianNetwork.fit: EM on asia, 5,000 rows, 10 % of the cells missing",
        data=partial(holes, "asia", 5_000, 0.1),
        contenders={"pellucid": our_em, "pyAgrum": agrum_em},
        same=lambda ours, theirs: bool(ours >= theirs - 1e-3),
        limit="distinct boundaries of missing cells, some 30 rounds",
        rounds=1,
    ),
    Case(
        name="ScoreBasedStructure: hill climbing (bic) on alarm, 20,000 rows",
        data=partial(rows, "alarm", 20_000),
        contenders={
            "pellucid": partial(our_climb, "hill_climbing"),
            "pyAgrum": partial(agrum_climb, "hill_climbing"),
        },
        same=no_worse,
        limit="37 counts of 20,000 rows a move",
        rounds=1,
    ),
    Case(
        name="ScoreBasedStructure: hill climbing with 5 restarts on alarm, 20,000 rows",
        data=partial(rows, "alarm", 20_000),
        contenders={
            "pellucid": partial(our_climb, "hill_climbing", n_restarts=5),
            "pgmpy": pgmpy_climb,
        },
        same=no_worse,
        limit="37 counts of 20,000 rows a move",
        note="ours climbs six times, pgmpy once",
        rounds=1,
        repeats=1,
    ),
    Case(
        name="ScoreBasedStructure: tabu search (bic) on child, 20,000 rows",
        data=partial(rows, "child", 20_000),
        contenders={
            "pellucid": partial(our_climb, "tabu"),
            "pyAgrum": partial(agrum_climb, "tabu"),
        },
        same=no_worse,
        limit="20 counts of 20,000 rows a move",
        rounds=1,
    ),
    Case(
        name="ConstraintBasedStructure: PC (chi2) on child, 20,000 rows",
        data=partial(rows, "child", 20_000),
        contenders={"pellucid": our_pc, "pyAgrum": agrum_pc, "pgmpy": pgmpy_pc},
        same=nearer,
        limit="one count of 20,000 rows a test",
        rounds=1,
        repeats=1,
    ),
    Case(
        name="ModelAveragingStructure: all graphs on 5 variables, 1,000 rows",
        data=partial(rows, "cancer", 1_000),
        contenders={"pellucid": our_average, "pgmpy scores": pgmpy_average},
        same=lambda ours, theirs: bool(np.isclose(ours, theirs, rtol=1e-6)),
        limit="80 families counted, 29,281 sums",
        rounds=1,
        repeats=1,
    ),
    Case(
        name="BayesianNetworkClassifier: naive, 200,000 x 20, 5 classes, fit and predict",
        data=labelled,
        contenders={"pellucid": our_classifier, "scikit-learn CategoricalNB": scikit_classifier},
        same=similar,
        limit="one pass over the cells each",
        rounds=1,
    ),
]
