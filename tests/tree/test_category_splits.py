"""Categories in CART: every subset by brute force, frames, rules, files, limits."""

from itertools import combinations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import pellucid
from pellucid import DecisionTreeClassifier, DecisionTreeRegressor
from pellucid.compiled.trees.presort import presort
from pellucid.core.functions.impurities import class_impurity, number_impurity
from pellucid.tree import export_dnf, export_rules, export_text, reduced_error_prune
from pellucid.tree.growing import Classes, Growth, grow_tree

CLASSES = ["gini", "entropy", "misclassification"]
NUMBERS = ["squared_error", "absolute_error", "poisson"]


def node_impurity(y, w, criterion):
    if criterion in NUMBERS:
        return np.mean([number_impurity(c, w, criterion) for c in y.T])
    return np.mean([class_impurity(np.bincount(c.astype(int), w), criterion) for c in y.T])


def divisions(x, is_level):
    """Every way in which one column can divide the rows, missing cells as a whole."""
    lost = np.isnan(x)
    values = np.unique(x[~lost])
    if not is_level:
        for side in (False, True) if lost.any() else (False,):
            more = [np.inf] if lost.any() and not side and len(values) else []
            for t in [*((values[:-1] + values[1:]) / 2), *more]:
                yield np.where(lost, side, x <= t).astype(bool)
        return
    parts = [x == v for v in values] + ([lost] if lost.any() else [])
    for size in range(len(parts)):
        for chosen in combinations(range(len(parts) - 1), size):  # the last one stays right
            yield np.any([parts[k] for k in chosen], axis=0) if chosen else np.zeros(len(x), bool)


def reference(X, levels, y, w, criterion, min_leaf):
    """(least score, {feature: divisions that reach it}) over all questions."""
    best, found = np.inf, {}
    for j in range(X.shape[1]):
        for left in divisions(X[:, j], levels[j] > 0):
            if min(left.sum(), (~left).sum()) < max(min_leaf, 1):
                continue
            parts = [(y[s], w[s]) for s in (left, ~left)]
            if criterion == "poisson" and any((v @ u <= 0).any() for u, v in parts):
                continue
            score = sum(v.sum() * node_impurity(u, v, criterion) for u, v in parts)
            if score < best - 1e-9:
                best, found = score, {}
            if score < best + 1e-9:
                found.setdefault(j, []).append(left)
    return best, found


def table(criterion, seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(4, 20))
    levels = np.array([int(rng.integers(2, 7)), 0, int(rng.integers(2, 5))])
    X = np.column_stack([rng.integers(0, max(k, 5), n) % max(k, 5) for k in levels]).astype(float)
    X[:, levels > 0] %= levels[levels > 0]
    if seed % 3 == 1:
        X[rng.random(X.shape) < 0.2] = np.nan
    w = np.ones(n)
    if seed % 2:
        w = rng.integers(1, 4, size=n).astype(float)
    if seed % 5 == 4:
        w = rng.random(n) + 0.2
    y = rng.integers(0, 2 if seed % 4 == 0 else 3, (n, 2 if seed % 7 == 6 else 1)).astype(float)
    return X, levels, (y * rng.integers(1, 5, (n, 1)) if criterion in NUMBERS else y), w


@pytest.mark.parametrize("criterion", CLASSES + NUMBERS)
@pytest.mark.parametrize("min_leaf", [1, 2])
def test_every_split_is_the_best_of_all_subsets(criterion, min_leaf):
    """All criteria, weights, missing values, several outputs, categories."""
    for seed in range(24):
        X, levels, y, w = table(criterion, seed)
        target = y if criterion in NUMBERS else Classes(y.astype(int), np.full(y.shape[1], 3))
        growth = Growth(criterion, min_samples_leaf=min_leaf, levels=levels)
        tree = grow_tree(presort(X), target, w, growth)
        tree.check()
        paths = tree.decision_path(X).toarray().astype(bool)
        for node in range(tree.node_count):
            rows = np.flatnonzero(paths[:, node])
            mixed = (y[rows] != y[rows[0]]).any() and len(rows) >= 2 * min_leaf
            best, found = np.inf, {}
            if mixed:
                best, found = reference(X[rows], levels, y[rows], w[rows], criterion, min_leaf)
            if not found:
                assert tree.feature[node] < 0, seed
                continue
            f = int(tree.feature[node])
            assert f == min(found), (seed, node)
            left = paths[rows, tree.children_left[node]]
            same = [(left == other).all() or (left != other).all() for other in found[f]]
            assert any(same), (seed, node, best)


