"""Errors and intervals of QuantileRegressor: R's figures, statsmodels, formulas, coverage."""

import numpy as np
import pytest
import statsmodels.api as sm
from numpy.testing import assert_allclose
from scipy.special import ndtri

from pellucid import QuantileRegressor
from pellucid.linear.robust.quantile_errors import hall_sheather

# quantreg: summary(rq(foodexp ~ income, tau = 1:9/10, data = engel), se = "nid"), as stored by the
# tests of the R package parameters (test-quantreg.R)
ENGEL = [
    [29.39768, 0.04024], [21.42836, 0.02997], [22.18115, 0.02987], [22.06032, 0.02936],
    [19.25066, 0.02828], [17.61762, 0.02506], [14.25039, 0.02176], [19.21719, 0.02635],
    [22.39538, 0.02849],
]  # fmt: skip
# Koenker, Quantile Regression in R: A Vignette: summary(rq(foodexp ~ income, data = engel)), 0.90
ENGEL_RANK = [[53.25915, 114.01156], [0.48702, 0.60199]]


def data(n=80, p=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) + 2
    return X, X @ rng.normal(size=p) + rng.standard_t(3, size=n) + 1


def spreading(rng, n):
    """y = 1 + x + (0.1 + 2 x) e: the noise grows with x."""
    x = rng.uniform(size=n)
    return x[:, None], 1 + x + (0.1 + 2 * x) * rng.normal(size=n)


# --- oracles ---------------------------------------------------------------------------------


def test_errors_on_engels_data_equal_quantreg():
    table = sm.datasets.engel.load_pandas().data
    for k, errors in enumerate(ENGEL, 1):
        model = QuantileRegressor(quantile=k / 10, alpha=0).fit(table[["income"]], table["foodexp"])
        assert_allclose(model.summary().standard_error, errors, atol=5.1e-6)


def test_rank_intervals_on_engels_data_equal_quantreg():
    table = sm.datasets.engel.load_pandas().data
    X, y = table[["income"]], table["foodexp"]
    summary = QuantileRegressor(alpha=0).fit(X, y).summary(0.9, "rank-iid", X, y)
    assert_allclose(np.column_stack([summary.low, summary.high]), ENGEL_RANK, atol=5.1e-6)


@pytest.mark.parametrize("tau", [0.5, 0.2])
def test_iid_errors_equal_statsmodels(tau):
    X, y = data(400)
    model = QuantileRegressor(quantile=tau, alpha=0).fit(X, y)
    oracle = sm.QuantReg(y, sm.add_constant(X)).fit(tau, vcov="iid", max_iter=5000)
    summary = model.summary(covariance="iid")
    assert_allclose(summary.estimate, oracle.params, atol=1e-4)
    assert_allclose(summary.standard_error, oracle.bse, rtol=2e-2)
    assert_allclose(model.bandwidth_, oracle.bandwidth, rtol=1e-3)
    assert_allclose(1 / model.density_, oracle.sparsity, rtol=2e-2)
    assert model.summary().valid


@pytest.mark.parametrize("tau", [0.05, 0.3, 0.5])
def test_errors_by_the_formulas(tau):
    """Fits at tau + h and tau - h give the densities; the kernel gives Powell's."""
    X, y = data(200)
    model = QuantileRegressor(quantile=tau, alpha=0).fit(X, y)
    D = np.column_stack([np.ones(200), X])
    h = hall_sheather(tau, 200)
    while h >= min(tau, 1 - tau):
        h /= 2
    beside = [QuantileRegressor(quantile=tau + s * h, alpha=0).fit(X, y) for s in (1, -1)]
    f = 2 * h / (beside[0].predict(X) - beside[1].predict(X))
    r = y - model.predict(X)
    u = r / model.bandwidth_
    powell = np.where(np.abs(u) < 1, 0.75 * (1 - u**2), 0) / model.bandwidth_
    assert_allclose(powell.mean(), model.density_)
    for kind, density in (("robust", np.maximum(f, 0)), ("powell", powell)):
        H = np.linalg.inv((D.T * density) @ D)
        errors = np.sqrt(np.diag(tau * (1 - tau) * H @ D.T @ D @ H))
        assert_allclose(model.summary(covariance=kind).standard_error, errors, rtol=1e-7)
    assert_allclose(model.standard_errors_, np.sqrt(np.diag(model.covariance_)))


