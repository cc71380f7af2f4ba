"""Standard errors, tests and intervals of logistic regression against statsmodels."""

import numpy as np
import polars as pl
import pytest
import statsmodels.api as sm
from numpy.testing import assert_allclose

import pellucid
from pellucid import LogisticRegression
from pellucid.linear import SeparationWarning


def rows(n=250, p=3, K=2, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) * [1.0, 5.0, 0.2][:p] + 2
    Z = (X - 2) @ (rng.normal(size=(p, K)) / np.array([1.0, 5.0, 0.2])[:p, None])
    return X, (Z + rng.gumbel(size=Z.shape)).argmax(axis=1)


def test_summary_equals_statsmodels_logit():
    X, y = rows()
    ours = LogisticRegression(C=np.inf).fit(X, y)
    theirs = sm.Logit(y, sm.add_constant(X)).fit(disp=0, tol=1e-14)
    s = ours.summary()
    assert s.valid
    assert s.names == ("intercept", "x0", "x1", "x2")
    assert_allclose(s.estimate, theirs.params, rtol=1e-8)
    assert_allclose(s.standard_error, theirs.bse, rtol=1e-8)
    assert_allclose(s.statistic, theirs.tvalues, rtol=1e-8)
    assert_allclose(s.p_value, theirs.pvalues, rtol=1e-6, atol=1e-14)
    assert_allclose(np.column_stack([s.low, s.high]), theirs.conf_int(), rtol=1e-8)
    assert_allclose(s.odds_ratio, np.exp(theirs.params), rtol=1e-8)
    for name, value in [
        ("log_likelihood", theirs.llf), ("null_log_likelihood", theirs.llnull),
        ("lr_statistic", theirs.llr), ("lr_p_value", theirs.llr_pvalue),
        ("pseudo_r2", theirs.prsquared), ("aic", theirs.aic), ("bic", theirs.bic), ("n", 250),
    ]:  # fmt: skip
        assert_allclose(getattr(s, name), value, rtol=1e-8)
    assert_allclose(ours.deviance_, -2 * theirs.llf, rtol=1e-10)
    assert_allclose(ours.covariance_, theirs.cov_params(), rtol=1e-7)


@pytest.mark.parametrize("K", [3, 4])
def test_summary_equals_statsmodels_mnlogit(K):
    X, y = rows(400, 3, K, seed=1)
    ours = LogisticRegression(C=np.inf).fit(X, y)
    theirs = sm.MNLogit(y, sm.add_constant(X)).fit(disp=0, tol=1e-14, maxiter=100)
    s = ours.summary()
    assert_allclose(s.estimate, theirs.params.T.ravel(), rtol=1e-7)
    assert_allclose(s.standard_error, theirs.bse.T.ravel(), rtol=1e-7)
    assert_allclose(s.p_value, theirs.pvalues.T.ravel(), rtol=1e-5, atol=1e-14)
    assert_allclose(ours.covariance_, theirs.cov_params(), rtol=1e-6, atol=1e-10)
    for name, value in [
        ("log_likelihood", theirs.llf), ("null_log_likelihood", theirs.llnull),
        ("lr_statistic", theirs.llr), ("lr_p_value", theirs.llr_pvalue),
        ("pseudo_r2", theirs.prsquared), ("aic", theirs.aic), ("bic", theirs.bic),
    ]:  # fmt: skip
        assert_allclose(getattr(s, name), value, rtol=1e-7)
    assert s.names[:2] == ("1: intercept", "1: x0")
    assert ours.standard_errors_.shape == (K - 1, 4)


def test_example_5_numbers():
    model = LogisticRegression(C=np.inf).fit(np.arange(6.0)[:, None], [0, 0, 1, 0, 1, 1])
    s = model.summary()
    assert_allclose(s.standard_error, (2.5457130028, 0.9125855599), atol=1e-8)
    assert_allclose(s.p_value, (0.2331720663, 0.1834140282), atol=1e-9)
    assert_allclose((s.lr_statistic, s.lr_p_value), (3.3617924966, 0.0667254024), atol=1e-9)
    assert_allclose(s.pseudo_r2, 0.4041701136, atol=1e-9)


