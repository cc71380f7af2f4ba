"""A network unrolled over the rows of a table: copies that share their parameters.

Each row is a copy of the graph; every copy of a variable has the same parameter node as parent.
Given the parameters the rows are independent; learning is inference about the parameter nodes.
"""

from typing import Any

import numpy as np

from pellucid.core.arrays import check
from pellucid.core.arrays.frames import is_frame
from pellucid.plots.panels.graphs import depths, draw_edge, draw_node, layered, sheet
from pellucid.plots.panels.style import GREY, LEAST, Picture, colour, heading
from pellucid.plots.pictures.graphical.network_graph import graph_of, short

MOST_VARIABLES = 12


class Unrolled(Picture):
    """Copies of the variables with the values of the rows, and the shared parameters."""

    variables: tuple[str, ...]
    edges: tuple[tuple[str, str], ...]
    place: dict[str, tuple[float, float]]  # of one copy
    cells: tuple[tuple[str, ...], ...]  # value of each variable in each copy shown, "?" = missing
    above: tuple[str, ...]  # variables whose parameter node is drawn on top
    n_rows: int

    def plot(self, ax: Any = None) -> Any:
        texts = [
            [f"{v}\n{value}" for v, value in zip(self.variables, row, strict=True)]
            for row in self.cells
        ]
        longest = max(len(x) for row in self.cells for x in (*row, *self.variables))
        size = (max(0.7, 0.085 * longest + 0.35), 0.6)
        place = self._places(size)
        ax, scale = sheet(ax, place, dict.fromkeys(place, size))
        for j, v in enumerate(self.variables):
            for i in range(len(self.cells)):
                ends = (place["parameter", v], place[i, v])
                draw_edge(ax, ends, (size, size), lw=0.9, colour=colour(j), dashed=True)
        for i, row in enumerate(texts):
            for a, b in self.edges:
                draw_edge(ax, (place[i, a], place[i, b]), (size, size), zorder=1.5)
            for v, text in zip(self.variables, row, strict=True):
                seen = not text.endswith("\n?")
                fill = "#D1D5DB" if seen else "white"
                draw_node(ax, place[i, v], size, text, scale=0.85 * scale, edge="black", fill=fill)
        for j, v in enumerate(self.variables):
            parents = [a for a, b in self.edges if b == v]
            text = f"θ {v}" + (f"\n| {', '.join(parents)}" if parents else "")
            look: Any = {"edge": colour(j), "lw": 2.0, "fill": "#FFF7E6", "square": True}
            draw_node(ax, place["parameter", v], size, text, scale=0.85 * scale, **look)
        self._rows(ax, place, size, scale)
        return ax

    def _places(self, size: Any) -> dict[Any, Any]:
        at = np.array([self.place[v] for v in self.variables])
        wide = float(np.ptp(at[:, 0])) + size[0] + 0.55
        place: dict[Any, Any] = {}
        for i in range(len(self.cells)):
            for v in self.variables:
                place[i, v] = (self.place[v][0] + i * wide, self.place[v][1])
        middle = at[:, 0].mean() + wide * (len(self.cells) - 1) / 2
        for side, height in ((True, at[:, 1].max() + 1.25), (False, at[:, 1].min() - 1.25)):
            some = [v for v in self.variables if (v in self.above) == side]
            some.sort(key=lambda v: self.place[v][0])
            step = max(size[0] + 0.5, wide * len(self.cells) / max(len(some), 1) * 0.75)
            for k, v in enumerate(some):
                place["parameter", v] = (middle + step * (k - (len(some) - 1) / 2), height)
        return place

    def _rows(self, ax: Any, place: Any, size: Any, scale: float) -> None:
        from matplotlib.patches import FancyBboxPatch

        for i in range(len(self.cells)):
            at = np.array([place[i, v] for v in self.variables])
            low, high = at.min(axis=0) - np.array(size) / 2, at.max(axis=0) + np.array(size) / 2
            low, high = low - np.array([0.14, 0.28]), high + np.array([0.14, 0.1])
            wide, tall = (high - low).tolist()
            ax.add_patch(
                FancyBboxPatch(
                    low, wide, tall, boxstyle="round,pad=0", fc="none", ec=GREY, lw=1.0, zorder=0.5
                )
            )
            look = {"color": GREY, "zorder": 4, "bbox": {"fc": "white", "ec": "none", "pad": 1}}
            x, y = high[0] - 0.05, low[1] + 0.04
            ax.text(
                x,
                y,
                f"row {i + 1}",
                ha="right",
                va="bottom",
                fontsize=max(LEAST, 8 * scale),
                **look,
            )
        more = self.n_rows - len(self.cells)
        rest = f", and {more} more rows like these" if more else ""
        heading(ax, f"{len(self.cells)} rows share their parameters{rest}")


