"""Conformal prediction: definitions by brute force, MAPIE, laws, frames and refusals."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from joblib import parallel_config
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.compose import make_column_transformer
from sklearn.ensemble import GradientBoostingRegressor
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold, LeaveOneOut
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

import pellucid
from pellucid import (
    ConformalClassifier,
    ConformalRegressor,
    GaussianNB,
    LinearRegression,
    QuantileRegressor,
    Ridge,
    RidgeCV,
)
from pellucid.core.runtime.threads import limit_threads
from pellucid.evaluation import conformal_quantile
from pellucid.evaluation.conformal.conformal_scores import leave_out_interval
from pellucid.evaluation.conformal.shifted_order import shifted_rank

rng = np.random.default_rng(0)
X = rng.normal(size=(120, 3))
y = X @ [1.0, 2.0, 0.0] + rng.normal(size=120)
NEW = rng.normal(size=(15, 3))
LABELS = np.array(["ant", "bee", "cat"])[rng.integers(3, size=150)]
Z = rng.normal(size=(150, 4)) + 1.3 * (LABELS[:, None] == ["ant", "bee", "cat", "?"])


def test_example_13():
    scores = [0.1, 0.5, 0.3, 0.9, 0.7, 0.2, 0.4, 0.8, 0.6]
    assert conformal_quantile(scores, 0.8) == 0.8
    assert conformal_quantile(scores, 0.9) == 0.9
    with pytest.warns(UserWarning, match="9 calibration rows cannot support.*at least 19"):
        assert conformal_quantile(scores, 0.95) == np.inf


@pytest.mark.parametrize("n", [1, 7, 19, 20, 99, 100])
def test_quantile_definition(n):
    scores = rng.normal(size=n)
    for confidence in (0.1, 0.25, 0.5):
        rank = next(k for k in range(1, n + 2) if k >= (n + 1) * confidence - 1e-9)
        if rank <= n:
            assert conformal_quantile(scores, confidence) == np.sort(scores)[rank - 1]


# --- the methods, by their definitions --------------------------------------------------------


def test_split_by_hand():
    model = ConformalRegressor(Ridge(), confidence=0.8, random_state=3).fit(X, y)
    kept = np.sort(np.random.default_rng(3).permutation(120)[:30])
    train = np.setdiff1d(np.arange(120), kept)
    inner = Ridge().fit(X[train], y[train])
    q = conformal_quantile(np.abs(y[kept] - inner.predict(X[kept])), 0.8)
    centre = inner.predict(NEW)
    assert_allclose(model.predict(NEW), centre)
    assert_allclose(model.predict_interval(NEW), np.column_stack([centre - q, centre + q]))
    assert model.n_calibration_ == 30
    wide, narrow = model.predict_interval(NEW, 0.9), model.predict_interval(NEW, 0.5)
    assert (wide[:, 0] < narrow[:, 0]).all()
    assert (wide[:, 1] > narrow[:, 1]).all()


def plus_by_definition(make, splits, confidence):
    low, high = [], []
    for train, test in splits:
        inner = make().fit(X[train], y[train])
        size = np.abs(y[test] - inner.predict(X[test]))
        said = inner.predict(NEW)[:, None]
        low.append(said - size)
        high.append(said + size)
    low, high = np.sort(np.hstack(low), axis=1), np.sort(np.hstack(high), axis=1)
    a, n = 1 - confidence, 120
    lower = low[:, int(np.floor(a * (n + 1) + 1e-9)) - 1]
    return np.column_stack([lower, high[:, int(np.ceil((1 - a) * (n + 1) - 1e-9)) - 1]])


@pytest.mark.parametrize("confidence", [0.5, 0.9])
def test_cv_plus_by_definition(confidence):
    model = ConformalRegressor(Ridge(), method="cv+").fit(X, y)
    expected = plus_by_definition(Ridge, KFold(5).split(X), confidence)
    assert_allclose(model.predict_interval(NEW, confidence), expected)
    assert_allclose(model.predict(NEW), Ridge().fit(X, y).predict(NEW))


@pytest.mark.parametrize(
    "make",
    [LinearRegression, Ridge, lambda: Ridge(50.0, fit_intercept=False), RidgeCV,
     lambda: KNeighborsRegressor(3)],
)  # fmt: skip
def test_jackknife_plus_by_definition(make):
    """Least squares and ridge without a refit, the others with: the same definition."""
    model = ConformalRegressor(make(), method="jackknife+").fit(X, y)
    expected = plus_by_definition(make, LeaveOneOut().split(X), 0.9)
    assert_allclose(model.predict_interval(NEW, 0.9), expected, atol=1e-9)
    closed = type(model.estimator_) in (LinearRegression, Ridge)
    assert hasattr(model, "rows_") == closed
    assert hasattr(model, "estimators_") != closed


def test_jackknife_plus_refits_a_row_of_leverage_one():
    x = X.copy()
    x[:, 2] = 0.0
    x[7, 2] = 1.0
    model = ConformalRegressor(LinearRegression(), method="jackknife+").fit(x, y)
    assert len(model.estimators_) == 120
    assert np.isfinite(model.predict_interval(NEW)).all()


def test_normalised_follows_the_noise():
    x = rng.uniform(0, 4, size=(600, 1))
    t = x[:, 0] + (0.1 + x[:, 0]) * rng.normal(size=600)
    model = ConformalRegressor(
        LinearRegression(), method="normalised", confidence=0.9, random_state=0
    ).fit(x, t)
    width = np.ptp(model.predict_interval([[0.3], [2.0], [3.7], [50.0]]), axis=1)
    assert width[0] < width[1] < width[2]
    assert width[3] < 1.5 * width[2]  # no scale beyond what was seen
    held = np.sort(np.random.default_rng(0).permutation(600)[:150])
    scale = np.exp(model.scale_estimator_.predict(x[held]))
    assert_allclose(model.scores_, np.abs(t[held] - model.predict(x[held])) / scale)


@pytest.mark.parametrize(
    "inner",
    [
        QuantileRegressor(alpha=0.0),
        GradientBoostingRegressor(loss="quantile", n_estimators=20, random_state=0),
        make_pipeline(pellucid.StandardScaler(), QuantileRegressor(alpha=0.0)),
    ],
)
def test_quantile_by_hand(inner):
    model = ConformalRegressor(inner, method="quantile", confidence=0.8, random_state=1).fit(X, y)
    low, high = (m.predict(NEW) for m in model.estimators_)
    low, high = np.minimum(low, high), np.maximum(low, high)
    q = conformal_quantile(model.scores_, 0.8)
    found = model.predict_interval(NEW)
    middle = (low + high) / 2
    assert_allclose(found[:, 0], np.minimum(low - q, middle))
    assert_allclose(found[:, 1], np.maximum(high + q, middle))
    assert (found[:, 0] <= found[:, 1]).all()
    assert (found[:, 0] <= model.predict(NEW) + 1e-9).mean() > 0.8


def test_quantile_needs_a_quantile():
    with pytest.raises(ValueError, match=r"quantile parameter.*Ridge has none"):
        ConformalRegressor(Ridge(), method="quantile").fit(X, y)


# --- MAPIE ------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore")
def test_mapie_split_and_plus():
    from mapie.regression import CrossConformalRegressor, SplitConformalRegressor

    ours = ConformalRegressor(Ridge(), confidence=0.9, random_state=0).fit(X, y)
    kept = np.sort(np.random.default_rng(0).permutation(120)[:30])
    theirs = SplitConformalRegressor(ours.estimator_, confidence_level=0.9, prefit=True)
    theirs.conformalize(X[kept], y[kept])
    assert_allclose(ours.predict_interval(NEW), theirs.predict_interval(NEW)[1][:, :, 0])
    for method, cv in (("cv+", KFold(5)), ("jackknife+", LeaveOneOut())):
        mine = ConformalRegressor(Ridge(), method=method, confidence=0.9).fit(X, y)
        peer = CrossConformalRegressor(Ridge(), confidence_level=0.9, method="plus", cv=cv)
        peer.fit_conformalize(X, y)
        assert_allclose(mine.predict_interval(NEW), peer.predict_interval(NEW)[1][:, :, 0])


@pytest.mark.filterwarnings("ignore")
def test_mapie_sets():
    """``lac``; MAPIE calibrates its ``aps`` with random scores, ours is not random."""
    from mapie.classification import SplitConformalClassifier

    ours = ConformalClassifier(GaussianNB(), confidence=0.8, random_state=0).fit(Z, LABELS)
    kept = np.sort(np.random.default_rng(0).permutation(150)[:38])
    theirs = SplitConformalClassifier(
        ours.estimator_, confidence_level=0.8, prefit=True, conformity_score="lac"
    )
    theirs.conformalize(Z[kept], LABELS[kept])
    assert_array_equal(ours.predict_set(Z), theirs.predict_set(Z)[1][:, :, 0])


# --- sets -------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["lac", "aps", "class"])
def test_sets_by_definition(method):
    model = ConformalClassifier(GaussianNB(), method=method, confidence=0.8, random_state=2)
    model.fit(Z, LABELS)
    P = model.predict_proba(Z)
    expected = np.zeros_like(P, dtype=bool)
    for i, k in np.ndindex(P.shape):
        own = model.scores_[model.labels_ == k] if method == "class" else model.scores_
        q = conformal_quantile(own, 0.8)
        score = P[i][P[i] >= P[i, k]].sum() if method == "aps" else 1 - P[i, k]
        expected[i, k] = score <= q + 1e-12 or (method == "aps" and P[i, k] == P[i].max())
    assert_array_equal(model.predict_set(Z), expected)
    larger = model.predict_set(Z, 0.9)
    assert (larger >= model.predict_set(Z, 0.5)).all()
    if method == "aps":
        assert model.predict_set(Z, 0.1).any(axis=1).all()


def test_a_rare_class_is_always_learnt():
    labels = np.array(["a"] * 99 + ["b"])
    x = rng.normal(size=(100, 2))
    for seed in range(12):
        model = ConformalClassifier(LogisticRegression(), method="class", random_state=seed)
        model.fit(x, labels)
        assert list(model.estimator_.classes_) == ["a", "b"]
        with pytest.warns(UserWarning, match="0 calibration rows of class b"):
            assert model.predict_set(x)[:, 1].all()  # nothing can rule it out


# --- shells -----------------------------------------------------------------------------------


def test_few_rows_are_infinite_with_a_warning():
    for method in ("split", "cv+", "jackknife+"):
        model = ConformalRegressor(Ridge(), method=method, random_state=0).fit(X[:12], y[:12])
        with pytest.warns(UserWarning, match="cannot support"):
            assert np.isinf(model.predict_interval(NEW)).all()


@pytest.mark.parametrize("method", ["split", "cv+", "jackknife+", "normalised"])
def test_same_for_any_n_jobs_threads_and_after_saving(method, tmp_path):
    model = ConformalRegressor(Ridge(), method=method, random_state=0).fit(X, y)
    expected = model.predict_interval(NEW, 0.8)
    other = ConformalRegressor(Ridge(), method=method, random_state=0, n_jobs=2)
    with parallel_config(backend="threading"):
        other.fit(X, y)
    with limit_threads(1):
        assert_array_equal(other.predict_interval(NEW, 0.8), expected)
    pellucid.save(model, tmp_path / "m.pellucid")
    assert_array_equal(pellucid.load(tmp_path / "m.pellucid").predict_interval(NEW, 0.8), expected)


@pytest.mark.parametrize("method", ["lac", "aps", "class"])
def test_saved_sets(method, tmp_path):
    model = ConformalClassifier(GaussianNB(), method=method, random_state=0).fit(Z, LABELS)
    pellucid.save(model, tmp_path / "m.pellucid")
    again = pellucid.load(tmp_path / "m.pellucid")
    assert_array_equal(again.predict_set(Z, 0.7), model.predict_set(Z, 0.7))


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_tables_with_text_reach_the_pipeline(frame):
    table = frame({"colour": np.array(["red", "blue", "green"])[rng.integers(3, size=120)],
                   "size": X[:, 0]})  # fmt: skip
    inner = make_pipeline(
        make_column_transformer(
            (OneHotEncoder(sparse_output=False), ["colour"]), remainder="passthrough"
        ),
        Ridge(),
    )
    model = ConformalRegressor(inner, method="cv+", confidence=0.9).fit(table, y)
    assert model.predict_interval(table).shape == (120, 2)


def test_another_fit_forgets_the_first():
    model = ConformalRegressor(Ridge(), method="jackknife+").fit(X, y)
    model.set_params(method="cv+").fit(X, y)
    assert not hasattr(model, "rows_")
    assert_array_equal(
        model.predict_interval(NEW, 0.9),
        ConformalRegressor(Ridge(), method="cv+").fit(X, y).predict_interval(NEW, 0.9),
    )


def test_selection_of_shifted_lists():
    """The compiled selection against a sort, with ties and empty folds."""
    for _ in range(30):
        K, n = int(rng.integers(1, 7)), int(rng.integers(1, 60))
        fold = rng.integers(K, size=n)
        size = np.round(rng.exponential(size=n), 1)
        shifts = np.round(rng.normal(size=(4, K)), 1)
        values = size[np.lexsort((size, fold))]
        starts = np.append(0, np.cumsum(np.bincount(fold, minlength=K)))
        table = np.sort(shifts[:, fold] + size, axis=1)
        for rank in {1, n, (n + 1) // 2}:
            assert_array_equal(shifted_rank(shifts, values, starts, rank), table[:, rank - 1])


def test_both_ways_to_leave_out_agree():
    fold, size = np.arange(400) % 5, rng.normal(size=400)
    said = rng.normal(size=(30, 5))
    few = leave_out_interval(said, fold, size, 0.9)
    many = leave_out_interval(said[:, fold], np.arange(400), size, 0.9)
    assert_array_equal(few, many)


def test_refusals():
    for options, word in [
        ({"method": "plus"}, "method must"),
        ({"confidence": 1.0}, "confidence must"),
        ({"calibration_size": 0.0}, "calibration_size must"),
        ({"calibration_size": 120}, "leaves 0 to fit"),
        ({"method": "cv+", "cv": [(np.arange(60), np.arange(60, 120))]}, "tested 0 times"),
        ({"method": "cv+", "cv": 121}, "n_samples=120"),
    ]:
        with pytest.raises(ValueError, match=word):
            ConformalRegressor(Ridge(), **options).fit(X, y)
    with pytest.raises(ValueError, match="confidence must"):
        ConformalRegressor(Ridge()).fit(X, y).predict_interval(X, 1.5)
    with pytest.raises(ValueError, match="needs predict_proba"):
        ConformalClassifier(Ridge()).fit(Z, LABELS)
    with pytest.raises(ValueError, match="one class"):
        ConformalClassifier(GaussianNB()).fit(Z, np.full(150, "ant"))
    with pytest.raises(ValueError, match="NaN"):
        conformal_quantile([0.1, np.nan], 0.5)


def test_exact_fit():
    """No error anywhere: intervals of no width, and no warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for method in ("split", "cv+", "jackknife+", "normalised"):
            model = ConformalRegressor(LinearRegression(), method=method, random_state=0)
            found = model.fit(X, X[:, 0]).predict_interval(NEW, 0.8)
            assert_allclose(found[:, 0], NEW[:, 0], atol=1e-9)
            assert_allclose(found[:, 1], NEW[:, 0], atol=1e-9)
