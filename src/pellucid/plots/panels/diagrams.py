"""A decision tree laid out on the page: places of its nodes, their words and their shares.

Leaves stand side by side, a node above the middle of its children, one level below the other.
"""

from typing import Any, NamedTuple

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils.validation import check_is_fitted

from pellucid.core.arrays.typing import Array, BoolArray, IntArray, Model
from pellucid.plots.panels.inputs import model_names
from pellucid.plots.panels.marks import write
from pellucid.plots.panels.planes import MOST_CLASSES
from pellucid.plots.panels.style import GREY, LEAST, Axes, colour
from pellucid.tree.multiway.record import MultiwayTree
from pellucid.tree.record import Tree
from pellucid.tree.rules import edges, leaf_label

MOST_ENDS = 24  # boxes in the lowest row that can still be read
BELOW, ABOVE = 0.34, 0.2  # where lines leave the words of a node and reach those of the next


class Diagram(NamedTuple):
    """Nodes that are drawn, parents first."""

    node: IntArray  # (m,) numbers in the tree
    parent: IntArray  # (m,) places in this diagram, -1 for the root
    x: Array  # (m,)
    y: Array  # (m,) 0 for the root, -1 for its children, ...
    questions: tuple[str, ...]  # the feature that is asked, "" where a path ends
    branches: tuple[str, ...]  # what leads here: "<= 2", "> 2", "Sunny"
    answers: tuple[str, ...]  # what the tree would answer here
    counts: IntArray  # (m,) training rows
    shares: Array  # (m, k) of the classes; a regression: (m, 1) the value
    cut: BoolArray  # (m,) ends here in the picture, goes on in the tree
    classes: tuple[str, ...]  # () for a regression

    @property
    def ends(self) -> int:
        """How many paths end in the picture."""
        return sum(not question for question in self.questions)


def the_tree(E: Model) -> Any:
    """The model that holds the tree: the estimator, or the one that pruning made."""
    check_is_fitted(E)
    model = getattr(E, "estimator_", E)
    if not isinstance(getattr(model, "tree_", None), Tree | MultiwayTree):
        raise ValueError(f"it needs a fitted tree of pellucid.tree, got {type(E).__name__}")
    if model.tree_.value.shape[1] > 1:
        raise ValueError(f"the picture needs one target, got {model.tree_.value.shape[1]}")
    return model


def _depths(model: Model, names: tuple[str, ...]) -> tuple[IntArray, list[list[tuple[int, str]]]]:
    """Depth of every node, and its children with what leads to them."""
    n = model.tree_.node_count
    depth = np.zeros(n, np.intp)
    children: list[list[tuple[int, str]]] = [[] for _ in range(n)]
    for parent, child, condition in edges(model, names):
        depth[child] = depth[parent] + 1
        value = condition.value
        plain = condition.op in ("=", "in")
        said = condition.said if plain else f"{condition.op} {value:.4g}"
        children[parent].append((child, said.replace("<=", "≤")))
    return depth, children


def deepest(depth: IntArray, inner: BoolArray) -> int:
    """The last level that keeps the picture readable."""
    for level in range(1, int(depth.max()) + 1):
        ends = int(((depth <= level) & ~inner).sum() + ((depth == level) & inner).sum())
        if ends > MOST_ENDS:
            return max(level - 1, 1)
    return int(depth.max())


