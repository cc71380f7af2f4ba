"""Negative binomial regression: statsmodels, densities, Poisson's limit, recovery."""

import warnings

import numpy as np
import pytest
import statsmodels.api as sm
from numpy.testing import assert_allclose, assert_array_equal
from scipy.linalg import LinAlgWarning
from scipy.stats import nbinom

from pellucid import NegativeBinomialRegressor, PoissonRegressor
from pellucid.linear import SeparationWarning
from pellucid.linear.glm.counts import negative_binomial, rising, shape_sums


def table(n=500, a=0.5, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, size=(n, 3))
    mu = np.exp(1 + X @ [0.5, -0.3, 0.2])
    return X, rng.poisson(mu * rng.gamma(1 / a, a, n)).astype(float)


@pytest.mark.parametrize("a", [0.1, 0.5, 3.0])
def test_maximum_likelihood_as_statsmodels(a):
    X, y = table(a=a)
    model = NegativeBinomialRegressor().fit(X, y)
    D = sm.add_constant(X)
    theirs = sm.NegativeBinomial(y, D).fit(disp=0, method="newton", maxiter=200, tol=1e-14)
    found = np.append(np.append(model.intercept_, model.coef_), model.dispersion_)
    assert_allclose(found, theirs.params, rtol=1e-6)
    assert_allclose(model.log_likelihood_, theirs.llf, rtol=1e-11)
    assert_allclose(model.aic_, theirs.aic, rtol=1e-10)
    assert_allclose(model.bic_, theirs.bic, rtol=1e-10)
    assert_allclose(model.dispersion_error_, theirs.bse[-1], rtol=0.02)  # theirs is joint
    family = sm.families.NegativeBinomial(alpha=model.dispersion_)
    held = sm.GLM(y, D, family).fit(tol=1e-14)
    assert_allclose(model.standard_errors_, held.bse, rtol=1e-7)
    assert_allclose(model.deviance_, held.deviance, rtol=1e-8)
    assert_allclose(model.null_deviance_, held.null_deviance, rtol=1e-8)


def test_a_given_dispersion_with_exposure_as_statsmodels():
    X, y = table()
    e = np.random.default_rng(1).uniform(0.5, 4.0, len(y))
    model = NegativeBinomialRegressor(0.7).fit(X, y, exposure=e)
    family = sm.families.NegativeBinomial(alpha=0.7)
    theirs = sm.GLM(y, sm.add_constant(X), family, exposure=e).fit(tol=1e-14)
    assert_allclose(np.append(model.intercept_, model.coef_), theirs.params, rtol=1e-7)
    assert_allclose(model.standard_errors_, theirs.bse, rtol=1e-7)
    assert_allclose(model.null_deviance_, theirs.null_deviance, rtol=1e-9)
    assert_allclose(model.log_likelihood_, theirs.llf, rtol=1e-9)
    assert model.dispersion_ == 0.7
    assert np.isnan(model.dispersion_error_)


def test_the_estimate_with_exposure_has_zero_slope():
    X, y = table()
    e = np.random.default_rng(1).uniform(0.5, 4.0, len(y))
    model = NegativeBinomialRegressor(tol=1e-6).fit(X, y * 2, exposure=e)
    sums = shape_sums(model.dispersion_, y * 2, model.predict(X, exposure=e))
    assert abs(sums.slope.sum()) < 1e-6 * len(y)


@pytest.mark.parametrize("a", [5.0, 0.3, 2e-3, 5e-4])
def test_likelihood_is_the_density(a):
    y, mu = np.array([0.0, 1.0, 3.0, 40.0]), np.array([0.5, 2.0, 2.5, 7.0])
    family = negative_binomial(a)
    density = nbinom.logpmf(y, 1 / a, 1 / (1 + a * mu))
    assert_allclose(family.likelihood.base(y) - family.loss(y, mu), density, rtol=1e-9)
    s, h = np.log(a), 1e-4
    value = lambda t: shape_sums(np.exp(t), y, mu)  # noqa: E731
    slope = (value(s + h).value - value(s - h).value) / (2 * h)
    assert_allclose(value(s).slope, slope, rtol=1e-4, atol=1e-7)
    curvature = (value(s + h).slope - value(s - h).slope) / (2 * h)
    assert_allclose(value(s).curvature, curvature, rtol=1e-4, atol=1e-7)


def test_series_meets_the_functions():
    """On both sides of the change from the gamma function to Stirling's series."""
    y, mu = np.array([0.0, 1.0, 5.0, 300.0]), np.array([1.0, 2.0, 3.0, 250.0])
    assert_allclose(rising(y, 999.999), rising(y, 1000.001), rtol=1e-4, atol=1e-11)
    before, after = shape_sums(1 / 999.9999, y, mu), shape_sums(1 / 1000.0001, y, mu)
    for one, two in zip(before, after, strict=True):
        assert_allclose(one, two, rtol=1e-5, atol=1e-9)


def test_dispersion_zero_is_poisson():
    X, y = table()
    model, plain = NegativeBinomialRegressor(0.0).fit(X, y), PoissonRegressor(alpha=0).fit(X, y)
    assert_allclose(model.coef_, plain.coef_, rtol=1e-9)
    assert_allclose(model.standard_errors_, plain.standard_errors_, rtol=1e-9)
    assert_allclose(model.log_likelihood_, plain.log_likelihood_, rtol=1e-12)
    near = NegativeBinomialRegressor(1e-9).fit(X, y)
    assert_allclose(near.log_likelihood_, plain.log_likelihood_, rtol=1e-7)


