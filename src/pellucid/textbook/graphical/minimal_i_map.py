r"""Minimal I-map: a graph that claims only what the distribution keeps, with no arrow to spare.

Given       a joint table p over variables in some order
Solve       parents for each variable among those before it, as few as possible, with
            v independent of the other earlier variables given its parents
Step        the chain rule p = prod p(v | all before v) holds for any order; leave out of each
            condition what does not change it. Then the graph's independencies hold in p; another
            order may need more arrows, as it may turn a collider round.
Cost        2^(d-1) sets for the last of d variables.
The fast version tests whole graphs: I-map, minimal, perfect.
"""

from itertools import combinations

import numpy as np


def independent(p: np.ndarray, v: int, others: set[int], given: set[int]) -> bool:
    """p(v, others, given) p(given) = p(v, given) p(others, given)?"""

    def marginal(keep: set[int]) -> np.ndarray:
        return p.sum(axis=tuple(set(range(p.ndim)) - keep), keepdims=True)

    left = marginal({v} | others | given) * marginal(given)
    return bool(np.allclose(left, marginal({v} | given) * marginal(others | given), atol=1e-9))


def minimal_i_map(p: np.ndarray, order: list[int]) -> list[list[int]]:
    """Parents of every variable; the smallest set that does, the first in ``order`` on ties."""
    parents: list[list[int]] = [[] for _ in order]
    for i, v in enumerate(order):
        before = order[:i]
        for size in range(i + 1):
            sets = (set(s) for s in combinations(before, size))
            found = next((s for s in sets if independent(p, v, set(before) - s, s)), None)
            if found is not None:
                parents[v] = sorted(found)
                break
    return parents
