r"""Equivalence class: the arrows that independencies alone can tell.

Define      two graphs are equivalent if they claim the same independencies: the same pairs are
            joined and the same colliders a -> c <- b without a - b stand (Verma & Pearl, 1990)
Solve       which arrows have the same direction in the whole class?
Step        begin with the arrows of colliders, and turn every other edge as soon as the other
            direction would make a new collider (a -> b - c, a and c not joined: b -> c) or a cycle
            (a -> b -> c and a - c: a -> c), or, with a - b, a - c, a - d, c -> b <- d and c, d not
            joined, one of the two: a -> b. What is left may point either way (Meek, 1995).
Cost        d^4 as written here.
The fast version also counts the members, and names one.
"""

from itertools import combinations


def turn_more(directed: set, undirected: set, d: int) -> set:
    """The arrows that Meek's rules add now."""
    arrow = directed.__contains__
    joined = {frozenset(e) for e in directed} | undirected

    def apart(a: int, b: int) -> bool:
        return frozenset((a, b)) not in joined

    found = set()
    for edge in undirected:
        for a, b in (tuple(edge), tuple(edge)[::-1]):
            others = [c for c in range(d) if c not in (a, b)]
            if any(arrow((c, a)) and apart(c, b) for c in others):  # no new collider at a
                found.add((a, b))
            if any(arrow((a, c)) and arrow((c, b)) for c in others):  # no cycle
                found.add((a, b))
            into_b = [c for c in others if arrow((c, b)) and frozenset((a, c)) in undirected]
            if any(apart(c, e) for c, e in combinations(into_b, 2)):
                found.add((a, b))
    return found


def equivalence_class(parents: list[list[int]]) -> tuple[set, set]:
    """Arrows (a, b) that are certain, and edges {a, b} that are not."""
    d = len(parents)
    edges = {(p, v) for v in range(d) for p in parents[v]}
    joined = {frozenset(e) for e in edges}
    directed = set()
    for v in range(d):
        for a, b in combinations(parents[v], 2):
            if frozenset((a, b)) not in joined:
                directed |= {(a, v), (b, v)}
    while True:
        undirected = joined - {frozenset(e) for e in directed}
        more = turn_more(directed, undirected, d) & edges
        if not more:
            return directed, undirected
        directed |= more
