"""What can be integrated, summed or simulated: beliefs, Laplace, chains, draws, Cramer-Rao."""

import numpy as np
import pytest
import scipy.stats as st
from numpy.testing import assert_allclose
from scipy.integrate import dblquad, quad
from scipy.special import expit

from pellucid.inference import (
    Bernoulli,
    Beta,
    BetaBinomial,
    Binomial,
    Categorical,
    Dirichlet,
    DirichletCategorical,
    Exponential,
    Gamma,
    GaussianWalk,
    InverseGamma,
    Laplace,
    LinearGaussian,
    Logistic,
    LogNormalWalk,
    MultivariateNormal,
    MultivariateNormalMean,
    NegativeBinomial,
    Normal,
    NormalInverseWishart,
    Poisson,
    StudentT,
    Uniform,
    cramer_rao,
    fisher_information,
    laplace_approximation,
    metropolis_hastings,
    study_estimator,
)  # fmt: skip

# --- conjugate posteriors against quadrature -----------------------------------------------------


def test_dirichlet_by_quadrature():
    """Evidence, mean and predictive of three categories, over the triangle."""
    belief, counts = DirichletCategorical([1.5, 2.0, 1.2], list("abc")), np.array([3, 1, 2])
    data = np.repeat(list("abc"), counts)

    def moment(a=0, b=0, c=0):
        def density(y, x):
            p = np.array([x, y, max(1 - x - y, 0.0)])
            extra = x**a * y**b * p[2] ** c
            return extra * np.prod(p**counts) * belief.posterior.density(p / p.sum())

        return dblquad(density, 0, 1, 0, lambda x: 1 - x, epsabs=1e-10, epsrel=1e-9)[0]

    Z, after = moment(), belief.update(data)
    assert_allclose(belief.log_evidence(data), np.log(Z), atol=1e-6)
    mean = np.array([moment(1), moment(0, 1), moment(0, 0, 1)]) / Z
    assert_allclose(after.mean, mean, rtol=1e-6)
    assert_allclose(after.predictive().density(list("abc")), mean, rtol=1e-6)
    assert_allclose(after.variance[0], moment(2) / Z - mean[0] ** 2, rtol=1e-5)


def on_a_plane(density, centre, spread, n=101):
    """Evidence, mean and covariance of a density on a plane: the trapezoid rule on +-9 spreads."""
    axes = [np.linspace(m - 9 * s, m + 9 * s, n) for m, s in zip(centre, spread, strict=True)]
    points = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 2)
    log = density(points)
    p = np.exp(log - log.max())
    cell = (axes[0][1] - axes[0][0]) * (axes[1][1] - axes[1][0])
    mean = p @ points / p.sum()
    cov = ((points - mean).T * p) @ (points - mean) / p.sum()
    return log.max() + np.log(p.sum() * cell), mean, cov


def test_linear_gaussian_by_quadrature():
    rng = np.random.default_rng(0)
    A, y, b = rng.normal(size=(4, 2)), rng.normal(size=4), np.array([0.1, -0.2, 0.3, 0.0])
    m, V = np.array([0.5, -1.0]), np.array([[2.0, 0.6], [0.6, 1.0]])
    for noise in (0.7, np.array([0.3, 0.7, 1.0, 2.0]), 0.5 * np.eye(4) + 0.2):
        R = noise * np.eye(4) if np.ndim(noise) < 2 else noise
        belief = LinearGaussian(noise, m, V)
        after = belief.update(A, y, b)

        def joint(t, R=R):
            error = y - b - t @ A.T
            return st.multivariate_normal(m, V).logpdf(t) + st.multivariate_normal(
                np.zeros(4), R
            ).logpdf(error)

        Z, mean, cov = on_a_plane(joint, after.mean, np.sqrt(np.diag(after.posterior.cov)))
        assert_allclose(belief.log_evidence(A, y, b), Z, atol=1e-9)
        assert_allclose(after.mean, mean, atol=1e-9)
        assert_allclose(after.posterior.cov, cov, atol=1e-9)


