"""Fits, choices, likelihood maxima, information and the study of estimators (DST-04 to DST-08)."""

import warnings

import numpy as np
import pytest
import scipy.stats as st
from numpy.testing import assert_allclose
from scipy.special import polygamma

from pellucid.inference import (
    Bernoulli,
    Beta,
    BetaBernoulli,
    Binomial,
    Dirichlet,
    Exponential,
    Gamma,
    InverseGamma,
    Laplace,
    Logistic,
    Normal,
    Poisson,
    StudentT,
    Uniform,
    choose_distribution,
    compare_estimates,
    cramer_rao,
    fisher_information,
    fit_distribution,
    maximum_a_posteriori,
    maximum_likelihood,
    study_estimator,
)  # fmt: skip
from pellucid.inference.estimation.information import CLOSED, expected_square
from pellucid.solvers import LBFGS

X5 = np.array([2.5, 3.0, 4.5, 5.0, 6.0])


def test_example_12():
    fit = fit_distribution(X5, "normal")
    assert (fit.distribution.mean, fit.distribution.variance) == pytest.approx((4.2, 1.66))
    assert fit.log_likelihood == pytest.approx(-8.361736672, abs=1e-9)
    assert fit.standard_errors["mean"] == pytest.approx(0.5761944, abs=1e-7)
    unbiased = fit_distribution(X5, Normal, "unbiased")
    assert unbiased.distribution.variance == pytest.approx(2.075)
    choice = choose_distribution(X5, [Normal(4, 1), Normal(5, 1)])
    assert choice.best == Normal(4, 1)
    assert_allclose(choice.log_likelihood, [-8.844693, -10.344693], atol=1e-6)
    assert choice.criterion == "likelihood"


@pytest.mark.parametrize(
    ("law", "peer", "fixed"),
    [
        (Gamma(2.0, 3.0), st.gamma, {"floc": 0}),
        (InverseGamma(4.0, 3.0), st.invgamma, {"floc": 0}),
        (Beta(2.0, 3.0), st.beta, {"floc": 0, "fscale": 1}),
        (Logistic(1.0, 2.0), st.logistic, {}),
        (StudentT(4.0, 1.0, 2.0), st.t, {}),
        (Laplace(1.0, 2.0), st.laplace, {}),
        (Uniform(1.0, 2.0), st.uniform, {}),
        (Exponential(2.0), st.expon, {"floc": 0}),
    ],
    ids=["gamma", "invgamma", "beta", "logistic", "t", "laplace", "uniform", "expon"],
)
def test_no_worse_than_scipy(law, peer, fixed):
    x = law.sample(301, random_state=0)
    fit = fit_distribution(x, type(law))
    theirs = peer(*peer.fit(x, **fixed)).logpdf(x).sum()
    assert fit.log_likelihood >= theirs - 1e-7
    assert fit.log_likelihood == pytest.approx(theirs, abs=1e-3)
    assert fit.aic == pytest.approx(2 * len(law.free) - 2 * fit.log_likelihood)


LAWS = [Bernoulli(0.3), Binomial(6, 0.3), Poisson(3.0), Exponential(2.0), Gamma(2.0, 3.0),
        InverseGamma(6.0, 3.0), Beta(2.0, 3.0), Normal(1.0, 2.0), Laplace(1.0, 2.0),
        Logistic(1.0, 2.0), StudentT(6.0, 1.0, 2.0)]  # fmt: skip


@pytest.mark.parametrize("law", LAWS, ids=[type(law).__name__ for law in LAWS])
def test_standard_errors_are_the_spread_of_the_estimates(law):
    """By simulation, and intervals hold what they promise."""
    family = law if isinstance(law, Binomial) else type(law)
    n, repeats = 300, 60
    fits = [fit_distribution(law.sample(n, random_state=i), family) for i in range(repeats)]
    for name in law.free:
        found = np.array([getattr(fit.distribution, name) for fit in fits])
        said = np.median([fit.standard_errors[name] for fit in fits])
        spread = np.subtract(*np.quantile(found, [0.75, 0.25])) / 1.349
        assert 0.6 < spread / said < 1.6, name
        truth = getattr(law, name)
        held = np.mean([lo <= truth <= hi for lo, hi in (f.interval()[name] for f in fits)])
        assert held > 0.83, name


