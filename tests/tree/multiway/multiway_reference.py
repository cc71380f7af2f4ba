"""Multiway trees grown in NumPy, node by node: the oracle of the compiled growth."""

from typing import Any, NamedTuple

import numpy as np

from pellucid.core.arrays.typing import Array, BoolArray
from pellucid.core.functions.impurities import class_impurity
from pellucid.tree.multiway.record import MultiwayTree

TIE = 1e-12  # a question must be better by this much to displace an earlier column


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


class Question(NamedTuple):
    """A division of a node: which branch every example takes, -1 for a missing cell."""

    feature: int
    threshold: float  # NaN for categories
    merit: float
    gain: float
    branch: Any  # (rows,) int


class Node(NamedTuple):
    """A node that waits for its question."""

    place: int
    rows: Any  # row numbers
    weight: Array  # of these rows here: fractions of their own
    depth: int
    free: BoolArray  # (d,) attributes not used up on the path


def statistic_impurity(S: Array, criterion: str) -> Array:
    """Impurity from sums (..., q): class weights, or (W, sum y, sum y^2)."""
    if criterion != "squared_error":
        return class_impurity(S, "gini" if criterion == "gini" else "entropy")
    W = np.where(S[..., 0] > 0, S[..., 0], 1.0)
    return np.maximum(S[..., 2] / W - (S[..., 1] / W) ** 2, 0.0)


def statistic_weight(S: Array, criterion: str) -> Array:
    """Weight from the same sums."""
    return S[..., 0] if criterion == "squared_error" else S.sum(axis=-1)


def merits(groups: Array, criterion: str) -> tuple[Array, Array]:
    """(merit, gain) of divisions (..., groups, q) of known examples; merit nan where H_A = 0."""
    W = statistic_weight(groups, criterion)
    total = W.sum(axis=-1)
    share = W / total[..., None]
    inside = (share * statistic_impurity(groups, criterion)).sum(axis=-1)
    gain = statistic_impurity(groups.sum(axis=-2), criterion) - inside
    if criterion != "gain_ratio":
        return gain, gain
    information = class_impurity(W, "entropy")
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(information > 0, gain / information, np.nan), gain


def ask_categories(codes: Any, Q: Array, w: Array, j: int, rules: Rules) -> Question | None:
    """One branch for each value present."""
    known = codes >= 0
    if not known.any():
        return None
    if not rules.fractions and not known.all():
        weight = np.bincount(codes[known], w[known])
        codes, known = np.where(known, codes, np.argmax(weight)), np.ones(len(codes), bool)
    present = np.bincount(codes[known])
    values = np.flatnonzero(present)
    if len(values) < 2 or present[values].min() < rules.min_leaf:
        return None
    sums = [np.bincount(codes[known], w[known] * q, len(present)) for q in Q[known].T]
    groups: Array = np.stack(sums, axis=1)[values].astype(np.float64)
    if rules.criterion == "gain_ratio" and (groups.sum(axis=1) >= 2 - TIE).sum() < 2:
        return None
    merit, gain = merits(groups, rules.criterion)
    share = float(w[known].sum() / w.sum())
    return Question(j, np.nan, float(merit) * share, float(gain) * share, codes)


def ask_number(
    x: Array, label: Any, Q: Array, w: Array, j: int, rules: Rules, column: Array
) -> Question | None:
    """The best threshold between neighbouring values, but for C4.5 where the label changes."""
    c45 = rules.criterion == "gain_ratio"
    known = np.flatnonzero(~np.isnan(x))
    known = known[np.argsort(x[known], kind="stable")]
    values = x[known]
    last = np.flatnonzero(values[:-1] < values[1:])  # of every group of equal values but the last
    if len(last) == 0:
        return None
    begin = np.concatenate([[0], last + 1])
    low = np.minimum.reduceat(label[known], begin)
    high = np.maximum.reduceat(label[known], begin)
    change = c45 | (np.minimum(low[:-1], low[1:]) != np.maximum(high[:-1], high[1:]))
    size = np.minimum(last + 1, len(known) - last - 1)
    ahead = np.cumsum(w[known])[last]
    least = np.clip(0.1 * w[known].sum() / Q.shape[1], 2, 25) if c45 else 0.0
    wide = (size >= rules.min_leaf) & (np.minimum(ahead, w[known].sum() - ahead) >= least - TIE)
    last = last[change & wide]
    if len(last) == 0:
        return None
    running = np.cumsum(w[known, None] * Q[known], axis=0)
    left, right = running[last], running[-1] - running[last]
    lost = np.isnan(x)
    share = float(w[known].sum() / w.sum())
    to_left = statistic_weight(left, rules.criterion) >= statistic_weight(right, rules.criterion)
    if not rules.fractions and lost.any():
        extra = w[lost] @ Q[lost]
        left, right = left + to_left[:, None] * extra, right + ~to_left[:, None] * extra
        share = 1.0
    merit, gain = merits(np.stack([left, right], axis=1), rules.criterion)
    rank = gain if c45 else merit
    best = int(np.flatnonzero(rank >= rank.max() - TIE)[0])
    a, b = values[last[best]], values[last[best] + 1]
    t = 0.5 * a + 0.5 * b
    t = t if a <= t < b else a
    branch = np.where(lost, -1, (x > t).astype(np.intp))
    if not rules.fractions:
        branch[lost] = 0 if to_left[best] else 1
    if c45:
        paid = float(gain[best]) * share - np.log2(wide.sum()) / w.sum()
        t = np.max(column[column <= t])
        found = Question(j, float(t), float(merit[best] / gain[best]) * paid, paid, branch)
        return found if paid > 0 else None
    return Question(j, float(t), float(merit[best]) * share, float(gain[best]) * share, branch)


