"""Bridge regression: any exponent, both forms, budgets, local minima."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize
from sklearn.linear_model import Lasso, Ridge

from pellucid import BridgeRegression
from pellucid.linear import Budget
from pellucid.linear.penalties.bridge_kernels import bridge_minimum, bridge_value

R = np.array(
    [(1, 2, 1), (2, 1, 0), (3, 4, 1), (4, 3, 1), (5, 6, 0), (6, 5, 2), (7, 8, 1), (8, 6, 3)], float
)
Y = np.array([3, 2, 6, 5, 9, 8, 12, 13], float)


def data(n=60, p=5, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) @ (np.eye(p) + 0.4 * rng.normal(size=(p, p)))
    return X, X @ np.array([2.0, -1.0, 0.5, 0.0, 0.0])[:p] + rng.normal(size=n) + 3


def objective(model, X, y, w):
    r = (y - y.mean()) - (X - X.mean(axis=0)) @ w
    size = (np.abs(w) ** model.q).sum()
    size = size if model.form == "power" else size ** (1 / model.q)
    return r @ r / (2 * len(y)) + model.alpha_ * size


def test_example_15():
    assert_allclose(
        BridgeRegression(0.1, q=1.5).fit(R, Y).coef_, [0.67004534, 0.91609463, 0.40671953],
        atol=1e-7,
    )  # fmt: skip


@pytest.mark.parametrize(("n", "p"), [(60, 5), (10, 30)])
def test_lasso_and_ridge_are_special_cases(n, p):
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(n, p)), rng.normal(size=n)
    lasso = Lasso(0.1, tol=1e-13, max_iter=100_000).fit(X, y)
    for form in ("power", "norm"):
        model = BridgeRegression(0.1, q=1, form=form, tol=1e-12, max_iter=100_000).fit(X, y)
        assert_allclose(model.coef_, lasso.coef_, atol=1e-8)
    ridge = Ridge(2 * n * 0.1).fit(X, y)
    assert_allclose(BridgeRegression(0.1, q=2).fit(X, y).coef_, ridge.coef_, atol=1e-10)


@pytest.mark.parametrize("q", [1.1, 1.5, 2.5, 4.0])
@pytest.mark.parametrize("form", ["power", "norm"])
def test_the_gradient_vanishes(q, form):
    X, y = data()
    model = BridgeRegression(0.3, q=q, form=form).fit(X, y)
    w = model.coef_
    r = y - model.predict(X)
    slope = q * np.abs(w) ** (q - 1) * np.sign(w)
    if form == "norm":
        slope *= (np.abs(w) ** q).sum() ** (1 / q - 1) / q
    assert_allclose(X.T @ r / len(y), 0.3 * slope, atol=1e-9)


@pytest.mark.parametrize("form", ["power", "norm"])
def test_a_general_optimiser_finds_nothing_better(form):
    X, y = data()
    for q in (1.3, 3.0):
        model = BridgeRegression(0.4, q=q, form=form).fit(X, y)
        best = objective(model, X, y, model.coef_)
        for seed in range(3):
            start = np.random.default_rng(seed).normal(size=5)
            other = minimize(lambda w, m=model: objective(m, X, y, w), start, tol=1e-12)
            assert other.fun >= best - 1e-9


def test_the_norm_form_is_zero_from_the_dual_norm_on():
    X, y = data()
    q, dual = 1.5, 3.0
    c = (X - X.mean(axis=0)).T @ (y - y.mean()) / len(y)
    edge = (np.abs(c) ** dual).sum() ** (1 / dual)
    assert not BridgeRegression(edge * 1.0001, q=q, form="norm").fit(X, y).coef_.any()
    assert BridgeRegression(edge * 0.999, q=q, form="norm").fit(X, y).coef_.any()


@pytest.mark.parametrize("norm", [False, True])
@pytest.mark.parametrize("q", [0.1, 0.5, 0.9, 1.0, 1.7])
def test_one_coefficient_is_minimised_globally(q, norm):
    rng = np.random.default_rng(2)
    for _ in range(40):
        d, b, t, S = rng.uniform(0.1, 3, size=4)
        w = bridge_minimum(d, b, t, q, S, norm)
        grid = np.linspace(0, b / d, 20_001)
        penalty = t * (S + grid**q) ** (1 / q) if norm else t * grid**q
        lowest = (d * grid**2 / 2 - b * grid + penalty).min()
        assert bridge_value(w, d, b, t, q, S, norm) <= lowest + 1e-9


def test_below_one_minima_are_listed_and_each_is_a_minimum():
    model = BridgeRegression(0.3, q=0.5, random_state=0).fit(R, Y)
    values = [m.objective for m in model.local_minima_]
    assert len(values) >= 2
    assert values == sorted(values)
    assert "local" in model.card().optimisation
    rng = np.random.default_rng(0)
    for found in model.local_minima_:
        here = objective(model, R, Y, found.coef)
        assert_allclose(here, found.objective, rtol=1e-9)
        for _ in range(50):
            assert objective(model, R, Y, found.coef + 1e-4 * rng.normal(size=3)) >= here


def test_below_one_selects_the_planted_columns():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(200, 12))
    y = X[:, [1, 4, 7]] @ [3.0, -2.0, 2.0] + 0.3 * rng.normal(size=200)
    model = BridgeRegression(0.1, q=0.5, random_state=0).fit(X, y)
    assert list(np.flatnonzero(model.coef_)) == [1, 4, 7]


@pytest.mark.parametrize("q", [1.0, 1.5, 3.0])
def test_budget(q):
    X, y = data()
    model = BridgeRegression(Budget(fraction=0.4), q=q, tol=1e-12, max_iter=100_000).fit(X, y)
    assert_allclose(model.budget_, 0.4 * model.budget_ols_, rtol=1e-8)
    again = BridgeRegression(model.alpha_, q=q, tol=1e-12, max_iter=100_000).fit(X, y)
    assert_allclose(again.coef_, model.coef_, atol=1e-9)
    loose = BridgeRegression(Budget(1e9), q=q, tol=1e-12, max_iter=100_000).fit(X, y)
    assert loose.alpha_ == 0
    for bad in ({"q": 0.5}, {"form": "norm"}):
        with pytest.raises(ValueError, match=r"q >= 1"):
            BridgeRegression(Budget(1.0), **bad).fit(X, y)


def test_a_budget_of_nothing_to_spend_and_constant_columns():
    X, y = data()
    X[:, 2] = 7.0
    model = BridgeRegression(0.1).fit(X, y)
    assert model.coef_[2] == 0
    flat = BridgeRegression(0.1).fit(X, np.ones(len(y)))
    assert not flat.coef_.any()
    assert flat.intercept_ == 1
