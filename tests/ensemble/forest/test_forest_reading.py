"""Reading forests: proximity, permutation importance, quantiles, the jackknife."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from pellucid import OutOfBagSearch, RandomForestClassifier, RandomForestRegressor, Ridge
from pellucid.ensemble import Bootstrap

rng = np.random.default_rng(5)
X = rng.normal(size=(150, 4))
Y = (X[:, 0] > 0).astype(int)
Z = 2 * X[:, 0] + rng.normal(size=150)


def test_proximity_by_hand():
    model = RandomForestClassifier(20, random_state=0).fit(X, Y)
    leaves = model.apply(X)
    expected = (leaves[:, None, :] == leaves[None, :, :]).mean(axis=2)
    assert_allclose(model.proximity(X), expected, atol=1e-7)
    assert_array_equal(np.diag(model.proximity(X)), 1.0)
    assert_allclose(model.proximity(X[:7], X[3:9]), expected[:7, 3:9], atol=1e-7)


def test_out_of_bag_proximity_by_hand():
    model = RandomForestClassifier(30, random_state=0).fit(X, Y)
    leaves = model.apply(X)
    out = np.ones((150, 30), bool)
    for b, rows in enumerate(model.estimators_samples_):
        out[rows, b] = False
    both = (out[:, None] & out[None]).sum(axis=2)
    same = (out[:, None] & out[None] & (leaves[:, None] == leaves[None])).sum(axis=2)
    with np.errstate(invalid="ignore"):
        expected = same / both
    np.fill_diagonal(expected, 1.0)
    assert_allclose(model.proximity(X, oob=True), expected, atol=1e-6)


def test_out_of_bag_readings_need_the_training_data():
    model = RandomForestClassifier(5, random_state=0).fit(X, Y)
    with pytest.raises(ValueError, match="training rows"):
        model.proximity(X + 1, oob=True)
    with pytest.raises(ValueError, match="Y must be None"):
        model.proximity(X, X, oob=True)
    with pytest.raises(ValueError, match="training rows"):
        model.oob_permutation_importance(X[::-1], Y)
    with pytest.raises(ValueError, match="training targets"):
        model.oob_permutation_importance(X, 1 - Y)
    whole = RandomForestClassifier(5, bootstrap=False).fit(X, Y)
    with pytest.raises(ValueError, match="no row is out of bag"):
        whole.oob_permutation_importance(X, Y)


@pytest.mark.parametrize("kind", ["classes", "numbers"])
def test_permutation_importance(kind):
    model = RandomForestClassifier if kind == "classes" else RandomForestRegressor
    y = Y if kind == "classes" else Z
    model = model(30, random_state=0).fit(X, y)
    found = model.oob_permutation_importance(X, y, random_state=1)
    assert found.per_tree.shape == (30, 4)
    assert_allclose(found.mean, found.per_tree.mean(axis=0))
    assert found.mean.argmax() == 0
    assert found.mean[0] > 10 * np.abs(found.mean[1:]).max()
    again = model.oob_permutation_importance(X, y, random_state=1)
    assert_array_equal(found.per_tree, again.per_tree)


def test_permutation_importance_of_one_tree_by_hand():
    model = RandomForestClassifier(1, random_state=0).fit(X, Y)
    tree, rows = model.estimators_[0], model.estimators_samples_[0]
    out = np.setdiff1d(np.arange(150), rows)
    usual = (tree.predict(X[out]) != Y[out]).mean()
    worse = []
    for seed in range(300):
        turned = X[out].copy()
        turned[:, 0] = np.random.default_rng(seed).permutation(turned[:, 0])
        worse.append((tree.predict(turned) != Y[out]).mean())
    found = model.oob_permutation_importance(X, Y, n_repeats=300, random_state=0)
    assert found.mean[0] == pytest.approx(np.mean(worse) - usual, abs=0.02)


def test_many_valued_noise_gains_impurity_but_no_permutation_importance():
    """Why the card warns of impurity importances."""
    local = np.random.default_rng(0)
    A = np.column_stack([local.integers(0, 2, 400), local.normal(size=400)])
    a = np.where(local.random(400) < 0.75, A[:, 0], 1 - A[:, 0]).astype(int)
    model = RandomForestClassifier(60, random_state=0).fit(A, a)
    assert model.feature_importances_[1] > model.feature_importances_[0]
    found = model.oob_permutation_importance(A, a, random_state=0)
    assert found.mean[0] > found.mean[1] + 0.05


def quantiles_by_hand(model, X_train, y, x, q):
    """Meinshausen's weights, summed tree by tree."""
    weight = np.zeros(len(y))
    for tree, rows in zip(model.estimators_, model.estimators_samples_, strict=True):
        same = tree.apply(X_train[rows]) == tree.apply(x[None])[0]
        np.add.at(weight, rows[same], 1.0 / same.sum())
    order = np.argsort(y)
    total = np.cumsum(weight[order]) / len(model.estimators_)
    return [y[order][np.searchsorted(total, p - 1e-9)] for p in q]


