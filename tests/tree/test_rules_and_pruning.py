"""Rules are logically the tree; reduced-error pruning by hand and by brute force."""

import inspect
import sys
from contextlib import contextmanager

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn.tree
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from sklearn.datasets import load_iris

import pellucid
from pellucid import ReducedErrorPruning
from pellucid.data import load_play_ball
from pellucid.tree import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    MultiwayTreeClassifier,
    MultiwayTreeRegressor,
    best_split,
    export_dnf,
    export_rules,
    export_text,
    reduced_error_prune,
)


def holds(condition, row):
    value = row[condition.feature]
    if condition.op == "=":
        return value == condition.value
    return value <= condition.value if condition.op == "<=" else value > condition.value


def evaluate(formula, row):
    """Read a formula of export_dnf again, as text."""
    if formula in ("TRUE", "FALSE"):
        return formula == "TRUE"
    for term in formula[1:-1].split(") OR ("):
        tests = [test.split(" ", 2) for test in term.split(" AND ")]
        ok = {
            "=": lambda a, b: str(a) == b,
            "<=": lambda a, b: a <= float(b),
            ">": lambda a, b: a > float(b),
        }
        if all(ok[op](row[name], value) for name, op, value in tests):
            return True
    return False


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10**6), multiway=st.booleans())
def test_rules_and_formulas_are_the_tree(seed, multiway):
    """Exactly one rule holds for any row, it says what the tree says, and so do the formulas."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 25))
    frame = pd.DataFrame({"u": rng.integers(0, 4, size=n) / 3, "v": rng.normal(size=n)})
    if multiway:
        frame["w"] = rng.choice(list("abc"), size=n)
    y = rng.integers(0, 3, size=n)
    model = (MultiwayTreeClassifier() if multiway else DecisionTreeClassifier()).fit(frame, y)
    rules = export_rules(model)
    formulas = {label: export_dnf(model, label) for label in model.classes_.tolist()}
    fresh = pd.DataFrame({"u": rng.normal(size=20), "v": rng.normal(size=20)})
    if multiway:
        fresh["w"] = rng.choice(frame["w"].unique(), size=20)
    rows = pd.concat([frame, fresh], ignore_index=True)
    for predicted, (_, row) in zip(model.predict(rows).tolist(), rows.iterrows(), strict=True):
        fired = [rule for rule in rules if all(holds(c, row) for c in rule.conditions)]
        if multiway and not fired:  # a category that the node has not seen
            continue
        assert [rule.label for rule in fired] == [predicted]
        assert {k for k, f in formulas.items() if evaluate(f, row)} == {predicted}
    for rule in rules:
        keys = [(c.feature, c.op) for c in rule.conditions]
        assert len(keys) == len(set(keys))
    assert sum(sum(rule.counts) for rule in rules) == pytest.approx(n)


@contextmanager
def little_recursion(frames=120):
    """No more than so many frames below this one."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(len(inspect.stack(0)) + frames)
    try:
        yield
    finally:
        sys.setrecursionlimit(before)


@pytest.mark.parametrize("model", [DecisionTreeClassifier(), MultiwayTreeClassifier("entropy")])
def test_deep_trees_are_read_without_recursion(model, tmp_path):
    """A chain of questions, each of which splits off the heaviest row."""
    n = 400
    X, y = np.arange(float(n))[:, None], np.arange(n) % 2
    model.fit(X, y, sample_weight=2.0 ** np.arange(n))
    assert model.get_depth() > 200
    with little_recursion():
        assert_array_equal(model.predict(X), y)
        rules = export_rules(model, feature_names=["x"])
        formula = export_dnf(model, 1, feature_names=["x"])
        reasons = model.explain(X)
        pruned = reduced_error_prune(model, X[-3:], y[-3:])
        pellucid.save(model, tmp_path / "deep.pellucid")
        again = pellucid.load(tmp_path / "deep.pellucid")
        if isinstance(model, DecisionTreeClassifier):
            assert export_text(model, max_depth=500).count("class:") == model.get_n_leaves()
            weights = {"sample_weight": 2.0 ** np.arange(n)}
            path = model.cost_complexity_pruning_path(X, y, **weights)
            assert len(path.ccp_alphas) > 1
    assert len(rules) == model.get_n_leaves()
    assert [evaluate(formula, {"x": float(i)}) for i in range(n)] == (y == 1).tolist()
    assert max(len(found.nodes) for found in reasons) == model.get_depth() + 1
    assert pruned.get_depth() < 10
    assert_array_equal(again.predict(X), y)


