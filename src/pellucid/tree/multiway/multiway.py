r"""ID3 and C4.5: one branch for every category.

Splitting    a categorical attribute makes one child for every value present at the node and is
             used once on a path; a numeric one is cut at a threshold where the label changes
             (C4.5: at any) and may recur
Criterion    entropy (ID3): information gain; gain_ratio (C4.5): gain / H_A; gini, squared_error:
             decrease of impurity
C4.5         gain_ratio asks only questions of at least average gain with two branches of two
             examples or more. A number is cut where the gain is greatest, with a tenth of a class's
             share (2 to 25 examples) on both sides; log2(cuts to choose from)/examples is taken off
             its gain; the threshold is the largest value in the table up to the midpoint. These
             are the rules of release 8; branches are pruned (``pessimistic.py``), not raised
Missing      "fractions" (C4.5): gain = (share of examples with known value) x (gain among them);
             an example without value goes to every child with weight = the child's share of the
             known ones. "mode": it counts as the most common value at the node (numeric: it goes
             to the larger side).
Stopping     a pure node, or no attribute that separates its examples; zero gain does not stop
Search       compiled (``search_kernels.py``): numbers enter as ranks, a node sorts its own by
             counting; O(rows x columns) a level. Merits equal up to 1e-12 are ties, the first wins

References: Quinlan, "Induction of decision trees" (1986) and "C4.5" (1993); Mitchell, chapter 3.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from pellucid.core.arrays.typing import Array, BoolArray, IntArray
from pellucid.core.functions.impurities import class_impurity
from pellucid.tree.multiway import growth_kernels
from pellucid.tree.multiway.record import MultiwayTree
from pellucid.tree.multiway.search_kernels import ENTROPY, GINI, RATIO, SQUARED, Cells

CODES = {"entropy": ENTROPY, "gain_ratio": RATIO, "gini": GINI, "squared_error": SQUARED}


class Attributes(NamedTuple):
    """The columns: codes (-1 missing) of categories, or numbers (NaN missing)."""

    columns: list[Any]
    categorical: BoolArray  # (d,)


class Rules(NamedTuple):
    """How to grow."""

    criterion: str
    max_depth: int
    min_split: int
    min_leaf: int
    fractions: bool


def statistic_impurity(S: Array, criterion: str) -> Array:
    """Impurity from sums (..., q): class weights, or (W, sum y, sum y^2)."""
    if criterion != "squared_error":
        return class_impurity(S, "gini" if criterion == "gini" else "entropy")
    W = np.where(S[..., 0] > 0, S[..., 0], 1.0)
    return np.maximum(S[..., 2] / W - (S[..., 1] / W) ** 2, 0.0)


def statistic_weight(S: Array, criterion: str) -> Array:
    """Weight from the same sums."""
    return S[..., 0] if criterion == "squared_error" else S.sum(axis=-1)


def rank_column(column: np.ndarray, categorical: bool) -> tuple[Any, Any]:
    """Ranks (-1 missing) and distinct numbers of a column; codes are ranks already.

    >>> [part.tolist() for part in rank_column(np.array([3.0, np.nan, 1.0, 3.0]), False)]
    [[1, -1, 0, 1], [1.0, 3.0]]
    """
    if categorical:
        size = max(int(column.max(initial=-1)) + 1, 1)
        return column.astype(np.int32, copy=False), np.arange(size)
    values, rank = np.unique(column, return_inverse=True)
    known = values[~np.isnan(values)]
    return np.where(rank < len(known), rank, -1).astype(np.int32), known


def grow_multiway(
    table: Attributes, y: Array, label: IntArray, q: int, w: Array, rules: Rules
) -> tuple[MultiwayTree, Array]:
    """The tree (without values) and the sums (nodes, q) of its nodes.

    ``label`` (n,) are whole numbers that tell targets apart, the classes among them; y (n,) is
    read for numbers only.
    """
    ranked = [rank_column(*one) for one in zip(table.columns, table.categorical, strict=True)]
    size = np.array([len(values) for _, values in ranked])
    most = int(size[table.categorical].max(initial=2))
    targets = label.astype(np.int32), y.astype(np.float64, copy=False)
    ranks = np.stack([rank for rank, _ in ranked])
    cells = Cells(ranks, size, table.categorical.astype(np.uint8), *targets)
    kept = np.flatnonzero(w > 0).astype(np.int32)
    limits = growth_kernels.Limits(CODES[rules.criterion], *rules[1:])
    room = growth_kernels.room_for(len(kept), q, most)
    nodes = growth_kernels.Nodes(
        *growth_kernels.grow_nodes(cells, limits, kept, w[kept].astype(np.float64), room)
    )
    number = np.empty(len(nodes.whole), np.int64)
    order = growth_kernels.preorder(nodes.whole, number)
    sorted_nodes = growth_kernels.Nodes(*(part[order] for part in nodes))
    values = [values for _, values in ranked]
    tree = tree_of(sorted_nodes, number, values, rules)
    if rules.criterion == "gain_ratio":
        tree = tree._replace(threshold=seen_thresholds(tree, ranks[:, kept], values))
    return tree, sorted_nodes.sums


def midpoint(a: float, b: float) -> float:
    """A number t with a <= t < b, half-way where rounding allows."""
    t = 0.5 * a + 0.5 * b
    return t if a <= t < b else a


def seen_thresholds(tree: MultiwayTree, ranks: IntArray, values: list[Any]) -> Array:
    """C4.5: every threshold moved down to the largest value among the examples up to it."""
    threshold = tree.threshold.copy()
    for i in np.flatnonzero(~np.isnan(threshold)).tolist():
        j = int(tree.feature[i])
        seen = values[j][np.unique(ranks[j][ranks[j] >= 0])]
        threshold[i] = seen[np.searchsorted(seen, threshold[i], side="right") - 1]
    return threshold


def tree_of(
    nodes: growth_kernels.Nodes, number: IntArray, values: list[Any], rules: Rules
) -> MultiwayTree:
    """The record of nodes in preorder, ``number`` their new numbers by the old ones.

    ``values`` are the distinct numbers of every column.
    """
    whole, real, sums = nodes
    threshold = np.full(len(whole), np.nan)
    for i in np.flatnonzero(whole[:, growth_kernels.ABOVE] >= 0).tolist():
        known = values[whole[i, growth_kernels.FEATURE]]
        threshold[i] = midpoint(
            known[whole[i, growth_kernels.BELOW]], known[whole[i, growth_kernels.ABOVE]]
        )
    above, default = whole[:, growth_kernels.PARENT], whole[:, growth_kernels.DEFAULT]
    return MultiwayTree(
        parent=np.where(above >= 0, number[above], -1).astype(np.int32),
        feature=whole[:, growth_kernels.FEATURE].astype(np.int32),
        threshold=threshold,
        branch=whole[:, growth_kernels.BRANCH].astype(np.int32),
        share=real[:, growth_kernels.SHARE].copy(),
        default=np.where(default >= 0, number[default], -1).astype(np.int32),
        impurity=statistic_impurity(sums, rules.criterion),
        gain=real[:, growth_kernels.GAIN].copy(),
        n_node_samples=whole[:, growth_kernels.SIZE].copy(),
        weighted_n_node_samples=statistic_weight(sums, rules.criterion).copy(),
        value=np.zeros((len(whole), 1, 1)),
        spread=np.zeros((len(whole), 0)),
        n_features=len(values),
    )


class Visit(NamedTuple):
    """Where examples end: row, node and weight of each ending."""

    rows: Any
    nodes: Any
    weight: Array


def walk(tree: MultiwayTree, columns: Sequence[Any], *, fractions: bool) -> Visit:
    """Send every row down; with ``fractions`` a row with missing cells ends in several leaves.

    A category that the node has not seen ends there: the node's own distribution answers.
    """
    out = np.empty(len(columns[0]), np.int64)
    child = np.argsort(tree.parent[1:], kind="stable") + 1
    start = np.searchsorted(tree.parent[child], np.arange(tree.node_count + 1))
    parts = [np.array(part) for part in (tree.feature, tree.threshold, tree.branch, tree.default)]
    growth_kernels.end_nodes(*parts, start, child, np.array(columns, np.float64), fractions, out)
    rows = np.flatnonzero(out != growth_kernels.SEVERAL)
    whole = Visit(rows, out[rows], np.ones(len(rows)))
    if len(rows) == len(out):
        return whole
    divided = walk_divided(tree, columns, np.flatnonzero(out == growth_kernels.SEVERAL))
    return Visit(*(np.concatenate(pair) for pair in zip(whole, divided, strict=True)))


def walk_divided(tree: MultiwayTree, columns: Sequence[Any], rows: IntArray) -> Visit:
    """The same for rows that missing cells divide among the leaves."""
    children = tree.child_lists()
    ends: list[tuple[Any, Any, Array]] = []
    waiting = [(0, rows, np.ones(len(rows)))]
    while waiting:
        node, rows, w = waiting.pop()
        if len(rows) == 0:
            continue
        if tree.feature[node] < 0:
            ends.append((rows, np.full(len(rows), node), w))
            continue
        branch, lost = branches_of(tree, node, columns, rows)
        open_rows = np.ones(len(rows), bool)
        for child in children[node]:
            here = ~lost & (branch == tree.branch[child])
            open_rows &= ~here
            take = here | lost
            part = np.where(here[take], 1.0, tree.share[child])
            waiting.append((child, rows[take], w[take] * part))
        stuck = open_rows & ~lost
        ends.append((rows[stuck], np.full(int(stuck.sum()), node), w[stuck]))
    return Visit(*(np.concatenate(part) for part in zip(*ends, strict=True)))


def branches_of(
    tree: MultiwayTree, node: int, columns: Sequence[Any], rows: IntArray
) -> tuple[Any, Any]:
    """The branch that each row takes at a node, and which rows have no value there."""
    x = columns[tree.feature[node]][rows]
    if np.isnan(tree.threshold[node]):
        return x, x == -1
    return (x > tree.threshold[node]).astype(np.intp), np.isnan(x)
