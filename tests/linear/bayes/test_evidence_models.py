"""BayesianRidge and ARDRegression: scikit-learn's iteration step by step, laws, recovery."""

import numpy as np
import pytest
import sklearn.linear_model
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import ConvergenceWarning

from pellucid import ARDRegression, BayesianLinearRegression, BayesianRidge, Ridge

CLASSES = [BayesianRidge, ARDRegression]
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def data(n=60, p=5, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) + 1
    w = np.where(np.arange(p) < 3, 2 * rng.normal(size=p), 0)
    return X, X @ w + 2 + 0.5 * rng.normal(size=n)


@pytest.mark.parametrize("cls", CLASSES)
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize(("n", "p"), [(60, 5), (20, 40), (30, 30)])
@pytest.mark.parametrize("max_iter", [1, 2, 300])
def test_equals_scikit_learn(cls, n, p, intercept, max_iter):
    X, y = data(n, p)
    params = {"compute_score": True, "fit_intercept": intercept, "max_iter": max_iter}
    model = cls(**params).fit(X, y)
    oracle = getattr(sklearn.linear_model, cls.__name__)(**params).fit(X, y)
    assert model.n_iter_ == oracle.n_iter_
    loose = 1e-6 if n == 60 or max_iter < 300 else 1e-4  # hundreds of steps near p > n
    for name in ("coef_", "intercept_", "alpha_", "lambda_", "sigma_"):
        theirs = getattr(oracle, name)
        size = np.abs(theirs).max(initial=0.0)
        assert_allclose(getattr(model, name), theirs, rtol=loose, atol=loose * size, err_msg=name)
    m = len(model.scores_) - (cls is BayesianRidge)  # scikit-learn's last one mixes two steps
    assert_allclose(model.scores_[:m], oracle.scores_[:m], rtol=1e-6, atol=1e-6)
    mean, sd = model.predict(X, return_std=True)
    assert_allclose(mean, oracle.predict(X), rtol=1e-4, atol=1e-4)
    assert_allclose(sd, oracle.predict(X, return_std=True)[1], rtol=1e-3)
    assert_allclose(model.X_offset_, oracle.X_offset_, atol=1e-12)
    assert_array_equal(model.X_scale_, np.ones(p))


@pytest.mark.parametrize(
    "params",
    [
        {"alpha_init": 0.3, "lambda_init": 5.0},
        {"alpha_1": 2.0, "alpha_2": 0.1, "lambda_1": 0.5, "lambda_2": 3.0},
        {"tol": 1e-10},
    ],
)
def test_priors_and_starts(params):
    X, y = data()
    model = BayesianRidge(**params).fit(X, y)
    oracle = sklearn.linear_model.BayesianRidge(**params).fit(X, y)
    assert_allclose(model.coef_, oracle.coef_, rtol=1e-9)
    assert_allclose([model.alpha_, model.lambda_], [oracle.alpha_, oracle.lambda_], rtol=1e-8)
    if "alpha_init" not in params:
        ours = ARDRegression(threshold_lambda=50.0, **params).fit(X, y)
        theirs = sklearn.linear_model.ARDRegression(threshold_lambda=50.0, **params).fit(X, y)
        assert_allclose(ours.coef_, theirs.coef_, rtol=1e-7, atol=1e-10)


def test_ridge_of_the_same_penalty():
    X, y = data()
    model = BayesianRidge().fit(X, y)
    ridge = Ridge(model.lambda_ / model.alpha_).fit(X, y)
    assert_allclose(model.coef_, ridge.coef_, rtol=1e-8)
    assert_allclose(model.intercept_, ridge.intercept_, rtol=1e-8)
    assert "Ridge(" in str(model.card())


