"""Which columns depend on each other given all others: an inverse covariance as a graph."""

from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from pellucid.core.arrays.typing import Array, IntArray, Model
from pellucid.plots.panels.graphs import draw_edge, draw_node, name_size, sheet
from pellucid.plots.panels.inputs import given_names, last_step, model_names
from pellucid.plots.panels.marks import words
from pellucid.plots.panels.style import Picture, colour, heading, legend

MOST_NODES = 60
THIN, THICK = 0.7, 5.0  # points of lines of partial correlations 0 and 1


class DependenceGraph(Picture):
    """Columns on a circle; a line for every cell of the inverse that is not 0."""

    names: tuple[str, ...]
    partial: Array  # (p, p) correlations given all other columns
    place: Array  # (p, 2) in inches

    def plot(self, ax: Any = None) -> Any:
        size = {j: name_size(name) for j, name in enumerate(self.names)}
        place = {j: (float(x), float(y)) for j, (x, y) in enumerate(self.place)}
        ax, scale = sheet(ax, place, size, below=0.3)
        i, j = edges_of(self.partial)
        for a, b in zip(i.tolist(), j.tolist(), strict=True):
            r = float(self.partial[a, b])
            look: dict[str, Any] = {"colour": colour(0 if r > 0 else 1), "dashed": r < 0}
            width = THIN + (THICK - THIN) * abs(r)
            draw_edge(ax, (place[a], place[b]), (size[a], size[b]), style="-", lw=width, **look)
        for node, name in enumerate(self.names):
            draw_node(ax, place[node], size[node], name, fill="#E8F1F8", scale=scale)
        shown = [(0, "-", "rise together"), (1, "--", "one falls as the other rises")]
        signs = [bool((self.partial[i, j] > 0).any()), bool((self.partial[i, j] < 0).any())]
        for (tint, style, label), there in zip(shown, signs, strict=True):
            if there:
                ax.plot([], [], color=colour(tint), ls=style, lw=2, label=label)
        if any(signs):
            legend(ax, loc="lower center", ncols=2)
        heading(ax, self.title, self.note)
        return ax


def edges_of(partial: Array) -> tuple[IntArray, IntArray]:
    """The pairs with a correlation, each once."""
    i, j = np.nonzero(np.triu(partial, 1))
    return i, j


def dependence_graph(E: Model) -> DependenceGraph:
    """The graph of columns that depend on each other given all others.

    ``E``: fitted GraphicalLasso or GraphicalLassoCV, or another estimator of a covariance, alone
    or at the end of a pipeline. The thicker a line, the larger the partial correlation
    -T_ij / sqrt(T_ii T_jj) of the inverse covariance T.

    Examples
    --------
    >>> import numpy as np
    >>> from pellucid import GraphicalLasso
    >>> from pellucid.plots import dependence_graph
    >>> S = [[1.0, 0.6, -0.36], [0.6, 1.0, -0.6], [-0.36, -0.6, 1.0]]  # a chain
    >>> picture = dependence_graph(GraphicalLasso(0.3, covariance="precomputed").fit(S))
    >>> picture.partial.round(2)
    array([[ 0.  ,  0.29,  0.  ],
           [ 0.29,  0.  , -0.29],
           [ 0.  , -0.29,  0.  ]])
    """
    model = last_step(E)
    if not hasattr(model, "get_precision"):
        name = type(model).__name__
        raise ValueError(f"dependence_graph needs an estimator with get_precision, got {name}")
    T, names = np.asarray(model.get_precision()), model_names(model)
    if isinstance(E, Pipeline) and len(E) > 1 and hasattr(E[:-1], "get_feature_names_out"):
        names = given_names(E[:-1].get_feature_names_out(), len(T))
    p = len(names)
    if not 2 <= p <= MOST_NODES:
        raise ValueError(f"the picture shows 2 to {MOST_NODES} columns, got {p}")
    d = np.sqrt(np.diag(T))
    partial = -T / np.outer(d, d)
    np.fill_diagonal(partial, 0.0)
    partial = np.where(partial == 0, 0.0, partial)  # no -0
    wide = sum(name_size(name)[0] + 0.25 for name in names)
    angle = np.pi / 2 - 2 * np.pi * np.arange(p) / p
    radius = max(1.2, wide / (2 * np.pi))
    place = radius * np.column_stack([1.3 * np.cos(angle), np.sin(angle)])
    i, j = edges_of(partial)
    order = np.argsort(-np.abs(partial[i, j]), kind="stable")[:6]
    told = [f"{names[i[k]]} and {names[j[k]]} {partial[i[k], j[k]]:.2f}" for k in order]
    pairs = p * (p - 1) // 2
    title = f"{len(i)} of {pairs} pairs of columns depend on each other given the rest"
    strongest = f"; the strongest: {words(told)}" if told else ""
    alt = f"Graph of {p} columns: {title[0].lower()}{title[1:]}{strongest}."
    note = "thickness: partial correlation" if told else ""
    return DependenceGraph(alt, names, partial, place, title=title, note=note)
