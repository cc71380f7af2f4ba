r"""Interventions: what happens if a variable is set, not seen.

do(x)        cuts the edges into x and fixes its value: p(v | do(x)) = prod_i p(v_i | pa_i) over
             the others, at x (the truncated factorisation). Seeing x also says something about its
             causes, setting it does not.
Adjustment   Z satisfies the back-door criterion for (x, y) if no node of Z is a descendant of x
             and Z blocks every path that enters x by an arrow, i.e. separates x from y in the
             graph without the edges out of x. Then
                 p(y | do(x)) = sum_z p(y | x, z) p(z),
             which needs no table of the causes: the effect can be read off data.
Algorithm    subsets of the allowed nodes, small ones first; of the ancestors of x and y alone,
             since a minimal set never needs others. O(2^ancestors)

References: Pearl (2009), sections 3.2 and 3.3; van der Zander, Liskiewicz & Textor (2014).
"""

from collections.abc import Iterable, Mapping
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from pellucid.graphical.graphs.separation import d_separated
from pellucid.graphical.network.names import Name, Names, names_of, state_index
from pellucid.graphical.network.tables import CPT, LinearGaussianCPD

if TYPE_CHECKING:
    from pellucid.graphical.graphs.dag import DAG
    from pellucid.graphical.network.factor import Factor
    from pellucid.graphical.network.network import BayesianNetwork

MOST_CHOICES = 20  # nodes among which sets are looked for


def without_causes(dag: "DAG", names: Iterable[Name]) -> "DAG":
    """The graph without the edges into ``names``."""
    cut = frozenset(names)
    return type(dag)([edge for edge in dag.edges if edge[1] not in cut], dag.nodes)


def is_adjustment_set(dag: "DAG", x: Name, y: Any, given: Names = ()) -> bool:
    """The back-door criterion for single nodes x and y."""
    (x,), (y,) = dag._check(x), dag._check(y)
    z = frozenset(dag._check(given))
    if x == y or x in z or y in z:
        shown = sorted(map(str, z))
        raise ValueError(f"x, y and given must not overlap, got {x!r}, {y!r} and {shown}")
    if z & dag.descendants(x):
        return False
    behind = type(dag)([edge for edge in dag.edges if edge[0] != x], dag.nodes)
    return d_separated(behind, x, y, z)


def adjustment_sets(dag: "DAG", x: Name, y: Any, hidden: Names = ()) -> list[frozenset[Name]]:
    """All minimal sets that satisfy the back-door criterion, none with a ``hidden`` node."""
    (x,), (y,) = dag._check(x), dag._check(y)
    away = dag.descendants(x) | {x, y} | frozenset(dag._check(hidden))
    above = dag.ancestors((x, y))
    choices = [v for v in dag.nodes if v in above and v not in away]
    if len(choices) > MOST_CHOICES:
        raise ValueError(
            f"{x!r} and {y!r} have {len(choices)} ancestors to adjust for, sets are looked for "
            f"among at most {MOST_CHOICES}: check one with is_adjustment_set"
        )
    found: list[frozenset[Name]] = []
    for size in range(len(choices) + 1):
        for some in map(frozenset, combinations(choices, size)):
            if not any(smaller <= some for smaller in found) and is_adjustment_set(dag, x, y, some):
                found.append(some)
    return found


def point(cpd: CPT, state: object) -> CPT:
    """A table without parents that is sure of one state."""
    values = np.zeros(len(cpd.states))
    values[state_index(cpd.states, state, cpd.variable)] = 1.0
    return CPT(cpd.variable, values, states=cpd.states, fixed=True)


def freed(cpd: Any) -> Any:
    """The variable without its parents; it is observed at once, so its distribution is of no
    account.
    """
    if isinstance(cpd, LinearGaussianCPD):
        return LinearGaussianCPD(cpd.variable, 0.0, [], 1.0)
    return CPT(cpd.variable, np.full(len(cpd.states), 1 / len(cpd.states)), states=cpd.states)


def intervened(network: "BayesianNetwork", settings: Mapping[Name, Any]) -> "BayesianNetwork":
    """The network in which the variables are set to these states."""
    cpds = dict(network.cpds_)
    for name in names_of(tuple(settings), cpds):
        cpds[name] = point(cpds[name], settings[name])
    return type(network)(without_causes(network.dag_, settings), cpds=cpds)


def cut_off(network: "BayesianNetwork", names: Iterable[Name]) -> "BayesianNetwork":
    """The network in which these variables have no causes."""
    cpds = dict(network.cpds_)
    for name in names_of(tuple(names), cpds):
        cpds[name] = freed(cpds[name])
    return type(network)(without_causes(network.dag_, names), cpds=cpds)


def adjusted(
    network: "BayesianNetwork", y: Name, x: Name, state: Any, given: frozenset[Name]
) -> "Factor":
    """sum_z p(y | x, z) p(z): the effect of x on y from what can be seen."""
    if not is_adjustment_set(network.dag_, x, y, given):
        shown = ", ".join(sorted(map(repr, given))) or "nothing"
        raise ValueError(
            f"adjusting for {shown} does not satisfy the back-door criterion for the effect of "
            f"{x!r} on {y!r}; see dag_.adjustment_sets({x!r}, {y!r})"
        )
    if not given:
        return network.query(y, {x: state})
    z = [name for name in network.dag_.nodes if name in given]
    weights = network.query(z)
    at = state_index(network.states_[x], state, x)
    seen = network.query([y, x, *z]).values[:, at]  # p(y, x, z)
    total = seen.sum(axis=0)
    if ((total == 0) & (weights.values > 0)).any():
        raise ValueError(
            f"{x} = {state} never occurs with some states of {z}: its effect cannot be seen"
        )
    share = np.divide(seen, total, out=np.zeros_like(seen), where=total > 0)
    values = (share * weights.values).reshape(len(share), -1).sum(axis=1)
    return type(weights)({y: network.states_[y]}, values)
