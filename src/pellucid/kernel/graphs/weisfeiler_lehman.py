r"""The Weisfeiler-Lehman test of isomorphism and the kernel on graphs that it gives.

Test     refine both graphs with ONE dictionary (``graphs.py``); as soon as the multisets of colours
         differ the graphs are not isomorphic. If they never differ the graphs are possibly
         isomorphic: regular graphs of one size and degree, for instance, are never told apart.
Kernel   k(G, H) = sum_{i=0}^{n_iter} base(G_i, H_i), G_i the graph with the colours after i rounds

         histogram      sum over colours of (nodes of G) x (nodes of H)
         edge           the same for the colours at the two ends of an edge
         shortest_path  the same for pairs of nodes: both colours and the length of the path

Each base is a dot product of counts, so the sum is positive semi-definite. All graphs are coloured
together, round by round; colours are numbered exactly, never hashed.

References: Shervashidze, Schweitzer, van Leeuwen, Mehlhorn & Borgwardt (2011).
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array

from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike, IntArray
from pellucid.core.functions.kernels import Kernel
from pellucid.core.readable import readable
from pellucid.kernel.graphs import graphs as plain
from pellucid.kernel.graphs.graphs import Graph, Union, read_graph, refine

BASES = ("histogram", "edge", "shortest_path")
DENSE = 2000  # features up to which the counts are multiplied as a dense matrix


@readable
class WeisfeilerLehman(NamedTuple):
    """The result of the test.

    >>> WeisfeilerLehman(True, 1, "not isomorphic").iteration
    1
    """

    distinguished: bool  # the colours differ, so the graphs do
    iteration: int | None  # the round in which they first differed
    message: str  # the result in words


def weisfeiler_lehman_test(
    a: Any,
    b: ArrayLike,
    *,
    labels: Sequence[Sequence[Any]] | None = None,
    max_iter: int | None = None,
) -> WeisfeilerLehman:
    """Compare two undirected graphs by the colours of their nodes, round by round.

    Parameters
    ----------
    a, b : square adjacency array or networkx graph
        The two graphs; cells of an array that are not 0 are edges.
    labels : pair of sequences, default=None
        Labels of the nodes; None: all alike.
    max_iter : int or None, default=None
        Rounds; None: n - 1, after which nothing changes.

    Examples
    --------
    >>> path = [[0, 1, 0, 0], [1, 0, 1, 0], [0, 1, 0, 1], [0, 0, 1, 0]]
    >>> star = [[0, 1, 1, 1], [1, 0, 0, 0], [1, 0, 0, 0], [1, 0, 0, 0]]
    >>> weisfeiler_lehman_test(path, star)
    WeisfeilerLehman(distinguished=True, iteration=1, message='not isomorphic')
    """
    union = plain.read_pair(a, b, labels)
    n, colours = int(union.first[1]), union.colours
    if max_iter is not None:
        check.whole(at_least=0, max_iter=max_iter)
    rounds = max(n - 1, 0) if max_iter is None else max_iter
    distinct = -1
    for i in range(rounds + 1):
        k = int(colours.max(initial=-1)) + 1
        counts, others = (np.bincount(part, minlength=k) for part in (colours[:n], colours[n:]))
        if not np.array_equal(counts, others):
            return WeisfeilerLehman(True, i, "not isomorphic")
        if k == distinct:  # stable: no later round can tell more
            break
        distinct = k
        if i < rounds:
            colours = refine(union.starts, union.neighbours, colours)
    return WeisfeilerLehman(False, None, "possibly isomorphic")


class Pairs(NamedTuple):
    """What a base counts: nodes (left alone), or pairs of nodes with a kind."""

    owner: IntArray  # graph
    left: IntArray
    right: IntArray | None
    kind: IntArray | None


def node_pairs(base: str, graphs: Sequence[Graph], union: Union) -> Pairs:
    """The nodes, edges or paths of all graphs."""
    sizes = np.diff(union.first)
    if base == "histogram":
        nodes = np.arange(union.first[-1])
        return Pairs(np.repeat(np.arange(len(graphs)), sizes), nodes, None, None)
    if base == "edge":
        left = np.repeat(np.arange(union.first[-1]), np.diff(union.starts))
        once = left <= union.neighbours
        left, right = left[once], union.neighbours[once]
        owner = np.searchsorted(union.first, left, side="right") - 1
        return Pairs(owner, left, right, None)
    owners, lefts, rights, kinds = [], [], [], []
    for g, graph in enumerate(graphs):
        D = plain.shortest_paths(graph)
        i, j = np.nonzero(np.triu(np.isfinite(D), 1))
        owners.append(np.full(len(i), g))
        lefts.append(i + union.first[g])
        rights.append(j + union.first[g])
        kinds.append(D[i, j].astype(np.intp))
    joined = [np.concatenate(part) for part in (owners, lefts, rights, kinds)]
    return Pairs(*(part.astype(np.intp) for part in joined))


def count_features(pairs: Pairs, colours: IntArray, n_graphs: int) -> Any:
    """Counts (graphs, features), dense where the features are few."""
    if pairs.right is None:
        codes, many = colours[pairs.left], int(colours.max(initial=-1)) + 1
    else:
        a, b = colours[pairs.left], colours[pairs.right]
        kind = [] if pairs.kind is None else [pairs.kind]
        table = np.column_stack([np.minimum(a, b), np.maximum(a, b), *kind])
        codes, many = plain.number_rows(table)
    if many <= DENSE:
        flat = np.bincount(pairs.owner * many + codes, minlength=n_graphs * many)
        return flat.reshape(n_graphs, many).astype(np.float64)
    ones = np.ones(len(codes))
    return csr_array((ones, (pairs.owner, codes)), shape=(n_graphs, many))


class WeisfeilerLehmanKernel(Kernel):
    """A kernel on graphs: the colours that both have, over rounds of refinement.

    Parameters
    ----------
    n_iter : int, default=3
        Rounds; the colours of round 0 are the labels.
    base : {"histogram", "edge", "shortest_path"} or callable, default="histogram"
        What is compared in every round; a callable gets (adjacency, colours) of both graphs.
    normalize : bool, default=False
        Divide by sqrt(k(G, G) k(H, H)).

    It is called with lists of graphs (adjacency arrays or networkx graphs) or of (graph, labels)
    tuples and returns the Gram matrix, which ``SVC(kernel="precomputed")`` and every other kernel
    machine takes.

    Examples
    --------
    >>> path = [[0, 1, 0, 0], [1, 0, 1, 0], [0, 1, 0, 1], [0, 0, 1, 0]]
    >>> star = [[0, 1, 1, 1], [1, 0, 0, 0], [1, 0, 0, 0], [1, 0, 0, 0]]
    >>> WeisfeilerLehmanKernel(n_iter=1)([path, star])
    array([[24., 22.],
           [22., 26.]])
    """

    def __init__(
        self,
        *,
        n_iter: int = 3,
        base: str | Callable[..., float] = "histogram",
        normalize: bool = False,
    ) -> None:
        check.whole(at_least=0, n_iter=n_iter)
        check.boolean(normalize=normalize)
        if not callable(base):
            check.one_of(BASES, base=base)
        self.n_iter = n_iter
        self.base = base
        self.normalize = normalize

    def _gram(self, X: ArrayLike, Z: Any) -> Array:
        left = read_graphs(X)
        right = [] if Z is None else read_graphs(Z)
        n = len(left)
        K, diagonal = self._sum([*left, *right], n, square=Z is None)
        if self.normalize:
            root = np.sqrt(np.where(diagonal > 0, diagonal, 1.0))
            K = K / np.outer(root[:n], root[:n] if Z is None else root[n:])
        return K

    def diagonal(self, X: ArrayLike) -> Array:
        """k(G, G) of every graph."""
        found = self._sum(read_graphs(X), 0, square=False)[1]
        return np.where(found > 0, 1.0, 0.0) if self.normalize else found

    def _sum(self, graphs: list[Graph], n: int, *, square: bool) -> tuple[Array, Array]:
        """The Gram matrix of the first n against the rest (or themselves), and every k(G, G)."""
        union = plain.unite(graphs)
        m = len(graphs)
        K = np.zeros((n, n if square else m - n))
        diagonal, colours = np.zeros(m), union.colours
        pairs = None if callable(self.base) else node_pairs(self.base, graphs, union)
        for i in range(self.n_iter + 1):
            if i:
                colours = refine(union.starts, union.neighbours, colours)
            if pairs is None:
                part, own = self._called(graphs, union, colours, n, square)
                K, diagonal = K + part, diagonal + own
                continue
            F = count_features(pairs, colours, m)
            sums = F.multiply(F).sum(axis=1) if isinstance(F, csr_array) else (F**2).sum(axis=1)
            diagonal += np.asarray(sums).ravel()
            if n:
                part = F[:n] @ (F[:n] if square else F[n:]).T
                K += part.toarray() if isinstance(F, csr_array) else part
        return K, diagonal

    def _called(
        self, graphs: list[Graph], union: Union, colours: IntArray, n: int, square: bool
    ) -> tuple[Array, Array]:
        assert callable(self.base)
        base, parts = self.base, np.split(colours, union.first[1:-1])
        items = [(adjacency(g), part) for g, part in zip(graphs, parts, strict=True)]
        right = items[:n] if square else items[n:]
        K = np.array([[float(base(*a, *b)) for b in right] for a in items[:n]])
        own = np.array([float(base(*a, *a)) for a in items])
        return K.reshape(n, len(right)), own


def adjacency(graph: Graph) -> Array:
    """The adjacency matrix as 0 and 1.

    >>> adjacency(read_graph([[0, 2], [2, 0]]))
    array([[0., 1.],
           [1., 0.]])
    """
    n = graph.n_nodes
    A = np.zeros((n, n))
    A[np.repeat(np.arange(n), np.diff(graph.starts)), graph.neighbours] = 1.0
    return A


def read_graphs(items: Any) -> list[Graph]:
    """Graphs, or (graph, labels) tuples, of a list."""
    if not isinstance(items, list | tuple) and not (
        isinstance(items, np.ndarray) and (items.dtype == object or items.ndim == 3)
    ):
        raise ValueError(f"give a list of graphs or of (graph, labels), got {type(items).__name__}")
    if len(items) == 0:
        raise ValueError("the kernel needs at least one graph, got an empty list")
    pairs = [item if isinstance(item, tuple) and len(item) == 2 else (item, None) for item in items]
    return [read_graph(graph, labels) for graph, labels in pairs]