def best_question(
    table: Attributes, node: Node, Q: Array, label: Any, rules: Rules, weight: Array
) -> Question | None:
    """The attribute of greatest merit; the first of equals."""
    asked: list[Question] = []
    rows, w = node.rows, node.weight
    live, total = weight > 0, weight.sum()
    for j in np.flatnonzero(node.free).tolist():
        column = table.columns[j][rows]
        if table.categorical[j]:
            found = ask_categories(column, Q[rows], w, j, rules)
        else:
            found = ask_number(column, label[rows], Q[rows], w, j, rules, table.columns[j][live])
        asked += [] if found is None else [found]
    if rules.criterion == "gain_ratio" and asked:  # of average gain at least
        many = {j: c and table.columns[j].max() + 1 >= 0.3 * total
                for j, c in enumerate(table.categorical)}  # fmt: skip
        counted = [q.gain for q in asked if all(many.values()) or not many[q.feature]]
        asked = [q for q in asked if q.gain >= (np.mean(counted) if counted else 0.0) - 1e-3]
    best: Question | None = None
    for found in asked:
        if best is None or found.merit > best.merit + TIE:
            best = found
    return best


class Growing:
    """The nodes found so far, as columns."""

    def __init__(self) -> None:
        self.rows: list[list[Any]] = []

    def add(self, parent: int, branch: int, share: float) -> int:
        #  parent, feature, threshold, branch, share, default, gain, size, sums
        self.rows.append([parent, -2, np.nan, branch, share, -1, 0.0, 0, None])
        return len(self.rows) - 1


def grow_multiway(
    table: Attributes, Q: Array, label: Any, w: Array, rules: Rules
) -> tuple[MultiwayTree, Array]:
    """The tree (without values) and the sums (nodes, q) of its nodes.

    Q (n, q) holds what is summed for every example, ``label`` (n,) numbers that tell targets
    apart.
    """
    grown = Growing()
    rows = np.flatnonzero(w > 0)
    free = np.ones(len(table.columns), bool)
    waiting = [Node(grown.add(-1, -1, 1.0), rows, w[rows], 0, free)]
    while waiting:
        node = waiting.pop()
        record = grown.rows[node.place]
        record[7], record[8] = len(node.rows), node.weight @ Q[node.rows]
        labels = label[node.rows]
        if (
            node.depth >= rules.max_depth
            or len(node.rows) < rules.min_split
            or (labels == labels[0]).all()
        ):
            continue
        question = best_question(table, node, Q, label, rules, w)
        if question is not None:
            waiting += divide(grown, node, question, table)
    return _in_preorder(grown, rules, len(table.columns))


def divide(grown: Growing, node: Node, q: Question, table: Attributes) -> list[Node]:
    """Make the children; examples without value go to all of them in fractions."""
    record = grown.rows[node.place]
    record[1], record[2], record[6] = q.feature, q.threshold, q.gain
    free = node.free
    if table.categorical[q.feature]:
        free = free.copy()
        free[q.feature] = False
    lost = q.branch < 0
    known = float(node.weight[~lost].sum())
    children, heaviest = [], -1.0
    for value in np.unique(q.branch[~lost]).tolist():
        here = q.branch == value
        weight = float(node.weight[here].sum())
        place = grown.add(node.place, value, weight / known)
        if weight > heaviest:
            heaviest, record[5] = weight, place
        rows = np.concatenate([node.rows[here], node.rows[lost]])
        w = np.concatenate([node.weight[here], node.weight[lost] * (weight / known)])
        children.append(Node(place, rows, w, node.depth + 1, free))
    return children


def _in_preorder(grown: Growing, rules: Rules, d: int) -> tuple[MultiwayTree, Array]:
    parent = [row[0] for row in grown.rows]
    children: list[list[int]] = [[] for _ in parent]
    for i, above in enumerate(parent):
        if above >= 0:
            children[above].append(i)
    order, stack = [], [0]
    while stack:
        i = stack.pop()
        order.append(i)
        stack += children[i][::-1]
    number = np.empty(len(order), np.int32)
    number[order] = np.arange(len(order))
    fields = list(zip(*(grown.rows[i] for i in order), strict=True))
    sums = np.stack(fields[8])
    above, default = np.array(fields[0]), np.array(fields[5])
    tree = MultiwayTree(
        parent=np.where(above >= 0, number[above], -1).astype(np.int32),
        feature=np.array(fields[1], np.int32),
        threshold=np.array(fields[2], np.float64),
        branch=np.array(fields[3], np.int32),
        share=np.array(fields[4], np.float64),
        default=np.where(default >= 0, number[default], -1).astype(np.int32),
        impurity=statistic_impurity(sums, rules.criterion),
        gain=np.array(fields[6], np.float64),
        n_node_samples=np.array(fields[7], np.int64),
        weighted_n_node_samples=statistic_weight(sums, rules.criterion).copy(),
        value=np.zeros((len(order), 1, 1)),
        spread=np.zeros((len(order), 0)),
        n_features=d,
    )
    return tree, sums
