"""BayesianLinearRegression: the example, closed forms, laws, coverage."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse, stats
from scipy.linalg import null_space

from pellucid import BayesianLinearRegression, InverseGamma, LinearRegression, Ridge

X5, Y5 = np.array([[1.0], [2], [3], [4], [4.5]]), np.array([3.0, 5, 7, 9, 10])


def data(n=40, p=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) + 1.0
    return X, X @ rng.normal(size=p) + 2 + 0.7 * rng.normal(size=n)


def design(X):
    return np.column_stack([np.ones(len(X)), X])


# --- the example and closed forms ------------------------------------------------------------


def test_five_points_example_16():
    model = BayesianLinearRegression(prior_covariance=1e6, noise_variance=1.0).fit(X5, Y5)
    assert_allclose(model.mean_, [0.99999948, 2.00000011], atol=1e-8)
    expected = [[1.22560813, -0.35365806], [-0.35365806, 0.12195108]]
    assert_allclose(model.covariance_, expected, atol=1e-8)
    mean, sd = model.predict([[3.5]], return_std=True)
    assert_allclose([mean[0], sd[0]], [7.99999987, 1.11530374], atol=1e-8)
    assert_allclose(model.log_evidence_, -20.26699243, atol=1e-7)
    drawn = model.sample_y([[3.5]], n_samples=1000)
    assert drawn.shape == (1, 1000)
    assert_allclose([drawn.mean(), drawn.std()], [8.0, 1.1], atol=0.1)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("kind", ["scalar", "vector", "matrix"])
def test_posterior_and_evidence_by_the_formulas(kind, intercept):
    X, y = data()
    D = design(X) if intercept else X
    q = D.shape[1]
    rng = np.random.default_rng(1)
    B, m = rng.normal(size=(q, q)), rng.normal(size=q)
    V = {"scalar": 2.0, "vector": rng.uniform(1, 3, size=q), "matrix": B @ B.T}[kind]
    full = V if kind == "matrix" else np.diag(np.broadcast_to(V, q))
    model = BayesianLinearRegression(
        prior_mean=m, prior_covariance=V, noise_variance=0.5, fit_intercept=intercept
    ).fit(X, y)
    precision = np.linalg.inv(full) + D.T @ D / 0.5
    cov = np.linalg.inv(precision)
    mean = cov @ (np.linalg.solve(full, m) + D.T @ y / 0.5)
    assert_allclose(model.mean_, mean, rtol=1e-8)
    assert_allclose(model.covariance_, cov, rtol=1e-7, atol=1e-12)
    assert_allclose(model.precision_, precision, rtol=1e-7)
    marginal = stats.multivariate_normal(D @ m, 0.5 * np.eye(len(y)) + D @ full @ D.T)
    assert_allclose(model.log_evidence_, marginal.logpdf(y), rtol=1e-9)
    rows = rng.normal(size=(7, 3)) * 5
    E = design(rows) if intercept else rows
    _, sd = model.predict(rows, return_std=True)
    assert_allclose(sd**2, 0.5 + ((E @ cov) * E).sum(axis=1), rtol=1e-8)


def test_ridge_is_the_posterior_mean_example_20():
    X, y = data()
    for tau2, s2 in ((0.3, 2.0), (5.0, 0.1)):
        model = BayesianLinearRegression(prior_covariance=tau2, noise_variance=s2).fit(X, y)
        ridge = Ridge(s2 / tau2, shrink_intercept=True).fit(X, y)
        assert_allclose(model.coef_, ridge.coef_, rtol=1e-8)
        assert_allclose(model.intercept_, ridge.intercept_, rtol=1e-8)
    model = BayesianLinearRegression().fit(X, y)
    ridge = Ridge(model.noise_variance_ / model.prior_variance_).fit(X, y)
    assert_allclose(model.coef_, ridge.coef_, rtol=1e-8)
    assert_allclose(model.intercept_, ridge.intercept_, rtol=1e-8)


def test_flat_prior_is_least_squares():
    X, y = data()
    model = BayesianLinearRegression(prior_covariance=np.inf, noise_variance=0.6).fit(X, y)
    ols = LinearRegression().fit(X, y)
    assert_allclose(model.coef_, ols.coef_, rtol=1e-9)
    assert_allclose(model.covariance_, 0.6 / ols.sigma2_ * ols.covariance_, rtol=1e-7)
    found = BayesianLinearRegression(prior_covariance=np.inf).fit(X, y)
    assert_allclose(found.noise_variance_, ols.sigma2_, rtol=1e-6)  # the unbiased estimate
    with pytest.raises(ValueError, match="full rank"):
        BayesianLinearRegression(prior_covariance=np.inf).fit(np.column_stack([X, X[:, 0]]), y)
    with pytest.raises(ValueError, match="full rank"):
        BayesianLinearRegression(prior_covariance=np.inf).fit(X[:2], y[:2])
    with pytest.raises(ValueError, match="full rank"):
        BayesianLinearRegression(prior_covariance=np.inf).fit(np.ones((9, 2)), y[:9])


def test_flat_parameters_have_density_one():
    X, y = data()
    model = BayesianLinearRegression(
        prior_covariance=[np.inf, 2.0, np.inf, 1.0], noise_variance=0.5
    ).fit(X, y)
    wide, D = 1e6, design(X)
    V = np.diag([wide, 2.0, wide, 1.0])
    marginal = stats.multivariate_normal(np.zeros(40), 0.5 * np.eye(40) + D @ V @ D.T).logpdf(y)
    assert_allclose(model.log_evidence_, marginal + np.log(2 * np.pi * wide), rtol=1e-5)


def test_vague_prior_is_large_v():
    X, y = data()
    model = BayesianLinearRegression(prior_covariance=1e10, noise_variance=1.0).fit(X, y)
    assert_allclose(model.coef_, LinearRegression().fit(X, y).coef_, rtol=1e-6)


def test_known_parameters_stay():
    X, y = data()
    V = np.diag([1.0, 0.0, 1.0, 1.0])
    for prior in (V, np.diag(V)):
        model = BayesianLinearRegression(
            prior_mean=[0.0, 7.0, 0, 0], prior_covariance=prior, noise_variance=1.0
        ).fit(X, y)
        assert_allclose(model.coef_[0], 7.0, rtol=1e-12)
        assert_allclose(model.covariance_[1], 0.0, atol=1e-15)
        with pytest.raises(ValueError, match="precision_ does not exist"):
            _ = model.precision_


# --- evidence --------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:the rows can be fitted exactly")  # it may be best, p > n
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(("n", "p"), [(40, 3), (12, 30)])
def test_evidence_is_the_global_maximum(n, p, seed):
    X, y = data(n, p, seed)
    y = y + 2.0 * np.random.default_rng(seed).normal(size=n)
    model = BayesianLinearRegression().fit(X, y)
    best = -np.inf
    C = null_space(np.ones((1, n)))  # the constant direction is the intercept's
    values, vectors = np.linalg.eigh(C.T @ X @ X.T @ C)
    beta2 = (vectors.T @ C.T @ y) ** 2
    values = np.maximum(values, 0)
    for t in np.geomspace(1e-6, 1e4, 121):
        for s2 in np.geomspace(1e-5, 1e3, 121):
            v = s2 + t * values
            best = max(best, -0.5 * (np.log(2 * np.pi * v) + beta2 / v).sum() - 0.5 * np.log(n))
    assert model.log_evidence_ >= best - 1e-9
    assert model.log_evidence_ <= best + 0.2


def test_known_noise_or_known_prior():
    X, y = data()
    both = BayesianLinearRegression().fit(X, y)
    prior = BayesianLinearRegression(noise_variance=both.noise_variance_).fit(X, y)
    assert_allclose(prior.prior_variance_, both.prior_variance_, rtol=1e-4)
    assert_allclose(prior.log_evidence_, both.log_evidence_, rtol=1e-9)
    V = np.append(np.inf, np.full(3, both.prior_variance_))
    noise = BayesianLinearRegression(prior_covariance=V).fit(X, y)
    assert_allclose(noise.noise_variance_, both.noise_variance_, rtol=1e-4)
    assert_allclose(noise.log_evidence_, both.log_evidence_, rtol=1e-9)


def test_no_signal_no_slope():
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(60, 5)), rng.normal(size=60) + 4
    X -= np.outer(y - y.mean(), (y - y.mean()) @ X) / ((y - y.mean()) ** 2).sum()
    model = BayesianLinearRegression().fit(X, y)
    assert model.prior_variance_ == 0
    assert_array_equal(model.coef_, 0)
    assert_allclose(model.intercept_, y.mean())
    assert_allclose(model.noise_variance_, y.var(ddof=1))
    assert "no slope is supported" in str(model.card())


def test_recovers_the_truth():
    rng = np.random.default_rng(0)
    w = rng.normal(size=20) * 2
    X = rng.normal(size=(4000, 20))
    y = X @ w + 5 + 0.5 * rng.normal(size=4000)
    model = BayesianLinearRegression().fit(X, y)
    assert_allclose(model.coef_, w, atol=0.05)
    assert_allclose(model.noise_variance_, 0.25, rtol=0.1)
    assert 2 < model.prior_variance_ < 8


# --- unknown noise ---------------------------------------------------------------------------


def test_normal_inverse_gamma_by_the_formulas():
    X, y = data()
    D, V = design(X), 2.0 * np.eye(4)
    model = BayesianLinearRegression(
        prior_covariance=2.0, noise_variance=InverseGamma(1.5, 2.0)
    ).fit(X, y)
    marginal = stats.multivariate_t(np.zeros(40), 2 / 1.5 * (np.eye(40) + D @ V @ D.T), df=3)
    assert_allclose(model.log_evidence_, marginal.logpdf(y), rtol=1e-9)
    Vn = np.linalg.inv(np.linalg.inv(V) + D.T @ D)
    mn = Vn @ D.T @ y
    a, b = 1.5 + 20, 2.0 + (y @ y - mn @ np.linalg.solve(Vn, mn)) / 2
    assert_allclose(model.mean_, mn, rtol=1e-8)
    assert_allclose([model.noise_posterior_.a, model.noise_posterior_.b], [a, b], rtol=1e-8)
    assert_allclose(model.noise_variance_, b / (a - 1), rtol=1e-8)
    rows = np.array([[0.0, 1, 2], [9, 9, 9]])
    h = ((design(rows) @ Vn) * design(rows)).sum(axis=1)
    student = stats.t(2 * a, loc=design(rows) @ mn, scale=np.sqrt(b / a * (1 + h)))
    expected = np.column_stack(student.interval(0.9))
    assert_allclose(model.predict_interval(rows, confidence=0.9), expected, rtol=1e-8)
    assert_allclose(model.predict(rows, return_std=True)[1], student.std(), rtol=1e-8)
    line = stats.t(2 * a, loc=mn, scale=np.sqrt(b / a * np.diag(Vn))).interval(0.9)
    summary = model.summary(confidence=0.9)
    assert_allclose([summary.low, summary.high], line, rtol=1e-7)
    draws = model.sample_coefficients(20_000)
    assert_allclose(draws.mean(axis=0), mn, atol=0.02)
    assert_allclose(np.cov(draws.T), model.covariance_, atol=0.002)


def test_vague_inverse_gamma_gives_the_t_intervals():
    X, y = data()
    prior = np.full(4, np.inf)
    tiny = InverseGamma(1e-9, 1e-9)
    model = BayesianLinearRegression(prior_covariance=prior, noise_variance=tiny).fit(X, y)
    ols = LinearRegression().fit(X, y)
    assert_allclose(model.predict_interval(X), ols.predict_interval(X), rtol=1e-6)
    assert_allclose(model.summary().low, ols.summary().low, rtol=1e-6)


def test_evidence_with_inverse_gamma():
    X, y = data()
    noise = InverseGamma(2.0, 1.0)
    model = BayesianLinearRegression(noise_variance=noise).fit(X, y)
    for t in np.geomspace(1e-4, 1e4, 60):
        V = np.append(np.inf, np.full(3, t))
        other = BayesianLinearRegression(prior_covariance=V, noise_variance=noise).fit(X, y)
        assert other.log_evidence_ <= model.log_evidence_ + 1e-9
    assert "InverseGamma" in str(model.card())


# --- batches, weights, draws -----------------------------------------------------------------


@pytest.mark.parametrize(
    "params",
    [
        {},
        {"prior_covariance": 3.0, "noise_variance": 0.4},
        {"prior_covariance": 3.0, "noise_variance": InverseGamma(1.0, 1.0)},
        {"prior_covariance": 3.0, "noise_variance": 0.4, "fit_intercept": False},
    ],
)
@pytest.mark.filterwarnings("ignore::UserWarning")  # the first few rows are fitted exactly
def test_batches_in_any_order(params):
    X, y = data(60)
    w = np.random.default_rng(0).integers(1, 4, size=60).astype(float)
    whole = BayesianLinearRegression(**params).fit(X, y, sample_weight=w)
    for seed, size in ((0, 1), (1, 7), (2, 30)):
        order = np.random.default_rng(seed).permutation(60)
        model = BayesianLinearRegression(**params)
        for start in range(0, 60, size):
            rows = order[start : start + size]
            model.partial_fit(X[rows], y[rows], sample_weight=w[rows])
        assert_allclose(model.mean_, whole.mean_, rtol=1e-7)
        assert_allclose(model.covariance_, whole.covariance_, rtol=1e-6, atol=1e-12)
        assert_allclose(model.log_evidence_, whole.log_evidence_, rtol=1e-7)


def test_posterior_becomes_prior():
    X, y = data(60)
    first = BayesianLinearRegression(prior_covariance=3.0, noise_variance=0.4).fit(X[:20], y[:20])
    second = BayesianLinearRegression(
        prior_mean=first.mean_, prior_covariance=first.covariance_, noise_variance=0.4
    ).fit(X[20:], y[20:])
    assert_allclose(second.mean_, first.partial_fit(X[20:], y[20:]).mean_, rtol=1e-8)


def test_weights_are_repetitions():
    X, y = data(50)
    w = np.random.default_rng(0).integers(0, 4, size=50)
    a = BayesianLinearRegression().fit(X, y, sample_weight=w)
    b = BayesianLinearRegression().fit(np.repeat(X, w, axis=0), np.repeat(y, w))
    assert_allclose(a.mean_, b.mean_, rtol=1e-7)
    assert_allclose(a.log_evidence_, b.log_evidence_, rtol=1e-8)


def test_draws_have_the_posterior_moments():
    X, y = data()
    model = BayesianLinearRegression(prior_covariance=2.0, noise_variance=0.5).fit(X, y)
    draws = model.sample_coefficients(50_000, random_state=1)
    assert draws.shape == (50_000, 4)
    assert_allclose(draws.mean(axis=0), model.mean_, atol=0.01)
    assert_allclose(np.cov(draws.T), model.covariance_, atol=0.002)
    assert_array_equal(model.sample_coefficients(3), model.sample_coefficients(3))
    rows = np.array([[0.0, 0, 0], [20, 20, 20]])
    mean, sd = model.predict(rows, return_std=True)
    drawn = model.sample_y(rows, n_samples=50_000)
    assert_allclose(drawn.mean(axis=1), mean, atol=0.1)
    assert_allclose(drawn.std(axis=1), sd, rtol=0.02)
    assert sd[1] > sd[0]


def test_summary_and_intervals():
    X, y = data()
    model = BayesianLinearRegression().fit(X, y)
    summary = model.summary()
    assert summary.names == ("intercept", "x0", "x1", "x2")
    assert_allclose(summary.standard_error, np.sqrt(np.diag(model.covariance_)))
    new, line = model.predict_interval(X), model.predict_interval(X, kind="mean")
    assert (new[:, 0] < line[:, 0]).all()
    assert_allclose(new.mean(axis=1), model.predict(X))


# --- degenerate and bad input ----------------------------------------------------------------


def test_degenerate_tables_fit():
    X, y = data(50)
    constant = np.column_stack([X, np.full(50, 3.0)])
    model = BayesianLinearRegression().fit(constant, y)
    assert_allclose(model.coef_[-1], 0, atol=1e-12)
    assert_allclose(model.coef_[:3], BayesianLinearRegression().fit(X, y).coef_, rtol=1e-6)
    twice = BayesianLinearRegression().fit(np.column_stack([X, X]), y)
    assert_allclose(twice.coef_[:3], twice.coef_[3:], rtol=1e-6)
    wide = BayesianLinearRegression().fit(np.random.default_rng(0).normal(size=(8, 30)), y[:8])
    assert np.isfinite(wide.log_evidence_)
    with pytest.warns(UserWarning, match="nothing is left"):
        one = BayesianLinearRegression().fit(X[:1], y[:1])
    assert_allclose(one.predict(X[:1]), y[:1])
    with pytest.warns(UserWarning, match="nothing is left"):
        BayesianLinearRegression().fit(X, np.full(50, 2.0))
    with pytest.warns(UserWarning, match="fitted exactly"):
        exact = BayesianLinearRegression().fit(X, X @ [1.0, 2, 3] + 4)
    assert_allclose(exact.coef_, [1, 2, 3], rtol=1e-5)
    assert_allclose(
        BayesianLinearRegression().fit(sparse.csr_matrix(X), y).mean_,
        BayesianLinearRegression().fit(X, y).mean_, rtol=1e-9,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"prior_covariance": -1.0}, "prior_covariance must be >= 0"),
        ({"prior_covariance": np.diag([1.0, 1, -1, 1])}, "semi-definite"),
        ({"prior_covariance": np.ones((2, 2))}, r"got shape \(2, 2\)"),
        ({"prior_covariance": np.diag([np.inf, 1, 1, 1])}, "finite symmetric"),
        ({"prior_covariance": np.triu(np.ones((4, 4)))}, "symmetric"),
        ({"prior_covariance": [1.0, np.nan, 1, 1]}, "NaN"),
        ({"prior_covariance": "ridge"}, "prior_covariance must be one of 'evidence'"),
        ({"prior_mean": [1.0, 2.0]}, r"prior_mean must be a number or 4"),
        ({"prior_mean": "zero"}, "prior_mean"),
        ({"prior_mean": np.inf}, "prior_mean must be finite"),
        ({"noise_variance": 0.0}, "noise_variance must be > 0"),
        ({"noise_variance": np.inf}, "noise_variance must be finite"),
    ],
)
def test_refusals(params, message):
    X, y = data()
    with pytest.raises(ValueError, match=message):
        BayesianLinearRegression(**params).fit(X, y)


def test_inverse_gamma_refuses():
    with pytest.raises(ValueError, match="a must be > 0"):
        InverseGamma(0.0, 1.0)


# --- coverage --------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("noise", ["known", "gamma"])
def test_intervals_cover_when_the_prior_is_true(noise):
    rng = np.random.default_rng(0)
    inside, new = [], []
    for _ in range(1500):
        s2 = 0.5 if noise == "known" else 2.0 / rng.gamma(3.0)
        unit = 1.0 if noise == "known" else s2
        theta = rng.normal(size=4) * np.sqrt(2.0 * unit)
        X = rng.normal(size=(12, 3))
        y = design(X) @ theta + np.sqrt(s2) * rng.normal(size=12)
        given = 0.5 if noise == "known" else InverseGamma(3.0, 2.0)
        model = BayesianLinearRegression(prior_covariance=2.0, noise_variance=given).fit(X, y)
        summary = model.summary()
        inside.append((summary.low <= theta) & (theta <= summary.high))
        rows = rng.normal(size=(5, 3))
        again = design(rows) @ theta + np.sqrt(s2) * rng.normal(size=5)
        low, high = model.predict_interval(rows).T
        new.append((low <= again) & (again <= high))
    assert abs(np.mean(inside) - 0.95) < 0.012
    assert abs(np.mean(new) - 0.95) < 0.012


@pytest.mark.parametrize("n_samples", [0, -1, 2.5, "many"])
def test_a_number_of_draws_is_whole(n_samples):
    X = np.arange(12.0)[:, None]
    model = BayesianLinearRegression().fit(X, X[:, 0] + np.cos(X[:, 0]))
    with pytest.raises(ValueError, match="n_samples must be"):
        model.sample_y(X, n_samples=n_samples)
