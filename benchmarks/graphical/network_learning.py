"""Learning Bayesian networks: tables, EM, structure, classifiers; pyAgrum, pgmpy, scikit-learn."""

import warnings
from functools import cache, partial

import numpy as np
import pandas as pd

from benchmarks.harness import Case
from pellucid.data import load_network
from pellucid.graphical import DAG, read_network, structure_score


@cache
def network(name):
    return read_network(load_network(name))


def rows(name, n):
    """Rows of a network as numbers, one pandas column per variable."""
    drawn = network(name).sample(n, random_state=7)  # text states are an Enum in their order
    codes = {node: drawn[node].to_physical().to_numpy() for node in drawn.columns}
    return name, pd.DataFrame({node: c.astype(np.int64) for node, c in codes.items()})


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


def pgmpy_tables(data):
    """From a tenth of the rows."""
    from pgmpy.models import DiscreteBayesianNetwork

    name, X = data
    dag = network(name).dag_
    model = DiscreteBayesianNetwork(dag.sorted_edges)
    model.fit(X[: len(X) // 10])
    return np.concatenate([model.get_cpds(v).values.ravel()[:1] for v in dag.nodes])


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
    """Rows of a configuration that was never seen are 0 or uniform, as one likes.

    pgmpy leaves such rows out: of it only the number of tables is compared.
    """
    if len(theirs) != len(ours):
        return len(theirs) == len(network("alarm").dag_.nodes)
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


# --- hidden Markov models --------------------------------------------------------------------


def sequences():
    """100 sequences of 500 observations of three hidden states, two columns."""
    from pellucid.graphical import HiddenMarkovModel

    truth = HiddenMarkovModel.from_parameters(
        [0.5, 0.3, 0.2], [[0.9, 0.05, 0.05], [0.1, 0.8, 0.1], [0.2, 0.2, 0.6]],
        means=[[0.0, 0.0], [2.0, 1.0], [-1.0, 2.0]], covariances=np.ones((3, 2)),
    )  # fmt: skip
    drawn, _ = truth.sample(500, 100, random_state=0)
    return drawn.reshape(-1, 2), [500] * 100, truth


ROUNDS = 20


def our_chain(data):
    from pellucid.graphical import HiddenMarkovModel

    X, lengths, truth = data
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # as many rounds for both, not until it converges
        model = HiddenMarkovModel(3, start=truth, tol=0, max_iter=ROUNDS).fit(X, lengths=lengths)
    return np.concatenate([model.means_.ravel(), model.predict(X, lengths)[::50]])


def hmmlearn_chain(data):
    from hmmlearn.hmm import GaussianHMM

    X, lengths, truth = data
    model = GaussianHMM(
        3, "diag", n_iter=ROUNDS, tol=0, init_params="", min_covar=0, covars_prior=0,
        covars_weight=0, startprob_prior=1, transmat_prior=1, implementation="scaling",
    )  # fmt: skip
    model.startprob_, model.transmat_ = truth.initial_, truth.transition_
    model.means_, model.covars_ = truth.means_, truth.covariances_
    model.fit(X, lengths)
    return np.concatenate([model.means_.ravel(), model.predict(X, lengths)[::50]])


def same_chain(ours, theirs):
    near = np.abs(ours[:6] - theirs[:6]).max() < 1e-2
    return bool(near and (ours[6:] == theirs[6:]).mean() > 0.99)


# --- categories and numbers ----------------------------------------------------------------


def mixed_rows():
    """A chain of numbers whose lines depend on categories."""
    import polars as pl

    rng = np.random.default_rng(0)
    codes = rng.integers(3, size=(4, 200_000))
    X = {f"k{j}": np.array(["a", "b", "c"])[codes[j]] for j in range(4)}
    before = np.zeros(200_000)
    for j in range(6):
        before = rng.normal(size=200_000) + (1 + codes[j % 4]) * before
        X[f"x{j}"] = before
    edges = [(f"k{j % 4}", f"x{j}") for j in range(6)] + [(f"x{j}", f"x{j + 1}") for j in range(5)]
    return pl.DataFrame(X), edges


def our_mixed(data):
    from pellucid.graphical import MixedBayesianNetwork

    X, edges = data
    model = MixedBayesianNetwork(edges).fit(X)
    return np.concatenate([model.cpds_[f"x{j}"].variances for j in range(6)])


def numpy_mixed(data):
    """Least squares within each category, and the counts of the categories."""
    X, _ = data
    out = []
    for j in range(4):
        np.unique(X[f"k{j}"].to_numpy(), return_counts=True)
    for j in range(6):
        k, x = X[f"k{j % 4}"].to_numpy(), X[f"x{j}"].to_numpy()
        U = np.ones((len(x), 1)) if j == 0 else np.column_stack([np.ones(len(x)), X[f"x{j - 1}"]])
        for state in "abc":
            rows = k == state
            _, rest, *_ = np.linalg.lstsq(U[rows], x[rows], rcond=None)
            out.append(rest[0] / rows.sum())
    return np.array(out)


CASES = [
    Case(
        name="BayesianNetwork.fit: tables of alarm from 1,000,000 rows",
        data=partial(rows, "alarm", 1_000_000),
        contenders={
            "pellucid": our_tables,
            "pyAgrum": agrum_tables,
            "NumPy": bincount_tables,
            "pgmpy": pgmpy_tables,
        },
        same=close,
        limit="one pass over 37 columns",
        note="pgmpy counts 100,000 rows, its time is scaled to 1,000,000",
        rounds=1,
        repeats=1,
        work={"pgmpy": 0.1},
    ),
    Case(
        name="BayesianNetwork.fit: EM on asia, 5,000 rows, 10 % of the cells missing",
        data=partial(holes, "asia", 5_000, 0.1),
        contenders={"pellucid": our_em, "pyAgrum": agrum_em},
        same=lambda ours, theirs: bool(ours >= theirs - 1e-3),
        limit="distinct boundaries of missing cells, some 30 rounds",
        note="pgmpy's EM drops rows with a missing cell and learns latent variables only, so it "
        "has no line.",
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
        name="ScoreBasedStructure: hill climbing (bic) on child, 2,000 rows",
        data=partial(rows, "child", 2_000),
        contenders={
            "pellucid": partial(our_climb, "hill_climbing"),
            "pyAgrum": partial(agrum_climb, "hill_climbing"),
            "pgmpy": pgmpy_climb,
        },
        same=no_worse,
        limit="20 counts of 2,000 rows a move",
        note="small, since pgmpy takes minutes for alarm with 20,000 rows",
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
        name="ConstraintBasedStructure: PC (chi2) on alarm, 20,000 rows",
        data=partial(rows, "alarm", 20_000),
        contenders={"pellucid": our_pc, "pyAgrum": agrum_pc},
        same=nearer,
        limit="one count of 20,000 rows a test",
        rounds=1,
    ),
    Case(
        name="ConstraintBasedStructure: PC (chi2) on child, 2,000 rows",
        data=partial(rows, "child", 2_000),
        contenders={"pellucid": our_pc, "pyAgrum": agrum_pc, "pgmpy": pgmpy_pc},
        same=nearer,
        limit="one count of 2,000 rows a test",
        note="small, since pgmpy takes minutes for alarm with 20,000 rows",
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
    Case(
        name="HiddenMarkovModel: 20 rounds of Baum-Welch and Viterbi, 100 x 500 x 2, 3 states",
        data=sequences,
        contenders={"pellucid": our_chain, "hmmlearn (scaling)": hmmlearn_chain},
        same=same_chain,
        limit="50,000 x 9 moves forwards and backwards a round",
        rounds=1,
    ),
    Case(
        name="MixedBayesianNetwork: tables and lines, 200,000 rows, 4 categories and 6 numbers",
        data=mixed_rows,
        contenders={"pellucid": our_mixed, "NumPy": numpy_mixed},
        same=lambda ours, theirs: bool(np.allclose(ours, theirs, rtol=1e-6)),
        limit="one pass over the columns of each family",
        rounds=1,
    ),
]
