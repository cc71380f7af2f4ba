r"""From a table to a tree: whole-number targets and weights, growth, then the values of the nodes.

The grower (``compiled.trees.growth``) compares questions by sums of whole numbers, so that ties
are exact. Values and impurities of the nodes are computed afterwards from the data themselves:
class weights and means from the leaves up, sums of squares by

    S = S_left + S_right + (W_left W_right / W) (mean_left - mean_right)^2.

``presort`` a table once and call ``grow_tree`` as often as wanted: with other weights (bootstrap
counts), seeds or limits. A row of weight 0 is absent.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy

from pellucid.compiled.trees import search
from pellucid.compiled.trees.growth import Nodes, grow
from pellucid.compiled.trees.levels import fill_sets
from pellucid.compiled.trees.presort import Presorted, sorted_keys
from pellucid.compiled.trees.search import Limits, Problem
from pellucid.compiled.trees.walk import leaf_of_rows, merge_spreads, sum_up
from pellucid.core.arrays.typing import Array, IntArray
from pellucid.core.functions.impurities import class_impurity
from pellucid.tree.record import LEAF, UNDEFINED, Tree

CRITERIA = {
    "gini": search.GINI,
    "entropy": search.ENTROPY,
    "log_loss": search.ENTROPY,
    "misclassification": search.MISCLASSIFICATION,
    "squared_error": search.SQUARED,
    "friedman_mse": search.SQUARED,
    "poisson": search.POISSON,
    "absolute_error": search.ABSOLUTE,
}
RULES = {name: getattr(search, name.upper()) for name in ("midpoint", "observed", "label_change")}
ROOM = 2.0**61  # sums of whole numbers stay below
EXACT = 2.0**53
ALMOST = 1e-12  # a decrease this much (relative) below the least one asked still counts


class Growth(NamedTuple):
    """The settings of one tree; the defaults grow it until the leaves are pure."""

    criterion: str
    threshold: str = "midpoint"
    splitter: str = "best"
    max_depth: int = 2**31 - 1
    min_samples_split: int = 2
    min_samples_leaf: int = 1
    min_weight_leaf: float = 0.0
    max_features: int | None = None
    max_leaf_nodes: int | None = None
    min_impurity_decrease: float = 0.0
    monotone: Any = None  # (d,) of -1, 0, 1 for the value of the node (classes: share of the first)
    levels: Any = None  # (d,) of whole numbers: levels of a column of codes, 0 for numbers
    paths: Any = None  # (states, d) of ``path_states``: which columns may meet on a path


class Whole(NamedTuple):
    """Numbers as multiples of a unit."""

    values: Any  # int64
    unit: float


def unit_for(total: float, room: float) -> float:
    """The power of two in which ``total`` is at most ``room``.

    >>> unit_for(1.0, 2.0**61) == 2.0**-61
    True
    """
    if not total > 0:
        return 1.0
    return 2.0 ** (math.frexp(total / room)[1] - (math.frexp(total / room)[0] == 0.5))


def whole_weights(w: Array, room: float = EXACT) -> Whole:
    """Weights as whole numbers: (0,) where all are equal; themselves where they are whole.

    >>> whole_weights(np.array([2.0, 2.0])), whole_weights(np.array([1.0, 3.0])).values
    (Whole(values=array([], dtype=int64), unit=2.0), array([1, 3]))
    """
    kept = w[w > 0]
    if (kept == kept[0]).all():
        return Whole(np.zeros(0, np.int64), float(kept[0]))
    total = float(w.sum())
    if total <= room and (w == np.floor(w)).all():
        return Whole(w.astype(np.int64), 1.0)
    unit = unit_for(total, room)
    values = np.rint(w / unit).astype(np.int64)
    return Whole(np.where(w > 0, np.maximum(values, 1), 0), unit)


class Classes(NamedTuple):
    """Codes (n, o) of classes 0..K_o-1."""

    codes: Any
    n_classes: Any  # (o,) int64


def make_problem(data: Presorted, target: Classes | Array, w: Array, growth: Growth) -> Problem:
    """Everything that the nodes share. ``target``: Classes, or numbers (n, o)."""
    criterion = CRITERIA[growth.criterion]
    absolute = criterion == search.ABSOLUTE
    weight = whole_weights(w, 2.0**30 if absolute else EXACT)
    kept = (w > 0).astype(np.uint8)
    m = int(np.count_nonzero(kept))
    if isinstance(target, Classes):
        offset = np.concatenate([[0], np.cumsum(target.n_classes)])
        stat = np.ascontiguousarray(target.codes, np.int64) + offset[:-1]
        plain = stat.astype(np.float64)
        stat_unit, center = weight.unit, 0.0
        code_bits = _code_bits(target, weight, criterion, len(w))
    else:
        plain = np.ascontiguousarray(target, np.float64)
        stat, stat_unit, center = _whole_targets(plain, w, weight, criterion)
        offset, code_bits = np.arange(plain.shape[1] + 1), 0
    code = stat[:, 0].copy() if code_bits else np.zeros(0, np.int64)
    keys, row_bits = sorted_keys(data, kept, code, code_bits)
    o = plain.shape[1]
    if absolute:
        keys = np.concatenate([keys, _target_keys(plain, kept, row_bits)])
    n = len(w)
    last = keys[: len(data.missing), -1] >> (row_bits + code_bits)
    missing = bool(data.has_missing and (last >= data.missing).any())
    free = growth.monotone is None and growth.levels is None and not missing
    usual = growth.splitter == "best" and growth.threshold != "label_change"
    simple = len(weight.values) == 0 and o == 1 and free and usual
    fast = simple and (code_bits == 1 or criterion == search.SQUARED)
    counted = simple and criterion in (search.GINI, search.ENTROPY) and m < 2**31
    table, table_unit = np.zeros(0, np.int64), 1.0
    if counted and criterion == search.ENTROPY:
        terms = xlogy(np.arange(m + 1.0), np.arange(m + 1.0)) / np.log(2.0)
        table_unit = unit_for(2.0 * float(terms[-1]), ROOM)
        table = np.rint(terms / table_unit).astype(np.int64)
    monotone, levels = (np.zeros(0) if v is None else v for v in (growth.monotone, growth.levels))
    paths = np.zeros((0, data.X.shape[1])) if growth.paths is None else growth.paths
    return Problem(
        X=data.X,
        keys=keys,
        row_bits=row_bits,
        code_bits=code_bits,
        missing=data.missing,
        stat=stat,
        weight=weight.values,
        offset=offset.astype(np.int64),
        target=plain,
        monotone=np.asarray(monotone, np.int8),
        levels=np.array(levels, np.int64),
        paths=np.array(paths, np.int64),
        table=table,
        table_unit=table_unit,
        counted=int(counted),
        criterion=criterion,
        rule=RULES[growth.threshold],
        random=int(growth.splitter == "random"),
        stat_unit=float(stat_unit),
        weight_unit=weight.unit,
        center=float(center),
        fast=int(fast),
        true_weight=np.array(w) if absolute else np.zeros(0),
        y_rank=np.zeros((o if absolute else 0, n), np.int64),
        y_sorted=np.zeros((o if absolute else 0, m), np.int64),
    )


def _code_bits(target: Classes, weight: Whole, criterion: int, n: int) -> int:
    """One bit for the class in every key, where two classes are compared by gini."""
    two = target.n_classes.tolist() == [2] and not len(weight.values)
    return int(two and criterion == search.GINI and 2 * n.bit_length() + 1 <= 62)


def _whole_targets(y: Array, w: Array, weight: Whole, criterion: int) -> tuple[Any, float, float]:
    """w y (absolute_error: y) as whole numbers, about the middle of its range."""
    kept = y[w > 0]
    middle = 0.5 * kept.min(axis=0) + 0.5 * kept.max(axis=0)
    center = np.zeros(y.shape[1]) if criterion == search.POISSON else middle
    total = float(w.sum()) / weight.unit  # exact for repetitions
    reach = float(np.abs(kept - center).max())
    scaled = y - center
    if len(weight.values) == 0:  # every row counts 1
        unit = unit_for(reach * total, ROOM)
        stat = np.rint(scaled / unit)
    elif weight.unit == 1.0 or criterion == search.ABSOLUTE:
        unit = unit_for(reach * total, ROOM)
        times = 1 if criterion == search.ABSOLUTE else weight.values[:, None]
        stat = np.rint(scaled / unit).astype(np.int64) * times
    else:
        unit = unit_for(reach * float(w.sum()), ROOM)
        return np.rint(w[:, None] * scaled / unit).astype(np.int64), unit, center[0]
    true = unit if criterion == search.ABSOLUTE else unit * weight.unit
    return np.where(w[:, None] > 0, stat, 0).astype(np.int64), true, center[0]


def _target_keys(y: Array, kept: NDArray[np.uint8], row_bits: int) -> Any:
    """The outputs sorted like columns."""
    listed = (np.argsort(y[:, j], kind="stable") for j in range(y.shape[1]))
    orders = [order[kept[order] > 0] for order in listed]
    ranks = [np.arange(len(order), dtype=np.int64) for order in orders]
    return np.stack([(r << row_bits) | q for r, q in zip(ranks, orders, strict=True)])


def score_factor(P: Problem, total_weight: float) -> float:
    """The factor from a decrease of the score to one of the mean impurity."""
    o = P.target.shape[1]
    if P.criterion <= search.MISCLASSIFICATION:
        true = P.weight_unit * P.table_unit
    elif P.criterion == search.SQUARED:
        true = P.stat_unit**2 / P.weight_unit
    else:
        true = P.stat_unit * P.weight_unit if P.criterion == search.ABSOLUTE else 1.0
    return true / (total_weight * o)


def grow_tree(
    data: Presorted, target: Classes | Array, w: Array, growth: Growth, seed: int = 0
) -> Tree:
    """Grow one tree on presorted columns; ``w`` may be weights or bootstrap counts.

    >>> from pellucid.compiled.trees.presort import presort
    >>> data = presort(np.array([[1.0], [2.0], [3.0]]))
    >>> y = np.array([[0.0], [0.0], [6.0]])
    >>> grow_tree(data, y, np.ones(3), Growth("squared_error")).threshold.tolist()
    [2.5, -2.0, -2.0]
    """
    P = make_problem(data, target, w, growth)
    d, total = data.X.shape[1], float(w.sum())
    least = -np.inf
    if growth.min_impurity_decrease > 0:
        least = growth.min_impurity_decrease * (1 - ALMOST) / score_factor(P, total)
    min_weight = math.ceil(growth.min_weight_leaf * (1 - ALMOST) / P.weight_unit)
    rows = growth.min_samples_leaf if len(P.weight) else max(growth.min_samples_leaf, min_weight)
    asked = d if growth.max_features is None else growth.max_features
    depth = growth.max_depth, growth.min_samples_split
    limits = Limits(*depth, rows, min_weight, asked, least, seed)
    nodes = grow(P, limits, growth.max_leaf_nodes)
    leaf = np.full(len(w), LEAF, np.int64)
    leaf_of_rows(P.keys[0], P.code_bits, P.row_bits, nodes.feature, nodes.start, nodes.stop, leaf)
    tree = finish(nodes, leaf, target, w, growth, P)
    if growth.levels is None:
        return tree
    return with_sets(tree, P, nodes.start, nodes.stop)


def with_sets(tree: Tree, P: Problem, start: IntArray, stop: IntArray) -> Tree:
    """The sets of levels that go left; the threshold of such a node is where its set begins."""
    found = set_places(tree.feature, P.levels)
    sets = np.zeros(found.size, np.uint64)
    rows = P.X, P.keys[0], P.code_bits, (1 << P.row_bits) - 1
    nodes = tree.children_left, tree.feature, start, stop, tree.weighted_n_node_samples
    fill_sets(*rows, *nodes, P.levels, found.begin, tree.missing_go_to_left, sets)
    threshold = np.where(found.asks, found.begin, tree.threshold)
    return tree._replace(threshold=threshold, levels=P.levels, sets=sets)


class Places(NamedTuple):
    """Where the sets of the nodes lie."""

    asks: Any  # (nodes,) bool: the node asks about levels
    begin: Any  # (nodes,) int64
    size: int  # words in all


def set_places(feature: IntArray, levels: IntArray) -> Places:
    """Words of 64 bits for every node that asks about levels, one after the other.

    >>> set_places(np.array([0, -1, 1]), np.array([70, 0])).begin.tolist()
    [0, 2, 2]
    """
    words = np.where(feature >= 0, -(-levels[np.maximum(feature, 0)] // 64), 0)
    end = np.cumsum(words)
    return Places(words > 0, end - words, int(end[-1]))


def finish(
    nodes: Nodes, leaf: IntArray, target: Classes | Array, w: Array, growth: Growth, P: Problem
) -> Tree:
    """The record of a grown tree: values, impurities and weights of its nodes."""
    rows = np.flatnonzero(leaf >= 0)
    kept = (leaf[rows], w[rows])
    if isinstance(target, Classes):
        weight, impurity, value = _class_nodes(nodes, *kept, target, rows, growth)
        n_classes, spread = np.array(target.n_classes, np.int64), np.zeros((len(value), 0))
    else:
        weight, impurity, value, spread = _number_nodes(nodes, *kept, P.target[rows], growth, P)
        n_classes = np.ones(target.shape[1], np.int64)
    if growth.monotone is not None:
        low, high = nodes.lower + P.center, nodes.upper + P.center
        value[:, 0, 0] = np.clip(value[:, 0, 0], low, high)
        if isinstance(target, Classes):
            value[:, 0, 1] = 1.0 - value[:, 0, 0]
    inner = nodes.feature >= 0
    feature = np.where(inner, nodes.feature, UNDEFINED).astype(np.int32)
    threshold = np.where(inner, nodes.threshold, UNDEFINED)
    questions = nodes.left, nodes.right, feature, threshold, nodes.missing_left
    rows_at = (nodes.stop - nodes.start).astype(np.int64)
    answers = weight, value, spread, n_classes
    return Tree(*questions, impurity, rows_at, *answers, int(P.X.shape[1]))


def _class_nodes(
    nodes: Nodes, leaf: IntArray, w: Array, target: Classes, rows: IntArray, growth: Growth
) -> tuple[Array, Array, Array]:
    """Weight, impurity and class shares of every node."""
    n, o, K = len(nodes.left), len(target.n_classes), int(target.n_classes.max())
    counts = np.zeros((n, o, K))
    for j in range(o):
        place = leaf * K + target.codes[rows, j]
        counts[:, j] = np.bincount(place, w, n * K).reshape(n, K)
    sum_up(nodes.left, nodes.right, counts.reshape(n, o * K))
    impurity = class_impurity(counts, growth.criterion).mean(axis=1)
    weight = counts[:, 0].sum(axis=1)
    return weight, impurity, counts / weight[:, None, None]


def _number_nodes(
    nodes: Nodes, leaf: IntArray, w: Array, y: Array, growth: Growth, P: Problem
) -> tuple[Array, Array, Array, Array]:
    """Weight, impurity, mean (absolute_error: median) and standard deviation of every node."""
    n, o = len(nodes.left), y.shape[1]
    leaves = nodes.feature < 0
    sums = np.empty((n, o + 1))
    sums[:, o] = np.bincount(leaf, w, n)
    for j in range(o):
        sums[:, j] = np.bincount(leaf, w * y[:, j], n)
    sum_up(nodes.left, nodes.right, sums)
    weight = sums[:, o].copy()
    mean = sums[:, :o] / weight[:, None]
    squares = np.empty((n, o))
    for j in range(o):
        squares[:, j] = np.bincount(leaf, w * (y[:, j] - mean[leaf, j]) ** 2, n)
    alike = leaves & ~squares.any(axis=1)  # a mean of equal numbers is that number
    mean[leaf[alike[leaf]]] = y[alike[leaf]]
    merge_spreads(nodes.left, nodes.right, weight, mean, squares)
    variance = squares / weight[:, None]
    impurity, value = variance.mean(axis=1), mean
    if growth.criterion == "absolute_error":
        impurity, value = nodes.error / (weight * o), nodes.median
    elif growth.criterion == "poisson":
        terms = np.empty((n, o))
        for j in range(o):
            terms[:, j] = np.bincount(leaf, w * xlogy(y[:, j], y[:, j]), n)
        sum_up(nodes.left, nodes.right, terms)
        deviance = np.maximum(terms - xlogy(sums[:, :o], mean), 0.0)
        impurity = (deviance / weight[:, None]).mean(axis=1)
    return weight, impurity, value[:, :, None].copy(), np.sqrt(variance)
