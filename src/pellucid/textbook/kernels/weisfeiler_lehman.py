r"""Weisfeiler and Lehman: graphs compared by the colours of their nodes.

Given       graphs as adjacency matrices, with a colour for every node
Solve       rounds of refinement: the new colour of a node stands for (its colour, the sorted
            colours of its neighbours), by one dictionary for all graphs
Step        an isomorphism keeps neighbourhoods, so it keeps the colours of every round: different
            counts of colours prove that graphs differ (equal ones prove nothing: a 6-cycle and two
            triangles). The inner product of the counts, added over rounds, is a kernel on graphs:
            it counts the subtree patterns they share.
Cost        the number of edges per round.
The fast version is the same with arrays, and has edges and shortest paths as further bases.
"""

from collections import Counter

import numpy as np

Colours = list[list[int]]  # one list per graph


def refine(graphs: list[np.ndarray], colours: Colours) -> Colours:
    """One round for all graphs together."""
    names: dict[tuple[int, tuple[int, ...]], int] = {}
    new = []
    for A, c in zip(graphs, colours, strict=True):
        seen = [(c[i], tuple(sorted(c[j] for j in np.flatnonzero(A[i])))) for i in range(len(A))]
        new.append([names.setdefault(pattern, len(names)) for pattern in seen])
    return new


def weisfeiler_lehman(graphs: list[np.ndarray], rounds: int) -> np.ndarray:
    """The Gram matrix of the graphs, all nodes alike at first."""
    colours = [[0] * len(A) for A in graphs]
    K = np.zeros((len(graphs), len(graphs)))
    for number in range(rounds + 1):
        counts = [Counter(c) for c in colours]
        K += [[sum(a[k] * b[k] for k in a) for b in counts] for a in counts]
        if number < rounds:
            colours = refine(graphs, colours)
    return K


def first_difference(A: np.ndarray, B: np.ndarray) -> int | None:
    """The round in which the colours prove that two graphs differ, or None."""
    colours = [[0] * len(A), [0] * len(B)]
    for number in range(max(len(A), 1)):
        if Counter(colours[0]) != Counter(colours[1]):
            return number
        colours = refine([A, B], colours)
    return None
