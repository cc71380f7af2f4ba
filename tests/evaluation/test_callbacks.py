"""Callbacks on scikit-learn's protocol, and permutation importance."""

import logging

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.inspection import permutation_importance as theirs
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import pellucid
from pellucid import KMeans, SGDRegressor
from pellucid.evaluation import (
    Logger,
    Recorder,
    StopWhen,
    TimeLimit,
    ValidationStop,
    permutation_importance,
)


def problem(n=300, p=5, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    return X, X[:, 0] - 2 * X[:, 1] + rng.normal(size=n)


def sgd(**options):
    return SGDRegressor(random_state=0, tol=None, max_iter=60, **options)


def test_validation_stop_restores_the_best_step():
    X, y = problem(40, 30)  # few rows, many columns: it overfits after a while
    X_new, y_new = problem(300, 30, seed=1)
    record, stop = Recorder(), ValidationStop(X_new, y_new, metric="mse", patience=5)
    model = sgd(alpha=0.0).set_callbacks(stop, record).fit(X, y)
    steps, values = zip(*stop.scores, strict=True)
    assert steps == tuple(range(1, len(steps) + 1))
    assert stop.best_step == int(np.argmin(values)) + 1
    assert stop.best_score == min(values)
    assert_array_equal(model.coef_, record.models[stop.best_step - 1].coef_)
    assert_allclose(((model.predict(X_new) - y_new) ** 2).mean(), stop.best_score)


def test_validation_stop_without_restoring():
    X, y = problem()
    stop = ValidationStop(X[200:], y[200:], patience=2, min_change=0.01, restore=False)
    model = sgd().set_callbacks(stop).fit(X[:200], y[:200])
    assert stop.stopped
    assert model.n_iter_ == len(stop.scores) < 60
    values = [value for _, value in stop.scores]
    best, waited = -np.inf, 0
    for value in values:  # the rule, written out
        best, waited = (value, 0) if value > best + 0.01 else (best, waited + 1)
    assert waited == 2
    assert_allclose(model.score(X[200:], y[200:]), values[-1])


def test_validation_stop_can_be_used_again_and_checks():
    X, y = problem()
    stop = ValidationStop(X, y, patience=1000)
    model = sgd().set_callbacks(stop)
    first = model.fit(X, y).coef_.copy()
    assert not stop.stopped
    assert_array_equal(model.fit(X, y).coef_, first)
    assert len(stop.scores) == 60
    with pytest.raises(ValueError, match="patience"):
        ValidationStop(X, y, patience=0)


def test_time_limit_and_stop_when():
    X, y = problem()
    limit = TimeLimit(1e-9)
    assert sgd().set_callbacks(limit).fit(X, y).n_iter_ == 1
    assert limit.stopped
    assert sgd().set_callbacks(TimeLimit(100)).fit(X, y).n_iter_ == 60
    stop = StopWhen(lambda model: model.coef_[0] > 0.5)
    model = sgd(eta0=0.001).set_callbacks(stop).fit(X, y)
    assert stop.stopped
    assert 1 < model.n_iter_ < 60
    assert model.coef_[0] > 0.5
    with pytest.raises(ValueError, match="seconds"):
        TimeLimit(0)


def test_recorder_keeps_every_so_many_steps():
    X, _ = problem()
    record = Recorder(every=2)
    model = KMeans(4, random_state=0).set_callbacks(record).fit(X)
    assert record.steps == list(range(2, model.n_iter_ + 1, 2))
    inertia = [one.inertia_ for one in record.models]
    assert (np.diff(inertia) <= 1e-9).all()
    assert (np.diff(record.seconds) >= 0).all()


def test_logger_logs_and_prints_nothing(caplog, capsys):
    X, y = problem()
    with caplog.at_level(logging.INFO, logger="pellucid"):
        sgd().set_callbacks(Logger(every=20)).fit(X, y)
    assert [record.message for record in caplog.records if "step " in record.message] == [
        f"SGDRegressor: step {i} of at most 60, " + record.message.rsplit(", ", 1)[1]
        for i, record in zip(
            (20, 40, 60), [r for r in caplog.records if "step " in r.message], strict=True
        )
    ]
    assert "fit ends after 60 steps" in caplog.text
    assert capsys.readouterr().out == ""


# --- permutation importance --------------------------------------------------------------------


@pytest.mark.parametrize("metric", [None, "neg_mean_absolute_error", "neg_mean_squared_error"])
@pytest.mark.parametrize("weighted", [False, True])
def test_importance_of_regressors_is_scikit_learns(metric, weighted):
    X, y = problem()
    w = np.random.default_rng(0).integers(0, 3, size=len(y)).astype(float) if weighted else None
    for model in (pellucid.Ridge().fit(X, y), make_pipeline(pellucid.Ridge()).fit(X, y)):
        ours = permutation_importance(
            model, X, y, metric=metric, random_state=3, n_repeats=4, sample_weight=w
        )
        other = theirs(model, X, y, scoring=metric, random_state=3, n_repeats=4, sample_weight=w)
        assert_allclose(ours.importances, other.importances, atol=1e-12)
        assert_allclose(ours.importances_std, other.importances_std, atol=1e-12)
        assert ours.interval == "rows"


@pytest.mark.parametrize("metric", ["accuracy", "neg_log_loss", "roc_auc", "f1"])
def test_importance_of_classifiers_is_scikit_learns(metric):
    X, y = problem()
    labels = (y > 0).astype(int)
    three = np.digitize(y, [-1, 1])
    for model, truth in (
        (LogisticRegression().fit(X, labels), labels),
        (pellucid.GaussianNB().fit(X, labels), labels),
        (LogisticRegression().fit(X, three), three),
    ):
        if truth is three and metric in ("roc_auc", "f1"):
            continue
        ours = permutation_importance(model, X, truth, metric=metric, random_state=1)
        other = theirs(model, X, truth, scoring=metric, random_state=1)
        assert_allclose(ours.importances, other.importances, atol=1e-12)


def test_importance_of_frames_and_workers():
    X, y = problem()
    names = list("abcde")
    model = pellucid.GaussianNB()
    labels = y > 0
    plain = permutation_importance(model.fit(X, labels), X, labels, random_state=0)
    two = permutation_importance(model, X, labels, random_state=0, n_jobs=2)
    assert_array_equal(plain.importances, two.importances)
    for frame in (pd.DataFrame(X, columns=names), pl.DataFrame(X, schema=names)):
        found = permutation_importance(model.fit(frame, labels), frame, labels, random_state=0)
        assert_array_equal(found.importances, plain.importances)
        assert found.names == tuple(names)
    assert found.to_frame()["column"][0] == "b"
    assert "shuffled" in str(found)


def test_several_targets():
    X, y = problem()
    Y = np.column_stack([y, X[:, 2] - y])
    model = pellucid.Ridge().fit(X, Y)
    ours = permutation_importance(model, X, Y, random_state=0)
    assert_allclose(ours.importances, theirs(model, X, Y, random_state=0).importances, atol=1e-12)


@pytest.mark.parametrize("metric", ["mse", "r2"])
def test_intervals_cover_the_importance_on_endless_rows(metric):
    """y = x0 + e, f = x0: shuffling adds 2 to the mse (2 Var x0), 2/Var(y) = 1 to 1 - r2."""
    rng = np.random.default_rng(0)
    points = rng.normal(size=(9, 2))
    model = pellucid.LinearRegression().fit(points, points[:, 0])
    hits = 0
    for seed in range(200):
        X = rng.normal(size=(100, 2))
        y = X[:, 0] + rng.normal(size=100)
        found = permutation_importance(model, X, y, metric=metric, random_state=seed)
        hits += found.low[0] <= (2.0 if metric == "mse" else 1.0) <= found.high[0]
        assert found.importances_mean[1] == pytest.approx(0, abs=1e-12)
    assert hits >= 180
