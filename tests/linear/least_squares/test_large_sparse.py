"""Least squares and ridge on sparse tables that are not written out."""

import numpy as np
import pytest
import sklearn.linear_model
from numpy.testing import assert_allclose
from scipy.sparse import random_array

import pellucid
from pellucid import LinearRegression, Ridge
from pellucid.linear.least_squares import large_sparse

rng = np.random.default_rng(0)


def table(n, p, seed=0):
    X = random_array((n, p), density=0.1, rng=seed, format="csr")
    return X, X @ rng.normal(size=p) + 3.0 + 0.1 * rng.normal(size=n)


@pytest.fixture
def steps(monkeypatch):
    """Every sparse table counts as large."""
    monkeypatch.setattr(large_sparse, "CELLS", 0)
    monkeypatch.setattr(large_sparse, "SPARSE_COLUMNS", 0)


@pytest.mark.parametrize("shape", [(80, 20), (20, 80)])
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("alpha", [0.3, 5.0])
@pytest.mark.parametrize("weighted", [True, False])
def test_ridge_equals_dense(steps, shape, fit_intercept, alpha, weighted):
    """The exact solution of the dense table, with weights and several targets."""
    X, y = table(*shape)
    Y = np.column_stack([y, y**2])
    w = rng.integers(0, 3, shape[0]) + 0.0 if weighted else None
    ours = Ridge(alpha, fit_intercept=fit_intercept).fit(X, Y, sample_weight=w)
    exact = Ridge(alpha, fit_intercept=fit_intercept).fit(X.toarray(), Y, sample_weight=w)
    assert ours.solver_ == "lsqr"
    assert exact.solver_ != "lsqr"
    assert_allclose(ours.coef_, exact.coef_, atol=1e-7 * np.abs(exact.coef_).max())
    assert_allclose(ours.intercept_, exact.intercept_, rtol=1e-7)
    assert_allclose(ours.rss_, exact.rss_, rtol=1e-6)
    assert ours.gradient_ < 1e-8


@pytest.mark.parametrize("shape", [(80, 20), (20, 80)])
def test_least_norm_equals_dense(steps, shape):
    """Dependent columns get the least norm, as the singular value decomposition gives it."""
    X, y = table(*shape)
    ours = LinearRegression(tol=1e-13).fit(X, y)
    theirs = sklearn.linear_model.LinearRegression().fit(X.toarray(), y)
    assert_allclose(ours.coef_, theirs.coef_, atol=1e-7 * np.abs(theirs.coef_).max())
    assert_allclose(ours.intercept_, theirs.intercept_, rtol=1e-7)


def test_objective_never_grows(steps):
    """Every step of LSQR lowers the residual."""
    X, y = table(60, 40)
    history = Ridge(0.1).fit(X, y).history_
    assert (np.diff(history["objective"]) <= 1e-12).all()


def test_recovers_noiseless_line(steps):
    """Coefficients without noise come back."""
    X, _ = table(100, 10)
    w = rng.normal(size=10)
    assert_allclose(LinearRegression(tol=1e-13).fit(X, X @ w - 2.0).coef_, w, atol=1e-8)


def test_what_is_not_known_is_refused(steps, tmp_path):
    """No inference, and a reason; the file gives the same predictions."""
    X, y = table(60, 20)
    for model in (LinearRegression().fit(X, y), Ridge().fit(X, y)):
        assert np.isnan(model.df_)
        assert "LSQR" in str(model.card())
        with pytest.raises(ValueError, match="is not formed"):
            model.leverage(X)
        pellucid.save(model, tmp_path / "model")
        again = pellucid.load(tmp_path / "model")
        assert (again.predict(X) == model.predict(X)).all()
    with pytest.raises(AttributeError, match="no covariance_"):
        _ = LinearRegression().fit(X, y).covariance_
    with pytest.warns(UserWarning, match="no valid inference"):
        assert not LinearRegression().fit(X, y).summary().valid


def test_the_limit_of_steps_warns(steps):
    """max_iter=1 does not converge, and says so."""
    X, y = table(60, 40)
    with pytest.warns(sklearn.exceptions.ConvergenceWarning, match="Ridge"):
        Ridge(0.01, max_iter=1).fit(X, y)


def test_a_dense_fit_afterwards_has_its_inference(steps):
    """Nothing of the steps is left behind."""
    X, y = table(60, 5)
    model = LinearRegression().fit(X, y).fit(X.toarray(), y)
    assert model.summary().valid
    assert model.covariance_.shape == (6, 6)
    assert Ridge().fit(X, y).fit(X.toarray(), y).leverage(X.toarray()).shape == (60,)