def test_bootstrap_errors_are_those_of_refits_on_drawn_rows():
    X, y = data(90)
    rng = np.random.default_rng(5)
    refits = []
    for _ in range(25):
        w = rng.multinomial(90, np.full(90, 1 / 90))
        model = QuantileRegressor(quantile=0.62, alpha=0).fit(X, y, sample_weight=w)
        refits.append([model.intercept_, *model.coef_])
    model = QuantileRegressor(quantile=0.62, alpha=0).fit(X, y)
    drawn = model.summary(0.95, "bootstrap", X, y, n_resamples=25, random_state=5)
    assert_allclose(drawn.standard_error, np.std(refits, axis=0, ddof=1), rtol=1e-6)


def test_rank_interval_of_a_median_is_that_of_the_signs():
    """One column of ones: the test counts signs, and the interval lies between order statistics."""
    y = np.sort(np.random.default_rng(0).normal(size=101))
    model = QuantileRegressor(alpha=0, fit_intercept=False).fit(np.ones((101, 1)), y)
    summary = model.summary(0.9, "rank-iid", np.ones((101, 1)), y)
    reach = 1.66 * np.sqrt(101) / 2
    assert y[int(50 - reach) - 1] <= summary.low[0] <= y[int(50 - reach) + 2]
    assert y[int(50 + reach) - 1] <= summary.high[0] <= y[int(50 + reach) + 2]


def test_the_end_of_a_rank_interval_is_where_the_test_rejects():
    X, y = data(60, 2)
    model = QuantileRegressor(alpha=0).fit(X, y)
    summary = model.summary(0.9, "rank-iid", X, y)
    for j, edge in ((0, summary.low[1]), (1, summary.high[2])):
        for factor, inside in ((0.98, True), (1.02, False)):
            at = model.coef_[j] + factor * (edge - model.coef_[j])
            moved = y - at * X[:, j]
            again = QuantileRegressor(alpha=0).fit(X, moved).summary(0.9, "rank-iid", X, moved)
            assert (again.low[j + 1] <= 0 <= again.high[j + 1]) == inside


# --- laws ------------------------------------------------------------------------------------


def test_robust_differs_from_iid_at_the_median():
    X, y = spreading(np.random.default_rng(0), 500)
    model = QuantileRegressor(alpha=0).fit(X, y)
    robust, iid = (model.summary(covariance=k).standard_error for k in ("robust", "iid"))
    assert (np.abs(robust / iid - 1) > 0.05).all()
    assert robust[0] < iid[0] / 2  # at x = 0 there is little noise


@pytest.mark.parametrize("kind", ["robust", "powell", "iid", "rank", "rank-iid"])
def test_units_do_not_matter(kind):
    X, y = spreading(np.random.default_rng(1), 80)
    base = QuantileRegressor(quantile=0.4, alpha=0).fit(X, y).summary(0.9, kind, X, y)
    Z, z = X * 1e-7 + 3e-7, 1e6 * y
    moved = QuantileRegressor(quantile=0.4, alpha=0).fit(Z, z).summary(0.9, kind, Z, z)
    assert_allclose([moved.low[1], moved.high[1]], 1e13 * np.array([base.low[1], base.high[1]]))


@pytest.mark.parametrize("kind", ["robust", "powell", "iid", "rank", "rank-iid"])
def test_weights_are_repetitions(kind):
    X, y = data(60)
    w = np.random.default_rng(0).integers(0, 4, size=60)
    long = np.repeat(X, w, axis=0), np.repeat(y, w)
    a = QuantileRegressor(quantile=0.61, alpha=0).fit(X, y, sample_weight=w)
    b = QuantileRegressor(quantile=0.61, alpha=0).fit(*long)
    a, b = a.summary(0.95, kind, X, y, w), b.summary(0.95, kind, *long)
    assert_allclose(a.low, b.low, rtol=1e-5)
    assert_allclose(a.high, b.high, rtol=1e-5)


def test_many_rows_give_the_errors_of_a_plain_fit():
    """Rows that keep their side in the neighbouring fits do not change them."""
    X, y = spreading(np.random.default_rng(2), 20_000)
    model = QuantileRegressor(quantile=0.7, alpha=0).fit(X, y)
    h = hall_sheather(0.7, 20_000)
    high, low = (QuantileRegressor(quantile=0.7 + s * h, alpha=0).fit(X, y) for s in (1, -1))
    D = np.column_stack([np.ones(len(y)), X])
    H = np.linalg.inv((D.T * (2 * h / (high.predict(X) - low.predict(X)))) @ D)
    assert_allclose(model.covariance_, 0.21 * H @ D.T @ D @ H, rtol=1e-6)


