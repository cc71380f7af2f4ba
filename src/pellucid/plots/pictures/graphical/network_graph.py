"""A Bayesian network with its tables, or the class of graphs that say the same."""

from typing import Any

from pellucid.graphical.graphs.dag import DAG
from pellucid.graphical.network.tables import CPT
from pellucid.plots.panels.graphs import draw_edge, draw_node, layered, name_size, sheet
from pellucid.plots.panels.marks import words, write
from pellucid.plots.panels.style import GREY, LEAST, Picture, colour, heading

MOST_ROWS = 9  # of a table that is drawn
MOST_NODES = 60
LETTER, LINE = 0.0695, 0.145  # inches of a letter and a line of the tables, at 8 points


class NetworkGraph(Picture):
    """Nodes with their places, edges with their bends, tables as lines of text."""

    nodes: tuple[tuple[str, float, float], ...]
    edges: tuple[tuple[str, str, str, tuple[tuple[float, float], ...]], ...]  # a, b, "->" or "--"
    tables: dict[str, tuple[str, ...]]  # empty: names only

    def plot(self, ax: Any = None) -> Any:
        size = {name: node_size(name, self.tables.get(name, ())) for name, _, _ in self.nodes}
        place = {name: (x, y) for name, x, y in self.nodes}
        ax, scale = sheet(ax, place, size)
        boxes = bool(self.tables)
        for a, b, kind, bends in self.edges:
            line = kind == "--"
            style, tint, width = ("-", colour(1), 2.2) if line else ("-|>", "black", 1.3)
            look: Any = {"shape": "box" if boxes else "ellipse", "style": style, "lw": width}
            ends, room = (place[a], place[b]), (size[a], size[b])
            draw_edge(ax, ends, room, bends=bends, colour=tint, **look)
        for name, at in place.items():
            if boxes:
                self._card(ax, name, at, size[name], scale)
            else:
                draw_node(ax, at, size[name], name, fill="#E8F1F8", edge=colour(0), scale=scale)
        heading(ax, self.title)
        return ax

    def _card(self, ax: Any, name: str, at: Any, size: Any, scale: float) -> None:
        draw_node(ax, at, size, "", fill="white", edge=colour(0), square=True)
        top = at[1] + size[1] / 2
        write(
            ax,
            at[0],
            top - 0.15,
            name,
            fontsize=max(LEAST, 10 * scale),
            fontweight="bold",
            zorder=3,
        )
        for i, line in enumerate(self.tables[name]):
            y = top - 0.36 - LINE * i
            tint = GREY if i == 0 else "black"
            write(
                ax,
                at[0],
                y,
                line,
                fontsize=max(LEAST, 8 * scale),
                zorder=3,
                family="monospace",
                color=tint,
            )


def node_size(name: str, lines: tuple[str, ...]) -> tuple[float, float]:
    """Of a box with a table, or of an ellipse with a name; in inches."""
    if not lines:
        return name_size(name)
    wide = max(LETTER * max(map(len, lines)), 0.1 * len(name)) + 0.24
    return wide, 0.42 + LINE * (len(lines) - 0.25)


def table_lines(cpd: Any, states: dict[Any, Any]) -> tuple[str, ...]:
    """The table of one variable as lines of equal length, the first the heading."""
    if not isinstance(cpd, CPT):
        return ("linear, normal", *_folded(repr(cpd)))
    own = [short(s) for s in cpd.states]
    head = [*(short(p) for p in cpd.parents), *own]
    rows = []
    flat = cpd.values.reshape(-1, len(own))
    for i, row in enumerate(flat[:MOST_ROWS]):
        rest = i
        given: list[str] = []
        for parent in reversed(cpd.parents):
            rest, at = divmod(rest, len(states[parent]))
            given.insert(0, short(states[parent][at]))
        rows.append([*given, *(f"{p:.3g}" for p in row)])
    width = [max(len(r[j]) for r in [head, *rows]) for j in range(len(head))]
    k = len(cpd.parents)
    lines = [join_cells(row, width, k) for row in [head, *rows]]
    if len(flat) > MOST_ROWS:
        lines.append(f"and {len(flat) - MOST_ROWS} more rows".center(len(lines[0])))
    return tuple(lines)


