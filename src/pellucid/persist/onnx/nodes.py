r"""Trees in ONNX's layout, and their sum in the order in which Pellucid adds.

    questions    x[feature] <= threshold goes left; a missing cell where ``missing_left`` says
    leaves       numbered apart from the questions, over all trees; a child c < 0 is leaf ~c

The operator TreeEnsemble adds up its trees in any order. So each tree writes to a column of its
own, and a running sum along these columns adds them in theirs: the answer has the same bits.
A question about a set of levels becomes one about a new column, 0 where the cell goes left.
"""

from typing import Any, NamedTuple

import numpy as np

from pellucid.core.arrays.typing import Array
from pellucid.persist.onnx.graph import TREES, Graph

COLUMNS = 256  # of a running sum at a time: what bounds the memory of a prediction
LEQ = 0  # the mode x <= threshold


class Levels(NamedTuple):
    """A question about levels: its column, and which levels go right (the last: any other cell)."""

    question: int
    column: int
    right: Any  # (levels + 1,) float64


class Nodes(NamedTuple):
    """All trees of a model, one after the other; tree t begins at the starts' entries t."""

    question_start: Any  # (trees + 1,)
    leaf_start: Any  # (trees + 1,)
    feature: Any  # (questions,)
    threshold: Array
    missing_left: Any
    left: Any
    right: Any
    value: Array  # (leaves, width)

    @property
    def n_trees(self) -> int:
        return len(self.leaf_start) - 1


def from_preorder(start: Any, nodes: Any, value: Array) -> Nodes:
    """Columns of nodes in preorder: (feature, threshold, missing_left, right within the tree)."""
    feature, threshold, missing_left, right = nodes
    asks = feature >= 0
    question, leaf = np.cumsum(asks) - asks, np.cumsum(~asks) - ~asks
    number = np.where(asks, question, ~leaf)
    inner = np.flatnonzero(asks)
    first = np.repeat(start[:-1], np.diff(start))
    return Nodes(
        np.append(question, asks.sum())[start],
        np.append(leaf, (~asks).sum())[start],
        feature[inner],
        threshold[inner],
        missing_left[inner],
        number[inner + 1],
        number[first[inner] + right[inner]],
        value[~asks],
    )


def from_boosting(trees: Any, edges: Array, start: Array) -> Nodes:
    """Columns of trees on bins, after one tree without questions for each score of ``start``."""
    sizes, K = np.diff(trees.node_start), len(start)
    node, leaf = (np.repeat(first[:-1], sizes) for first in (trees.node_start, trees.leaf_start))
    left, right = (
        np.where(child >= 0, child + node, child - leaf - K) for child in (trees.left, trees.right)
    )
    return Nodes(
        np.concatenate([np.zeros(K, np.int64), trees.node_start]),
        np.concatenate([np.arange(K), trees.leaf_start + K]),
        trees.feature,
        edges[trees.feature, trees.threshold],
        trees.missing_left,
        left,
        right,
        np.concatenate([start, trees.value])[:, None],
    )


def part_of(nodes: Nodes, first: int, last: int) -> Nodes:
    """The trees [first, last), each with a question: a lone leaf gets one with a single answer."""
    q0, q1 = nodes.question_start[[first, last]].tolist()
    l0, l1 = nodes.leaf_start[[first, last]].tolist()
    asked = slice(q0, q1)
    left, right = (
        np.where(child[asked] >= 0, child[asked] - q0, child[asked] + l0)
        for child in (nodes.left, nodes.right)
    )
    starts = nodes.question_start[first : last + 1] - q0
    leaf_start = nodes.leaf_start[first : last + 1] - l0
    lone = np.flatnonzero(np.diff(starts) == 0)
    only, none = ~leaf_start[lone], np.zeros(len(lone))
    return Nodes(
        np.where(np.diff(starts) == 0, q1 - q0 + np.cumsum(np.diff(starts) == 0) - 1, starts[:-1]),
        leaf_start,
        np.append(nodes.feature[asked], none),
        np.append(nodes.threshold[asked], none),
        np.append(nodes.missing_left[asked], none),
        np.append(left, only),
        np.append(right, only),
        nodes.value[l0:l1],
    )


