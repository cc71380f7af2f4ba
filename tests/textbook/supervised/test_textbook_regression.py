"""Each textbook method of regression against the fast estimator, on random problems."""

import numpy as np
import pytest
from agreement import same
from sklearn.pipeline import make_pipeline

import pellucid
from pellucid.linear import collinearity as fast_collinearity
from pellucid.linear import residual_health
from pellucid.linear import simple_regression as fast_simple_regression
from pellucid.solvers import GradientDescent
from pellucid.textbook.regression.collinearity import collinearity
from pellucid.textbook.regression.generalised_least_squares import generalised_least_squares
from pellucid.textbook.regression.huber_regression import huber_regression, rounds
from pellucid.textbook.regression.least_squares_descent import descent, least_squares_descent
from pellucid.textbook.regression.natural_spline import basis, natural_spline
from pellucid.textbook.regression.negative_binomial_regression import negative_binomial_regression
from pellucid.textbook.regression.nonnegative_least_squares import nonnegative_least_squares
from pellucid.textbook.regression.normal_equations import normal_equations
from pellucid.textbook.regression.orthogonal_matching_pursuit import (
    orthogonal_matching_pursuit,
)
from pellucid.textbook.regression.poisson_regression import poisson_regression
from pellucid.textbook.regression.polynomial_regression import polynomial_regression, products
from pellucid.textbook.regression.qr_least_squares import gram_schmidt, qr_least_squares
from pellucid.textbook.regression.quantile_regression import quantile_regression
from pellucid.textbook.regression.residual_diagnostics import residual_diagnostics
from pellucid.textbook.regression.sandwich_errors import sandwich_errors
from pellucid.textbook.regression.simple_regression import simple_regression
from pellucid.textbook.regression.smoothing_spline import curve, smoothing_spline
from pellucid.textbook.regression.stochastic_regression import stochastic_regression
from pellucid.textbook.regression.tweedie_regression import tweedie_regression


def problem(seed, n=40, p=5):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) * rng.uniform(0.5, 3, size=p) + rng.normal(size=p)
    return X, X @ rng.normal(size=p) + 2 + rng.normal(size=n)


