"""Firth's logistic regression against firthmodels, brute force and closed forms."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.linalg import LinAlgWarning
from scipy.optimize import minimize

from pellucid import FirthLogisticRegression


def rows(n=60, seed=0, separated=False):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3)) * [1.0, 10.0, 0.1]
    z = 2 * X[:, 0] + 5 * X[:, 2]
    y = z > 0 if separated else z + rng.logistic(size=n) > 0
    return X, y.astype(int)


def penalised(D, y, w, t):
    z = D @ t
    p = 1 / (1 + np.exp(-z))
    information = D.T @ ((w * p * (1 - p))[:, None] * D)
    return (w * (y * z - np.logaddexp(0, z))).sum() + 0.5 * np.linalg.slogdet(information)[1]


@pytest.mark.parametrize("separated", [False, True])
def test_equals_firthmodels(separated):
    peer = pytest.importorskip("firthmodels")
    X, y = rows(separated=separated)
    ours = FirthLogisticRegression().fit(X, y)
    tight = 1e-4 if separated else 1e-7  # beyond it theirs finds no step that helps
    theirs = peer.FirthLogisticRegression(gtol=tight, xtol=tight, max_iter=500).fit(X, y)
    assert_allclose(ours.coef_.ravel(), theirs.coef_.ravel(), rtol=10 * tight)
    assert_allclose(ours.intercept_, theirs.intercept_, rtol=10 * tight)
    if separated:  # their profile search does not converge there
        return
    s = ours.summary()
    theirs.lrt()
    interval = theirs.conf_int(method="pl")  # the intercept is last
    assert_allclose(np.roll(np.asarray(interval), 1, axis=0)[:, 0], s.low, rtol=1e-3)
    assert_allclose(np.roll(np.asarray(interval), 1, axis=0)[:, 1], s.high, rtol=1e-3)
    assert_allclose(np.roll(theirs.lrt_pvalues_, 1), s.p_value, rtol=1e-3)


def test_brute_force_maximum():
    X, y = rows(30)
    w = np.random.default_rng(1).integers(1, 4, 30).astype(float)
    model = FirthLogisticRegression().fit(X, y, sample_weight=w)
    D = np.column_stack([np.ones(30), X])
    t = np.append(model.intercept_, model.coef_)
    assert_allclose(model.penalized_log_likelihood_, penalised(D, y, w, t), rtol=1e-10)
    options = {"xatol": 1e-9, "fatol": 1e-12, "maxiter": 5000}
    found = minimize(lambda s: -penalised(D, y, w, s), t, method="Nelder-Mead", options=options)
    assert_allclose(found.x, t, rtol=1e-5, atol=1e-6)
    assert (np.diff(model.history_["objective"]) <= 1e-10).all()


def test_intercept_only_is_adding_half_to_each_class():
    """With one constant column the estimate is log((n1 + 1/2)/(n0 + 1/2))."""
    y = np.repeat([0, 1], [3, 7])
    model = FirthLogisticRegression(fit_intercept=False).fit(np.ones((10, 1)), y)
    assert_allclose(model.coef_, [[np.log(7.5 / 3.5)]], rtol=1e-8)


def test_profile_interval_is_where_the_test_turns():
    X, y = rows(50)
    model = FirthLogisticRegression().fit(X, y)
    s = model.summary(0.9)
    D = np.column_stack([np.ones(50), X])
    best = penalised(D, y, np.ones(50), np.append(model.intercept_, model.coef_))
    for end in (s.low[1], s.high[1]):

        def held(rest, end=end):
            return -penalised(D, y, np.ones(50), np.insert(rest, 1, end))

        found = minimize(held, np.delete(s.estimate, 1), tol=1e-12)
        assert_allclose(2 * (best + found.fun), 2.705543454095414, rtol=1e-5)  # chi2(1) at 0.9


def test_separated_rows_have_finite_estimates():
    model = FirthLogisticRegression().fit([[0], [1], [2], [3]], [0, 0, 1, 1])
    assert np.isfinite(model.summary().estimate).all()
    X, y = rows(separated=True)
    model = FirthLogisticRegression().fit(X, y)
    assert np.abs(model.decision_function(X)).max() < 50
    assert (model.predict(X) == y).mean() > 0.95


def test_less_bias_than_maximum_likelihood():
    rng = np.random.default_rng(0)
    estimates = []
    for _ in range(300):
        x = rng.normal(size=(40, 1))
        y = x[:, 0] + rng.logistic(size=40) > 0
        if 0 < y.sum() < 40:
            estimates.append(FirthLogisticRegression().fit(x, y).coef_[0, 0])
    assert abs(np.mean(estimates) - 1) < 4 * np.std(estimates) / np.sqrt(len(estimates)) + 0.02


def test_dependent_columns_are_left_out():
    X, y = rows(40)
    both = np.column_stack([X, X[:, 0] * 2])
    with pytest.warns(LinAlgWarning, match="linearly dependent"):
        model = FirthLogisticRegression().fit(both, y)
    plain = FirthLogisticRegression().fit(X, y)
    assert_allclose(model.predict_proba(both), plain.predict_proba(X), atol=1e-7)
    assert not model.summary().valid


def test_more_than_two_classes_are_refused():
    X, _ = rows(30)
    with pytest.raises(ValueError, match="Only binary"):
        FirthLogisticRegression().fit(X, np.arange(30) % 3)


def test_more_columns_than_rows():
    rng = np.random.default_rng(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LinAlgWarning)
        model = FirthLogisticRegression().fit(rng.normal(size=(8, 20)), [0, 1] * 4)
    assert np.isfinite(model.coef_).all()
