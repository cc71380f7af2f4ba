"""Trees, forests and boosting as ONNX; see ``onnx_nodes`` for the sums.

Thresholds are float64 and every question is ``x <= threshold``, so the cells at a threshold and
next to it go where they go here. Categories are converted where they are numbers.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from pellucid.core.arrays.typing import Array
from pellucid.persist.onnx.graph import Answer, Graph, Output, refuse
from pellucid.persist.onnx.linear import NUMBER, probabilities
from pellucid.persist.onnx.nodes import (
    Levels,
    Nodes,
    from_boosting,
    from_preorder,
    tree_sum,
    with_levels,
)


def level_values(model: Any, columns: Any, values: Callable[[int], Array]) -> dict[int, Array]:
    """The values of columns of categories, as the numbers that the input holds."""
    words: Any = getattr(model, "categories_", None) or ()
    for j, known in enumerate(words):
        if known is not None and np.asarray(known).dtype.kind not in "biuf":
            refuse(model, f"column {j} holds words; encode them as numbers before the model")
    return {j: np.asarray(values(j), np.float64) for j in columns}


def flat_sum(g: Graph, model: Any, x: str, trees: Any, value: Array, n_scores: int) -> str:
    """The sum over a ``Forest`` or a ``Tree`` with these values of its nodes."""
    one = hasattr(trees, "children_right")
    start = np.array([0, len(trees.feature)]) if one else trees.start
    right = trees.children_right if one else trees.right
    missing = trees.missing_go_to_left if one else trees.missing_left
    nodes = from_preorder(start, (trees.feature, trees.threshold, missing, right), value)
    if len(trees.levels):
        asked = flat_levels(trees, nodes)
        columns = {one.column for one in asked}
        values = level_values(model, columns, lambda j: model.categories_[j])
        x, nodes = with_levels(g, x, nodes, asked, values, model.n_features_in_)
    return tree_sum(g, x, nodes, n_scores)


def flat_levels(trees: Any, nodes: Nodes) -> list[Levels]:
    """The questions about levels; bit c of the words from ``threshold`` on: level c goes left."""
    found = []
    for q in np.flatnonzero(trees.levels[nodes.feature] > 0).tolist():
        j, begin = int(nodes.feature[q]), int(nodes.threshold[q])
        n = int(trees.levels[j])
        words = trees.sets[begin : begin - (-n // 64)].astype("<u8")
        left = np.unpackbits(words.view(np.uint8), bitorder="little")[:n]
        right = np.append(1.0 - left, 1.0 - nodes.missing_left[q])
        found.append(Levels(q, j, right))
    return found


def tree_regressor(g: Graph, model: Any, x: str) -> Answer:
    return numbers(g, model, tree_values(g, model, x, model.n_outputs_))


def tree_classifier(g: Graph, model: Any, x: str) -> Answer:
    one_target(model)
    return shares(g, model, tree_values(g, model, x, len(model.classes_)))


def tree_values(g: Graph, model: Any, x: str, width: int) -> str:
    tree = model.tree_
    return flat_sum(g, model, x, tree, tree.value.reshape(tree.node_count, -1), width)


def forest_regressor(g: Graph, model: Any, x: str) -> Answer:
    return numbers(g, model, forest_mean(g, model, x, model.n_outputs_))


def forest_classifier(g: Graph, model: Any, x: str) -> Answer:
    one_target(model)
    return shares(g, model, forest_mean(g, model, x, len(model.classes_)))


def forest_mean(g: Graph, model: Any, x: str, width: int) -> str:
    forest = model.forest_
    total = flat_sum(g, model, x, forest, forest.answers(), width)
    return g.op("Div", total, float(forest.n_trees))


def one_target(model: Any) -> None:
    if model.n_outputs_ > 1:
        refuse(model, f"it has {model.n_outputs_} targets of classes; one is converted")


def numbers(g: Graph, model: Any, found: str) -> Answer:
    if model.n_outputs_ == 1:
        return Answer([Output("prediction", g.column(found), NUMBER)])
    return Answer([Output("prediction", found, NUMBER, (model.n_outputs_,))])


def shares(g: Graph, model: Any, P: str) -> Answer:
    """Class shares: the largest decides, the first of equals."""
    return g.classes(model, g.largest(P), probabilities(model, P))


# --- boosting ---


def exact_scores(g: Graph, model: Any, x: str) -> str:
    """Gradient boosting of exact trees: start + sum of rate times values."""
    if not hasattr(model.init_, "scores"):
        refuse(model, f"it starts from init={type(model.init_).__name__}; constants are converted")
    forest, K = model.forest_, model.n_trees_per_iteration_
    total = flat_sum(g, model, x, forest, model.learning_rate * forest.value, K)
    return g.op("Add", np.asarray(model.init_.scores, np.float64)[None], total)


def binned_scores(g: Graph, model: Any, x: str) -> str:
    """Gradient boosting on bins: the bin of x is at most b where x <= edge b."""
    trees, bins = model.trees_, model._bins
    nodes = from_boosting(trees, bins.edges, np.asarray(model._baseline, np.float64))
    asked = binned_levels(trees, bins)
    columns = {one.column for one in asked}
    values = level_values(model, columns, lambda j: bins.edges[j, : bins.n_bins[j]])
    x, nodes = with_levels(g, x, nodes, asked, values, model.n_features_in_)
    return tree_sum(g, x, nodes, model.n_trees_per_iteration_)


def binned_levels(trees: Any, bins: Any) -> list[Levels]:
    """The questions about levels; bit 255 says where missing and unknown cells go."""
    found = []
    for q in np.flatnonzero(trees.category >= 0).tolist():
        j = int(trees.feature[q])
        words = np.ascontiguousarray(trees.sets[trees.category[q]]).astype("<i8")
        left = np.unpackbits(words.view(np.uint8), bitorder="little")
        found.append(Levels(q, j, 1.0 - np.append(left[: bins.n_bins[j]], left[255])))
    return found


def boosted_regressor(g: Graph, model: Any, x: str) -> Answer:
    z = exact_scores(g, model, x)
    return Answer([Output("prediction", g.column(z), NUMBER)])


def binned_regressor(g: Graph, model: Any, x: str) -> Answer:
    z = binned_scores(g, model, x)
    z = g.op("Exp", z) if model.loss in ("poisson", "gamma") else z
    return Answer([Output("prediction", g.column(z), NUMBER)])


def boosted_classifier(g: Graph, model: Any, x: str) -> Answer:
    two_classes(model)
    z = exact_scores(g, model, x)
    if len(model.classes_) > 2:
        return g.classes(model, g.largest(z), probabilities(model, g.softmax(z)))
    p = g.sigmoid(g.op("Mul", z, 2.0) if model.loss == "exponential" else z)
    return g.classes(model, g.positive(z), probabilities(model, g.join(g.op("Sub", 1.0, p), p)))


def binned_classifier(g: Graph, model: Any, x: str) -> Answer:
    two_classes(model)
    z = binned_scores(g, model, x)
    if len(model.classes_) > 2:
        return g.classes(model, g.largest(z), probabilities(model, g.softmax(z)))
    return g.classes(model, g.positive(z), probabilities(model, g.two(z)))


def two_classes(model: Any) -> None:
    if len(model.classes_) < 2:
        refuse(model, "it knows one class only")


PREDICTORS: dict[str, Callable[[Graph, Any, str], Answer]] = {
    "DecisionTreeClassifier": tree_classifier,
    "DecisionTreeRegressor": tree_regressor,
    "ExtraTreesClassifier": forest_classifier,
    "ExtraTreesRegressor": forest_regressor,
    "GradientBoostingClassifier": boosted_classifier,
    "GradientBoostingRegressor": boosted_regressor,
    "HistGradientBoostingClassifier": binned_classifier,
    "HistGradientBoostingRegressor": binned_regressor,
    "RandomForestClassifier": forest_classifier,
    "RandomForestRegressor": forest_regressor,
}
