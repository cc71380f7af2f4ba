"""Probabilistic PCA: the course's numbers, brute force on the joint normal, and its limits."""

import numpy as np
import polars as pl
import pytest
from scipy.stats import multivariate_normal
from sklearn import decomposition as theirs

import pellucid
from pellucid import PCA, ProbabilisticPCA
from pellucid.decomposition.probabilistic import Loadings, em_start, em_step, log_likelihood

FIVE = np.array([[1, 2, 0], [2, 1, 1], [3, 5, 2], [4, 3, 3], [5, 6, 9]], dtype=float)


@pytest.fixture(name="X")
def table():
    rng = np.random.default_rng(0)
    W = rng.normal(size=(6, 2)) * [3, 1.5]
    return rng.normal(size=(300, 2)) @ W.T + 0.5 * rng.normal(size=(300, 6)) + 7


def test_example_16_five_rows():
    model = ProbabilisticPCA(1).fit(FIVE)
    np.testing.assert_allclose(model.noise_variance_, 0.7041488217, atol=1e-10)
    np.testing.assert_allclose(model.log_likelihood_, -26.1335483036, atol=1e-9)
    np.testing.assert_allclose(model.score_samples(FIVE).sum(), -26.1335483036, atol=1e-9)


@pytest.mark.parametrize("solver", ["closed_form", "em"])
def test_density_is_that_of_the_normal_with_its_covariance(X, solver):
    model = ProbabilisticPCA(2, solver=solver, random_state=0).fit(X)
    exact = multivariate_normal(X.mean(axis=0), model.covariance_)
    np.testing.assert_allclose(model.score_samples(X), exact.logpdf(X), rtol=1e-10)
    np.testing.assert_allclose(model.log_likelihood_, exact.logpdf(X).sum(), rtol=1e-10)


def test_posterior_is_the_conditional_of_the_joint_normal(X):
    """DIM-04: condition (z, x) on x by the partitioned covariance, without the short formulas."""
    model = ProbabilisticPCA(2).fit(X)
    W, C = model.loadings_, model.covariance_
    gain = np.linalg.solve(C, W).T  # cov(z, x) cov(x)^-1, with cov(z, x) = W'
    found = model.posterior(X)
    np.testing.assert_allclose(found.means, (X - X.mean(axis=0)) @ gain.T, atol=1e-10)
    np.testing.assert_allclose(found.covariance, np.eye(2) - gain @ W, atol=1e-10)
    np.testing.assert_array_equal(model.transform(X), found.means)
    np.testing.assert_allclose(
        model.inverse_transform(found.means), X.mean(axis=0) + found.means @ W.T
    )


def test_em_reaches_the_closed_form(X):
    closed = ProbabilisticPCA(2).fit(X)
    em = ProbabilisticPCA(2, solver="em", tol=1e-10, max_iter=5000, random_state=3).fit(X)
    W, V = closed.loadings_, em.loadings_
    np.testing.assert_allclose(V @ V.T, W @ W.T, atol=1e-6)
    np.testing.assert_allclose(em.noise_variance_, closed.noise_variance_, rtol=1e-8)
    rise = np.diff(em.history_["log_likelihood"])
    assert (rise >= -1e-9 * abs(closed.log_likelihood_)).all()
    assert em.log_likelihood_ <= closed.log_likelihood_ + 1e-9


def test_closed_form_is_a_fixed_point_of_em_and_a_maximum(X):
    model = ProbabilisticPCA(2).fit(X)
    S = np.cov(X.T, bias=True)
    state = Loadings(model.loadings_, model.noise_variance_)
    again, gap = em_step(S, state)
    assert gap < 1e-12
    np.testing.assert_allclose(again.W, state.W, atol=1e-10)
    rng = np.random.default_rng(1)
    for _ in range(20):
        other = Loadings(state.W + 0.01 * rng.normal(size=state.W.shape), state.noise * 1.01)
        assert log_likelihood(S, other, 300) < model.log_likelihood_


def test_em_step_agrees_with_the_steps_over_rows(X):
    """E: moments of z for every row; M: the regression of x on them."""
    Z, S = X - X.mean(axis=0), np.cov(X.T, bias=True)
    state = em_start(S, 2, np.random.default_rng(0))
    W, s2 = state
    M = W.T @ W + s2 * np.eye(2)
    E = np.linalg.solve(M, W.T @ Z.T).T
    EE = len(Z) * s2 * np.linalg.inv(M) + E.T @ E
    new = Z.T @ E @ np.linalg.inv(EE)
    noise = ((Z**2).sum() - 2 * (E @ new.T * Z).sum() + np.trace(EE @ new.T @ new)) / Z.size
    found, _ = em_step(S, state)
    np.testing.assert_allclose(found.W, new, rtol=1e-9)
    np.testing.assert_allclose(found.noise, noise, rtol=1e-10)


