"""Extremely randomised trees: the exact random tree, scikit-learn's scores, categories."""

import numpy as np
import pandas as pd
import pytest
import sklearn.ensemble
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_breast_cancer, load_diabetes, make_friedman1

import pellucid
from pellucid import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from pellucid.compiled.trees.presort import presort
from pellucid.compiled.trees.search import mix
from pellucid.tree.growing import Classes, Growth, grow_tree

rng = np.random.default_rng(0)
X = rng.normal(size=(200, 5)).round(2)
HOLES = np.where(rng.random(X.shape) < 0.1, np.nan, X)
THREE = np.digitize(X[:, 0] + 0.3 * X[:, 2], [-0.5, 0.5])
NUMBERS = np.sin(2 * X[:, 0]) + X[:, 1] + 0.3 * rng.normal(size=200)


@pytest.mark.parametrize("table", [X, HOLES], ids=["known", "holes"])
def test_each_tree_is_the_random_tree_of_its_seed(table):
    """Cells as they are, or coded (holes), draw the thresholds that the sorted ones draw."""
    data, labels = presort(table), Classes(THREE[:, None], np.array([3]))
    for model, target, criterion, k in (
        (ExtraTreesClassifier(3, random_state=1), labels, "gini", 2),
        (ExtraTreesRegressor(3, random_state=1), NUMBERS[:, None], "squared_error", 5),
    ):
        model.fit(table, THREE if criterion == "gini" else NUMBERS)
        for b in range(3):
            growth = Growth(criterion, splitter="random", max_features=k)
            tree = grow_tree(data, target, np.ones(200), growth, mix(model.sampler_.seed, b))
            found = model.forest_.tree(b)
            for name in ("feature", "threshold", "value", "n_node_samples"):
                assert_allclose(getattr(found, name), getattr(tree, name), atol=1e-12)


