"""Each textbook tree against the fast one: the same questions, leaves, cuts and rules."""

import numpy as np
import pytest
from agreement import same

import pellucid
from pellucid.evaluation import tree_shap
from pellucid.textbook.trees import c45 as c45_tree
from pellucid.textbook.trees import cart as cart_tree
from pellucid.textbook.trees import id3 as id3_tree
from pellucid.textbook.trees import reduced_error_pruning as reduced
from pellucid.textbook.trees import shapley_values as shapley
from pellucid.textbook.trees.c45 import c45
from pellucid.textbook.trees.cart import cart
from pellucid.textbook.trees.category_split import all_divisions, category_split
from pellucid.textbook.trees.cost_complexity_pruning import cost_complexity_pruning
from pellucid.textbook.trees.fractional_cases import Node, fractional_cases
from pellucid.textbook.trees.id3 import id3
from pellucid.textbook.trees.impurity import gain_ratio, impurity, information_gain
from pellucid.textbook.trees.pessimistic_pruning import feared, pessimistic_pruning
from pellucid.textbook.trees.reduced_error_pruning import reduced_error_pruning
from pellucid.textbook.trees.regression_tree import predict, regression_tree
from pellucid.textbook.trees.shapley_values import shapley_values
from pellucid.textbook.trees.tree_rules import holds, tree_rules
from pellucid.tree import export_rules, pessimistic_errors, pessimistic_prune, reduced_error_prune
from pellucid.tree import gain_ratio as fast_gain_ratio
from pellucid.tree import impurity as fast_impurity
from pellucid.tree import information_gain as fast_information_gain


def problem(seed, n=90, p=3, K=3):
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n) % K)
    return rng.normal(size=(n, p)) + rng.normal(size=(K, p))[y], y


def preorder(node):
    """(feature, threshold) of every node, -2 in a leaf."""
    if node.left is None:
        return [(-2, -2.0)]
    return [(node.feature, node.threshold), *preorder(node.left), *preorder(node.right)]


def questions(tree):
    return np.column_stack([tree.feature, tree.threshold])


@pytest.mark.parametrize("kind", ["gini", "entropy", "misclassification"])
def test_impurity(kind):
    _, y = problem(0)
    groups = np.arange(len(y)) % 4
    same(impurity(y, kind), fast_impurity(y, kind))
    same(information_gain(y, groups, kind), fast_information_gain(y, groups, criterion=kind))
    same(gain_ratio(y, groups), fast_gain_ratio(y, groups))


@pytest.mark.parametrize(("seed", "least"), [(1, 1), (2, 3), (3, 5)])
def test_cart(seed, least):
    X, y = problem(seed)
    ours = cart(X, y, least=least)
    fast = pellucid.DecisionTreeClassifier(min_samples_leaf=least).fit(X, y)
    same(preorder(ours), questions(fast.tree_))
    same([cart_tree.shares(ours, x) for x in X], fast.predict_proba(X))


@pytest.mark.parametrize(("seed", "least"), [(4, 1), (5, 4)])
def test_regression_tree(seed, least):
    X, _ = problem(seed)
    target = X[:, 0] * X[:, 1] + np.random.default_rng(seed).normal(size=len(X))
    ours = regression_tree(X, target, least=least)
    fast = pellucid.DecisionTreeRegressor(min_samples_leaf=least).fit(X, target)
    same(preorder(ours), questions(fast.tree_))
    same(predict(ours, X + 0.1), fast.predict(X + 0.1))


def test_category_split():
    rng = np.random.default_rng(6)
    c = rng.integers(7, size=60)
    y = rng.normal(size=7)[c] + rng.normal(size=60)
    found = category_split(c, y)
    same(found.rss, all_divisions(c, y))
    fast = pellucid.DecisionTreeRegressor(max_depth=1, categorical_features=[0])
    fast.fit(c[:, None].astype(float), y)
    side = fast.apply(np.arange(7.0)[:, None])
    groups = {frozenset(np.flatnonzero(side == leaf).tolist()) for leaf in set(side)}
    assert found.left in groups
    same(found.rss / 60, np.average(fast.tree_.impurity[1:], weights=fast.tree_.n_node_samples[1:]))


def codes(seed, n=80):
    rng = np.random.default_rng(seed)
    X = rng.integers(3, size=(n, 4))
    return X, ((X[:, 0] == X[:, 1]) + (rng.random(n) < 0.2)) % 2


def test_id3():
    X, y = codes(7)
    ours = id3(X, y)
    fast = pellucid.MultiwayTreeClassifier("entropy", categorical_features=[0, 1, 2, 3])
    fast.fit(X.astype(float), y)
    new = np.random.default_rng(0).integers(3, size=(50, 4))
    expected = fast.predict_proba(new.astype(float))
    same([id3_tree.shares(ours, x) for x in new], expected)


