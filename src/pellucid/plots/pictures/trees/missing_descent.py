"""How an example with missing values goes down a tree, in fractions.

At a question whose answer is missing, the example goes to every child with the child's share of
the training rows whose value is known (``missing="fractions"``), or whole to one of them.
"""

from typing import Any

import numpy as np

from pellucid.core.arrays.frames import is_frame
from pellucid.core.arrays.typing import Array, ArrayLike, Model
from pellucid.plots.panels.diagrams import Diagram, draw_edges, frame, layout, shade, size, the_tree
from pellucid.plots.panels.marks import words, write
from pellucid.plots.panels.style import Axes, Picture, axes, heading
from pellucid.tree.multiway.multiway import branches_of
from pellucid.tree.record import Tree


class MissingDescent(Picture):
    """The fraction of the example at each node drawn, and what is answered."""

    diagram: Diagram
    weight: Array  # (m,) of the example at each node drawn
    ending: Array  # (m,) of the example that ends there
    answer: str
    shares: Array  # (k,) of the classes; a regression: (1,) the prediction
    asked: tuple[str, ...]  # questions without an answer

    def plot(self, ax: Axes | None = None) -> Any:
        """Lines as thick as the fraction that takes them."""
        d = self.diagram
        ax = axes(ax, figsize=size(d))
        draw_edges(ax, d, self.weight)
        for i, question in enumerate(d.questions):
            there = self.weight[i] > 0
            ink, width, edge = ("black", 1.8, "#6B7280") if there else ("#9CA3AF", 0.8, "#D1D5DB")
            edge = shade(d, i) if there and not question else edge
            box = {"boxstyle": "round,pad=0.3", "fc": "white", "lw": width, "ec": edge}
            write(
                ax, d.x[i], d.y[i] + 0.08, question or d.answers[i], zorder=3, color=ink, bbox=box
            )
            if there:
                look = {
                    "va": "top",
                    "weight": "bold" if self.ending[i] > 0 else "normal",
                    "zorder": 3,
                }
                box = {"boxstyle": "square,pad=0.1", "fc": "white", "ec": "none"}
                write(ax, d.x[i], d.y[i] - 0.12, f"{self.weight[i]:.3g}", bbox=box, **look)
        frame(ax, d)
        heading(ax, self.title, self.note)
        return ax


def _row(x: Any, names: Any) -> Any:
    """One row as a table: a row, a table of one row, or {"column": value}."""
    if isinstance(x, dict):
        import polars

        return polars.DataFrame({name: [value] for name, value in x.items()})
    if is_frame(x):
        if len(x) != 1:
            raise ValueError(f"x must be one row, got {len(x)}")
        return x
    cells = np.asarray(x, dtype=object)
    if cells.ndim == 2 and len(cells) != 1:
        raise ValueError(f"x must be one row, got {len(cells)}")
    cells = cells.reshape(1, -1)
    if names is not None and len(names) == cells.shape[1]:
        return _row(dict(zip(map(str, names), cells[0], strict=True)), None)
    return cells


def _weights(model: Model, row: Any) -> tuple[Array, Array, list[int]]:
    """Weight of the row at every node, weight that ends there, and nodes without an answer."""
    tree = model.tree_
    weight, ending, asked = np.zeros(tree.node_count), np.zeros(tree.node_count), []
    if isinstance(tree, Tree):
        table = row if is_frame(row) else np.asarray(row, dtype=np.float64)
        nodes = model.decision_path(table).indices
        cells = np.asarray(table, dtype=np.float64)[0]
        weight[nodes] = 1.0
        ending[nodes.max()] = 1.0
        asked = [i for i in nodes if tree.feature[i] >= 0 and np.isnan(cells[tree.feature[i]])]
        return weight, ending, asked
    columns, one = model._columns(row), np.zeros(1, np.intp)
    weight[0] = 1.0
    for i in range(tree.node_count):  # parents come first
        if weight[i] == 0:
            continue
        if tree.feature[i] < 0:
            ending[i] = weight[i]
            continue
        branch, lost = branches_of(tree, i, columns, one)
        children = tree.children_of(i)
        if lost[0]:
            asked.append(i)
            if model.missing == "fractions":
                weight[children] = weight[i] * tree.share[children]
            else:
                weight[tree.default[i]] = weight[i]
            continue
        taken = children[tree.branch[children] == branch[0]]
        weight[taken] = weight[i]
        if len(taken) == 0:  # a category that the node has not seen
            ending[i] = weight[i]
    return weight, ending, asked


def missing_descent(E: Model, x: ArrayLike) -> MissingDescent:
    """The way of one example with missing values down a tree.

    ``E``: fitted tree of ``pellucid.tree``; ``x``: one row: a list, a table of one row, or
    {"column": value}; None or NaN where missing.

    Examples
    --------
    >>> from pellucid import MultiwayTreeClassifier
    >>> from pellucid.plots import missing_descent
    >>> X, y = [["a"], ["a"], ["a"], ["b"]], ["yes", "yes", "yes", "no"]
    >>> picture = missing_descent(MultiwayTreeClassifier("gini").fit(X, y), [None])
    >>> picture.weight.tolist(), picture.answer
    ([1.0, 0.75, 0.25], 'yes')
    """
    model = the_tree(E)
    row = _row(x, getattr(model, "feature_names_in_", None))
    weight, ending, asked = _weights(model, row)
    d = layout(model, max(model.get_depth(), 1))
    shares = ending @ np.asarray(model.tree_.value)[:, 0]
    answer = d.classes[int(shares.argmax())] if d.classes else f"{shares[0]:.4g}"
    first = list(dict.fromkeys(d.questions[int(np.flatnonzero(d.node == i)[0])] for i in asked))
    ends = int((ending > 0).sum())
    title = f"The example ends in {ends} place{'s' if ends > 1 else ''}; the answer is {answer}"
    if d.classes:
        said = words([f"{c} {s:.3g}" for c, s in zip(d.classes, shares, strict=True)])
        title += f" ({said})"
    note = f"missing: {words(first)}" if first else "no question on its way lacks an answer"
    alt = f"{title}; {note}."
    return MissingDescent(
        alt, d, weight[d.node], ending[d.node], answer, shares, tuple(first), title=title, note=note
    )
