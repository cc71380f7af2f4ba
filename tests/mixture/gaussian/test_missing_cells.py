"""Gaussian mixtures of rows with missing cells: exact EM of the observed likelihood."""

import warnings

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize
from scipy.stats import multivariate_normal
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

import pellucid
from pellucid import GaussianMixture, GradientGaussianMixture
from pellucid.mixture import MixtureStart
from pellucid.mixture.gaussian.gaussians import STRUCTURES, full_covariances

TRUTH = GaussianMixture.from_parameters(
    [0.4, 0.6],
    [[0.0, 0.0, 0.0], [4.0, 5.0, 3.0]],
    [[[1, 0.6, 0], [0.6, 1, 0.3], [0, 0.3, 1]], [[2, -1, 0], [-1, 2, 0], [0, 0, 0.5]]],
)


def table(n=300, share=0.2, seed=0):
    """Rows of TRUTH in random order, without a share of their cells."""
    rng = np.random.default_rng(seed)
    X, z = TRUTH.sample(n, random_state=seed)
    order = rng.permutation(n)
    X, z = X[order], z[order]
    gaps = rng.random(X.shape) < share
    return np.where(gaps, np.nan, X), X, z


def brute_joint(model, X):
    """log pi_k N of the observed cells, one row and component at a time."""
    k, p = model.means_.shape
    S = full_covariances(model.covariances_, model.covariance_type, k, p)
    J = np.tile(np.log(model.weights_), (len(X), 1))
    for i, x in enumerate(X):
        o = ~np.isnan(x)
        for c in range(k):
            if o.any():
                J[i, c] += multivariate_normal(model.means_[c][o], S[c][np.ix_(o, o)]).logpdf(x[o])
    return J


def observed_likelihood(theta, X):
    """Minus the observed log-likelihood of one Gaussian; theta = mean and Cholesky factor."""
    p = X.shape[1]
    L = np.zeros((p, p))
    L[np.tril_indices(p)] = theta[p:]
    S, total = L @ L.T, 0.0
    for o in np.unique(~np.isnan(X), axis=0):
        D = X[(~np.isnan(X) == o).all(axis=1)][:, o] - theta[:p][o]
        K = S[np.ix_(o, o)] * 2 * np.pi
        square = 2 * np.pi * (D * np.linalg.solve(K, D.T).T).sum() if o.any() else 0.0
        total += 0.5 * (len(D) * np.linalg.slogdet(K)[1] + square)
    return total


def test_one_component_is_the_maximum_of_the_observed_likelihood():
    X = table(40, 0.25, 3)[0]
    model = GaussianMixture(1, reg_covar=0, tol=1e-13, max_iter=3000).fit(X)
    L = np.linalg.cholesky(model.covariances_[0])
    best = np.concatenate([model.means_[0], L[np.tril_indices(3)]])
    assert_allclose(-observed_likelihood(best, X), model.log_likelihood(X), rtol=1e-10)
    start = np.concatenate([np.nanmean(X, axis=0), np.eye(3)[np.tril_indices(3)]])
    far = minimize(observed_likelihood, start, args=(X,), options={"gtol": 1e-3})
    assert_allclose(far.fun, -model.log_likelihood(X), rtol=1e-7)
    assert_allclose(far.x[:3], model.means_[0], atol=1e-2)


@pytest.mark.parametrize("kind", STRUCTURES)
def test_densities_are_those_of_the_observed_cells(kind):
    X = table(60)[0]
    X[5] = np.nan
    model = GaussianMixture(2, covariance_type=kind, random_state=0).fit(X)
    J = brute_joint(model, X)
    total = np.logaddexp(J[:, 0], J[:, 1])
    assert_allclose(model.score_samples(X), total, rtol=1e-9, atol=1e-12)
    assert_allclose(model.predict_proba(X), np.exp(J - total[:, None]), atol=1e-9)
    assert_allclose(model.predict_proba(X)[5], model.weights_)
    assert_allclose(model.score_samples(X)[5], 0, atol=1e-12)
    assert_allclose(model.history_["log_likelihood"][-1], total.sum(), rtol=1e-10)
    q = model.predict_proba(X)
    assert_allclose(model.evidence_lower_bound(X, q), total.sum(), rtol=1e-10)
    filled = model.impute(X)
    assert_array_equal(filled[~np.isnan(X)], X[~np.isnan(X)])
    assert_allclose(filled[5], model.weights_ @ model.means_)


def test_impute_is_the_conditional_mean():
    X = table(50, 0.3)[0]
    R = TRUTH.predict_proba(X)
    filled = TRUTH.impute(X)
    for x, r, out in zip(X, R, filled, strict=True):
        o, u = ~np.isnan(x), np.isnan(x)
        expected = 0.0
        for c in range(2):
            S, m = TRUTH.covariances_[c], TRUTH.means_[c]
            B = np.linalg.solve(S[np.ix_(o, o)], S[np.ix_(o, u)])
            expected = expected + r[c] * (m[u] + (x[o] - m[o]) @ B)
        assert_allclose(out[u], expected, rtol=1e-9, atol=1e-9)


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(4, 40),
    p=st.integers(1, 5),
    k=st.integers(1, 4),
    kind=st.sampled_from(STRUCTURES),
    share=st.floats(0.05, 0.6),
)
def test_the_observed_likelihood_never_falls(seed, n, p, k, kind, share):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) * 10 ** rng.uniform(-2, 2) + 10 ** rng.uniform(-2, 3)
    X[rng.random((n, p)) < share] = np.nan
    X[0] = np.arange(p)  # no column is empty
    w = rng.integers(0, 3, size=n) + np.eye(n)[0]
    model = GaussianMixture(
        min(k, n), covariance_type=kind, reg_covar=0, tol=0, max_iter=12, random_state=seed
    )
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model.fit(X, sample_weight=w)
    except ValueError as error:
        assert "collapsed" in str(error)  # noqa: PT017
        return
    values = model.history_["log_likelihood"]
    assert (np.diff(values) >= -1e-7 * np.maximum(1, np.abs(values[1:]))).all()
    assert np.isfinite(model.covariances_).all()