# --- recovery --------------------------------------------------------------------------------


def test_all_errors_are_near_the_true_one_for_normal_noise():
    """Median, normal noise: the asymptotic error is sqrt(pi/2) times that of least squares."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 1))
    y = X[:, 0] + rng.normal(size=2000)
    model = QuantileRegressor(alpha=0).fit(X, y)
    true = np.sqrt(np.pi / 2 / 2000)
    for kind in ("robust", "powell", "iid"):
        assert_allclose(model.summary(covariance=kind).standard_error[1], true, rtol=0.15)
    for kind in ("rank", "rank-iid"):
        summary = model.summary(0.95, kind, X, y)
        assert_allclose(summary.high[1] - summary.low[1], 2 * 1.96 * true, rtol=0.2)


def coverage(q, n, seeds, kind="robust"):
    hits = []
    for seed in seeds:
        X, y = spreading(np.random.default_rng(seed), n)
        summary = QuantileRegressor(quantile=q, alpha=0).fit(X, y).summary(0.95, kind, X, y)
        hits.append(summary.low[1] <= 1 + 2 * ndtri(q) <= summary.high[1])
    return np.mean(hits)


@pytest.mark.parametrize("q", [0.5, 0.9])
def test_default_intervals_cover_where_the_noise_grows(q):
    """A share of the thousand: 4 standard errors of a proportion of 120 allow 0.08."""
    assert abs(coverage(q, 200, range(120)) - 0.95) < 4 * np.sqrt(0.95 * 0.05 / 120)


@pytest.mark.slow
@pytest.mark.parametrize("n", [200, 1000])
@pytest.mark.parametrize("q", [0.5, 0.9])
def test_default_intervals_cover_within_two_hundredths(q, n):
    assert 0.93 <= coverage(q, n, range(1000)) <= 0.97


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["rank", "bootstrap", "powell"])
def test_other_intervals_cover(kind):
    assert 0.9 <= coverage(0.5, 200, range(100), kind) <= 1.0


@pytest.mark.slow
def test_intervals_cover_with_equal_noise():
    rng = np.random.default_rng(0)
    hits = []
    for _ in range(400):
        X = rng.normal(size=(300, 2))
        y = X @ [1.0, -1] + 2 + rng.normal(size=300)
        s = QuantileRegressor(alpha=0).fit(X, y).summary()
        hits.append((s.low <= [2, 1, -1]) & (s.high >= [2, 1, -1]))
    assert 0.92 < np.mean(hits) < 0.98


# --- refusals --------------------------------------------------------------------------------


def test_refusals():
    X, y = data()
    model = QuantileRegressor(alpha=0).fit(X, y)
    with pytest.raises(ValueError, match="needs the training data again"):
        model.summary(covariance="rank")
    with pytest.raises(ValueError, match="must be those of the fit; their mean loss"):
        model.summary(0.95, "bootstrap", X, y + 1)
    with pytest.raises(ValueError, match="covariance must be"):
        model.summary(covariance="nid")
    with pytest.raises(ValueError, match="n_resamples"):
        model.summary(0.95, "bootstrap", X, y, n_resamples=1)
    penalised = QuantileRegressor(alpha=0.1).fit(X, y)
    with pytest.raises(ValueError, match="the penalty biases"):
        penalised.summary(0.95, "rank", X, y)
    assert "own density" in str(model.summary())
    assert "own density" not in str(model.summary(covariance="iid"))


def test_a_rank_interval_may_have_no_end():
    """With very few rows no value is refused, and the interval says so."""
    X, y = np.arange(4.0)[:, None], np.array([0.0, 1.0, 1.5, 4.0])
    summary = QuantileRegressor(alpha=0).fit(X, y).summary(0.999, "rank-iid", X, y)
    assert np.isinf(summary.high[1])
    assert np.isinf(summary.low[1])


def test_bootstrap_repeats_with_its_seed():
    X, y = data(60)
    model = QuantileRegressor(alpha=0).fit(X, y)
    a, b, c = (
        model.summary(0.95, "bootstrap", X, y, n_resamples=20, random_state=s).standard_error
        for s in (0, 0, 1)
    )
    assert (a == b).all()
    assert (a != c).all()
