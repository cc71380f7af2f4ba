"""Intervals that integrate over the estimated variances: brute force, limits, and the record."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import logsumexp

from pellucid import ARDRegression, BayesianLinearRegression, BayesianRidge, LinearRegression
from pellucid.linear.bayes.integrated import fine_grid


def rows(n=12, p=2, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    return X, 1 + X @ np.resize([1.0, -0.3], p) + rng.normal(size=n)


def brute(X, y, mean):
    """Mean square of (b, w) about ``mean``, and the noise: dense matrices, lam on a long grid."""
    n, p = X.shape
    D, Xc = np.column_stack([np.ones(n), X]), X - X.mean(axis=0)
    e = np.median(np.linalg.svd(Xc, compute_uv=False) ** 2)
    log_w, parts, noises = [], [], []
    for lam in np.exp(np.linspace(-30, 30, 6001)):
        A = D.T @ D + np.diag([0.0] + [lam] * p)
        theta = np.linalg.solve(A, D.T @ y)
        S = y @ y - y @ D @ theta
        likelihood = -(n - 1) / 2 * np.log(S) + p / 2 * np.log(lam)
        shrinkage = np.log(lam) - 2 * np.log(lam + e)
        log_w.append(likelihood - np.linalg.slogdet(A)[1] / 2 + shrinkage)
        gap = theta - mean
        parts.append(S / (n - 1) * np.linalg.inv(A) + np.outer(gap, gap))
        noises.append(S / (n - 1))
    w = np.exp(np.array(log_w) - logsumexp(log_w))
    return np.tensordot(w, parts, 1), w @ noises


@pytest.mark.parametrize(("n", "p"), [(12, 2), (9, 4)])
def test_both_variances_by_brute_force(n, p):
    X, y = rows(n, p)
    model = BayesianLinearRegression().fit(X, y)
    found = model._integrated()
    C, noise = brute(X, y, model.mean_)
    assert_allclose(found.covariance, C, rtol=2e-3, atol=1e-4 * np.abs(C).max())
    assert_allclose(found.noise, noise, rtol=1e-3)
    assert found.df == n - 1


def test_ridge_integrates_like_the_linear_model():
    """The same average about slopes that differ a little: the iteration stops early."""
    X, y = rows(12, 2)
    ridge = BayesianRidge(tol=1e-12, max_iter=5000, alpha_1=0, alpha_2=0, lambda_1=0, lambda_2=0)
    ridge.fit(X, y)
    C, noise = brute(X, y, np.append(ridge.intercept_, ridge.coef_))
    wide = ridge._wide()
    assert_allclose(wide.covariance, C[1:, 1:], rtol=5e-3)
    assert_allclose(wide.noise, noise, rtol=1e-3)


def test_a_flat_prior_gives_students_intervals():
    X, y = rows(10, 2)
    flat = BayesianLinearRegression(prior_covariance=[np.inf] * 3).fit(X, y)
    ols = LinearRegression().fit(X, y)
    assert_allclose(flat.summary().high, ols.summary().high, rtol=2e-3)
    assert_allclose(flat.predict_interval(X), ols.predict_interval(X), rtol=2e-3)


def test_many_rows_give_the_intervals_of_the_estimates():
    X, y = rows(4000, 3)
    for model in (BayesianLinearRegression(), BayesianRidge(), ARDRegression()):
        s = model.fit(X, y).summary()
        assert_allclose((s.high - s.low) / 2, 1.96 * s.standard_error, rtol=0.02)


@pytest.mark.parametrize("make", [BayesianLinearRegression, BayesianRidge, ARDRegression])
def test_no_interval_has_width_zero(make):
    """Where no slope is supported the intervals still have a width, the line's too."""
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(30, 3)), rng.normal(size=30)
    model = make().fit(X, y)
    s = model.summary()
    assert (s.high - s.low > 0.05).all()
    assert (np.ptp(model.predict_interval(X, kind="mean"), axis=1) > 0.05).all()


def test_units_do_not_matter():
    X, y = rows(15, 3)
    for make in (BayesianLinearRegression,):
        a = make().fit(X, y).predict_interval(X)
        b = make().fit(1e6 * X, 1e-4 * y).predict_interval(1e6 * X)
        assert_allclose(b, 1e-4 * a, rtol=1e-6)


def test_what_the_record_says():
    X, y = rows()
    said = str(BayesianLinearRegression().fit(X, y).summary()).replace("\n  ", " ")
    both = "the prior variance of the slopes and the noise variance"
    assert f"given {both} found" in said
    assert f"which integrate over {both}" in said
    known = BayesianLinearRegression(prior_covariance=1.0, noise_variance=1.0).fit(X, y)
    assert "integrate" not in str(known.summary())
    assert "integrate over both precisions" in str(BayesianRidge().fit(X, y).summary())
    assert "still too narrow" in str(ARDRegression().fit(X, y).summary())


def test_the_grid_finds_a_narrow_peak():
    at, w = fine_grid(lambda v: -0.5 * ((np.log(v) - 1.234) / 1e-3) ** 2, -60.0, 60.0)
    assert_allclose(w @ np.log(at), 1.234, atol=1e-5)
    assert_allclose(np.sqrt(w @ (np.log(at) - 1.234) ** 2), 1e-3, rtol=0.02)
