"""Parts of a date: a pattern that comes round is learned, a trend is no pattern."""

import datetime as dt

import numpy as np
import polars as pl
import pytest

import pellucid
from pellucid.study import Plan

DAYS, NOISE = np.arange(500), 3.0
DATES = [dt.date(2021, 1, 1) + dt.timedelta(days=int(i)) for i in DAYS]
TREND, WEEK = 50 + 0.1 * DAYS, np.array([0, 1, 3, 2, 8, 15, 9])


def table(mean, seed):
    rng = np.random.default_rng(seed)
    return pl.DataFrame({"date": DATES, "y": mean + rng.normal(0, NOISE, len(mean))})


def misses(model, rows, mean):
    return float(np.sqrt(np.mean((model.predict(rows.select("date")) - mean) ** 2)))


@pytest.mark.parametrize("seed", [4, 6, 7])
def test_a_trend_goes_on_after_new_year(seed):
    """The rows set aside begin in the first year and end in the second."""
    whole = table(TREND, seed)
    plan = Plan(candidates=("ridge", "lasso", "ridge_lags"))
    found = pellucid.learn(whole[:400], "y", effort="quick", plan=plan)
    assert found.split.kind == "sequential"
    assert found.verdict.kind == "shown"
    assert found.verdict.interval.estimate < 1.25 * NOISE
    assert misses(found.model, whole[400:], TREND[400:]) < NOISE / 2


@pytest.mark.parametrize("seed", range(3))
def test_a_trend_goes_on_after_rows_drawn_at_random(seed):
    """Among the dates learned a month is interpolation; the model predicts later ones."""
    whole = table(TREND, seed)
    mixed = whole[:330].sample(fraction=1.0, shuffle=True, seed=seed)
    plan = Plan(candidates=("ridge",))
    found = pellucid.learn(mixed, "y", effort="quick", plan=plan)
    assert found.split.kind == "random"
    assert misses(found.model, whole[365:], TREND[365:]) < NOISE / 2


def test_a_pattern_of_the_week_stays():
    mean = 50.0 + WEEK[DAYS % 7]
    whole = table(mean, 0)
    plan = Plan(candidates=("ridge", "tree"))
    found = pellucid.learn(whole[:400], "y", effort="quick", plan=plan)
    assert found.verdict.kind == "shown"
    assert "date day of week" in found.model[0].get_feature_names_out()
    assert misses(found.model, whole[400:], mean[400:]) < NOISE / 2
