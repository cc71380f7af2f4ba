"""Gaussian-process classification: scikit-learn's answers, laws of the mode, a recovery."""

import numpy as np
import pytest
from scipy.special import expit
from sklearn.gaussian_process import GaussianProcessClassifier as Theirs
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, Matern

from pellucid import GaussianProcessClassifier
from pellucid.kernel import GaussianKernel
from pellucid.kernel.processes.covariance import covariance
from pellucid.kernel.processes.laplace import newton, probability

rng = np.random.default_rng(0)


def table(n=50, k=2):
    X = rng.normal(size=(n, 2))
    score = np.sin(2 * X[:, 0]) + X[:, 1] + 0.3 * rng.normal(size=n)
    return X, np.digitize(score, np.quantile(score, np.arange(1, k) / k))


@pytest.mark.parametrize("k", [2, 3])
def test_oracle(k):
    X, y = table(k=k)
    kernel = ConstantKernel(4.0, "fixed") * RBF([0.7, 1.5], "fixed")
    mine, other = GaussianProcessClassifier(kernel).fit(X, y), Theirs(kernel).fit(X, y)
    new = rng.normal(size=(20, 2))
    np.testing.assert_allclose(mine.predict_proba(new), other.predict_proba(new), atol=1e-6)
    np.testing.assert_array_equal(mine.predict(new), other.predict(new))
    value = other.log_marginal_likelihood_value_
    assert mine.log_marginal_likelihood_value_ == pytest.approx(value, abs=1e-8)


def test_oracle_of_the_learned_kernel_and_its_gradient():
    X, y = table()
    kernel = ConstantKernel(1.0) * Matern([1.0, 1.0], nu=2.5)
    mine, other = GaussianProcessClassifier(kernel).fit(X, y), Theirs(kernel).fit(X, y)
    assert mine.log_marginal_likelihood() >= other.log_marginal_likelihood() - 1e-5
    theta = np.log([2.0, 0.8, 1.7])
    value, slope = mine.log_marginal_likelihood(theta, eval_gradient=True)
    expected, their_slope = other.log_marginal_likelihood(theta, eval_gradient=True)
    assert value == pytest.approx(expected)
    np.testing.assert_allclose(slope, their_slope, atol=1e-6)
    own = GaussianProcessClassifier(1.0 * GaussianKernel(1.0)).fit(X, y)
    assert own.log_marginal_likelihood() > GaussianProcessClassifier().fit(X, y).modes_[0].value


def test_invariant_at_the_mode_the_slope_of_the_posterior_is_zero():
    """K^-1 f = y - pi, and more Newton steps change nothing."""
    X, y = table()
    K = covariance(RBF(1.0), X).K + 1e-6 * np.eye(50)
    found = newton(K, y.astype(float), None, 100)
    np.testing.assert_allclose(found.f, K @ (y - expit(found.f)), atol=1e-6)
    again = newton(K, y.astype(float), found.f, 100)
    assert len(again.values) <= 2
    assert again.value == pytest.approx(found.value, abs=1e-9)
    assert probability(np.array([3.0]), np.array([0.0])) == pytest.approx(expit(3.0), abs=1e-3)


def test_recovery_of_probabilities():
    x = rng.uniform(-3, 3, size=(400, 1))
    truth = expit(3 * np.sin(2 * x[:, 0]))
    model = GaussianProcessClassifier(1.0 * RBF()).fit(x, rng.random(400) < truth)
    assert np.abs(model.predict_proba(x)[:, 1] - truth).mean() < 0.08


def test_pairs_and_warm_starts():
    X, y = table(60, 3)
    pairs = GaussianProcessClassifier(multi_class="one_vs_one").fit(X, y)
    other = Theirs(multi_class="one_vs_one").fit(X, y)
    np.testing.assert_array_equal(pairs.predict(X), other.predict(X))
    with pytest.raises(ValueError, match="does not support predicting probability"):
        pairs.predict_proba(X)
    model = GaussianProcessClassifier(warm_start=True).fit(X, y)
    steps = model.n_iter_
    assert model.fit(X, y).n_iter_ < steps
    with pytest.raises(ValueError, match="Shape of theta"):
        GaussianProcessClassifier(1.0 * RBF()).fit(X, y).log_marginal_likelihood([0.0])
