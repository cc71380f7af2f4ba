r"""The adjusted Rand index: how far two groupings of the same rows agree, beyond chance.

Define      of the N = n (n - 1) / 2 pairs of rows, T are together in both groupings, A in one,
            B in the other. With the sizes kept and the rows shuffled, E[T] = A B / N, so
            index = (T - A B / N) / ((A + B) / 2 - A B / N): 1 equal, 0 as good as chance
Step        agreement of runs with other seeds or samples is how stable a clustering is.
Cost        n, by the table of how often labels meet.
The fast version averages it over all pairs of many runs.
"""

import numpy as np


def pairs(counts: np.ndarray) -> float:
    return float((counts * (counts - 1) / 2).sum())


def adjusted_rand(first: np.ndarray, second: np.ndarray) -> float:
    table = np.array([[(second[first == a] == b).sum() for b in set(second)] for a in set(first)])
    T, A, B = pairs(table), pairs(table.sum(axis=1)), pairs(table.sum(axis=0))
    expected, largest = A * B / (len(first) * (len(first) - 1) / 2), (A + B) / 2
    return 1.0 if largest == expected else (T - expected) / (largest - expected)
