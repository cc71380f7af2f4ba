"""A computational graph: values flow forward, derivatives back along the same edges."""

from typing import Any

import numpy as np

from pellucid.core.arrays.typing import Array, MaybeArray
from pellucid.neural.value import Node, Value
from pellucid.plots.panels.graphs import (
    Point,
    draw_edge,
    draw_node,
    edge_of,
    layered,
    name_size,
    sheet,
)
from pellucid.plots.panels.marks import PLATE, write
from pellucid.plots.panels.style import LEAST, Axes, Picture, colour, heading

MOST_NODES = 60
GAP = (0.75, 0.75)  # inches between nodes; the lower one holds a derivative
GREY = "#6B7280"


class ComputationGraph(Picture):
    nodes: tuple[Node, ...]
    at: Array  # (n, 2), inches
    edges: tuple[tuple[int, int, float], ...]  # from, to, local derivative
    bends: dict[tuple[int, int], tuple[Point, ...]]  # where an edge goes round other nodes
    result: float

    def plot(self, ax: Axes | None = None) -> Any:
        """Black: value; orange: derivative of the result; on the edges the local derivative."""
        sizes = [_size(node) for node in self.nodes]
        place = {i: (float(x), float(y)) for i, (x, y) in enumerate(self.at)}
        ax, scale = sheet(ax, place, dict(enumerate(sizes)), below=0.2, least=4.0)
        small = max(LEAST, 10 * scale)
        for (a, b), bends in self.bends.items():
            ends, rooms = (place[a], place[b]), (sizes[a], sizes[b])
            shapes = _shape(self.nodes[a]), _shape(self.nodes[b])
            look: dict[str, Any] = {"colour": GREY, "lw": 1, "style": "->"}
            draw_edge(ax, ends, rooms, shape=shapes, bends=bends, **look)
            way = [ends[0], *bends, ends[1]]
            way[0] = edge_of(ends[0], rooms[0], way[1], shapes[0])
            way[-1] = edge_of(ends[1], rooms[1], way[-2], shapes[1])
            slopes = [slope for p, q, slope in self.edges if (p, q) == (a, b)]
            said = " + ".join(f"{slope:.3g}" for slope in slopes)
            more: dict[str, Any] = {"fontsize": small, "color": GREY, "zorder": 1.5, "bbox": PLATE}
            write(ax, *_on_the_way(way), said, **more)
        for i, node in enumerate(self.nodes):
            named = node.operation == "input" and not _unnamed(node.name)
            look = {"edge": colour(0) if named else "black", "scale": scale}
            draw_node(ax, place[i], sizes[i], _said(node), square=_shape(node) == "box", **look)
            x, y = place[i][0], place[i][1] - sizes[i][1] / 2 - 0.05
            more = {"va": "top", "color": colour(1), "weight": "bold", "zorder": 4, "bbox": PLATE}
            write(ax, x, y, f"{node.gradient:.4g}", fontsize=small, **more)
        note = "black: value; grey: derivative along the edge; orange: derivative of the result"
        heading(ax, f"Result {self.result:.6g}", note, width=90)
        return ax


def _said(node: Node) -> str:
    """What is written in a node: its name or operation, and its value."""
    start = node.operation == "input"
    named = node.name if start and not _unnamed(node.name) else ""
    return f"{named or ('constant' if start else node.operation)}\n{node.value:.4g}"


def _size(node: Node) -> Point:
    wide, tall = name_size(_said(node))
    return (wide - 0.1, tall) if _shape(node) == "box" else (wide, max(tall, 0.62))


def _shape(node: Node) -> str:
    return "box" if node.operation == "input" else "ellipse"


def _on_the_way(way: list[Point]) -> Point:
    """The middle of an edge, or of its first arc: its own middle may lie beside a node."""
    a, b = np.array(way[0]), np.array(way[1])
    if len(way) == 2:
        x, y = (a + b) / 2
    else:
        stop = np.array(way[2]) if len(way) == 3 else (b + way[2]) / 2
        x, y = 0.25 * a + 0.5 * b + 0.25 * stop
    return float(x), float(y)


def _unnamed(name: str) -> bool:
    """Whether a name was made up by the graph: n0, n1, ..."""
    return name[:1] == "n" and name[1:].isdigit()


def computation_graph(f: Any, values: MaybeArray = None) -> ComputationGraph:
    """The graph of a formula with the values forward and the derivatives backward.

    ``f``: a ``neural.Value`` that was computed, or a function of Values; ``values``: {"name":
    number}, for a function: what its arguments are, by name.

    Examples
    --------
    >>> from pellucid.plots import computation_graph
    >>> picture = computation_graph(lambda a, b: a * b + a, {"a": 2.0, "b": 3.0})
    >>> picture.result, {n.name: n.gradient for n in picture.nodes if n.name in "ab"}
    (8.0, {'a': 4.0, 'b': 2.0})
    """
    if isinstance(f, Value):
        last = f
    elif callable(f):
        if not isinstance(values, dict) or not values:
            raise ValueError("a function needs values={'name': number} for its arguments")
        last = f(**{name: Value(v, name) for name, v in values.items()})
        if not isinstance(last, Value):
            raise ValueError(f"the function must return a Value, got {type(last).__name__}")
    else:
        raise ValueError(f"f must be a Value or a function of Values, got {type(f).__name__}")
    last.backward()
    nodes = tuple(last.graph())
    if len(nodes) > MOST_NODES:
        raise ValueError(f"the picture shows at most {MOST_NODES} nodes, got {len(nodes)}")
    number = {node.name: i for i, node in enumerate(nodes)}
    if len(number) < len(nodes):
        raise ValueError("two nodes have the same name: give every Value a name of its own")
    edges = tuple(
        (number[p], i, float(slope))
        for i, node in enumerate(nodes)
        for p, slope in zip(node.parents, node.local, strict=True)
    )
    turned = {i: _size(node)[::-1] for i, node in enumerate(nodes)}  # layers from left to right
    pairs = list(dict.fromkeys((a, b) for a, b, _ in edges))
    found = layered(range(len(nodes)), pairs, turned, GAP)
    at = np.array([(-found.place[i][1], -found.place[i][0]) for i in range(len(nodes))])
    bends = {pair: tuple((-y, -x) for x, y in way) for pair, way in found.bends.items()}
    inputs = [n for n in nodes if n.operation == "input" and not _unnamed(n.name)]
    said = ", ".join(f"{n.name} = {n.value:.4g} with derivative {n.gradient:.4g}" for n in inputs)
    alt = f"Computational graph of {len(nodes)} nodes with result {last.value:.6g}: {said}."
    return ComputationGraph(alt, nodes, at, edges, bends, float(last.value))