@pytest.mark.parametrize("law", LAWS, ids=[type(law).__name__ for law in LAWS])
def test_moments_method(law):
    family = law if isinstance(law, Binomial) else type(law)
    x = law.sample(500, random_state=0)
    fit = fit_distribution(x, family, "moments").distribution
    assert fit.mean == pytest.approx(x.mean(), rel=1e-9)
    if len(law.free) > 1:
        assert fit.variance == pytest.approx(x.var(), rel=1e-9)


def test_boundaries_have_a_reason_instead_of_an_error():
    sure = fit_distribution([1, 1, 1], "bernoulli")
    assert sure.standard_errors == {"p": None}
    assert sure.interval() == {"p": None}
    assert "boundary" in sure.reason
    assert "all trials are successes" in str(sure)
    assert fit_distribution([0, 0], "poisson").standard_errors["rate"] is None
    assert "support depends" in fit_distribution([0.0, 1.0, 0.4], "uniform").reason
    assert "boundary" in fit_distribution(["a", "a"], "categorical").reason
    with pytest.raises(ValueError, match="does not vary"):
        fit_distribution([3.0], "normal")
    with pytest.raises(ValueError, match="known: give family=Binomial"):
        fit_distribution([3], "binomial")
    with pytest.raises(ValueError, match="did you mean 'normal'"):
        fit_distribution([3.0], "norml")
    with pytest.raises(ValueError, match="no unbiased estimator of Gamma"):
        fit_distribution([3.0, 4.0], "gamma", "unbiased")
    counts = fit_distribution([[1, 2], [2, 1], [3, 0]], "multinomial")
    assert_allclose(counts.distribution.p, [2 / 3, 1 / 3])
    parts = fit_distribution(np.random.default_rng(0).dirichlet([1, 2, 3], 200), "dirichlet")
    assert_allclose(parts.distribution.alpha, [1, 2, 3], rtol=0.3)
    assert (parts.standard_errors["alpha"] > 0).all()


def test_weights_are_repetitions():
    w = np.array([1.0, 0.0, 3.0, 2.0, 1.0])
    for family in ("normal", "gamma", "laplace", "logistic", "student_t"):
        a = fit_distribution(X5, family, sample_weight=w)
        b = fit_distribution(np.repeat(X5, w.astype(int)), family)
        assert a.log_likelihood == pytest.approx(b.log_likelihood, abs=1e-8)
        assert a.n == b.n == 7


def test_choice():
    rng = np.random.default_rng(0)
    x = rng.gamma(2.0, 3.0, 400)
    choice = choose_distribution(x, ["normal", "gamma", "exponential", Uniform])
    assert type(choice.best) is Gamma
    assert choice.criterion == "aic"
    assert choice.weights.sum() == pytest.approx(1)
    assert choice.ks[1] == pytest.approx(st.kstest(x, choice.best.cdf).statistic)
    assert not choice.poor
    poor = choose_distribution(x, ["normal", "uniform"])
    assert poor.poor
    assert "best, but poor" in str(poor)
    outside = choose_distribution([0.5, -1.0, 2.0], [Exponential(1.0), Normal(0, 1), "gamma"])
    assert outside.log_likelihood[0] == outside.log_likelihood[2] == -np.inf
    assert "cannot produce -1 (value 1)" in str(outside)
    with pytest.raises(ValueError, match="all discrete or all continuous"):
        choose_distribution([1, 2, 3], ["poisson", "normal"])
    with pytest.raises(ValueError, match="no candidate"):
        choose_distribution([-1.0, 2.0], [Exponential(1.0)])
    counts = choose_distribution([1, 2, 3, 0], ["poisson", Binomial(5, 0.3)], "bic")
    assert counts.ks.max() < 1


