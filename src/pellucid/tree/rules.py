r"""A tree as rules: every path from the root to a leaf is a conjunction of conditions.

The rules of all leaves exclude each other and cover every example, so that a label is the
disjunction (DNF) of the rules that end in it. Repeated thresholds on one feature are merged to
the tightest, repeated sets to what they share. Rules speak of known values; where a row with a
missing cell goes is in the tree.
"""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator, is_classifier
from sklearn.utils.validation import check_is_fitted

from pellucid.core.arrays.typing import Array
from pellucid.core.records import show
from pellucid.tree.multiway.record import MultiwayTree
from pellucid.tree.record import Tree


class Condition(NamedTuple):
    """One test of one feature.

    >>> str(Condition("width", "<=", 2.5)), str(Condition("Wind", "=", "Weak"))
    ('width <= 2.5', 'Wind = Weak')
    >>> str(Condition("species", "in", ("a", "b")))
    'species in {a, b}'
    """

    feature: str
    op: str  # "=", "<=", ">" or "in"
    value: Any  # of "in": a tuple of values

    def __str__(self) -> str:
        return f"{self.feature} {self.op} {self.said}"

    @property
    def said(self) -> str:
        """The value as it is written."""
        return "{" + ", ".join(map(str, self.value)) + "}" if self.op == "in" else f"{self.value}"


class Rule(NamedTuple):
    """If all conditions hold, the label follows.

    >>> str(Rule((Condition("Wind", "=", "Weak"),), "Yes", (0.0, 3.0)))
    'Wind = Weak -> Yes'
    """

    conditions: tuple[Condition, ...]
    label: Any  # of a regression: the value
    counts: tuple[float, ...]  # weight of each class in the leaf; of a regression: of all rows

    def __str__(self) -> str:
        return f"{conjunction(self.conditions)} -> {self.label}"


class Explanation(NamedTuple):
    """How one row came to its prediction.

    >>> print(Explanation((0, 1), (Condition("x0", "<=", 0.5),), (1.0, 0.0)))
    x0 <= 0.5: 1, 0
    """

    nodes: tuple[int, ...]  # from the root to the leaf
    conditions: tuple[Condition, ...]  # as they were asked, one for each node but the last
    value: tuple[float, ...]  # class shares, or the prediction

    def __str__(self) -> str:
        value = ", ".join(show(v) for v in self.value)
        return f"{conjunction(self.conditions)}: {value}"


def conjunction(conditions: Sequence[Condition]) -> str:
    """Conditions joined by AND; none at all is TRUE."""
    return " AND ".join(map(str, conditions)) or "TRUE"


def merged(conditions: Sequence[Condition]) -> tuple[Condition, ...]:
    """The same conjunction with one bound of each kind for every feature.

    >>> path = [Condition("x", "<=", 5.0), Condition("x", ">", 1.0), Condition("x", "<=", 2.0)]
    >>> [str(c) for c in merged(path)]
    ['x <= 2.0', 'x > 1.0']
    """
    tightest: dict[tuple[str, str], Any] = {}
    for feature, op, value in conditions:
        old = tightest.get((feature, op), value)
        picks: dict[str, Any] = {"<=": min, ">": max, "in": shared}
        pick = picks.get(op)
        tightest[feature, op] = value if pick is None else pick(old, value)
    return tuple(Condition(feature, op, value) for (feature, op), value in tightest.items())


def shared(old: tuple[Any, ...], new: tuple[Any, ...]) -> tuple[Any, ...]:
    """The values that are in both sets, in their old order."""
    return tuple(v for v in old if v in new)


def cart_edges(model: BaseEstimator, names: Sequence[str]) -> Iterator[tuple[int, int, Condition]]:
    """The edges of a binary tree; a set names the levels that can come so far."""
    tree = model.tree_
    reach: dict[int, dict[int, Any]] = {0: {}}  # node -> feature -> codes that are still possible
    for i in np.flatnonzero(tree.feature >= 0).tolist():
        j, sides = int(tree.feature[i]), (int(tree.children_left[i]), int(tree.children_right[i]))
        here = reach.pop(i)
        if not tree.asks_levels(i):
            reach[sides[0]] = reach[sides[1]] = here
            t = float(tree.threshold[i])
            yield i, sides[0], Condition(names[j], "<=", t)
            yield i, sides[1], Condition(names[j], ">", t)
            continue
        codes = here.get(j, np.arange(tree.levels[j]))
        left = np.isin(codes, tree.left_levels(i))
        for child, part in zip(sides, (codes[left], codes[~left]), strict=True):
            reach[child] = {**here, j: part}
            yield i, child, Condition(names[j], "in", tuple(model.categories_[j][part].tolist()))


