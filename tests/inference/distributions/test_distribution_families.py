"""Every distribution against scipy.stats, its own integrals, and the likelihood's maximum."""

import numpy as np
import pytest
import scipy.stats as st
from numpy.testing import assert_allclose

import pellucid.inference as pi
from pellucid.inference import (
    Bernoulli,
    Beta,
    BetaBinomial,
    Binomial,
    Categorical,
    Dirichlet,
    Exponential,
    Gamma,
    InverseGamma,
    Laplace,
    Logistic,
    MixtureDistribution,
    Multinomial,
    MultivariateNormal,
    NegativeBinomial,
    Normal,
    Poisson,
    StudentT,
    Uniform,
    jensen_gap,
)  # fmt: skip

X = np.concatenate([np.linspace(-5, 9, 57), [0.0, 1.0, 0.5, 1e-9, 1e3, np.inf, -np.inf]])
PAIRS = [
    (Bernoulli(0.3), st.bernoulli(0.3)),
    (Binomial(10, 0.3), st.binom(10, 0.3)),
    (Binomial(7, 1.0), st.binom(7, 1.0)),
    (BetaBinomial(9, 2.0, 0.7), st.betabinom(9, 2.0, 0.7)),
    (NegativeBinomial(2.5, 1.5), st.nbinom(2.5, 1 / 2.5)),
    (Poisson(3.2), st.poisson(3.2)),
    (Uniform(-1.0, 3.0), st.uniform(-1, 4)),
    (Exponential(2.5), st.expon(scale=2.5)),
    (Gamma(0.7, 2.0), st.gamma(0.7, scale=2.0)),
    (Gamma(1.0, 2.0), st.gamma(1.0, scale=2.0)),
    (Gamma(4.2, 0.5), st.gamma(4.2, scale=0.5)),
    (InverseGamma(4.5, 2.0), st.invgamma(4.5, scale=2.0)),
    (Beta(2.0, 3.0), st.beta(2.0, 3.0)),
    (Beta(0.5, 1.0), st.beta(0.5, 1.0)),
    (Normal(1.0, 2.0), st.norm(1.0, 2.0)),
    (Laplace(1.0, 2.0), st.laplace(1.0, 2.0)),
    (Logistic(1.0, 2.0), st.logistic(1.0, 2.0)),
    (StudentT(4.5, 1.0, 2.0), st.t(4.5, 1.0, 2.0)),
]
SCALARS = [pytest.param(a, b, id=repr(a)) for a, b in PAIRS]


@pytest.mark.parametrize(("law", "peer"), SCALARS)
def test_agrees_with_scipy(law, peer):
    with np.errstate(invalid="ignore"):  # scipy has NaN at infinity for some
        log_density = (peer.logpmf if law.discrete else peer.logpdf)(X)
    log_density = np.where(np.isinf(X), -np.inf, log_density)
    assert_allclose(law.log_density(X), log_density, rtol=1e-12, atol=1e-13)
    assert_allclose(law.density(X), np.exp(log_density), rtol=1e-12, atol=1e-300)
    assert_allclose(law.cdf(X), peer.cdf(X), rtol=1e-11, atol=1e-14)
    q = np.array([0.0, 1e-6, 0.025, 0.3, 0.5, 0.77, 0.999, 1.0])
    assert_allclose(law.quantile(q), peer.ppf(q), rtol=1e-10, atol=1e-12)
    assert_allclose([law.mean, law.variance, law.std], [*peer.stats("mv"), peer.std()], rtol=1e-12)
    assert_allclose(law.entropy, peer.entropy(), rtol=1e-9, atol=1e-12)
    assert isinstance(law.log_density(1), float)
    assert isinstance(law.cdf(1), float)
    assert not np.isnan(law.log_density(X)).any()
    with pytest.raises(ValueError, match="NaN"):
        law.log_density([0.0, np.nan])
    with pytest.raises(ValueError, match="between 0 and 1"):
        law.quantile([0.2, 1.5])


@pytest.mark.parametrize(("law", "peer"), SCALARS)
def test_what_follows_from_the_density(law, peer):
    assert_allclose(law.expect(lambda x: 1.0), 1.0, rtol=1e-9)
    assert_allclose(law.expect(lambda x: x), law.mean, rtol=1e-8, atol=1e-12)
    second = law.expect(lambda x: (x - law.mean) ** 2)
    assert_allclose(second, law.variance, rtol=1e-6, atol=1e-12)
    draws = law.sample(20_000, random_state=0)
    assert abs(draws.mean() - law.mean) < 5 * law.std / np.sqrt(20_000) + 1e-12
    assert_allclose(law.sample(5, random_state=1), law.sample(5, random_state=1))
    low, high = law.median_interval
    for m in (low, high):
        below = 1 - law.cdf(m) + (law.density(m) if law.discrete else 0.0)
        assert law.cdf(m) >= 0.5 - 1e-12
        assert below >= 0.5 - 1e-12
    near = law.log_density(law.mode) - law.log_density(np.asarray(draws[:200]))
    assert np.all(near >= -1e-12)
    assert_allclose(law.log_likelihood(draws[:9], np.arange(9)),
                    law.log_density(np.repeat(draws[:9], np.arange(9))).sum())  # fmt: skip