def test_maximum_likelihood_of_any_function():
    """The logistic regression of example 24, with its standard errors; statsmodels' answer."""
    x, y = np.arange(6.0), np.array([0, 0, 1, 0, 1, 1])

    def log_likelihood(t):
        a = t[0] + t[1] * x
        return y @ a - np.logaddexp(0, a).sum()

    found = maximum_likelihood(log_likelihood, [0.0, 0.0])
    assert_allclose(found.estimate, [-3.03506896, 1.21402759], atol=1e-7)
    assert_allclose(found.standard_errors, [2.545713, 0.912586], atol=1e-5)
    assert found.log_value == pytest.approx(-2.477986835, abs=1e-9)
    assert np.all(np.diff(found.history["objective"]) >= -1e-12)
    solved = maximum_likelihood(log_likelihood, [0.0, 0.0], solver=LBFGS(tol=1e-7))
    assert_allclose(solved.estimate, found.estimate, atol=1e-5)
    prior = maximum_a_posteriori(log_likelihood, [0.0, 0.0], log_prior=lambda t: -(t @ t) / 20)
    assert_allclose(prior.estimate, [-1.956610, 0.860782], atol=1e-6)
    assert prior.kind == "MAP"
    flat = maximum_a_posteriori(log_likelihood, [0.0, 0.0], log_prior=lambda t: 0.0)
    assert_allclose(flat.estimate, found.estimate, atol=1e-7)


def test_bounds_and_modes():
    def well(t):
        return -((t[0] ** 2 - 1) ** 2) - 0.1 * t[0] - (t[1] - 2.0) ** 2

    held = maximum_likelihood(well, [0.5, 0.0], bounds=[(0.0, None), (None, 1.0)])
    assert held.estimate[1] == pytest.approx(1.0)
    assert np.isnan(held.standard_errors[1])
    assert held.standard_errors[0] > 0
    assert "held by a bound" in str(held)
    with pytest.warns(UserWarning, match="2 maxima"):
        found = maximum_likelihood(well, [0.5, 0.0], n_starts=12, random_state=0)
    assert found.estimate[0] == pytest.approx(-1.0120, abs=1e-3)
    assert len(found.modes) == 2
    small = maximum_likelihood(
        lambda t: 3 * np.log(t[0]) + 997 * np.log1p(-t[0]), [0.5], bounds=[(1e-9, 1 - 1e-9)]
    )
    assert small.estimate[0] == pytest.approx(0.003, rel=1e-6)
    assert small.standard_errors[0] == pytest.approx(np.sqrt(0.003 * 0.997 / 1000), rel=1e-3)
    with pytest.raises(ValueError, match="finite at start"):
        maximum_likelihood(lambda t: -np.inf, [0.0])


def test_map_approaches_mle():
    data = np.random.default_rng(0).random(4096) < 0.7
    table = compare_estimates(BetaBernoulli(5, 5), data.astype(float))
    gap = np.abs(table.map - table.mle)
    assert gap[-1] < 1e-3 < gap[3]
    flat = compare_estimates(BetaBernoulli(1, 1), [0, 1, 1, 0, 1])
    assert_allclose(flat.map[2:], flat.mle[2:])
    assert "the prior moves the mode" in str(table)


