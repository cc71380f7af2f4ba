r"""Directed acyclic graphs.

A graph G over variables stands for the factorisation p(x) = prod_i p(x_i | x_pa(i)), equivalently
for the local independencies: each node is independent of its non-descendants given its parents.

Algorithm    topological order by repeatedly taking nodes without parents left (Kahn), ties in
             the order of ``nodes``; what is left over when none can be taken holds a cycle.
             O(nodes + edges)

References: Pearl (1988); Koller & Friedman (2009), chapter 3; Kahn (1962).
"""

from collections.abc import Iterable
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from pellucid.core.readable import readable
from pellucid.graphical.graphs import intervention, separation
from pellucid.graphical.graphs.equivalence import CPDAG, cpdag, v_structures
from pellucid.graphical.graphs.imap import (
    is_i_map,
    is_minimal_i_map,
    is_perfect_i_map,
    minimal_i_map,
)
from pellucid.graphical.graphs.separation import Independence
from pellucid.graphical.network.names import Name, Names, names_of

if TYPE_CHECKING:
    from pellucid.graphical.network.factor import Factor

Edge = tuple[Name, Name]


class _Graph(NamedTuple):
    edges: frozenset[Edge]
    nodes: tuple[Name, ...]


@readable
class DAG(_Graph):
    """An immutable directed acyclic graph; equal graphs have the same nodes and edges.

    Parameters
    ----------
    edges : iterable of (parent, child)
    nodes : iterable of names, default=()
        Nodes in the order wanted; those of ``edges`` that are missing follow. Needed for nodes
        without edges.

    Attributes
    ----------
    nodes : tuple
    edges : frozenset of pairs

    Examples
    --------
    >>> from pellucid.graphical import DAG
    >>> dag = DAG([("A", "E"), ("F", "E"), ("F", "B"), ("E", "C")])
    >>> sorted(dag.parents("E")), sorted(dag.markov_blanket("F")), dag.topological_order()
    (['A', 'F'], ['A', 'B', 'E'], ('A', 'F', 'E', 'B', 'C'))
    >>> dag.d_separated("A", "B", given="F"), dag.d_separated("A", "B", given="C")
    (True, False)
    >>> dag.active_path("A", "B", given="C")
    ['A', 'E', 'F', 'B']
    >>> DAG([("a", "b"), ("b", "a")])
    Traceback (most recent call last):
    ValueError: the graph has a cycle: 'a' -> 'b' -> 'a'
    """

    def __new__(cls, edges: Iterable[Edge] = (), nodes: Iterable[Name] = ()) -> Self:
        pairs = [_pair(edge) for edge in edges]
        ends = (node for edge in pairs for node in edge)
        order = tuple(dict.fromkeys([*([nodes] if isinstance(nodes, str) else nodes), *ends]))
        dag = super().__new__(cls, frozenset(pairs), order)
        dag._order  # noqa: B018  refuses a cycle
        return dag

    def __getnewargs__(self) -> tuple[Any, ...]:
        return self.edges, self.nodes

    def __getstate__(self) -> None:
        """Nothing but the edges and nodes is copied or stored."""

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, DAG):
            return NotImplemented
        return self.edges == other.edges and frozenset(self.nodes) == frozenset(other.nodes)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash((self.edges, frozenset(self.nodes)))

    def __repr__(self) -> str:
        arrows = ", ".join(f"{a}->{b}" for a, b in self.sorted_edges)
        alone = [str(v) for v in self.nodes if not self._parents[v] and not self._children[v]]
        return f"DAG({', '.join(filter(None, [arrows, *alone]))})"

    @classmethod
    def complete(cls, order: Iterable[Name]) -> Self:
        """Every earlier node is a parent of every later one: an I-map of any distribution.

        >>> len(DAG.complete("ABCD").edges)
        6
        """
        nodes = tuple(order)
        return cls([(a, b) for j, b in enumerate(nodes) for a in nodes[:j]], nodes)

    @cached_property
    def _parents(self) -> dict[Name, tuple[Name, ...]]:
        """Parents of every node, in the order of ``nodes``."""
        place = {node: i for i, node in enumerate(self.nodes)}
        found: dict[Name, list[Name]] = {node: [] for node in self.nodes}
        for a, b in sorted(self.edges, key=lambda edge: place[edge[0]]):
            found[b].append(a)
        return {node: tuple(some) for node, some in found.items()}

    @cached_property
    def _children(self) -> dict[Name, tuple[Name, ...]]:
        found: dict[Name, list[Name]] = {node: [] for node in self.nodes}
        for node in self.nodes:
            for parent in self._parents[node]:
                found[parent].append(node)
        return {node: tuple(some) for node, some in found.items()}

    @cached_property
    def _order(self) -> tuple[Name, ...]:
        waiting = {node: len(self._parents[node]) for node in self.nodes}
        order = [node for node in self.nodes if not waiting[node]]
        for node in order:  # grows while it is read
            for child in self._children[node]:
                waiting[child] -= 1
                if not waiting[child]:
                    order.append(child)
        if len(order) < len(self.nodes):
            left = {node for node in self.nodes if waiting[node]}
            raise ValueError(f"the graph has a cycle: {_cycle(self._parents, self.nodes, left)}")
        return tuple(order)

    @cached_property
    def _known(self) -> frozenset[Name]:
        return frozenset(self.nodes)

    @property
    def sorted_edges(self) -> tuple[Edge, ...]:
        """The edges in the order of ``nodes``: by parent, then by child."""
        return tuple((a, b) for a in self.nodes for b in self._children[a])

    def _check(self, names: object) -> tuple[Name, ...]:
        return names_of(names, self._known, "node")

    def parents(self, x: Names) -> frozenset[Name]:
        """The parents of a node, or of a set of nodes."""
        return frozenset(p for node in self._check(x) for p in self._parents[node])

    def children(self, x: Names) -> frozenset[Name]:
        """The children of ``x``, a node or several."""
        return frozenset(c for node in self._check(x) for c in self._children[node])

    def family(self, x: Name) -> tuple[Name, ...]:
        """The parents of a node in the order of ``nodes``, then the node."""
        (node,) = self._check(x)
        return (*self._parents[node], node)

    def ancestors(self, x: Names) -> frozenset[Name]:
        """Every node with a directed path to x; x itself is not one."""
        start = self._check(x)
        return separation.closure(self._parents, start) - frozenset(start)

    def descendants(self, x: Names) -> frozenset[Name]:
        """All nodes that a directed path from ``x`` reaches."""
        start = self._check(x)
        return separation.closure(self._children, start) - frozenset(start)

    def non_descendants(self, x: Names) -> frozenset[Name]:
        """Every other node that is no descendant (parents are among them)."""
        return self._known - self.descendants(x) - frozenset(self._check(x))

    def topological_order(self) -> tuple[Name, ...]:
        """The nodes, parents before children."""
        return self._order

    def markov_blanket(self, x: Name) -> frozenset[Name]:
        """Parents, children and the children's other parents: given them x is independent of
        all else.
        """
        children = self.children(x)
        blanket = self.parents(x) | children | self.parents(children)
        return blanket - frozenset(self._check(x))

    def d_separated(self, a: Names, b: Names, given: Names = ()) -> bool:
        """Whether every path between ``a`` and ``b`` is blocked by ``given``."""
        return separation.d_separated(self, a, b, given)

    def active_path(self, a: Names, b: Names, given: Names = ()) -> list[Name] | None:
        """A shortest open path from ``a`` to ``b``, or None if all are blocked."""
        return separation.active_path(self, a, b, given)

    def connection(self, a: Name, c: Name, b: Name) -> str:
        """How a and b meet at c: "tail-to-tail", "head-to-tail" or "head-to-head"."""
        return separation.connection(self, a, c, b)

    def local_independencies(self) -> list[Independence]:
        """Each node from its non-descendants given its parents."""
        return separation.local_independencies(self)

    def independencies(
        self, max_given: int | None = None
    ) -> set[tuple[frozenset[Name], frozenset[Name]]]:
        """All ({a, b}, given) that d-separation proves, ``given`` of at most ``max_given``."""
        return separation.independencies(self, max_given)

    def is_i_map(self, p: "Factor", atol: float = 1e-9) -> bool:
        """Whether every independence of the graph holds in the joint p."""
        return is_i_map(self, p, atol)

    def is_minimal_i_map(self, p: "Factor", atol: float = 1e-9) -> bool:
        """Whether it is an I-map and stops being one when any edge goes."""
        return is_minimal_i_map(self, p, atol)

    def is_perfect_i_map(self, p: "Factor", atol: float = 1e-9) -> bool:
        """Whether graph and joint have the same independencies."""
        return is_perfect_i_map(self, p, atol)

    @staticmethod
    def minimal_i_map(p: "Factor", order: Iterable[Name], atol: float = 1e-9) -> "DAG":
        """The minimal I-map of p along an order; see ``pellucid.graphical.minimal_i_map``."""
        return minimal_i_map(p, order, atol)

    def skeleton(self) -> frozenset[frozenset[Name]]:
        """The edges without their direction."""
        return frozenset(frozenset(edge) for edge in self.edges)

    def v_structures(self) -> frozenset[tuple[frozenset[Name], Name]]:
        """Every ({a, b}, c) with a -> c <- b and no edge between a and b."""
        return v_structures(self)

    def is_i_equivalent(self, other: "DAG") -> bool:
        """Whether both graphs state the same independencies (Verma & Pearl 1990)."""
        if frozenset(self.nodes) != frozenset(other.nodes):
            return False
        return self.skeleton() == other.skeleton() and self.v_structures() == other.v_structures()

    def do(self, names: Names) -> "DAG":
        """The graph after setting some nodes: nothing points to them any more."""
        return intervention.without_causes(self, self._check(names))

    def is_adjustment_set(self, x: Name, y: Name, given: Names = ()) -> bool:
        """Whether ``given`` satisfies the back-door criterion for the effect of x on y.

        >>> dag = DAG([("z", "x"), ("z", "y"), ("x", "y")])
        >>> dag.is_adjustment_set("x", "y"), dag.is_adjustment_set("x", "y", "z")
        (False, True)
        """
        return intervention.is_adjustment_set(self, x, y, given)

    def adjustment_sets(self, x: Name, y: Name, hidden: Names = ()) -> list[frozenset[Name]]:
        """All minimal back-door sets, small ones first, none with a ``hidden`` node."""
        return intervention.adjustment_sets(self, x, y, hidden)

    def cpdag(self) -> CPDAG:
        """The essential graph: directed where all equivalent graphs agree."""
        return cpdag(self)


