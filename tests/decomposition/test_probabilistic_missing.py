"""PPCA of rows with missing cells: exact EM, the limit without gaps, imputation."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize
from scipy.stats import multivariate_normal

import pellucid
from pellucid import ProbabilisticPCA


def table(n=200, m=6, d=2, share=0.2, noise=0.3, seed=0):
    rng = np.random.default_rng(seed)
    W = rng.normal(size=(m, d)) * 2
    X = rng.normal(size=(n, d)) @ W.T + noise * rng.normal(size=(n, m)) + 5
    return np.where(rng.random((n, m)) < share, np.nan, X), X, W


def likelihood(theta, X, d):
    """Minus the observed log-likelihood of mean, W and log s2."""
    m = X.shape[1]
    W = theta[m : m + m * d].reshape(m, d)
    C = W @ W.T + np.exp(theta[-1]) * np.eye(m)
    total = 0.0
    for o in np.unique(~np.isnan(X), axis=0):
        D = X[(~np.isnan(X) == o).all(axis=1)][:, o] - theta[:m][o]
        K = 2 * np.pi * C[np.ix_(o, o)]
        square = 2 * np.pi * (D * np.linalg.solve(K, D.T).T).sum() if o.any() else 0.0
        total += 0.5 * (len(D) * np.linalg.slogdet(K)[1] + square)
    return total


def test_it_is_the_maximum_of_the_observed_likelihood():
    X = table(40, 4, 1, 0.2)[0]
    model = ProbabilisticPCA(1, tol=1e-12, max_iter=5000).fit(X)
    W = model.loadings_
    best = np.concatenate([model.mean_, W.ravel(), [np.log(model.noise_variance_)]])
    assert_allclose(-likelihood(best, X, 1), model.log_likelihood_, rtol=1e-10)
    assert_allclose(model.score_samples(X).sum(), model.log_likelihood_, rtol=1e-10)
    start = np.concatenate([np.nanmean(X, axis=0), W.ravel() + 0.3, [0.0]])
    found = minimize(likelihood, start, args=(X, 1), options={"gtol": 1e-4})
    assert_allclose(found.fun, -model.log_likelihood_, rtol=1e-7)
    assert_allclose(np.outer(*2 * [found.x[4:8]]), W @ W.T, atol=1e-2)


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10**6), m=st.integers(3, 7), share=st.floats(0.02, 0.5))
def test_the_likelihood_never_falls(seed, m, share):
    X = table(30, m, 2, share, seed=seed)[0]
    X[:2] = np.arange(2 * m).reshape(2, m)
    w = np.random.default_rng(seed).integers(1, 4, size=30)
    model = ProbabilisticPCA(2, tol=1e-3, max_iter=5000).fit(X, sample_weight=w)
    values = model.history_["objective"]
    assert (np.diff(values) >= -1e-9 * np.maximum(1, np.abs(values[1:]))).all()
    again = ProbabilisticPCA(2, tol=1e-3, max_iter=5000).fit(np.repeat(X, w, axis=0))
    assert_allclose(again.log_likelihood_, model.log_likelihood_, rtol=1e-8)


def test_without_gaps_one_round_is_the_closed_form():
    """A row of only NaN says nothing; and as gaps vanish the fit becomes that of PCA."""
    _, X, _ = table(100)
    plain = ProbabilisticPCA(2).fit(X)
    gap = ProbabilisticPCA(2).fit(np.vstack([X, np.full((1, 6), np.nan)]))
    assert_allclose(gap.covariance_, plain.covariance_, rtol=1e-5, atol=1e-6)
    assert_allclose(gap.log_likelihood_, plain.log_likelihood_, rtol=1e-8)
    pca = pellucid.PCA(2, ddof=0).fit(X)
    V = gap.loadings_ / np.linalg.norm(gap.loadings_, axis=0)
    assert_allclose(np.abs(V.T @ pca.components_.T), np.eye(2), atol=1e-4)
    assert not hasattr(plain, "history_")


def test_what_is_said_of_rows_with_gaps():
    X = table()[0][:40]
    X[3] = np.nan
    model = ProbabilisticPCA(2).fit(table()[0])
    C, mean = model.covariance_, model.mean_
    filled, latent = model.impute(X), model.posterior(X)
    assert latent.covariance.shape == (40, 2, 2)
    assert_allclose(model.transform(X), latent.means)
    for i, x in enumerate(X):
        o, u = ~np.isnan(x), np.isnan(x)
        if not o.any():
            assert_allclose(filled[i], mean)
            assert_allclose(latent.means[i], 0)
            assert_allclose(latent.covariance[i], np.eye(2), atol=1e-12)
            assert_allclose(model.score_samples(X)[i], 0, atol=1e-12)
            continue
        K = np.linalg.solve(C[np.ix_(o, o)], C[np.ix_(o, u)])
        assert_allclose(filled[i][u], mean[u] + (x - mean)[o] @ K, rtol=1e-8)
        value = multivariate_normal(mean[o], C[np.ix_(o, o)]).logpdf(x[o])
        assert_allclose(model.score_samples(X)[i], value, rtol=1e-8)
        G = np.linalg.solve(C[np.ix_(o, o)], model.loadings_[o])
        assert_allclose(latent.means[i], (x - mean)[o] @ G, rtol=1e-7, atol=1e-9)
        assert_allclose(latent.covariance[i], np.eye(2) - model.loadings_[o].T @ G, atol=1e-8)
    assert model.posterior(table()[1]).covariance.shape == (2, 2)


def test_recovery_and_imputation():
    X, whole, W = table(2000, 8, 2, 0.3)
    model = ProbabilisticPCA(2).fit(X)
    assert_allclose(model.noise_variance_, 0.09, rtol=0.05)
    assert_allclose(model.loadings_ @ model.loadings_.T, W @ W.T, atol=0.7)
    gaps = np.isnan(X)
    error = np.mean((model.impute(X) - whole)[gaps] ** 2)
    assert error < 0.05 * whole.var()
    assert_array_equal(model.impute(X)[~gaps], X[~gaps])


def test_blocks():
    X = table(9000)[0]
    frame = pl.DataFrame(X, schema=list("abcdef"))
    a, b = (
        ProbabilisticPCA(2).fit_blocks(pellucid.data.blocks(frame, block_rows=n))
        for n in (3000, 9000)
    )
    assert_array_equal(a.loadings_, b.loadings_)
    assert_allclose(ProbabilisticPCA(2).fit(frame).covariance_, a.covariance_, rtol=1e-10)


def test_degenerate_gaps():
    X = table(50)[0]
    X[:, 2] = np.nan
    with pytest.raises(ValueError, match=r"no observed cell in column\(s\) x2"):
        ProbabilisticPCA(2).fit(X)
    with pytest.raises(ValueError, match="without missing cells"):
        ProbabilisticPCA("evidence").fit(table(50)[0])