def test_constant_trees():
    model = DecisionTreeClassifier().fit([[0.0], [1.0]], ["a", "a"])
    assert export_dnf(model, "a") == "TRUE"
    assert str(export_rules(model)[0]) == "TRUE -> a"
    stump = DecisionTreeClassifier(max_depth=1).fit([[0], [1], [2]] * 3, [0, 1, 2] * 3)
    assert export_dnf(stump, 2) == "FALSE"
    with pytest.raises(ValueError, match="label must be one of"):
        export_dnf(model, "z")
    with pytest.raises(ValueError, match="feature_names"):
        export_rules(model, feature_names=["a", "b"])
    with pytest.raises(TypeError, match="tree"):
        export_rules(sklearn.tree.DecisionTreeClassifier().fit([[0], [1]], [0, 1]))


@pytest.mark.parametrize("depth", [None, 1, 2])
def test_text_is_scikit_learns(depth):
    X, y = load_iris(return_X_y=True)
    theirs = sklearn.tree.DecisionTreeClassifier(max_depth=3, random_state=0).fit(X[:, 3:], y)
    ours = DecisionTreeClassifier(max_depth=3).fit(X[:, 3:], y)
    options = {} if depth is None else {"max_depth": depth}
    assert export_text(ours, **options) == sklearn.tree.export_text(theirs, **options)
    options = {"feature_names": ["w"], "show_weights": True, "spacing": 2, "decimals": 3}
    assert export_text(ours, **options) == sklearn.tree.export_text(theirs, **options)
    number = sklearn.tree.DecisionTreeRegressor(max_depth=2).fit(X[:, 3:], X[:, 0])
    mine = DecisionTreeRegressor(max_depth=2).fit(X[:, 3:], X[:, 0])
    assert export_text(mine) == sklearn.tree.export_text(number)


def test_explain():
    X, y = load_play_ball()
    found = MultiwayTreeClassifier().fit(X, y).explain(X[:1])[0]
    assert [str(c) for c in found.conditions] == ["Outlook = Sunny", "Humidity = High"]
    assert found.value == (1.0, 0.0)
    model = DecisionTreeRegressor().fit([[1.0], [2.0]], [0.0, 4.0])
    assert str(model.explain([[5.0]])[0]) == "x0 > 1.5: 4"
    assert model.explain([[5.0]])[0].nodes == (0, 2)


def test_example_reduced_error_pruning():
    """Trees, example 4: the play tree and four validation days."""
    X, y = load_play_ball()
    rows = [
        ["Rainy", "Mild", "High", "Strong"],
        ["Rainy", "Cool", "Normal", "Weak"],
        ["Sunny", "Hot", "High", "Weak"],
        ["Overcast", "Hot", "High", "Weak"],
    ]
    X_val = pl.DataFrame(rows, schema=X.columns, orient="row")
    y_val = ["Yes", "Yes", "No", "Yes"]
    model = MultiwayTreeClassifier().fit(X, y)
    pruned = reduced_error_prune(model, X_val, y_val)
    scores = [
        (step.score_before, step.score_after, step.node_count) for step in pruned.pruning_log_
    ]
    assert scores == [(0.75, 1.0, 6), (1.0, 1.0, 4)]
    assert pruned.node_count_ == 4
    assert model.node_count_ == 8  # the model itself is left alone
    assert pruned.score(X_val, y_val) == 1.0