def counts(seed, n=80, p=3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    mu = np.exp(1 + X @ rng.normal(size=p) * 0.4)
    return X, mu, rng


def parameters(model):
    return np.concatenate([[model.intercept_], model.coef_])


def test_simple_regression():
    X, y = problem(0, p=1)
    fast = fast_simple_regression(X[:, 0], y)
    same(simple_regression(X[:, 0], y), (fast.slope, fast.intercept), atol=1e-10)


@pytest.mark.parametrize("seed", [0, 1])
def test_normal_equations(seed):
    X, y = problem(seed)
    fit = normal_equations(X, y)
    fast = pellucid.LinearRegression().fit(X, y)
    same(fit.b, parameters(fast), atol=1e-9)
    same(fit.standard_errors, fast.standard_errors_, atol=1e-10)
    same(fit.s2, fast.sigma2_)


def test_qr_least_squares():
    X, y = problem(2)
    same(qr_least_squares(X, y), parameters(pellucid.LinearRegression().fit(X, y)))
    Q, R = gram_schmidt(X)
    same(Q @ R, X, atol=1e-12)
    same(Q.T @ Q, np.eye(5), atol=1e-12)


def test_least_squares_descent():
    X, y = problem(3, p=2)
    solver = GradientDescent(0.05, max_iter=20, tol=None)
    fast = pellucid.LinearRegression(solver=solver).fit(X, y)
    for state, row in zip(descent(X, y, 0.05), fast.history_, strict=False):
        same(state.b, row["parameters"], atol=1e-10)
        same(state.L, row["objective"])
    same(least_squares_descent(X, y, 0.05, 20).b, parameters(fast), atol=1e-10)


def test_generalised_least_squares():
    X, y = problem(4)
    A = np.random.default_rng(4).normal(size=(len(y), len(y)))
    S = A @ A.T / len(y) + np.eye(len(y))
    fit = generalised_least_squares(X, y, S)
    fast = pellucid.LinearRegression().fit(X, y, noise_covariance=S)
    same(fit.b, parameters(fast), atol=1e-8)
    same(fit.standard_errors, fast.standard_errors_, atol=1e-9)
    times = np.random.default_rng(5).integers(1, 4, size=len(y)).astype(float)
    weighted = pellucid.LinearRegression().fit(X, y, sample_weight=times)
    by_weight = generalised_least_squares(X, y, np.diag(1 / times)).b
    same(by_weight, parameters(weighted), atol=1e-9)


def test_orthogonal_matching_pursuit():
    X, y = problem(6)
    ours = orthogonal_matching_pursuit(X, y, 2)
    fast = pellucid.OrthogonalMatchingPursuit(n_nonzero_coefs=2).fit(X, y)
    assert ours.active == fast.active_
    same(ours.w, fast.coef_, atol=1e-10)
    same(ours.intercept, fast.intercept_, atol=1e-9)


def test_sandwich_errors():
    X, y = problem(5)
    fast = pellucid.LinearRegression().fit(X, y)
    robust = fast.summary(covariance="HC3", X=X, y=y).standard_error
    same(sandwich_errors(X, y), robust, atol=1e-10)
    groups = np.arange(len(y)) // 4
    clustered = fast.summary(covariance="cluster", X=X, y=y, groups=groups).standard_error
    same(sandwich_errors(X, y, groups), clustered, atol=1e-10)


def test_residual_diagnostics():
    X, y = problem(6)
    y = y * (1 + 3 * (X[:, 0] > 1)) + 5 * np.sin(
        np.arange(len(y)) / 4
    )  # so that there are findings
    ours = residual_diagnostics(X, y)
    fast = residual_health(pellucid.LinearRegression().fit(X, y), X, y, alpha=0.9)
    same(ours.leverage, fast.leverage)
    same(ours.studentized, fast.studentized)
    same(ours.cooks_distance, fast.cooks_distance)
    statistics = {found.name: found.statistic for found in fast.problems}
    same(ours.breusch_pagan, statistics["heteroscedastic"])
    same(ours.durbin_watson, statistics["autocorrelated"])


def test_collinearity():
    X, _ = problem(7)
    X[:, 4] = X[:, 0] - X[:, 1] + 0.1 * X[:, 4]
    ours, fast = collinearity(X), fast_collinearity(X)
    same(ours.vif, fast.vif)
    same(ours.condition_number, fast.condition_number)


def test_polynomial_regression():
    X, y = problem(8, n=60, p=2)
    basis_of = pellucid.PolynomialFeatures(3)
    same(products(X, 3), basis_of.fit_transform(X))
    fast = pellucid.LinearRegression(fit_intercept=False).fit(basis_of.fit_transform(X), y)
    same(polynomial_regression(X, y, 3), fast.coef_, atol=1e-8)


def test_natural_spline():
    X, y = problem(9, p=1)
    t = np.quantile(X[:, 0], [0, 0.25, 0.5, 0.75, 1])
    pipeline = make_pipeline(pellucid.NaturalSplineBasis(t), pellucid.LinearRegression())
    fast = pipeline.fit(X, y).predict(X)
    same(basis(X[:, 0], t) @ natural_spline(X[:, 0], y, t), fast, atol=1e-8)


@pytest.mark.parametrize("seed", [10, 5010])
def test_smoothing_spline(seed):
    """In the second table two knots are 1e-4 apart."""
    rng = np.random.default_rng(seed)
    x = np.sort(rng.uniform(0, 5, 30))
    y = np.sin(x) + 0.2 * rng.normal(size=30)
    fit = smoothing_spline(x, y, 0.3)
    fast = pellucid.SmoothingSpline(0.3).fit(x[:, None], y)
    same(fit.f, fast.predict(x[:, None]), atol=1e-9)
    same(fit.df, fast.df_, atol=1e-9)
    new = rng.uniform(x[0], x[-1], 20)
    same(curve(new, x, fit), fast.predict(new[:, None]), atol=1e-9)


def test_huber_regression():
    X, y = problem(11)
    y[:4] += 30
    fit = huber_regression(X, y, alpha=0.01)
    fast = pellucid.HuberRegressor(alpha=0.01, tol=1e-10).fit(X, y)
    same(fit.b, parameters(fast))
    same(fit.s, fast.scale_)
    losses = [state.L for state in rounds(X, y, 1.35, 0.01)]
    assert all(np.diff(losses) <= 1e-10)


@pytest.mark.parametrize(("q", "alpha"), [(0.5, 0.0), (0.8, 0.02)])
def test_quantile_regression(q, alpha):
    X, y = problem(12, n=31)
    fast = pellucid.QuantileRegressor(quantile=q, alpha=alpha).fit(X, y)
    assert fast.unique_
    same(quantile_regression(X, y, q, alpha), parameters(fast), atol=1e-8)


@pytest.mark.parametrize(("k", "alpha"), [(1.0, 0.1), (1.5, 0.0), (2.0, 0.05)])
def test_tweedie_regression(k, alpha):
    X, mu, rng = counts(13)
    y = rng.gamma(2.0, mu / 2) if k == 2 else rng.poisson(mu).astype(float)
    fast = pellucid.TweedieRegressor(power=k, alpha=alpha, tol=1e-10).fit(X, y)
    same(tweedie_regression(X, y, k, alpha), parameters(fast), atol=1e-8)
    if k == 2:
        fast = pellucid.GammaRegressor(alpha=alpha, tol=1e-10).fit(X, y)
        same(tweedie_regression(X, y, k, alpha), parameters(fast), atol=1e-8)


def test_poisson_regression():
    X, mu, rng = counts(14)
    y = rng.poisson(mu).astype(float)
    fit = poisson_regression(X, y)
    fast = pellucid.PoissonRegressor(alpha=0.0, tol=1e-10).fit(X, y)
    same(fit.b, parameters(fast), atol=1e-8)
    same(fit.standard_errors, fast.standard_errors_, atol=1e-8)
    same(fit.deviance, fast.deviance_)


def test_negative_binomial_regression():
    X, mu, rng = counts(15, n=200)
    y = rng.poisson(mu * rng.gamma(2.0, 0.5, size=len(mu))).astype(float)
    fit = negative_binomial_regression(X, y)
    fast = pellucid.NegativeBinomialRegressor(tol=1e-10).fit(X, y)
    same(fit.b, parameters(fast), atol=1e-8)
    same(fit.a, fast.dispersion_)
    same(fit.log_likelihood, fast.log_likelihood_)


def test_stochastic_regression():
    X, y = problem(16, p=3)
    fast = pellucid.SGDRegressor(shuffle=False, max_iter=3, tol=None).fit(X, y)
    fit = stochastic_regression(X, y, epochs=3)
    same(fit.w, fast.coef_, atol=1e-10)
    same(fit.b, fast.intercept_[0], atol=1e-10)


def test_nonnegative_least_squares():
    X, y = problem(17)
    fast = pellucid.LinearRegression(positive=True).fit(X, y)
    fit = nonnegative_least_squares(X, y)
    assert (fast.coef_ == 0).any()
    same(fit.w, fast.coef_, atol=1e-8)
    same(fit.b, fast.intercept_, atol=1e-8)
