"""Scores and selectors: scikit-learn and statistics as oracles, greedy searches by brute force."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.special import digamma
from sklearn import feature_selection as sk
from sklearn.callback import ProgressBar
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression as TheirLinear
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.model_selection import KFold, cross_val_score

import pellucid
from pellucid import GaussianNB, LinearRegression
from pellucid.features import (
    RFE,
    SelectFromModel,
    SelectKBest,
    SequentialFeatureSelector,
    f_classif,
    f_regression,
    mutual_info_regression,
    r_regression,
)
from pellucid.features.selection.kernels import relate


def table(n=120, p=6, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) * [1, 5, 0.1, 1, 2, 1][:p] + 3
    y = X[:, 1] - 10 * X[:, 2] + 0.5 * rng.normal(size=n)
    return X, y, (y > np.median(y)).astype(int) + (y > np.quantile(y, 0.8))


@pytest.mark.parametrize("center", [True, False])
def test_regression_scores_equal_scikit_learn(center):
    X, y, _ = table(9000)
    assert_allclose(
        r_regression(X, y, center=center), sk.r_regression(X, y, center=center), rtol=1e-9
    )
    ours, theirs = f_regression(X, y, center=center), sk.f_regression(X, y, center=center)
    assert_allclose(ours[0], theirs[0], rtol=1e-8)
    assert_allclose(ours[1], theirs[1], rtol=1e-7, atol=1e-300)
    assert_allclose(r_regression(sparse.csr_matrix(X), y), r_regression(X, y))


def test_the_kernel_of_the_sums_is_its_numpy_twin():
    X, y, _ = table(50)
    X[:, 2] = 0.1  # its squares are 0, whatever its mean rounds to
    v = y - y.mean()
    shift, squares, cross = np.zeros((3, X.shape[1]))
    relate(X, v, shift, squares, cross)
    C = X - X.mean(axis=0)
    assert squares[2] == 0
    assert_allclose(X[0] + shift, X.mean(axis=0), rtol=1e-14)
    assert_allclose(squares, (C**2).sum(axis=0), rtol=1e-12, atol=1e-28)
    assert_allclose(cross, C.T @ v, rtol=1e-11, atol=1e-12)


def test_class_scores_equal_scikit_learn():
    X, _, c = table(9000)
    ours, theirs = f_classif(X, c), sk.f_classif(X, c)
    assert_allclose(ours[0], theirs[0], rtol=1e-9)
    assert_allclose(ours[1], theirs[1], rtol=1e-7, atol=1e-300)
    words = np.array(["a", "b", "c"])[c]
    assert_allclose(f_classif(X, words)[0], ours[0])


def test_constant_and_perfect_columns():
    X = np.column_stack([np.ones(10), np.arange(10.0), np.random.default_rng(0).normal(size=10)])
    F, p = f_regression(X, np.arange(10.0))
    assert (F[0], p[0]) == (0, 1)
    assert F[1] == np.finfo(float).max
    assert p[1] == 0
    assert np.isnan(f_regression(X, np.arange(10.0), force_finite=False)[0][0])
    F, p = f_classif(X, np.repeat([0, 1], 5))
    assert np.isnan(F[0])


@pytest.mark.parametrize("k", [1, 3, 5])
def test_mutual_information_is_kraskovs_estimate(k):
    """By the definition, point by point."""
    rng = np.random.default_rng(1)
    x = rng.normal(size=60)
    y = x + 0.5 * rng.normal(size=60)
    u, v = x / x.std(), y / y.std()
    dx, dy = np.abs(u[:, None] - u), np.abs(v[:, None] - v)
    radius = np.sort(np.maximum(dx, dy), axis=1)[:, k]
    nx, ny = ((d < radius[:, None]).sum(axis=1) - 1 for d in (dx, dy))
    expected = digamma(60) + digamma(k) - (digamma(nx + 1) + digamma(ny + 1)).mean()
    found = mutual_info_regression(x[:, None], y, n_neighbors=k, random_state=0)[0]
    assert_allclose(found, expected, atol=1e-6)


def test_mutual_information_equals_scikit_learn():
    X, y, c = table(300)
    X[:, 5] = c
    discrete = [False] * 5 + [True]
    params = {"discrete_features": discrete, "random_state": 0}
    ours = mutual_info_regression(X, y, **params)
    assert_allclose(ours, sk.mutual_info_regression(X, y, **params), atol=1e-6)
    positions = mutual_info_regression(X, y, discrete_features=[5], random_state=0)
    assert_array_equal(positions, ours)
    with pytest.raises(ValueError, match="sparse"):
        mutual_info_regression(sparse.csr_matrix(X), y, discrete_features=False)


def test_mutual_information_of_a_normal_pair_is_recovered():
    rng = np.random.default_rng(2)
    x = rng.normal(size=4000)
    y = 0.8 * x + 0.6 * rng.normal(size=4000)
    found = mutual_info_regression(np.column_stack([x, rng.normal(size=4000)]), y, random_state=0)
    assert_allclose(found, [-0.5 * np.log(1 - 0.64), 0], atol=0.05)


@pytest.mark.parametrize("k", [0, 1, 3, "all"])
def test_select_k_best_equals_scikit_learn(k):
    X, y, c = table()
    for ours, theirs, t in ((f_classif, sk.f_classif, c), (f_regression, sk.f_regression, y)):
        mine, other = SelectKBest(ours, k=k).fit(X, t), sk.SelectKBest(theirs, k=k).fit(X, t)
        assert_array_equal(mine.get_support(), other.get_support())
        assert_array_equal(mine.get_support(indices=True), np.flatnonzero(other.get_support()))
        if k != 0:
            assert_array_equal(mine.transform(X), X[:, mine.get_support()])
            continue
        with pytest.warns(UserWarning, match="No features were selected"):
            assert mine.transform(X).shape == (len(X), 0)
    frame = pd.DataFrame(X, columns=list("abcdef"))
    assert list(SelectKBest(f_regression, k=2).fit(frame, y).get_feature_names_out()) == ["b", "c"]


def test_select_k_best_refuses_and_warns(tmp_path):
    X, y, _ = table()
    with pytest.warns(UserWarning, match="All the features will be returned"):
        assert SelectKBest(f_regression, k=10).fit(X, y).get_support().all()
    with pytest.raises(ValueError, match="6 scores"):
        SelectKBest(lambda X, y: np.ones(2), k=1).fit(X, y)
    model = SelectKBest(mutual_info_regression, k=2).fit(X, y)
    pellucid.save(model, tmp_path / "m.pellucid")
    assert pellucid.load(tmp_path / "m.pellucid").score_func is mutual_info_regression
    with pytest.raises(pellucid.ModelFileError, match="lambda"):
        pellucid.save(SelectKBest(lambda X, y: X[0], k=1), tmp_path / "m.pellucid")


@pytest.mark.parametrize("threshold", [None, "mean", "median", "1.25*mean", 0.3, -np.inf])
@pytest.mark.parametrize("max_features", [None, 2, 0])
def test_select_from_model_equals_scikit_learn(threshold, max_features):
    X, y, c = table(60)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    params = {"threshold": threshold, "max_features": max_features}
    for model, target in ((TheirLinear(), y), (LogisticRegression(C=0.1), c)):
        ours = SelectFromModel(model, **params).fit(X, target)
        theirs = sk.SelectFromModel(model, **params).fit(X, target)
        assert_array_equal(ours.get_support(), theirs.get_support())
        assert_allclose(ours.threshold_, theirs.threshold_)


def test_select_from_model_lasso_prefit_and_steps():
    from sklearn.linear_model import ElasticNet, Lasso

    X, y, c = table()
    for model in (Lasso(1.0), ElasticNet(1.0, l1_ratio=1)):
        fitted = model.fit(X, y)
        ours = SelectFromModel(fitted, prefit=True).fit(X, y)
        assert_array_equal(ours.get_support(), fitted.coef_ != 0)
    with pytest.raises(NotFittedError, match="expected to be a fitted estimator"):
        SelectFromModel(Lasso(), prefit=True).fit(X, y)
    online = SelectFromModel(SGDClassifier(random_state=0))
    online.partial_fit(X, c, classes=[0, 1, 2]).partial_fit(X, c)
    assert online.transform(X).shape[1] >= 1
    with pytest.raises(ValueError, match="coef_ or feature_importances_"):
        SelectFromModel(GaussianNB()).fit(X, c)
    with pytest.raises(ValueError, match="multiple"):
        SelectFromModel(Lasso(), threshold="2*mode").fit(X, y)


@pytest.mark.parametrize("step", [1, 2, 0.4])
@pytest.mark.parametrize("keep", [None, 2, 0.5])
def test_rfe_equals_scikit_learn(step, keep):
    X, y, c = table(60)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    for model, target in ((TheirLinear(), y), (LogisticRegression(C=0.1), c)):
        ours = RFE(model, n_features_to_select=keep, step=step).fit(X, target)
        theirs = sk.RFE(model, n_features_to_select=keep, step=step).fit(X, target)
        assert_array_equal(ours.ranking_, theirs.ranking_)
        assert_array_equal(ours.predict(X), theirs.predict(X))
        assert ours.score(X, target) == theirs.score(X, target)
    assert_allclose(ours.predict_proba(X), theirs.predict_proba(X))
    assert_array_equal(ours.classes_, theirs.classes_)


def brute_force(X, y, cv, direction, goal):
    """The greedy search by its definition, with scikit-learn's cross-validation."""
    p = X.shape[1]
    chosen = set() if direction == "forward" else set(range(p))
    while len(chosen) != goal:
        moves = set(range(p)) - chosen if direction == "forward" else chosen
        scored = {
            j: cross_val_score(TheirLinear(), X[:, sorted(chosen ^ {j})], y, cv=cv).mean()
            for j in sorted(moves)
        }
        chosen = chosen ^ {max(scored, key=scored.get)}
    return sorted(chosen)