def test_near_the_evidence_maximum():
    """With flat hyperpriors the fixed point is a maximum of nearly the same evidence."""
    X, y = data(2000)
    flat = {"alpha_1": 0, "alpha_2": 0, "lambda_1": 0, "lambda_2": 0, "tol": 1e-12}
    model, other = BayesianRidge(**flat).fit(X, y), BayesianLinearRegression().fit(X, y)
    assert_allclose(1 / model.alpha_, other.noise_variance_, rtol=1e-3)
    assert_allclose(1 / model.lambda_, other.prior_variance_, rtol=1e-3)
    scores = -model.history_["objective"]
    assert scores[-1] == pytest.approx(scores.max(), abs=1e-6)


@pytest.mark.parametrize("cls", CLASSES)
def test_weights_are_repetitions(cls):
    X, y = data()
    w = np.random.default_rng(0).integers(0, 4, size=60)
    a = cls().fit(X, y, sample_weight=w)
    b = cls().fit(np.repeat(X, w, axis=0), np.repeat(y, w))
    for name in ("coef_", "intercept_", "alpha_", "lambda_", "sigma_"):
        assert_allclose(getattr(a, name), getattr(b, name), rtol=1e-7, atol=1e-10)


def test_ard_finds_the_columns():
    X, y = data(300, 20)
    model = ARDRegression().fit(X, y)
    assert_array_equal(np.flatnonzero(np.abs(model.coef_) > 0.15), [0, 1, 2])
    assert len(model.sigma_) == (model.lambda_ < 1e4).sum()
    assert "columns kept" in str(model.card())
    assert (np.diff(model.history_["kept"]) <= 0).all()
    nothing = ARDRegression(threshold_lambda=0.0).fit(X, y)
    assert_array_equal(nothing.coef_, 0)
    assert nothing.sigma_.shape == (0, 0)
    assert_allclose(nothing.predict(X), y.mean())
    assert np.isfinite(nothing.predict(X, return_std=True)[1]).all()


@pytest.mark.parametrize("cls", CLASSES)
def test_summary_and_intervals(cls):
    X, y = data(500)
    model = cls().fit(X, y)
    low, high = model.predict_interval(X).T
    assert 0.92 < np.mean((low <= y) & (y <= high)) < 0.98
    line = model.predict_interval(X, kind="mean")
    assert (line[:, 1] - line[:, 0] < high - low).all()
    summary = model.summary()
    live = model.lambda_ < 1e4 if cls is ARDRegression else np.ones(5, dtype=bool)
    assert_allclose(summary.standard_error[live], np.sqrt(np.diag(model.sigma_)))


@pytest.mark.parametrize("cls", CLASSES)
def test_degenerate(cls):
    X, y = data()
    constant = cls().fit(np.column_stack([X, np.ones(60)]), y)
    assert_allclose(constant.coef_[-1], 0, atol=1e-12)
    same = cls().fit(X, np.full(60, 3.0))
    assert_allclose(same.predict(X), 3.0)
    one = cls().fit(X[:1], y[:1])
    assert_allclose(one.predict(X[:1]), y[:1])
    only = cls().fit(np.ones((10, 2)), np.arange(10.0))
    assert_allclose(only.predict(np.ones((1, 2))), 4.5)
    zero = {"alpha_1": 0.0, "alpha_2": 0.0, "lambda_1": 0.0, "lambda_2": 0.0}
    exact = cls(**zero).fit(X, X @ np.ones(5))
    assert_allclose(exact.coef_, 1.0, rtol=1e-6)
    with pytest.warns(ConvergenceWarning, match="max_iter=2"):
        cls(max_iter=2, tol=0.0).fit(X, y)


@pytest.mark.parametrize(
    ("cls", "params"),
    [
        (BayesianRidge, {"alpha_init": -1.0}),
        (BayesianRidge, {"lambda_init": 0.0}),
        (BayesianRidge, {"tol": -1.0}),
        (ARDRegression, {"threshold_lambda": -1.0}),
        (ARDRegression, {"max_iter": 0}),
    ],
)
def test_refusals(cls, params):
    X, y = data()
    with pytest.raises(ValueError, match=next(iter(params))):
        cls(**params).fit(X, y)
