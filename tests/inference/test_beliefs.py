"""Conjugate beliefs, discrete and grid posteriors, predictions, comparisons (INF-01 to INF-14)."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.integrate import quad
from scipy.stats import multivariate_normal, normal_inverse_gamma

from pellucid.inference import (
    Beta,
    BetaBernoulli,
    Categorical,
    DirichletCategorical,
    DiscretePosterior,
    Exponential,
    GammaPoisson,
    GridPosterior,
    LinearGaussian,
    MultivariateNormal,
    MultivariateNormalMean,
    Normal,
    NormalInverseGamma,
    NormalMean,
    NormalVariance,
    Poisson,
    compare_models,
    hpd_interval,
    laplace_approximation,
    posterior,
    posterior_predictive,
)  # fmt: skip

COIN = np.array([1, 1, 0, 0, 0, 1, 1])
NUMBERS = np.random.default_rng(0).normal(1.0, 2.0, 12)
COUNTS = np.array([2, 0, 3, 1, 4, 2, 2])
LABELS = np.array(list("abacabad"))
SCALAR = [
    (BetaBernoulli(2.0, 0.7), COIN, lambda t: np.where(COIN, t, 1 - t)),
    (GammaPoisson(2.0, 0.7), COUNTS, lambda t: Poisson(t).density(COUNTS)),
    (NormalMean(1.5, 0.3, 2.0), NUMBERS, lambda t: Normal(t, 1.5**0.5).density(NUMBERS)),
    (NormalVariance(0.5, 2.0, 3.0), NUMBERS, lambda t: Normal(0.5, t**0.5).density(NUMBERS)),
]
ALL = [*[(belief, data) for belief, data, _ in SCALAR],
       (NormalInverseGamma(0.5, 2.0, 1.5, 0.7), NUMBERS),
       (DirichletCategorical(0.6, list("abcd")), LABELS)]  # fmt: skip


@pytest.mark.parametrize(("belief", "data", "likelihood"), SCALAR,
                         ids=[type(row[0]).__name__ for row in SCALAR])  # fmt: skip
def test_against_quadrature(belief, data, likelihood):
    """Posterior, evidence and predictive are what integration says."""
    prior, after = belief.posterior, belief.update(data)
    low, high = after.posterior.quantile(np.array([1e-12, 1 - 1e-12]))

    def joint(t):
        return prior.density(t) * np.prod(likelihood(t))

    Z = quad(joint, low, high, epsabs=0, epsrel=1e-11, limit=300)[0]
    assert belief.log_evidence(data) == pytest.approx(np.log(Z), abs=1e-8)
    mean = quad(lambda t: t * joint(t), low, high, epsabs=0, epsrel=1e-11, limit=300)[0] / Z
    assert after.mean == pytest.approx(mean, rel=1e-8)
    grid = np.linspace(*after.posterior.interval(0.9), 5)
    assert_allclose(after.posterior.density(grid), [joint(t) / Z for t in grid], rtol=1e-8)
    nearby = after.posterior.density(after.mode + np.array([-1e-3, 1e-3]))
    assert (after.posterior.density(after.mode) >= nearby).all()
    x = data[0]
    said = np.log(after.predictive().density(float(x)))
    assert after.log_evidence(data[:1]) == pytest.approx(said, abs=1e-9)


@pytest.mark.parametrize(("belief", "data"), ALL, ids=[type(row[0]).__name__ for row in ALL])
def test_laws_of_updating(belief, data):
    """Batch = any split in any order; the log evidence adds; weights are repetitions."""
    whole = belief.update(data)
    order = np.random.default_rng(1).permutation(len(data))
    split = belief.update(data[order[3:]]).update(data[order[:3]])
    for name, value in whole.parameters.items():
        if name != "categories" and value is not None:
            assert_allclose(split.parameters[name], value, rtol=1e-10)
    parts = belief.log_evidence(data[:4]) + belief.update(data[:4]).log_evidence(data[4:])
    assert belief.log_evidence(data) == pytest.approx(parts, abs=1e-10)
    w = np.arange(len(data)) % 3
    weighted, repeated = belief.update(data, w), belief.update(np.repeat(data, w))
    assert_allclose(weighted.mean, repeated.mean, rtol=1e-10)
    assert belief.log_evidence(data, w) == pytest.approx(belief.log_evidence(np.repeat(data, w)))
    trace = belief.trace([data[:4], data[4:]])
    assert len(trace) == 3
    assert_allclose(trace.last.mean, whole.mean, rtol=1e-10)
    assert type(belief).__name__ in str(whole)
    draws = whole.sample(4000, random_state=0)
    centre = whole.posterior.mean
    assert np.all(np.abs(draws.mean(axis=0) - centre) < 6 * draws.std(axis=0) / np.sqrt(4000))


def test_mean_and_variance_together():
    """The joint density is scipy's, the evidence the integral on a grid."""
    belief = NormalInverseGamma(0.5, 2.0, 1.5, 0.7)
    law = belief.posterior
    peer = normal_inverse_gamma(0.5, 2.0, 1.5, 0.7)
    points = np.array([[0.1, 0.8], [2.0, 3.0]])
    assert_allclose(law.log_density(points), peer.logpdf(points[:, 0], points[:, 1]))
    x = NUMBERS[:3]

    def joint(t):  # rows (mean, log variance)
        v = np.exp(t[:, 1])
        terms = [
            Normal(0, 1).log_density((value - t[:, 0]) / np.sqrt(v)) - t[:, 1] / 2 for value in x
        ]
        return law.log_density(np.column_stack([t[:, 0], v])) + sum(terms) + t[:, 1]

    grid = GridPosterior(joint, [-60, -5], [60, 8], (2001, 401), vectorized=True)
    assert belief.log_evidence(x) == pytest.approx(grid.log_evidence, abs=1e-5)
    after = belief.update(NUMBERS)
    assert after.interval().shape == (2, 2)
    assert after.log_evidence([0.3]) == pytest.approx(after.predictive().log_density(0.3))


