"""Stability selection: bounds against a linear programme, shares by hand, error control."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn.linear_model
from lars_tables import data
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import linprog
from sklearn.base import BaseEstimator
from sklearn.feature_selection import RFE

from pellucid.linear import Lars, LassoLars, stability_selection
from pellucid.linear.subsets.stability import chosen_columns, error_bounds, halves


class Odd(BaseEstimator):
    """Chooses columns by a rule that the test knows."""

    def __init__(self, kind="mask"):
        self.kind = kind

    def fit(self, X, y):
        best = np.argsort(-np.abs(np.asarray(X).T @ np.asarray(y)))[:2]
        if self.kind == "mask":
            self.support_ = np.isin(np.arange(np.shape(X)[1]), best)
        elif self.kind == "columns":
            self.support_ = best
        elif self.kind == "coef":
            self.coef_ = np.isin(np.arange(np.shape(X)[1]), best)[None, :] * 1.5
        return self


def unimodal_worst(mean, tau, B):
    """Largest P(share of pairs >= 2 tau - 1) of a unimodal law on {0, 1/B, .., 1} of this mean."""
    grid = np.arange(B + 1) / B
    best = 0.0
    for mode in range(B + 1):
        D = np.zeros((B, B + 1))
        for i in range(B):
            D[i, i], D[i, i + 1] = (1, -1) if i < mode else (-1, 1)
        found = linprog(
            -(grid >= 2 * tau - 1 - 1e-12).astype(float),
            A_ub=np.vstack([D, grid]), b_ub=np.append(np.zeros(B), mean),
            A_eq=np.ones((1, B + 1)), b_eq=[1.0],
        )  # fmt: skip
        if found.status == 0:
            best = max(best, -found.fun)
    return best


@pytest.mark.parametrize("tau", [0.6, 0.7, 0.75, 0.8, 0.9, 1.0])
@pytest.mark.parametrize("theta", [0.05, 0.2])
def test_the_bounds_hold_for_the_worst_law(tau, theta):
    p, B = 100, 20
    q = theta * p
    plain, unimodal = error_bounds(q, p, tau, B)
    worst = p * unimodal_worst(theta**2, tau, B)
    assert worst <= unimodal * (1 + 1e-9)
    assert worst >= 0.8 * unimodal  # and they are not far from sharp
    assert unimodal <= plain
    assert_allclose(plain, q**2 / ((2 * tau - 1) * p), rtol=1e-12)


def test_bounds_where_theory_has_none():
    assert error_bounds(60.0, 100, 0.9, 50)[0] == error_bounds(60.0, 100, 0.9, 50)[1]
    assert error_bounds(90.0, 100, 0.51, 50) == (100.0, 100.0)  # no more than all columns


@pytest.mark.parametrize("kind", ["mask", "columns", "coef"])
def test_shares_are_what_the_halves_say(kind):
    X, y = data(41, 6)
    record = stability_selection(Odd(kind), X, y, n_pairs=10, random_state=3)
    parts = halves(41, 10, np.random.default_rng(3))
    assert len(parts) == 20
    for a, b in zip(parts[::2], parts[1::2], strict=True):
        assert len(a) == len(b) == 20
        assert not set(a) & set(b)
    masks = [chosen_columns(Odd(kind).fit(X[rows], y[rows]), 6) for rows in parts]
    assert_allclose(record.share, np.mean(masks, axis=0))
    assert record.mean_chosen == 2.0
    assert_array_equal(record.support, record.share >= 0.75)
    assert record.chosen == tuple(f"x{j}" for j in np.flatnonzero(record.support))


def test_any_selector_of_either_library():
    X, y = data(80, 8)
    for selector in (
        LassoLars(0.3), Lars(n_nonzero_coefs=2), sklearn.linear_model.Lasso(0.3),
        RFE(sklearn.linear_model.LinearRegression(), n_features_to_select=2),
    ):  # fmt: skip
        record = stability_selection(selector, X, y, n_pairs=20, random_state=0)
        assert record.support[:2].all()
        assert record.share.shape == (8,)
    assert "too optimistic" in record.note


def test_frames_seeds_and_processes():
    X, y = data(60, 5)
    names = ["a", "b", "c", "d", "e"]
    plain = stability_selection(Lars(n_nonzero_coefs=2), X, y, n_pairs=10, random_state=1)
    for frame in (pd.DataFrame(X, columns=names), pl.DataFrame(X, schema=names)):
        record = stability_selection(
            Lars(n_nonzero_coefs=2), frame, y, n_pairs=10, random_state=1, n_jobs=2
        )
        assert_array_equal(record.share, plain.share)
        assert record.names == tuple(names)
        assert set(record.chosen) <= set(names)
    lists = stability_selection(
        Lars(n_nonzero_coefs=2), X.tolist(), y.tolist(), n_pairs=10, random_state=1
    )
    assert_array_equal(lists.share, plain.share)


def test_false_columns_stay_below_the_bound():
    """Pure noise and equal columns: exchangeable, so the mean number chosen obeys the bound."""
    rng = np.random.default_rng(0)
    false, bound = [], 0.0
    for _ in range(30):
        X, y = rng.normal(size=(60, 20)), rng.normal(size=60)
        record = stability_selection(
            Lars(n_nonzero_coefs=3), X, y, n_pairs=15, threshold=0.6, random_state=0
        )
        false.append(record.support.sum())
        bound = record.error_bound
    assert np.mean(false) <= bound


def test_recovers_the_signal():
    X, y = data(200, 40, seed=2)
    record = stability_selection(Lars(n_nonzero_coefs=5), X, y, random_state=0, threshold=0.9)
    assert record.support[:3].all()
    assert record.support[4:].sum() == 0
    assert record.unimodal_bound < record.error_bound < 1


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"threshold": 0.5}, "above 0.5 and at most 1, got 0.5"),
        ({"threshold": 1.5}, "above 0.5 and at most 1, got 1.5"),
        ({"n_pairs": 0}, "n_pairs must be a whole number >= 1, got 0"),
        ({"estimator": Odd("none")}, "needs an estimator with support_ or coef_"),
    ],
)
def test_bad_arguments_are_refused(params, message):
    X, y = data(20, 3)
    arguments = {"estimator": Lars(), **params}
    with pytest.raises(ValueError, match=message):
        stability_selection(arguments.pop("estimator"), X, y, **arguments)
    with pytest.raises(ValueError, match="at least 4 rows"):
        stability_selection(Lars(), X[:3], y[:3])
