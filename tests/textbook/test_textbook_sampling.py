"""The Bayesian methods of the textbook agree with the fast ones."""

import numpy as np
import pytest
from agreement import same, same_mean
from numpy.testing import assert_allclose
from scipy import special

from pellucid import inference as fast
from pellucid.textbook.sampling.beta_bernoulli import beta_bernoulli
from pellucid.textbook.sampling.dirichlet_categorical import dirichlet_categorical
from pellucid.textbook.sampling.effective_sample_size import effective_sample_size
from pellucid.textbook.sampling.fisher_information import cramer_rao, fisher_information
from pellucid.textbook.sampling.gamma_poisson import gamma_poisson
from pellucid.textbook.sampling.grid_posterior import grid_posterior
from pellucid.textbook.sampling.hamiltonian_monte_carlo import hamiltonian_monte_carlo, leapfrog
from pellucid.textbook.sampling.highest_density_interval import highest_density_interval
from pellucid.textbook.sampling.laplace_approximation import laplace_approximation
from pellucid.textbook.sampling.linear_gaussian import linear_gaussian
from pellucid.textbook.sampling.maximum_likelihood import maximum_likelihood
from pellucid.textbook.sampling.metropolis_hastings import metropolis_hastings
from pellucid.textbook.sampling.model_comparison import model_comparison
from pellucid.textbook.sampling.normal_inverse_gamma import normal_inverse_gamma
from pellucid.textbook.sampling.normal_inverse_wishart import normal_inverse_wishart
from pellucid.textbook.sampling.normal_mean import normal_mean
from pellucid.textbook.sampling.normal_variance import normal_variance
from pellucid.textbook.sampling.predictive_check import predictive_check
from pellucid.textbook.sampling.rhat import rhat

rng = np.random.default_rng(0)


def test_discrete_beliefs():
    x = rng.integers(2, size=20)
    book, prior = beta_bernoulli(x, 2.0, 3.0), fast.BetaBernoulli(2.0, 3.0)
    after = prior.update(x)
    assert (book.a, book.b) == (after.alpha, after.beta)
    same([book.mean, book.log_evidence], [after.mean, prior.log_evidence(x)])
    x, a = rng.integers(3, size=20), np.array([0.5, 1.0, 2.0])
    many, belief = dirichlet_categorical(x, a), fast.DirichletCategorical(a, [0, 1, 2])
    same(many.mean, belief.update(x).mean)
    same(many.log_evidence, belief.log_evidence(x))
    x = rng.poisson(3, size=20)
    counts, rate = gamma_poisson(x, 2.0, 1.5), fast.GammaPoisson(2.0, 1.5)
    after = rate.update(x)
    same([counts.k, counts.h, counts.mean], [after.shape, after.scale, after.mean])
    same(counts.log_evidence, rate.log_evidence(x))


def test_normal_beliefs():
    x = rng.normal(2, 1.5, size=15)
    after = fast.NormalMean(2.0, 1.0, 3.0).update(x)
    same(normal_mean(x, 2.0, 1.0, 3.0), [after.mean, after.variance])
    prior = fast.NormalVariance(2.0, 1.5, 2.5)
    book, after = normal_variance(x, 2.0, 1.5, 2.5), prior.update(x)
    same([book.a, book.b, book.mean], [after.shape, after.scale, after.mean])
    same(book.log_evidence, prior.log_evidence(x))
    both = fast.NormalInverseGamma(1.0, 2.0, 1.5, 2.5)
    pair, after = normal_inverse_gamma(x, 1.0, 2.0, 1.5, 2.5), both.update(x)
    same(pair[:4], [after.mean, after.kappa, after.shape, after.scale])
    same(pair.log_evidence, both.log_evidence(x))
    X, m, B = rng.normal(size=(12, 3)), rng.normal(size=3), np.diag([1.0, 2.0, 3.0])
    rows = normal_inverse_wishart(X, m, 2.0, 5.0, B)
    after = fast.NormalInverseWishart(m, 2.0, 5.0, B).update(X)
    same(rows.m, after.mean)
    same(rows.B, after.scale)
    assert (rows.k, rows.v) == (after.kappa, after.df)
    y, A, V = rng.normal(size=12), X, np.cov(rng.normal(size=(3, 9)))
    known = linear_gaussian(y, A, 0.5 * np.eye(12), m, V)
    after = fast.LinearGaussian(0.5, m, V).update(A, y)
    same(known.m, after.mean, atol=1e-10)
    same(known.V, after.cov, atol=1e-10)


def hill(t):
    return float(t[0] - np.exp(t[0]) - 0.5 * (t[1] - t[0]) ** 2)


def slope(t):
    return np.array([1 - np.exp(t[0]) + (t[1] - t[0]), -(t[1] - t[0])])


def curve(t):
    return np.array([[-np.exp(t[0]) - 1, 1.0], [1.0, -1.0]])


