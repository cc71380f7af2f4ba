"""Elastic net: examples, oracles, the pair of budgets."""

import warnings

import cvxpy
import numpy as np
import pytest
import sklearn.linear_model
from lasso_tables import T, data
from linear_tables import R, Y, parameters
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from pellucid.linear import Budget, ElasticNet, LinearRegression, Ridge, convert_penalty
from pellucid.linear.lasso import fit as engine


@pytest.fixture(params=["sums", "rows"])
def route(request, monkeypatch):
    """Both engines on the same data."""
    if request.param == "rows":
        monkeypatch.setattr(engine, "FEW_COLUMNS", 0)
        monkeypatch.setattr(engine, "MANY_COLUMNS", 0)
    return request.param


def test_example_7_elastic_net_of_the_course(route):
    pair = convert_penalty(1, penalty="elastic_net", n_samples=3, source="half_rss", mix=0.5)
    assert_allclose(pair, (0.25, 1 / 3))
    model = ElasticNet(pair[0], l1_ratio=pair[1], shrink_intercept=True).fit(*T)
    assert_allclose(parameters(model), [0.7682926829, 1.3536585366], atol=1e-9)
    alpha, ratio = convert_penalty(
        10, penalty="elastic_net", n_samples=3, source="half_rss", mix=0.5
    )
    model = ElasticNet(alpha, l1_ratio=ratio, shrink_intercept=True).fit(*T)
    assert_allclose(parameters(model), [0.3169014085, 0.6549295775], atol=1e-9)
    assert "lambda = 10 and a = 0.5" in str(model.card())


def test_example_8_orthonormal_columns(route):
    Q = np.linalg.qr(np.random.default_rng(0).normal(size=(9, 5)))[0]
    X, y = Q[:, :4], Q[:, :4] @ [3.0, -0.4, 1.0, 0.0] + Q[:, 4]
    alpha, ratio = convert_penalty(
        1, penalty="elastic_net", n_samples=9, source="half_rss", mix=0.5
    )
    model = ElasticNet(alpha, l1_ratio=ratio, fit_intercept=False).fit(X, y)
    assert_allclose(model.coef_, [(3 - 0.25) / 1.5, -0.1, 0.5, 0], atol=1e-12)
    assert_allclose(model.coef_, [1.8333333, -0.1, 0.5, 0], atol=1e-7)


@pytest.mark.parametrize("positive", [False, True])
@pytest.mark.parametrize("ratio", [0.01, 0.5, 0.99])
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_scikit_learn_agrees(route, positive, ratio, kind):
    for n, p in ((80, 10), (30, 60)):
        X, y = data(n, p)
        w = np.random.default_rng(1).integers(0, 4, size=n)
        options = {"l1_ratio": ratio, "positive": positive}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            there = sklearn.linear_model.ElasticNet(0.2, tol=1e-14, max_iter=200_000, **options)
            there.fit(X, y, sample_weight=w)
        here = ElasticNet(0.2, **options).fit(kind(X), y, sample_weight=w)
        assert_allclose(here.coef_, there.coef_, atol=1e-7)
        assert_allclose(here.intercept_, there.intercept_, atol=1e-7)
        assert here.optimality(X, y, w) < 1e-10
        assert here.unique_


@pytest.mark.parametrize(("n", "p"), [(60, 8), (30, 70)])
def test_ratio_zero_is_ridge(route, n, p):
    X, y = data(n, p)
    model = ElasticNet(0.3, l1_ratio=0.0).fit(X, y)
    assert_allclose(parameters(model), parameters(Ridge(0.3 * n).fit(X, y)), atol=1e-9)
    assert model.dual_gap_ < 1e-12
    given = ElasticNet(0.3, l1_ratio=0.0).fit(sparse.csr_array(X), y)
    assert_allclose(given.coef_, model.coef_, atol=1e-9)


