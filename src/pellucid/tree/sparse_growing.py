r"""Grow a tree on sparse columns: a node looks at the values of its own rows, never at the zeros.

The rows of a node that have no value in a column are one group with the cell 0, whose sums are

    zeros of a column = all rows of the node - its rows with a value there

so the values of the node, sorted by column and then by size with that group put in between, hold
every question. A node costs O(v log v) for its v values, a level of the tree O(values log values);
columns without a value in the node are constant and are not looked at.

The criteria are those with sums: gini, entropy, log_loss and squared_error, of one output, over
all columns. Everything else needs the table written out (``core.arrays.sparse.to_dense``).
"""

from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import issparse
from scipy.special import xlogy

from pellucid.compiled.trees.growth import Nodes
from pellucid.core.arrays.typing import Array, IntArray
from pellucid.tree.growing import Classes, Growth, finish
from pellucid.tree.record import Tree

CELLS = 1 << 24  # cells of a sparse table up to which it is written out
CRITERIA = ("gini", "entropy", "log_loss", "squared_error")
ROUNDING = 1e-12  # of the best score: questions within it are equally good


def stays_sparse(X: Any) -> bool:
    """Whether X is sparse and too large to be written out."""
    return issparse(X) and X.shape[0] * X.shape[1] > CELLS


def grows_sparse(growth: Growth, target: Classes | Array, d: int) -> bool:
    """Whether these settings can be grown from the values alone."""
    outputs = target.codes.shape[1] if isinstance(target, Classes) else target.shape[1]
    special = (growth.monotone, growth.levels, growth.paths, growth.max_leaf_nodes)
    plain = all(setting is None for setting in special) and growth.min_impurity_decrease == 0
    asked = growth.splitter == "best" and growth.threshold == "midpoint"
    whole = growth.max_features in (None, d)
    return plain and asked and whole and outputs == 1 and growth.criterion in CRITERIA


class Cells(NamedTuple):
    """The values of a sparse table, and what every row adds to the sums of its node."""

    X: Any  # CSR
    w: Array  # (n,)
    parts: Array  # (n,) numbers; or class codes
    n_classes: int  # 0 for numbers
    growth: Growth


class Question(NamedTuple):
    """x[column] <= threshold, and the rows that say yes."""

    column: int
    threshold: float
    left: IntArray
    right: IntArray


class _Rows(NamedTuple):
    """What ``growing.finish`` wants to know of the rows."""

    X: Any
    target: Any
    center: float = 0.0


def grow_sparse(X: Any, target: Classes | Array, w: Array, growth: Growth) -> Tree:
    """Grow one tree on a CSR table.

    >>> from scipy.sparse import csr_array
    >>> X, y = csr_array([[0.0], [2.0], [4.0]]), np.array([[0.0], [0.0], [6.0]])
    >>> grow_sparse(X, y, np.ones(3), Growth("squared_error")).threshold.tolist()
    [3.0, -2.0, -2.0]
    """
    X = canonical(X)
    if isinstance(target, Classes):
        cells = Cells(X, w, target.codes[:, 0], int(target.n_classes[0]), growth)
    else:
        cells = Cells(X, w, target[:, 0], 0, growth)
    left: list[int] = []
    right: list[int] = []
    feature: list[int] = []
    threshold: list[float] = []
    size: list[int] = []
    leaf = np.full(len(w), -1, np.int64)
    todo: list[tuple[IntArray, int, int]] = [(np.flatnonzero(w > 0), 0, -1)]
    while todo:
        rows, depth, parent = todo.pop()
        node = len(left)
        if parent >= 0:  # a right child: the left one stands behind its parent
            right[parent] = node
        found = best_question(cells, rows) if depth < growth.max_depth else None
        size.append(len(rows))
        if found is None:
            leaf[rows] = node
        else:
            todo.append((found.right, depth + 1, node))
            todo.append((found.left, depth + 1, -1))
        left.append(-1 if found is None else node + 1)
        right.append(-1)
        feature.append(-1 if found is None else found.column)
        threshold.append(-2.0 if found is None else found.threshold)
    n, none = len(left), np.zeros(len(left))
    nodes = Nodes(
        left=np.array(left, np.int32),
        right=np.array(right, np.int32),
        feature=np.array(feature, np.int32),
        threshold=np.array(threshold),
        missing_left=np.zeros(n, np.uint8),
        start=np.zeros(n, np.int32),
        stop=np.array(size, np.int32),
        lower=none,
        upper=none,
        state=np.zeros(n, np.int64),
        median=np.zeros((n, 0)),
        error=none,
    )
    return finish(nodes, leaf, target, w, growth, _Rows(X, target))  # type: ignore[arg-type]