def test_many_levels_follow_the_means():
    """300 levels on a line: the cut is exact whatever the cardinality."""
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 300, 3000)
    high = rng.random(300) < 0.4
    X = np.column_stack([codes, rng.normal(size=3000)]).astype(float)
    y = np.where(high[codes], 3.0, 0.0)
    tree = grow_tree(presort(X), y[:, None], np.ones(3000),
                     Growth("squared_error", levels=np.array([300, 0])))  # fmt: skip
    assert tree.node_count == 3
    assert_array_equal(tree.left_levels(0), np.flatnonzero(~high))
    assert_array_equal(tree.apply(X), np.where(high[codes], 2, 1))


@pytest.mark.parametrize("criterion", ["gini", "entropy", "absolute_error"])
def test_many_levels_of_groups_are_recovered(criterion):
    """Beyond ten levels: the first axis of the class shares, or medians, finds two clear groups."""
    rng = np.random.default_rng(1)
    codes = rng.integers(0, 40, 2000)
    group = np.arange(40) % 2
    if criterion == "absolute_error":
        target = (group[codes] * 5.0 + rng.normal(size=2000))[:, None]
    else:
        p = np.array([[0.7, 0.2, 0.1], [0.1, 0.2, 0.7]])[group[codes]]
        y = (rng.random((2000, 1)) > p.cumsum(axis=1)).sum(axis=1)
        target = Classes(y[:, None], np.array([3]))
    X = codes[:, None].astype(float)
    growth = Growth(criterion, levels=np.array([40]), max_depth=1, max_leaf_nodes=2)
    tree = grow_tree(presort(X), target, np.ones(2000), growth)
    left = np.isin(np.arange(40), tree.left_levels(0))
    assert (left == (group == 0)).mean() in (0.0, 1.0)


def zoo(n=200, seed=0):
    rng = np.random.default_rng(seed)
    species = rng.choice(["cat", "dog", "eel", "fox", "gnu"], n)
    x = rng.normal(size=n)
    y = np.where(np.isin(species, ["cat", "eel"]), x > 0, x < 0.5)
    return pd.DataFrame({"species": pd.Categorical(species), "x": x}), np.where(y, "yes", "no")


def test_every_kind_of_frame_gives_the_same_tree(tmp_path):
    frame, y = zoo()
    model = DecisionTreeClassifier().fit(frame, y)
    assert model.score(frame, y) == 1.0
    words = pl.DataFrame({
        "species": pl.Series(frame["species"].tolist(), dtype=pl.Categorical), "x": frame["x"],
    })  # fmt: skip
    codes = np.column_stack([frame["species"].cat.codes * 7.0, frame["x"]])
    other = DecisionTreeClassifier().fit(words, y)
    third = DecisionTreeClassifier(categorical_features=[0]).fit(codes, y)
    text = pd.DataFrame({"species": frame["species"].astype(str), "x": frame["x"]})
    named = DecisionTreeClassifier(categorical_features=["species"]).fit(text, y)
    for twin in (other, third, named):
        for a, b in zip(twin.tree_, model.tree_, strict=True):
            assert_array_equal(a, b)
    assert_array_equal(model.predict(words), y)
    with pytest.raises(ValueError, match="not numbers; name it in"):
        model.set_params(categorical_features="from_dtype").fit(text.assign(z=frame["species"]), y)
    path = tmp_path / "tree.pellucid"
    pellucid.save(third, path)
    assert_array_equal(pellucid.load(path).predict_proba(codes), third.predict_proba(codes))
    third.tree_ = third.tree_._replace(sets=third.tree_.sets[:0])
    with pytest.raises(ValueError, match="fit together"):
        third.tree_.check()


def test_missing_and_unseen_values():
    """Missing by gain where the node had any, else with unseen values to the larger side."""
    X = pd.DataFrame({"c": pd.Categorical(["a", "a", "a", "b", None, None])})
    model = DecisionTreeClassifier().fit(X, [0, 0, 0, 1, 1, 1])
    ask = pd.DataFrame({"c": pd.Categorical([None, "b", "a"], categories=["a", "b"])})
    assert model.predict(ask).tolist() == [1, 1, 0]
    known = DecisionTreeClassifier().fit(X.iloc[:4], [0, 0, 0, 1])
    new = pd.DataFrame({"c": pd.Categorical(["zebra", None])})
    assert known.predict(new).tolist() == [0, 0]


def holds(condition, row):
    value = row[condition.feature]
    if condition.op == "in":
        return value in condition.value
    return value <= condition.value if condition.op == "<=" else value > condition.value