def join_cells(row: list[str], width: list[int], k: int) -> str:
    """Cells under each other; a bar between the parents and the variable itself."""
    cells = [cell.rjust(w) for cell, w in zip(row, width, strict=True)]
    return " | ".join(" ".join(part) for part in (cells[:k], cells[k:]) if part)


def short(name: Any, most: int = 10) -> str:
    text = str(name)
    return text if len(text) <= most else text[: most - 1] + "…"


def _folded(text: str) -> list[str]:
    left, _, right = text.partition(" + ")
    return [left, *(f"+ {part}" for part in right.split(" + "))] if right else [text]


def graph_of(N: Any) -> DAG:
    """The graph of a network, a structure learner, a list of edges, or the DAG itself."""
    if isinstance(N, DAG):
        return N
    if isinstance(N, list | set | frozenset | tuple):
        return DAG(N)
    if getattr(N, "cpds", None) is None and not hasattr(N, "dag_"):
        raise ValueError(
            f"N must be a DAG, a list of edges, a BayesianNetwork with cpds or after fit, or a "
            f"fitted structure learner, got {type(N).__name__}"
        )
    return N.dag_


def network_graph(N: Any, *, tables: bool = True, equivalence: bool = False) -> NetworkGraph:
    """The graph of a network, with the table of every variable.

    ``N``: BayesianNetwork, DAG, list of edges, or fitted structure learner; ``tables``: write the
    conditional probability tables (where N has them) in the nodes; ``equivalence``: the essential
    graph: an edge has an arrow only where every graph with the same independencies has it so.

    Examples
    --------
    >>> from pellucid.plots import network_graph
    >>> picture = network_graph([("rain", "wet"), ("sprinkler", "wet")])
    >>> [edge[:3] for edge in picture.edges]
    [('rain', 'wet', '->'), ('sprinkler', 'wet', '->')]
    """
    dag = graph_of(N)
    if not 0 < len(dag.nodes) <= MOST_NODES:
        raise ValueError(f"the picture shows 1 to {MOST_NODES} variables, got {len(dag.nodes)}")
    cpds = getattr(N, "cpds_", None) if tables and not equivalence and dag is not N else None
    lines = (
        {}
        if cpds is None
        else {str(v): table_lines(cpds[v], getattr(N, "states_", {})) for v in dag.nodes}
    )
    names = {v: str(v) for v in dag.nodes}
    sizes = {v: node_size(names[v], lines.get(names[v], ())) for v in dag.nodes}
    found = layered(dag.nodes, dag.sorted_edges, sizes)
    free = dag.cpdag().undirected if equivalence else frozenset()
    edges = tuple(
        (names[a], names[b], "--" if frozenset((a, b)) in free else "->", found.bends[a, b])
        for a, b in dag.sorted_edges
    )
    nodes = tuple((names[v], *found.place[v]) for v in dag.nodes)
    title, alt = _said(edges, nodes, bool(lines), equivalence)
    return NetworkGraph(alt, nodes, edges, lines, title=title)


def _said(edges: Any, nodes: Any, tables: bool, equivalence: bool) -> tuple[str, str]:
    arrows = [f"{a} {'-' if k == '--' else '→'} {b}" for a, b, k, _ in edges]
    n = len(nodes)
    what = f"{n} variable{'s' * (n > 1)}, {len(edges)} edge{'s' * (len(edges) != 1)}"
    if equivalence:
        loose = sum(k == "--" for _, _, k, _ in edges)
        what += f": {loose} of either direction (orange), {len(edges) - loose} fixed"
    alt = f"Graph of {n} variables" + (" with their tables" if tables else "") + ": "
    return what, alt + (words(arrows, 20) or "no edges") + "."
