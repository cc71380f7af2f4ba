r"""Equivalent graphs, and the graph of what they agree on.

Two DAGs state the same independencies iff they have the same skeleton and the same v-structures
a -> c <- b (a, b not joined). The essential graph (CPDAG) has a directed edge where every
equivalent DAG has it so, and an undirected one elsewhere.

Algorithm    direct the v-structures, then close under Meek's rules for a - b:
             1  c -> a - b, c and b not joined                    =>  a -> b
             2  a -> c -> b and a - b                             =>  a -> b
             3  a - c -> b, a - d -> b, c and d not joined        =>  a -> b
             4  a - d -> c -> b, d and b not joined, a joined c   =>  a -> b (with background
                knowledge only)

References: Verma & Pearl (1990); Meek (1995); Andersson, Madigan & Perlman (1997).
"""

from collections.abc import Iterable
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

from pellucid.core.readable import readable
from pellucid.graphical.network.names import Name

if TYPE_CHECKING:
    from pellucid.graphical.graphs.dag import DAG


@readable
class CPDAG(NamedTuple):
    """The essential graph of a Markov equivalence class.

    >>> from pellucid.graphical import DAG
    >>> DAG([("a", "c"), ("b", "c")]).cpdag().undirected
    frozenset()
    >>> DAG([("a", "b"), ("b", "c")]).cpdag() == DAG([("b", "a"), ("b", "c")]).cpdag()
    True
    """

    directed: frozenset[tuple[Name, Name]]  # pairs (a, b)
    undirected: frozenset[frozenset[Name]]  # pairs {a, b}


def v_structures(dag: "DAG") -> frozenset[tuple[frozenset[Name], Name]]:
    """Every ({a, b}, c) with a -> c <- b where a and b are not joined."""
    return frozenset(
        (frozenset(pair), c)
        for c in dag.nodes
        for pair in combinations(dag._parents[c], 2)
        if pair not in dag.edges and pair[::-1] not in dag.edges
    )


def meek(directed: Iterable[tuple[Name, Name]], undirected: Iterable[frozenset[Name]]) -> CPDAG:
    """Direct every edge that Meek's four rules force.

    >>> found = meek([("c", "a")], [frozenset("ab")])
    >>> sorted(found.directed), found.undirected
    ([('a', 'b'), ('c', 'a')], frozenset())
    """
    arrows, lines = set(directed), set(undirected)
    into: dict[Name, set[Name]] = {}
    joined: dict[Name, set[Name]] = {}
    for a, b in arrows:
        into.setdefault(b, set()).add(a)
    for a, b in [*arrows, *(tuple(line) for line in lines)]:
        joined.setdefault(a, set()).add(b)
        joined.setdefault(b, set()).add(a)

    def forced(a: Name, b: Name) -> bool:
        before, after = into.get(a, set()), into.get(b, set())
        if any(c not in joined[b] for c in before):
            return True
        if any(a in into.get(c, ()) for c in after):
            return True
        beside = [c for c in after if frozenset((a, c)) in lines]
        if any(d not in joined[c] for c, d in combinations(beside, 2)):
            return True
        return any(
            frozenset((a, d)) in lines and d not in joined[b]
            for c in after
            if c in joined[a]
            for d in into.get(c, ())
        )

    pairs = sorted((tuple(sorted(line, key=str)) for line in lines), key=str)
    changed = True
    while changed:
        changed = False
        for pair in pairs:  # in a fixed order: contradictory arrows have no single closure
            if frozenset(pair) not in lines:
                continue
            for a, b in (pair, pair[::-1]):
                if forced(a, b):
                    lines.discard(frozenset(pair))
                    arrows.add((a, b))
                    into.setdefault(b, set()).add(a)
                    changed = True
                    break
    return CPDAG(frozenset(arrows), frozenset(lines))


def cpdag(dag: "DAG") -> CPDAG:
    """The essential graph of a DAG."""
    arrows = {(a, c) for pair, c in v_structures(dag) for a in pair}
    lines = {frozenset(edge) for edge in dag.edges if edge not in arrows}
    return meek(arrows, lines)