def test_mean_of_normal_vectors_by_quadrature():
    rng = np.random.default_rng(1)
    X = rng.normal([1.0, 0.0], 1.0, (5, 2))
    R, V = np.array([[1.0, 0.3], [0.3, 0.5]]), np.array([[2.0, -0.5], [-0.5, 1.0]])
    belief = MultivariateNormalMean(R, [0.0, 1.0], V)
    after = belief.update(X)

    def joint(t):
        likelihood = sum(st.multivariate_normal(row, R).logpdf(t) for row in X)
        return st.multivariate_normal([0.0, 1.0], V).logpdf(t) + likelihood

    Z, mean, cov = on_a_plane(joint, after.mean, np.sqrt(np.diag(after.posterior.cov)))
    assert_allclose(belief.log_evidence(X), Z, atol=1e-9)
    assert_allclose(after.mean, mean, atol=1e-9)
    assert_allclose(after.posterior.cov, cov, atol=1e-9)


def test_wishart_is_bayes_rule_at_every_point():
    """p(X) = p(X | theta) p(theta) / p(theta | X), whatever theta: no integral is needed."""
    S = np.array([[2.0, 0.4], [0.4, 1.0]])
    prior = NormalInverseWishart([0.0, 1.0], 0.7, 5.5, S)
    X = np.random.default_rng(2).normal(size=(8, 2))
    theta = prior.posterior.sample(6, random_state=0)
    means, covs = prior.posterior.split(theta)
    likelihood = [st.multivariate_normal(m, C).logpdf(X).sum()
                  for m, C in zip(means, covs, strict=True)]  # fmt: skip
    after = prior.update(X).posterior
    found = likelihood + prior.posterior.log_density(theta) - after.log_density(theta)
    assert_allclose(found, prior.log_evidence(X), rtol=1e-10)


# --- Laplace against quadrature ------------------------------------------------------------------


def test_laplace_error_falls_as_one_over_n():
    """Log odds of a coin with a normal prior: log evidence, mean and variance by integration."""
    errors = []
    for n in (10, 40, 160):
        k = int(0.7 * n)
        log = lambda t, n=n, k=k: k * t - n * np.logaddexp(0, t) - t * t / 8  # noqa: E731
        found = laplace_approximation(lambda t, log=log: float(log(t[0])), [0.0])
        top = log(found.mode[0])
        reach = found.mode[0] + 14 * np.sqrt(found.cov[0, 0]) * np.array([-1, 1])
        Z, m1, m2 = (
            quad(lambda t, j=j, log=log, top=top: t**j * np.exp(log(t) - top), *reach,
                 epsabs=0, epsrel=1e-10, limit=200)[0]
            for j in range(3)
        )  # fmt: skip
        variance = m2 / Z - (m1 / Z) ** 2
        errors.append([abs(found.log_evidence - top - np.log(Z)), abs(found.mode[0] - m1 / Z),
                       abs(found.cov[0, 0] / variance - 1)])  # fmt: skip
    errors = np.array(errors)
    assert (errors[0] < 0.15).all()
    assert (errors[1:] < 0.4 * errors[:-1]).all()  # a quarter at each step
    assert (errors[2] < 0.01).all()


def test_laplace_in_the_plane_against_quadrature():
    """A logistic model of 60 rows, and of each row four times: the error falls to a quarter."""
    rng = np.random.default_rng(3)
    D = np.column_stack([np.ones(60), rng.normal(size=60)])
    y = rng.random(60) < expit(D @ [0.3, 1.0])

    def log(t, times):
        z = np.atleast_2d(t) @ D.T
        return times * (z @ y - np.logaddexp(0, z).sum(axis=1)) - (z[:, 0] ** 2) / 18

    errors = []
    for times in (1, 4, 16):
        found = laplace_approximation(lambda t, k=times: float(log(t, k)[0]), [0.0, 0.0])
        Z, mean, cov = on_a_plane(
            lambda t, k=times: log(t, k), found.mode, np.sqrt(np.diag(found.cov))
        )
        errors.append([abs(found.log_evidence - Z), np.abs(found.mode - mean).max(),
                       np.abs(np.diag(found.cov) / np.diag(cov) - 1).max()])  # fmt: skip
    errors = np.array(errors)
    assert (errors[1:] < 0.4 * errors[:-1]).all()
    assert (errors[0] < 0.3).all()