def brute_force_prune(model, X, y):
    """Score every replacement by making it."""
    from pellucid.tree.reduced_error import scored_cuts

    return [s.node for s in scored_cuts(model, X, y, type(model).score).log]


@pytest.mark.parametrize("seed", range(8))
def test_sums_over_paths_agree_with_making_every_tree(seed):
    rng = np.random.default_rng(seed)
    X, X_val = rng.normal(size=(60, 2)), rng.normal(size=(30, 2))
    for model, y, y_val in [
        (DecisionTreeClassifier(max_depth=4), X[:, 0] > 0, X_val[:, 0] > 0),
        (DecisionTreeRegressor(max_depth=3), X[:, 0], X_val[:, 0]),
    ]:
        noisy = y ^ (rng.random(60) < 0.2) if y.dtype == bool else y + rng.normal(size=60)
        model.fit(X, noisy)
        pruned = reduced_error_prune(model, X_val, y_val)
        assert [s.node for s in pruned.pruning_log_] == brute_force_prune(model, X_val, y_val)
        assert pruned.score(X_val, y_val) >= model.score(X_val, y_val) - 1e-12
        if pruned.pruning_log_:
            last = pruned.pruning_log_[-1]
            assert last.score_after == pytest.approx(pruned.score(X_val, y_val))
            assert last.node_count == pruned.tree_.node_count


def test_other_scores_and_other_trees():
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({"c": rng.choice(list("abc"), 80), "x": rng.normal(size=80).round(1)})
    y = (frame["c"] == "a").to_numpy() * 2.0 + 0.5 * rng.normal(size=80)
    model = MultiwayTreeRegressor(max_depth=3).fit(frame[:50], y[:50])
    pruned = reduced_error_prune(model, frame[50:], y[50:], scoring="neg_mean_absolute_error")
    assert pruned.node_count_ < model.node_count_
    forest = DecisionTreeClassifier(max_depth=4).fit(frame[["x"]][:50], y[:50] > 1)
    cut = reduced_error_prune(forest, frame[["x"]][50:], y[50:] > 1, scoring="neg_brier_score")
    assert cut.tree_.node_count <= forest.tree_.node_count


def test_reduced_error_pruning_removes_noise():
    rng = np.random.default_rng(4)
    X = rng.uniform(size=(600, 2))
    y = (X[:, 0] > 0.5) ^ (rng.random(600) < 0.15)
    whole = DecisionTreeClassifier().fit(X, y)
    model = ReducedErrorPruning(DecisionTreeClassifier(), random_state=0).fit(X, y)
    assert model.estimator_.get_n_leaves() < whole.get_n_leaves() / 4
    test = rng.uniform(size=(2000, 2))
    assert model.score(test, test[:, 0] > 0.5) > whole.score(test, test[:, 0] > 0.5)
    number = ReducedErrorPruning(DecisionTreeRegressor(), random_state=0).fit(X, X[:, 0])
    assert number.score(X, X[:, 0]) > 0.9
    assert not hasattr(number, "predict_proba")
    words = ReducedErrorPruning(MultiwayTreeClassifier(), random_state=0)
    assert words.fit([["a"], ["b"]] * 10, [0, 1] * 10).predict([["a"]]).tolist() == [0]
    with pytest.raises(TypeError, match="tree of pellucid"):
        ReducedErrorPruning(best_split).fit(X, y)


def test_pruned_models_are_saved(tmp_path):
    import pellucid

    X, y = load_play_ball()
    model = MultiwayTreeClassifier().fit(X, y)
    pruned = reduced_error_prune(model, X[:6], y[:6])
    pellucid.save(pruned, tmp_path / "tree.pellucid")
    again = pellucid.load(tmp_path / "tree.pellucid")
    assert_array_equal(again.predict(X), pruned.predict(X))
    assert again.pruning_log_ == pruned.pruning_log_
