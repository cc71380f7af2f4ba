"""Each textbook method of regression against the fast estimator, on random problems."""

import numpy as np
from numpy.testing import assert_allclose

import pellucid
from pellucid.textbook.regression.normal_equations import normal_equations
from pellucid.textbook.regression.ridge import ridge


def problem(seed, n=40, p=5):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) * rng.uniform(0.5, 3, size=p) + rng.normal(size=p)
    return X, X @ rng.normal(size=p) + 2 + rng.normal(size=n)


def test_normal_equations():
    X, y = problem(0)
    fit = normal_equations(X, y)
    fast = pellucid.LinearRegression().fit(X, y)
    assert_allclose(fit.b, [fast.intercept_, *fast.coef_], atol=1e-9)
    assert_allclose(fit.standard_errors, fast.standard_errors_, atol=1e-10)
    assert_allclose(fit.s2, fast.sigma2_)


def test_ridge():
    for seed, p in ((0, 5), (1, 60)):
        X, y = problem(seed, p=p)
        b, w = ridge(X, y, 0.7)
        fast = pellucid.Ridge(0.7).fit(X, y)
        assert_allclose(w, fast.coef_, atol=1e-10)
        assert_allclose(b, fast.intercept_, atol=1e-9)
