r"""Graphs, colour refinement, and whether two graphs are the same up to the names of their nodes.

Refinement   c(v) <- number of (c(v), sorted multiset of c(u) for the neighbours u of v)
             with one dictionary for all graphs at hand: equal numbers mean equal signatures. It is
             exact (signatures are compared, not hashed) and ends when no colour is split further.
Isomorphism  two graphs whose colours differ in number are not isomorphic. Where a colour is shared
             by several nodes, one of them is singled out in the first graph and tried against each
             of the second (backtracking, with an explicit stack); colours that are all different
             give a mapping, which is checked edge by edge.

Refinement costs O((n + m) log m) a round; the search is exponential in the worst case (strongly
regular graphs) and short on almost all others.

References: Weisfeiler & Leman (1968); McKay & Piperno (2014), Practical graph isomorphism, II.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import issparse

from pellucid.core.arrays.typing import Array, ArrayLike, IntArray
from pellucid.core.readable import readable


class Graph(NamedTuple):
    """Neighbours of node i: ``neighbours[starts[i]:starts[i + 1]]``; a colour for each node."""

    starts: IntArray  # (n + 1,)
    neighbours: IntArray  # (2m,)
    labels: tuple[Any, ...]

    @property
    def n_nodes(self) -> int:
        return len(self.starts) - 1


@readable
class Isomorphism(NamedTuple):
    """``isomorphic`` or not; node i of the first graph is ``mapping[i]`` of the second.

    >>> Isomorphism(False, None).isomorphic
    False
    """

    isomorphic: bool
    mapping: tuple[int, ...] | None


def read_graph(graph: Any, labels: Sequence[Any] | None = None) -> Graph:
    """A graph from a square adjacency array (cells that are not 0 are edges) or from networkx.

    >>> read_graph([[0, 1], [1, 0]]).neighbours
    array([1, 0])
    """
    if hasattr(graph, "adjacency") and hasattr(graph, "nodes"):
        if graph.is_directed():
            raise ValueError("the graph must be undirected, got a directed networkx graph")
        place = {node: i for i, node in enumerate(graph.nodes)}
        pairs = [(place[u], place[v]) for u, near in graph.adjacency() for v in near]
        n = len(place)
        rows, columns = np.array(pairs, dtype=np.intp).reshape(-1, 2).T
    else:
        rows, columns, n = _cells(graph)
    order = np.lexsort((columns, rows))
    rows, columns = rows[order], columns[order]
    starts = np.zeros(n + 1, dtype=np.intp)
    np.cumsum(np.bincount(rows, minlength=n), out=starts[1:])
    found = (0,) * n if labels is None else tuple(labels)
    if len(found) != n:
        raise ValueError(f"labels must have one for each of {n} nodes, got {len(found)}")
    return Graph(starts, columns, found)


def _cells(graph: Any) -> tuple[IntArray, IntArray, int]:
    A = graph.toarray() if issparse(graph) else np.asarray(graph)
    if A.ndim != 2 or A.shape[0] != A.shape[1] or A.dtype.kind not in "biuf":
        given = f"{type(graph).__name__} of shape {A.shape}"
        raise ValueError(f"a graph is a square array of numbers or a networkx graph, got {given}")
    if A.dtype.kind == "f" and not np.isfinite(A).all():
        raise ValueError("the adjacency array must hold finite numbers")
    edges = A != 0
    if (edges != edges.T).any():
        raise ValueError("the adjacency array must be symmetric: graphs here are undirected")
    rows, columns = np.nonzero(edges)
    return rows.astype(np.intp), columns.astype(np.intp), len(A)


class Union(NamedTuple):
    """Several graphs as one; nodes of graph g are ``first[g]`` to ``first[g + 1]``."""

    starts: IntArray
    neighbours: IntArray
    colours: IntArray  # by one dictionary
    first: IntArray


def unite(graphs: Sequence[Graph]) -> Union:
    """The disjoint union, its labels numbered in order of appearance."""
    first = np.zeros(len(graphs) + 1, dtype=np.intp)
    np.cumsum([graph.n_nodes for graph in graphs], out=first[1:])
    starts, neighbours, used = [np.zeros(1, dtype=np.intp)], [], 0
    for graph, offset in zip(graphs, first[:-1], strict=True):
        starts.append(graph.starts[1:] + used)
        neighbours.append(graph.neighbours + offset)
        used += len(graph.neighbours)
    dictionary: dict[Any, int] = {}
    colours = [dictionary.setdefault(c, len(dictionary)) for g in graphs for c in g.labels]
    joined = np.concatenate(neighbours) if neighbours else np.zeros(0, dtype=np.intp)
    return Union(np.concatenate(starts), joined, np.array(colours, dtype=np.intp), first)


def number_rows(table: IntArray) -> tuple[IntArray, int]:
    """The number of each row among the distinct rows in lexical order, and how many there are.

    >>> number_rows(np.array([[2, 1], [0, 5], [2, 1]]))
    (array([1, 0, 1]), 2)
    """
    order = np.lexsort(table.T[::-1])
    ranked = table[order]
    new = np.ones(len(table), dtype=bool)
    new[1:] = (ranked[1:] != ranked[:-1]).any(axis=1)
    codes = np.empty(len(table), dtype=np.intp)
    codes[order] = np.cumsum(new) - 1
    return codes, int(new.sum())


def refine(starts: IntArray, neighbours: IntArray, colours: IntArray) -> IntArray:
    """One round of refinement; nodes are grouped by degree, so that signatures are rows.

    >>> g = read_graph([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
    >>> refine(g.starts, g.neighbours, np.zeros(3, dtype=np.intp))
    array([0, 1, 0])
    """
    degree = np.diff(starts)
    new = np.empty(len(colours), dtype=np.intp)
    used = 0
    for d in np.flatnonzero(np.bincount(degree)) if len(degree) else ():
        nodes = np.flatnonzero(degree == d)
        table = np.empty((len(nodes), d + 1), dtype=np.intp)
        table[:, 0] = colours[nodes]
        table[:, 1:] = colours[neighbours[starts[nodes][:, None] + np.arange(d)]]
        table[:, 1:].sort(axis=1)
        codes, many = number_rows(table)
        new[nodes] = codes + used
        used += many
    return new


def stable_colours(union: Union, colours: IntArray) -> IntArray | None:
    """Refine until nothing is split; None as soon as the two graphs differ in some colour."""
    n = int(union.first[1])
    count = -1
    while True:
        k = int(colours.max(initial=-1)) + 1
        a, b = (np.bincount(part, minlength=k) for part in (colours[:n], colours[n:]))
        if not np.array_equal(a, b):
            return None
        distinct = int(np.count_nonzero(a))
        if distinct == count:
            return colours
        count = distinct
        colours = refine(union.starts, union.neighbours, colours)


def read_mapping(union: Union, colours: IntArray) -> tuple[int, ...] | None:
    """The mapping that all-different colours give, if it carries edges to edges."""
    n = int(union.first[1])
    mapping = np.empty(n, dtype=np.intp)
    mapping[np.argsort(colours[:n])] = np.argsort(colours[n:])
    for i in range(n):
        mine = union.neighbours[union.starts[i] : union.starts[i + 1]]
        j = n + mapping[i]
        theirs = union.neighbours[union.starts[j] : union.starts[j + 1]] - n
        if not np.array_equal(np.sort(mapping[mine]), np.sort(theirs)):
            return None
    return tuple(int(j) for j in mapping)


def candidates(union: Union, colours: IntArray) -> tuple[int, IntArray]:
    """A node of the first graph in the smallest shared colour, and its candidates."""
    n = int(union.first[1])
    sizes = np.bincount(colours[:n])
    shared = np.flatnonzero(sizes > 1)
    colour = shared[np.argmin(sizes[shared])]
    node = int(np.flatnonzero(colours[:n] == colour)[0])
    return node, n + np.flatnonzero(colours[n:] == colour)


def find_isomorphism(union: Union) -> tuple[int, ...] | None:
    """Refinement and backtracking; a frame of the stack is a colouring with candidates left."""
    n = int(union.first[1])
    found = stable_colours(union, union.colours)
    stack: list[tuple[IntArray, int, list[int]]] = []
    while True:
        if found is not None:
            if np.count_nonzero(np.bincount(found[:n])) == n:
                mapping = read_mapping(union, found)
                if mapping is not None:
                    return mapping
            else:
                node, others = candidates(union, found)
                stack.append((found, node, [int(j) for j in others[::-1]]))
        while stack and not stack[-1][2]:
            stack.pop()
        if not stack:
            return None
        colours, node, left = stack[-1]
        single = colours.copy()
        single[[node, left.pop()]] = int(colours.max()) + 1
        found = stable_colours(union, single)


def read_pair(a: Any, b: ArrayLike, labels: Sequence[Sequence[Any]] | None) -> Union:
    """Two graphs with a pair of label sequences, or None."""
    if labels is not None and (not isinstance(labels, tuple | list) or len(labels) != 2):
        raise ValueError("labels must be a pair of sequences, one for each graph")
    left, right = (None, None) if labels is None else labels
    return unite([read_graph(a, left), read_graph(b, right)])


def are_isomorphic(
    a: Any, b: ArrayLike, *, labels: Sequence[Sequence[Any]] | None = None
) -> Isomorphism:
    """Whether two undirected graphs are the same up to the names of their nodes; exact.

    Parameters
    ----------
    a, b : square adjacency array or networkx graph
        The two graphs; cells of an array that are not 0 are edges.
    labels : pair of sequences, default=None
        Labels of the nodes; a mapping must keep them.

    Returns
    -------
    Isomorphism
        ``mapping[i]`` is the node of b that node i of a becomes; None where there is no mapping.

    Examples
    --------
    >>> path, other = [[0, 1, 0], [1, 0, 1], [0, 1, 0]], [[0, 1, 1], [1, 0, 0], [1, 0, 0]]
    >>> are_isomorphic(path, other)
    Isomorphism(isomorphic=True, mapping=(1, 0, 2))
    """
    union = read_pair(a, b, labels)
    n, both = int(union.first[1]), int(union.first[2])
    mapping = find_isomorphism(union) if both == 2 * n else None
    return Isomorphism(mapping is not None, mapping)


def shortest_paths(graph: Graph) -> Array:
    """Lengths of the shortest paths (n, n), inf where there is none.

    >>> shortest_paths(read_graph([[0, 1, 0], [1, 0, 1], [0, 1, 0]]))[0]
    array([0., 1., 2.])
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import shortest_path

    n = graph.n_nodes
    ones = np.ones(len(graph.neighbours))
    A = csr_array((ones, graph.neighbours, graph.starts), shape=(n, n))
    return np.asarray(shortest_path(A, unweighted=True, directed=False))
