"""A computational graph: values flow forward, derivatives back along the same edges."""

from typing import Any

import numpy as np

from pellucid.core.arrays.typing import Array, MaybeArray
from pellucid.neural.value import Node, Value
from pellucid.plots.panels.marks import PLATE, write
from pellucid.plots.panels.style import LEAST, Axes, Picture, axes, colour, heading

MOST_NODES = 60


class ComputationGraph(Picture):
    nodes: tuple[Node, ...]
    at: Array  # (n, 2)
    edges: tuple[tuple[int, int, float], ...]  # from, to, local derivative
    result: float

    def plot(self, ax: Axes | None = None) -> Any:
        """Black: value; orange: derivative of the result; on the edges the local derivative."""
        wide, tall = np.ptp(self.at, axis=0)
        ax = axes(ax, figsize=(max(5.0, 1.5 * wide + 2), max(2.8, 1.0 * tall + 1.8)))
        for a, b, slope in self.edges:
            grey = {"arrowstyle": "->", "color": "#6B7280", "shrinkA": 22, "shrinkB": 24, "lw": 1}
            ax.annotate("", self.at[b], self.at[a], zorder=1, arrowprops=grey)
            x, y = 0.65 * self.at[a] + 0.35 * self.at[b]  # its middle may lie on a node
            box = PLATE
            write(ax, x, y, f"{slope:.3g}", fontsize=LEAST, color="#6B7280", zorder=2, bbox=box)
        for node, (x, y) in zip(self.nodes, self.at, strict=True):
            start = node.operation == "input"
            named = node.name if start and not _unnamed(node.name) else ""
            head = named or ("constant" if start else node.operation)
            shape = "round,pad=0.3" if start else "circle,pad=0.25"
            box = {"boxstyle": shape, "fc": "white", "ec": colour(0) if named else "black"}
            write(ax, x, y, f"{head}\n{node.value:.4g}", zorder=3, bbox=box)
            look = {"va": "top", "color": colour(1), "weight": "bold", "zorder": 4, "bbox": PLATE}
            write(ax, x, y - 0.36, f"{node.gradient:.4g}", **look)
        ax.set_axis_off()
        low, high = self.at.min(axis=0), self.at.max(axis=0)
        ax.set(xlim=(low[0] - 0.6, high[0] + 0.6), ylim=(low[1] - 0.75, high[1] + 0.6))
        note = "black: value; grey: derivative along the edge; orange: derivative of the result"
        heading(ax, f"Result {self.result:.6g}", note, width=90)
        return ax


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
    depth = np.zeros(len(nodes))
    for a, b, _ in edges:  # nodes come after what they are made from
        depth[b] = max(depth[b], depth[a] + 1)
    for i in range(len(nodes) - 1, -1, -1):  # inputs stand just before their first use
        uses = [depth[b] for a, b, _ in edges if a == i]
        if not nodes[i].parents and uses:
            depth[i] = min(uses) - 1
    height = np.zeros(len(nodes))
    for level in np.unique(depth):
        here = np.flatnonzero(depth == level)
        height[here] = (len(here) - 1) / 2 - np.arange(len(here)) + 0.12 * (level % 2)
    inputs = [n for n in nodes if n.operation == "input" and not _unnamed(n.name)]
    said = ", ".join(f"{n.name} = {n.value:.4g} with derivative {n.gradient:.4g}" for n in inputs)
    alt = f"Computational graph of {len(nodes)} nodes with result {last.value:.6g}: {said}."
    return ComputationGraph(alt, nodes, np.column_stack([depth, height]), edges, float(last.value))
