"""Random forests: oracle (the exact tree), invariants, recovery, every option."""

import numpy as np
import pytest
import sklearn.ensemble
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import make_classification
from sklearn.metrics import balanced_accuracy_score, recall_score

import pellucid
from pellucid import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from pellucid.compiled.trees.presort import presort
from pellucid.ensemble import Bootstrap, Disjoint
from pellucid.ensemble.forest.growing import is_coded
from pellucid.tree.growing import Classes, Growth, grow_tree

rng = np.random.default_rng(0)
X = rng.normal(size=(300, 5))
TWO = (X[:, 0] + X[:, 1] > 0).astype(int)
THREE = np.digitize(X[:, 0] + 0.3 * X[:, 2], [-0.5, 0.5])
NUMBERS = np.sin(2 * X[:, 0]) + X[:, 1] + 0.3 * rng.normal(size=300)


def assert_same_tree(a, b):
    for field, left, right in zip(a._fields, a, b, strict=True):
        if field != "missing_go_to_left":
            assert_allclose(np.asarray(left), np.asarray(right), atol=1e-12, err_msg=field)


# --- oracle ----------------------------------------------------------------------------------


@pytest.mark.parametrize("criterion", ["gini", "entropy"])
@pytest.mark.parametrize("y", [TWO, THREE], ids=["two", "three"])
@pytest.mark.parametrize(
    "limits",
    [{}, {"max_depth": 3}, {"min_samples_leaf": 7}, {"min_samples_split": 30},
     {"min_impurity_decrease": 0.01}, {"min_weight_fraction_leaf": 0.05}, {"ccp_alpha": 0.01}],
    ids=str,
)  # fmt: skip
def test_all_rows_and_features_give_the_exact_tree(criterion, y, limits):
    forest = RandomForestClassifier(
        1, criterion=criterion, bootstrap=False, max_features=None, **limits
    ).fit(X, y)
    tree = DecisionTreeClassifier(criterion=criterion, **limits).fit(X, y)
    assert_same_tree(forest.forest_.tree(0), tree.tree_)


@pytest.mark.parametrize("limits", [{}, {"max_depth": 4}, {"min_impurity_decrease": 0.01}], ids=str)
def test_all_rows_and_features_give_the_exact_regression_tree(limits):
    forest = RandomForestRegressor(1, bootstrap=False, **limits).fit(X, NUMBERS)
    tree = DecisionTreeRegressor(**limits).fit(X, NUMBERS)
    assert_same_tree(forest.forest_.tree(0), tree.tree_)


@pytest.mark.parametrize("weights", ["whole", "real"])
def test_weighted_exact_tree(weights):
    w = rng.integers(0, 4, 300).astype(float) if weights == "whole" else rng.random(300)
    for forest, tree, y in (
        (
            RandomForestClassifier(1, bootstrap=False, max_features=None),
            DecisionTreeClassifier(),
            THREE,
        ),
        (RandomForestRegressor(1, bootstrap=False), DecisionTreeRegressor(), NUMBERS),
    ):
        assert_same_tree(
            forest.fit(X, y, sample_weight=w).forest_.tree(0),
            tree.fit(X, y, sample_weight=w).tree_,
        )


def test_missing_cells_give_the_exact_tree():
    holes = X.copy()
    holes[rng.random(X.shape) < 0.2] = np.nan
    for y in (TWO, THREE):
        forest = RandomForestClassifier(1, bootstrap=False, max_features=None).fit(holes, y)
        tree = DecisionTreeClassifier().fit(holes, y)
        assert_same_tree(forest.forest_.tree(0), tree.tree_)
        assert_array_equal(
            forest.forest_.tree(0).missing_go_to_left[tree.tree_.feature >= 0],
            tree.tree_.missing_go_to_left[tree.tree_.feature >= 0],
        )


def test_each_tree_is_the_exact_tree_of_its_bag():
    """Also with features drawn at random: the seeds of the nodes are shared."""
    forest = RandomForestClassifier(3, random_state=1).fit(X, THREE)
    data, target = presort(X), Classes(THREE[:, None], np.array([3]))
    for b in range(3):
        from pellucid.compiled.trees.search import mix

        counts = forest.sampler_.counts(b)
        growth = Growth("gini", max_features=2)
        tree = grow_tree(data, target, counts, growth, mix(forest.sampler_.seed, b))
        assert_same_tree(forest.forest_.tree(b), tree)