def test_laplace_and_grid():
    start = np.array([0.5, 0.5])
    book = laplace_approximation(hill, slope, curve, start)
    model = fast.laplace_approximation(hill, start, gradient=slope, hessian=curve)
    same(book.mode, model.mode, atol=1e-8)
    same(book.covariance, model.cov, atol=1e-8)
    same(book.log_evidence, model.log_evidence, atol=1e-8)
    low, high = np.array([-9.0, -9.0]), np.array([3.0, 6.0])
    exact, grid = grid_posterior(hill, low, high, 61), fast.GridPosterior(hill, low, high, 61)
    same(exact.mean, grid.mean, atol=1e-8)
    same(exact.log_evidence, grid.log_evidence, atol=1e-8)


def test_maximum_likelihood():
    x = rng.gamma(3.0, 2.0, size=60)

    def log_likelihood(t):
        k, h = np.exp(t)
        return float(((k - 1) * np.log(x) - x / h - special.gammaln(k) - k * np.log(h)).sum())

    book = maximum_likelihood(log_likelihood, np.zeros(2))
    model = fast.maximum_likelihood(log_likelihood, np.zeros(2))
    best = fast.fit_distribution(x, fast.Gamma).distribution
    same(book.value, model.log_value)
    same(book.value, log_likelihood(np.log([best.shape, best.scale])))
    # looser: slopes by differences, of steps 1e-4, are off by the square of the step
    assert_allclose(book.t, model.estimate, atol=1e-6)
    # looser: so are the curvatures
    assert_allclose(book.covariance, model.covariance, rtol=1e-5)
    # looser: as above
    assert_allclose(np.exp(book.t), [best.shape, best.scale], rtol=1e-6)


def test_fisher_information():
    support = np.arange(60)

    def log_p(k, t):
        return k * np.log(t) - t - special.gammaln(k + 1)

    book = fisher_information(log_p, support, 4.0)
    same(book, fast.fisher_information(fast.Poisson(4.0), "rate"))
    same(cramer_rao(book, 9), fast.cramer_rao(fast.Poisson(4.0), "rate", 9))


@pytest.mark.filterwarnings("ignore:do not trust these draws")  # short, on purpose
def test_walks():
    mean, start = [-np.euler_gamma, -np.euler_gamma], np.zeros(2)  # exp(t_0) is exponential
    walks = [metropolis_hastings(hill, start, 1000, 200, 1.5, rng) for _ in range(20)]
    rolls = [hamiltonian_monte_carlo(hill, slope, start, 100, rng) for _ in range(20)]
    chains = fast.metropolis_hastings(hill, start, n_draws=1000, n_chains=20, random_state=0)
    for draws in (walks, rolls, chains.draws):  # a chain is one independent draw of its mean
        same_mean(np.mean(draws, axis=1), mean)
    t, p = leapfrog(slope, np.array([0.3, 0.1]), np.array([1.0, -0.5]), 0.1, 20)
    back, _ = leapfrog(slope, t, -p, 0.1, 20)
    same(back, [0.3, 0.1], atol=1e-12)  # reversible


@pytest.mark.parametrize("n", [100, 201])
def test_diagnostics(n):
    draws = np.cumsum(rng.normal(size=(4, n)), axis=1) * 0.1 + rng.normal(size=(4, n))
    same(rhat(draws), fast.rhat(draws), rtol=1e-10)
    same(effective_sample_size(draws), fast.effective_sample_size(draws))
    free = rng.normal(size=(4, n))
    same(effective_sample_size(free), fast.effective_sample_size(free))


def test_predictive_check():
    x = rng.exponential(size=30)
    draws = rng.normal(x.mean(), 0.2, size=(400, 1))

    def simulate(t, r):
        return r.normal(t[0], x.std(), size=30)

    ours = [predictive_check(x, draws, simulate, np.min, rng) for _ in range(20)]
    theirs = [fast.predictive_check(x, draws, simulate, np.min, random_state=i) for i in range(20)]
    same_mean(ours, [one.p_value for one in theirs])


def test_model_comparison():
    log_evidence, prior = np.array([-1000.0, -1002.0, -1001.0]), np.array([0.2, 0.5, 0.3])
    named = dict(zip("abc", log_evidence, strict=True))
    equal = fast.compare_models(named).probability
    same(model_comparison(log_evidence), [equal[k] for k in "abc"])
    weighed = fast.compare_models(named, dict(zip("abc", prior, strict=True))).probability
    same(model_comparison(log_evidence, prior), [weighed[k] for k in "abc"])


def test_highest_density_interval():
    law = fast.Gamma(3.0, 2.0)
    book = highest_density_interval(lambda u: float(law.quantile(u)), 0.9)
    exact = fast.hpd_interval(law, 0.9)
    same(np.diff(book), np.diff(exact))
    # looser: widths alone find the place of a flat bottom to the root of their rounding
    assert_allclose(book, exact, rtol=1e-7)
