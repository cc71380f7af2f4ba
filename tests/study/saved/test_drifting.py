"""Drift against oracles of SciPy, its rate of false alarms, and what a sketch forgets."""

import datetime

import numpy as np
import polars as pl
import pytest
from scipy import stats

from pellucid.study import TableFeatures
from pellucid.study.saved.drift import (
    POINTS,
    chi_squared,
    compare_columns,
    compare_numbers,
    drift_report,
    exact_p_value,
    sketch,
    sketch_all,
    sketch_columns,
    typical_row,
)

KINDS = {"x": "number", "c": "category", "day": "date"}


def make(n, seed, shift=0.0, levels=("a", "b", "c")):
    rng = np.random.default_rng(seed)
    start = datetime.date(2024, 1, 1)
    days = [start + datetime.timedelta(days=int(d)) for d in rng.integers(0, 300, n)]
    return pl.DataFrame({"x": rng.normal(shift, size=n), "c": rng.choice(levels, n), "day": days})


@pytest.mark.parametrize("shift", [0.0, 0.15, 0.5])
def test_numbers_against_scipy(shift):
    rng = np.random.default_rng(1)
    a, b = rng.normal(size=400), rng.normal(shift, size=250)
    distance, p, _ = compare_numbers(sketch(a, "number", "a"), sketch_all(b, "number", "b"))
    expected = stats.ks_2samp(a, b)
    assert distance == pytest.approx(expected.statistic)
    assert p == pytest.approx(expected.pvalue, rel=0.15, abs=1e-4)


def test_levels_against_scipy():
    table = np.array([[40.0, 30.0, 20.0], [20.0, 30.0, 50.0]])
    expected = stats.chi2_contingency(table, correction=False)
    assert chi_squared(table)[1] == pytest.approx(expected.pvalue)
    assert chi_squared(table)[0] == pytest.approx(2 / 9 + 0 + 0.0, abs=0.1)
    rare = np.array([[40.0, 30.0, 1.0, 1.0], [40.0, 30.0, 0.0, 2.0]])
    pooled = np.array([[40.0, 30.0, 2.0], [40.0, 30.0, 2.0]])
    assert chi_squared(rare)[1] == chi_squared(pooled)[1]


@pytest.mark.parametrize("table", [[[151, 0], [11, 1]], [[30, 4], [5, 3]], [[200, 1], [9, 0]]])
def test_few_cells_are_compared_exactly(table):
    """One gap in twelve new rows is no drift, whatever the law of large counts would say."""
    expected = stats.fisher_exact(table).pvalue
    assert exact_p_value(np.array(table, dtype=float)) == pytest.approx(expected)
    assert chi_squared(np.array(table, dtype=float))[1] == pytest.approx(expected)


def test_a_rare_level_is_compared_exactly_beside_the_others():
    rare = np.array([[80.0, 71.0, 0.0], [20.0, 19.0, 1.0]])
    exact = stats.fisher_exact([[151, 0], [39, 1]]).pvalue
    assert chi_squared(rare)[1] == pytest.approx(2 * exact)
    moved = np.array([[80.0, 71.0, 0.0], [40.0, 0.0, 1.0]])
    common = stats.chi2_contingency(moved[:, :2], correction=False).pvalue
    assert chi_squared(moved)[1] == pytest.approx(2 * common)


def test_a_sketch_of_many_rows_is_nearly_the_sample():
    rng = np.random.default_rng(2)
    a, b = rng.normal(size=20_000), rng.normal(0.05, size=5000)
    short = sketch(a, "number", "a")
    assert len(short["points"]) == POINTS
    assert short["n"] == 20_000
    distance, p, _ = compare_numbers(short, sketch_all(b, "number", "b"))
    expected = stats.ks_2samp(a, b)
    assert distance == pytest.approx(expected.statistic, abs=1 / POINTS)
    assert expected.pvalue / 3 < p < 3 * expected.pvalue + 0.01


def test_missing_cells_are_drift_too():
    x = np.arange(200.0)
    gaps = np.where(x % 3 == 0, np.nan, x)
    distance, p, test = compare_columns(sketch(x, "number", "x"), sketch_all(gaps, "number", "x"))
    assert p < 1e-10
    assert distance > 0.3
    assert "missing" in test


def test_false_alarms_are_as_rare_as_stated():
    """Over all columns of a table at most about one in twenty."""
    old = make(300, 0)
    features = TableFeatures(kinds=KINDS).fit(old)
    kept = sketch_columns(old, KINDS)
    alarms = 0
    for seed in range(60):
        fresh = make(300, 1000 + seed)
        kept = sketch_columns(make(300, 5000 + seed), KINDS)
        alarms += bool(drift_report(features, kept, fresh).drifted)
    assert alarms <= 8  # P(more | 5 %) < 0.5 %


def test_report_names_what_moved():
    old = make(300, 0)
    features = TableFeatures(kinds=KINDS).fit(old)
    new = make(200, 1, shift=2.0, levels=("a", "b", "z"))
    found = drift_report(features, sketch_columns(old, KINDS), new)
    assert set(found.drifted) == {"x", "c"}
    by = {c.name: c for c in found.columns}
    assert by["c"].unseen == (new["c"] == "z").sum() == found.rows_unseen
    assert by["x"].outside == (new["x"] > old["x"].max()).sum() + (new["x"] < old["x"].min()).sum()
    assert found.findings()[0].code == "PEL507"
    assert found.to_dict()["columns"][0]["name"] == "x"
    assert drift_report(features, sketch_columns(old, KINDS), old).findings() == ()


def test_rows_count_once():
    old = make(100, 0)
    features = TableFeatures(kinds=KINDS).fit(old)
    new = old.head(4).with_columns(
        pl.Series("x", [99.0, 0.0, 99.0, 0.0]), pl.Series("c", ["z", "z", "a", "a"])
    )
    found = features.drift(new)
    assert (found.rows, found.rows_unseen, found.rows_outside) == (3, 2, 2)


def test_typical_row():
    row = typical_row(sketch_columns(make(101, 0), KINDS))
    assert row.columns == ["x", "c", "day"]
    assert row["day"][0].year == 2024
    features = TableFeatures(kinds=KINDS).fit(make(101, 0))
    assert features.drift(row).rows == 0
