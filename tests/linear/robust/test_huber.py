"""HuberRegressor: scikit-learn, the gradient, outliers, exact fits."""

import numpy as np
import pytest
import sklearn.linear_model
from hypothesis import given, settings
from hypothesis import strategies as st
from linear_tables import data
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from pellucid.core.loops.statistics import LEAF_ROWS
from pellucid.core.runtime.threads import limit_threads
from pellucid.linear import HuberRegressor, LinearRegression


def heavy(n=200, p=4, seed=0):
    g = np.random.default_rng(seed)
    X = g.normal(size=(n, p)) + 2
    return X, X @ g.normal(size=p) + 1 + g.standard_t(2, size=n)


def objective(X, y, w, b, s, epsilon, alpha, weight):
    r = y - X @ w - b
    size = np.abs(r)
    loss = np.where(size <= epsilon * s, r**2 / s, 2 * epsilon * size - s * epsilon**2)
    return weight @ (s + loss) + alpha * w @ w


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize(("epsilon", "alpha"), [(1.35, 1e-4), (1.2, 1.0), (3.0, 0.0)])
def test_same_minimum_as_scikit_learn(epsilon, alpha, intercept, weighted):
    X, y = heavy()
    w = np.random.default_rng(1).uniform(0, 2, size=200) if weighted else np.ones(200)
    options = {"epsilon": epsilon, "alpha": alpha, "fit_intercept": intercept}
    ours = HuberRegressor(**options).fit(X, y, w if weighted else None)
    theirs = sklearn.linear_model.HuberRegressor(**options, tol=1e-12, max_iter=10_000)
    theirs.fit(X, y, w)
    assert_allclose(ours.coef_, theirs.coef_, atol=1e-3)
    assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-3)
    assert_allclose(ours.scale_, theirs.scale_, rtol=1e-3)
    values = [objective(X, y, m.coef_, m.intercept_, m.scale_, epsilon, alpha, w)
              for m in (ours, theirs)]  # fmt: skip
    assert values[0] <= values[1] * (1 + 1e-12)
    assert_allclose(ours.objective_, values[0], rtol=1e-12)
    agree = np.abs(np.abs(y - ours.predict(X)) - epsilon * ours.scale_) > 1e-2
    assert_array_equal(ours.outliers_[agree], theirs.outliers_[agree])


def test_epsilon_one_is_median_regression():
    """The scale falls to its floor; scikit-learn stops above the minimum."""
    X, y = heavy()
    ours = HuberRegressor(epsilon=1.0, alpha=0.0).fit(X, y)
    theirs = sklearn.linear_model.HuberRegressor(epsilon=1.0, alpha=0.0, max_iter=1000).fit(X, y)
    median = sklearn.linear_model.QuantileRegressor(alpha=0.0).fit(X, y)
    absolute = [np.abs(y - m.predict(X)).sum() for m in (ours, theirs, median)]
    assert_allclose(absolute[0], absolute[2], rtol=1e-7)
    assert absolute[0] < absolute[1]


@given(st.integers(8, 60), st.integers(1, 4), st.floats(1.0, 4.0), st.floats(1e-4, 10),
       st.integers(0, 10**6))  # fmt: skip
@settings(max_examples=40, deadline=None)
def test_the_gradient_is_zero(n, p, epsilon, alpha, seed):
    g = np.random.default_rng(seed)
    X, y = g.normal(size=(n, p)), g.standard_t(3, size=n)
    model = HuberRegressor(epsilon=epsilon, alpha=alpha, tol=1e-9, max_iter=1000).fit(X, y)
    r, s = y - model.predict(X), model.scale_
    force = np.where(np.abs(r) <= epsilon * s, 2 * r / s, 2 * epsilon * np.sign(r))
    if s > 1e-8:  # else the scale is at its floor and some residuals are 0
        assert_allclose(X.T @ force, 2 * alpha * model.coef_, atol=1e-5)
        assert_allclose(force.sum(), 0, atol=1e-5)
        inner = np.abs(r) <= epsilon * s
        slope = n - (r[inner] ** 2).sum() / s**2 - epsilon**2 * (~inner).sum()
        assert_allclose(slope, 0, atol=1e-4 * n)


def test_a_step_whose_gain_is_below_rounding_is_judged_by_the_slope():
    """Judged by the objective alone, this fit took ever shorter steps and never ended."""
    g = np.random.default_rng(1025)
    X, y = g.normal(size=(56, 4)), g.standard_t(3, size=56)
    model = HuberRegressor(epsilon=1.25, alpha=1e-4, tol=1e-9, max_iter=1000).fit(X, y)
    assert model.n_iter_ < 20


