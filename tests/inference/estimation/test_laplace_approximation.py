"""Laplace's approximation: exact for normals, example 19, several modes, no peak."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import gammaln

from pellucid.inference import MultivariateNormal, Normal, laplace_approximation

x, y = np.arange(6.0), np.array([0, 0, 1, 0, 1, 1.0])
D = np.column_stack([np.ones(6), x])


def joint(theta):
    """Log likelihood and log prior N(0, 10 I) of example 19."""
    a = D @ theta
    return float(y @ a - np.logaddexp(0, a).sum() - theta @ theta / 20 - np.log(2 * np.pi * 10))


def gradient(theta):
    return D.T @ (y - 1 / (1 + np.exp(-D @ theta))) - theta / 10


def hessian(theta):
    p = 1 / (1 + np.exp(-D @ theta))
    return -(D.T * (p * (1 - p))) @ D - np.eye(2) / 10


@pytest.mark.parametrize(
    "options", [{}, {"gradient": gradient}, {"gradient": gradient, "hessian": hessian}],
    ids=["values", "gradient", "hessian"],
)  # fmt: skip
def test_example_19_of_the_foundations(options):
    found = laplace_approximation(joint, [0.0, 0.0], **options)
    assert_allclose(found.mode, [-1.956610, 0.860782], atol=1e-6)
    assert_allclose(found.cov, [[2.653450, -0.812305], [-0.812305, 0.378276]], atol=1e-6)
    assert_allclose(found.log_evidence, -5.652286, atol=1e-6)


@pytest.mark.parametrize("d", [1, 3, 8])
def test_exact_for_normals(d):
    rng = np.random.default_rng(d)
    R = rng.normal(size=(d, d)) + 2 * np.eye(d)
    S, m = R @ R.T, rng.normal(size=d)
    law = MultivariateNormal(m, S)
    found = laplace_approximation(lambda t: law.log_density(t) + 3.0, np.zeros(d))
    assert_allclose(found.mode, m, atol=1e-6)
    assert_allclose(found.cov, S, rtol=1e-5, atol=1e-6)
    assert_allclose(found.log_evidence, 3, atol=1e-6)
    assert found.distribution.marginal(0) == Normal(found.mode[0], np.sqrt(found.cov[0, 0]))


def test_stirling():
    """The integral of t^n e^-t over t = n e^u is Gamma(n + 1); Laplace gives Stirling's series."""
    n = 50.0
    found = laplace_approximation(lambda u: (n + 1) * u[0] - np.exp(u[0]), [3.0])
    assert_allclose(found.mode, np.log(n + 1), atol=1e-8)
    assert_allclose(found.log_evidence, gammaln(n + 1), atol=1 / (12 * n))


def test_several_modes_warn_and_the_highest_is_taken():
    two = lambda t: np.logaddexp(  # noqa: E731
        -0.5 * (t[0] - 3) ** 2, -0.5 * (t[0] + 3) ** 2 - 1.0
    )
    with pytest.warns(UserWarning, match="2 modes"):
        found = laplace_approximation(two, [-3.0], n_starts=20, random_state=0)
    assert_allclose(found.modes[:, 0], [3, -3], atol=1e-4)
    assert found.mode[0] > 0


@pytest.mark.filterwarnings("ignore")
def test_no_peak_names_the_direction():
    with pytest.raises(ValueError, match=r"is flat along \[0.0, 1.0\]"):
        laplace_approximation(lambda t: -(t[0] ** 2), [1.0, 1.0])
    with pytest.raises(ValueError, match="rises along"):
        laplace_approximation(lambda t: t[0] ** 2, [0.0], hessian=lambda t: np.array([[2.0]]))


def test_far_starts_and_bad_ones():
    found = laplace_approximation(joint, [40.0, -40.0], gradient=gradient, hessian=hessian)
    assert_allclose(found.mode, [-1.956610, 0.860782], atol=1e-6)
    with pytest.raises(ValueError, match="finite at start"):
        laplace_approximation(lambda t: np.log(t[0]) if t[0] > 0 else -np.inf, [-1.0])


def test_normal_distributions():
    law = Normal(1.0, 2.0)
    assert_allclose(law.quantile(law.cdf([0.5, 3.0])), [0.5, 3.0])
    assert_allclose(law.density(1.0), 1 / np.sqrt(8 * np.pi))
    assert_allclose(law.sample(100_000, 0).std(), 2, rtol=0.01)
    S = np.array([[2.0, 0.5], [0.5, 1.0]])
    many = MultivariateNormal([1.0, -1.0], S)
    assert_allclose(np.cov(many.sample(100_000, 0).T), S, atol=0.03)
    X = many.sample(5, 1)
    direct = [
        -0.5 * ((t - many.mean) @ np.linalg.solve(S, t - many.mean))
        - 0.5 * np.linalg.slogdet(2 * np.pi * S)[1]
        for t in X
    ]
    assert_allclose(many.log_density(X), direct)
    with pytest.raises(ValueError, match="positive semi-definite"):
        MultivariateNormal([0.0, 0.0], [[1.0, 2.0], [2.0, 1.0]])
    with pytest.raises(ValueError, match="std"):
        Normal(0.0, -1.0)
