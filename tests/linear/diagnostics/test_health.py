"""residual_health: statsmodels, planted problems, degenerate fits."""

import numpy as np
import pytest
import statsmodels.api as sm
from linear_tables import data
from numpy.testing import assert_allclose
from statsmodels.stats.diagnostic import het_breuschpagan, linear_reset
from statsmodels.stats.outliers_influence import OLSInfluence
from statsmodels.stats.stattools import durbin_watson as peer_durbin_watson

from pellucid.linear import LinearRegression, Ridge, residual_health
from pellucid.linear.diagnostics.residuals import (
    autocorrelated,
    durbin_watson,
    heteroscedastic,
    nonlinear,
    orthonormal,
    uninformative,
)

g = np.random.default_rng(0)


def fitted(X, y, **options):
    return LinearRegression(**options).fit(X, y)


def names(X, y, **options):
    return [p.name for p in residual_health(fitted(X, y), X, y, **options).problems]


def test_influence_equals_statsmodels():
    X, y = data(40, 3)
    health = residual_health(fitted(X, y), X, y)
    influence = OLSInfluence(sm.OLS(y, sm.add_constant(X)).fit())
    assert_allclose(health.residuals, influence.resid, atol=1e-12)
    assert_allclose(health.leverage, influence.hat_matrix_diag, rtol=1e-9)
    assert_allclose(health.studentized, influence.resid_studentized_external, rtol=1e-8)
    assert_allclose(health.cooks_distance, influence.cooks_distance[0], rtol=1e-8)


def test_tests_equal_statsmodels():
    X, y = data(40, 3)
    oracle = sm.OLS(y, sm.add_constant(X)).fit()
    Q = orthonormal(sm.add_constant(X))
    e = oracle.resid
    level = 1 - 1e-12  # report every test
    found = heteroscedastic(Q, e, level)
    assert_allclose((found.statistic, found.p_value), het_breuschpagan(e, sm.add_constant(X))[:2])
    found = nonlinear(Q, oracle.fittedvalues, y, level)
    reset = linear_reset(oracle, power=2, use_f=True)
    assert_allclose((found.statistic, found.p_value), (reset.fvalue, reset.pvalue), rtol=1e-6)
    assert_allclose(autocorrelated(Q, e, level).statistic, peer_durbin_watson(e))
    noise = g.normal(size=40)
    found = uninformative(Q, noise, True, 1e-12)
    plain = sm.OLS(noise, sm.add_constant(X)).fit()
    assert_allclose((found.statistic, found.p_value), (plain.fvalue, plain.f_pvalue), rtol=1e-8)


def test_durbin_watson_p_value_by_simulation():
    X = np.column_stack([np.ones(25), np.arange(25.0), g.normal(size=25)])
    Q = orthonormal(X)
    U = g.normal(size=(40_000, 25))
    E = U - (U @ Q) @ Q.T
    d = (np.diff(E, axis=1) ** 2).sum(axis=1) / (E**2).sum(axis=1)
    for i in np.argsort(d)[[200, 1000, 4000, 36000, 39800]]:
        value, p = durbin_watson(E[i], Q)
        share = 2 * min((d <= value).mean(), (d >= value).mean())
        assert_allclose(p, share, atol=4 * np.sqrt(share / 40_000) + 0.003)


def test_planted_problems_are_found_and_named():
    """At level 0.001: at 0.05 one clean table in five would fail one of the four tests."""
    n, level = 80, {"alpha": 0.001}
    x = np.linspace(0, 4, n)
    X, noise = x[:, None], 0.3 * g.normal(size=n)
    assert names(X, 1 + 2 * x + noise, **level) == []
    assert "nonlinear" in names(X, x**2 + noise, **level)
    assert names(X, g.normal(size=n), **level) == ["uninformative"]
    assert "heteroscedastic" in names(X, 1 + 2 * x + noise * (0.1 + x**2), **level)
    walk = np.cumsum(noise)
    assert "autocorrelated" in names(X, 1 + 2 * x + walk, **level)
    spoiled = 1 + 2 * x + noise
    spoiled[11] += 5
    health = residual_health(fitted(X, spoiled), X, spoiled)
    (outlier,) = (p for p in health.problems if p.name == "outliers")
    assert "row 11" in outlier.evidence
    assert "L1" in outlier.remedy
    assert "row 11" in str(health)
    twins = np.column_stack([x, x + 1e-4 * g.normal(size=n)])
    (problem,) = (p for p in residual_health(fitted(twins, spoiled), twins, spoiled).problems
                  if p.name == "collinear")  # fmt: skip
    assert "x0, x1" in problem.evidence
    assert np.isnan(problem.p_value)


def test_level_of_the_tests():
    """Without any problem each test speaks up in about alpha of the cases."""
    counts = dict.fromkeys(["nonlinear", "outliers", "heteroscedastic", "autocorrelated"], 0)
    for seed in range(400):
        r = np.random.default_rng(seed)
        X = r.normal(size=(60, 2))
        for name in names(X, X @ [1.0, 2.0] + r.normal(size=60)):
            counts[name] += 1
    assert all(5 <= count <= 38 for count in counts.values()), counts  # 20 expected


def test_a_point_whose_removal_leaves_an_exact_fit():
    x = np.arange(10.0)
    y = 2 * x + 1
    y[4] += 3
    health = residual_health(fitted(x[:, None], y), x[:, None], y)
    assert np.isinf(health.studentized[4])
    assert "the other rows fit exactly" in str(health)
    exact = residual_health(fitted(x[:, None], 2 * x), x[:, None], 2 * x)
    assert exact.problems == ()
    assert_allclose(exact.studentized, 0)
    assert "no problem" in str(exact)


def test_other_smoothers_and_refusals():
    X, y = data(40, 3)
    ridge = residual_health(Ridge(2.0).fit(X, y), X, y)
    assert_allclose(ridge.leverage.sum(), Ridge(2.0).fit(X, y).df_)
    raw = residual_health(fitted(X, y, fit_intercept=False), X, y)
    assert len(raw.residuals) == 40
    with pytest.raises(TypeError, match="linear model"):
        residual_health(object(), X, y)
    with pytest.raises(ValueError, match="one target"):
        residual_health(LinearRegression().fit(X, np.c_[y, y]), X, np.c_[y, y])
    with pytest.raises(ValueError, match="without sample_weight"):
        residual_health(LinearRegression().fit(X, y, np.arange(40)), X, y)
    with pytest.raises(ValueError, match="too few residuals"):
        residual_health(fitted(X[:5], y[:5]), X[:5], y[:5])
    with pytest.raises(ValueError, match="alpha"):
        residual_health(fitted(X, y), X, y, alpha=0)
