r"""The graph that is nearest to a weighted set of graphs.

Loss         the structural Hamming distance of two graphs: the pairs {a, b} that their essential
             graphs mark differently (not joined, a -> b, b -> a, a - b)
Risk         under the posterior it is a sum over pairs, sum (1 - P(mark of the pair | D)), so every
             class can be judged by four numbers for each pair
Estimate     the best of the given graphs, then single edges added, removed or reversed while the
             risk falls. The most probable graph is the answer to another question: the chance to
             be right everywhere. Where data are few this one is nearer to the truth

References: Berger (1985), section 4.4; Hamalainen & Nykanen (2008); Barbieri & Berger (2004).
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from pellucid.core.arrays.typing import Array, BoolArray
from pellucid.graphical.learning.count_kernels import descendants
from pellucid.graphical.structure.essential_kernels import class_marks
from pellucid.graphical.structure.knowledge import Constraints


class Consensus(NamedTuple):
    """A graph and the distance to the truth that the posterior expects of it."""

    graph: Any  # (d,) bits of every node's parents
    distance: float


def marks_of(graphs: BoolArray) -> Any:
    """The mark of every pair in the class of every graph, (graphs, pairs).

    >>> marks_of([[0, 1, 0], [0, 0, 3]])  # x0 -> x1; x0 -> x2 <- x1
    array([[3, 0, 0],
           [0, 1, 1]], dtype=int8)
    """
    graphs = np.ascontiguousarray(graphs, dtype=np.int64)
    d = graphs.shape[1]
    marks = np.zeros((len(graphs), d * (d - 1) // 2), np.int8)
    class_marks(graphs, marks)
    return marks


def mark_probabilities(graphs: BoolArray, weights: Array) -> Array:
    """P(mark of the pair), (4, pairs), of graphs with weights that sum to 1."""
    marks = marks_of(graphs)
    return np.array([weights @ (marks == k) for k in range(4)])


def risks(graphs: Any, P: Array) -> Array:
    """The expected distance of every graph."""
    marks = marks_of(graphs)
    return np.sum(1.0 - P[marks, np.arange(marks.shape[1])], axis=1)


def consensus_graph(
    graphs: Any, weights: Array, limits: Constraints | None, max_parents: int
) -> Consensus:
    """The graph of least expected distance that single moves from the best of them reach.

    Without limits no moves are made: the answer is one of them.
    """
    P = mark_probabilities(graphs, weights)
    values = risks(graphs, P)
    best, value = np.asarray(graphs)[np.argmin(values)], float(values.min())
    while limits is not None:
        near = np.array(list(neighbours(best, limits, max_parents)), np.int64)
        values = risks(near, P) if len(near) else np.array([np.inf])
        if values.min() >= value - 1e-9:
            break
        best, value = near[np.argmin(values)], float(values.min())
    return Consensus(best, value)


def neighbours(graph: BoolArray, limits: Constraints, max_parents: int) -> Iterator[Any]:
    """Every legal graph one edge away: removed, reversed or added."""
    d = len(graph)
    E = (np.asarray(graph)[None, :] >> np.arange(d)[:, None] & 1).astype(bool)
    reach = np.empty((d, d), bool)
    descendants(E, reach)
    size = E.sum(axis=0)
    for u, v in np.argwhere(~np.eye(d, dtype=bool)).tolist():
        new = np.array(graph, np.int64)
        if not E[u, v]:
            legal = limits.allowed[u, v] and not E[v, u] and not reach[v, u]
            if legal and size[v] < max_parents:
                new[v] |= 1 << u
                yield new
            continue
        if limits.required[u, v]:
            continue
        new[v] &= ~(1 << u)
        yield new
        around = (E[u] & reach[:, v]).any()  # another way from u to v
        if limits.allowed[v, u] and not around and size[u] < max_parents:
            new = new.copy()
            new[u] |= 1 << v
            yield new