def test_objective_falls_and_history_has_it():
    model = HuberRegressor().fit(*heavy())
    assert (np.diff(model.history_["objective"]) <= 0).all()
    assert model.history_[-1]["outliers"] == model.outliers_.sum()
    assert_allclose(model.history_[-1]["parameters"], np.append(model.intercept_, model.coef_))
    assert model.n_iter_ <= 10


def test_recovers_the_line_despite_outliers():
    g = np.random.default_rng(0)
    X = g.normal(size=(300, 2))
    y = X @ [2.0, -1.0] + 0.5 + 0.1 * g.normal(size=300)
    y[:30] += 50
    model = HuberRegressor().fit(X, y)
    assert_allclose(np.append(model.intercept_, model.coef_), [0.5, 2, -1], atol=0.1)
    assert model.outliers_[:30].all()
    assert np.abs(LinearRegression().fit(X, y).intercept_ - 0.5) > 3


def test_large_epsilon_is_least_squares():
    X, y = data(60)
    model = HuberRegressor(epsilon=50.0, alpha=0.0, tol=1e-10).fit(X, y)
    plain = LinearRegression().fit(X, y)
    assert_allclose(model.coef_, plain.coef_, rtol=1e-8)
    assert_allclose(model.scale_, np.sqrt(plain.sigma2_ml_), rtol=1e-6)
    assert not model.outliers_.any()


def test_units_do_not_matter():
    X, y = heavy()
    a = HuberRegressor(alpha=0.0, tol=1e-9).fit(X, y)
    b = HuberRegressor(alpha=0.0, tol=1e-9).fit(1e3 * X + 1e5, 1e-4 * y)
    assert_allclose(b.coef_, a.coef_ * 1e-7, rtol=1e-5)
    assert_allclose(b.scale_, a.scale_ * 1e-4, rtol=1e-5)
    assert_array_equal(a.outliers_, b.outliers_)


@pytest.mark.parametrize("case", ["line", "mostly", "constant", "wide", "twins", "one row"])
def test_degenerate_data(case):
    g = np.random.default_rng(0)
    x = np.arange(20.0)
    X, y = x[:, None], 2 * x + 1
    if case == "mostly":
        y[[3, 8]] += [50, -30]  # the rest fits exactly: the scale goes to its floor
    elif case == "constant":
        y = np.full(20, 3.0)
    elif case == "wide":
        X, y = g.normal(size=(5, 12)), g.normal(size=5)
    elif case == "twins":
        X = np.column_stack([x, x])
    elif case == "one row":
        X, y = X[:1], y[:1]
    model = HuberRegressor(alpha=0.0 if case == "mostly" else 1e-6).fit(X, y)
    expected = 2 * x + 1 if case == "mostly" else y
    assert_allclose(model.predict(X), expected, atol=1e-3)
    assert model.scale_ > 0


def test_sparse_threads_and_weights():
    X, y = heavy(LEAF_ROWS + 500)
    X = X * (np.random.default_rng(1).random(X.shape) < 0.5)
    a, b = HuberRegressor().fit(X, y), HuberRegressor().fit(sparse.csr_matrix(X), y)
    assert_allclose(a.coef_, b.coef_, rtol=1e-8)
    with limit_threads(1):
        assert_array_equal(HuberRegressor().fit(X, y).coef_, a.coef_)


def test_warm_start():
    X, y = heavy()
    model = HuberRegressor(warm_start=True).fit(X, y)
    first = model.coef_
    model.fit(X, y)
    assert model.n_iter_ <= 2
    assert_allclose(model.coef_, first, rtol=1e-6)
    with pytest.raises(ValueError, match="4 columns of the last fit, got 2"):
        model.fit(X[:, :2], y)


def test_refusals_and_the_limit():
    X, y = heavy()
    for params, message in [
        ({"epsilon": 0.5}, "epsilon must be >= 1"),
        ({"alpha": -1}, "alpha must be >= 0"),
        ({"max_iter": -1}, "max_iter"),
    ]:
        with pytest.raises(ValueError, match=message):
            HuberRegressor(**params).fit(X, y)
    with pytest.warns(ConvergenceWarning, match="max_iter=1"):
        model = HuberRegressor(max_iter=1).fit(X, y)
    assert "did not converge" in str(model.card())