def tree_columns(g: Graph, x: str, part: Nodes) -> str:
    """The value of each row's leaf, a column per tree: (n, trees), or (n, trees, width)."""
    width = part.value.shape[1]
    leaves = np.arange(len(part.value), dtype=np.float64)

    def whole(values: Array) -> Any:
        return np.asarray(values).astype(np.int64)

    found = g.op(
        "TreeEnsemble",
        x,
        domain=TREES,
        n_targets=part.n_trees,
        aggregate_function=1,
        post_transform=0,
        tree_roots=whole(part.question_start),
        nodes_modes=np.full(len(part.feature), LEQ, np.uint8),
        nodes_featureids=whole(part.feature),
        nodes_splits=np.asarray(part.threshold, np.float64),
        nodes_missing_value_tracks_true=whole(part.missing_left),
        nodes_truenodeids=whole(np.where(part.left < 0, ~part.left, part.left)),
        nodes_falsenodeids=whole(np.where(part.right < 0, ~part.right, part.right)),
        nodes_trueleafs=whole(part.left < 0),
        nodes_falseleafs=whole(part.right < 0),
        leaf_targetids=np.repeat(np.arange(part.n_trees), np.diff(part.leaf_start)),
        leaf_weights=part.value[:, 0].copy() if width == 1 else leaves,
    )
    if width == 1:
        return found
    place = g.op("Cast", found, to=g.onnx.TensorProto.INT64)
    return g.op("Gather", part.value, place, axis=0)


def tree_sum(g: Graph, x: str, nodes: Nodes, n_scores: int) -> str:
    """The sum of the trees, (n, scores); trees of width 1 belong to the scores in turn."""
    width = nodes.value.shape[1]
    turn = n_scores if width == 1 else 1  # trees that are added at once
    step = turn * max(1, COLUMNS // n_scores)
    running = ""
    for first in range(0, nodes.n_trees, step):
        last = min(first + step, nodes.n_trees)
        found = tree_columns(g, x, part_of(nodes, first, last))
        if width == 1:
            found = g.op("Reshape", found, np.array([0, (last - first) // turn, n_scores]))
        if running or last - first > turn:
            found = g.op("Concat", running, found, axis=1) if running else found
            found = g.op("Gather", g.op("CumSum", found, np.array(1)), np.array([-1]), axis=1)
        running = found
    return g.column(running)


def with_levels(
    g: Graph, x: str, nodes: Nodes, asked: list[Levels], values: dict[int, Array], p: int
) -> tuple[str, Nodes]:
    """x with a column for each set of levels, and the questions that ask about these."""
    feature, threshold = nodes.feature.copy(), nodes.threshold.copy()
    parts, end = [x], p
    for j, known in sorted(values.items()):
        mine = [one for one in asked if one.column == j]
        sets, place = np.unique([one.right for one in mine], axis=0, return_inverse=True)
        hit = g.op("Equal", g.take(x, [j]), known[None])
        hit = g.op("Cast", hit, to=g.onnx.TensorProto.DOUBLE)  # (n, levels), one 1 at most
        other = g.op("Sub", 1.0, g.op("ReduceSum", hit, np.array([1])))
        parts.append(
            g.op("Add", g.op("MatMul", hit, sets[:, :-1].T), g.op("Mul", other, sets[None, :, -1]))
        )
        questions = [one.question for one in mine]
        feature[questions], threshold[questions] = end + place.ravel(), 0.5
        end += len(sets)
    x = g.join(*parts) if asked else x
    return x, nodes._replace(feature=feature, threshold=threshold)