def test_keeps_a_correlated_group_and_more_columns_than_rows():
    rng = np.random.default_rng(0)
    z = rng.normal(size=(30, 1))
    X = np.hstack([z + 1e-3 * rng.normal(size=(30, 3)), rng.normal(size=(30, 100))])
    y = 3 * z[:, 0] + 0.5 * rng.normal(size=30)
    model = ElasticNet(0.02, l1_ratio=0.1).fit(X, y)
    assert np.ptp(model.coef_[:3]) < 0.05
    assert (model.coef_[:3] > 0.1).all()
    assert model.n_nonzero_ > 30


# --- the constrained form --------------------------------------------------------------------


def solved_by_cvxpy(X, y, t1, t2):
    w, b = cvxpy.Variable(X.shape[1]), cvxpy.Variable()
    bounds = [cvxpy.sum_squares(w) <= t1, cvxpy.norm1(w) <= t2]
    problem = cvxpy.Problem(cvxpy.Minimize(cvxpy.sum_squares(y - X @ w - b)), bounds)
    problem.solve(solver="CLARABEL")
    return w.value


@pytest.mark.parametrize(
    ("t1", "t2", "active"),
    [(1.0, 2.0, "both"), (0.5, 50.0, "squares"), (50.0, 1.0, "absolute"), (0.1, 0.5, "both")],
)
def test_pair_of_bounds(route, t1, t2, active):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 8)) + 2
    y = X @ [1.5, -1.0, 0.8, 0.5, 0.0, 0.0, 0.0, 0.1] + rng.normal(size=60)
    model = ElasticNet(Budget((t1, t2))).fit(X, y)
    squares, absolute = model.budget_
    assert squares <= t1 * (1 + 1e-10)
    assert absolute <= t2 * (1 + 1e-10)
    if active in ("both", "squares"):
        assert_allclose(squares, t1, rtol=1e-10)
    if active in ("both", "absolute"):
        assert_allclose(absolute, t2, rtol=1e-10)
    expected = {"squares": 0.0, "absolute": 1.0}
    if active in expected:
        assert model.l1_ratio_ == expected[active]
    else:
        assert 0 < model.l1_ratio_ < 1
    assert model.optimality(X, y) < 1e-8
    assert_allclose(model.coef_, solved_by_cvxpy(X, y, t1, t2), atol=2e-4)
    again = ElasticNet(model.alpha_, l1_ratio=model.l1_ratio_).fit(X, y)
    assert_allclose(again.coef_, model.coef_, atol=1e-9)


@pytest.mark.parametrize(("n", "p"), [(60, 8), (30, 70)])
def test_fraction_bounds_both(route, n, p):
    X, y = data(n, p)
    model = ElasticNet(Budget(fraction=0.4)).fit(X, y)
    assert (model.shrinkage_ <= 0.4 + 1e-9).all()
    assert_allclose(model.shrinkage_.max(), 0.4, rtol=1e-9)
    assert model.optimality(X, y) < 1e-8


def test_room_for_least_squares():
    model = ElasticNet(Budget((1e6, 1e6))).fit(R, Y)
    assert_allclose(model.coef_, LinearRegression().fit(R, Y).coef_, rtol=1e-9)
    assert model.alpha_ == 0


def test_bad_budget_and_ratio():
    with pytest.raises(ValueError, match="t1, t2"):
        ElasticNet(Budget(1.0)).fit(R, Y)
    with pytest.raises(ValueError, match="l1_ratio must be between 0 and 1"):
        ElasticNet(l1_ratio=1.5).fit(R, Y)
    with pytest.raises(ValueError, match="one bound"):
        Ridge(Budget((1.0, 2.0))).fit(R, Y)


def test_several_targets():
    X, Y = data(60, 8, k=2)
    model = ElasticNet(Budget((0.5, 1.0))).fit(X, Y)
    assert model.budget_.shape == (2, 2)
    assert model.alpha_.shape == model.l1_ratio_.shape == (2,)
    assert model.optimality(X, Y) < 1e-8
    for t in range(2):
        alone = ElasticNet(Budget((0.5, 1.0))).fit(X, Y[:, t])
        assert_allclose(model.coef_[t], alone.coef_, atol=1e-9)
