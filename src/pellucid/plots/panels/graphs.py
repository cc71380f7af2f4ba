r"""Graphs on paper: nodes in layers, edges that go round what is not theirs.

Layers      a node below all its parents, a node without parents just above its first child
Order       an edge over several layers gets a small stand-in in each; every layer is sorted by the
            mean place of its neighbours, up and down in turn, and the order with the fewest
            crossings is kept
Places      each node is drawn to the mean of its neighbours, no nearer than the sizes allow

One unit is one inch, so that what is written in a node fits. The same graph has the same places.

References: Sugiyama, Tagawa & Toda (1981).
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from pellucid.core.arrays.typing import Array
from pellucid.plots.panels.marks import write
from pellucid.plots.panels.style import GREY, LEAST, Axes, new_figure, quiet

Node = Any
Point = tuple[float, float]
ROUNDS = 12


class Layout(NamedTuple):
    """Where nodes are, and the bends of the edges between them."""

    place: dict[Node, Point]
    bends: dict[tuple[Node, Node], tuple[Point, ...]]


class Layers(NamedTuple):
    """Items of every layer (nodes, or stand-ins of edges) and the links between neighbours."""

    rows: list[list[Any]]
    up: dict[Any, list[Any]]
    down: dict[Any, list[Any]]


def depths(nodes: Sequence[Node], edges: Sequence[tuple[Node, Node]]) -> dict[Node, int]:
    """The layer of every node of an acyclic graph.

    >>> depths("abc", [("a", "b"), ("b", "c")])
    {'a': 0, 'b': 1, 'c': 2}
    """
    depth = dict.fromkeys(nodes, 0)
    for _ in nodes:
        for a, b in edges:
            depth[b] = max(depth[b], depth[a] + 1)
    heads = {b for _, b in edges}
    for node in nodes:
        below = [depth[b] for a, b in edges if a == node]
        if below and node not in heads:
            depth[node] = min(below) - 1
    return depth


def layers_of(nodes: Sequence[Node], edges: Sequence[tuple[Node, Node]]) -> Layers:
    """Nodes by layer, with a stand-in of every edge in each layer that it crosses."""
    depth = depths(nodes, edges)
    rows: list[list[Any]] = [[] for _ in range(max(depth.values(), default=0) + 1)]
    for node in nodes:
        rows[depth[node]].append(node)
    up: dict[Any, list[Any]] = {node: [] for node in nodes}
    down: dict[Any, list[Any]] = {node: [] for node in nodes}
    for a, b in edges:
        before = a
        for level in range(depth[a] + 1, depth[b] + 1):
            here = b if level == depth[b] else ("bend", a, b, level)
            if here != b:
                rows[level].append(here)
            down.setdefault(before, []).append(here)
            up.setdefault(here, []).append(before)
            before = here
    return Layers(rows, up, down)


def crossings(layers: Layers) -> int:
    """How many pairs of links cross."""
    total = 0
    for row, below in zip(layers.rows, layers.rows[1:], strict=False):
        at = {item: i for i, item in enumerate(below)}
        ends = np.array(
            [at[b] for a in row for b in sorted(layers.down.get(a, []), key=at.__getitem__)]
        )
        total += sum(int((ends[i + 1 :] < e).sum()) for i, e in enumerate(ends))
    return total


def sorted_layers(layers: Layers) -> Layers:
    """The order of every layer with the fewest crossings that the sweeps found."""
    best, fewest = [list(row) for row in layers.rows], crossings(layers)
    for turn in range(ROUNDS):
        links = layers.up if turn % 2 == 0 else layers.down
        order = range(len(layers.rows)) if turn % 2 == 0 else range(len(layers.rows))[::-1]
        for level in order:
            row = layers.rows[level]
            at = {x: i for other in layers.rows for i, x in enumerate(other)}
            wish = [float(np.mean([at[u] for u in links.get(x, [])] or [at[x]])) for x in row]
            layers.rows[level] = [row[i] for i in np.argsort(wish, kind="stable")]
        if crossings(layers) < fewest:
            best, fewest = [list(row) for row in layers.rows], crossings(layers)
    return Layers(best, layers.up, layers.down)


def spread(wish: Array, width: Array) -> Array:
    """Places near ``wish`` in their order, neighbours at least half of both widths apart."""
    need = np.concatenate([[0.0], np.cumsum((width[1:] + width[:-1]) / 2)])
    free = wish - need  # must not fall: pool neighbours that would
    blocks: list[list[float]] = []
    for value in free:
        blocks.append([value, 1.0])
        while len(blocks) > 1 and blocks[-2][0] > blocks[-1][0]:
            v, n = blocks.pop()
            u, m = blocks.pop()
            blocks.append([(u * m + v * n) / (m + n), m + n])
    return np.repeat([b[0] for b in blocks], [int(b[1]) for b in blocks]) + need


def layered(
    nodes: Sequence[Node],
    edges: Sequence[tuple[Node, Node]],
    sizes: Mapping[Node, Point],
    gap: Point = (0.45, 0.65),
) -> Layout:
    """Places of the nodes (centres, in inches) and the bends of long edges.

    >>> layered("ab", [("a", "b")], {"a": (1.0, 0.5), "b": (1.0, 0.5)}).place
    {'a': (0.0, 0.0), 'b': (0.0, -1.15)}
    """
    layers = sorted_layers(layers_of(nodes, edges))
    size = {x: sizes.get(x, (0.0, 0.0)) for row in layers.rows for x in row}
    x: dict[Any, float] = {}
    width = [np.array([size[v][0] + gap[0] for v in row]) for row in layers.rows]
    for row, w in zip(layers.rows, width, strict=True):
        places = spread(np.zeros(len(row)), w)
        x.update(zip(row, (places - places.mean()).tolist(), strict=True))
    for turn in range(4 * ROUNDS):
        levels = range(len(layers.rows))
        for level in levels if turn % 2 == 0 else levels[::-1]:
            row = layers.rows[level]
            near = [[*layers.up.get(v, []), *layers.down.get(v, [])] for v in row]
            wish = [
                np.mean([x[u] for u in some]) if some else x[v]
                for v, some in zip(row, near, strict=True)
            ]
            x.update(zip(row, spread(np.array(wish), width[level]).tolist(), strict=True))
    y, height = {}, 0.0
    for level, row in enumerate(layers.rows):
        tall = max(size[v][1] for v in row)
        height -= (tall / 2 + gap[1]) if level else 0.0
        y.update(dict.fromkeys(row, height))
        height -= tall / 2
    place = {v: (round(x[v], 6) + 0.0, round(y[v], 6)) for v in nodes}
    bends = {}
    for a, b in edges:
        items = (v for row in layers.rows for v in row)
        way = [v for v in items if isinstance(v, tuple) and v[:3] == ("bend", a, b)]
        bends[a, b] = tuple((round(x[v], 6), round(y[v], 6)) for v in way)
    return Layout(place, bends)


# --- drawing --------------------------------------------------------------------------------------


def sheet(
    ax: Any,
    place: Mapping[Any, Point],
    sizes: Mapping[Any, Point],
    room: float = 0.25,
    below: float = 0.0,
    least: float = 0.0,
) -> tuple[Any, float]:
    """Axes without frame that show all nodes, and by how much writing must be scaled."""
    low = np.min([np.array(place[v]) - np.array(sizes[v]) / 2 for v in place], axis=0) - room
    high = np.max([np.array(place[v]) + np.array(sizes[v]) / 2 for v in place], axis=0) + room
    low[1] -= below
    high[0] = max(high[0], low[0] + least)
    wide, tall = high - low
    if ax is None:
        shrink = min(1.0, 14.0 / wide, 11.0 / tall)
        more = max(0.0, 3.6 - wide * shrink)  # room for the title
        figsize = (wide * shrink + more, tall * shrink + 0.55)
        ax = new_figure(figsize).add_subplot()
    quiet(ax)
    ax.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), aspect="equal")
    ax.axis("off")
    box = ax.get_position()
    inches = np.array([box.width, box.height]) * ax.figure.get_size_inches()
    if ax.figure.get_layout_engine() is not None and len(ax.figure.axes) == 1:
        inches = ax.figure.get_size_inches() - np.array([0.1, 0.5])  # all but the title
    return ax, float(min(1.0, *(inches / (high - low))))


def edge_of(at: Point, size: Point, towards: Point, shape: str = "ellipse") -> Point:
    """Where the line from the centre of a node to a point leaves the node."""
    d = np.array(towards, dtype=np.float64) - at
    half = np.array(size, dtype=np.float64) / 2
    if not d.any():
        return at
    if shape == "ellipse":
        t = float(1 / np.linalg.norm(d / half))
    else:
        t = float(np.min(half / np.maximum(np.abs(d), 1e-12)))
    return float(at[0] + t * d[0]), float(at[1] + t * d[1])


def draw_edge(
    ax: Axes,
    ends: tuple[Point, Point],
    sizes: tuple[Point, Point],
    *,
    shape: str | tuple[str, str] = "ellipse",
    bends: Sequence[Point] = (),
    colour: str = "black",
    lw: float = 1.3,
    style: str = "-|>",
    dashed: bool = False,
    curve: float = 0.0,
    zorder: float = 1.0,
) -> Any:
    """An arrow from the rim of one node to the rim of another, through its bends.

    ``shape``: "ellipse" or "box"; of each end, if they differ.
    """
    from matplotlib.patches import FancyArrowPatch
    from matplotlib.path import Path

    points = [ends[0], *bends, ends[1]]
    if curve and not bends:
        a, b = np.array(ends[0]), np.array(ends[1])
        normal = np.array([a[1] - b[1], b[0] - a[0]])
        points.insert(1, tuple((a + b) / 2 + curve * normal))
    first, last = (shape, shape) if isinstance(shape, str) else shape
    points[0] = edge_of(ends[0], sizes[0], points[1], first)
    points[-1] = edge_of(ends[1], sizes[1], points[-2], last)
    look: dict[str, Any] = {"arrowstyle": style, "mutation_scale": 13, "lw": lw, "color": colour}
    look |= {"shrinkA": 0, "ls": "--" if dashed else "-", "shrinkB": 0, "zorder": zorder}
    if len(points) == 2:
        return ax.add_patch(FancyArrowPatch(points[0], points[1], **look))
    where, codes = [points[0]], [Path.MOVETO]
    for i, bend in enumerate(points[1:-1], start=1):
        ending = i == len(points) - 2
        stop = points[-1] if ending else tuple((np.array(bend) + points[i + 1]) / 2)
        where += [bend, stop]
        codes += [Path.CURVE3, Path.CURVE3]
    return ax.add_patch(FancyArrowPatch(path=Path(where, codes), **look))


def draw_node(
    ax: Axes,
    at: Point,
    size: Point,
    text: str,
    *,
    fill: str = "white",
    edge: str = GREY,
    lw: float = 1.4,
    scale: float = 1.0,
    weight: str = "normal",
    square: bool = False,
    ink: str = "black",
) -> None:
    """An ellipse (or a box) with its name."""
    from matplotlib.patches import Ellipse, FancyBboxPatch

    if square:
        corner = (at[0] - size[0] / 2, at[1] - size[1] / 2)
        box = "round,pad=0,rounding_size=0.06"
        patch: Any = FancyBboxPatch(corner, *size, boxstyle=box, fc=fill, ec=edge, lw=lw, zorder=2)
    else:
        patch = Ellipse(at, *size, fc=fill, ec=edge, lw=lw, zorder=2)
    ax.add_patch(patch)
    write(ax, *at, text, fontsize=max(LEAST, 10 * scale), zorder=3, color=ink, fontweight=weight)


def name_size(text: str) -> Point:
    """The size of an ellipse round a name of ten points, in inches."""
    longest = max(len(line) for line in text.split("\n"))
    lines = text.count("\n") + 1
    return max(0.62, 0.095 * longest + 0.34), 0.34 + 0.17 * lines