def test_rules_are_the_tree():
    """Exclusive, exhaustive, and each names only levels that can come so far."""
    frame, y = zoo(120, 3)
    y = np.where(np.random.default_rng(0).random(120) < 0.2, "odd", y)
    model = DecisionTreeClassifier().fit(frame, y)
    rules = export_rules(model)
    fresh, _ = zoo(300, 4)
    for row, answer in zip(fresh.to_dict("records"), model.predict(fresh), strict=True):
        fired = [rule for rule in rules if all(holds(c, row) for c in rule.conditions)]
        assert [rule.label for rule in fired] == [answer]
    small = DecisionTreeClassifier(max_depth=1).fit(frame[["species"]], frame["species"] == "dog")
    assert export_dnf(small, True) == "(species in {dog})"
    assert "|--- species in {cat, eel, fox, gnu}\n" in export_text(small)
    assert str(small.explain(frame[["species"]][:1])[0]).startswith("species in {")


def test_pruning_keeps_the_sets():
    frame, y = zoo(300, 5)
    y = np.where(np.random.default_rng(1).random(300) < 0.1, "no", y)
    whole = DecisionTreeClassifier().fit(frame, y)
    cut = DecisionTreeClassifier(ccp_alpha=0.02).fit(frame, y)
    assert 3 < cut.tree_.node_count < whole.tree_.node_count
    cut.tree_.check()
    held, truth = zoo(300, 6)
    assert cut.score(held, truth) > 0.95
    assert reduced_error_prune(whole, held, truth).score(held, truth) > 0.97


def test_weights_equal_repetition_and_rows_have_no_order():
    rng = np.random.default_rng(7)
    X = rng.integers(0, 6, (80, 3)).astype(float)
    w, y = rng.integers(0, 4, 80), rng.normal(size=80) ** 2
    again, turn = np.repeat(np.arange(80), w), rng.permutation(80)
    for criterion in NUMBERS:
        model = DecisionTreeRegressor(criterion=criterion, categorical_features=[0, 2])
        a = model.fit(X, y, sample_weight=w).predict(X)
        assert_allclose(a, model.fit(X[again], y[again]).predict(X))
        assert_allclose(a, model.fit(X[turn], y[turn], sample_weight=w[turn]).predict(X))


@pytest.mark.parametrize("options", [{}, {"splitter": "random"}, {"max_leaf_nodes": 40}], ids=str)
def test_large_tables_and_threads(options):
    rng = np.random.default_rng(8)
    X = np.column_stack([rng.integers(0, 20, 9000), rng.normal(size=(9000, 2)).round(1)])
    y = np.sin(X[:, 0]) + X[:, 1] + rng.normal(size=9000)
    found = []
    for n in (1, 2):
        with pellucid.core.runtime.threads.limit_threads(n):
            model = DecisionTreeRegressor(
                min_samples_leaf=20, categorical_features=[0], random_state=0, **options
            ).fit(X, y)
            found.append(model.predict(X))
    assert_array_equal(*found)
    assert model.score(X, y) > 0.5


def test_monotonic_constraints_refuse_categories():
    with pytest.raises(ValueError, match="column 0 is a category"):
        DecisionTreeRegressor(monotonic_cst=[1], categorical_features=[0]).fit([[0], [1]], [0, 1])


@pytest.mark.parametrize("criterion", NUMBERS)
def test_interaction_constraints_hold(criterion):
    """No path meets columns that are in no common group."""
    rng = np.random.default_rng(9)
    X = rng.normal(size=(300, 4))
    y = np.exp(0.3 * (X[:, 0] * X[:, 1] + X[:, 2] * X[:, 3]))
    groups = [{0, 1}, {1, 2}]  # 3 is alone
    for more in ({}, {"max_leaf_nodes": 30}, {"max_features": 1, "random_state": 0}):
        model = DecisionTreeRegressor(criterion=criterion, interaction_cst=groups, **more)
        met = {frozenset(int(c.feature[1]) for c in rule.conditions)
               for rule in export_rules(model.fit(X, y))}  # fmt: skip
        assert all(any(path <= group for group in ({0, 1}, {1, 2}, {3})) for path in met)
    free = DecisionTreeRegressor(criterion=criterion).fit(X, y)
    one = DecisionTreeRegressor(criterion=criterion, interaction_cst=[range(4)]).fit(X, y)
    assert_array_equal(free.tree_.threshold, one.tree_.threshold)
    with pytest.raises(ValueError, match=r"columns in 0\.\.3"):
        DecisionTreeRegressor(interaction_cst=[{7}]).fit(X, y)