FITTED = [Bernoulli(0.3), Binomial(10, 0.3), Poisson(3.2), Uniform(-1.0, 3.0), Exponential(2.5),
          Gamma(0.7, 2.0), Gamma(40.0, 2.0), InverseGamma(4.5, 2.0), Beta(2.0, 3.0),
          Beta(0.5, 0.2), Normal(1.0, 2.0), Laplace(1.0, 2.0), Logistic(1.0, 2.0),
          StudentT(4.5, 1.0, 2.0)]  # fmt: skip


@pytest.mark.parametrize("law", FITTED, ids=[repr(law) for law in FITTED])
def test_statistics_merge_and_give_the_largest_likelihood(law):
    """Sufficient: the split in two gives the same fit; nearby parameters are no better."""
    x = law.sample(400, random_state=3)
    w = np.random.default_rng(0).integers(0, 3, 400).astype(float)
    family = law if isinstance(law, Binomial) else type(law)
    whole = family.statistics(x, w)
    merged = family.statistics(x[:150], w[:150]).merge(family.statistics(x[150:], w[150:]))
    fit = type(law).from_statistics(whole)
    again = type(law).from_statistics(merged)
    repeated = type(law).from_statistics(family.statistics(np.repeat(x, w.astype(int))))
    names = law.free
    values = [getattr(fit, name) for name in names]
    assert_allclose([getattr(again, name) for name in names], values, rtol=1e-6)
    assert_allclose([getattr(repeated, name) for name in names], values, rtol=1e-6)
    best = fit.log_likelihood(x, w)
    assert_allclose(fit._given(whole), best, rtol=1e-10)
    for name in names:
        for factor in (0.999, 1.001):
            moved = type(law)(**{**fit.parameters, name: getattr(fit, name) * factor})
            assert moved.log_likelihood(x, w) <= best + 1e-9
    for name in names:  # recovery
        assert abs(getattr(fit, name) / getattr(law, name) - 1) < 0.5


def test_tails_no_heavier_than_normal():
    fit = pi.fit_distribution(np.linspace(-1, 1, 50), "student_t")
    assert fit.distribution.df == 1e6
    assert fit.standard_errors["df"] is None
    assert "no heavier" in fit.reason
    assert np.isfinite(StudentT(3.0).log_density(1e200))
    assert_allclose(StudentT(3.0).log_density(1e200), st.t(3.0).logpdf(1e100) - 4 * np.log(1e100))


def test_labels_and_counts():
    law = Categorical([0.5, 0.3, 0.2], ["a", "b", "c"])
    assert_allclose(law.log_density(["a", "c", "zz"]), [np.log(0.5), np.log(0.2), -np.inf])
    assert set(law.sample(50, 0)) <= {"a", "b", "c"}
    with pytest.raises(ValueError, match="labels, not numbers"):
        law.mean  # noqa: B018
    counts = Categorical.statistics(list("abca")).merge(Categorical.statistics(list("da")))
    fit = Categorical.from_statistics(counts)
    assert dict(zip(fit.labels, fit.p, strict=True)) == pytest.approx(
        {"a": 0.5, "b": 1 / 6, "c": 1 / 6, "d": 1 / 6}
    )
    die = Categorical(np.full(6, 1 / 6), range(1, 7))
    assert die.mean == pytest.approx(3.5)
    assert die.median_interval == (3.0, 4.0)
    assert die.cdf([0, 3, 3.5, 6]) == pytest.approx([0, 0.5, 0.5, 1])
    assert jensen_gap(lambda x: x * x, die) == pytest.approx(die.variance)
    for bad in ([0.5, 0.6], [-0.1, 1.1]):
        with pytest.raises(ValueError, match="sum to 1"):
            Categorical(bad)


