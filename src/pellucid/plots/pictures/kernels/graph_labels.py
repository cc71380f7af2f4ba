"""Weisfeiler and Leman's relabelling: every round a node's label tells of a wider neighbourhood.

A new label stands for (own label, multiset of the neighbours' labels), one dictionary for all
graphs. Graphs whose counts of labels differ in some round are not isomorphic.
"""

from typing import Any

import numpy as np
from scipy.sparse.csgraph import shortest_path

from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, IntArray
from pellucid.kernel.graphs.graphs import are_isomorphic, read_graph, refine, unite
from pellucid.kernel.graphs.weisfeiler_lehman import adjacency
from pellucid.plots.panels.marks import spot, write
from pellucid.plots.panels.style import GREY, Axes, Picture, colour, heading, new_figure

MOST_NODES = 60


class GraphLabels(Picture):
    """Labels of every node after every round."""

    adjacency: tuple[Array, ...]  # of each graph
    places: tuple[Array, ...]  # (nodes, 2)
    labels: tuple[IntArray, ...]  # (rounds + 1, nodes) of each graph
    differ: int | None  # the first round in which a pair's counts differ
    isomorphic: bool | None  # of a pair

    def plot(self) -> Any:
        """A row per graph, a column per round; equal labels have equal numbers and colours."""
        graphs, rounds = len(self.places), len(self.labels[0])
        figure = new_figure((2.7 * rounds, 2.7 * graphs + 0.5))
        for g in range(graphs):
            for r in range(rounds):
                ax = figure.add_subplot(graphs, rounds, g * rounds + r + 1)
                self._panel(ax, g, r)
        figure.suptitle(self.title, fontsize="medium", wrap=True)
        return figure

    def _panel(self, ax: Axes, g: int, r: int) -> None:
        at, labels = self.places[g], self.labels[g][r]
        for i, j in zip(*np.nonzero(np.triu(self.adjacency[g], 1)), strict=True):
            ax.plot(*at[[i, j]].T, color=GREY, lw=1.2, zorder=1)
        for i, (x, y) in enumerate(at):
            code = int(labels[i])
            spot(ax, x, y, "o", colour(code), size=16, mew=0.8, zorder=2, clip_on=False)
            dark = colour(code) in ("#000000", "#0072B2", "#D55E00", "#009E73")
            write(ax, x, y, str(code), zorder=3, color="white" if dark else "black")
        numbers, counts = np.unique(labels, return_counts=True)
        said = ", ".join(f"{k}×{n}" for k, n in zip(counts, numbers, strict=True))
        ax.set_axis_off()
        ax.margins(0.2)
        ax.set_aspect("equal")
        heading(ax, f"{'start' if r == 0 else f'round {r}'}: {said}", width=34)


def spread(A: Array, rounds: int = 200) -> Array:
    """Places (n, 2) whose distances are near those along the edges (stress majorisation).

    >>> spread(np.array([[0.0, 1.0], [1.0, 0.0]])).shape
    (2, 2)
    """
    n = len(A)
    angle = 2 * np.pi * np.arange(n) / max(n, 1)
    Z = np.column_stack([np.cos(angle), np.sin(angle)]) * max(n, 1) / 6
    if n < 2:
        return Z
    D = shortest_path(A, unweighted=True)
    far = D[np.isfinite(D)].max() + 1.0
    D = np.where(np.isfinite(D), D, far)
    W = np.where(D > 0, D, 1.0) ** -2.0
    np.fill_diagonal(W, 0.0)
    V = np.diag(W.sum(axis=1)) - W + 1.0 / n
    for _ in range(rounds):  # Guttman's transform: each round lowers the stress
        gaps = np.linalg.norm(Z[:, None] - Z, axis=2)
        B = -W * D / np.maximum(gaps, 1e-9)
        np.fill_diagonal(B, 0.0)
        np.fill_diagonal(B, -B.sum(axis=1))
        Z = np.linalg.solve(V, B @ Z)
    return Z - Z.mean(axis=0)


def graph_labels(G: Any, h: int = 2, *, labels: Any = None) -> GraphLabels:
    """The labels of the nodes of one graph, or of a pair, round by round.

    ``G``: graph (square adjacency array or networkx graph), or a pair (list or tuple) of graphs;
    ``labels``: labels of the nodes at the start (a pair of sequences for a pair), optional; ``h``:
    rounds.

    Examples
    --------
    >>> from pellucid.plots import graph_labels
    >>> path = [[0, 1, 0, 0], [1, 0, 1, 0], [0, 1, 0, 1], [0, 0, 1, 0]]
    >>> star = [[0, 1, 1, 1], [1, 0, 0, 0], [1, 0, 0, 0], [1, 0, 0, 0]]
    >>> picture = graph_labels((path, star), h=1)
    >>> picture.differ, picture.isomorphic, [rounds[1].tolist() for rounds in picture.labels]
    (1, False, [[0, 1, 1, 0], [2, 0, 0, 0]])
    """
    check.whole(at_least=0, h=h)
    two = isinstance(G, list | tuple) and len(G) == 2
    pair = two and all(hasattr(g, "nodes") or np.ndim(g) == 2 for g in G)
    given = list(G) if pair else [G]
    starts = list(labels) if pair and labels is not None else [labels] * len(given)
    graphs = [read_graph(g, own) for g, own in zip(given, starts, strict=True)]
    largest = max(g.n_nodes for g in graphs)
    if largest > MOST_NODES:
        raise ValueError(f"graphs of at most {MOST_NODES} nodes can be shown, got {largest}")
    union = unite(graphs)
    colours = [union.colours]
    for _ in range(h):
        colours.append(refine(union.starts, union.neighbours, colours[-1]))
    table = np.stack(colours)
    parts = tuple(table[:, a:b] for a, b in zip(union.first[:-1], union.first[1:], strict=True))
    matrices = tuple(adjacency(g) for g in graphs)
    differ, isomorphic = None, None
    if pair:
        same = [np.array_equal(np.sort(a), np.sort(b)) for a, b in zip(*parts, strict=True)]
        differ = same.index(False) if False in same else None
        isomorphic = bool(are_isomorphic(*given, labels=labels).isomorphic)
        alike, other = "the graphs are isomorphic", "possibly isomorphic, yet the graphs are not"
        told = f"The counts agree for {h} rounds: {alike if isomorphic else other}"
        if differ is not None:
            told = f"The counts of labels differ from round {differ} on: not isomorphic"
    else:
        told = f"{len(np.unique(parts[0][-1]))} kinds of nodes after {h} rounds"
    sizes = " and ".join(f"{g.n_nodes} nodes" for g in graphs)
    alt = f"Weisfeiler-Leman labels of {sizes} in {h} round{'' if h == 1 else 's'}. {told}."
    places = tuple(spread(A) for A in matrices)
    return GraphLabels(alt, matrices, places, parts, differ, isomorphic, title=told)
