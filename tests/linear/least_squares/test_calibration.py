"""Intervals cover what they promise, by simulation."""

import numpy as np
import pytest

from pellucid.linear import LinearRegression, Ridge, RidgeCV

pytestmark = pytest.mark.slow
REPEATS = 4000


def within(count, share, n):
    """A binomial count within four standard errors of its mean."""
    return abs(count - share * n) <= 4 * np.sqrt(share * (1 - share) * n)


def test_intervals_of_least_squares_cover():
    g = np.random.default_rng(0)
    b, s = np.array([1.0, 2.0, -0.5, 0.0]), 0.7
    X = g.normal(size=(15, 3))
    new = np.array([[0.5, -1.0, 2.0]])
    truth = b[0] + new @ b[1:]
    coefficient, mean, prediction, ratio = np.zeros(4), 0, 0, 0.0
    for _ in range(REPEATS):
        y = b[0] + X @ b[1:] + s * g.normal(size=15)
        model = LinearRegression().fit(X, y)
        found = model.summary()
        coefficient += (found.low <= b) & (b <= found.high)
        ((low, high),) = model.predict_interval(new, kind="mean")
        mean += low <= truth[0] <= high
        ((low, high),) = model.predict_interval(new)
        prediction += low <= truth[0] + s * g.normal() <= high
        ratio += model.sigma2_ml_ / s**2
    assert all(within(count, 0.95, REPEATS) for count in coefficient), coefficient
    assert within(mean, 0.95, REPEATS), mean
    assert within(prediction, 0.95, REPEATS), prediction
    # E[RSS/n] = s^2 (1 - (p + 1)/n); the standard deviation of RSS/(n s^2) is sqrt(2 (n - q))/n
    assert abs(ratio / REPEATS - (1 - 4 / 15)) <= 4 * np.sqrt(2 * 11) / 15 / np.sqrt(REPEATS)


@pytest.mark.parametrize("noise", ["normal", "skewed"])
def test_jackknife_plus_covers(noise):
    g = np.random.default_rng(1)
    hits = 0
    for _ in range(REPEATS):
        X = g.normal(size=(31, 4))
        e = g.normal(size=31) if noise == "normal" else g.exponential(size=31)
        y = X @ [1.0, 2.0, 0.0, -1.0] + e
        model = Ridge(1.0).fit(X[:30], y[:30])
        ((low, high),) = model.jackknife_interval(X[30:], X[:30], y[:30], confidence=0.9)
        hits += low <= y[30] <= high
    assert hits >= 0.8 * REPEATS  # the theorem
    assert abs(hits / REPEATS - 0.9) <= 0.03  # what is usually seen


def test_robust_errors_cover_where_ordinary_ones_do_not():
    g = np.random.default_rng(2)
    plain, robust, n = 0, 0, 2000
    for _ in range(n):
        x = g.exponential(size=100)
        y = 1 + 2 * x + x * g.normal(size=100)
        model = LinearRegression().fit(x[:, None], y)
        a = model.summary()
        b = model.summary(covariance="HC3", X=x[:, None], y=y)
        plain += a.low[1] <= 2 <= a.high[1]
        robust += b.low[1] <= 2 <= b.high[1]
    assert plain < 0.85 * n
    assert robust > 0.90 * n


def test_one_standard_error_always_picks_the_more_regularised_side():
    g = np.random.default_rng(3)
    alphas = np.logspace(-4, 5, 40)
    for _ in range(300):
        n, p = int(g.integers(6, 60)), int(g.integers(1, 30))
        X = g.normal(size=(n, p))
        y = X @ g.normal(size=p) * g.integers(0, 2) + g.normal(size=n)
        for cv in (None, "gcv"):
            best = RidgeCV(alphas, cv=cv).fit(X, y)
            simple = RidgeCV(alphas, cv=cv, rule="one_standard_error").fit(X, y)
            assert simple.alpha_ >= best.alpha_
            assert simple.df_ <= best.df_ + 1e-12
