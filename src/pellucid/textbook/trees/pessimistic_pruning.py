r"""Pessimistic pruning: C4.5's guess of the errors to come, from the training rows alone.

Given       a leaf with N training rows of which E are wrong
Solve       U: the error rate at which so few as E of N errors would have a chance of CF = 1/4 only
Step        P(at most E errors of N | U) = CF is a Beta quantile: U = the (1 - CF) quantile of
            Beta(E + 1, N - E). N U errors are feared; a leaf with few rows fears more per row.
            From the bottom up, a branch becomes a leaf if that fears no more than its leaves do.
Cost        the number of nodes.
The fast version does the same on trees with missing cells, where N and E are fractions.
"""

import numpy as np
from scipy.special import betaincinv


def feared(E: float, N: float, CF: float = 0.25) -> float:
    """Errors to expect among N rows like these."""
    return float(N if E >= N else N * betaincinv(E + 1, N - E, 1 - CF))


def pessimistic_pruning(parent: np.ndarray, counts: np.ndarray, CF: float = 0.25) -> list[int]:
    """The nodes that become leaves, the lowest branches first; the root's parent is -1.

    ``counts`` (nodes, K) holds the rows of every class; parents have lower numbers than children.
    """
    N = counts.sum(axis=1)
    as_leaf = [feared(n - c.max(), n, CF) for n, c in zip(N, counts, strict=True)]
    below, cut = np.array(as_leaf), []
    for t in reversed(range(len(parent))):
        children = np.flatnonzero(parent == t)
        if len(children):
            below[t] = below[children].sum()
            if as_leaf[t] <= below[t] + 1e-12:
                below[t] = as_leaf[t]
                cut.append(t)
    return cut
