r"""Building a network: its parts must fit together, and the course's advice on good ones.

Advice       a probability of 0 can never be left by inference; a table needs data for each of its
             rows; a table with more free numbers than rows of data says little; an edge that the
             distribution does not need only costs; the states of a latent variable have no names.

References: Russell & Norvig (2021), chapter 13; Heckerman (1995).
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.special import xlogy

from pellucid.core.arrays.typing import ArrayLike, IntArray
from pellucid.core.readable import readable
from pellucid.core.records import Card
from pellucid.graphical.graphs.dag import DAG, as_dag
from pellucid.graphical.network.arrays import Shape, shape_of
from pellucid.graphical.network.names import Name, listed
from pellucid.graphical.network.tables import CPT, LinearGaussianCPD

if TYPE_CHECKING:
    from pellucid.graphical.network.network import BayesianNetwork


@readable
class Finding(NamedTuple):
    """One piece of advice about a network.

    >>> from pellucid.graphical import CPT, BayesianNetwork
    >>> [f.kind for f in BayesianNetwork(cpds=[CPT("a", [0.0, 1.0])]).check()]
    ['zero probability']
    """

    kind: str  # such as "zero probability"
    variable: Name  # the one it is about
    message: str  # what to do, in a sentence


def check_cpds(structure: DAG | None, cpds: Any) -> tuple[DAG, dict[Name, Any]]:
    """The graph and the distributions by name, checked against each other."""
    tables = list(cpds.values()) if isinstance(cpds, Mapping) else list(cpds)
    found: dict[Name, Any] = {}
    for table in tables:
        if not isinstance(table, CPT | LinearGaussianCPD):
            raise TypeError(f"cpds must hold CPT or LinearGaussianCPD, got {type(table).__name__}")
        if table.variable in found:
            raise ValueError(f"there are two distributions for {table.variable!r}")
        found[table.variable] = table
    if not found:
        raise ValueError("cpds is empty: at least one distribution is needed")
    if len({type(table) for table in tables}) > 1:
        raise ValueError("all cpds must be of one kind, CPT or LinearGaussianCPD, got both")
    for table in tables:
        _check_parents(table, found)
    dag = DAG([(p, table.variable) for table in tables for p in table.parents], found)
    if structure is not None and not hasattr(structure, "fit"):
        given = as_dag(structure)
        wrong = (given.edges ^ dag.edges) or set(given.nodes) - set(dag.nodes)
        if wrong:
            raise ValueError(
                f"structure and cpds differ: {listed(sorted(map(str, wrong)), 4)} is in one only"
            )
        dag = DAG(dag.edges, [*given.nodes, *dag.nodes])
    return dag, {name: found[name] for name in dag.nodes}


def _check_parents(table: Any, found: Mapping[Name, Any]) -> None:
    for i, parent in enumerate(table.parents):
        if parent not in found:
            raise ValueError(f"{table.variable!r} has the parent {parent!r}, which has no cpd")
        if isinstance(table, CPT) and len(found[parent].states) != table.values.shape[i]:
            raise ValueError(
                f"the table of {table.variable!r} has {table.values.shape[i]} rows for its "
                f"parent {parent!r}, which has {len(found[parent].states)} states"
            )


def free_parameters(cpd: Any) -> int:
    """How many numbers a distribution leaves free.

    >>> free_parameters(CPT("b", [[0.5, 0.5], [0.1, 0.9]], parents=["a"]))
    2
    """
    if isinstance(cpd, LinearGaussianCPD):
        return len(cpd.coefficients) + 2
    return int(cpd.values[..., 0].size) * (cpd.values.shape[-1] - 1)


def shape_of_network(network: "BayesianNetwork") -> tuple[tuple[Name, ...], Shape]:
    """Names and graph; from ``structure`` and ``states`` where there are no tables."""
    if network.__sklearn_is_fitted__():
        network._need_tables("cost")
        return network._arrays.names, network._arrays.shape
    if network.structure is None or hasattr(network.structure, "fit"):
        network._check_ready()
    states = network.states or {}
    dag = as_dag(network.structure, states)
    missing = [name for name in dag.nodes if name not in states]
    if missing:
        raise ValueError(f"the states of {missing[0]!r} are needed: states={{{missing[0]!r}: ...}}")
    parents = {name: dag.family(name)[:-1] for name in dag.nodes}
    return dag.nodes, shape_of(dag.nodes, parents, [len(states[name]) for name in dag.nodes])


def findings(network: "BayesianNetwork", X: ArrayLike, atol: float, edges: bool) -> list[Finding]:
    """Everything worth a look, by variable."""
    counts = counts_of(network, X)
    found = []
    for name, cpd in network.cpds_.items():
        found += _zeros(cpd)
        if counts is not None:
            found += _support(cpd, counts[name])
        if edges:
            found += _needless(cpd, atol)
    words = "{!r} was never observed: which of its states is which is arbitrary"
    latent = getattr(network, "latent_", ())
    return found + [Finding("latent variable", name, words.format(name)) for name in latent]


def counts_of(network: "BayesianNetwork", X: ArrayLike) -> dict[Name, Any] | None:
    """Counts of each family in a table, or those of the fit."""
    if X is None:
        return getattr(network, "counts_", None)
    from pellucid.graphical.inference.clique_tree import family_of
    from pellucid.graphical.learning.counts import CodedTable, family_counts
    from pellucid.graphical.network.rows import coded

    arrays = network._arrays
    table = CodedTable(arrays.names, arrays.states, coded(network, X), np.empty(0))
    families = [family_of(arrays, v) for v in range(len(arrays.names))]
    return dict(zip(arrays.names, family_counts(table, families), strict=True))


def _zeros(cpd: CPT) -> list[Finding]:
    zeros, size, name = int((cpd.values == 0).sum()), cpd.values.size, cpd.variable
    words = f"{zeros} of the {size} entries of {name!r} are 0: no evidence can ever change that"
    return [Finding("zero probability", name, words)] if zeros else []


def _support(cpd: CPT, N: IntArray) -> list[Finding]:
    found, rows, name = [], N.sum(axis=-1), cpd.variable
    unseen, free = int((rows <= 0).sum()), free_parameters(cpd)
    if unseen:
        words = (
            f"{unseen} of the {rows.size} configurations of the parents of {name!r} have no data"
        )
        found.append(Finding("no data", name, words))
    if free > rows.sum():
        words = f"the table of {name!r} has {free} free numbers for {rows.sum():g} rows of data"
        found.append(Finding("large table", name, f"{words}: fewer parents or states"))
    return found


def _needless(cpd: CPT, atol: float) -> list[Finding]:
    """An edge is not needed if the table does not change along it."""
    words = "{!r} does not depend on its parent {!r} given the others"
    return [
        Finding("needless edge", cpd.variable, words.format(cpd.variable, parent))
        for i, parent in enumerate(cpd.parents)
        if np.ptp(cpd.values, axis=i).max() <= atol
    ]


def card(network: "BayesianNetwork") -> Card:
    """Representation, evaluation and optimisation of a network."""
    kind = "linear-Gaussian distributions" if network._is_gaussian() else "probability tables"
    d, e = len(network.dag_.nodes), len(network.dag_.edges)
    numbers: dict[str, Any] = {"variables": d, "edges": e, "parameters": network.n_parameters_}
    counts = getattr(network, "counts_", None)
    if counts:
        tables = {name: network.cpds_[name].values for name in counts}
        families = {name: float(xlogy(N, tables[name]).sum()) for name, N in counts.items()}
        if not getattr(network, "latent_", ()) and network.n_iter_ == 1:
            numbers["log_likelihood"] = sum(families.values())
        numbers |= {f"l({name})": value for name, value in list(families.items())[:20]}
    how = "given, not learned"
    if hasattr(network, "history_"):
        how = f"expectation-maximisation, {network.n_iter_} rounds"
        if network.n_iter_ == 1:
            how = "counts of each family"
        if network._is_gaussian():
            how = "least squares per node"
    prior = " plus the log Dirichlet prior" if network.prior is not None else ""
    return Card(
        representation=f"p(x) = prod p(x_i | parents) over {d} variables, {e} edges, {kind}",
        evaluation=f"log-likelihood, a sum over families{prior}",
        optimisation=how,
        numbers=numbers,
    )
