"""Theil-Sen: scikit-learn, the zero of the pulls, bad rows, subsets, endings."""

import numpy as np
import pytest
import sklearn.linear_model
from numpy.testing import assert_allclose

from pellucid import LinearRegression, TheilSenRegressor
from pellucid.linear.robust.theil_sen_regressor import Median, distances, fit_subsets, median_step


def table(n=30, p=1, bad=0, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    y = 1 + X @ np.arange(1.0, p + 1) + 0.1 * rng.normal(size=n)
    y[:bad] += rng.uniform(20, 60, size=bad)
    return X, y


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("p", [1, 2])
def test_same_as_scikit_learn_on_all_subsets(p, intercept):
    X, y = table(20, p)
    ours = TheilSenRegressor(fit_intercept=intercept).fit(X, y)
    theirs = sklearn.linear_model.TheilSenRegressor(
        fit_intercept=intercept, tol=1e-10, max_iter=10_000
    ).fit(X, y)
    assert_allclose(ours.coef_, theirs.coef_, atol=1e-5)
    assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-5)
    assert ours.n_subpopulation_ == theirs.n_subpopulation_
    assert_allclose(ours.breakdown_, theirs.breakdown_)


def test_the_pulls_of_the_planes_cancel():
    X, y = table(25, 2)
    model = TheilSenRegressor(tol=1e-9).fit(X, y)
    D = np.column_stack([np.ones(25), X])
    subsets = np.array([[i, j, k] for i in range(25) for j in range(i) for k in range(j)])
    P = fit_subsets(D, y, subsets)
    at = np.append(model.intercept_, model.coef_)
    pull = ((P - at) / distances(P, at)[:, None]).sum(axis=0)
    assert np.abs(pull).max() < 1e-5 * len(P)
    assert (np.diff(model.history_["objective"]) <= 0).all()


def test_subsets_are_least_squares_of_least_norm():
    X, y = table(9, 4)
    X[3] = X[2]
    rows = np.array([[0, 2, 3], [1, 4, 5]])
    found = fit_subsets(X, y, rows)
    for each, subset in zip(found, rows, strict=True):
        assert_allclose(each, np.linalg.lstsq(X[subset], y[subset], rcond=None)[0], atol=1e-9)


def test_bad_rows_do_not_move_it():
    X, y = table(200, 2, bad=20)
    model = TheilSenRegressor(random_state=0).fit(X, y)
    assert_allclose(model.coef_, [1, 2], atol=0.1)
    assert np.abs(LinearRegression().fit(X, y).intercept_ - 1) > 2
    again = TheilSenRegressor(random_state=0).fit(X, y)
    assert_allclose(again.coef_, model.coef_, rtol=0, atol=0)


def test_all_rows_are_least_squares():
    X, y = table(12, 2)
    model = TheilSenRegressor(n_subsamples=12).fit(X, y)
    assert_allclose(model.coef_, LinearRegression().fit(X, y).coef_, atol=1e-9)
    assert model.n_subpopulation_ == 1


def test_a_point_can_be_the_median():
    P = np.array([[0.0, 0.0], [1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]])
    start = Median(np.zeros(2), float(distances(P, np.zeros(2)).sum()))
    assert median_step(P, start)[1] == 0.0
    away = Median(np.array([1.0, 0.0]), float(distances(P, np.array([1.0, 0.0])).sum()))
    for _ in range(60):
        away, _ = median_step(P, away)
    assert_allclose(away.at, 0, atol=1e-6)


def test_too_few_steps_warn():
    X, y = table(60, 3, bad=10)
    with pytest.warns(sklearn.exceptions.ConvergenceWarning, match="max_iter=1"):
        model = TheilSenRegressor(max_iter=1, random_state=0).fit(X, y)
    assert "did not converge" in model.card().warnings[0]


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({"n_subsamples": 1}, r"Invalid parameter since n_features\+1 > n_subsamples \(2 > 1\)"),
        ({"n_subsamples": 31}, "Invalid parameter"),
        ({"max_subpopulation": 0.5}, "max_subpopulation must be >= 1"),
        ({"tol": -1.0}, "tol must be >= 0"),
    ],
)
def test_bad_parameters(params, words):
    with pytest.raises(ValueError, match=words):
        TheilSenRegressor(**params).fit(*table())