def cells_of(data: Any, names: tuple[str, ...], copies: int) -> tuple[list[list[str]], int]:
    """The values of the first rows as text, "?" where missing or where there is no column."""
    if is_frame(data):
        import narwhals.stable.v1 as nw

        frame = nw.from_native(data, eager_only=True)
        have = {str(c): frame[c].to_list()[:copies] for c in frame.columns}
        n = len(frame)
    else:
        table = np.asarray(data, dtype=object)
        if table.ndim != 2 or table.shape[1] != len(names):
            raise ValueError(
                f"data must have a column for each of {len(names)} variables, got {table.shape}"
            )
        have = {name: table[:copies, j].tolist() for j, name in enumerate(names)}
        n = len(table)
    if not n:
        raise ValueError("data must have at least one row, got none")
    empty = [None] * min(copies, n)
    columns = [have.get(name, empty) for name in names]
    return [[_text(value) for value in row] for row in zip(*columns, strict=True)], n


def _text(value: Any) -> str:
    missing = value is None or value != value  # NaN is not itself
    return "?" if missing else short(f"{value:.3g}" if isinstance(value, float) else value, 8)


def unrolled(N: Any, data: Any, *, copies: int = 3) -> Unrolled:
    """A copy of the network per row of the data, with shared parameters.

    ``N``: BayesianNetwork, DAG, list of edges, or fitted structure learner. ``data``: frame with
    columns named like the variables, or array in their order. A variable without a column is
    latent; missing cells are "?". ``copies``: rows shown.

    Examples
    --------
    >>> from pellucid.plots import unrolled
    >>> picture = unrolled([("X", "Y")], [["a", 1], ["b", None]])
    >>> picture.cells, picture.above
    ((('a', '1'), ('b', '?')), ('X',))
    """
    check.whole(copies=copies)
    dag = graph_of(N)
    if len(dag.nodes) > MOST_VARIABLES:
        raise ValueError(f"it shows up to {MOST_VARIABLES} variables, got {len(dag.nodes)}")
    names = tuple(str(v) for v in dag.nodes)
    cells, n = cells_of(data, names, copies)
    wide = max(
        0.7, 0.085 * max(len(x) for x in (*names, *(c for row in cells for c in row))) + 0.35
    )
    found = layered(dag.nodes, dag.sorted_edges, dict.fromkeys(dag.nodes, (wide, 0.6)), (0.3, 0.5))
    depth = depths(dag.nodes, dag.sorted_edges)
    middle = max(depth.values()) / 2
    above = tuple(str(v) for v in dag.nodes if depth[v] < middle or not middle)
    missing = sum(cell == "?" for row in cells for cell in row)
    alt = (
        f"{len(cells)} of {n} rows as copies of a network of {len(names)} variables; every copy of "
        f"a variable hangs on the same parameter node; {missing} cells are missing."
    )
    edges = tuple((str(a), str(b)) for a, b in dag.sorted_edges)
    place = {str(v): found.place[v] for v in dag.nodes}
    return Unrolled(alt, names, edges, place, tuple(map(tuple, cells)), above, n)
