r"""PC algorithm: the graph from tests of independence.

Given       a test of "a and b independent given Z" (here any function), d variables
Solve       the equivalence class of the graph whose d-separations are these independencies
Step        a and b are joined in the graph only if no Z separates them, and if one does, some set
            of neighbours of a or of b does. So begin with all edges, try sets of 0, 1, 2, ..
            neighbours and remove. a - c - b without a - b is a collider exactly if c is not in the
            set that separated them. Meek's rules turn what follows from that.
Cost        d^2 tests for each set of neighbours.
The fast version shares the counts of tests, takes the clearest separator, and settles conflicts.
"""

from collections.abc import Callable
from itertools import combinations, permutations

Independent = Callable[[int, int, tuple[int, ...]], bool]


def skeleton(d: int, independent: Independent) -> tuple[dict[int, set[int]], dict]:
    """Neighbours of every variable, and the set that separated each pair that is not joined."""
    near = {v: set(range(d)) - {v} for v in range(d)}
    separator: dict[frozenset[int], set[int]] = {}
    size = 0
    while any(len(near[a]) > size for a in near):
        before = {v: set(n) for v, n in near.items()}  # so the order of the variables is no matter
        for a, b in combinations(range(d), 2):
            for one, other in ((a, b), (b, a)):
                if b not in near[a]:
                    break
                for Z in combinations(sorted(before[one] - {other}), size):
                    if independent(a, b, Z):
                        near[a].discard(b)
                        near[b].discard(a)
                        separator[frozenset((a, b))] = set(Z)
                        break
        size += 1
    return near, separator


def orient(near: dict[int, set[int]], separator: dict) -> tuple[set, set]:
    """Colliders, then Meek's first three rules: arrows (a, b) and edges {a, b} left over."""
    arrows = set()
    for a, b in combinations(near, 2):
        if b not in near[a]:
            for c in near[a] & near[b]:
                if c not in separator[frozenset((a, b))]:
                    arrows |= {(a, c), (b, c)}
    while True:
        edges = {frozenset((a, b)) for a in near for b in near[a]} - {frozenset(e) for e in arrows}
        more = set()
        for a, b in (pair for edge in edges for pair in permutations(edge)):
            new_collider = any((c, a) in arrows and c not in near[b] for c in near if c != b)
            cycle = any((a, c) in arrows and (c, b) in arrows for c in near)
            into = [c for c in near if (c, b) in arrows and frozenset((a, c)) in edges]
            if new_collider or cycle or any(e not in near[c] for c, e in combinations(into, 2)):
                more.add((a, b))
        if not more:
            return arrows, edges
        arrows |= more


def pc_algorithm(d: int, independent: Independent) -> tuple[set, set]:
    """Certain arrows (a, b), and edges {a, b} whose direction cannot be told."""
    return orient(*skeleton(d, independent))