def as_dag(structure: Any, nodes: Iterable[Name] = ()) -> DAG:
    """A DAG, or an edge list, as a DAG that has all of ``nodes`` too.

    >>> as_dag([("a", "b")], ["c"]).nodes
    ('c', 'a', 'b')
    """
    if not isinstance(structure, DAG):
        return DAG(structure, nodes)
    missing = [node for node in nodes if node not in structure._known]
    return DAG(structure.edges, [*structure.nodes, *missing]) if missing else structure


def _pair(edge: Any) -> Edge:
    if isinstance(edge, str) or not hasattr(edge, "__len__") or len(edge) != 2:
        raise ValueError(f"an edge is a pair (parent, child), got {edge!r}")
    a, b = edge
    return a, b


def _cycle(parents: dict[Name, tuple[Name, ...]], nodes: Iterable[Name], left: set[Name]) -> str:
    """One cycle among the nodes that Kahn's algorithm could not take, as text."""
    node = next(node for node in nodes if node in left)
    seen: list[Name] = []
    while node not in seen:
        seen.append(node)
        node = next(parent for parent in parents[node] if parent in left)
    loop = [node, *reversed(seen[seen.index(node) :])]
    first = min(range(len(loop) - 1), key=lambda i: list(nodes).index(loop[i]))
    turned = [*loop[first:-1], *loop[:first], loop[first]]
    return " -> ".join(map(repr, turned))
