r"""The best tree (Chow & Liu), and the best tree given a class.

Among all trees the likelihood is largest for the maximum spanning tree of the mutual information

    I(u, v) = sum p(u, v) log p(u, v) / (p(u) p(v)),

and given a class C for that of I(u, v | C). A penalised score weighs a pair by its gain over two
separate nodes; pairs that gain nothing are left out, so the answer is a forest.

References: Chow & Liu (1968); Friedman, Geiger & Goldszmidt (1997).
"""

from collections.abc import Sequence

import numpy as np

from pellucid.core.arrays.typing import Array, BoolArray


def spanning_forest(weights: Array, least: float = 0.0) -> list[tuple[int, int]]:
    """Edges of the maximum spanning forest among pairs that weigh more than ``least``.

    Directed away from the first node of every part (Prim; ties to the earlier node).

    >>> spanning_forest(np.array([[0.0, 2, 1], [2, 0, 3], [1, 3, 0]]))
    [(0, 1), (1, 2)]
    """
    d = len(weights)
    edges, inside = [], np.zeros(d, bool)
    best, source = np.full(d, -np.inf), np.full(d, -1)
    for _ in range(d):
        reachable = np.where(inside, -np.inf, best)
        v = int(np.argmax(reachable))
        if reachable[v] > least:
            edges.append((int(source[v]), v))
        else:
            v = int(np.flatnonzero(~inside)[0])  # the root of another part
        inside[v] = True
        closer = (weights[v] > best) & ~inside
        best[closer], source[closer] = weights[v][closer], v
    return edges


def entropy_terms(N: Array) -> float:
    """sum N log N."""
    seen = N[N > 0]
    return float(seen @ np.log(seen))


def pair_families(nodes: Sequence[int], given: int) -> list[tuple[int, ...]]:
    """The families whose counts ``conditional_information`` takes: singles, then pairs."""
    pairs = [(u, v) for i, u in enumerate(nodes) for v in nodes[:i]]
    return [*((given, v) for v in nodes), *((given, u, v) for u, v in pairs)]


def conditional_information(counts: Sequence[Array], d: int) -> Array:
    """N x I(u, v | given) for all pairs of d nodes from the counts of ``pair_families``."""
    alone = [entropy_terms(N) for N in counts[:d]]
    out = np.zeros((d, d))
    pairs = [(i, j) for i in range(d) for j in range(i)]
    for (i, j), N in zip(pairs, counts[d:], strict=True):
        base = entropy_terms(N.sum(axis=(1, 2)))
        out[i, j] = out[j, i] = max(entropy_terms(N) - alone[i] - alone[j] + base, 0.0)
    return out


def chow_liu(S: Array, allowed: BoolArray) -> list[tuple[int, int]]:
    """The best forest from S[v, u], the score of v with the one parent u (S[v, v]: none).

    Every score but k2 gains the same in both directions; the mean serves where they differ. The
    constraints are on pairs: one that is closed in both directions is left out.
    """
    gain = S - np.diag(S)[:, None]
    weights = 0.5 * (gain + gain.T)
    weights[~(allowed | allowed.T)] = -np.inf
    np.fill_diagonal(weights, -np.inf)
    least = 1e-9 * max(1.0, float(np.abs(np.diag(S)).sum()))
    return spanning_forest(weights, least)
