"""Bayesian networks: exact inference and sampling, against pyAgrum and pgmpy.

Learning is in ``network_learning``.
"""

from functools import cache
from typing import Any

import numpy as np

from benchmarks.harness import Case
from pellucid.data import load_network
from pellucid.graphical import BayesianNetwork, read_network

N_QUERIES = 100
N_ROWS = 1_000_000
PGMPY = 0.1  # share of the queries and rows that pgmpy is given: all of them take it minutes


@cache
def network(name: str) -> BayesianNetwork:
    return read_network(load_network(name))


def queries(name: str) -> tuple[str, list[tuple[str, dict[str, str]]]]:
    """100 targets, each with three observed variables whose states come from a drawn row."""
    rng = np.random.default_rng(0)
    model = network(name)
    rows = model.sample(N_QUERIES, random_state=0)
    found = []
    for i in range(N_QUERIES):
        target, *seen = rng.choice(len(model.dag_.nodes), 4, replace=False)
        names = [model.dag_.nodes[v] for v in seen]
        found.append((model.dag_.nodes[target], {n: rows[n][i] for n in names}))
    return name, found


def padded(answers: list[Any]) -> Any:
    """Posteriors of different lengths as one matrix."""
    out = np.zeros((len(answers), max(map(len, answers))))
    for row, answer in zip(out, answers, strict=True):
        row[: len(answer)] = answer
    return out


def ours(data: Any) -> Any:
    name, asked = data
    model = BayesianNetwork(cpds=network(name).cpds_)  # nothing is kept from the call before
    return padded([model.query(target, seen).values for target, seen in asked])


@cache
def agrum_network(name: str) -> Any:
    """The same tables in double precision; pyAgrum reads files in single precision."""
    import pyagrum as gum

    model, bn = network(name), gum.BayesNet()
    for node, states in model.states_.items():
        bn.add(gum.LabelizedVariable(node, node, [f"s{k}" for k in range(len(states))]))
    for a, b in model.dag_.sorted_edges:
        bn.addArc(a, b)
    for node, cpd in model.cpds_.items():
        table = bn.cpt(node)
        own = [*cpd.parents, node]
        order = [own.index(n) for n in reversed(table.names)]
        table[:] = np.ascontiguousarray(cpd.values.transpose(order))
    return bn


def agrum(data: Any) -> Any:
    import pyagrum as gum

    name, asked = data
    states, engine = network(name).states_, gum.LazyPropagation(agrum_network(name))
    answers = []
    for target, seen in asked:
        engine.setEvidence({n: states[n].index(s) for n, s in seen.items()})
        engine.setTargets({target})
        engine.makeInference()
        answers.append(engine.posterior(target).toarray())
    return padded(answers)


def agrum_elimination(data: Any) -> Any:
    import pyagrum as gum

    name, asked = data
    states, engine = network(name).states_, gum.VariableElimination(agrum_network(name))
    answers = []
    for target, seen in asked:
        engine.setEvidence({n: states[n].index(s) for n, s in seen.items()})
        engine.setTargets({target})
        engine.makeInference()
        answers.append(engine.posterior(target).toarray())
    return padded(answers)


@cache
def pgmpy_network(name: str) -> Any:
    from pgmpy.factors.discrete import TabularCPD
    from pgmpy.models import DiscreteBayesianNetwork

    model = network(name)
    bn = DiscreteBayesianNetwork(model.dag_.sorted_edges)
    for node, cpd in model.cpds_.items():
        card = [len(model.states_[p]) for p in cpd.parents]
        values = cpd.values.reshape(-1, cpd.values.shape[-1]).T
        kept = {n: list(model.states_[n]) for n in (node, *cpd.parents)}
        bn.add_cpds(
            TabularCPD(node, len(cpd.states), values, list(cpd.parents), card, state_names=kept)
        )
    return bn


def pgmpy(data: Any) -> Any:
    from pgmpy.inference import VariableElimination

    name, asked = data
    states, engine = network(name).states_, VariableElimination(pgmpy_network(name))
    answers = []
    for target, seen in asked[: int(PGMPY * N_QUERIES)]:
        found = engine.query([target], seen, show_progress=False)
        kept = found.state_names[target]
        answers.append(found.values[[kept.index(s) for s in states[target]]])
    return padded(answers)


def close(ours: Any, theirs: Any) -> bool:
    """Equal as far as the other was asked."""
    return bool(np.abs(ours[: len(theirs), : theirs.shape[1]] - theirs).max() < 1e-9)


def as_many(ours: Any, theirs: Any) -> bool:
    return bool(theirs[0] in (ours[0], int(PGMPY * ours[0])))


def frequencies(frame: Any) -> Any:
    """Shares of the states of every variable: draws differ, what they are drawn from does not."""
    states = network("alarm").states_
    return padded([[(frame[n] == s).mean() for s in states[n]] for n in states])


def our_sample(_: Any) -> Any:
    return network("alarm").sample(N_ROWS, random_state=1)


def agrum_sample(_: Any) -> Any:
    import pyagrum as gum

    engine = gum.BNDatabaseGenerator(agrum_network("alarm"))
    engine.drawSamples(N_ROWS)
    return engine.to_pandas(False)


def pgmpy_sample(_: Any) -> Any:
    from pgmpy.sampling import BayesianModelSampling

    engine = BayesianModelSampling(pgmpy_network("alarm"))
    return engine.forward_sample(int(PGMPY * N_ROWS), show_progress=False, seed=1)


def nothing() -> Any:
    return None


def sized(function: Any) -> Any:
    """The answer that is compared: the number of cells (the tests compare frequencies)."""

    def run(data: Any) -> Any:
        frame = function(data)
        return np.array([frame.shape[0] * frame.shape[1]])

    return run


def _asia() -> Any:
    return queries("asia")


def _child() -> Any:
    return queries("child")


def _insurance() -> Any:
    return queries("insurance")


def _alarm() -> Any:
    return queries("alarm")


CASES = [
    *(
        Case(
            name=f"BayesianNetwork.query: {name}, 100 posteriors with 3 observed variables",
            data=data,
            contenders={
                "pellucid": ours,
                "pyAgrum LazyPropagation": agrum,
                "pyAgrum VariableElimination": agrum_elimination,
                "pgmpy": pgmpy,
            },
            same=close,
            limit="entries of the tables on the way, one multiplication and addition each",
            note="pgmpy answers the first 10 queries, its time is scaled to 100",
            rounds=2,
            work={"pgmpy": PGMPY},
        )
        for name, data in (
            ("asia", _asia),
            ("child", _child),
            ("insurance", _insurance),
            ("alarm", _alarm),
        )
    ),
    Case(
        name="BayesianNetwork.sample: alarm, 1,000,000 rows as a frame",
        data=nothing,
        contenders={
            "pellucid": sized(our_sample),
            "pyAgrum": sized(agrum_sample),
            "pgmpy": sized(pgmpy_sample),
        },
        same=as_many,
        limit="37 million random numbers and cells",
        note="pgmpy draws 100,000 rows, its time is scaled to 1,000,000",
        rounds=1,
        repeats=1,
        work={"pgmpy": PGMPY},
    ),
]
