r"""The best graph of all: by dynamic programming over sets, or by looking at every graph.

Exact        Silander & Myllymaki: best parents of every node within every set of candidates, then
             the best last node of every set (see ``subset_kernels``). O(d^2 2^d) beyond the
             counting; at most 20 variables
Exhaustive   all 29,281 graphs of five variables (or fewer) from the scores of their families

Both find the optimum; equally good graphs are decided by the order of the variables.

References: Silander & Myllymaki (2006); Koivisto & Sood (2004).
"""

from collections.abc import Sequence
from functools import cache
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from pellucid.core.arrays.typing import Array, BoolArray, IntArray
from pellucid.graphical.graphs.enumeration import MOST_NODES
from pellucid.graphical.network.names import Name
from pellucid.graphical.structure.knowledge import Constraints
from pellucid.graphical.structure.scores import Score
from pellucid.graphical.structure.subset_kernels import best_order, best_parents, set_terms, squeeze

MOST_EXACT = 20


class FoundGraph(NamedTuple):
    edges: Any  # (d, d) bool
    score: float


def distinct_rows(codes: IntArray, w: Array) -> tuple[Any, Array]:
    """Distinct columns of codes and their weights."""
    rows, inverse = np.unique(codes.T, axis=0, return_inverse=True)
    weight = np.bincount(inverse.ravel(), w, len(rows)).astype(np.float64)
    keep = weight > 0
    return np.ascontiguousarray(rows[keep].T), weight[keep]


def exact_graph(score: Score, limits: Constraints, max_parents: int) -> FoundGraph:
    """The graph with the largest score."""
    d, card = len(score.card), score.card
    if d > MOST_EXACT:
        raise ValueError(
            f"search='exact' takes at most {MOST_EXACT} variables, got {d}; "
            "use 'tabu' or 'hill_climbing'"
        )
    kind, size, penalty = score.rule
    codes, w = distinct_rows(score.table.codes, score.table.weights)
    sizes = np.unique(card) if kind == 1 and size == 0 else np.empty(0)  # k2 only
    terms = np.zeros((1 + len(sizes), 1 << d))
    rule = -1.0 if kind == 0 else size
    set_terms(codes, w, card, min(d, max_parents + 1), rule, sizes.astype(float), terms)
    best = np.empty((d, 1 << (d - 1)))
    chosen = np.empty(best.shape, np.int32)
    for v in range(d):
        which = 1 + int(np.searchsorted(sizes, card[v])) if len(sizes) else 0
        open_ = _mask(limits.allowed[:, v] | limits.required[:, v])
        needed = _mask(limits.required[:, v])
        best_parents(v, terms, which, penalty, card, max_parents, open_, needed, best[v], chosen[v])
    total, last = np.empty(1 << d), np.empty(1 << d, np.int8)
    best_order(best, total, last)
    edges = np.zeros((d, d), bool)
    W = (1 << d) - 1
    if not np.isfinite(total[W]):
        raise ValueError("no graph has all required edges with so few parents: max_parents")
    while W:
        v = int(last[W])
        W &= ~(1 << v)
        for u in range(d):
            edges[u, v] = chosen[v, squeeze(W, v)] >> u & 1
    return FoundGraph(edges, float(total[-1]))


def _mask(flags: BoolArray) -> int:
    return int(sum(1 << int(u) for u in np.flatnonzero(flags)))


def family_table(score: Score, limits: Constraints, max_parents: int, most: float) -> Array:
    """F[v, bits of the parents]: the score of every family, -inf where it is not legal.

    A family with more than ``most`` cells is not.
    """
    d = len(score.card)
    F = np.full((d, 1 << d), -np.inf)
    for v in range(d):
        others = [u for u in range(d) if u != v and limits.allowed[u, v]]
        needed = _mask(limits.required[:, v])
        for k in range(min(len(others), max_parents) + 1):
            for parents in combinations(others, k):
                bits = sum(1 << u for u in parents)
                cells = np.prod(score.card[[*parents, v]], dtype=np.float64)
                if not needed & ~bits and cells <= most:
                    F[v, bits] = score.family(v, parents)
    return F


@cache
def graph_bits(d: int) -> Any:
    """All graphs on d nodes, (number of graphs, d): the bits of every node's parents.

    >>> [len(graph_bits(d)) for d in (1, 2, 3, 4)]
    [1, 3, 25, 543]
    """
    pairs = list(combinations(range(d), 2))
    ways = np.indices((3,) * len(pairs)).reshape(len(pairs), 3 ** len(pairs))
    parents = np.zeros((3 ** len(pairs), d), np.int64)
    for (a, b), way in zip(pairs, ways, strict=True):
        parents[:, b] |= (way == 1).astype(np.int64) << a
        parents[:, a] |= (way == 2).astype(np.int64) << b
    left = np.full(len(parents), (1 << d) - 1)
    for _ in range(d):  # nodes whose parents have all gone go too
        for v in range(d):
            left &= np.where(parents[:, v] & left, -1, ~(1 << v))
    return parents[left == 0]


def all_graphs(
    score: Score, limits: Constraints, max_parents: int, most: float = np.inf
) -> tuple[Any, Array]:
    """Every legal graph as the bits of its nodes' parents, and their scores."""
    d = len(score.card)
    if d > MOST_NODES:
        raise ValueError(
            f"all graphs are looked at for at most {MOST_NODES} variables, got {d}; "
            "use 'exact', 'tabu' or 'hill_climbing'"
        )
    F = family_table(score, limits, max_parents, most)
    graphs = graph_bits(d)
    values = sum(F[v, graphs[:, v]] for v in range(d))
    legal = np.isfinite(values)
    if not legal.any():
        raise ValueError("no graph has all required edges with so few parents: max_parents")
    return graphs[legal], values[legal]


def bits_to_edges(parents: Sequence[Name]) -> Any:
    """A graph from the bits of its nodes' parents."""
    d = len(parents)
    return (np.asarray(parents)[None, :] >> np.arange(d)[:, None] & 1).astype(bool)


def exhaustive_graph(score: Score, limits: Constraints, max_parents: int) -> FoundGraph:
    """The best of all graphs; of equal ones the first with the fewest edges."""
    graphs, values = all_graphs(score, limits, max_parents)
    best = values.max()
    near = np.flatnonzero(values > best - 1e-9 * max(1.0, abs(best)))
    sizes = np.array([bits_to_edges(graphs[i]).sum() for i in near])
    winner = near[np.argmin(sizes)]
    return FoundGraph(bits_to_edges(graphs[winner]), float(values[winner]))