def test_intervals():
    law = Beta(2.0, 8.0)
    low, high = hpd_interval(law, 0.9)
    assert law.cdf(high) - law.cdf(low) == pytest.approx(0.9)
    assert law.density(low) == pytest.approx(law.density(high), rel=1e-4)
    equal = law.interval(0.9)
    assert high - low < equal[1] - equal[0]
    assert_allclose(hpd_interval(Exponential(2.0), 0.95), [0, -2 * np.log(0.05)], atol=1e-6)
    assert_allclose(BetaBernoulli(1, 1).update(COIN).interval(kind="hpd").shape, 2)
    assert Beta.from_quantiles(0.1, 0.3, 0.8).cdf(0.3) == pytest.approx(0.9)
    with pytest.raises(ValueError, match="kind must be one of"):
        BetaBernoulli(1, 1).interval(kind="short")


def test_example_14():
    flat = BetaBernoulli(1, 1)
    assert flat.maximum_likelihood(COIN) == pytest.approx(4 / 7)
    from pellucid.inference import Bernoulli

    assert Bernoulli(4 / 7).log_likelihood(COIN) == pytest.approx(-4.780356733, abs=1e-9)
    assert flat.update(COIN).predictive().p == pytest.approx(5 / 9)
    assert BetaBernoulli(2, 2).update(COIN).predictive().p == pytest.approx(6 / 11)
    assert flat.log_evidence(COIN) == pytest.approx(-5.634789603, abs=1e-9)
    assert flat.log_evidence(successes=4, failures=3) == pytest.approx(-5.634789603, abs=1e-9)
    seven = flat.update(successes=7, failures=3)
    assert seven.mean == pytest.approx(2 / 3)
    assert_allclose(seven.interval(), [0.3902574404, 0.8907365562], atol=1e-10)
    rows = [(7, 10, 0.6111111, 0.6), (70, 100, 0.6851852, 0.6818182),
            (7000, 10000, 0.6998401, 0.6998002)]  # fmt: skip
    for s, n, mode, mean in rows:
        belief = BetaBernoulli(5, 5).update(successes=s, failures=n - s)
        assert (belief.mode, belief.mean) == pytest.approx((mode, mean), abs=1e-7)


