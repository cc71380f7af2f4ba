"""A decision tree as a diagram, as text and as a formula for every answer."""

from typing import Any

from pellucid.core.arrays import check
from pellucid.plots.panels import diagrams
from pellucid.plots.panels.marks import PLATE, write
from pellucid.plots.panels.style import LEAST, Axes, Picture, axes, colour, heading
from pellucid.tree.rules import export_dnf, export_rules, export_text

WIDTH = 0.84  # of a share bar; neighbouring leaves are 1 apart


class Tree(Picture):
    diagram: diagrams.Diagram
    n_nodes: int  # of the whole tree
    depth: int
    text: str  # the whole tree, indented
    dnf: dict[str, str]  # for every answer of a classifier: when it is given

    def plot(self, ax: Axes | None = None) -> Any:
        """The feature asked at each node, rows and share bars, answers where a path ends."""
        d = self.diagram
        ax = axes(ax, figsize=diagrams.size(d))
        diagrams.draw_edges(ax, d)
        for i, question in enumerate(d.questions):
            said = question or f"{d.answers[i]}{' …' if d.cut[i] else ''}"
            box = {"boxstyle": "round,pad=0.3", "fc": "white", "ec": "#6B7280", "lw": 0.8}
            if not question:
                box |= {"ec": diagrams.shade(d, i), "lw": 1.8}
                if not d.classes:
                    box["fc"] = diagrams.shade(d, i)
            write(ax, d.x[i], d.y[i] + 0.12, said, zorder=3, bbox=box)
            low = d.y[i] - 0.16 if d.classes else d.y[i] - 0.1
            if d.classes:
                diagrams.draw_shares(ax, d, i, WIDTH if not question else 0.7, 0.09, low)
            note = f"{d.counts[i]} row{'' if d.counts[i] == 1 else 's'}" + (
                "" if d.classes or not question else f", mean {d.answers[i]}"
            )
            box, small = PLATE | {"alpha": 0.8}, LEAST
            write(ax, d.x[i], low - 0.07, note, va="top", fontsize=small, zorder=3, bbox=box)
        diagrams.frame(ax, d)
        if d.classes:
            keys = [ax.bar([0], [0], color=colour(k), label=c) for k, c in enumerate(d.classes)]
            ax.legend(handles=keys, loc="upper right", frameon=False, fontsize="small")
        heading(ax, self.title, self.note)
        return ax


def tree(E: Any, *, max_depth: int | None = None) -> Tree:
    """The diagram of a tree with the rows and class shares of each node.

    ``E``: fitted tree of ``pellucid.tree``, or ReducedErrorPruning. ``max_depth``: the last level
    drawn. Default: as deep as can be read; what goes on is marked "…". ``text`` and ``dnf`` always
    hold the whole tree.

    Examples
    --------
    >>> from pellucid import DecisionTreeClassifier
    >>> from pellucid.plots import tree
    >>> picture = tree(DecisionTreeClassifier().fit([[1.0], [2.0], [3.0]], ["a", "b", "b"]))
    >>> picture.dnf, picture.diagram.branches
    ({'a': '(x0 <= 1.5)', 'b': '(x0 > 1.5)'}, ('', '≤ 1.5', '> 1.5'))
    """
    model = diagrams.the_tree(E)
    if max_depth is not None:
        check.whole(max_depth=max_depth)
    d = diagrams.layout(model, max_depth)
    n, depth = model.tree_.node_count, model.get_depth()
    labels = model.classes_.tolist() if d.classes else []
    dnf = {str(c): export_dnf(model, c) for c in labels}
    leaves = model.get_n_leaves()
    title = f"{type(model).__name__}: {leaves} lea{'f' if leaves == 1 else 'ves'}, depth {depth}"
    note = f"the first {-int(d.y.min())} levels of {depth}" if d.cut.any() else ""
    rules = "; ".join(str(rule) for rule in export_rules(model)[:4])
    alt = f"Decision tree with {n} nodes. {rules}{' ...' if leaves > 4 else ''}."
    return Tree(alt, d, n, depth, export_text(model), dnf, title=title, note=note)