@pytest.mark.parametrize("law", LAWS, ids=[type(law).__name__ for law in LAWS])
def test_fisher_information(law):
    """Closed forms are the integral of the squared score; others against their formulas."""
    tri = {"InverseGamma": lambda d: {"shape": polygamma(1, d.shape)},
           "Beta": lambda d: {"alpha": polygamma(1, d.alpha) - polygamma(1, d.alpha + d.beta)},
           "StudentT": lambda d: {"mean": (d.df + 1) / (d.df + 3) / d.scale**2,
                                  "scale": 2 * d.df / (d.df + 3) / d.scale**2}}  # fmt: skip
    name = type(law).__name__
    for parameter in law.free:
        if name == "Laplace" and parameter == "mean":
            continue  # a sign has no derivative to step over
        value = fisher_information(law, parameter, n=2)
        rel = 1e-4 if name == "Laplace" else 1e-7  # a kink
        assert value == pytest.approx(2 * expected_square(law, parameter), rel=rel)
        truth = tri[name](law).get(parameter) if name in tri else None
        if truth is not None:
            assert value == pytest.approx(2 * truth, rel=1e-7)
    assert ("Normal", "variance") in CLOSED
    assert fisher_information(Normal(0, 2), "variance") == pytest.approx(1 / 32)
    with pytest.raises(ValueError, match="support of Uniform"):
        fisher_information(Uniform(0, 1), "high")
    with pytest.raises(ValueError, match="boundary"):
        fisher_information(Bernoulli(1.0), "p")
    with pytest.raises(ValueError, match="parameter must be one of"):
        fisher_information(Poisson(1.0), "mean")


def test_cramer_rao_by_simulation():
    """The mean of normal data reaches the bound, the median does not."""
    law = Normal(1.0, 2.0)
    mean = study_estimator(np.mean, law, "mean", n=(25,), bound="mean", random_state=0)
    median = study_estimator(np.median, law, "mean", n=(25,), bound="mean", random_state=0)
    assert mean.efficiency[0] == pytest.approx(1, abs=0.05)
    assert median.efficiency[0] == pytest.approx(2 / np.pi, abs=0.05)
    assert mean.compare(median).relative[0] == pytest.approx(np.pi / 2, abs=0.1)
    assert "the first is better" in str(mean.compare(median))
    rate = study_estimator(
        np.mean, Poisson(3.0), "mean", n=(10,), bound=lambda n: cramer_rao(Poisson(3.0), "rate", n),
        random_state=1,
    )  # fmt: skip
    assert rate.efficiency[0] == pytest.approx(1, abs=0.05)


def test_example_13():
    law = Normal(0.0, 2.0)
    mean = study_estimator(np.mean, law, 0.0, n=(5,), random_state=0)
    assert mean.variance[0] == pytest.approx(0.8, abs=4 * mean.variance_se[0])
    assert mean.unbiased[0]
    assert mean.consistent is None
    ml = study_estimator(np.var, law, "variance", n=(5, 50), repeats=20_000, random_state=0)
    assert ml.bias[0] == pytest.approx(-0.8, abs=4 * ml.bias_se[0])
    assert ml.variance[0] == pytest.approx(5.12, abs=4 * ml.variance_se[0])
    assert_allclose(ml.mse, ml.bias**2 + ml.variance, rtol=1e-14)
    assert not ml.unbiased[0]
    assert ml.consistent
    wrong = study_estimator(lambda x: float(x[0]), law, 0.0, n=(5, 50), repeats=500, random_state=0)
    assert wrong.consistent is False
    assert "not consistent" in str(wrong)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        with pytest.raises(ValueError, match="NaN or infinity"):
            study_estimator(lambda x: np.var(x, ddof=1), law, 4.0, n=1, repeats=5)


def test_moments_of_a_dirichlet_are_those_of_the_rows():
    """Parameters come back from many rows; weights count rows as often."""
    alpha, rng = np.array([2.0, 3.0, 5.0]), np.random.default_rng(0)
    x = rng.dirichlet(alpha, size=20_000)
    found = fit_distribution(x, Dirichlet, "moments").distribution
    assert_allclose(found.alpha, alpha, rtol=0.05)
    assert_allclose(found.alpha / found.alpha.sum(), x.mean(axis=0), rtol=1e-10)
    w = rng.integers(1, 4, size=200)
    twice = fit_distribution(np.repeat(x[:200], w, axis=0), Dirichlet, "moments").distribution
    once = fit_distribution(x[:200], Dirichlet, "moments", sample_weight=w).distribution
    assert_allclose(once.alpha, twice.alpha, rtol=1e-10)