@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("kind", ["HC0", "HC1", "cluster"])
def test_robust_errors(K, kind):
    X, y = rows(300, 3, K, seed=2)
    groups = np.random.default_rng(0).integers(0, 25, 300)
    ours = LogisticRegression(C=np.inf).fit(X, y)
    D = sm.add_constant(X)
    model = sm.Logit(y, D) if K == 2 else sm.MNLogit(y, D)
    options = {"cov_kwds": {"groups": groups}} if kind == "cluster" else {}
    theirs = model.fit(disp=0, cov_type=kind, maxiter=100, tol=1e-14, **options)
    s = ours.summary(covariance=kind, X=X, y=y, groups=groups if kind == "cluster" else None)
    bse = np.asarray(theirs.bse).T.ravel()
    q = 4 * (K - 1)
    if kind == "HC1":  # statsmodels leaves the factor out where the likelihood is not normal
        bse = bse * np.sqrt(300 / (300 - q))
    assert_allclose(s.standard_error, bse, rtol=1e-6)
    assert kind in " ".join(s.notes)


def test_robust_errors_are_the_sandwich_and_count_weights():
    X, y = rows(80, 2)
    w = np.random.default_rng(0).integers(1, 4, 80)
    weighted = LogisticRegression(C=np.inf).fit(X, y, sample_weight=w)
    again = LogisticRegression(C=np.inf).fit(np.repeat(X, w, axis=0), np.repeat(y, w))
    a = weighted.summary(covariance="HC1", X=X, y=y, sample_weight=w)
    b = again.summary(covariance="HC1", X=np.repeat(X, w, axis=0), y=np.repeat(y, w))
    assert_allclose(a.standard_error, b.standard_error, rtol=1e-8)
    with pytest.raises(ValueError, match="those of the fit"):
        weighted.summary(covariance="HC0", X=X, y=y)
    with pytest.raises(ValueError, match="training data again"):
        weighted.summary(covariance="HC0")
    with pytest.raises(ValueError, match="groups"):
        weighted.summary(covariance="cluster", X=X, y=y, sample_weight=w)


def test_marginal_effects_equal_statsmodels():
    X, y = rows(200, 3)
    ours = LogisticRegression(C=np.inf).fit(X, y).marginal_effects(X)
    theirs = sm.Logit(y, sm.add_constant(X)).fit(disp=0, tol=1e-14).get_margeff()
    assert_allclose(ours.effect, theirs.margeff, rtol=1e-7)
    assert_allclose(ours.standard_error, theirs.margeff_se, rtol=1e-6)
    assert_allclose(ours.p_value, theirs.pvalues, rtol=1e-5, atol=1e-12)
    X, y = rows(200, 3, 3)
    ours = LogisticRegression(C=np.inf).fit(X, y).marginal_effects(X)
    theirs = sm.MNLogit(y, sm.add_constant(X)).fit(disp=0, tol=1e-14).get_margeff()
    assert_allclose(ours.effect.T, theirs.margeff, rtol=1e-6)
    assert_allclose(ours.standard_error.T, theirs.margeff_se, rtol=1e-5)
    assert_allclose(ours.effect.sum(axis=0), 0, atol=1e-12)


def test_likelihood_ratio_test():
    X, y = rows(200, 3)
    whole = LogisticRegression(C=np.inf).fit(X, y)
    part = LogisticRegression(C=np.inf).fit(X[:, :1], y)
    test = whole.likelihood_ratio_test(part)
    big = sm.Logit(y, sm.add_constant(X)).fit(disp=0)
    small = sm.Logit(y, sm.add_constant(X[:, :1])).fit(disp=0)
    assert_allclose(test.statistic, 2 * (big.llf - small.llf), rtol=1e-7)
    assert test.df == 2
    with pytest.raises(ValueError, match="fewer parameters"):
        part.likelihood_ratio_test(whole)
    with pytest.raises(ValueError, match="no valid inference"):
        whole.likelihood_ratio_test(LogisticRegression().fit(X[:, :1], y))


def test_predict_interval():
    X, y = rows(200, 3)
    model = LogisticRegression(C=np.inf).fit(X, y)
    got = model.predict_interval(X)
    fitted = sm.Logit(y, sm.add_constant(X)).fit(disp=0, tol=1e-14)
    frame = fitted.get_prediction(sm.add_constant(X)).summary_frame()
    names = ["ci_lower", "ci_upper"]
    assert_allclose(got, frame[names].to_numpy(), rtol=1e-4)
    P = model.predict_proba(X)[:, 1]
    assert ((got[:, 0] < P) & (got[:, 1] > P)).all()
    with pytest.raises(ValueError, match="no valid inference"):
        LogisticRegression().fit(X, y).predict_interval(X)
    with pytest.raises(ValueError, match="2 classes"):
        LogisticRegression(C=np.inf).fit(*rows(100, 2, 3)).predict_interval(X[:, :2])


