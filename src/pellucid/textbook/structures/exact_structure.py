r"""Exact structure: the best graph of all, by dynamic programming over sets.

Maximise    a score that is a sum over families, over all graphs without cycles
Step        a graph without cycles has an order. Let best(S) be the best score of a graph on the set
            S: some v of S comes last and takes its parents from the others, so best(S) = max over v
            in S of best(S - v) + (best score of v with parents in S - v). 2^d sets in the place of
            the d^d or more graphs (Silander & Myllymaki, 2006).
Cost        d 2^d families, d 2^d steps.
The fast version counts families from sums over subsets, for up to 20 variables.
"""

from collections.abc import Callable
from functools import cache
from itertools import combinations

Score = Callable[[int, tuple[int, ...]], float]  # of variable v with these parents


def exact_structure(d: int, score: Score) -> tuple[list[tuple[int, ...]], float]:
    """Parents of every variable in a best graph, and its score."""

    @cache
    def best_family(v: int, allowed: frozenset[int]) -> tuple[float, tuple[int, ...]]:
        sets = (s for size in range(len(allowed) + 1) for s in combinations(sorted(allowed), size))
        return max(((score(v, s), s) for s in sets), key=lambda found: found[0])

    @cache
    def best(S: frozenset[int]) -> tuple[float, int]:
        """The best score on S, and which variable comes last."""
        if not S:
            return 0.0, -1
        return max((best(S - {v})[0] + best_family(v, S - {v})[0], v) for v in S)

    left = frozenset(range(d))
    parents: list[tuple[int, ...]] = [()] * d
    total = best(left)[0]
    while left:
        v = best(left)[1]
        parents[v] = best_family(v, left - {v})[1]
        left = left - {v}
    return parents, total
