"""Forests on blocks: the trees of ``fit``, whatever the blocks, the backend, and what is lost."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pellucid import (
    DecisionTreeRegressor,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from pellucid.backends import Serial
from pellucid.data import blocks
from pellucid.ensemble.blocks import shards as shards_module
from pellucid.ensemble.blocks.shards import Shards
from pellucid.ensemble.forest import block_forest, forest_model

N = 40_000


def table(gaps):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, 5))
    X[:, 2] = rng.integers(0, 7, N)
    score = np.sin(2 * X[:, 0]) + X[:, 1] * (X[:, 2] > 3) + 0.3 * rng.normal(size=N)
    if gaps:
        X[rng.random(X.shape) < 0.03] = np.nan
    return X, score


X, Y = table(False)
GAPS, _ = table(True)
RULES = {"n_estimators": 2, "random_state": 1}
CASES = {
    "two classes": (RandomForestClassifier, {}, X, Y > 0),
    "gaps": (RandomForestClassifier, {"min_samples_leaf": 3}, GAPS, Y > 0),
    "entropy": (
        RandomForestClassifier,
        {"criterion": "entropy", "class_weight": "balanced"},
        GAPS,
        np.digitize(Y, [-0.5, 0.5]),
    ),
    "few levels": (RandomForestClassifier, {"max_depth": 4, "max_samples": 0.5}, X, Y > 0),
    "all rows": (RandomForestClassifier, {"bootstrap": False, "max_features": None}, X, Y > 1),
    "numbers": (RandomForestRegressor, {"max_features": 2}, GAPS, Y),
    "shallow numbers": (RandomForestRegressor, {"max_depth": 3, "ccp_alpha": 1e-3}, X, Y),
    "steps": (RandomForestRegressor, {"min_samples_leaf": 100}, X, np.round(Y)),
    "random, gaps": (ExtraTreesClassifier, {}, GAPS, Y > 0),
    "random numbers": (ExtraTreesRegressor, {"max_depth": 8}, GAPS, Y),
}


@pytest.fixture
def apart(monkeypatch):
    monkeypatch.setattr(forest_model, "SMALL_ROWS", 0)
    monkeypatch.setattr(block_forest, "FEW_ROWS", 1_000)


def assert_same(a, b):
    for name, x, y in zip(a.forest_._fields, a.forest_, b.forest_, strict=True):
        np.testing.assert_array_equal(x, y, err_msg=name)
    if hasattr(a, "leaf_rows_"):
        np.testing.assert_array_equal(a.leaf_rows_, b.leaf_rows_)


@pytest.mark.parametrize("name", CASES)
def test_blocks_give_the_trees_of_the_fit_in_memory(name, apart):
    kind, rules, table, y = CASES[name]
    whole = kind(**RULES | rules).fit(table, y)
    for rows in (3_000, 1_000_000):
        source = blocks(table, target=y, block_rows=rows)
        parts = kind(**RULES | rules).fit_blocks(source)
        assert_same(whole, parts)
        np.testing.assert_array_equal(whole.predict(table[:50]), parts.predict(table[:50]))


@pytest.mark.parametrize("fraction", [False, True])
@pytest.mark.parametrize("kind", [RandomForestClassifier, RandomForestRegressor])
def test_weights(apart, kind, fraction):
    w = np.random.default_rng(2).integers(0, 3, N) * (0.37 if fraction else 1.0)
    y = Y > 0 if kind is RandomForestClassifier else Y
    for rules in ({"bootstrap": False, "max_depth": 9}, {"min_samples_leaf": 20}):
        whole = kind(**RULES | rules).fit(X, y, sample_weight=w)
        source = blocks(X, target=y, weight=w, block_rows=5_000)
        assert_same(whole, kind(**RULES | rules).fit_blocks(source))


@settings(deadline=None, max_examples=6)
@given(st.integers(1, 60_000), st.integers(1, 4), st.integers(1, 20_000))
def test_any_blocks_shards_and_any_number_of_rows_brought_together(block_rows, width, few):
    kind, rules, table, y = CASES["entropy"]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(forest_model, "SMALL_ROWS", 0)
        patch.setattr(block_forest, "FEW_ROWS", few)
        for place in ("blocks.shards", "forest.block_fit"):
            patch.setattr(f"pellucid.ensemble.{place}.PER_WORKER", width)
        rules = RULES | rules | {"min_samples_leaf": 200}
        source = blocks(table, target=y, block_rows=block_rows)
        found = kind(**rules).fit_blocks(source, backend=Serial())
    assert_same(KNOWN.setdefault("entropy", found), found)


KNOWN = {}


def test_a_state_that_is_lost_is_made_anew(monkeypatch, apart):
    kind, rules, table, y = CASES["numbers"]
    rules = RULES | rules | {"n_estimators": 4, "max_depth": 6}
    monkeypatch.setattr(block_forest, "AT_MOST", 2)
    source = blocks(table, target=y, block_rows=4_096)
    whole = kind(**rules).fit_blocks(source)
    rng, counted, found = np.random.default_rng(4), Shards.each, []

    def forgetful(self, *given):
        kept = shards_module._kept.fits.get(self.fit, {})
        for number in [k for k in sorted(kept) if rng.random() < 0.4]:
            del kept[number]
        found.append(self)
        return counted(self, *given)

    monkeypatch.setattr(Shards, "each", forgetful)
    assert_same(whole, kind(**rules).fit_blocks(source))
    assert found[-1].rebuilt > 5


def test_passes_and_bytes_of_a_tree(monkeypatch, apart):
    found, close = [], Shards.close
    monkeypatch.setattr(Shards, "close", lambda self: (found.append(self), close(self))[1])
    for rows in (2_000, 20_000):
        model = RandomForestClassifier(max_depth=5, **RULES)
        model.fit_blocks(blocks(X, target=Y > 0, block_rows=rows), backend=Serial())
    first, second = found
    assert (first.passes, first.received) == (second.passes, second.received)
    forest = model.forest_
    assert first.passes <= 1 + 5  # the deal and five levels
    sums = 8 * 256 * 3 * 2 * int((forest.size > 1_000).sum())  # of two columns
    assert first.received <= sums + (8 + 5) * 2 * N + 48 * len(forest.size)


def test_few_rows_are_brought_together():
    frame = pl.DataFrame({"a": X[:3_000, 0], "b": X[:3_000, 1], "y": Y[:3_000]})
    for kind in (RandomForestRegressor, ExtraTreesRegressor):
        whole = kind(**RULES).fit(frame.select("a", "b"), frame["y"])
        parts = kind(**RULES).fit_blocks(blocks(frame, target="y", block_rows=700))
        assert_same(whole, parts)
        assert parts.feature_names_in_.tolist() == ["a", "b"]


def test_a_forest_of_one_tree_is_a_tree_in_bins(apart):
    one = {"n_estimators": 1, "bootstrap": False, "max_features": None, "max_depth": 4}
    forest = RandomForestRegressor(**one).fit_blocks(blocks(X, target=Y, block_rows=9_000))
    (tree,) = forest.estimators_
    np.testing.assert_allclose(tree.predict(X[:99]), forest.predict(X[:99]))
    exact = DecisionTreeRegressor(max_depth=4).fit(X, Y)
    assert tree.score(X, Y) > exact.score(X, Y) - 0.02


def test_what_blocks_cannot_do_is_said(apart):
    source = blocks(X[:500], target=Y[:500])
    refused = [
        ({"oob_score": True}, "oob_score"),
        ({"warm_start": True}, "warm_start"),
        ({"criterion": "absolute_error"}, "squared_error"),
        ({"categorical_features": [2]}, "categories"),
        ({"monotonic_cst": [1, 0, 0, 0, 0]}, "monotonic_cst"),
    ]
    for rules, words in refused:
        with pytest.raises(ValueError, match=words):
            RandomForestRegressor(**RULES | rules).fit_blocks(source)
    model = RandomForestRegressor(**RULES).fit_blocks(source)
    with pytest.raises(ValueError, match="training rows"):
        model.oob_permutation_importance(X[:500], Y[:500])
