r"""Categories and numbers together: the cores of the mixed network.

Model        discrete variables have tables and discrete parents only; continuous ones are normal
             with a line for each configuration of their discrete parents
             (``conditional_gaussian``). Given all discrete variables the numbers are jointly
             normal.
Query        exact: for every configuration d of the unobserved discrete variables that matter,
                 w_d = p(d) N(x_e; m_d, S_d),     x_q | x_e, d  normal,
             so the answer is a mixture with weights w_d / sum w. What is no ancestor of the
             question or the evidence is left out.
Cost         configurations x (continuous variables)^3; refused above ``max_bytes``.
Learning     counts for tables, least squares within configurations for lines: one pass.

References: Lauritzen & Wermuth (1989); Lauritzen (1992); Lerner (2002).
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.special import logsumexp

from pellucid.core.arrays.typing import Array
from pellucid.core.readable import readable
from pellucid.core.runtime.warn import warn
from pellucid.graphical.graphs.dag import DAG, as_dag
from pellucid.graphical.learning.counts import family_counts
from pellucid.graphical.learning.learn_tables import learn_table, prior_exponent, warn_unseen
from pellucid.graphical.network.conditional_gaussian import ConditionalGaussianCPD, fit_lines
from pellucid.graphical.network.factor import Factor
from pellucid.graphical.network.names import Name
from pellucid.graphical.network.tables import CPT, LinearGaussianCPD


@readable
class MixedAnswer(NamedTuple):
    """A posterior with numbers in it: an exact mixture of normals.

    ``factor`` is that of the discrete variables asked for (None without any); ``mean`` and
    ``covariance`` are those of the numbers ``names``; the mixture itself is ``weights`` (m,),
    ``means`` (m, c) and ``covariances`` (m, c, c).

    >>> one = MixedAnswer(None, ("x",), np.zeros(1), np.eye(1), np.ones(1), np.zeros((1, 1)),
    ...                   np.ones((1, 1, 1)))
    >>> one.density([[0.0]]).round(4)
    array([0.3989])
    """

    factor: Factor | None
    names: tuple[Name, ...]
    mean: Array
    covariance: Array
    weights: Array
    means: Array
    covariances: Array

    def density(self, points: Array) -> Array:
        """The density of the numbers at some points, (n, c)."""
        X = np.asarray(points, np.float64)
        terms = [
            np.log(w) + normal_log_density(X - m, S)
            for w, m, S in zip(self.weights, self.means, self.covariances, strict=True)
            if w > 0
        ]
        return np.exp(logsumexp(terms, axis=0))


def normal_log_density(D: Array, S: Array) -> Array:
    """log N(D; 0, S) of every row; S may have leading axes of its own."""
    Z = np.linalg.solve(np.linalg.cholesky(S), np.swapaxes(D, -1, -2))
    half = np.log(np.diagonal(np.linalg.cholesky(S), axis1=-2, axis2=-1)).sum(axis=-1)
    return -0.5 * (Z * Z).sum(axis=-2) - half[..., None] - 0.5 * D.shape[-1] * np.log(2 * np.pi)


class Configurations(NamedTuple):
    """Every configuration of the discrete variables that matter, and the normals there."""

    codes: dict[Name, Any]  # (m,) of every discrete variable
    log_p: Array  # (m,)
    means: Array  # (m, c)
    covariances: Array  # (m, c, c)


def configurations(
    cpds: Mapping[Name, Any], order: tuple[Name, ...], fixed: Mapping[Name, int]
) -> Configurations:
    """``order`` holds the variables that matter, parents first; ``fixed`` the observed codes."""
    discrete = [v for v in order if isinstance(cpds[v], CPT)]
    numbers = [v for v in order if v not in set(discrete)]
    sizes = [1 if v in fixed else len(cpds[v].states) for v in discrete]
    m, d = math.prod(sizes), len(numbers)
    grid = np.indices(sizes).reshape(len(sizes), m)
    codes = {v: g + fixed.get(v, 0) for v, g in zip(discrete, grid, strict=True)}
    log_p = np.zeros(m)
    with np.errstate(divide="ignore"):
        for v in discrete:
            log_p += np.log(cpds[v].values[tuple(codes[u] for u in (*cpds[v].parents, v))])
    place = {v: i for i, v in enumerate(numbers)}
    L = np.tile(np.eye(d), (m, 1, 1))
    b, root = np.empty((m, d, 1)), np.zeros((m, d, d))
    for v, i in place.items():
        at = tuple(codes[u] for u in cpds[v].given)
        b[:, i, 0], root[:, i, i] = cpds[v].intercepts[at], np.sqrt(cpds[v].variances[at])
        L[:, i, [place[p] for p in cpds[v].parents]] -= cpds[v].coefficients[at]
    spread: Any = np.linalg.solve(L, root)
    means: Any = np.linalg.solve(L, b)[..., 0]
    return Configurations(codes, log_p, means, spread @ spread.transpose(0, 2, 1))


def conditioned(
    found: Configurations, asked: list[int], seen: list[int], values: Array
) -> tuple[Array, Array, Array]:
    """Log weights, means and covariances of the asked numbers given the seen ones."""
    log_w, m, S = found.log_p, found.means, found.covariances
    means, cov = m[:, asked], S[:, asked][:, :, asked]
    if seen:
        E, cross = S[:, seen][:, :, seen], S[:, seen][:, :, asked]
        gap = values - m[:, seen]
        log_w = log_w + normal_log_density(gap[:, None], E)[:, 0]
        gain = np.linalg.solve(E, cross)
        means = means + (gap[:, None] @ gain)[:, 0]
        cov = cov - cross.transpose(0, 2, 1) @ gain
    return log_w, means, cov


def flat_cell(codes: list[Any], shape: Sequence[int], n: int) -> Any:
    """The flat number of the configuration of each row."""
    cell = np.zeros(n, np.int64)
    for code, size in zip(codes, shape, strict=True):
        cell = cell * size + code
    return cell


def stacked(columns: list[Array], n: int) -> Array:
    return np.column_stack(columns) if columns else np.empty((n, 0))


def free_numbers(cpd: Any) -> int:
    """How many numbers a distribution leaves free."""
    if isinstance(cpd, CPT):
        return int(cpd.values[..., 0].size) * (cpd.values.shape[-1] - 1)
    return cpd.intercepts.size * (len(cpd.parents) + 2)


def check_mixed(structure: DAG | None, cpds: Any) -> tuple[DAG, dict[Name, Any]]:
    """The graph and the distributions by name, checked against each other."""
    found: dict[Name, Any] = {}
    for cpd in cpds.values() if isinstance(cpds, Mapping) else cpds:
        if isinstance(cpd, LinearGaussianCPD):
            cpd = ConditionalGaussianCPD(*cpd[:4], parents=cpd.parents)
        if not isinstance(cpd, CPT | ConditionalGaussianCPD):
            raise TypeError(f"cpds must hold CPT or ConditionalGaussianCPD, got {cpd!r}")
        if cpd.variable in found:
            raise ValueError(f"there are two distributions for {cpd.variable!r}")
        found[cpd.variable] = cpd
    for name, cpd in found.items():
        tables = cpd.parents if isinstance(cpd, CPT) else cpd.given
        sizes = cpd.values.shape if isinstance(cpd, CPT) else cpd.intercepts.shape
        for parent in causes(cpd):
            if parent not in found:
                raise ValueError(f"{name!r} has the parent {parent!r}, which has no cpd")
            if isinstance(found[parent], CPT) != (parent in tables):
                kind = "discrete" if parent in tables else "continuous"
                raise ValueError(
                    f"{name!r} needs its parent {parent!r} to be {kind}; a discrete "
                    "variable cannot have a continuous parent"
                )
        for parent, size in zip(tables, sizes, strict=False):
            if len(found[parent].states) != size:
                raise ValueError(
                    f"the cpd of {name!r} has {size} rows for its parent {parent!r}, "
                    f"which has {len(found[parent].states)} states"
                )
    dag = DAG([(p, name) for name, cpd in found.items() for p in causes(cpd)], found)
    if structure is not None:
        given = as_dag(structure)
        if given.edges != dag.edges or not set(given.nodes) <= set(dag.nodes):
            raise ValueError("structure and cpds differ")
        dag = DAG(dag.edges, [*given.nodes, *dag.nodes])
    return dag, {name: found[name] for name in dag.nodes}


def causes(cpd: Any) -> tuple[Name, ...]:
    """All parents of a distribution."""
    return cpd.parents if isinstance(cpd, CPT) else (*cpd.given, *cpd.parents)


def learn_mixed(
    dag: DAG,
    table: Any,
    codes: Mapping[Name, Any],
    numbers: Mapping[Name, Array],
    w: Array,
    prior: Any,
) -> list[Any]:
    """Tables by counts, lines by least squares."""
    states = {} if table is None else dict(zip(table.names, table.states, strict=True))
    cpds: list[Any] = []
    unseen, pooled = {}, {}
    for v in dag.nodes:
        parents = dag.family(v)[:-1]
        given = tuple(u for u in parents if u in codes)
        rest = tuple(u for u in parents if u not in codes)
        if v in codes:
            if rest:
                raise ValueError(
                    f"the discrete variable {v!r} cannot have the continuous parent {rest[0]!r}: "
                    "cut it into intervals, or turn the edge"
                )
            family = [table.names.index(u) for u in (*given, v)]
            N = family_counts(table, [family])[0]
            learned = learn_table(N, prior_exponent(prior, v, N.shape))
            unseen[v] = learned.unseen
            cpds.append(CPT(v, learned.values, parents=given, states=states[v]))
            continue
        shape = [len(states[u]) for u in given]
        live = w > 0
        x, U = numbers[v][live], stacked([numbers[u] for u in rest], len(w))[live]
        cell = flat_cell([codes[u] for u in given], shape, len(w))[live]
        lines = fit_lines(v, x, U, cell, w[live], shape, rest, given)
        cpds.append(lines.cpd)
        if lines.pooled:
            pooled[v] = lines.pooled
    warn_unseen(unseen)
    for v, some in pooled.items():
        warn(
            f"{len(some)} configurations of the discrete parents of {v!r} have too few rows for a "
            "line of their own and take that of all rows"
        )
    return cpds