@pytest.mark.parametrize("K", [2, 3])
def test_log_odds_against_any_pivot(K):
    X, y = rows(200, 2, K)
    model = LogisticRegression(C=np.inf).fit(X, y)
    by_pivot = [model.log_odds(label) for label in range(K)]
    for r, odds in enumerate(by_pivot):
        assert_allclose(odds.coef[r], 0)
        assert_allclose(odds.standard_errors[r], 0)
        Z = X @ odds.coef.T + odds.intercept
        P = np.exp(Z) / np.exp(Z).sum(axis=1, keepdims=True)
        assert_allclose(P, model.predict_proba(X), atol=1e-12)
    assert_allclose(by_pivot[0].standard_errors[1], by_pivot[1].standard_errors[0], rtol=1e-9)
    last = model.log_odds()
    assert_allclose(last.coef[-1], 0)
    with pytest.raises(ValueError, match="is no class"):
        model.log_odds("red")
    relabelled = LogisticRegression(C=np.inf).fit(X, (y + 1) % K)  # another first class
    swapped = relabelled.log_odds(1)
    assert_allclose(swapped.standard_errors[2 % K], by_pivot[0].standard_errors[1], rtol=1e-6)


def test_errors_are_nan_where_inference_does_not_hold():
    X, y = rows(100, 2)
    model = LogisticRegression(C=10.0).fit(X, y)
    assert np.isnan(model.standard_errors_).all()
    assert model.covariance_.shape == (3, 3)
    with pytest.warns(UserWarning, match="shrunk by the penalty.*BayesianLogisticRegression"):
        s = model.summary()
    assert not s.valid
    assert np.isnan(s.low).all()
    with pytest.warns(SeparationWarning):
        model = LogisticRegression(C=np.inf).fit(np.arange(6.0)[:, None], [0, 0, 0, 1, 1, 1])
    with pytest.warns(UserWarning, match="separated"):
        assert not model.summary().valid


@pytest.mark.slow
def test_wald_intervals_cover():
    rng = np.random.default_rng(0)
    w, hits = np.array([0.3, 1.0, -0.5]), 0
    for _ in range(400):
        X = rng.normal(size=(300, 2))
        y = w[0] + X @ w[1:] + rng.logistic(size=300) > 0
        s = LogisticRegression(C=np.inf).fit(X, y).summary(0.9)
        hits += ((s.low < w) & (w < s.high)).sum()
    assert 0.87 < hits / 1200 < 0.93


# --- blocks ----------------------------------------------------------------------------------


def block_source(X, y, size):
    frame = pl.DataFrame(X, schema=[f"x{j}" for j in range(X.shape[1])])
    return pellucid.data.blocks(frame.with_columns(y=pl.Series(y)), target="y", block_rows=size)


@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("C", [1.0, np.inf])
def test_blocks_are_the_same_model(K, C):
    X, y = rows(9000, 3, K)
    whole = LogisticRegression(C=C, class_weight="balanced").fit(X, y)
    parts = LogisticRegression(C=C, class_weight="balanced").fit_blocks(block_source(X, y, 2000))
    assert_allclose(parts.coef_, whole.coef_, rtol=1e-9)
    assert_allclose(parts.standard_errors_, whole.standard_errors_, rtol=1e-7)
    assert_allclose(parts.log_likelihood_, whole.log_likelihood_, rtol=1e-10)


def test_blocks_find_separation_and_refuse_what_they_cannot():
    X = np.column_stack([np.arange(200.0), np.ones(200)])
    X[:, 1] = np.random.default_rng(0).normal(size=200)
    with pytest.warns(SeparationWarning):
        model = LogisticRegression(C=np.inf).fit_blocks(block_source(X, X[:, 0] > 100, 50))
    assert model.separation_ == "complete"
    flag = (np.arange(200) % 4 == 0).astype(float)
    y = np.where(flag == 1, 1, np.random.default_rng(1).integers(0, 2, 200))
    with pytest.warns(SeparationWarning, match="quasi"):
        quasi = LogisticRegression(C=np.inf).fit_blocks(
            block_source(np.column_stack([flag, X[:, 1]]), y, 50)
        )
    assert quasi.separation_ == "quasi"
    with pytest.raises(ValueError, match="no L1 penalty"):
        LogisticRegression(l1_ratio=1.0).fit_blocks(block_source(X, y, 50))