# --- chains against exact moments ----------------------------------------------------------------

S3 = np.array([[1.0, 0.5], [0.5, 2.0]])
P3 = np.linalg.inv(S3)
TARGETS = {
    "normal": (lambda t: -0.5 * (((t - 1) @ P3) * (t - 1)).sum(axis=1), GaussianWalk(2.5 * S3),
               [1.0, 1.0], [1.0, 1.0], S3),
    "gamma": (lambda t: (3.5 * np.log(t) - 2 * t).sum(axis=1), LogNormalWalk(0.9), [2.0],
              [2.25], [[1.125]]),
    "student": (lambda t: -4.5 * np.log1p((t**2).sum(axis=1) / 8), GaussianWalk(2.5), [0.0],
                [0.0], [[8 / 6]]),
}  # fmt: skip


@pytest.mark.parametrize("name", list(TARGETS))
def test_chains_reach_exact_moments_and_know_their_error(name):
    """Means within 4.5 standard errors, R-hat near 1, and errors that are those of 12 runs."""
    density, proposal, start, mean, cov = TARGETS[name]
    runs = [
        metropolis_hastings(density, start, n_draws=2500, n_burn=300, proposal=proposal,
                            vectorized=True, random_state=seed)
        for seed in range(12)
    ]  # fmt: skip
    for chains in runs[:4]:
        assert (np.abs(chains.mean - mean) < 4.5 * chains.mcse).all()
        assert chains.rhat.max() < 1.02
        assert chains.ess.min() > 800
        assert_allclose(chains.mcse, np.sqrt(np.diag(np.atleast_2d(chains.cov)) / chains.ess),
                        rtol=0.05)  # fmt: skip
    assert_allclose(np.mean([c.cov for c in runs], axis=0), cov, rtol=0.1, atol=0.06)
    spread = np.std([c.mean for c in runs], axis=0)
    claimed = np.mean([c.mcse for c in runs], axis=0)
    assert_allclose(spread, claimed, rtol=0.6)  # 12 runs tell a deviation to about 21 %


# --- draws and Cramer-Rao ------------------------------------------------------------------------

LAWS = [
    Bernoulli(0.3), Binomial(10, 0.3), BetaBinomial(9, 2.0, 0.7), NegativeBinomial(2.5, 1.5),
    Poisson(3.2), Uniform(-1.0, 3.0), Exponential(2.5), Gamma(0.7, 2.0), InverseGamma(4.5, 2.0),
    Beta(0.5, 1.5), Normal(1.0, 2.0), Laplace(1.0, 2.0), Logistic(1.0, 2.0),
    StudentT(4.5, 1.0, 2.0),
]  # fmt: skip


@pytest.mark.parametrize("law", LAWS, ids=repr)
def test_draws_have_the_distribution(law):
    """Kolmogorov's and Pearson's tests against the distribution function (SciPy's elsewhere)."""
    x = np.asarray(law.sample(20_000, random_state=7), dtype=np.float64)
    if not law.discrete:
        assert st.kstest(x, law.cdf).pvalue > 1e-3
        return
    values = np.arange(int(x.max()) + 1)
    expected = 20_000 * law.density(values)
    kept = expected > 5
    seen = np.bincount(x.astype(int), minlength=len(values))
    rest = [seen[~kept].sum()], [20_000 - expected[kept].sum()]
    seen, expected = np.append(seen[kept], rest[0]), np.append(expected[kept], rest[1])
    full = expected > 1
    statistic = ((seen - expected)[full] ** 2 / expected[full]).sum()
    assert st.chi2(full.sum() - 1).sf(statistic) > 1e-3