@pytest.mark.parametrize("kind", ["classes", "numbers"])
def test_scores_are_those_of_scikit_learn(kind):
    """Beyond, item 2: held-out scores over seeds agree within their own noise, on two tables."""
    if kind == "classes":
        A, a = load_breast_cancer(return_X_y=True)
        ours, theirs = ExtraTreesClassifier, sklearn.ensemble.ExtraTreesClassifier
        tables = [(A, a), (A[:, :8].round(1), np.digitize(A[:, 20], [13, 18]))]
    else:
        ours, theirs = ExtraTreesRegressor, sklearn.ensemble.ExtraTreesRegressor
        tables = [load_diabetes(return_X_y=True), make_friedman1(500, noise=1.0, random_state=0)]
    for A, a in tables:
        turn = np.random.default_rng(0).permutation(len(a))
        train, test = turn[: len(a) // 2], turn[len(a) // 2 :]
        scores = np.array([
            [model(30, random_state=s).fit(A[train], a[train]).score(A[test], a[test])
             for s in range(6)] for model in (ours, theirs)
        ])  # fmt: skip
        noise = np.sqrt(scores.var(axis=1, ddof=1).sum() / 6)
        assert abs(scores[0].mean() - scores[1].mean()) < 4 * noise + 0.004


def test_trees_are_less_alike_than_those_of_a_forest():
    A, a = make_friedman1(600, noise=1.0, random_state=1)
    spread = []
    for model in (RandomForestRegressor, ExtraTreesRegressor):
        forest = model(20, bootstrap=False, max_features=0.5, random_state=0).fit(A[:300], a[:300])
        each = np.array([tree.predict(A[300:]) for tree in forest.estimators_])
        spread.append(np.corrcoef(each - a[300:])[np.triu_indices(20, 1)].mean())
    assert spread[1] < spread[0]


@pytest.mark.parametrize("k", [2, 6], ids=["by_column", "by_row"])
def test_the_random_tree_within_limits(k):
    """Two classes and numbers, weights, limits on the sides, constant and repeated columns."""
    r = np.random.default_rng(5)
    bits = r.integers(0, 2, (5000, 2))
    table = np.column_stack([r.normal(size=(5000, 3)).round(1), np.ones(5000), bits])
    w = r.integers(0, 4, 5000).astype(float)
    y = table[:, 0] + table[:, 4] + 0.2 * r.normal(size=5000)
    data, labels = presort(table), Classes((y > 0.5).astype(int)[:, None], np.array([2]))
    limits = {"max_features": k, "min_samples_leaf": 3, "max_depth": 12}
    for model, target, criterion in (
        (ExtraTreesClassifier, labels, "gini"),
        (ExtraTreesClassifier, labels, "entropy"),
        (ExtraTreesRegressor, y[:, None], "squared_error"),
    ):
        answers = y if criterion == "squared_error" else labels.codes[:, 0]
        forest = model(2, criterion=criterion, random_state=1, **limits)
        forest.fit(table, answers, sample_weight=w)
        growth = Growth(criterion, splitter="random", **limits)
        tree = grow_tree(data, target, w, growth, mix(forest.sampler_.seed, 1))
        found = forest.forest_.tree(1)
        for name in ("feature", "threshold", "value", "n_node_samples", "impurity"):
            assert_allclose(getattr(found, name), getattr(tree, name), atol=1e-9)


def test_large_tables_are_exact_and_the_same_for_any_number_of_threads():
    A = np.random.default_rng(2).normal(size=(6000, 6))
    a = (A[:, 0] + A[:, 1] ** 2 > 1).astype(int)
    found = [ExtraTreesClassifier(8, n_jobs=n, random_state=0).fit(A[:5000], a[:5000])
             for n in (1, 2)]  # fmt: skip
    assert_array_equal(found[0].forest_.threshold, found[1].forest_.threshold)
    assert found[0].score(A[:5000], a[:5000]) == 1.0
    assert found[0].score(A[5000:], a[5000:]) > 0.9


@pytest.mark.parametrize(
    "model",
    [RandomForestClassifier, ExtraTreesClassifier, RandomForestRegressor, ExtraTreesRegressor],
)
def test_forests_split_categories(model, tmp_path):
    """Sets of levels in every tree, saved and read back; unseen levels are answered."""
    r = np.random.default_rng(3)
    kinds = r.choice(list("abcdefgh"), 400)
    frame = pd.DataFrame({"kind": pd.Categorical(kinds), "x": r.normal(size=400)})
    y = np.isin(kinds, ["a", "d", "g"]) ^ (frame["x"].to_numpy() > 1)
    y = y.astype(float) if "Regressor" in model.__name__ else y
    forest = model(12, random_state=0).fit(frame[:300], y[:300])
    assert forest.score(frame[300:], y[300:]) > 0.85
    assert forest.feature_importances_[0] > 0.2  # half of an exclusive or
    forest.forest_.check()
    leaves = np.array([tree.apply(frame) for tree in forest.estimators_]).T
    assert_array_equal(forest.apply(frame), leaves)
    path = tmp_path / "forest.pellucid"
    pellucid.save(forest, path)
    assert_array_equal(pellucid.load(path).predict(frame), forest.predict(frame))
    forest.predict(frame[:1].assign(kind=pd.Categorical(["zebra"])))
    forest.set_params(warm_start=True, n_estimators=14).fit(frame[:300], y[:300])
    assert forest.forest_.n_trees == 14
    again = model(14, random_state=0).fit(frame[:300], y[:300])
    assert_array_equal(again.forest_.threshold, forest.forest_.threshold)
    assert_array_equal(again.forest_.sets, forest.forest_.sets)


def test_out_of_bag_needs_drawn_rows():
    with pytest.raises(ValueError, match="bootstrap=True"):
        ExtraTreesClassifier(5, oob_score=True).fit(X, THREE)
    model = ExtraTreesClassifier(60, bootstrap=True, oob_score=True, random_state=0).fit(X, THREE)
    assert model.oob_score_ > 0.6