def test_each_regression_tree_is_the_exact_tree_of_its_bag():
    """Columns that divide a small bag alike tie, whichever side of the cut holds which rows."""
    for seed in range(20):
        draws = np.random.default_rng(seed)
        A, a = draws.normal(size=(60, 3)), draws.normal(size=60)
        forest = RandomForestRegressor(5, random_state=seed).fit(A, a)
        for b, rows in enumerate(forest.estimators_samples_):
            tree = DecisionTreeRegressor().fit(A, a, sample_weight=np.bincount(rows, minlength=60))
            assert_same_tree(forest.forest_.tree(b), tree.tree_)


def test_a_large_table_is_as_good_as_scikit_learn():
    A, a = make_classification(9000, 10, n_informative=6, random_state=0)
    ours = RandomForestClassifier(30, random_state=0).fit(A[:6000], a[:6000])
    theirs = sklearn.ensemble.RandomForestClassifier(30, random_state=0).fit(A[:6000], a[:6000])
    assert ours.score(A[6000:], a[6000:]) > theirs.score(A[6000:], a[6000:]) - 0.015
    assert ours.score(A[:6000], a[:6000]) > 0.99


def test_answers_are_means_of_the_trees():
    forest = RandomForestClassifier(15, random_state=0).fit(X, THREE)
    each = np.array([tree.predict_proba(X) for tree in forest.estimators_])
    assert_allclose(forest.predict_proba(X), each.mean(axis=0), atol=1e-12)
    votes = np.array([(each.argmax(axis=2) == k).sum(axis=0) for k in range(3)]).T
    assert_array_equal(forest.vote_counts(X), votes)
    assert_array_equal(forest.predict_vote(X), votes.argmax(axis=1))
    leaves = np.array([tree.apply(X) for tree in forest.estimators_]).T
    assert_array_equal(forest.apply(X), leaves)
    numbers = RandomForestRegressor(15, random_state=0).fit(X, NUMBERS)
    each = np.array([tree.predict(X) for tree in numbers.estimators_])
    assert_allclose(numbers.predict(X), each.mean(axis=0), atol=1e-12)


def test_importances_are_those_of_the_trees():
    forest = RandomForestClassifier(10, random_state=0).fit(X, THREE)
    each = np.array([tree.feature_importances_ for tree in forest.estimators_])
    assert_allclose(forest.feature_importances_, each.mean(axis=0))
    assert forest.feature_importances_.sum() == pytest.approx(1.0)
    raw = [t.tree_.compute_feature_importances(normalize=False) for t in forest.estimators_]
    assert_allclose(forest.raw_importances_, np.mean(raw, axis=0))


def test_decision_path():
    forest = RandomForestClassifier(4, random_state=0).fit(X, TWO)
    paths, start = forest.decision_path(X[:6])
    assert paths.shape == (6, start[-1])
    for t, tree in enumerate(forest.estimators_):
        part = paths[:, start[t] : start[t + 1]]
        assert (part != tree.decision_path(X[:6])).nnz == 0


# --- out of bag --------------------------------------------------------------------------------


def test_out_of_bag_by_hand():
    forest = RandomForestClassifier(25, oob_score=True, random_state=0).fit(X, THREE)
    total, votes = np.zeros((300, 3)), np.zeros(300)
    for tree, rows in zip(forest.estimators_, forest.estimators_samples_, strict=True):
        out = np.setdiff1d(np.arange(300), rows)
        total[out] += tree.predict_proba(X[out])
        votes[out] += 1
    assert_allclose(forest.oob_decision_function_, total / votes[:, None])
    right = total.argmax(axis=1) == THREE
    assert forest.oob_score_ == pytest.approx(right.mean())
    assert forest.oob_curve_[-1] == pytest.approx(1 - right.mean())
    assert forest.oob_curve_.shape == (25,)


def test_out_of_bag_numbers_by_hand():
    forest = RandomForestRegressor(25, oob_score=True, random_state=0).fit(X, NUMBERS)
    total, votes = np.zeros(300), np.zeros(300)
    for tree, rows in zip(forest.estimators_, forest.estimators_samples_, strict=True):
        out = np.setdiff1d(np.arange(300), rows)
        total[out] += tree.predict(X[out])
        votes[out] += 1
    assert_allclose(forest.oob_prediction_, total / votes)
    assert forest.oob_curve_[-1] == pytest.approx(((total / votes - NUMBERS) ** 2).mean())


def test_rows_that_every_tree_saw_are_nan_and_warned_of():
    with pytest.warns(UserWarning, match="do not have OOB scores"):
        forest = RandomForestClassifier(2, oob_score=True, random_state=0).fit(X, TWO)
    never = np.isnan(forest.oob_decision_function_[:, 0])
    assert 0 < never.sum() < 300
    assert 0 <= forest.oob_score_ <= 1