@pytest.mark.parametrize("kind", STRUCTURES)
def test_weights_are_repetitions_and_a_gap_free_table_is_the_plain_fit(kind):
    X = table(90)[0]
    w = np.random.default_rng(0).integers(0, 4, size=len(X))
    start = MixtureStart(means=[[0.0, 0, 0], [4.0, 5, 3]])
    model = GaussianMixture(2, covariance_type=kind, init_params=start, tol=0, max_iter=9)
    a = clone(model).fit(X, sample_weight=w)
    b = clone(model).fit(np.repeat(X, w, axis=0)[::-1])
    assert_allclose(a.means_, b.means_, rtol=1e-8)
    assert_allclose(a.covariances_, b.covariances_, rtol=1e-7, atol=1e-12)
    full = table(90)[1]
    gap = np.vstack([full, np.full((1, 3), np.nan)])  # a row without cells says nothing
    c, d = (clone(model).set_params(tol=1e-12, max_iter=500).fit(T) for T in (full, gap))
    assert_allclose(c.means_, d.means_, rtol=1e-4)


def test_recovers_what_it_samples():
    X, whole, z = table(4000, 0.25)
    model = GaussianMixture(2, random_state=0, n_init=2).fit(X)
    order = np.argsort(model.means_[:, 0])
    assert_allclose(model.means_[order], TRUTH.means_, atol=0.15)
    assert_allclose(model.covariances_[order], TRUTH.covariances_, atol=0.2)
    assert_allclose(model.weights_[order], TRUTH.weights_, atol=0.03)
    assert np.mean(np.argsort(order)[model.predict(X)] == z) > 0.93
    gaps = np.isnan(X)
    error = np.mean((model.impute(X) - whole)[gaps] ** 2)
    by_means = np.mean((np.nanmean(X, axis=0) - whole)[gaps] ** 2)
    assert error < 0.45 * by_means


def test_missing_at_random_but_not_completely():
    """The second cell is hidden where the first is large: dropping rows is biased, EM is not."""
    rng = np.random.default_rng(0)
    X = rng.multivariate_normal([0, 0], [[1, 0.8], [0.8, 1]], 6000)
    X[X[:, 0] > 0.3, 1] = np.nan
    model = GaussianMixture(1, tol=1e-9, max_iter=1000).fit(X)
    assert abs(np.nanmean(X[:, 1])) > 0.3
    assert_allclose(model.means_[0], 0, atol=0.06)
    assert_allclose(model.covariances_[0], [[1, 0.8], [0.8, 1]], atol=0.08)


def test_blocks_have_the_same_bits_and_agree_with_memory():
    X = table(9000, 0.15)[0]
    frame = pl.DataFrame(X, schema=["a", "b", "c"])
    models = [
        GaussianMixture(2, random_state=0).fit_blocks(pellucid.data.blocks(frame, block_rows=rows))
        for rows in (3_000, 9_000)
    ]
    assert_array_equal(models[0].covariances_, models[1].covariances_)
    whole = GaussianMixture(2, random_state=0).fit(frame)
    assert_allclose(whole.score(frame), models[0].score(frame), rtol=1e-9)


def test_gradient_of_the_observed_likelihood():
    X = table(40, 0.3)[0]
    d = np.random.default_rng(1).normal(size=(2, 3)) * 1e-6
    pair = [
        GaussianMixture.from_parameters(TRUTH.weights_, TRUTH.means_ + s * d, TRUTH.covariances_)
        for s in (1, -1)
    ]
    slope = (pair[0].log_likelihood(X) - pair[1].log_likelihood(X)) / 2
    assert_allclose((TRUTH.gradient(X).means * d).sum(), slope, rtol=1e-4)
    steps = GradientGaussianMixture(2, max_iter=200, tol=0, learning_rate=0.05, random_state=0)
    values = steps.fit(X).history_["log_likelihood"]
    assert (np.diff(values) > 0).all()


def test_degenerate_gaps():
    X = table(30)[0]
    X[:, 1] = np.nan
    with pytest.raises(ValueError, match=r"no observed cell in column\(s\) x1"):
        GaussianMixture(2).fit(X)
    X[:, 1] = 2.0  # constant where it is seen
    X[::2, 1] = np.nan
    model = GaussianMixture(2, random_state=0).fit(X)
    assert np.isfinite(model.score_samples(X)).all()
    with pytest.raises(ValueError, match="inf"):
        model.predict([[np.inf, 0.0, 0.0]])