def test_draws_of_vectors():
    counts = np.unique(Categorical([0.5, 0.3, 0.2], list("abc")).sample(20_000, 0),
                       return_counts=True)[1]  # fmt: skip
    assert st.chisquare(counts, [10_000, 6_000, 4_000]).pvalue > 1e-3
    p = Dirichlet([1.5, 2.0, 0.7]).sample(5000, random_state=0)
    for j, a in enumerate([1.5, 2.0, 0.7]):
        assert st.kstest(p[:, j], st.beta(a, 4.2 - a).cdf).pvalue > 1e-3
    law = MultivariateNormal([1.0, -1.0], S3)
    z = law.sample(5000, random_state=1)
    assert st.kstest(law.mahalanobis(z) ** 2, st.chi2(2).cdf).pvalue > 1e-3


MEANS = [
    (Bernoulli(0.3), "p", lambda x, axis: x.mean(axis=axis), 0.3),
    (Poisson(3.2), "rate", lambda x, axis: x.mean(axis=axis), 3.2),
    (Exponential(2.5), "scale", lambda x, axis: x.mean(axis=axis), 2.5),
    (Normal(1.0, 2.0), "mean", lambda x, axis: x.mean(axis=axis), 1.0),
]


@pytest.mark.parametrize(("law", "parameter", "estimator", "truth"), MEANS,
                         ids=[repr(row[0]) for row in MEANS])  # fmt: skip
def test_means_of_exponential_families_reach_the_bound(law, parameter, estimator, truth):
    study = study_estimator(estimator, law, truth, n=(30,), repeats=20_000, bound=parameter,
                            random_state=0)  # fmt: skip
    assert study.unbiased[0]
    assert study.efficiency[0] == pytest.approx(1, abs=0.04)


def test_no_unbiased_estimator_is_below_the_bound_and_large_samples_reach_it():
    """Three estimators of a deviation or a scale, the last two best only for large n."""
    n, law = 12, Normal(0.0, 2.0)
    unbiased = study_estimator(lambda x, axis: x.var(axis=axis, ddof=1), law, 4.0, n=(n,),
                               repeats=20_000, bound="variance", random_state=1)  # fmt: skip
    assert unbiased.efficiency[0] == pytest.approx((n - 1) / n, abs=0.03)  # 2 s^4/(n - 1)
    median = study_estimator(lambda x, axis: np.median(x, axis=axis), Laplace(1.0, 2.0), 1.0,
                             n=(15, 401), repeats=4000, bound="mean", random_state=2)  # fmt: skip
    assert median.efficiency[0] < 0.9
    assert median.efficiency[1] == pytest.approx(1, abs=0.08)
    assert cramer_rao(law, "variance", n) == pytest.approx(2 * 16 / n)
    biased = cramer_rao(law, "variance", n, mean_slope=(n - 1) / n)  # of the 1/n variance
    ml = study_estimator(lambda x, axis: x.var(axis=axis), law, 4.0, n=(n,), repeats=20_000,
                         random_state=3)  # fmt: skip
    assert ml.variance[0] >= biased * 0.97


@pytest.mark.parametrize("law", [Gamma(2.0, 1.5), Beta(2.0, 3.0), Logistic(1.0, 2.0)], ids=repr)
def test_information_is_the_variance_of_the_score(law):
    """By simulation: the score by differences of log densities at draws."""
    x = np.asarray(law.sample(40_000, random_state=5))
    for name in law.free:
        value, h = getattr(law, name), 1e-4
        up, down = (type(law)(**{**law.parameters, name: value + s * h}) for s in (1, -1))
        score = (up.log_density(x) - down.log_density(x)) / (2 * h)
        assert abs(score.mean()) < 4 * score.std() / 200
        error = 4 * (score**2).std() / 200
        assert fisher_information(law, name) == pytest.approx(score.var(), abs=error)
