"""Ridge with a penalty of its own for every column."""

import numpy as np
import pytest
from linear_tables import data
from numpy.testing import assert_allclose
from scipy.linalg import LinAlgWarning
from scipy.optimize import lsq_linear

from pellucid.linear import Budget, LinearRegression, Ridge

V = np.array([0.0, 2.0, 1.0, 0.5])


def direct(X, y, penalty):
    """(D'D + diag(penalty))^-1 D'y with D = [1 X]."""
    D = np.column_stack([np.ones(len(X)), X])
    return np.linalg.solve(D.T @ D + np.diag(penalty), D.T @ y)


@pytest.mark.parametrize("k", [None, 2])
@pytest.mark.parametrize("shrink", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_normal_equations(shrink, weighted, k):
    X, y = data(50, 4, k)
    w = np.random.default_rng(0).integers(1, 4, size=50) if weighted else None
    model = Ridge(3.0, shrink_intercept=shrink).fit(X, y, sample_weight=w, penalty_weights=V)
    Xr, yr = (X, y) if w is None else (np.repeat(X, w, axis=0), np.repeat(y, w, axis=0))
    b = direct(Xr, yr, 3.0 * np.append(float(shrink), V))
    found = np.vstack([np.atleast_1d(model.intercept_), np.atleast_2d(model.coef_).T])
    assert_allclose(found.ravel(), b.ravel(), rtol=1e-8)
    D = np.column_stack([np.ones(len(Xr)), Xr])
    H = D @ np.linalg.solve(D.T @ D + np.diag(3.0 * np.append(float(shrink), V)), D.T)
    assert_allclose(model.df_, np.trace(H), rtol=1e-9)
    assert_allclose(model.leverage(Xr), np.diag(H), rtol=1e-8)
    assert "penalty weights" in str(model.card())


def test_leave_one_out_is_n_refits():
    X, y = data(20, 4)
    model = Ridge(2.0).fit(X, y, penalty_weights=V)
    refits = [
        y[i] - Ridge(2.0).fit(np.delete(X, i, 0), np.delete(y, i), penalty_weights=V)
        .predict(X[[i]])[0]
        for i in range(20)
    ]  # fmt: skip
    assert_allclose(model.loo_residuals(X, y), refits, rtol=1e-7)


def test_more_columns_than_rows():
    X, y = data(6, 12)
    v = np.linspace(0, 2, 12)
    model = Ridge(0.5).fit(X, y, penalty_weights=v)
    b = direct(X, y, 0.5 * np.append(0.0, v))
    assert_allclose(np.append(model.intercept_, model.coef_), b, rtol=1e-6)


def test_unit_weights_change_nothing_and_a_large_one_removes_its_column():
    X, y = data(50, 4)
    plain = Ridge(3.0).fit(X, y)
    assert_allclose(Ridge(3.0).fit(X, y, penalty_weights=np.ones(4)).coef_, plain.coef_, rtol=1e-10)
    without = Ridge(3.0).fit(X, y, penalty_weights=[1, 1e14, 1, 1])
    assert_allclose(np.delete(without.coef_, 1), Ridge(3.0).fit(np.delete(X, 1, 1), y).coef_)
    free = Ridge(1e14).fit(X, y, penalty_weights=[0, 1, 1, 1])
    assert_allclose(free.coef_[0], LinearRegression().fit(X[:, :1], y).coef_[0], rtol=1e-8)
    none = Ridge(5.0).fit(X, y, penalty_weights=np.zeros(4))
    assert_allclose(none.coef_, LinearRegression().fit(X, y).coef_, rtol=1e-9)


def test_budget_counts_the_weighted_squares():
    X, y = data(50, 4)
    model = Ridge(Budget(0.5)).fit(X, y, penalty_weights=V)
    assert_allclose(V @ model.coef_**2, 0.5, rtol=1e-9)
    assert_allclose(model.budget_, 0.5, rtol=1e-9)
    again = Ridge(model.alpha_).fit(X, y, penalty_weights=V)
    assert_allclose(again.coef_, model.coef_, rtol=1e-12)
    assert_allclose(model.budget_ols_, V @ LinearRegression().fit(X, y).coef_ ** 2, rtol=1e-8)


@pytest.mark.parametrize("shrink", [False, True])
def test_positive(shrink):
    X, y = data(50, 4)
    y = y - 3 * X[:, 1]
    model = Ridge(3.0, positive=True, shrink_intercept=shrink).fit(X, y, penalty_weights=V)
    D = np.vstack([np.column_stack([np.ones(50), X]),
                   np.diag(np.sqrt(3.0 * np.append(float(shrink), V)))])  # fmt: skip
    lower = np.append(-np.inf, np.zeros(4))
    oracle = lsq_linear(D, np.append(y, np.zeros(5)), bounds=(lower, np.inf), tol=1e-14)
    assert_allclose(np.append(model.intercept_, model.coef_), oracle.x, atol=1e-7)


def test_dependent_free_columns_are_named():
    X, y = data(50, 3)
    X = np.column_stack([X, 2 * X[:, 0]])
    with pytest.warns(LinAlgWarning, match="x0, x3 are linearly dependent"):
        model = Ridge(1.0).fit(X, y, penalty_weights=[0, 1, 1, 0])
    expected = Ridge(1.0).fit(X[:, :3], y, penalty_weights=[0, 1, 1])
    assert_allclose(model.predict(X), expected.predict(X[:, :3]), rtol=1e-8)


@pytest.mark.parametrize("bad", [[1.0], [1, 1, 1, -1], [1, 1, 1, np.nan]])
def test_bad_weights_are_refused(bad):
    with pytest.raises(ValueError, match="penalty_weights must"):
        Ridge().fit(*data(20, 4), penalty_weights=bad)