@pytest.mark.parametrize("criterion", ["squared_error", "absolute_error"])
def test_quantiles_by_hand(criterion):
    model = RandomForestRegressor(12, criterion=criterion, min_samples_leaf=4, random_state=0).fit(
        X, Z
    )
    q = [0.1, 0.5, 0.9]
    expected = [quantiles_by_hand(model, X, Z, x, q) for x in X[:8]]
    assert_allclose(model.predict_quantiles(X[:8], q), expected)
    assert_allclose(model.predict_quantiles(X[:8], q[::-1]), np.array(expected)[:, ::-1])
    with pytest.raises(ValueError, match="quantiles"):
        model.predict_quantiles(X, [1.2])


def test_quantiles_cover():
    local = np.random.default_rng(1)
    A = local.uniform(-2, 2, size=(3000, 1))
    a = A[:, 0] + (1 + np.abs(A[:, 0])) * local.normal(size=3000)
    model = RandomForestRegressor(60, min_samples_leaf=25, random_state=0).fit(A[:2000], a[:2000])
    low, high = model.predict_quantiles(A[2000:], [0.1, 0.9]).T
    inside = ((a[2000:] >= low) & (a[2000:] <= high)).mean()
    assert inside == pytest.approx(0.8, abs=0.05)


def test_jackknife_by_hand():
    model = RandomForestRegressor(40, random_state=0).fit(X, Z)
    T = np.array([tree.predict(X[:5]) for tree in model.estimators_])
    N = np.array([np.bincount(rows, minlength=150) for rows in model.estimators_samples_])
    T, N = T - T.mean(axis=0), N - N.mean(axis=0)
    raw = ((N.T @ T / 40) ** 2).sum(axis=0)
    noise = 149 / 40**2 * (T**2).sum(axis=0)
    _, std = model.predict(X[:5], return_std=True)
    assert_allclose(std, np.sqrt(np.maximum(raw - noise, 0)), atol=1e-10)


def test_jackknife_needs_draws():
    with pytest.raises(ValueError, match="bootstrap=True"):
        RandomForestRegressor(3, bootstrap=False).fit(X, Z).predict(X, return_std=True)


@pytest.mark.slow
@pytest.mark.parametrize(
    "sampling", [Bootstrap(), Bootstrap(0.5, replace=False)], ids=["n", "half"]
)
def test_jackknife_coverage(sampling):
    """The mean estimated variance is that of forests on new samples."""
    point = np.array([[0.3, -0.2]])
    means, stds = [], []
    for seed in range(120):
        local = np.random.default_rng(seed)
        A = local.normal(size=(100, 2))
        a = A[:, 0] + A[:, 1] ** 2 + local.normal(size=100)
        model = RandomForestRegressor(
            1000, min_samples_leaf=3, sampling=sampling, random_state=seed
        ).fit(A, a)
        mean, std = model.predict(point, return_std=True)
        means.append(mean[0])
        stds.append(std[0])
    ratio = np.mean(np.square(stds)) / np.var(means, ddof=1)
    assert 0.6 < ratio < 1.6
    inside = np.abs(np.array(means) - np.mean(means)) <= 1.96 * np.array(stds)
    assert 0.85 < inside.mean() <= 1.0


def test_out_of_bag_search():
    forest = RandomForestClassifier(40, random_state=0)
    grid = {"max_depth": [1, 4], "max_features": [1, 4]}
    search = OutOfBagSearch(forest, grid).fit(X, Y)
    scores = [
        RandomForestClassifier(40, random_state=0, oob_score=True, **one).fit(X, Y).oob_score_
        for one in search.results_["params"]
    ]
    assert_allclose(search.results_["oob_score"], scores)
    assert search.best_score_ == max(scores)
    assert search.best_estimator_.oob_score_ == search.best_score_
    assert_array_equal(search.predict(X), search.best_estimator_.predict(X))
    without = OutOfBagSearch(forest, grid, refit=False).fit(X, Y)
    assert not hasattr(without, "best_estimator_")
    assert without.best_params_ == search.best_params_
    with pytest.raises(ValueError, match="oob_score_, got Ridge"):
        OutOfBagSearch(Ridge(), {"alpha": [1.0]}).fit(X, Z)
