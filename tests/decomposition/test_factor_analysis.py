"""Factor analysis against scikit-learn, its own likelihood and a known model."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import approx_fprime
from scipy.stats import multivariate_normal
from sklearn.decomposition import FactorAnalysis as Peer

from pellucid import FactorAnalysis, ProbabilisticPCA
from pellucid.decomposition.factor_analysis import best_loadings, rotated

rng = np.random.default_rng(0)
NOISE = rng.uniform(0.3, 2, 8)
X = rng.normal(size=(400, 3)) @ rng.normal(size=(3, 8)) + rng.normal(size=(400, 8)) * NOISE + 5


@pytest.mark.parametrize(
    "params",
    [
        {"n_components": 2},
        {"n_components": 3, "tol": 1e-3},
        {"n_components": 2, "rotation": "varimax"},
        {"n_components": 3, "rotation": "quartimax"},
        {"n_components": 1, "noise_variance_init": NOISE},
    ],
)
def test_scikit_learn_takes_the_same_rounds(params):
    ours, theirs = FactorAnalysis(**params).fit(X), Peer(svd_method="lapack", **params).fit(X)
    assert ours.n_iter_ == theirs.n_iter_
    assert_allclose(ours.loglike_, theirs.loglike_, rtol=1e-9)
    assert_allclose(ours.noise_variance_, theirs.noise_variance_, rtol=1e-9)
    assert_allclose(ours.get_covariance(), theirs.get_covariance(), rtol=1e-8)
    assert_allclose(ours.get_precision(), theirs.get_precision(), atol=1e-10)
    assert_allclose(np.abs(ours.transform(X)), np.abs(theirs.transform(X)), atol=1e-9)
    assert_allclose(ours.score_samples(X), theirs.score_samples(X), rtol=1e-9)


@pytest.mark.parametrize("d", [0, 1, 3, 8])
def test_the_likelihood_is_that_of_the_normal_density_and_never_falls(d):
    model = FactorAnalysis(d, tol=1e-4, max_iter=5000).fit(X)
    density = multivariate_normal(model.mean_, model.get_covariance())
    assert_allclose(model.score_samples(X), density.logpdf(X), rtol=1e-6)
    if d < 8:
        assert_allclose(model.loglike_[-1], density.logpdf(X).sum(), rtol=1e-9)
    assert (np.diff(model.loglike_) > -1e-6).all()


def test_stationary():
    """At the maximum no change of the logged noise raises the likelihood."""
    model = FactorAnalysis(2, tol=1e-7, max_iter=20_000).fit(X)
    S = np.cov(X.T, bias=True)

    def value(log_noise):
        return best_loadings(S, np.exp(log_noise), 2).mean_log_likelihood

    gradient = approx_fprime(np.log(model.noise_variance_), value, 1e-6)
    assert_allclose(gradient, 0, atol=1e-4)


def test_units_do_not_matter_and_equal_noise_is_ppca():
    scale = np.array([1, 10, 0.1, 1, 3, 1, 0.5, 1])
    plain = FactorAnalysis(2, tol=1e-7, max_iter=20_000).fit(X)
    start = scale**2
    scaled = FactorAnalysis(2, tol=1e-7, max_iter=20_000, noise_variance_init=start).fit(X * scale)
    assert_allclose(scaled.noise_variance_, plain.noise_variance_ * scale**2, rtol=1e-3)
    assert_allclose(np.abs(scaled.transform(X * scale)), np.abs(plain.transform(X)), atol=1e-3)
    round_noise = best_loadings(np.cov(X.T, bias=True), np.full(8, 1.3), 2)
    ppca = ProbabilisticPCA(2).fit(X)
    same = best_loadings(np.cov(X.T, bias=True), np.full(8, ppca.noise_variance_), 2)
    assert_allclose(same.W.T @ same.W, ppca.loadings_ @ ppca.loadings_.T, rtol=1e-8, atol=1e-9)
    assert same.mean_log_likelihood > round_noise.mean_log_likelihood


def test_recovers_the_model():
    own = np.random.default_rng(1)
    W = np.zeros((2, 6))
    W[0, :3], W[1, 3:] = 2.0, 1.0
    noise = np.array([0.5, 1.0, 3.0, 0.2, 0.4, 0.6])
    Z = own.normal(size=(20_000, 2)) @ W + own.normal(size=(20_000, 6)) * np.sqrt(noise)
    model = FactorAnalysis(2, rotation="varimax").fit(Z)
    assert_allclose(np.abs(model.components_), W, atol=0.1)
    assert_allclose(model.noise_variance_, noise, atol=0.12)


@pytest.mark.parametrize("method", ["varimax", "quartimax"])
def test_rotation_keeps_the_model_and_raises_its_criterion(method):
    W = rng.normal(size=(3, 8))
    R = rotated(W, method)
    assert_allclose(R.T @ R, W.T @ W, atol=1e-10)

    def criterion(A):
        squares = A**2
        return squares.var(axis=1).sum() if method == "varimax" else (squares**2).sum()

    assert criterion(R) >= criterion(W)


def test_bad_input():
    with pytest.raises(ValueError, match="noise_variance_init must hold 8"):
        FactorAnalysis(2, noise_variance_init=np.ones(3)).fit(X)
    flat = np.column_stack([X[:, :3], np.ones(400)])
    model = FactorAnalysis(1).fit(flat)
    assert np.isfinite(model.transform(flat)).all()
    assert np.isfinite(model.score_samples(flat)).all()