@pytest.mark.parametrize("direction", ["forward", "backward"])
@pytest.mark.parametrize("goal", [1, 3])
def test_sequential_search_is_greedy(direction, goal):
    X, y, _ = table()
    params = {"n_features_to_select": goal, "direction": direction, "cv": 4}
    ours = SequentialFeatureSelector(LinearRegression(), **params).fit(X, y)
    assert list(ours.get_support(indices=True)) == brute_force(X, y, 4, direction, goal)
    theirs = sk.SequentialFeatureSelector(TheirLinear(), **params).fit(X, y)
    assert_array_equal(ours.support_, theirs.support_)
    assert ours.n_features_to_select_ == goal
    last = ours.steps_[-1]
    again = cross_val_score(TheirLinear(), X[:, list(last.support)], y, cv=4).mean()
    assert_allclose(last.score, again)


def test_sequential_search_stops_when_nothing_helps():
    X, y, _ = table()
    model = SequentialFeatureSelector(LinearRegression(), tol=1e-2).fit(X, y)
    assert list(model.get_support(indices=True)) == [1, 2]
    both = SequentialFeatureSelector(LinearRegression(), direction="both", tol=1e-2).fit(X, y)
    assert list(both.get_support(indices=True)) == [1, 2]
    scores = [step.score for step in both.steps_]
    assert scores == sorted(scores)


