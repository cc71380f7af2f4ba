r"""I-maps: graphs whose independencies hold in a distribution.

G is an I-map of p iff each node is independent in p of its non-descendants given its parents, iff
p(x) = prod_i p(x_i | x_pa(i)). It is minimal if no edge can go, perfect if p has no further
independence. Adding nodes along an order, each with a smallest set of earlier nodes that makes it
independent of the other earlier ones, gives a minimal I-map; another order may give another one.

Cost         2^i independence checks for the i-th node of the order, each a pass over the joint.

References: Koller & Friedman (2009), section 3.4 and algorithm 3.2.
"""

from collections.abc import Iterable
from itertools import combinations
from typing import TYPE_CHECKING, Any

from pellucid.graphical.network.factor import Factor, as_factor
from pellucid.graphical.network.names import Name

if TYPE_CHECKING:
    from pellucid.graphical.graphs.dag import DAG


def _joint(dag: "DAG", p: Any) -> Factor:
    joint = as_factor(p).normalise()
    if frozenset(joint.scope) != frozenset(dag.nodes):
        raise ValueError(
            "the graph and the joint must have the same variables, got "
            f"{sorted(map(str, dag.nodes))} and {sorted(map(str, joint.scope))}"
        )
    return joint


def is_i_map(dag: "DAG", p: Any, atol: float = 1e-9) -> bool:
    """Whether the local independencies of the graph hold in p."""
    joint = _joint(dag, p)
    return all(
        joint.independent(left, right, given, atol)
        for left, right, given in dag.local_independencies()
    )


def is_minimal_i_map(dag: "DAG", p: Any, atol: float = 1e-9) -> bool:
    """Whether it is an I-map that no edge can leave."""
    if not is_i_map(dag, p, atol):
        return False
    smaller = (type(dag)(dag.edges - {edge}, dag.nodes) for edge in dag.edges)
    return not any(is_i_map(fewer, p, atol) for fewer in smaller)


def is_perfect_i_map(dag: "DAG", p: Any, atol: float = 1e-9) -> bool:
    """Whether p has the independencies of the graph and no others.

    Pairs decide: what separates a pair in p must separate it in the graph. The other direction
    is ``is_i_map``, since in p pairs do not decide on sets.
    """
    joint = _joint(dag, p)
    return is_i_map(dag, joint, atol) and joint.independencies(atol) <= dag.independencies()


def minimal_i_map(p: Any, order: Iterable[Name], atol: float = 1e-9) -> Any:
    """The minimal I-map of a joint along an order of its variables.

    Parameters
    ----------
    p : Factor or JointTable
        The joint distribution.
    order : iterable of names
        All variables; parents come from earlier ones.
    atol : float, default=1e-9
        Difference of probabilities that counts as none.

    Examples
    --------
    >>> from pellucid.graphical import Factor, minimal_i_map
    >>> a = Factor({"A": (0, 1)}, [0.7, 0.3])
    >>> b = Factor({"A": (0, 1), "B": (0, 1)}, [[0.5, 0.5], [0.5, 0.5]])
    >>> minimal_i_map(a * b, ["A", "B"])
    DAG(A, B)
    """
    from pellucid.graphical.graphs.dag import DAG  # its methods call this function

    joint, nodes = as_factor(p).normalise(), tuple(order)
    if sorted(map(repr, nodes)) != sorted(map(repr, joint.scope)):
        raise ValueError(f"order must hold every variable once: {sorted(map(str, joint.scope))}")
    edges: list[tuple[Name, Name]] = []
    for j, node in enumerate(nodes):
        parents = next(
            chosen
            for k in range(j + 1)
            for chosen in combinations(nodes[:j], k)
            if k == j
            or joint.independent(node, [x for x in nodes[:j] if x not in chosen], chosen, atol)
        )
        edges += [(parent, node) for parent in parents]
    return DAG(edges, nodes)
