"""The flow chart of the Metropolis-Hastings algorithm."""

from itertools import pairwise
from typing import Any

from pellucid.plots.panels.style import GREY, Axes, Panel, colour, heading

# name, text, centre, kind
BOXES = (
    ("start", "start at θ with g(θ) > 0", (0.0, 6.0), "end"),
    ("propose", "propose θ′ ~ q(θ′ | θ)", (0.0, 4.8), "step"),
    ("ratio", "r = g(θ′) q(θ | θ′) / (g(θ) q(θ′ | θ))", (0.0, 3.6), "step"),
    ("draw", "draw u ~ Uniform(0, 1)", (0.0, 2.4), "step"),
    ("ask", "u ≤ min(1, r)?", (0.0, 1.1), "question"),
    ("accept", "accept: θ ← θ′", (-2.3, -0.3), "yes"),
    ("reject", "reject: keep θ", (2.3, -0.3), "no"),
    ("record", "record θ as the next draw", (0.0, -1.6), "step"),
    ("enough", "enough draws?", (0.0, -2.9), "question"),
    ("end", "drop the burn-in;\naverage over the rest", (0.0, -4.3), "end"),
)
ARROWS = (  # from, to, said beside it
    *((a, b, "") for a, b in pairwise(("start", "propose", "ratio", "draw", "ask"))),
    *(("ask", "accept", "yes"), ("ask", "reject", "no")),
    *((a, b, "") for a, b in (("accept", "record"), ("reject", "record"), ("record", "enough"))),
    *(("enough", "end", "yes"), ("enough", "propose", "no")),
)


class MetropolisFlow(Panel, size=(6.4, 8.0)):
    """Boxes with their places, and the arrows between them."""

    boxes: tuple[tuple[str, str, tuple[float, float], str], ...]
    arrows: tuple[tuple[str, str, str], ...]

    def _draw(self, ax: Axes) -> None:
        fill = {"end": "#E5E7EB", "step": "white", "question": "#FEF3C7", "yes": "#DBEAFE"}
        fill["no"] = "#FFE4D6"
        edge = {"yes": colour(0), "no": colour(1)}
        drawn = {}
        for name, text, at, kind in self.boxes:
            shape = "round,pad=0.5" if kind != "question" else "round4,pad=0.5"
            box = {"boxstyle": shape, "fc": fill[kind], "ec": edge.get(kind, GREY), "lw": 1.3}
            drawn[name] = ax.text(*at, text, ha="center", va="center", bbox=box, zorder=3)
        ax.set(xlim=(-4.6, 4.6), ylim=(-5.2, 6.7))
        ax.axis("off")
        heading(ax, "Metropolis-Hastings: draws from a density g known up to a factor", width=70)
        ax.figure.canvas.draw()  # the sizes of the boxes are needed for the arrows
        place = {name: spot for name, _, spot, _ in self.boxes}
        for a, b, word in self.arrows:
            self._arrow(ax, drawn, place, a, b, word)

    def _arrow(self, ax: Axes, drawn: Any, place: Any, a: str, b: str, word: str) -> None:
        (x0, y0), (x1, y1) = place[a], place[b]
        style = {"arrowstyle": "-|>", "color": "black", "lw": 1.2, "shrinkA": 0, "shrinkB": 2}
        style |= {"patchA": drawn[a].get_bbox_patch(), "patchB": drawn[b].get_bbox_patch()}
        if (a, b) == ("enough", "propose"):
            ends = {"arrowstyle": "-", "lw": 1.2, "shrinkA": 0, "shrinkB": 0}
            arrowprops = ends | {"patchA": drawn[a].get_bbox_patch()}
            ax.annotate("", (4.2, y0), (x0, y0), zorder=1, arrowprops=arrowprops)
            ax.plot([4.2, 4.2], [y0, y1], color="black", lw=1.2, zorder=1)
            head = {"arrowstyle": "-|>", "color": "black", "patchB": drawn[b].get_bbox_patch()}
            ax.annotate("", (x1, y1), (4.2, y1), zorder=1, arrowprops=ends | head)
            ax.text(1.6, y0 + 0.12, word, fontsize="small")
            return
        ax.annotate("", (x1, y1), (x0, y0), arrowprops=style, zorder=1)
        if word:
            shift = -0.15 if x1 < x0 else 0.15
            side = "right" if x1 < x0 else "left"
            ax.text((x0 + x1) / 2 + shift, (y0 + y1) / 2 + 0.05, word, fontsize="small", ha=side)


def metropolis_flow() -> MetropolisFlow:
    """The flow chart of the algorithm.

    Examples
    --------
    >>> from pellucid.plots import metropolis_flow
    >>> len(metropolis_flow().boxes), len(metropolis_flow().arrows)
    (10, 11)
    """
    texts = "; then ".join(text.replace("\n", " ") for _, text, _, _ in BOXES)
    return MetropolisFlow(f"Flow chart of Metropolis-Hastings: {texts}.", BOXES, ARROWS)
