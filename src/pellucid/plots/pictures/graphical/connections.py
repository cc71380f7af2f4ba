"""The three ways two edges meet at a node, and when each lets dependence through."""

from typing import Any

from pellucid.graphical.graphs.dag import DAG
from pellucid.plots.panels.graphs import draw_edge, draw_node
from pellucid.plots.panels.style import Axes, Picture, Record, colour, panels

BELOW = {"A": (-1, 0.3), "B": (1, 0.3), "C": (0, -0.45), "D": (0, -1.25)}
KINDS = (
    ("tail-to-tail", ("CA", "CB"), "C", {"A": (-1, -1), "B": (1, -1), "C": (0, 0)}),
    ("head-to-tail", ("AC", "CB"), "C", {"A": (-1.2, 0), "C": (0, -0.5), "B": (1.2, -1)}),
    ("head-to-head", ("AC", "BC"), "C", {"A": (-1, 0), "B": (1, 0), "C": (0, -1)}),
    ("head-to-head, a descendant", ("AC", "BC", "CD"), "D", BELOW),
)
SIZE = (0.62, 0.52)


class Case(Record):
    """One connection with one node observed or nothing."""

    kind: str
    edges: tuple[tuple[str, str], ...]
    place: dict[str, tuple[float, float]]
    observed: tuple[str, ...]
    open: bool


class Connections(Picture):
    """Every kind, first without and then with an observed node."""

    cases: tuple[Case, ...]

    def plot(self) -> Any:
        """The figure: a column per kind, the row below with the node observed (grey)."""
        grid = panels(len(self.cases), columns=4, size=(2.7, 2.5))
        for ax, case in zip(grid, self.cases, strict=True):
            draw_case(ax, case)
        return grid[0].figure


def draw_case(ax: Axes, case: Case) -> None:
    tint = colour(2) if case.open else colour(1)
    for a, b in case.edges:
        draw_edge(ax, (case.place[a], case.place[b]), (SIZE, SIZE))
    for name, at in case.place.items():
        seen = name in case.observed
        fill = "#9CA3AF" if seen else "white"
        draw_node(ax, at, SIZE, name, fill=fill, edge="black", weight="bold" if seen else "normal")
    ax.set(xlim=(-1.75, 1.75), ylim=(-1.95, 0.8), aspect="equal")
    ax.axis("off")
    given = f" given {case.observed[0]}" if case.observed else ""
    ax.set_title(case.kind, fontsize="medium")
    verdict = "open: A and B may depend" if case.open else "blocked: A, B independent"
    y, text = -1.92, verdict + given
    ax.text(0, y, text, ha="center", va="bottom", color=tint, fontweight="bold", fontsize="small")


def connections() -> Connections:
    """Tail-to-tail, head-to-tail and head-to-head, open and blocked.

    Examples
    --------
    >>> from pellucid.plots import connections
    >>> [(case.observed, case.open) for case in connections().cases][2::4]
    [((), False), (('C',), True)]
    """
    cases = []
    for seen in (False, True):
        for kind, pairs, node, place in KINDS:
            edges = tuple((pair[0], pair[1]) for pair in pairs)
            observed = (node,) if seen else ()
            free = not DAG(edges).d_separated("A", "B", given=observed)
            cases.append(Case(kind, edges, dict(place), observed, free))
    said = "; ".join(
        f"{c.kind} with {'nothing' if not c.observed else c.observed[0]} observed is "
        f"{'open' if c.open else 'blocked'}"
        for c in cases
    )
    return Connections(f"The ways two edges meet: {said}.", tuple(cases))