def test_limits_of_a_probability():
    none = BetaBernoulli(0, 0)
    assert none.update(COIN).mean == pytest.approx(4 / 7)
    for wrong in (lambda: none.log_evidence(COIN), lambda: none.mean, lambda: none.posterior):
        with pytest.raises(ValueError, match=r"improper|no mean|limit"):
            wrong()
    assert BetaBernoulli(0.5, 0.5).modes == (0.0, 1.0)
    assert BetaBernoulli(1, 1).modes == ()
    assert BetaBernoulli(1, 3).modes == (0.0,)
    assert "boundary" in str(BetaBernoulli(1, 3))
    five = BetaBernoulli(2, 3).predictive(5)
    assert five.mean == pytest.approx(2.0)
    with pytest.raises(ValueError, match="0 and 1"):
        none.update([0, 2])
    with pytest.raises(ValueError, match="both successes and failures"):
        none.update(successes=3)


def test_example_15_and_labels():
    die = DirichletCategorical.from_pseudocounts(1, range(1, 7))
    seen = [1, 3, 5, 4, 4, 6]
    assert_allclose(die.update(seen).mode, np.array([2, 1, 2, 3, 2, 2]) / 12)
    assert_allclose(die.maximum_likelihood(seen), np.array([1, 0, 1, 2, 1, 1]) / 6)
    open_ended = DirichletCategorical(1.0).update(list("aab"))
    assert open_ended.categories == ("a", "b")
    assert open_ended.predictive().density("a") == pytest.approx(3 / 5)
    assert isinstance(open_ended.predictive(), Categorical)
    by_count = DirichletCategorical([1.0, 1.0], ["a", "b"]).update(counts={"b": 1, "a": 2})
    assert_allclose(by_count.alpha, open_ended.alpha)
    assert_allclose(DirichletCategorical(1.0).update(counts=[2, 1]).alpha, open_ended.alpha)
    two = DirichletCategorical([2.0, 0.7], [1, 0])
    assert two.log_evidence(COIN) == pytest.approx(BetaBernoulli(2.0, 0.7).log_evidence(COIN))
    assert two.update(COIN).interval().shape == (2, 2)
    with pytest.raises(ValueError, match="'z' is not among"):
        open_ended.update(["z"])
    with pytest.raises(ValueError, match="not known yet"):
        DirichletCategorical(1.0).mean  # noqa: B018


def test_example_16():
    x = np.array([4.0, 5.0, 3.5, 4.5, 4.0])
    belief = NormalMean(1, 0, 1).update(x)
    assert (belief.mean, belief.variance) == pytest.approx((3.5, 1 / 6))
    assert belief.predictive().variance == pytest.approx(7 / 6)
    z1 = [0.5377, 1.8339, -2.2588, 0.8622, 0.3188, -1.3077, -0.4336, 0.3426, 3.5784, 2.7694]
    z2 = [-1.3499, 3.0349, 0.7254, -0.0631, 0.7147, -0.2050, -0.1241, 1.4897, 1.4090, 1.4172]
    first = NormalMean("sample", 0, 1).update(5 + 2 * np.array(z1))
    assert (first.mean, first.variance) == pytest.approx((2.773470, 0.556144), abs=1e-6)
    second = first.update(5 + 2 * np.array(z2))
    assert (second.mean, second.variance) == pytest.approx((4.531049, 0.287335), abs=1e-6)
    assert second.approximate
    assert "Approximate" in str(second)
    with pytest.raises(ValueError, match="no evidence"):
        second.log_evidence(x)
    flat = NormalMean(2.0, 0.0, np.inf)
    assert flat.update(x).mean == pytest.approx(x.mean())
    assert flat.update(x).variance == pytest.approx(2.0 / 5)
    with pytest.raises(ValueError, match="improper"):
        flat.log_evidence(x)