def edges(model: BaseEstimator, names: Sequence[str]) -> Iterator[tuple[int, int, Condition]]:
    """(parent, child, condition) of every edge, parents first."""
    tree = model.tree_
    if isinstance(tree, Tree):
        yield from cart_edges(model, names)
        return
    for i in np.flatnonzero(tree.feature >= 0).tolist():
        j = int(tree.feature[i])
        for child in tree.children_of(i).tolist():
            code = int(tree.branch[child])
            if np.isnan(tree.threshold[i]):
                value = model.categories_[j][code : code + 1].tolist()[0]
                yield i, child, Condition(names[j], "=", value)
            else:
                op = "<=" if code == 0 else ">"
                yield i, child, Condition(names[j], op, float(tree.threshold[i]))


def _names(model: BaseEstimator, feature_names: Sequence[str] | None) -> Sequence[str]:
    check_is_fitted(model)
    if not isinstance(getattr(model, "tree_", None), Tree | MultiwayTree):
        raise TypeError(f"a tree of pellucid.tree is needed, got {type(model).__name__}")
    if feature_names is None:
        return model._feature_names()
    names = [str(name) for name in feature_names]
    if len(names) != model.n_features_in_:
        d = model.n_features_in_
        raise ValueError(f"feature_names needs {d} names, one per feature, got {len(names)}")
    return names


def get_depth(self: BaseEstimator) -> int:
    """The number of questions on the longest path."""
    check_is_fitted(self)
    return self.tree_.max_depth


def get_n_leaves(self: BaseEstimator) -> int:
    """The number of leaves."""
    check_is_fitted(self)
    return self.tree_.n_leaves


def tree_numbers(tree: Tree | MultiwayTree) -> dict[str, Any]:
    """The numbers that the cards of all trees have."""
    rows, shape = int(tree.n_node_samples[0]), (tree.node_count, tree.n_leaves, tree.max_depth)
    return {"rows": rows, **dict(zip(("nodes", "leaves", "depth"), shape, strict=True))}


def leaf_label(model: BaseEstimator, node: int) -> Any:
    """What the tree answers at this node: a label, a number, or a tuple of them."""
    value = model.tree_.value[node]  # (outputs, classes)
    if not is_classifier(model):
        answers = value[:, 0].tolist()
    elif len(value) == 1:
        answers = [model.classes_[np.argmax(value[0])].item()]
    else:
        answers = [c[np.argmax(v)].item() for c, v in zip(model.classes_, value, strict=True)]
    return answers[0] if len(answers) == 1 else tuple(answers)


def export_rules(model: BaseEstimator, *, feature_names: Sequence[str] | None = None) -> list[Rule]:
    """One rule for every leaf, from left to right.

    Parameters
    ----------
    model : a fitted tree of ``pellucid.tree``
    feature_names : sequence of str, default=None
        Names for the conditions; default the names seen in fit, or x0, x1, ...

    Examples
    --------
    >>> from pellucid.tree import DecisionTreeClassifier, export_rules
    >>> model = DecisionTreeClassifier().fit([[1], [2], [3]], ["a", "b", "b"])
    >>> [str(rule) for rule in export_rules(model)]
    ['x0 <= 1.5 -> a', 'x0 > 1.5 -> b']
    """
    names = _names(model, feature_names)
    tree = model.tree_
    path: dict[int, tuple[Condition, ...]] = {0: ()}
    for parent, child, condition in edges(model, names):
        path[child] = (*path[parent], condition)
    rules = []
    for node in np.flatnonzero(tree.feature < 0).tolist():
        weight = float(tree.weighted_n_node_samples[node])
        counts = (weight * tree.value[node, 0]).tolist() if is_classifier(model) else [weight]
        rules.append(Rule(merged(path[node]), leaf_label(model, node), tuple(counts)))
    return rules


def export_dnf(
    model: BaseEstimator, label: Any, *, feature_names: Sequence[str] | None = None
) -> str:
    """The formula that says when the tree answers ``label``: rules joined by OR.

    Parameters
    ----------
    model : a fitted tree of ``pellucid.tree``
    label : the answer
    feature_names : sequence of str, default=None

    Examples
    --------
    >>> from pellucid.tree import MultiwayTreeClassifier, export_dnf
    >>> X = [["Rainy", "Weak"], ["Rainy", "Strong"], ["Sunny", "Weak"], ["Sunny", "Strong"]]
    >>> model = MultiwayTreeClassifier("entropy").fit(X, ["yes", "no", "yes", "yes"])
    >>> export_dnf(model, "no", feature_names=["Outlook", "Wind"])
    '(Outlook = Rainy AND Wind = Strong)'
    """
    rules = export_rules(model, feature_names=feature_names)
    if is_classifier(model) and isinstance(model.classes_, np.ndarray):
        known = model.classes_.tolist()
        if label not in known:
            raise ValueError(f"label must be one of {known}, got {label!r}")
    chosen = [rule for rule in rules if rule.label == label]
    if not chosen:
        return "FALSE"
    if len(chosen) == len(rules):
        return "TRUE"
    return " OR ".join(f"({conjunction(rule.conditions)})" for rule in chosen)