@pytest.mark.parametrize("seed", range(8, 24))
def test_c45(seed):
    X, y = problem(seed, K=2)
    c, _ = codes(seed, n=len(y))
    table = np.column_stack([X, c])
    y = np.where(c[:, 0] == 1, y, (X[:, 0] > 0).astype(int))
    fast = pellucid.MultiwayTreeClassifier(categorical_features=[3, 4, 5, 6], pruning=None)
    fast.fit(table, y)
    ours = c45(table, y, [False] * 3 + [True] * 4)
    new = np.random.default_rng(seed).permuted(table, axis=0)
    same([c45_tree.shares(ours, x) for x in new], fast.predict_proba(new))


def as_node(tree, t=0):
    """A node of the fast record as the textbook's."""
    shares = tree.value[t, 0]
    children = np.flatnonzero(tree.parent == t)
    if len(children) == 0:
        return Node(shares)
    branches = {float(tree.branch[c]): as_node(tree, c) for c in children}
    weights = {float(tree.branch[c]): float(tree.share[c]) for c in children}
    return Node(shares, int(tree.feature[t]), branches, weights)


def test_fractional_cases():
    X, y = codes(12)
    fast = pellucid.MultiwayTreeClassifier("entropy", categorical_features=[0, 1, 2, 3])
    fast.fit(X.astype(float), y)
    new = X[:30].astype(float)
    new[np.random.default_rng(1).random(new.shape) < 0.4] = np.nan
    new[0] = np.nan
    ours = [fractional_cases(as_node(fast.tree_), x) for x in new]
    same(ours, fast.predict_proba(new))
    same(ours[0], np.bincount(y) / len(y))


def test_cost_complexity_pruning():
    X, y = problem(13)
    model = pellucid.DecisionTreeClassifier(min_samples_leaf=2).fit(X, y)
    path = model.cost_complexity_pruning_path(X, y)
    tree = model.tree_
    risk = tree.impurity * tree.weighted_n_node_samples / len(y)
    alphas, risks = cost_complexity_pruning(tree.children_left, tree.children_right, risk)
    same(alphas, path.ccp_alphas, atol=1e-12)
    same(risks, path.impurities, atol=1e-12)


def test_reduced_error_pruning():
    X, y = problem(14, n=160)
    model = pellucid.DecisionTreeClassifier().fit(X[:90], y[:90])
    tree = model.tree_
    ours = reduced.Tree(
        tree.children_left,
        tree.children_right,
        tree.feature,
        tree.threshold,
        tree.value[:, 0].argmax(axis=1),
    )
    fast = reduced_error_prune(model, X[90:], y[90:])
    assert reduced_error_pruning(ours, X[90:], y[90:]) == [s.node for s in fast.pruning_log_]


def test_pessimistic_pruning():
    E, N = np.array([0, 0, 1, 5, 4]), np.array([6, 1, 16, 20, 4])
    same([feared(e, n) for e, n in zip(E, N, strict=True)], pessimistic_errors(E, N))
    X, y = codes(15)
    model = pellucid.MultiwayTreeClassifier("entropy", categorical_features=[0, 1, 2, 3])
    model.fit(X.astype(float), y)
    tree = model.tree_
    counts = tree.value[:, 0] * tree.weighted_n_node_samples[:, None]
    cut = set(pessimistic_pruning(tree.parent, counts))
    kept = pessimistic_prune(model).tree_.node_count
    gone = set()
    for t in range(1, tree.node_count):
        if tree.parent[t] in cut | gone:
            gone.add(t)
    assert cut
    assert tree.node_count - len(gone) == kept


def test_tree_rules():
    X, y = problem(16)
    model = pellucid.DecisionTreeClassifier(max_depth=5).fit(X, y)
    tree = model.tree_
    ours = tree_rules(tree.children_left, tree.children_right, tree.feature, tree.threshold)
    for rule, fast in zip(ours, export_rules(model), strict=True):
        said = {(c.feature, c.op): float(c.value) for c in fast.conditions}
        expected = {(f"x{j}", ">"): t for j, t in rule.above.items()}
        expected |= {(f"x{j}", "<="): t for j, t in rule.at_most.items()}
        assert said.keys() == expected.keys()
        same([said[k] for k in expected], list(expected.values()))
    leaves = model.apply(X)
    for x, leaf in zip(X, leaves, strict=True):
        assert [rule.leaf for rule in ours if holds(rule, x)] == [leaf]


def test_shapley_values():
    X, _ = problem(17, p=4)
    target = X[:, 0] * X[:, 1] + X[:, 2]
    model = pellucid.DecisionTreeRegressor(max_depth=4).fit(X, target)
    tree = model.tree_
    ours = shapley.Tree(
        tree.children_left,
        tree.children_right,
        tree.feature,
        tree.threshold,
        tree.value[:, 0, 0],
        tree.weighted_n_node_samples,
    )
    fast = tree_shap(model, X[:5])
    phi = np.array([shapley_values(ours, x) for x in X[:5]])
    same(phi, fast.values, atol=1e-10)
    same(fast.base + phi.sum(axis=1), model.predict(X[:5]))
