"""How long the edge of a cube must be to hold a share of evenly spread data: r^(1/p)."""

from typing import Any

import numpy as np

from pellucid.core.arrays.typing import Array
from pellucid.plots.panels.style import GREY, Axes, Panel, colour, heading, legend

LINES = ("-", "--", "-.", ":")


class HypercubeEdge(Panel):
    fractions: Array  # (k,) marked
    p: tuple[int, ...]
    edge: Array  # (len(p), k)

    def _draw(self, ax: Axes) -> None:
        r = np.linspace(0, 1, 401)
        for k, p in enumerate(self.p):
            ax.plot(r, r ** (1 / p), color=colour(k), lw=1.8, ls=LINES[k % 4], label=f"p = {p}")
            ax.plot(self.fractions, self.edge[k], "o", ms=5, color=colour(k))
        for share in self.fractions:
            ax.axvline(share, color=GREY, lw=0.7, ls=":")
        ax.set(xlabel="share of the data", ylabel="edge of the cube", xlim=(0, 1), ylim=(0, 1.03))
        heading(ax, "In many dimensions a neighbourhood is not local")
        legend(ax, title="dimensions", loc="lower right")


def hypercube_edge(fractions: Any = (0.01, 0.1, 0.3), p: Any = (1, 2, 3, 10)) -> HypercubeEdge:
    """The edge of a sub-cube of the unit cube that holds a share of its volume.

    ``fractions``: numbers between 0 and 1; ``p``: numbers of dimensions.

    Examples
    --------
    >>> from pellucid.plots import hypercube_edge
    >>> hypercube_edge([0.01, 0.1], [10]).edge.round(2)
    array([[0.63, 0.79]])
    """
    r = np.unique(np.asarray(fractions, dtype=np.float64))
    dims = [int(k) for k in np.atleast_1d(p)]
    if not len(r) or not ((r > 0) & (r <= 1)).all():
        raise ValueError(f"fractions must be above 0 and at most 1, got {fractions!r}")
    if not dims or min(dims) < 1:
        raise ValueError(f"p must be numbers of dimensions >= 1, got {p!r}")
    edge = np.array([r ** (1 / k) for k in dims])
    said = "; ".join(f"in {k} dimensions {e[-1]:.3g}" for k, e in zip(dims, edge, strict=True))
    alt = f"Edge of the cube that holds {r[-1]:.0%} of evenly spread data: {said}."
    return HypercubeEdge(alt, r, tuple(dims), edge)