def canonical(X: Any) -> Any:
    """CSR with one value a cell, the columns of a row rising."""
    if X.has_canonical_format:
        return X
    X = X.copy()
    X.sum_duplicates()
    return X


def best_question(cells: Cells, rows: IntArray) -> Question | None:
    """The question of the node that holds ``rows``, or None for a leaf."""
    growth, parts = cells.growth, cells.parts[rows]
    if len(rows) < growth.min_samples_split or (parts == parts[0]).all():
        return None
    begin, count = cells.X.indptr[rows], np.diff(cells.X.indptr)[rows]
    if not count.any():
        return None
    who = np.arange(len(rows)).repeat(count)
    place = np.arange(len(who)) + (begin - (np.cumsum(count) - count)).repeat(count)
    values = cells.X.data[place]
    columns, column = np.unique(cells.X.indices[place], return_inverse=True)
    there = np.bincount(column, minlength=len(columns))
    zeros = np.flatnonzero(there < len(rows))  # columns with rows that have no value
    key, cell = np.append(column, zeros), np.append(values, np.zeros(len(zeros)))
    order = np.lexsort((cell, key))
    key, cell = key[order], cell[order]
    last = np.append(key[1:] != key[:-1], True)
    start = np.append(0, np.flatnonzero(last)[:-1] + 1)[key]  # where the column begins
    cut = np.flatnonzero(~last & (cell < np.append(cell[1:], np.inf)))

    def below(x: Array) -> Array:
        """The sum of x over the rows on the left of every cut."""
        total, own = x.sum(), np.bincount(column, x[who], len(columns))
        sums = np.cumsum(np.append(x[who], (total - own)[zeros])[order])
        before = np.append(0.0, sums)[start]
        return (sums - before)[cut]

    w = cells.w[rows]
    n_left, w_left, weight = below(np.ones(len(rows))), below(w), float(w.sum())
    room = np.minimum(np.rint(n_left), len(rows) - np.rint(n_left)) >= growth.min_samples_leaf
    room &= np.minimum(w_left, weight - w_left) >= growth.min_weight_leaf
    room &= (w_left > 0) & (w_left < weight)
    if not room.any():
        return None
    score = np.where(room, score_of(cells, parts, w, below, w_left), -np.inf)
    best = score.max()
    at = int(np.argmax(score >= best - ROUNDING * max(abs(best), 1e-300)))
    i = int(cut[at])
    low, high = float(cell[i]), float(cell[i + 1])
    middle = 0.5 * low + 0.5 * high
    middle = low if middle >= high else middle
    inside = column == key[i]
    x = np.zeros(len(rows))
    x[who[inside]] = values[inside]
    yes = x <= middle
    return Question(int(columns[key[i]]), middle, rows[yes], rows[~yes])


def score_of(cells: Cells, parts: Array, w: Array, below: Any, w_left: Array) -> Array:
    """What a cut takes off the impurity, up to a constant of the node."""
    weight = float(w.sum())
    w_right = weight - w_left
    with np.errstate(divide="ignore", invalid="ignore"):
        if cells.n_classes == 0:
            from_mean = parts - w @ parts / weight
            left = below(w * from_mean)
            return left**2 / w_left + left**2 / w_right  # the sums of both sides are opposite
        score = np.zeros(len(w_left))
        for k in range(cells.n_classes):
            mine = w * (parts == k)
            left = below(mine)
            right = mine.sum() - left
            if cells.growth.criterion == "gini":
                score += left**2 / w_left + right**2 / w_right
            else:
                score += xlogy(left, np.maximum(left, 0.0) / w_left)
                score += xlogy(right, np.maximum(right, 0.0) / w_right)
    return score


def leaves_of_sparse(tree: Tree, X: Any) -> IntArray:
    """The leaf of every row of a CSR table, one level of the tree at a time.

    A cell is found by its place row x d + column among the places of the values, which rise.
    """
    X = canonical(X)
    n, d = X.shape
    places = np.arange(n).repeat(np.diff(X.indptr)) * d + X.indices
    node, live = np.zeros(n, np.int64), np.arange(n)
    live = live[tree.feature[node] >= 0]
    while len(live):
        at = node[live]
        wanted = live * d + tree.feature[at]
        found = np.minimum(np.searchsorted(places, wanted), max(len(places) - 1, 0))
        x = np.zeros(len(live))
        if len(places):
            x = np.where(places[found] == wanted, X.data[found], 0.0)
        yes = np.where(np.isnan(x), tree.missing_go_to_left[at] > 0, x <= tree.threshold[at])
        node[live] = np.where(yes, tree.children_left[at], tree.children_right[at])
        live = live[tree.feature[node[live]] >= 0]
    return node