HOURS, SCORES = np.array([1, 2, 3, 4, 4.5]), np.array([3.0, 5, 7, 9, 10])
DESIGN = np.column_stack([HOURS, np.ones(5)])


def test_example_17():
    belief = LinearGaussian(1.0, [0, 0], 1e6 * np.eye(2)).update(DESIGN, SCORES)
    assert_allclose(belief.mean, [2.0, 1.0], atol=1e-4)
    assert_allclose(belief.cov, [[0.1220, -0.3537], [-0.3537, 1.2256]], atol=1e-4)
    at = belief.predictive([3.5, 1.0])
    assert at.mean[0] == pytest.approx(8.0, abs=1e-4)
    assert at.std[0] == pytest.approx(1.115304, abs=1e-6)
    drawn = posterior_predictive(belief, lambda t: t @ [3.5, 1.0], noise_std=1.0, random_state=0)
    assert drawn.mean == pytest.approx(8.0, abs=0.03)
    assert drawn.std == pytest.approx(1.115304, abs=0.02)
    assert drawn.samples.std() == pytest.approx(1.115304, abs=0.03)
    prior = LinearGaussian(1.0, [0, 0], 1000.0)
    assert_allclose(prior.update(DESIGN, SCORES).mean, [2.000110, 0.999482], atol=1e-6)
    assert prior.log_evidence(DESIGN, SCORES) == pytest.approx(-13.362407, abs=1e-6)


def test_linear_gaussian_laws():
    rng = np.random.default_rng(0)
    m0, B = rng.normal(size=3), rng.normal(size=(3, 3))
    belief = LinearGaussian(0.7, m0, B @ B.T)
    for n in (2, 9):  # fewer and more rows than unknowns
        A, y = rng.normal(size=(n, 3)), rng.normal(size=n)
        S = A @ B @ B.T @ A.T + 0.7 * np.eye(n)
        evidence = multivariate_normal(A @ m0 + 0.2, S).logpdf(y)
        assert belief.log_evidence(A, y, 0.2) == pytest.approx(evidence, abs=1e-8)
        split = belief.update(A[1:], y[1:]).update(A[:1], y[:1])
        whole = belief.update(A, y)
        assert_allclose(split.mean, whole.mean, atol=1e-9)
        assert_allclose(split.cov, whole.cov, atol=1e-9)
        w = np.arange(n) % 3 + (n == 2)
        Aw, yw = np.repeat(A, w, axis=0), np.repeat(y, w)
        assert_allclose(belief.update(A, y, sample_weight=w).mean, belief.update(Aw, yw).mean)
        assert belief.log_evidence(A, y, sample_weight=w) == pytest.approx(
            belief.log_evidence(Aw, yw), abs=1e-8
        )
    X = rng.normal(size=(5, 3))
    R = np.eye(3) + 0.3
    mean = MultivariateNormalMean(R, m0, B @ B.T)
    stacked = LinearGaussian(np.kron(np.eye(5), R), m0, B @ B.T)
    A = np.tile(np.eye(3), (5, 1))
    assert_allclose(mean.update(X).mean, stacked.update(A, X.ravel()).mean, atol=1e-9)
    assert mean.log_evidence(X) == pytest.approx(stacked.log_evidence(A, X.ravel()), abs=1e-8)
    parts = mean.log_evidence(X[:2]) + mean.update(X[:2]).log_evidence(X[2:])
    assert mean.log_evidence(X) == pytest.approx(parts, abs=1e-8)
    with pytest.raises(ValueError, match="noise_variance must be > 0"):
        LinearGaussian(0.0, [0], [[1]])