def test_oob_score_may_be_a_function():
    forest = RandomForestClassifier(30, oob_score=balanced_accuracy_score, random_state=0)
    forest.fit(X, THREE)
    answer = forest.oob_decision_function_.argmax(axis=1)
    assert forest.oob_score_ == pytest.approx(balanced_accuracy_score(THREE, answer))


def test_out_of_bag_agrees_with_unseen_rows():
    """Recovery: the estimate is near the error on new rows."""
    A, a = make_classification(3000, 10, n_informative=5, flip_y=0.1, random_state=2)
    forest = RandomForestClassifier(100, oob_score=True, random_state=0).fit(A[:1000], a[:1000])
    assert forest.oob_score_ == pytest.approx(forest.score(A[1000:], a[1000:]), abs=0.03)


# --- invariants --------------------------------------------------------------------------------


@pytest.mark.parametrize("model", [RandomForestClassifier, RandomForestRegressor])
def test_the_order_of_the_rows_does_not_matter(model):
    turn = np.random.default_rng(1).permutation(300)
    y = TWO if model is RandomForestClassifier else NUMBERS
    a = model(10, random_state=0).fit(X, y)
    b = model(10, random_state=0).fit(X[turn], y[turn])
    assert_allclose(a.predict(X), b.predict(X), atol=1e-12)


@pytest.mark.parametrize("n", [300, 5000])
def test_any_number_of_jobs(n):
    A, a = make_classification(n, 8, random_state=0)
    one = RandomForestClassifier(12, n_jobs=1, random_state=0).fit(A, a)
    three = RandomForestClassifier(12, n_jobs=3, random_state=0).fit(A, a)
    for left, right in zip(one.forest_, three.forest_, strict=True):
        assert_array_equal(left, right)


@pytest.mark.parametrize("model", [RandomForestClassifier, RandomForestRegressor])
def test_warm_start_adds_trees(model):
    y = TWO if model is RandomForestClassifier else NUMBERS
    grown = model(5, warm_start=True, random_state=0).fit(X, y)
    grown.set_params(n_estimators=12).fit(X, y)
    whole = model(12, random_state=0).fit(X, y)
    assert_array_equal(grown.predict(X), whole.predict(X))
    if model is RandomForestRegressor:
        assert_array_equal(grown.predict_quantiles(X), whole.predict_quantiles(X))
    with pytest.raises(ValueError, match="n_estimators=3"):
        grown.set_params(n_estimators=3).fit(X, y)
    with pytest.warns(UserWarning, match="nothing was fitted"):
        grown.set_params(n_estimators=12).fit(X, y)


def test_sampling_says_the_same_as_the_keywords():
    a = RandomForestClassifier(5, class_weight="balanced", random_state=0).fit(X, THREE)
    b = RandomForestClassifier(5, sampling=Bootstrap(class_weight="balanced"), random_state=0)
    assert_array_equal(a.predict_proba(X), b.fit(X, THREE).predict_proba(X))
    a = RandomForestClassifier(5, max_samples=0.3, random_state=0).fit(X, THREE)
    b = RandomForestClassifier(5, sampling=Bootstrap(0.3), random_state=0).fit(X, THREE)
    assert_array_equal(a.predict_proba(X), b.predict_proba(X))
    a = RandomForestClassifier(5, bootstrap=False, random_state=0).fit(X, THREE)
    b = RandomForestClassifier(5, sampling=None, random_state=0).fit(X, THREE)
    assert_array_equal(a.predict_proba(X), b.predict_proba(X))


# --- options -----------------------------------------------------------------------------------


@pytest.mark.parametrize("how", ["balanced", "balanced_subsample", "under", "dict"])
def test_rare_classes_are_found_more_often(how):
    A, a = make_classification(2000, 6, weights=[0.93], class_sep=0.4, flip_y=0, random_state=1)
    plain = RandomForestClassifier(40, max_depth=4, random_state=0).fit(A[:1000], a[:1000])
    params = {
        "balanced": {"class_weight": "balanced"},
        "balanced_subsample": {"class_weight": "balanced_subsample"},
        "dict": {"class_weight": {0: 1, 1: 12}},
        "under": {"sampling": Bootstrap(balance="under")},
    }[how]
    model = RandomForestClassifier(40, max_depth=4, random_state=0, **params).fit(
        A[:1000], a[:1000]
    )
    found = [recall_score(a[1000:], m.predict(A[1000:])) for m in (plain, model)]
    assert found[1] > found[0] + 0.1


