r"""Any model of trees as one sum of trees: F(x) = start + sum over trees of the value of x's leaf.

    tree             start 0, one tree; class shares or means
    random forest    start 0, values divided by the number of trees
    boosting         start = the best constant, values times the rate; log-odds of classes

What explains such models, or writes them down in another language, reads this record only. In
``table_of(model, X)`` columns of categories hold places, numbers are asked ``x <= threshold``.
"""

from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator, is_classifier
from sklearn.utils.validation import check_is_fitted

from pellucid.compiled.trees.path_shares import preorder
from pellucid.core.arrays.typing import Array, ArrayLike
from pellucid.ensemble.bins import encode
from pellucid.ensemble.boosting.gradient_model import BestConstant, GradientBoosting
from pellucid.ensemble.boosting.hist_model import HistGradientBoosting
from pellucid.ensemble.boosting.hist_table import open_table
from pellucid.ensemble.forest.forest_model import ForestEstimator
from pellucid.tree.cart import CartTree
from pellucid.tree.record import set_rows

ACCEPTED = "a decision tree, random forest, gradient boosting or histogram boosting of Pellucid"


class TreeSum(NamedTuple):
    """Nodes of all trees in preorder (the left child comes next), tree after tree."""

    start: Any  # (trees + 1,) int64
    feature: Any  # (nodes,) int32, negative in a leaf
    threshold: Array  # (nodes,)
    missing_left: Any  # (nodes,) uint8
    right: Any  # (nodes,) int32 within the tree, -1 in a leaf
    category: Any  # (nodes,) int32 row of ``sets``, -1: the question is x <= threshold
    sets: Any  # (sets, words) int64, bits of the categories that go left
    weight: Array  # (nodes,) of the training rows
    value: Array  # (nodes, width)
    column: Any  # (trees,) the first of the K sums that a tree adds to
    constant: Array  # (K,)
    n_features: int
    scale: str  # of F: prediction, probability, log-odds, score, logarithm of the prediction

    @property
    def n_trees(self) -> int:
        return len(self.start) - 1


def tree_sum(model: BaseEstimator) -> TreeSum:
    """The trees of a fitted model.

    >>> from pellucid import RandomForestRegressor
    >>> model = RandomForestRegressor(5, random_state=0).fit([[0.0], [1.0]], [0.0, 1.0])
    >>> found = tree_sum(model)
    >>> found.n_trees, found.scale
    (5, 'prediction')
    """
    if not isinstance(model, CartTree | ForestEstimator | GradientBoosting | HistGradientBoosting):
        raise TypeError(f"{ACCEPTED} is needed, got {type(model).__name__}")
    check_is_fitted(model)
    if isinstance(model, HistGradientBoosting):
        return _hist(model)
    if isinstance(model, GradientBoosting):
        return _boosting(model)
    if is_classifier(model) and model.n_outputs_ > 1:
        raise ValueError(f"one target of classes is needed, got {model.n_outputs_}")
    if isinstance(model, CartTree):
        return _tree(model)
    return _flat(model.forest_, model.forest_.answers() / model.forest_.n_trees, _scale(model))


def table_of(model: BaseEstimator, X: ArrayLike) -> Array:
    """The rows as the questions read them: categories of histogram boosting become places."""
    if not isinstance(model, HistGradientBoosting):
        rows, levels = np.array(model._check_input(X), order="C"), _levels(model)
        for j in np.flatnonzero(levels).tolist():  # a code that is no level counts as missing
            rows[~((rows[:, j] >= 0) & (rows[:, j] < levels[j])), j] = np.nan
        return rows
    check_is_fitted(model)
    rows = np.array(open_table(model, X, reset=False)[0], order="C")
    if model.is_categorical_ is None:
        return rows
    codes = encode(rows, model._bins, by_row=False).by_column
    for j in np.flatnonzero(model._bins.categorical).tolist():
        rows[:, j] = np.where(codes[j] == 255, np.nan, codes[j])
    return rows


