r"""Inclusion and exclusion: the probability that at least one of several events happens.

Given       events as sets of outcomes, with weights of the outcomes
Solve       P(A_1 or .. or A_m) = sum_i P(A_i) - sum_(i<j) P(A_i and A_j) + .. - ..
Step        an outcome in k of the events is counted C(k, 1) - C(k, 2) + .. = 1 - (1 - 1)^k = 1
            time. Stop after an odd number of sums and it is an upper bound, after an even one a
            lower bound (Bonferroni); after the first: the union bound, sum_i P(A_i).
Cost        2^m intersections.
The fast version takes the union itself, and shows the bounds.
"""

from itertools import combinations

import numpy as np


def inclusion_exclusion(events: np.ndarray, weights: np.ndarray) -> list[float]:
    """The partial sums; the last is the probability. Events (m, outcomes) of bool."""
    total, sums = 0.0, []
    for size in range(1, len(events) + 1):
        together = [
            events[list(some)].all(axis=0) for some in combinations(range(len(events)), size)
        ]
        total += (-1) ** (size + 1) * sum(float(weights[both].sum()) for both in together)
        sums.append(total)
    return sums
