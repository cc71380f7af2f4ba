"""collinearity and least_squares_report."""

import numpy as np
import pandas as pd
import pytest
from linear_tables import R, Y
from numpy.testing import assert_allclose
from statsmodels.stats.outliers_influence import variance_inflation_factor

from pellucid.linear import LinearRegression, collinearity, least_squares_report

g = np.random.default_rng(0)


def test_variance_inflation_equals_statsmodels():
    X = g.normal(size=(50, 4)) @ g.normal(size=(4, 4)) + 3
    D = np.column_stack([np.ones(50), X])
    found = collinearity(X)
    assert_allclose(found.vif, [variance_inflation_factor(D, j + 1) for j in range(4)], rtol=1e-9)
    assert_allclose(found.residual_fraction, 1 / found.vif)
    Z = (X - X.mean(axis=0)) / np.linalg.norm(X - X.mean(axis=0), axis=0)
    assert_allclose(found.condition_number, np.linalg.cond(Z), rtol=1e-10)
    assert_allclose(found.condition_indices[-1], found.condition_number)
    raw = collinearity(X, fit_intercept=False)
    assert_allclose(raw.condition_number, np.linalg.cond(X / np.linalg.norm(X, axis=0)), rtol=1e-9)


def test_variance_of_a_coefficient_is_noise_over_what_is_left():
    """Example 2: Var b_3 = s^2/|z_3|^2 with |z_3|^2 = 3.30617978 on table R."""
    found, model = collinearity(R), LinearRegression().fit(R, Y)
    squares = ((R - R.mean(axis=0)) ** 2).sum(axis=0)
    assert_allclose(squares[2] * found.residual_fraction[2], 3.30617978, atol=1e-8)
    variance = model.sigma2_ / (squares * found.residual_fraction)
    assert_allclose(variance, model.standard_errors_[1:] ** 2, rtol=1e-10)


def test_exact_relations_are_written_out():
    X = g.integers(-5, 5, size=(30, 3)).astype(float)
    frame = pd.DataFrame(
        {"a": X[:, 0], "b": X[:, 1], "c": 4 + X[:, 0] - 2 * X[:, 1], "d": X[:, 2], "e": 7.0}
    )
    found = collinearity(frame)
    assert found.dependent == ("c = 4 + a - 2 b", "e = 7")
    assert found.rank == 3
    assert found.condition_number == np.inf
    assert np.isinf(found.vif[[0, 1, 2, 4]]).all()
    assert np.isfinite(found.vif[3])
    assert_allclose(found.residual_fraction[[0, 1, 2, 4]], 0)
    assert "Ridge" in found.advice[0]
    assert "c = 4 + a - 2 b" in str(found)


def test_advice_and_degenerate_shapes():
    X = g.normal(size=(50, 2))
    assert "well" in collinearity(X).advice[0]
    near = np.column_stack([X, X.sum(axis=1) + 1e-3 * g.normal(size=50)])
    assert "nearly" in collinearity(near).advice[0]
    assert "x0, x1, x2" in collinearity(near).advice[0]
    assert collinearity(near, tol=1e-2).rank == 2
    wide = collinearity(g.normal(size=(3, 6)))
    assert wide.rank == 2
    assert "3 rows cannot determine 6 columns" in wide.advice[0]
    assert collinearity(np.ones((4, 1))).rank == 0
    with pytest.raises(ValueError, match="column 1, row 0"):
        collinearity([[1.0, np.nan]])


def test_example_5_eigenvalues_and_rates():
    report = least_squares_report([[0], [1], [2]], [1, 2, 4])
    assert_allclose(report.eigenvalue_min, 0.2792407799, atol=1e-9)
    assert_allclose(report.eigenvalue_max, 2.3874258867, atol=1e-9)
    assert_allclose(report.critical_rate, 0.8377223398, atol=1e-9)
    assert_allclose(report.best_rate, 0.75, atol=1e-12)
    assert_allclose(report.condition_number, 8.5497, atol=1e-4)
    assert (report.convex, report.unique, report.exact) == (True, True, False)


@pytest.mark.parametrize(("factor", "diverges"), [(0.99, False), (1.01, True)])
def test_gradient_descent_obeys_the_critical_rate(factor, diverges):
    x, y = np.array([0.0, 1, 2]), np.array([1.0, 2, 4])
    D = np.column_stack([np.ones(3), x])
    rate = factor * least_squares_report(x[:, None], y).critical_rate
    b = np.zeros(2)
    for _ in range(2000):
        b = b + rate * D.T @ (y - D @ b) / 3
    assert (np.abs(b).max() > 1e3) == diverges


def test_exact_and_many_solutions():
    X = np.array([[1.0, 2], [2, 3], [3, 4]])
    report = least_squares_report(X, [1.0, 2, 3])
    assert report.exact
    assert report.n_solutions == "infinitely many"
    assert report.eigenvalue_min == 0
    assert report.condition_number == np.inf
    assert not least_squares_report(X, [1.0, 2, 4]).exact
    assert least_squares_report(X, X, fit_intercept=False).exact
    with pytest.raises(ValueError, match="same number of rows"):
        least_squares_report(X, [1.0])
