r"""Hill climbing: change one arrow at a time while the score rises.

Maximise    a score that is a sum over families, over graphs without cycles
Step        of all arrows that can be added, removed or turned without closing a cycle, make the
            change that gains most. The score rises and there are finitely many graphs: it ends, in
            a graph that no single change improves. Equivalent graphs score the same, so direction
            is decided by luck where data cannot tell.
Cost        d^2 changes per step, each one or two families.
The fast version remembers every score, walks sideways at the top, and restarts.
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple

Score = Callable[[int, tuple[int, ...]], float]  # of variable v with these parents


class State(NamedTuple):
    parents: list[set[int]]
    score: float
    change: str  # what was done to get here


def reaches(parents: list[set[int]], a: int, b: int) -> bool:
    """Is a an ancestor of b?"""
    return a in parents[b] or any(reaches(parents, a, p) for p in parents[b])


def neighbours(parents: list[set[int]]) -> Iterator[tuple[str, list[set[int]]]]:
    """Every graph one change away."""
    d = len(parents)
    for a in range(d):
        for b in range(d):
            new = [set(p) for p in parents]
            if a in parents[b]:
                new[b].discard(a)
                yield f"remove {a} -> {b}", [set(p) for p in new]
                if not reaches(new, a, b):
                    new[a].add(b)
                    yield f"turn {a} -> {b}", new
            elif a != b and not reaches(parents, b, a):
                new[b].add(a)
                yield f"add {a} -> {b}", new


def steps(d: int, score: Score) -> Iterator[State]:
    """From the graph without arrows up."""

    def total(parents: list[set[int]]) -> float:
        return sum(score(v, tuple(sorted(p))) for v, p in enumerate(parents))

    state = State([set() for _ in range(d)], total([set() for _ in range(d)]), "start")
    while True:
        yield state
        found = [State(new, total(new), change) for change, new in neighbours(state.parents)]
        best = max(found, key=lambda other: other.score)
        if best.score <= state.score + 1e-9:
            return
        state = best


def hill_climbing(d: int, score: Score) -> State:
    """A graph that no single change improves."""
    *_, last = steps(d, score)
    return last