def test_example_18():
    values = [0.1, 0.2, 0.4, 0.5, 0.7, 0.9]
    start = DiscretePosterior(values, [0.02, 0.05, 0.2, 0.7, 0.02, 0.01])
    after = start.update(lambda t: 7 * np.log(t) + 3 * np.log(1 - t))
    assert (after.mle, after.map) == (0.7, 0.5)
    said = (0.0000018, 0.0004076, 0.0880382, 0.8502875, 0.0553156, 0.0059493)
    assert_allclose(after.probability, said, atol=1e-7)
    flat = DiscretePosterior(values).update(lambda t: 7 * np.log(t) + 3 * np.log(1 - t))
    assert flat.map == flat.mle
    twice = start.update(lambda t: 7 * np.log(t)).update(lambda t: 3 * np.log(1 - t))
    assert_allclose(twice.probability, after.probability)
    assert twice.log_evidence == pytest.approx(after.log_evidence)
    assert after.expect(lambda t: t) == pytest.approx(after.mean)
    tie = DiscretePosterior(["a", "b", "c"]).update([0.0, 0.0, -1.0])
    assert tie.maps == ("a", "b")
    assert "tie" in str(tie)
    with pytest.raises(ValueError, match="evidence is zero"):
        tie.update([-np.inf, -np.inf, -np.inf])


XS, YS = np.arange(6.0), np.array([0, 0, 1, 0, 1, 1])


def log_likelihood(t):
    a = t[0] + t[1] * XS
    return float(YS @ a - np.logaddexp(0, a).sum())


def log_prior(t):
    return float(-(t @ t) / 20 - np.log(20 * np.pi))


def log_joints(T):
    a = T[:, :1] + T[:, 1:] * XS
    return a @ YS - np.logaddexp(0, a).sum(axis=1) - (T**2).sum(axis=1) / 20 - np.log(20 * np.pi)


def test_example_19_grid_and_predictions():
    grid = GridPosterior(log_joints, [-15, -3], [10, 9], n_points=301, vectorized=True)
    assert grid.log_evidence == pytest.approx(-5.519366, abs=1e-5)
    assert_allclose(grid.mean, [-2.53633, 1.18523], atol=1e-4)
    assert_allclose(grid.cov[np.triu_indices(2)], [3.2068, -1.0145, 0.5176], atol=2e-3)
    peak = laplace_approximation(lambda t: log_likelihood(t) + log_prior(t), [0.0, 0.0])

    def chance(t):
        return 1 / (1 + np.exp(-(t[0] + t[1] * np.array([2.5, 10.0, 30.0]))))

    assert_allclose(chance(peak.mode), [0.548682, 0.998709, 1.0], atol=1e-6)
    assert_allclose(grid.expect(chance), [0.57923, 0.95595, 0.96955], atol=2e-4)
    drawn = posterior_predictive(peak, chance, random_state=0)
    assert_allclose(drawn.mean, [0.54055, 0.89778, 0.91673], atol=0.02)
    sampled = grid.sample(20_000, random_state=0)
    assert_allclose(sampled.mean(axis=0), grid.mean, atol=0.05)


def test_one_door():
    grid = posterior(log_likelihood, log_prior, [0.0, 0.0], "grid", n_points=81,
                     low=[-15, -3], high=[10, 9])  # fmt: skip
    assert grid.log_evidence == pytest.approx(-5.519366, abs=1e-4)
    laplace = posterior(log_likelihood, log_prior, [0.0, 0.0], random_state=0)
    assert laplace.log_evidence == pytest.approx(-5.652286, abs=1e-5)
    point = posterior(log_likelihood, log_prior, [0.0, 0.0], "map")
    assert_allclose(point.mean, laplace.mean, atol=1e-6)
    assert not point.cov.any()
    draws = posterior(log_likelihood, log_prior, [0.0, 0.0], "sample", n_draws=4000, random_state=0)
    assert_allclose(draws.mean, grid.mean, atol=0.25)
    for found in (point, laplace, grid, draws):
        assert found.interval(1).shape == (2,)
        assert np.ndim(found.expect(lambda t: t[0])) == 0
        assert 0 < found.predictive(lambda t: 1 / (1 + np.exp(-t.sum()))).mean < 1
        assert "gives up" in str(found.card())
    with pytest.raises(ValueError, match="gives no evidence"):
        point.log_evidence  # noqa: B018
    with pytest.raises(ValueError, match="method must be one of"):
        posterior(log_likelihood, log_prior, [0.0, 0.0], "vi")


