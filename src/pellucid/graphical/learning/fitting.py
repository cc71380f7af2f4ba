r"""Learning the distributions of a network whose graph is known.

Complete     N_ujx counts of each family; theta = (N + c) / sum(N + c), c from the prior
Incomplete   expectation-maximisation (``em``), or only rows whose family is complete
Numbers      least squares of each variable on its parents (``gaussian``)

Counts of disjoint rows add up: ``fit_blocks`` reads the source once for the states and once for
the counts.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.special import xlogy
from sklearn.base import clone

from pellucid.base import check_weights
from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike, Map
from pellucid.core.loops.iterate import FitContext, iterate
from pellucid.core.loops.statistics import Rows, Source, Statistic, reduce_rows
from pellucid.core.runtime.random import generator
from pellucid.graphical.graphs.dag import DAG, as_dag
from pellucid.graphical.inference.cost import check_tables
from pellucid.graphical.learning import counts as coding
from pellucid.graphical.learning.counts import (
    CodedTable,
    add_counts,
    encode_table,
    enumerated_states,
    family_counts,
)
from pellucid.graphical.learning.em import fit_em, gather, random_tables
from pellucid.graphical.learning.learn_tables import learn_table, prior_exponent, warn_unseen
from pellucid.graphical.network import gaussian
from pellucid.graphical.network.names import Name
from pellucid.graphical.network.rows import number_columns
from pellucid.graphical.network.tables import CPT, LinearGaussianCPD

if TYPE_CHECKING:
    from pellucid.graphical.network.network import BayesianNetwork


class Shaped(NamedTuple):
    """Anything with a shape, for checks of lengths."""

    shape: tuple[int, int]


class Problem(NamedTuple):
    """The graph and the shapes of what is to be learned, by number of variable."""

    dag: DAG
    names: tuple[Name, ...]
    states: tuple[tuple[Any, ...], ...]
    parents: tuple[tuple[int, ...], ...]
    given: Mapping[Name, CPT]
    latent: tuple[Name, ...]

    @property
    def families(self) -> list[tuple[int, ...]]:
        return [(*some, v) for v, some in enumerate(self.parents)]

    @property
    def shapes(self) -> list[tuple[int, ...]]:
        return [tuple(len(self.states[u]) for u in family) for family in self.families]

    def cpds(self, tables: Sequence[Array]) -> dict[Name, CPT]:
        found = {}
        for name, values, some, states in zip(
            self.names, tables, self.parents, self.states, strict=True
        ):
            known = {"parents": [self.names[p] for p in some], "states": states}
            found[name] = CPT(name, values, **known, fixed=self.is_fixed(name))
        return found

    def is_fixed(self, name: Name) -> bool:
        return name in self.given and self.given[name].fixed


def given_cpds(network: "BayesianNetwork") -> dict[Name, Any]:
    """The distributions of the constructor by name."""
    cpds = network.cpds or ()
    return {c.variable: c for c in (cpds.values() if isinstance(cpds, Mapping) else cpds)}


def is_gaussian(network: "BayesianNetwork") -> bool:
    if isinstance(network.states, str):
        return True
    return any(isinstance(c, LinearGaussianCPD) for c in given_cpds(network).values())


def check_parameters(network: "BayesianNetwork") -> None:
    """One line for each."""
    check.one_of(("em", "drop", "raise"), missing=network.missing)
    check.whole(max_iter=network.max_iter)
    check.non_negative(tol=network.tol)
    if isinstance(network.states, str) and network.states != "gaussian":
        raise ValueError(f"states must be a dict, 'gaussian' or None, got {network.states!r}")


def find_graph(
    network: "BayesianNetwork", X: Any, w: ArrayLike | None, names: Sequence[Name]
) -> DAG:
    """The graph: learned, given, or that of the cpds; every column is a node."""
    if hasattr(network.structure, "fit"):
        weights = {} if w is None else {"sample_weight": w}
        return as_dag(clone(network.structure).fit(X, **weights).dag_, names)
    if network.structure is not None:
        return as_dag(network.structure, names)
    cpds = given_cpds(network)
    edges = [(p, c.variable) for c in cpds.values() for p in c.parents]
    return DAG(edges, [*cpds, *names])


def column_names(network: "BayesianNetwork") -> tuple[Name, ...]:
    """The variables of the columns: their names, else the nodes of the graph in order."""
    names = network._feature_names()
    if hasattr(network, "feature_names_in_") or hasattr(network.structure, "fit"):
        return names
    nodes: tuple[Name, ...] = tuple(given_cpds(network))
    if network.structure is not None:
        nodes = as_dag(network.structure).nodes
    if not nodes or set(names) >= set(nodes):
        return names
    if len(nodes) != len(names):
        raise ValueError(
            f"X has {len(names)} columns without names, the graph has {len(nodes)} nodes; "
            "pass a frame"
        )
    return nodes


def set_up(network: "BayesianNetwork", dag: DAG, known: Mapping[Name, Any]) -> Problem:
    """The shapes of all tables; what would not fit into memory is refused here."""
    given = given_cpds(network)
    declared = declared_states(network)
    states: dict[Name, tuple[Any, ...]] = {}
    for name in dag.nodes:
        if name not in known and name not in declared:
            raise ValueError(
                f"variable {name!r} has no column; a latent variable needs states={{{name!r}: ...}}"
            )
        states[name] = tuple(known[name] if name in known else declared[name])
    above = {n: given[n].parents if n in given else dag.family(n)[:-1] for n in dag.nodes}
    check_tables(above, {name: len(some) for name, some in states.items()})
    place = {name: v for v, name in enumerate(dag.nodes)}
    parents = tuple(tuple(place[p] for p in above[name]) for name in dag.nodes)
    latent = tuple(name for name in dag.nodes if name not in known)
    return Problem(dag, dag.nodes, tuple(states.values()), parents, given, latent)


def declared_states(network: "BayesianNetwork") -> dict[Name, Any]:
    """The states of the given tables and of ``states``."""
    given = {name: cpd.states for name, cpd in given_cpds(network).items()}
    return {**given, **(network.states or {})}


def fit_categories(
    network: "BayesianNetwork", X: ArrayLike, columns: Sequence[Any], w: Any
) -> None:
    """Tables from rows in memory."""
    names = column_names(network)
    n = coding.n_cells(columns[0])
    weights = check_weights(w, Shaped((n, len(columns))))
    states = {**enumerated_states(columns, names), **declared_states(network)}
    found = encode_table(columns, names, weights, states)
    dag = find_graph(network, X, w, names)
    problem = set_up(network, dag, dict(zip(names, found.states, strict=True)))
    codes = np.full((len(problem.names), n), -1, np.int16)
    for row, name in zip(found.codes, names, strict=True):
        codes[problem.names.index(name)] = row
    live = np.flatnonzero(weights) if not weights.all() else slice(None)
    w_live = found.w[live] if len(found.w) else found.w
    cells = np.ascontiguousarray(codes[:, live])
    table = CodedTable(problem.names, problem.states, cells, w_live)

    def attributes(tables: Any) -> dict[str, Any]:
        twin = type(network)(**network.get_params(deep=False))
        _install(twin, problem, getattr(tables, "tables", tables))
        found = {key: twin.__dict__[key] for key in ("dag_", "cpds_", "states_", "n_parameters_")}
        expected = getattr(tables, "expected", None)  # of EM, at these tables
        if expected is not None:
            found["counts_"] = dict(zip(problem.names, expected.counts, strict=True))
        return found

    steps = network.max_iter
    context = FitContext(network, X=X, sample_weight=w, max_steps=steps, attributes=attributes)
    absent = table.codes < 0
    if absent.any() and network.missing != "drop":
        _refuse_missing(network, problem, absent)
        _fit_incomplete(network, problem, table, context)
    else:
        if problem.latent:
            raise ValueError(f"missing='drop' leaves no row of the variable {problem.latent[0]!r}")
        _fit_counts(network, problem, family_counts(table, problem.families), context)
    network.columns_ = names


def _refuse_missing(network: "BayesianNetwork", problem: Problem, absent: Any) -> None:
    if network.missing == "raise":
        v = int(absent.any(axis=1).argmax())
        raise ValueError(
            f"column {problem.names[v]!r} has a missing cell in row {int(absent[v].argmax())}; "
            "missing='em' or 'drop' accept it"
        )


def _install(network: "BayesianNetwork", problem: Problem, tables: Sequence[Array]) -> None:
    network._install(problem.dag, problem.cpds(tables))


def _fit_counts(
    network: "BayesianNetwork", problem: Problem, counts: list[Array], context: FitContext | None
) -> None:
    """Tables of complete counts: one step."""
    unseen = {}

    def step(_: Any) -> tuple[Any, float]:
        tables = []
        for name, N in zip(problem.names, counts, strict=True):
            if problem.is_fixed(name):
                tables.append(problem.given[name].values)
                continue
            learned = learn_table(N, prior_exponent(network.prior, name, N.shape))
            tables.append(learned.values)
            unseen[name] = learned.unseen
        return tables, 0.0

    def record(tables: Any) -> dict[str, Any]:
        total = sum(float(xlogy(N, t).sum()) for N, t in zip(counts, tables, strict=True))
        return {"objective": total, "log_likelihood": total}

    once = partial(iterate, max_iter=1, tol=None, start_row=False, name=type(network).__name__)
    run = once(step, None, record=record, context=context)
    _finish(network, problem, run, run.state, counts, context)
    warn_unseen(unseen)


def _fit_incomplete(
    network: "BayesianNetwork", problem: Problem, table: CodedTable, context: FitContext
) -> None:
    """Tables by expectation-maximisation."""
    rows = gather(table, problem.parents)
    drawn = random_tables(problem.shapes, generator(network.random_state))
    start, exponents = [], []
    for name, table_drawn in zip(problem.names, drawn, strict=True):
        start.append(problem.given[name].values if name in problem.given else table_drawn)
        exponents.append(prior_exponent(network.prior, name, table_drawn.shape))
    fixed = [problem.is_fixed(name) for name in problem.names]
    em = partial(fit_em, max_iter=network.max_iter, tol=network.tol, name=type(network).__name__)
    run = em(rows, start, exponents, fixed, context=context)
    counts = run.state.expected.counts
    _finish(network, problem, run, run.state.tables, counts, context)
    ends = {}
    for name, N, c in zip(problem.names, counts, exponents, strict=True):
        ends[name] = (N + c).sum(axis=-1) <= 0
    warn_unseen(ends)


def _finish(
    network: "BayesianNetwork",
    problem: Problem,
    run: Any,
    tables: Sequence[Array],
    counts: Sequence[Array],
    context: FitContext | None,
) -> None:
    _install(network, problem, tables)
    network.history_, network.n_iter_ = run.history, max(run.n_iter, 1)
    network.counts_ = dict(zip(problem.names, counts, strict=True))
    network.latent_ = problem.latent
    if context is not None:
        context.end(tables)


def fit_numbers(
    network: "BayesianNetwork", X: ArrayLike, columns: Sequence[Any], w: Array | None
) -> None:
    """A Gaussian network by least squares."""
    names = column_names(network)
    numbers = number_columns(names, columns)
    n = len(numbers[names[0]])
    weights = check_weights(w, Shaped((n, len(columns))))
    dag = find_graph(network, X, w, names)
    missing = [name for name in dag.nodes if name not in numbers]
    if missing:
        raise ValueError(f"X has no column for the variable {missing[0]!r}")
    given = given_cpds(network)
    parents = {v: given[v].parents if v in given else dag.family(v)[:-1] for v in dag.nodes}

    def step(_: Any) -> tuple[Any, float]:
        return gaussian.fit_gaussian(numbers, parents, np.asarray(weights)), 0.0

    def record(cpds: Any) -> dict[str, Any]:
        terms = gaussian.log_densities_normal(cpds, numbers)
        total = float(sum(weights @ term for term in terms.values()))
        return {"objective": total, "log_likelihood": total}

    context = FitContext(network, X=X, sample_weight=w, max_steps=1)
    run = iterate(step, None, max_iter=1, tol=None, record=record, start_row=False, context=context)
    network._install(dag, run.state)
    network.history_, network.n_iter_ = run.history, 1
    network.latent_, network.columns_ = (), names
    context.end()


def fit_source(network: "BayesianNetwork", source: Source, map_: Map) -> None:
    """Tables from blocks: the states in one pass, the counts in a second."""
    if is_gaussian(network) or hasattr(network.structure, "fit"):
        raise ValueError("fit_blocks counts categories along a given graph; use fit")
    names = column_names(network)
    declared = declared_states(network)
    seen = reduce_rows(Statistic(leaf_values, merge_values), source, map_)
    columns = zip(names, seen, strict=True)
    known = {name: tuple(declared.get(name, values.tolist())) for name, values in columns}
    problem = set_up(network, find_graph(network, None, None, names), known)
    if problem.latent:
        raise ValueError(f"fit_blocks needs a column for the variable {problem.latent[0]!r}")
    order = tuple(names.index(name) for name in problem.names)
    empty = CodedTable(problem.names, problem.states, np.empty(0), np.empty(0))
    families, drop = problem.families, network.missing == "drop"
    summarise = partial(leaf_counts, table=empty, order=order, families=families, drop=drop)
    counts = reduce_rows(Statistic(summarise, add_counts), source, map_)
    _fit_counts(network, problem, counts, None)
    network.columns_ = names


def leaf_values(rows: Rows) -> list[Any]:
    """The distinct values of each column of one leaf; rows of weight 0 do not count."""
    X = rows.X[rows.w > 0]
    return [np.unique(column[~np.isnan(column)]) + 0.0 for column in X.T]


def merge_values(a: list[Any], b: list[Any]) -> list[Any]:
    return [np.union1d(x, y) for x, y in zip(a, b, strict=True)]


def leaf_columns(rows: Rows, order: Sequence[int], drop: bool) -> list[Array]:
    """The columns of one leaf without the rows of weight 0; missing cells only where they drop."""
    columns = [rows.X[rows.w > 0, j] for j in order]
    if not drop and any(np.isnan(column).any() for column in columns):
        raise ValueError(
            "fit_blocks cannot fill missing cells: use missing='drop', or fit for "
            "expectation-maximisation in memory"
        )
    return columns


def leaf_counts(
    rows: Rows, table: CodedTable, order: Any, families: Any, drop: bool
) -> list[Array]:
    """The counts of every family in one leaf of an empty table."""
    columns, given = leaf_columns(rows, order, drop), dict(zip(*table[:2], strict=True))
    return family_counts(encode_table(columns, table.names, rows.w[rows.w > 0], given), families)
