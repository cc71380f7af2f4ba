"""Pessimistic pruning by Quinlan's numbers; rule lists with the tree's own logic."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.stats import binom

from pellucid import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    MultiwayTreeClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
)
from pellucid.data import load_play_ball
from pellucid.ensemble import rule_list, simplify_rules
from pellucid.tree import export_rules, pessimistic_errors, pessimistic_prune


def test_quinlan_table():
    """C4.5, chapter 4: U(0,6) = .206, U(0,9) = .143, U(0,1) = .750; U(1,16) = .160 is exact
    (the book's program interpolates to .157)."""
    N = np.array([6, 9, 1, 16, 168])
    found = pessimistic_errors([0, 0, 0, 1, 1], N) / N
    assert_allclose(found[:4], [0.206, 0.143, 0.750, 0.1596], atol=5e-4)
    assert found[4] == pytest.approx(0.016, abs=5e-4)
    assert_allclose(found[:3], 1 - 0.25 ** (1 / N[:3]))
    assert_allclose(binom.cdf([0, 0, 0, 1, 1], N, found), 0.25, atol=1e-9)
    assert pessimistic_errors(3, 3) == 3


def test_quinlan_branch_becomes_a_leaf():
    """Three leaves (6, 0), (9, 0), (1, 0): 3.273 errors to fear; the leaf (16, 1): 2.554."""
    X = [["a"]] * 6 + [["b"]] * 9 + [["c"]]
    y = ["democrat"] * 15 + ["republican"]
    model = MultiwayTreeClassifier(pruning=None).fit(X, y)
    pruned = pessimistic_prune(model)
    assert (model.get_n_leaves(), pruned.get_n_leaves()) == (3, 1)
    (step,) = pruned.pruning_log_
    assert step.score_before == pytest.approx(-3.273, abs=2e-3)
    assert step.score_after == pytest.approx(-2.554, abs=1e-3)
    assert step.node_count == 1
    same = MultiwayTreeClassifier(pruning="pessimistic").fit(X, y)
    assert same.get_n_leaves() == 1
    assert model.get_n_leaves() == 3  # the model itself is untouched


def test_pruning_keeps_what_is_there_and_cuts_noise():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 5))
    clean = X[:, 0] > 0
    y = clean ^ (rng.random(600) < 0.15)
    model = DecisionTreeClassifier().fit(X[:400], y[:400])
    pruned = pessimistic_prune(model)
    assert pruned.get_n_leaves() < 0.5 * model.get_n_leaves()
    assert pruned.score(X[400:], clean[400:]) > model.score(X[400:], clean[400:])
    leaves = [
        pessimistic_prune(model, confidence_factor=c).get_n_leaves() for c in (0.6, 0.2, 0.01)
    ]
    assert leaves == sorted(leaves, reverse=True)
    total = pruned.tree_.weighted_n_node_samples
    wrong = total * (1 - pruned.tree_.value[:, 0].max(axis=1))
    ends = pruned.tree_.feature < 0
    fear = pessimistic_errors(np.round(wrong[ends]), total[ends]).sum()
    assert pruned.pruning_log_[-1].score_after == pytest.approx(-fear)
    with pytest.raises(TypeError, match="classification tree"):
        pessimistic_prune(DecisionTreeRegressor().fit(X, X[:, 0]))
    with pytest.raises(ValueError, match="pruning"):
        MultiwayTreeClassifier(pruning="optimistic").fit([["a"], ["b"]], [0, 1])


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10_000))
def test_simplified_rules_have_the_logic_of_the_tree(seed):
    """Every row, seen or not: the list answers as the tree, with no more rules than leaves."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 5, (40, 3)).astype(float)
    y = rng.choice(["a", "b", "c"], 40, p=[0.6, 0.3, 0.1])
    model = DecisionTreeClassifier(max_depth=5).fit(X, y)
    found = rule_list(model)
    grid = rng.uniform(-1, 6, (300, 3))
    assert (found.predict(grid) == model.predict(grid)).all()
    assert len(found.rules) <= model.get_n_leaves()
    support = [sum(rule.counts) for rule in found.rules]
    assert support == sorted(support, reverse=True)
    assert sum(support) == pytest.approx(40)
    columns = {f"x{j}": grid[:, j] for j in range(3)}
    from pellucid.ensemble.rule_lists import holds

    hits = sum(holds(rule.conditions, columns, 300).astype(int) for rule in found.rules)
    assert (hits == 1).all()  # exclusive and exhaustive


def test_merging_rules_and_categories():
    X = [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]
    model = DecisionTreeClassifier(criterion="gini").fit(X, ["n", "n", "n", "y"])
    assert len(simplify_rules(export_rules(model))) <= model.get_n_leaves()
    table, label = load_play_ball()
    many = MultiwayTreeClassifier(criterion="entropy").fit(table, label)
    found = rule_list(many)
    assert (found.predict(table) == many.predict(table)).all()
    numbers = DecisionTreeRegressor(max_depth=2).fit([[i] for i in range(9)], [0] * 3 + [5] * 6)
    found = rule_list(numbers)
    assert_allclose(found.predict([[1], [7]]), [0, 5])


def test_forest_becomes_a_short_list():
    rng = np.random.default_rng(1)
    X = pd.DataFrame(rng.normal(size=(300, 4)), columns=list("pqrs"))
    truth = np.where((X["p"] > 0) & (X["q"] <= 0.5), "in", "out")
    y = np.where(rng.random(300) < 0.05, "out", truth)
    model = RandomForestClassifier(10, max_depth=4, random_state=0).fit(X, y)
    found = rule_list(model, X, y)
    assert 1 <= len(found.rules) <= 12
    assert (found.predict(X) == truth).mean() > 0.93
    assert "ELSE" in str(found)
    assert found.to_dict()["default"] in ("in", "out")
    tree = DecisionTreeClassifier().fit(X, y)
    short = rule_list(tree, X, y, prune=True)
    assert len(short.rules) < len(rule_list(tree).rules)
    with pytest.raises(ValueError, match="give X and y"):
        rule_list(model)
    with pytest.raises(ValueError, match="one target of classes"):
        rule_list(RandomForestRegressor(3, random_state=0).fit(X, X["p"]), X, y)
    with pytest.raises(TypeError, match="got dict"):
        rule_list({})
    with pytest.raises(ValueError, match="one target"):
        rule_list(DecisionTreeRegressor().fit(X, X[["p", "q"]]))
