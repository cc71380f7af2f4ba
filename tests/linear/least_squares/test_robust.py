"""summary(covariance=...): statsmodels HC0 to HC3 and clusters."""

import numpy as np
import pytest
import statsmodels.api as sm
from linear_tables import data
from numpy.testing import assert_allclose

from pellucid.linear import LinearRegression

KINDS = ["HC0", "HC1", "HC2", "HC3"]


def noisy(n=80, k=None):
    X, y = data(n, 3, k)
    noise = np.random.default_rng(0).normal(size=y.shape)
    return X, y + noise * (X[:, :1] if k else X[:, 0])


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("kind", KINDS)
def test_equals_statsmodels(kind, intercept, weighted):
    X, y = noisy()
    w = np.random.default_rng(1).integers(1, 4, size=80) if weighted else None
    model = LinearRegression(fit_intercept=intercept).fit(X, y, sample_weight=w)
    s = model.summary(confidence=0.9, covariance=kind, X=X, y=y, sample_weight=w)
    Xr, yr = (X, y) if w is None else (np.repeat(X, w, axis=0), np.repeat(y, w))
    design = sm.add_constant(Xr) if intercept else Xr
    oracle = sm.OLS(yr, design).fit(cov_type=kind, use_t=True)
    assert_allclose(s.standard_error, oracle.bse, rtol=1e-8)
    assert_allclose(s.statistic, oracle.tvalues, rtol=1e-8)
    assert_allclose(s.p_value, oracle.pvalues, rtol=1e-6, atol=1e-300)
    assert_allclose(np.column_stack([s.low, s.high]), oracle.conf_int(0.1), rtol=1e-8)
    assert_allclose(s.f_statistic, oracle.fvalue, rtol=1e-7)
    assert_allclose(s.f_p_value, oracle.f_pvalue, rtol=1e-5, atol=1e-300)
    assert s.notes[-1].startswith(f"standard errors {kind}")


@pytest.mark.parametrize("labels", ["numbers", "words"])
def test_clusters_equal_statsmodels(labels):
    X, y = noisy()
    codes = np.random.default_rng(2).integers(12, size=80)
    groups = codes if labels == "numbers" else np.array([f"g{c}" for c in codes])
    s = LinearRegression().fit(X, y).summary(covariance="cluster", X=X, y=y, groups=groups)
    oracle = sm.OLS(y, sm.add_constant(X)).fit(
        cov_type="cluster", cov_kwds={"groups": codes}, use_t=True
    )
    assert_allclose(s.standard_error, oracle.bse, rtol=1e-8)
    assert_allclose(s.p_value, oracle.pvalues, rtol=1e-6)
    assert_allclose(np.column_stack([s.low, s.high]), oracle.conf_int(), rtol=1e-7)
    assert_allclose(s.f_statistic, oracle.fvalue, rtol=1e-7)


def test_several_targets_are_one_at_a_time():
    X, y = noisy(k=2)
    s = LinearRegression().fit(X, y).summary(covariance="HC3", X=X, y=y)
    for j in range(2):
        one = LinearRegression().fit(X, y[:, j]).summary(covariance="HC3", X=X, y=y[:, j])
        assert_allclose(s.standard_error[j], one.standard_error, rtol=1e-9)
        assert_allclose(s.f_statistic[j], one.f_statistic, rtol=1e-9)


def test_each_row_its_own_cluster_is_hc1():
    X, y = noisy()
    model = LinearRegression().fit(X, y)
    a = model.summary(covariance="cluster", X=X, y=y, groups=np.arange(80)).standard_error
    b = model.summary(covariance="HC1", X=X, y=y).standard_error
    assert_allclose(a, b, rtol=1e-9)


def test_refusals():
    X, y = noisy()
    model = LinearRegression().fit(X, y)
    cases = [
        ({"covariance": "HC4"}, "covariance must be one of"),
        ({"covariance": "HC3"}, "training data again"),
        ({"covariance": "HC3", "X": X, "y": y + np.arange(80)}, "must be those of the fit"),
        ({"covariance": "cluster", "X": X, "y": y}, "needs groups"),
        ({"covariance": "HC0", "X": X, "y": y, "groups": y}, "take none"),
        ({"covariance": "cluster", "X": X, "y": y, "groups": [1]}, "one label per row"),
        ({"covariance": "cluster", "X": X, "y": y, "groups": np.ones(80)}, "at least 2 groups"),
        ({"X": X, "y": y}, "are for covariance"),
    ]
    for arguments, message in cases:
        with pytest.raises(ValueError, match=message):
            model.summary(**arguments)
    spike = np.eye(6)[:, :1]
    fit = LinearRegression().fit(spike, np.arange(6.0))
    with pytest.raises(ValueError, match="row 0 has leverage 1"):
        fit.summary(covariance="HC3", X=spike, y=np.arange(6.0))
    white = LinearRegression().fit(X, y, noise_covariance=np.eye(80))
    with pytest.raises(ValueError, match="independent rows"):
        white.summary(covariance="HC0", X=X, y=y)