def export_text(
    model: BaseEstimator,
    *,
    feature_names: Sequence[str] | None = None,
    class_names: Sequence[str] | None = None,
    max_depth: int = 10,
    spacing: int = 3,
    decimals: int = 2,
    show_weights: bool = False,
) -> str:
    """The tree as indented text, as scikit-learn's function of this name writes it.

    Parameters
    ----------
    model : a fitted tree of ``pellucid.tree``
    feature_names, class_names : sequence of str, default=None
        Names to write; default the names seen in fit (or feature_0, ...), and the labels.
    max_depth : int, default=10
        Deeper branches are only counted.
    spacing, decimals : int
        Characters per level, digits of the numbers.
    show_weights : bool, default=False
        Also the class weights of the leaves.

    Examples
    --------
    >>> from pellucid.tree import DecisionTreeClassifier, export_text
    >>> print(export_text(DecisionTreeClassifier().fit([[0], [1]], ["a", "b"])), end="")
    |--- feature_0 <= 0.50
    |   |--- class: a
    |--- feature_0 >  0.50
    |   |--- class: b
    """
    if feature_names is None and not hasattr(model, "feature_names_in_"):
        feature_names = [f"feature_{j}" for j in range(getattr(model, "n_features_in_", 0))]
    names = _names(model, feature_names)
    children: dict[int, list[tuple[int, Condition]]] = {}
    for parent, child, condition in edges(model, names):
        children.setdefault(parent, []).append((child, condition))
    height = _heights(children, model.tree_.node_count)
    lines = []
    waiting: list[tuple[int, int, Condition | None]] = [(0, 0, None)]
    while waiting:  # a stack: no depth is too deep
        node, depth, asked = waiting.pop()
        if asked is not None:
            lines.append(_indent(depth - 1, spacing) + _said(asked, decimals))
        if node not in children:
            leaf = _leaf_text(model, node, class_names, decimals, show_weights)
            lines.append(_indent(depth, spacing) + leaf)
        elif depth > max_depth:
            lines.append(_indent(depth, spacing) + f"truncated branch of depth {height[node]}")
        else:
            waiting += [(child, depth + 1, c) for child, c in reversed(children[node])]
    return "\n".join(lines) + "\n"


def _heights(children: dict[int, list[tuple[int, Condition]]], n: int) -> list[int]:
    height = [1] * n
    for node in sorted(children, reverse=True):
        height[node] = 1 + max(height[child] for child, _ in children[node])
    return height


def _indent(depth: int, spacing: int) -> str:
    return ("|" + " " * spacing) * depth + "|" + "-" * spacing + " "


def _said(condition: Condition, decimals: int) -> str:
    if condition.op in ("=", "in"):
        return str(condition)
    op = condition.op if condition.op == "<=" else "> "
    return f"{condition.feature} {op} {condition.value:.{decimals}f}"


def _leaf_text(
    model: BaseEstimator, node: int, class_names: Sequence[str] | None, decimals: int, weights: bool
) -> str:
    value = model.tree_.value[node, 0]
    if not is_classifier(model):
        numbers = (f"{v:.{decimals}f}" for v in model.tree_.value[node, :, 0])
        return f"value: [{', '.join(numbers)}]"
    labels = model.classes_ if isinstance(model.classes_, np.ndarray) else model.classes_[0]
    label = (labels if class_names is None else class_names)[int(np.argmax(value))]
    if not weights:
        return f"class: {label}"
    counts = value * model.tree_.weighted_n_node_samples[node]
    return f"weights: [{', '.join(f'{c:.{decimals}f}' for c in counts)}] class: {label}"


def explain_cart(model: BaseEstimator, X: Array, names: Sequence[str]) -> list[Explanation]:
    """The path of every row through a binary tree."""
    tree = model.tree_
    paths = tree.decision_path(X)
    asked = {child: condition for _, child, condition in edges(model, names)}
    found = []
    for i in range(len(X)):
        nodes = paths.indices[paths.indptr[i] : paths.indptr[i + 1]].tolist()
        conditions = tuple(asked[node] for node in nodes[1:])
        value = tuple(tree.value[nodes[-1]].ravel().tolist())
        found.append(Explanation(tuple(nodes), conditions, value))
    return found