def test_counts_with_less_variation_are_poissons(recwarn):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 2)), rng.binomial(10, 0.3, 300).astype(float)
    model, plain = NegativeBinomialRegressor().fit(X, y), PoissonRegressor(alpha=0).fit(X, y)
    assert model.dispersion_ == 0
    assert_allclose(model.coef_, plain.coef_, atol=1e-9)
    assert model.summary().valid
    assert any("vary no more than" in note for note in model.summary().notes)
    assert "vary no more than" in " ".join(str(model.card()).split())
    assert not recwarn.list


def test_weights_are_repetitions_and_the_objective_falls():
    X, y = table()
    w = np.random.default_rng(2).integers(0, 4, len(y))
    once = NegativeBinomialRegressor().fit(X, y, sample_weight=w)
    often = NegativeBinomialRegressor().fit(np.repeat(X, w, axis=0), np.repeat(y, w))
    assert_allclose(once.coef_, often.coef_, rtol=1e-7)
    for name in ("dispersion_", "dispersion_error_", "log_likelihood_", "aic_", "bic_"):
        assert_allclose(getattr(once, name), getattr(often, name), rtol=1e-7)
    assert (np.diff(once.history_["objective"]) <= 1e-12).all()
    assert_allclose(once.history_[-1]["dispersion"], once.dispersion_, rtol=1e-3)


def test_the_objective_is_minus_the_mean_log_likelihood():
    X, y = table()
    model = NegativeBinomialRegressor(alpha=0.1).fit(X, y)
    expected = -model.log_likelihood_ / len(y) + 0.05 * model.coef_ @ model.coef_
    assert_allclose(model.history_[-1]["objective"], expected, rtol=1e-9)
    with pytest.warns(UserWarning, match="shrunk"):
        assert not model.summary().valid


def test_recovers_and_covers():
    truth, hits, found = np.array([1.0, 0.5, -0.3, 0.2]), [], []
    for seed in range(60):
        model = NegativeBinomialRegressor().fit(*table(300, seed=seed))
        summary = model.summary()
        hits.append((summary.low <= truth) & (truth <= summary.high))
        found.append(abs(model.dispersion_ - 0.5) < 1.96 * model.dispersion_error_)
    assert 0.91 <= np.mean(hits) <= 0.98
    assert np.mean(found) >= 0.85
    big = NegativeBinomialRegressor().fit(*table(30_000))
    assert_allclose(big.dispersion_, 0.5, atol=0.03)
    assert_allclose(big.coef_, truth[1:], atol=0.05)


def test_poisson_misses_what_the_negative_binomial_covers():
    """Counts with a = 0.5: the note of the Poisson summary is true, and gone with the family."""
    X, y = table()
    counts = PoissonRegressor(alpha=0).fit(X, y)
    assert any("varies more" in note for note in counts.summary().notes)
    model = NegativeBinomialRegressor().fit(X, y)
    assert not any("varies more" in note for note in model.summary().notes)
    assert (model.standard_errors_ > counts.standard_errors_).all()


@pytest.mark.parametrize("n", [60, 500, 9000])
def test_a_level_without_counts_warns(n):
    y = table(n)[1]
    level = np.arange(len(y)) % 3
    y[level == 1] = 0
    with pytest.warns(SeparationWarning, match="runs to 0"):
        model = NegativeBinomialRegressor().fit(np.eye(3)[level][:, 1:], y)
    assert np.isfinite(model.coef_).all()
    assert model.dispersion_ > 0


def test_blocks_give_the_same_bits():
    import polars

    import pellucid

    X, y = table(n=9000)
    frame = polars.DataFrame(X, schema=["a", "b", "c"]).with_columns(y=polars.Series(y))
    blocks = pellucid.data.blocks(frame, target="y", block_rows=1000)
    whole = NegativeBinomialRegressor().fit(X, y)
    parts = NegativeBinomialRegressor().fit_blocks(blocks)
    assert_array_equal(parts.coef_, whole.coef_)
    assert parts.dispersion_ == whole.dispersion_


def test_refusals():
    with pytest.raises(ValueError, match="dispersion must be >= 0"):
        NegativeBinomialRegressor(-0.1).fit([[0.0], [1.0]], [1, 2])
    with pytest.raises(ValueError, match="needs y >= 0"):
        NegativeBinomialRegressor().fit([[0.0], [1.0]], [1, -2])


def test_a_dispersion_that_nothing_determines_is_no_dependent_column():
    """Counts of 30 digits that hardly vary: the columns are as free as in Poisson's model."""
    X, _ = table(60)
    y = np.full(60, 1e30) + np.arange(60) % 3
    with warnings.catch_warnings():
        warnings.simplefilter("error", LinAlgWarning)
        model = NegativeBinomialRegressor().fit(X, y)
    assert np.isinf(model.dispersion_error_)
    assert_allclose(model.intercept_, np.log(1e30))
    assert_allclose(model.coef_, 0, atol=1e-9)