def test_vectors_agree_with_scipy():
    law, peer = Multinomial(5, [0.2, 0.3, 0.5]), st.multinomial(5, [0.2, 0.3, 0.5])
    rows = np.array([[1, 1, 3], [0, 0, 5], [2, 2, 2], [1.5, 1.5, 2], [5, 0, 0]], float)
    assert_allclose(law.log_density(rows[[0, 1, 4]]), peer.logpmf(rows[[0, 1, 4]].astype(int)))
    assert (law.log_density(rows[[2, 3]]) == -np.inf).all()
    assert_allclose(law.cov, peer.cov(), atol=1e-15)
    assert_allclose(law.entropy, peer.entropy())
    assert_allclose([law.expect(lambda x, k=k: x[k]) for k in range(3)], law.mean)
    assert law.density(law.mode) == pytest.approx(law.expect(lambda x: 0.0) + max(
        law.density(r) for r in law.sample(500, 0)))  # fmt: skip
    law, peer = Dirichlet([0.7, 2.0, 5.0]), st.dirichlet([0.7, 2.0, 5.0])
    draws = law.sample(6, 0)
    assert_allclose(law.log_density(draws), peer.logpdf(draws.T), rtol=1e-12)
    assert law.log_density([0.5, 0.4, 0.4]) == -np.inf
    assert_allclose([law.entropy, *law.variance], [peer.entropy(), *peer.var()])
    assert_allclose(law.expect(lambda p: p[0] * p[2]), law.cov[0, 2] + law.mean[0] * law.mean[2])
    sample = law.sample(3000, 1)
    fit = Dirichlet.from_statistics(Dirichlet.statistics(sample))
    assert_allclose(fit.alpha, law.alpha, rtol=0.15)
    slope = Dirichlet(fit.alpha * 1.001)
    assert slope.log_likelihood(sample) < fit.log_likelihood(sample)
    with pytest.raises(ValueError, match="marginal"):
        law.cdf([0.2, 0.3, 0.5])


def test_multivariate_normal_against_scipy_and_formulas():
    rng = np.random.default_rng(0)
    B = rng.normal(size=(4, 4))
    S, m = B @ B.T + 0.1 * np.eye(4), rng.normal(size=4)
    law, peer = MultivariateNormal(m, S), st.multivariate_normal(m, S)
    x = rng.normal(size=(7, 4))
    assert_allclose(law.log_density(x), peer.logpdf(x), rtol=1e-11)
    assert_allclose(law.entropy, peer.entropy())
    gap = x - m
    assert_allclose(law.mahalanobis(x) ** 2, (gap @ np.linalg.inv(S) * gap).sum(axis=1))
    A, R = rng.normal(size=(3, 4)), np.diag([0.5, 1.0, 2.0])
    y = rng.normal(size=3)
    P = np.linalg.inv(np.linalg.inv(S) + A.T @ np.linalg.inv(R) @ A)
    mean = P @ (np.linalg.inv(S) @ m + A.T @ np.linalg.inv(R) @ (y - 0.3))
    for rows in (1, 4):  # the gain form and the root form of the same thing
        An, yn = np.tile(A, (rows, 1)), np.tile(y, rows)
        Rn = np.kron(np.eye(rows), R) * rows
        found = law.observe(yn, An, b=0.3, noise_cov=Rn)
        assert_allclose(found.cov, P, atol=1e-10)
        assert_allclose(found.mean, mean, atol=1e-10)
        evidence = law._observed(yn, An, 0.3, Rn).log_evidence
        out = law.affine(An, 0.3, Rn)
        assert_allclose(evidence, out.log_density(yn), rtol=1e-9)
    part = law.condition([1, 3], [0.2, -0.4])
    ratio = law.density([0.5, 0.2, 1.0, -0.4]) / law.marginal([1, 3]).density([0.2, -0.4])
    assert_allclose(part.density([0.5, 1.0]), ratio)
    other = MultivariateNormal(-m, np.eye(4))
    product = law.product(other)
    assert_allclose(product.density(x), law.density(x) * other.density(x), rtol=1e-8)
    inside = law.mahalanobis(law.sample(20_000, 0)) ** 2
    region = law.ellipsoid(0.9)
    share = (((law.sample(20_000, 0) - m) @ region.axes / region.radii) ** 2).sum(axis=1) <= 1
    assert abs(share.mean() - 0.9) < 0.01
    assert abs((inside <= st.chi2(4).ppf(0.9)).mean() - 0.9) < 0.01