def layout(model: Model, max_depth: int | None = None) -> Diagram:
    """Where the nodes of a fitted tree stand, down to a level."""
    names, tree = model_names(model), model.tree_
    depth, children = _depths(model, names)
    inner = np.asarray(tree.feature) >= 0
    last = deepest(depth, inner) if max_depth is None else max_depth
    kept = np.flatnonzero(depth <= last)
    place = {int(node): i for i, node in enumerate(kept)}
    parent, branches = np.full(len(kept), -1, np.intp), [""] * len(kept)
    for i, node in enumerate(kept.tolist()):
        for child, said in children[node]:
            if child in place:
                parent[place[child]], branches[place[child]] = i, said
    goes_on = inner[kept] & (depth[kept] < last)
    x, ends = np.zeros(len(kept)), 0
    for i in range(len(kept)):  # preorder: ends come from left to right
        if not goes_on[i]:
            x[i], ends = ends, ends + 1
    for i in range(len(kept) - 1, -1, -1):
        if goes_on[i]:
            x[i] = x[parent == i][[0, -1]].mean()
    values = np.asarray(tree.value)[kept, 0]
    classes = tuple(map(str, model.classes_.tolist())) if is_classifier(model) else ()
    answers = [leaf_label(model, int(node)) for node in kept]
    questions = (names[tree.feature[n]] if on else "" for n, on in zip(kept, goes_on, strict=True))
    spoken = tuple(str(a) if classes else f"{a:.4g}" for a in answers)
    counts = np.asarray(tree.n_node_samples)[kept].astype(np.intp)
    y, cut = -depth[kept].astype(np.float64), inner[kept] & ~goes_on
    words = (tuple(questions), tuple(branches), spoken)
    return Diagram(kept, parent, x, y, *words, counts, values, cut, classes)


def shade(diagram: Diagram, i: int) -> Any:
    """The colour of what a node answers: of its class, or of its value."""
    if diagram.classes:
        return colour(int(diagram.shares[i].argmax()) % MOST_CLASSES)
    import matplotlib as mpl

    values = diagram.shares[:, 0]
    span = float(values.max() - values.min()) or 1.0
    return mpl.colormaps["Blues"](0.15 + 0.6 * float(values[i] - values.min()) / span)


def draw_edges(ax: Axes, diagram: Diagram, weight: Array | None = None) -> None:
    """Lines from parents to children with what leads there; as thick as the weight, if given."""
    for i, above in enumerate(diagram.parent):
        if above < 0:
            continue
        low, high = diagram.y[above] - BELOW, diagram.y[i] + ABOVE
        ends = ([diagram.x[above], diagram.x[i]], [low, high])
        width, tint = 1.0, GREY
        if weight is not None:
            width, tint = (0.8 + 7 * weight[i], colour(0)) if weight[i] > 0 else (0.6, "#D1D5DB")
        ax.plot(*ends, color=tint, lw=width, zorder=1, solid_capstyle="round")
        x, y = (0.5 * ends[0][0] + 0.5 * ends[0][1], 0.5 * low + 0.5 * high)
        side = "right" if ends[0][1] < ends[0][0] else "left"  # beside the line, not on it
        x += (-0.05 if side == "right" else 0.05) * (1 + (0 if weight is None else weight[i]))
        box = {"boxstyle": "round,pad=0.12", "fc": "white", "ec": "none"}
        write(
            ax, x, y, diagram.branches[i], ha=side, va="bottom", fontsize=LEAST, zorder=2, bbox=box
        )


def draw_shares(ax: Axes, diagram: Diagram, i: int, width: float, height: float, y: float) -> None:
    """A bar with the shares of the classes at a node."""
    left = diagram.x[i] - width / 2
    for k, share in enumerate(diagram.shares[i]):
        if share > 0:
            ax.barh(y, share * width, height, left=left, color=colour(k), zorder=4, lw=0)
            left += share * width
    ax.barh(
        y, width, height, left=diagram.x[i] - width / 2, fc="none", ec="black", lw=0.5, zorder=5
    )


def frame(ax: Axes, diagram: Diagram) -> None:
    """No axes, room round the boxes."""
    ax.set_axis_off()
    ax.set_xlim(diagram.x.min() - 0.6, diagram.x.max() + 0.6)
    ax.set_ylim(diagram.y.min() - 0.55, 0.45)


def size(diagram: Diagram) -> tuple[float, float]:
    """A figure large enough for the boxes."""
    levels = 1 - float(diagram.y.min())
    return max(5.0, 1.05 * diagram.ends + 0.8), max(2.6, 1.3 * levels + 0.8)