def test_both_drops_what_a_pair_makes_useless():
    """x0 alone is best, but x1 and x2 together say all that it says."""
    rng = np.random.default_rng(3)
    a, b = rng.normal(size=(2, 300))
    X = np.column_stack([a + b + 0.4 * rng.normal(size=300), a, b])
    model = SequentialFeatureSelector(LinearRegression(), direction="both").fit(X, a + b)
    assert model.steps_[0][:2] == ("add", (0,))
    assert {1, 2} <= set(model.get_support(indices=True))


def test_groups_move_together_and_threads_change_nothing():
    X, y, _ = table()
    frame = pd.DataFrame(X, columns=list("abcdef"))
    groups = [["a", "b"], ["c"], [3, 4, 5]]
    params = {"feature_groups": groups, "n_features_to_select": 2, "cv": KFold(3)}
    model = SequentialFeatureSelector(LinearRegression(), **params).fit(frame, y)
    assert list(model.get_support(indices=True)) == [0, 1, 2]
    two = SequentialFeatureSelector(LinearRegression(), n_jobs=2, **params).fit(frame, y)
    assert two.steps_ == model.steps_
    with pytest.raises(ValueError, match="6 columns once"):
        SequentialFeatureSelector(LinearRegression(), feature_groups=[[0, 1]]).fit(X, y)


def test_progress(capsys):
    X, y, _ = table(60)
    SequentialFeatureSelector(LinearRegression()).set_callbacks(ProgressBar()).fit(X, y)
    assert "Sequential" in "".join(capsys.readouterr())
