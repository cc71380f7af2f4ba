"""Kernel density: an oracle, an invariant, a recovery."""

import numpy as np
import pytest
import sklearn.neighbors as peer
from numpy.testing import assert_allclose, assert_array_equal
from scipy.integrate import quad
from scipy.special import gammaln, logsumexp
from scipy.stats import kstest, norm

from pellucid import KernelDensity
from pellucid.neighbors.kernel_density import KERNELS, log_kernel, log_norm, radii

rng = np.random.default_rng(0)
X = rng.normal(size=(150, 2))
Q = np.vstack([rng.normal(size=(60, 2)) * 1.5, [[30.0, 0.0]]])
W = rng.integers(0, 4, 150).astype(float)


def by_definition(X, Q, h, kernel, w):
    D = np.sqrt(((Q[:, None, :] - X[None, :, :]) ** 2).sum(axis=2))
    L = log_kernel(D / h, kernel)
    with np.errstate(divide="ignore"):
        sums = logsumexp(L, b=w, axis=1)
    return sums - np.log(w.sum()) - log_norm(kernel, X.shape[1]) - X.shape[1] * np.log(h)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("h", [0.02, 0.7])
def test_oracle(kernel, h):
    """The definition, summed in logarithms; near rows alone or all of them."""
    for w in (None, W):
        ours = KernelDensity(bandwidth=h, kernel=kernel).fit(X, sample_weight=w)
        truth = by_definition(X, Q, h, kernel, np.ones(150) if w is None else w)
        assert_allclose(ours.score_samples(Q), truth, rtol=1e-12, atol=1e-12)
    if kernel == "cosine":  # scikit-learn's does not integrate to 1 in two columns
        return
    theirs = peer.KernelDensity(bandwidth=0.7, kernel=kernel).fit(X)
    ours = KernelDensity(bandwidth=0.7, kernel=kernel).fit(X)
    assert_allclose(ours.score_samples(Q), theirs.score_samples(Q), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("metric", ["manhattan", "chebyshev", "canberra"])
def test_other_distances(metric):
    ours = KernelDensity(metric=metric).fit(X).score_samples(Q)
    theirs = peer.KernelDensity(metric=metric, algorithm="ball_tree").fit(X).score_samples(Q)
    assert_allclose(ours, theirs, rtol=1e-8)


@pytest.mark.parametrize("rule", ["scott", "silverman"])
def test_rules(rule):
    ours, theirs = (k(bandwidth=rule).fit(X) for k in (KernelDensity, peer.KernelDensity))
    assert_allclose(ours.bandwidth_, theirs.bandwidth_)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("p", [1, 2, 5])
def test_invariant(kernel, p):
    """A kernel integrates to 1; its draws have the lengths that its density says."""
    area = 2 * np.exp(0.5 * p * np.log(np.pi) - gammaln(0.5 * p))

    def mass(r):
        height = log_kernel(np.array([r]), kernel)[0] - log_norm(kernel, p)
        return area * r ** (p - 1) * np.exp(height)

    end = 60 if kernel in ("gaussian", "exponential") else 1
    assert_allclose(quad(mass, 0, end, points=[1.0], limit=200)[0], 1.0, rtol=1e-6)
    if kernel != "gaussian":
        r = radii(kernel, p, 400, np.random.default_rng(1))
        grid = np.linspace(0, end, 1001)
        cdf = np.concatenate([[0], np.cumsum([mass(g) for g in 0.5 * (grid[1:] + grid[:-1])])])
        cdf /= cdf[-1]
        assert kstest(np.interp(r, grid, cdf), "uniform").pvalue > 1e-3


def test_recovery():
    """The density of a normal sample; draws look like the rows."""
    x = rng.normal(size=(4000, 1))
    model = KernelDensity(bandwidth=0.2).fit(x)
    grid = np.linspace(-2, 2, 41)[:, None]
    assert np.abs(np.exp(model.score_samples(grid)) - norm.pdf(grid[:, 0])).max() < 0.04
    drawn = model.sample(2000, random_state=0)
    assert kstest(drawn[:, 0], norm(scale=np.sqrt(1.04)).cdf).pvalue > 1e-3
    assert_array_equal(model.sample(5, random_state=3), model.sample(5, random_state=3))
    assert model.tree_.query([[0.0]])[0][0, 0] < 0.1
