r"""d-separation: which independencies a graph proves.

A path is blocked by Z if it has a tail-to-tail or head-to-tail node in Z, or a head-to-head node
that is not in Z and has no descendant in Z. a and b are d-separated by Z if every path is blocked.

Algorithm    reachability over states (node, came from a parent or from a child). With A = Z and
             its ancestors, from a state (v, child) with v not in Z one may go on to parents and
             children; from (v, parent) to children if v is not in Z, to parents if v is in A.
             O(nodes + edges). A shortest walk of these states never visits a node twice: it is a
             path, the one ``active_path`` shows.

References: Pearl (1988), section 3.3; Shachter (1998); Koller & Friedman (2009), algorithm 3.1.
"""

from collections import deque
from collections.abc import Iterable, Mapping
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

from pellucid.core.readable import readable
from pellucid.graphical.network.names import Name, Names

if TYPE_CHECKING:
    from pellucid.graphical.graphs.dag import DAG

MOST_STATEMENTS = 5_000_000
State = tuple[Name, bool]  # node, whether it was entered from one of its children


@readable
class Independence(NamedTuple):
    """``left`` is independent of ``right`` given ``given``; each a frozenset of names.

    >>> from pellucid.graphical import DAG
    >>> print(DAG([("a", "b"), ("b", "c")]).local_independencies()[-1])
    c _|_ a | b
    """

    left: frozenset[Name]
    right: frozenset[Name]
    given: frozenset[Name]

    def __str__(self) -> str:
        left, right, given = (", ".join(sorted(map(str, part))) for part in self)
        return f"{left} _|_ {right}" + (f" | {given}" if given else "")


def closure(step: Mapping[Name, tuple[Name, ...]], start: Iterable[Name]) -> frozenset[Name]:
    """``start`` and all that is reached from it."""
    found = dict.fromkeys(start)
    queue = list(found)
    while queue:
        for node in step[queue.pop()]:
            if node not in found:
                found[node] = None
                queue.append(node)
    return frozenset(found)


def reachable(
    dag: "DAG", start: Iterable[Name], given: frozenset[Name]
) -> dict[State, State | None]:
    """Every state that an open path from ``start`` enters, with the state before it."""
    opened = closure(dag._parents, given)
    before: dict[State, State | None] = {(a, True): None for a in start}
    queue = deque(before)
    while queue:
        state = queue.popleft()
        node, from_child = state
        onwards: list[State] = []
        if node not in given:
            onwards += [(child, False) for child in dag._children[node]]
        if (from_child and node not in given) or (not from_child and node in opened):
            onwards += [(parent, True) for parent in dag._parents[node]]
        for following in onwards:
            if following not in before:
                before[following] = state
                queue.append(following)
    return before


def _sets(dag: "DAG", a: Names, b: Names, given: Names) -> tuple[frozenset[Name], ...]:
    left, right, seen = (frozenset(dag._check(part)) for part in (a, b, given))
    if not left or not right:
        raise ValueError("a and b must each name at least one node")
    shared = (left & right) | (left & seen) | (right & seen)
    if shared:
        which = ", ".join(sorted(map(repr, shared)))
        raise ValueError(f"a, b and given must not overlap, {which} is in two of them")
    return left, right, seen


def d_separated(dag: "DAG", a: Names, b: Names, given: Names = ()) -> bool:
    """Whether ``given`` blocks every path between ``a`` and ``b``."""
    left, right, seen = _sets(dag, a, b, given)
    return right.isdisjoint(node for node, _ in reachable(dag, left, seen))


def active_path(dag: "DAG", a: Names, b: Names, given: Names = ()) -> list[Name] | None:
    """A shortest open path, or None."""
    left, right, seen = _sets(dag, a, b, given)
    before = reachable(dag, sorted(left, key=dag.nodes.index), seen)
    state: State | None = next((state for state in before if state[0] in right), None)
    if state is None:
        return None
    path = []
    while state is not None:
        path.append(state[0])
        state = before[state]
    return path[::-1]


def connection(dag: "DAG", a: Name, c: Name, b: Name) -> str:
    """How the edges a - c and c - b meet at c."""
    (a,), (c,), (b,) = dag._check(a), dag._check(c), dag._check(b)
    for end in (a, b):
        if (end, c) not in dag.edges and (c, end) not in dag.edges:
            raise ValueError(f"there is no edge between {end!r} and {c!r}")
    if a == b:
        raise ValueError(f"a connection joins two different nodes, got {a!r} twice")
    heads = ((a, c) in dag.edges) + ((b, c) in dag.edges)
    return ("tail-to-tail", "head-to-tail", "head-to-head")[heads]


def local_independencies(dag: "DAG") -> list[Independence]:
    """Each node from its non-descendants given its parents, where that says anything."""
    found = []
    for node in dag.nodes:
        parents = dag.parents(node)
        others = dag.non_descendants(node) - parents
        if others:
            found.append(Independence(frozenset([node]), others, parents))
    return found


def independencies(
    dag: "DAG", max_given: int | None = None
) -> set[tuple[frozenset[Name], frozenset[Name]]]:
    """All pairs that some set separates, with that set."""
    found = set()
    for given in subsets(dag.nodes, max_given):
        seen = frozenset(given)
        rest = [node for node in dag.nodes if node not in seen]
        for i, a in enumerate(rest):
            open_nodes = {node for node, _ in reachable(dag, [a], seen)}
            found |= {(frozenset([a, b]), seen) for b in rest[i + 1 :] if b not in open_nodes}
    return found


def subsets(nodes: tuple[Name, ...], max_given: int | None) -> Iterable[tuple[Name, ...]]:
    """The conditioning sets for pairs of nodes, small ones first.

    >>> list(subsets(("a", "b", "c"), None))
    [(), ('a',), ('b',), ('c',)]
    """
    from math import comb

    n = len(nodes)
    most = max(n - 2, 0) if max_given is None else min(max_given, max(n - 2, 0))
    statements = sum(comb(n, k) * comb(n - k, 2) for k in range(most + 1))
    if statements > MOST_STATEMENTS:
        raise ValueError(
            f"{n} nodes have {statements} statements of independence to check, more than "
            f"{MOST_STATEMENTS}; set max_given below {most}"
        )
    return (given for k in range(most + 1) for given in combinations(nodes, k))
