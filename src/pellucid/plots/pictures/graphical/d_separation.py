"""The paths between two variables, and where each is blocked.

A node on a path blocks it if the path does not meet head-to-head there and the node is given, or
if it does and neither the node nor a descendant is given.
"""

from collections.abc import Iterator
from itertools import pairwise
from typing import Any, NamedTuple

from pellucid.graphical.graphs.dag import DAG
from pellucid.plots.panels.graphs import draw_edge, draw_node, layered, name_size, sheet
from pellucid.plots.panels.style import GREY, LEAST, Picture, colour, heading
from pellucid.plots.pictures.graphical.network_graph import graph_of

MOST_PATHS = 2000
SHOWN = 8


class PathCheck(NamedTuple):
    """One path with the nodes that block it, each with its reason."""

    nodes: tuple[str, ...]
    blocked: tuple[tuple[str, str], ...]  # (node, why)


class DSeparation(Picture):
    """The graph, the query, and all paths."""

    nodes: tuple[tuple[str, float, float], ...]
    edges: tuple[tuple[str, str, tuple[tuple[float, float], ...]], ...]
    a: str
    b: str
    given: tuple[str, ...]
    separated: bool
    paths: tuple[PathCheck, ...]  # open ones first, then the shorter

    def plot(self, ax: Any = None) -> Any:
        place = {name: (x, y) for name, x, y in self.nodes}
        size = {name: name_size(name) for name in place}
        lines = self._lines()
        wide = 0.0675 * max(len(text) for text, _ in lines) + 0.3
        ax, scale = sheet(ax, place, size, below=0.2 * (len(lines) + 1), least=wide)
        lit = self._lit()
        for a, b, bends in self.edges:
            tint, lw = lit.get(frozenset((a, b)), (GREY, 1.2))
            draw_edge(ax, (place[a], place[b]), (size[a], size[b]), bends=bends, colour=tint, lw=lw)
        stops = {node for path in self.paths for node, _ in path.blocked}
        for name, at in place.items():
            end = name in (self.a, self.b)
            fill = "#9CA3AF" if name in self.given else "#DBEAFE" if end else "white"
            stop = name in stops
            width, edge = (2.2, colour(1)) if stop else (1.4, "black")
            look: dict[str, Any] = {"fill": fill, "scale": scale, "lw": width, "edge": edge}
            draw_node(ax, at, size[name], name, weight="bold" if end else "normal", **look)
        left, top = ax.get_xlim()[0] + 0.08, min(y for _, y in place.values()) - 0.62
        for i, (text, tint) in enumerate(lines):
            look = {"fontsize": max(LEAST, 8 * scale), "color": tint, "va": "center", "wrap": True}
            ax.text(left, top - 0.2 * i, text, **look)
        given = f" given {', '.join(self.given)}" if self.given else ""
        verdict = "are independent" if self.separated else "may depend"
        heading(ax, f"{self.a} and {self.b} {verdict}{given}")
        return ax

    def _lit(self) -> dict[frozenset[str], tuple[str, float]]:
        """Colours of edges on paths; an open path over a blocked one."""
        found: dict[frozenset[str], tuple[str, float]] = {}
        for path in reversed(self.paths):
            look = (colour(1), 1.8) if path.blocked else (colour(2), 2.8)
            found.update(dict.fromkeys(map(frozenset, pairwise(path.nodes)), look))
        return found

    def _lines(self) -> list[tuple[str, str]]:
        """What is written below the graph, with its colour: every path and its verdict."""
        found = []
        for path in self.paths[:SHOWN]:
            why = "; ".join(f"{node} {reason}" for node, reason in path.blocked[:2])
            said = f"blocked: {why}" if path.blocked else "open"
            found.append((f"{' – '.join(path.nodes)}   {said}", colour(1 if path.blocked else 2)))
        more = len(self.paths) - len(found)
        if more or not found:
            found.append((f"and {more} more paths" if more else "there is no path", GREY))
        return found


def simple_paths(dag: DAG, a: Any, b: Any) -> Iterator[list[Any]]:
    """Paths from a to b along edges of either direction, no node twice."""
    near = {v: [*dag._parents[v], *dag._children[v]] for v in dag.nodes}
    stack = [[a]]
    while stack:
        path = stack.pop()
        if path[-1] == b:
            yield path
            continue
        stack += [[*path, v] for v in reversed(near[path[-1]]) if v not in path]


def check_path(dag: DAG, path: list[Any], given: frozenset[Any]) -> PathCheck:
    """Which nodes block a path, and why."""
    blocked = []
    for before, node, after in zip(path, path[1:], path[2:], strict=False):
        kind = dag.connection(before, node, after)
        if kind == "head-to-head":
            if node not in given and not given & dag.descendants(node):
                why = "is head-to-head, neither it nor a descendant given"
                if not dag.children(node):
                    why = "is head-to-head and not given"
                blocked.append((str(node), why))
        elif node in given:
            blocked.append((str(node), f"is {kind} and given"))
    return PathCheck(tuple(map(str, path)), tuple(blocked))


def d_separation(N: Any, a: Any, b: Any, given: Any = ()) -> DSeparation:
    """Open and blocked paths between two variables.

    ``N``: BayesianNetwork, DAG, list of edges, or fitted structure learner; ``a``, ``b``: names of
    two variables; ``given``: name or names that are observed.

    Examples
    --------
    >>> from pellucid.plots import d_separation
    >>> graph = [("A", "E"), ("F", "E"), ("F", "B"), ("E", "C")]
    >>> picture = d_separation(graph, "A", "B", given="F")
    >>> picture.separated, picture.paths[0].blocked[0]
    (True, ('E', 'is head-to-head, neither it nor a descendant given'))
    """
    dag = graph_of(N)
    seen = dag._check(given)
    (start,), (end,) = dag._check([a]), dag._check([b])
    separated = dag.d_separated(start, end, given=seen)
    checks: list[PathCheck] = []
    for path in simple_paths(dag, start, end):
        if len(checks) == MOST_PATHS:
            raise ValueError(f"the graph has more than {MOST_PATHS} paths between {a!r} and {b!r}")
        checks.append(check_path(dag, path, frozenset(seen)))
    checks.sort(key=lambda path: (bool(path.blocked), len(path.nodes)))
    names = {v: str(v) for v in dag.nodes}
    found = layered(dag.nodes, dag.sorted_edges, {v: name_size(names[v]) for v in dag.nodes})
    free = sum(not path.blocked for path in checks)
    condition = f" given {', '.join(map(str, seen))}" if seen else ""
    alt = (
        f"{a} and {b} are {'' if separated else 'not '}d-separated{condition}: {len(checks)} paths "
        f"between them, {free} open and {len(checks) - free} blocked."
    )
    nodes = tuple((names[v], *found.place[v]) for v in dag.nodes)
    edges = tuple((names[p], names[c], found.bends[p, c]) for p, c in dag.sorted_edges)
    paths = tuple(checks)
    return DSeparation(
        alt, nodes, edges, names[start], names[end], tuple(names[v] for v in seen), separated, paths
    )