@pytest.mark.parametrize(
    "params",
    [{"criterion": "absolute_error"}, {"criterion": "poisson"}, {"max_leaf_nodes": 8},
     {"monotonic_cst": [0, 1, 0, 0, 0]}, {"criterion": "friedman_mse"}],
    ids=str,
)  # fmt: skip
def test_other_regression_forests(params):
    y = np.exp(NUMBERS)
    model = RandomForestRegressor(10, random_state=0, **params).fit(X, y)
    assert model.score(X, y) > 0.4
    assert model.predict_quantiles(X[:5], 0.5).shape == (5,)
    if "monotonic_cst" in params:
        line = np.zeros((30, 5))
        line[:, 1] = np.linspace(-2, 2, 30)
        assert (np.diff(model.predict(line)) >= -1e-12).all()


def test_several_outputs():
    Y = np.stack([TWO, THREE], axis=1)
    model = RandomForestClassifier(25, oob_score=True, random_state=0).fit(X, Y)
    assert model.predict(X).shape == (300, 2)
    assert [p.shape for p in model.predict_proba(X)] == [(300, 2), (300, 3)]
    assert [v.sum(axis=1).max() for v in model.vote_counts(X)] == [25, 25]
    assert model.predict_vote(X).shape == (300, 2)
    assert model.oob_score_ > 0.7
    pair = RandomForestRegressor(25, oob_score=True, random_state=0).fit(X, X[:, :2])
    assert pair.predict(X).shape == (300, 2)
    assert pair.oob_prediction_.shape == (300, 2)
    mean, std = pair.predict(X, return_std=True)
    assert mean.shape == std.shape == (300, 2)
    with pytest.raises(ValueError, match="one target"):
        pair.predict_quantiles(X)


def test_disjoint_and_noisy_forests():
    parts = RandomForestClassifier(10, sampling=Disjoint(), oob_score=True, random_state=0)
    parts.fit(X, TWO)
    assert sum(len(rows) for rows in parts.estimators_samples_) == 300
    assert parts.oob_score_ > 0.7
    noisy = RandomForestClassifier(
        1, sampling=Bootstrap(replace=False, label_noise=0.3), max_features=None, random_state=0
    ).fit(X, TWO)
    assert 0.7 < noisy.score(X, TWO) < 0.95  # half of the redrawn labels are others


def test_one_class_one_row_constant_columns():
    model = RandomForestClassifier(3).fit([[1.0], [2.0]], ["a", "a"])
    assert_array_equal(model.predict_proba([[5.0]]), [[1.0]])
    assert RandomForestRegressor(3).fit([[1.0]], [4.0]).predict([[0.0]])[0] == 4.0
    constant = RandomForestRegressor(3).fit(np.zeros((10, 2)), np.arange(10.0))
    assert (constant.forest_.feature < 0).all()


@pytest.mark.parametrize(
    ("params", "word"),
    [
        ({"sampling": "boot"}, "sampling"),
        ({"sampling": 3}, "sampling"),
        ({"bootstrap": False, "oob_score": True}, "bootstrap=True"),
        ({"bootstrap": False, "max_samples": 0.5}, "bootstrap=True"),
        ({"max_samples": "most"}, "max_samples"),
        ({"max_samples": -1.0}, "max_samples"),
        ({"n_estimators": 0}, "n_estimators"),
        ({"n_jobs": 0}, "n_jobs"),
        ({"class_weight": "even"}, "class_weight"),
        ({"max_features": 0}, "max_features"),
        ({"criterion": "squared_error"}, "criterion"),
    ],
)
def test_bad_parameters(params, word):
    with pytest.raises(ValueError, match=word):
        RandomForestClassifier(**{"n_estimators": 2, **params}).fit(X, TWO)


def test_slim_record(tmp_path):
    """The file is no larger than the node arrays and a small head."""
    model = RandomForestClassifier(20, random_state=0).fit(X, TWO)
    pellucid.save(model, tmp_path / "f.pellucid")
    arrays = sum(a.nbytes for a in model.forest_ if isinstance(a, np.ndarray))
    assert (tmp_path / "f.pellucid").stat().st_size < arrays + 4 * 300 + 20_000


def test_which_grower():
    target = Classes(TWO[:, None], np.array([2]))
    assert is_coded(Growth("gini"), target)
    assert not is_coded(Growth("misclassification"), target)
    assert not is_coded(Growth("gini", max_leaf_nodes=5), target)
    assert not is_coded(Growth("squared_error"), np.zeros((3, 2)))
