"""ID3, C4.5: the play table, missing values, brute force."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from pellucid.data import load_play_ball
from pellucid.tree import (
    MultiwayTreeClassifier,
    MultiwayTreeRegressor,
    candidate_thresholds,
    export_dnf,
    information_gain,
)

CRITERIA = ["gain_ratio", "entropy", "gini"]


@pytest.mark.parametrize("criterion", CRITERIA)
def test_example_play_tree(criterion):
    """Trees, example 2: the tree of the play table, and its formula."""
    X, y = load_play_ball()
    model = MultiwayTreeClassifier(criterion).fit(X, y)
    assert (model.node_count_, model.get_n_leaves(), model.get_depth()) == (8, 5, 2)
    assert export_dnf(model, "Yes") == (
        "(Outlook = Overcast) OR (Outlook = Rainy AND Wind = Weak) OR "
        "(Outlook = Sunny AND Humidity = Normal)"
    )
    assert model.score(X, y) == 1.0


def test_example_fractions_and_mode():
    """Trees, example 3."""
    X, y = [["rain"]] * 5 + [["overcast"]] * 4 + [["sunny"]], ["yes"] * 9 + ["no"]
    fractions = MultiwayTreeClassifier(pruning=None).fit(X, y)
    assert_allclose(fractions.predict_proba([[None]]), [[0.1, 0.9]])
    mode = MultiwayTreeClassifier(missing="mode", pruning=None).fit(X, y)
    assert_allclose(mode.predict_proba([[np.nan]]), [[0.0, 1.0]])
    X, y = load_play_ball()
    row = pl.DataFrame([["Sunny", "Hot", None, "Weak"]], schema=X.columns, orient="row")
    play = MultiwayTreeClassifier().fit(X, y)
    assert_allclose(play.predict_proba(row)[0, 1], 0.4)
    assert_allclose(play.set_params(missing="mode").predict_proba(row)[0, 1], 0.0)
    gone = pl.DataFrame({name: pl.Series([None], dtype=pl.String) for name in X.columns})
    shares = MultiwayTreeClassifier().fit(X, y).predict_proba(gone)
    assert_allclose(shares, [[5 / 14, 9 / 14]])


def test_fractions_in_training_by_hand():
    """Six rows, one without value: known share 5/6 times the gain among five."""
    X = [["a"], ["a"], ["b"], ["b"], ["b"], [None]]
    y = np.array([0, 0, 1, 1, 0, 1])
    tree = MultiwayTreeClassifier("entropy").fit(X, y).tree_
    known = information_gain(y[:5], ["a", "a", "b", "b", "b"])
    assert_allclose(tree.gain[0], 5 / 6 * known)
    assert_allclose(tree.share, [1, 0.4, 0.6])
    assert_allclose(tree.weighted_n_node_samples, [6, 2.4, 3.6])
    assert_allclose(tree.value[:, 0], [[0.5, 0.5], [2 / 2.4, 0.4 / 2.4], [1 / 3.6, 2.6 / 3.6]])
    mode = MultiwayTreeClassifier("entropy", missing="mode").fit(X, y).tree_
    assert_allclose(mode.gain[0], information_gain(y, ["a", "a", "b", "b", "b", "b"]))
    assert_allclose(mode.weighted_n_node_samples, [6, 2, 4])


def test_root_is_the_best_attribute_by_brute_force():
    rng = np.random.default_rng(0)
    for seed in range(40):
        n = int(rng.integers(4, 20))
        words = rng.choice(["a", "b", "c"], size=(n, 2)).astype(object)
        number = rng.integers(0, 6, size=n).astype(float)
        y = rng.integers(0, 3, size=n)
        frame = pd.DataFrame({"u": words[:, 0], "v": words[:, 1], "x": number})
        gain = information_gain
        options = [(gain(y, frame[c]), j, None) for j, c in enumerate("uv")]
        options += [(gain(y, number > t), 2, t) for t in candidate_thresholds(number, y)]
        options = [o for o in options if o[1] == 2 or frame.iloc[:, o[1]].nunique() > 1]
        tree = MultiwayTreeClassifier("entropy", max_depth=1).fit(frame, y).tree_
        if len(np.unique(y)) == 1 or not options:
            assert tree.node_count == 1
            continue
        top = max(o[0] for o in options)
        _, j, t = next(o for o in options if o[0] >= top - 1e-12)
        assert tree.feature[0] == j, seed
        assert t is None or tree.threshold[0] == t


def test_numeric_attributes_recur_and_categories_do_not():
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"x": rng.normal(size=200), "c": rng.choice(list("pqr"), size=200)})
    y = np.floor(frame["x"]).astype(int) + (frame["c"] == "q")
    model = MultiwayTreeClassifier("entropy").fit(frame, y)
    assert model.score(frame, y) == 1.0
    for rule in model.explain(frame):
        features = [c.feature for c in rule.conditions if c.op == "="]
        assert len(features) == len(set(features))


def test_xor_of_categories_and_of_numbers():
    X, y = 3 * [["a", "p"], ["a", "q"], ["b", "p"], ["b", "q"]], 3 * [0, 1, 1, 0]
    for criterion in CRITERIA:
        assert MultiwayTreeClassifier(criterion).fit(X, y).score(X, y) == 1


def test_unseen_category_gets_the_nodes_own_shares():
    X, y = load_play_ball()
    model = MultiwayTreeClassifier().fit(X, y)
    row = pl.DataFrame([["Sunny", "Hot", "Dry", "Weak"]], schema=X.columns, orient="row")
    assert_allclose(model.predict_proba(row), [[0.6, 0.4]])
    assert model.apply(row)[0] == next(
        i for i in range(8) if model.tree_.parent[i] == 0 and model.tree_.n_node_samples[i] == 5
        and model.tree_.value[i, 0, 0] == 0.6
    )  # fmt: skip


def test_weights_equal_repetition():
    rng = np.random.default_rng(2)
    frame = pd.DataFrame({"x": rng.normal(size=60).round(1), "c": rng.choice(list("pqr"), size=60)})
    frame.loc[::7, "x"] = np.nan
    frame.loc[::11, "c"] = None
    y, w = rng.integers(0, 2, size=60), rng.integers(0, 3, size=60)
    again = np.repeat(np.arange(60), w)
    for missing in ("fractions", "mode"):
        a = MultiwayTreeClassifier(missing=missing).fit(frame, y, sample_weight=w)
        b = MultiwayTreeClassifier(missing=missing).fit(frame.iloc[again], y[again])
        assert_allclose(a.predict_proba(frame), b.predict_proba(frame), atol=1e-9)


def test_regression():
    frame = pd.DataFrame({"c": list("aabbcc"), "x": [1.0, 2, 3, 4, 5, 6]})
    y = np.array([1.0, 1, 5, 5, 9, 9])
    model = MultiwayTreeRegressor().fit(frame, y)
    assert_allclose(model.predict(frame), y)
    assert model.tree_.feature[0] == 0
    assert_allclose(model.feature_importances_, [1, 0])
    missing = pd.DataFrame({"c": [None], "x": [1.0]})
    assert_allclose(model.predict(missing), [5.0])
    stump = MultiwayTreeRegressor(max_depth=1, categorical_features=[0]).fit(frame, y + 1e8)
    assert_allclose(stump.predict(frame), y + 1e8)


def test_which_columns_are_categories():
    X = np.array([[0.0, 1.0], [1.0, 2.0], [2.0, 3.0]])
    y = [0, 1, 2]
    assert MultiwayTreeClassifier().fit(X, y).is_categorical_.tolist() == [False, False]
    for given in ([1], ["x1"], [False, True]):
        model = MultiwayTreeClassifier(categorical_features=given).fit(X, y)
        assert model.is_categorical_.tolist() == [False, True]
    flags = pd.DataFrame({"a": [True, False, True], "b": pd.Categorical(list("xyx"))})
    assert MultiwayTreeClassifier().fit(flags, y).is_categorical_.all()
    with pytest.raises(ValueError, match="categorical_features"):
        MultiwayTreeClassifier(categorical_features=[7]).fit(X, y)
    with pytest.raises(ValueError, match="categorical_features"):
        MultiwayTreeClassifier(categorical_features=[]).fit([["a"], ["b"]], [0, 1])


def test_limits():
    X, y = load_play_ball()
    assert MultiwayTreeClassifier(max_depth=1, pruning=None).fit(X, y).node_count_ == 4
    five = MultiwayTreeClassifier(min_samples_leaf=5, pruning=None).fit(X, y)
    assert (five.tree_.feature[0], five.get_depth()) == (2, 1)  # Humidity halves the days
    assert MultiwayTreeClassifier(min_samples_split=20).fit(X, y).node_count_ == 1


def test_deep_paths_without_recursion():
    n = 1500
    X = np.arange(float(n))[:, None]
    model = MultiwayTreeRegressor().fit(X, 2.0 ** np.minimum(0.5 * np.arange(n), 500))
    assert model.get_depth() > 100
    assert max(len(found.nodes) for found in model.explain(X)) > 100


def test_recovers_a_formula():
    rng = np.random.default_rng(5)
    frame = pd.DataFrame({name: rng.choice(list("xyz"), size=300) for name in "abcd"})
    y = ((frame["a"] == "x") & (frame["c"] != "y")).to_numpy()
    for criterion in CRITERIA:
        formula = export_dnf(MultiwayTreeClassifier(criterion).fit(frame, y), True)
        assert "b =" not in formula
        assert "d =" not in formula
    assert_array_equal(MultiwayTreeClassifier().fit(frame, y).predict(frame), y)
