"""The default multiway tree is C4.5: Quinlan's golf tree, and the guards one by one."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.model_selection import StratifiedKFold, cross_val_score

from pellucid import AdaBoostClassifier, MultiwayTreeClassifier

# Quinlan, C4.5 (1993), table 1.1: outlook, temperature, humidity, windy, class
GOLF = """sunny 75 70 true Play
sunny 80 90 true Don't
sunny 85 85 false Don't
sunny 72 95 false Don't
sunny 69 70 false Play
overcast 72 90 true Play
overcast 83 78 false Play
overcast 64 65 true Play
overcast 81 75 false Play
rain 71 80 true Don't
rain 65 70 true Don't
rain 75 80 false Play
rain 68 80 false Play
rain 70 96 false Play"""


def golf():
    table = pd.DataFrame([line.split() for line in GOLF.splitlines()])
    table.columns = ["outlook", "temperature", "humidity", "windy", "class"]
    numbers = {name: table[name].astype(float) for name in ("temperature", "humidity")}
    return table.assign(**numbers).drop(columns="class"), table["class"].to_numpy()


def test_quinlans_golf_tree():
    """Figure 1.1: outlook; humidity at 75 where it is sunny, wind where it rains; five leaves."""
    X, y = golf()
    model = MultiwayTreeClassifier().fit(X, y)
    assert (model.node_count_, model.get_n_leaves(), model.score(X, y)) == (8, 5, 1.0)
    paths = {
        " ".join(f"{c.feature} {c.op} {c.value}" for c in found.conditions)
        for found in model.explain(X)
    }
    assert paths == {
        "outlook = overcast",
        "outlook = rain windy = false",
        "outlook = rain windy = true",
        "outlook = sunny humidity <= 75.0",
        "outlook = sunny humidity > 75.0",
    }
    assert "pessimistic pruning" in model.card().evaluation


def test_gains_of_the_golf_table():
    """The gain of outlook is 0.247 bits (Quinlan, section 2.2); the number pays for its cut."""
    X, y = golf()
    assert_allclose(MultiwayTreeClassifier().fit(X, y).tree_.gain[0], 0.2467, atol=5e-5)
    alone = MultiwayTreeClassifier("gain_ratio", pruning=None, max_depth=1)
    free = MultiwayTreeClassifier("entropy", max_depth=1)
    humid = X[["humidity"]]
    free.fit(humid, y)
    t = free.tree_.threshold[0]
    values = np.sort(humid["humidity"].to_numpy())
    last = np.flatnonzero(np.diff(values) > 0)
    cuts = ((last + 1 >= 2) & (14 - last - 1 >= 2)).sum()
    alone.fit(humid, y)
    if alone.tree_.node_count > 1:
        assert alone.tree_.threshold[0] == values[values <= t].max()
        assert_allclose(alone.tree_.gain[0], free.tree_.gain[0] - np.log2(cuts) / 14)
    else:
        assert free.tree_.gain[0] <= np.log2(cuts) / 14


@pytest.mark.parametrize("load", [load_breast_cancer, load_wine])
def test_not_below_entropy(load):
    """Five folds, dealt twenty times."""
    X, y = load(return_X_y=True)
    folds = [StratifiedKFold(5, shuffle=True, random_state=seed) for seed in range(20)]
    ours, plain = (
        np.mean([cross_val_score(MultiwayTreeClassifier(c), X, y, cv=cv) for cv in folds])
        for c in ("gain_ratio", "entropy")
    )
    assert ours >= plain - 1e-9


def test_a_row_number_is_not_asked_for():
    """Its ratio is not the best, its gain is; the average leaves it out of the reckoning."""
    X, y = golf()
    named = X.assign(day=[f"d{i}" for i in range(14)])
    assert "day" not in {
        c.feature
        for e in MultiwayTreeClassifier().fit(named, y).explain(named)
        for c in e.conditions
    }


def test_average_gain_guards_against_lopsided_questions():
    """A question that sets two rows of 100 apart has a fine ratio and little gain."""
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 50)
    good = np.where(rng.random(100) < 0.85, y, 1 - y)
    rare = np.r_[np.zeros(98), 1, 1]
    X = pd.DataFrame({"rare": rare.astype(int).astype(str), "good": good.astype(str)})
    assert MultiwayTreeClassifier(max_depth=1).fit(X, y).tree_.feature[0] == 1


def test_two_branches_of_two_cases():
    X = [["a"], ["a"], ["a"], ["b"]]
    assert MultiwayTreeClassifier(pruning=None).fit(X, [0, 0, 0, 1]).node_count_ == 1
    assert MultiwayTreeClassifier("entropy").fit(X, [0, 0, 0, 1]).node_count_ == 3
    more = MultiwayTreeClassifier(pruning=None).fit([*X, ["b"], ["c"]], [0, 0, 0, 1, 1, 1])
    assert more.node_count_ == 4  # a third branch may be smaller


def test_a_number_is_cut_among_rows_of_one_class_where_the_sides_ask_for_it():
    """Two cases on either side: the cut where the label changes is not to be had."""
    X, y = np.arange(4.0)[:, None], [0, 1, 1, 1]
    model = MultiwayTreeClassifier(pruning=None).fit(X, y)
    assert_array_equal(model.tree_.value[1:, 0], [[0.5, 0.5], [0.0, 1.0]])
    assert MultiwayTreeClassifier("entropy", max_depth=1).fit(X, y).tree_.threshold[0] == 0.5


def test_pruning_follows_the_criterion():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 3)), rng.integers(0, 2, 200)
    assert MultiwayTreeClassifier().fit(X, y).node_count_ < 20
    grown = MultiwayTreeClassifier("entropy").fit(X, y)
    assert grown.score(X, y) == 1.0
    assert "no penalty on size" in grown.card().evaluation
    with pytest.raises(ValueError, match="pruning"):
        MultiwayTreeClassifier(pruning="hard").fit(X, y)


def test_weights_that_are_shares_count_cases():
    """Weights that sum to 1 do not make every node too small; whole weights are repetitions."""
    X, y = load_wine(return_X_y=True)
    plain = MultiwayTreeClassifier().fit(X, y)
    shares = MultiwayTreeClassifier().fit(X, y, sample_weight=np.full(len(y), 1 / len(y)))
    assert_array_equal(plain.predict(X), shares.predict(X))
    twice = MultiwayTreeClassifier().fit(X, y, sample_weight=np.full(len(y), 2.0))
    again = MultiwayTreeClassifier().fit(np.repeat(X, 2, axis=0), np.repeat(y, 2))
    assert_array_equal(twice.tree_.threshold, again.tree_.threshold)
    boosted = AdaBoostClassifier(MultiwayTreeClassifier(max_depth=1), n_estimators=10)
    assert boosted.fit(X, y == 1).score(X, y == 1) > 0.9