def test_singular_covariance():
    law = MultivariateNormal([1.0, 2.0], [[1.0, 2.0], [2.0, 4.0]])  # y = 2 x exactly
    peer = st.multivariate_normal([1.0, 2.0], [[1.0, 2.0], [2.0, 4.0]], allow_singular=True)
    with pytest.warns(UserWarning, match="rank 1 of 2"):
        values = law.log_density([[2.0, 4.0], [2.0, 4.5]])
    assert_allclose(values, [peer.logpdf([2.0, 4.0]), -np.inf])
    assert law.mahalanobis([2.0, 4.5]) == np.inf
    assert law.rank == 1
    known = law.condition(0, 3.0)
    assert_allclose([known.mean, known.cov[0]], [[6.0], [0.0]], atol=1e-12)
    both = law.observe([3.0, 6.0], np.eye(2))  # no noise: x is known
    assert_allclose(both.mean, [3.0, 6.0], atol=1e-9)
    assert_allclose(both.cov, 0.0, atol=1e-9)
    with pytest.raises(ValueError, match="off the support"):
        law.observe([3.0, 7.0], np.eye(2))
    half = law.observe(3.0, [[1.0, 0.0]], noise_cov=1.0)
    assert_allclose(half.mean, [2.0, 4.0])
    assert_allclose(half.cov, [[0.5, 1.0], [1.0, 2.0]], atol=1e-12)
    assert_allclose(np.diff(law.sample(5, 0) @ [[2.0, 0.0], [0.0, 1.0]], axis=1), 0, atol=1e-12)
    with pytest.raises(ValueError, match="positive semi-definite"):
        MultivariateNormal([0, 0], [[1.0, 2.0], [2.0, 1.0]])


def test_mixture():
    parts = [Normal(0.0, 1.0), Laplace(3.0, 2.0), StudentT(3.0, -1.0, 0.5)]
    law = MixtureDistribution([0.2, 0.5, 0.3], parts)
    x = np.linspace(-50, 60, 23)
    direct = sum(w * p.density(x) for w, p in zip(law.weights, parts, strict=True))
    assert_allclose(law.density(x), direct, rtol=1e-12)
    assert np.isfinite(law.log_density(-1e5))
    assert_allclose(law.responsibilities(x).sum(axis=-1), 1.0)
    assert_allclose(law.expect(lambda t: t), law.mean, atol=1e-8)
    q = np.array([0.01, 0.4, 0.9])
    assert_allclose(law.cdf(law.quantile(q)), q, atol=1e-12)
    draws = law.sample(40_000, random_state=0)
    assert abs(draws.var() / law.variance - 1) < 0.1
    vectors = MixtureDistribution(
        [0.5, 0.5], [MultivariateNormal([2, 0], np.eye(2)), MultivariateNormal([-2, 0], np.eye(2))]
    )
    assert_allclose(vectors.cov, [[5.0, 0.0], [0.0, 1.0]])
    assert vectors.responsibilities(np.zeros((3, 2))).shape == (3, 2)
    assert vectors.sample(4, 0).shape == (4, 2)
    for wrong in ([0.5, 0.6], [1.2, -0.2]):
        with pytest.raises(ValueError, match="sum to 1"):
            MixtureDistribution(wrong, parts[:2])
    with pytest.raises(ValueError, match="all discrete"):
        MixtureDistribution([0.5, 0.5], [Normal(0, 1), Poisson(2)])
    with pytest.raises(ValueError, match="density zero"):
        MixtureDistribution([1.0], [Uniform(0, 1)]).responsibilities(3.0)


def test_example_4_and_11():
    law = MultivariateNormal([1, -1], [[1, 0.3], [0.3, 2]])
    assert law.expect_quadratic([[2, 1], [1, 3]]) == pytest.approx(11.6)
    ten = Binomial(10, 0.3)
    assert (ten.mean, ten.variance) == pytest.approx((3, 2.1))
    assert ten.density(3) == pytest.approx(0.266827932, abs=1e-9)
    assert (Beta(2, 3).mean, Beta(2, 3).variance) == pytest.approx((0.4, 0.04))
    product = Normal(0, 1).product(Normal(2, 2))
    assert (product.distribution.mean, product.distribution.variance) == pytest.approx((0.4, 0.8))
    assert product.scale == pytest.approx(0.119593416, abs=1e-9)
    assert product.density(product.distribution.mode) == pytest.approx(0.05334237, abs=1e-8)
    assert "0.119593 times" in str(product)


def test_bad_parameters_are_refused_in_a_sentence():
    for make, match in [
        (lambda: Normal(0, 0), "std must be > 0"),
        (lambda: Binomial(2.5, 0.5), "n must be a whole number"),
        (lambda: Bernoulli(1.5), "p must be between 0 and 1"),
        (lambda: Uniform(2, 1), "low must be < high"),
        (lambda: Dirichlet([1, 0]), "alpha must be numbers > 0"),
        (lambda: Gamma.statistics([1.0, -2.0]), "numbers > 0, got -2"),
        (lambda: Poisson.statistics([1.5]), "needs counts, got 1.5"),
        (lambda: Normal.statistics([]), "empty"),
        (lambda: Normal.statistics([1.0, np.nan]), "NaN"),
        (lambda: Normal.statistics([1.0, 2.0], [0.0, -1.0]), "sample_weight"),
        (lambda: Normal.from_statistics(Normal.statistics([2.0, 2.0])), "does not vary"),
    ]:
        with pytest.raises(ValueError, match=match):
            make()