def places_of(model: BaseEstimator, trees: TreeSum) -> dict[int, dict[Any, int]]:
    """For every column of categories that is asked about: value -> place."""
    asked = np.unique(trees.feature[trees.category >= 0]).tolist()
    words: Any = getattr(model, "categories_", None) or [None] * trees.n_features
    found: dict[int, dict[Any, int]] = {}
    for j in asked:
        known = None if words[j] is None else words[j].tolist()
        if isinstance(model, HistGradientBoosting):
            edges = model._bins.edges[j, : model._bins.n_bins[j]].tolist()
            values = edges if known is None else [known[int(code)] for code in edges]
        else:
            values = list(range(int(_levels(model)[j]))) if known is None else known
        found[j] = {value: place for place, value in enumerate(values)}
    return found


def _levels(model: BaseEstimator) -> Any:
    return (model.forest_ if hasattr(model, "forest_") else model.tree_).levels


def _scale(model: BaseEstimator) -> str:
    return "probability" if is_classifier(model) else "prediction"


def _flat(forest: Any, value: Array, scale: str) -> TreeSum:
    """A ``Forest`` whose trees all add to the same sums."""
    weight = np.concatenate([forest.weights(t) for t in range(forest.n_trees)])
    f = forest
    nodes = f.start, f.feature, f.threshold, f.missing_left, f.right, *set_rows(f), weight
    constant = np.zeros(f.n_trees, np.int64), np.zeros(value.shape[1])
    return TreeSum(*nodes, np.ascontiguousarray(value), *constant, f.n_features, scale)


def _tree(model: BaseEstimator) -> TreeSum:
    tree = model.tree_
    n = tree.node_count
    value = np.ascontiguousarray(tree.value.reshape(n, -1))
    asked = tree.feature, tree.threshold, tree.missing_go_to_left, tree.children_right
    nodes = np.array([0, n]), *asked, *set_rows(tree), tree.weighted_n_node_samples
    constant = np.zeros(1, np.int64), np.zeros(value.shape[1])
    return TreeSum(*nodes, value, *constant, tree.n_features, _scale(model))


def _score(model: BaseEstimator) -> str:
    if is_classifier(model):
        return "log-odds" if model.loss == "log_loss" else "score"
    logarithm = isinstance(model.loss, str) and model.loss in ("poisson", "gamma")
    return "logarithm of the prediction" if logarithm else "prediction"


def _boosting(model: BaseEstimator) -> TreeSum:
    if not isinstance(model.init_, BestConstant):
        start = "the start of the boosting must be a constant (init=None or 'zero')"
        raise ValueError(f"{start}, got init={model.init!r}")
    K = model.n_trees_per_iteration_
    found = _flat(model.forest_, model.learning_rate * model.forest_.value, _score(model))
    constant = np.array(model.init_.scores, np.float64)
    return found._replace(column=np.arange(found.n_trees) % K, constant=constant)


def _hist(model: BaseEstimator) -> TreeSum:
    t, bins, K = model.trees_, model._bins, model.n_trees_per_iteration_
    n = len(t.left) + len(t.value)
    new, leaf, jump = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n, np.int32)
    preorder(t.node_start, t.leaf_start, t.left, t.right, new, leaf, jump)
    inner, places = np.flatnonzero(new >= 0), new[new >= 0]
    ends = leaf >= 0
    start = t.node_start + t.leaf_start
    feature, category = np.full(n, -2, np.int32), np.full(n, -1, np.int32)
    threshold, missing = np.full(n, -2.0), np.zeros(n, np.uint8)
    feature[inner], category[inner] = t.feature[places], t.category[places]
    threshold[inner] = bins.edges[t.feature[places], t.threshold[places]]
    is_set = category[inner] >= 0
    top = t.sets[category[inner][is_set], 3] >> 63 & 1  # bit 255: missing and unknown cells
    missing[inner] = t.missing_left[places]
    missing[inner[is_set]] = top
    value, weight = np.zeros((n, 1)), np.zeros(n)
    value[ends, 0], weight[ends] = t.value[leaf[ends]], t.weight[leaf[ends]]
    first = np.repeat(start[:-1], np.diff(start))
    for i in inner[::-1].tolist():  # children come after their parents
        weight[i] = weight[i + 1] + weight[first[i] + jump[i]]
    nodes = start, feature, threshold, missing, jump, category, t.sets, weight
    constant = np.arange(len(start) - 1) % K, np.array(model._baseline)
    return TreeSum(*nodes, value, *constant, model.n_features_in_, _score(model))