def test_grids():
    law = MultivariateNormal([1.0, -1.0, 0.5], np.diag([1.0, 0.25, 4.0]))
    grid = GridPosterior(
        law.log_density, law.mean - 7 * law.std, law.mean + 7 * law.std, 41, vectorized=True
    )
    assert grid.log_evidence == pytest.approx(0, abs=1e-8)
    assert_allclose(grid.mean, law.mean, atol=1e-8)
    assert_allclose(grid.cov, law.cov, atol=1e-7)
    assert_allclose(grid.interval(1), law.marginal(1).interval(), atol=2e-3)
    skew = GridPosterior(lambda t: Beta(3.0, 5.0).log_density(float(t[0])), 0.0, 1.0)
    assert_allclose(skew.interval(), Beta(3.0, 5.0).interval(), atol=1e-4)
    assert skew.map[0] == pytest.approx(1 / 3, abs=5e-3)
    assert "coordinate 0" in str(skew)
    with pytest.warns(UserWarning, match="touches the border"):
        GridPosterior(lambda t: -0.5 * float(t @ t), 0.0, 3.0)
    with pytest.raises(ValueError, match=r"1.63e\+09 points"):
        GridPosterior(lambda t: 0.0, np.zeros(4), np.ones(4))
    with pytest.raises(ValueError, match="1 to 4 dimensions"):
        GridPosterior(lambda t: 0.0, np.zeros(5), np.ones(5), 3)
    with pytest.raises(ValueError, match="zero at every point"):
        GridPosterior(lambda t: -np.inf, 0.0, 1.0)


def test_predictive_record():
    assert str(posterior_predictive([[1.0], [3.0]], lambda t: t[0], noise_std=0.0)) == "2 +/- 1"
    many = posterior_predictive(Normal(0, 1), lambda t: np.array([t, 2 * t]), random_state=0)
    assert many.quantile(0.5).shape == (2,)
    assert many.interval().shape == (2, 2)
    with pytest.raises(ValueError, match="NaN or infinity"):
        posterior_predictive([[1.0]], lambda t: np.inf)


def test_model_comparison():
    data = [1] * 9 + [0]
    evidence = {"fair": 10 * np.log(0.5), "any": BetaBernoulli(1, 1).log_evidence(data)}
    found = compare_models(evidence)
    ratio = np.exp(evidence["any"] - evidence["fair"])
    assert found.probability["any"] == pytest.approx(ratio / (1 + ratio))
    assert found.best == "any"
    assert found.log_bayes_factor[1, 0] == pytest.approx(np.log(ratio))
    assert "positive" in str(found)
    tilted = compare_models(evidence, prior={"fair": 0.99, "any": 0.01})
    assert tilted.best == "fair"
    with pytest.warns(UserWarning, match="flat: no finite evidence"):
        left = compare_models({**evidence, "flat": None})
    assert set(left.probability) == {"fair", "any"}
    assert compare_models({"a": -1e5, "b": -2e5}).grade("a", "b") == "very strong"
    with pytest.raises(ValueError, match="sum to 1"):
        compare_models(evidence, [0.5, 0.6])


@pytest.mark.parametrize("name", ["kappa", "shape", "scale"])
@pytest.mark.parametrize("value", [0.0, -1.0, float("nan")])
def test_a_belief_in_mean_and_variance_needs_positive_numbers(name, value):
    with pytest.raises(ValueError, match=f"{name} must be"):
        NormalInverseGamma(**{name: value})