def test_agrees_with_the_density_of_pca(X):
    """The covariance of PCA with 1/n variances is the same model."""
    model = ProbabilisticPCA(2).fit(X)
    np.testing.assert_allclose(model.covariance_, PCA(2, ddof=0).fit(X).get_covariance())
    n = len(X)
    other = theirs.PCA(2, svd_solver="full").fit(X).get_covariance() * (n - 1) / n
    np.testing.assert_allclose(model.covariance_, other, rtol=1e-10)


def test_limit_without_noise_is_pca():
    rng = np.random.default_rng(2)
    exact = rng.normal(size=(200, 2)) @ rng.normal(size=(2, 5))
    near = exact + 1e-6 * rng.normal(size=exact.shape)
    model, pca = ProbabilisticPCA(2).fit(near), PCA(2, whiten=True, ddof=0).fit(near)
    np.testing.assert_allclose(
        np.abs(model.transform(near)), np.abs(pca.transform(near)), atol=1e-5
    )
    np.testing.assert_allclose(model.inverse_transform(model.transform(near)), near, atol=1e-4)
    with pytest.raises(ValueError, match="noise variance is 0"):
        ProbabilisticPCA(2).fit(exact)


def test_recovers_the_model_and_its_dimension():
    rng = np.random.default_rng(4)
    W = np.linalg.qr(rng.normal(size=(8, 3)))[0] * [3.0, 2.0, 1.5]
    true = Loadings(W, 0.25)
    X = rng.normal(size=(40_000, 3)) @ W.T + 0.5 * rng.normal(size=(40_000, 8)) - 3
    model = ProbabilisticPCA("evidence").fit(X)
    assert model.n_components_ == 3
    np.testing.assert_allclose(model.covariance_, true.covariance, atol=0.15)
    np.testing.assert_allclose(model.noise_variance_, 0.25, rtol=0.02)
    drawn = model.sample(40_000, random_state=0)
    np.testing.assert_allclose(np.cov(drawn.T), model.covariance_, atol=0.2)
    np.testing.assert_allclose(drawn.mean(axis=0), model.mean_, atol=0.1)
    np.testing.assert_array_equal(model.sample(3, random_state=1), model.sample(3, random_state=1))


@pytest.mark.parametrize("solver", ["closed_form", "em"])
def test_blocks_of_any_size_give_the_same_bits(solver):
    rng = np.random.default_rng(5)
    X = rng.normal(size=(9000, 2)) @ rng.normal(size=(2, 4)) + rng.normal(size=(9000, 4))
    frame = pl.DataFrame(X, schema=list("abcd"))
    make = ProbabilisticPCA(2, solver=solver, max_iter=5000, random_state=0)
    models = [
        make.__class__(**make.get_params()).fit_blocks(pellucid.data.blocks(frame, block_rows=b))
        for b in (777, 100_000)
    ]
    np.testing.assert_array_equal(models[0].loadings_, models[1].loadings_)
    assert models[0].log_likelihood_ == models[1].log_likelihood_
    np.testing.assert_allclose(make.fit(X).loadings_, models[0].loadings_, rtol=1e-9)


def test_refuses_what_leaves_no_noise():
    with pytest.raises(ValueError, match="n_features=3"):
        ProbabilisticPCA(3).fit(FIVE)
    with pytest.raises(ValueError, match="n_samples=1"):
        ProbabilisticPCA(1).fit(FIVE[:1])
    with pytest.raises(ValueError, match="evidence"):
        ProbabilisticPCA("evidence").fit(FIVE[:2])
    with pytest.raises(ValueError, match="2 columns, but there are 1"):
        ProbabilisticPCA(1).fit(FIVE).inverse_transform([[1.0, 2.0]])


def test_equal_spread_in_all_directions_is_noise_alone():
    cross = np.vstack([np.eye(3), -np.eye(3)])
    model = ProbabilisticPCA(1).fit(cross)
    np.testing.assert_allclose(model.loadings_, 0, atol=1e-7)
    np.testing.assert_allclose(
        model.score_samples(cross), multivariate_normal(np.zeros(3), np.eye(3) / 3).logpdf(cross)
    )
