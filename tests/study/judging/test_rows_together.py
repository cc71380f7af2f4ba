"""Rows that hang together count once: copies, groups and stretches of time."""

import math

import numpy as np
import polars as pl
import pytest

from pellucid.evaluation import Interval
from pellucid.linear import LinearRegression
from pellucid.study import Plan, Study
from pellucid.study.judging.blocked_table import blocked_intervals, blocked_recall
from pellucid.study.judging.gain import Judged
from pellucid.study.records import Task

NUMBER = Task("regression", ("y",), (), None, "rmse", False, 0, "")
KNOWN = Interval(1.0, 0.9, 1.1, 0.05, "mean", 60)


def doubled(n=90, seed=0, **more):
    """Rows of which each stands there twice or more."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3)).round(4)
    i = rng.permutation(np.concatenate([np.arange(n), rng.integers(0, n, n)]))
    y = np.where(X[:, 0] + rng.normal(size=n) > 0, "yes", "no")
    return pl.DataFrame({f"x{j}": X[i, j] for j in range(3)} | {"y": y[i]} | more)


def test_copies_are_one_piece_of_evidence():
    table = doubled()
    study = Study(table, "y", effort="quick", plan=Plan(candidates=("logistic",)))
    record = study.run()
    gain, test = record.final.gain, table[record.split.test]
    assert record.split.copies == 90
    assert gain.units == "different rows"
    assert gain.n == test.unique().height < test.height
    assert f"{gain.n} different rows" in str(record.verdict)
    alone = record.final.table["accuracy"]
    assert alone.method == "jackknife"


def test_tuning_keeps_copies_on_one_side():
    table = doubled()
    study = Study(table, "y", effort="quick")
    study.features()
    rows = study.split().train
    for learn, judge in study._workshop.inner_folds(rows):
        assert sorted([*learn, *judge]) == sorted(rows)
        assert not set(table[learn].rows()) & set(table[judge].rows())
        assert set(table["y"][judge]) == {"yes", "no"}


def test_measures_of_groups_have_intervals_of_groups():
    """Groups of ten rows that err alike: their mean error varies as that of so many groups."""
    rng = np.random.default_rng(0)
    m, k = 40, 10
    x, own = rng.normal(size=m * k), np.repeat(rng.normal(size=m), k)
    y = x + own
    model = LinearRegression().fit(x[:, None], x)
    rows = Judged(y, np.repeat(np.arange(m), k), None, apart=False)
    table = dict.fromkeys(("rmse", "rss", "max_error"), KNOWN)
    error = np.abs(own)
    table |= {"mae": KNOWN._replace(estimate=float(error.mean())), "median_ae": KNOWN}
    found = blocked_intervals(NUMBER, rows, table, model, x[:, None])
    assert "rmse" not in found  # the study's own has its interval already
    assert "rmse" in blocked_intervals(NUMBER, rows, table, model, x[:, None], own=True)
    assert math.isnan(found["rss"].low)
    assert math.isnan(found["max_error"].high)
    half = (found["mae"].high - found["mae"].low) / 2
    groups = error[::k]
    assert half == pytest.approx(2.02 * groups.std(ddof=1) / math.sqrt(m), rel=0.1)
    assert found["mae"].standard_error == pytest.approx(half / 2.02, rel=0.1)
    assert found["median_ae"].low < np.median(groups) < found["median_ae"].high


def test_the_share_found_of_a_class_counts_groups():
    y = np.array(["a"] * 40 + ["b"] * 4)
    said = np.where(np.arange(44) // 4 % 2 == 0, y, "c")
    blocks = np.arange(44) // 4
    by_class = [{"label": "a", "recall_low": 0.0, "recall_high": 1.0}, {"label": "b"}]
    one, other = blocked_recall(by_class, said, y, blocks)
    assert 0.15 < one["recall_low"] < 0.25 < 0.75 < one["recall_high"] < 0.85
    assert math.isnan(other["recall_low"])
