"""RANSAC: scikit-learn's answer, the rule of trials, repetition, skips, other regressors."""

import numpy as np
import pytest
import sklearn.linear_model
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model._ransac import _dynamic_max_trials

from pellucid import DecisionTreeRegressor, LinearRegression, RANSACRegressor
from pellucid.linear.robust.ransac_regressor import needed_trials


def table(n=100, p=2, bad=30, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    y = 1 + X @ np.arange(1.0, p + 1) + 0.05 * rng.normal(size=n)
    y[:bad] += rng.uniform(20, 60, size=bad)
    return X, y


def test_same_answer_as_scikit_learn_where_it_is_clear():
    X, y = table()
    params = {"residual_threshold": 1.0, "random_state": 0}
    ours = RANSACRegressor(**params).fit(X, y)
    theirs = sklearn.linear_model.RANSACRegressor(**params).fit(X, y)
    assert_array_equal(ours.inlier_mask_, theirs.inlier_mask_)
    assert_allclose(ours.estimator_.coef_, theirs.estimator_.coef_, rtol=1e-9)
    assert_allclose(ours.predict(X), theirs.predict(X), rtol=1e-9)
    assert_allclose(ours.score(X, y), theirs.score(X, y), rtol=1e-9)
    both = np.column_stack([y, -y])
    again = RANSACRegressor(**{**params, "residual_threshold": 2.0}).fit(X, both)
    assert_array_equal(again.inlier_mask_, ours.inlier_mask_)


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9, 1.0])
@pytest.mark.parametrize("probability", [0.0, 0.5, 0.99, 1.0])
def test_the_number_of_trials_is_scikit_learns(share, probability):
    theirs = _dynamic_max_trials(int(share * 100), 100, 3, probability)
    assert needed_trials(share, 3, probability) == theirs


def test_the_quick_way_is_the_slow_way():
    """A subclass is fitted trial by trial; least squares itself many sets at a time."""

    class Plain(LinearRegression):
        pass

    X, y = table(60, 3, 20)
    params = {"residual_threshold": 0.5, "random_state": 3, "min_samples": 6}
    quick, slow = (RANSACRegressor(m, **params).fit(X, y) for m in (LinearRegression(), Plain()))
    assert quick.n_trials_ == slow.n_trials_
    assert_array_equal(quick.inlier_mask_, slow.inlier_mask_)
    assert quick.history_["inliers"].tolist() == slow.history_["inliers"].tolist()
    assert (np.diff(quick.history_["objective"]) <= 0).all()


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("sets", [list, csr_array])
def test_small_sets_of_least_squares_warn_of_nothing(intercept, sets, recwarn):
    """Each set has as many rows as numbers to learn: no news to the one who asked for RANSAC."""
    X, y = table(60, 3, 20)
    plain = LinearRegression(fit_intercept=intercept)
    said = []
    params = {"residual_threshold": 2.0, "random_state": 0, "min_samples": 3 + intercept}
    valid = {"is_model_valid": lambda model, *_: said.append(model.intercept_) or True}
    model = RANSACRegressor(plain, **params, **valid).fit(sets(X), y)
    assert not recwarn.list
    assert intercept or (set(said) == {0.0} and model.estimator_.intercept_ == 0.0)
    theirs = sklearn.linear_model.LinearRegression(fit_intercept=intercept)
    slow = RANSACRegressor(theirs, **params).fit(sets(X), y)
    assert_array_equal(model.inlier_mask_, slow.inlier_mask_)


def test_a_weight_is_a_repetition():
    X, y = table(40, 1, 12)
    w = np.random.default_rng(1).integers(0, 4, size=40).astype(float)
    many = np.random.default_rng(2).permutation(np.repeat(np.arange(40), w.astype(int)))
    a = RANSACRegressor(residual_threshold=0.3, random_state=0).fit(X, y, w)
    b = RANSACRegressor(residual_threshold=0.3, random_state=0).fit(X[many], y[many])
    assert a.n_trials_ == b.n_trials_
    assert_array_equal(a.inlier_mask_[many], b.inlier_mask_)
    assert_allclose(a.estimator_.coef_, b.estimator_.coef_, rtol=1e-9)
    c = RANSACRegressor(residual_threshold=0.3, random_state=0).fit(X, y, w / 7)
    assert_array_equal(c.inlier_mask_[w > 0], a.inlier_mask_[w > 0])


def test_recovery():
    X, y = table(400, 3, 180)
    model = RANSACRegressor(residual_threshold=0.3, max_trials=500, random_state=0).fit(X, y)
    assert_allclose(model.estimator_.coef_, [1, 2, 3], atol=0.02)
    assert not model.inlier_mask_[:180].any()


def test_stopping():
    X, y = table()
    one = RANSACRegressor(residual_threshold=100.0, random_state=0).fit(X, y)
    assert one.n_trials_ == 1
    best = RANSACRegressor(stop_probability=1.0, max_trials=40, random_state=0).fit(X, y)
    assert best.n_trials_ == 40
    early = RANSACRegressor(stop_n_inliers=20, stop_probability=1.0, random_state=0).fit(X, y)
    assert early.n_trials_ < 40


def test_skips():
    X, y = table()
    with pytest.raises(ValueError, match=r"could not find a valid consensus set.*5 invalid data"):
        RANSACRegressor(is_data_valid=lambda X, y: False, max_trials=5).fit(X, y)
    with pytest.raises(ValueError, match="3 an invalid model"):
        RANSACRegressor(is_model_valid=lambda m, X, y: False, max_trials=9, max_skips=2).fit(X, y)
    calls = iter([True] + [False] * 9)
    with pytest.warns(ConvergenceWarning, match="exited early"):
        model = RANSACRegressor(
            is_data_valid=lambda X, y: next(calls),
            max_skips=3,
            stop_probability=1.0,
            random_state=0,
        ).fit(X, y)
    assert model.n_skips_invalid_data_ == 4


def test_any_regressor():
    X, y = table(200, 1, 20)
    model = RANSACRegressor(
        DecisionTreeRegressor(max_depth=4), min_samples=0.3, residual_threshold=2.0, random_state=0
    ).fit(X, y)
    assert model.inlier_mask_[20:].mean() > 0.9
    with pytest.raises(ValueError, match="`min_samples` needs to be explicitly set"):
        RANSACRegressor(DecisionTreeRegressor()).fit(X, y)


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({"loss": "huber"}, "loss"),
        ({"loss": 3}, "loss must be a name or a function"),
        ({"min_samples": 2.5}, "min_samples must be whole"),
        ({"min_samples": 101}, "may not be larger than number of samples"),
        ({"stop_probability": 1.5}, "stop_probability must be <= 1"),
        ({"residual_threshold": -1.0}, "residual_threshold"),
    ],
)
def test_bad_parameters(params, words):
    with pytest.raises(ValueError, match=words):
        RANSACRegressor(**params).fit(*table())


def test_weights_of_any_whole_size_draw_the_same_kind_of_sets():
    """More repeated rows than a whole number of the machine can count."""
    X, y = np.arange(30.0)[:, None], 2 * np.arange(30.0) + 1
    y[[3, 8]] = 90.0, -40.0
    for weight in (2.0**30, 2.0**62, 1e100):
        model = RANSACRegressor(random_state=0).fit(X, y, np.full(30, weight))
        assert list(np.flatnonzero(~model.inlier_mask_)) == [3, 8]
        np.testing.assert_allclose(model.estimator_.coef_, 2.0)
