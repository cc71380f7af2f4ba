"""Intervals of scores and gains: they cover, they are never empty, and they know their rows."""

import math

import numpy as np
import polars as pl
import pytest
from scipy import stats

from pellucid.evaluation import Interval
from pellucid.evaluation.validation.fold_summary import cv_summary
from pellucid.study import detect_task
from pellucid.study.judging.gain import (
    Judged,
    Told,
    find_gain,
    measured,
    paired_shares,
    score_interval,
)
from pellucid.study.judging.jackknife import freedom, jackknife, make_blocks, scaled_interval
from pellucid.study.judging.measure import fold_interval, make_scorer
from pellucid.study.judging.yardstick import time_yardsticks

NUMBER = make_scorer(detect_task(np.linspace(0, 1, 50)), None)
LABELS = make_scorer(detect_task(["a", "b"] * 30), None)


def rmse(e):
    return lambda rows: float(np.sqrt((e[rows] ** 2).mean()))


def test_the_jackknife_of_a_mean_is_its_standard_error():
    x = np.random.default_rng(0).uniform(size=30)
    found = jackknife(lambda rows: float(x[rows].mean()), make_blocks(30))
    assert found.error == pytest.approx(x.std(ddof=1) / math.sqrt(30), rel=1e-10)
    assert found.limits() == pytest.approx(  # no row stands out: Student's interval
        stats.t.interval(0.95, 29, x.mean(), stats.sem(x)), rel=1e-9
    )


def test_degrees_of_freedom_are_those_of_the_spread():
    """The freedom f is that of a chi-square with as much relative variance: 2 / f."""
    rng = np.random.default_rng(9)
    rows = rng.laplace(size=(3000, 400))  # of kurtosis 6
    variances = rows.var(axis=1, ddof=1)
    true = 2 / (variances.var() / variances.mean() ** 2)
    found = np.median([freedom(row - row.mean()) for row in rows[:500]])
    assert true == pytest.approx(2 * 400 / 5, rel=0.1)
    assert found == pytest.approx(true, rel=0.25)
    one = np.zeros(50)
    one[0] = 1.0
    assert freedom(one) == pytest.approx(2 * 50 / 49)  # one block says everything
    assert freedom(7.0 * rows[0]) == pytest.approx(freedom(rows[0]))


def test_blocks_of_unequal_sizes_are_a_ratio_estimator():
    """The mean over groups of unequal size has the textbook's linearised variance."""
    rng = np.random.default_rng(1)
    groups = np.repeat(np.arange(40), rng.integers(2, 9, size=40))
    x = rng.normal(size=40)[groups] + 0.2 * rng.normal(size=len(groups))
    found = jackknife(lambda rows: float(x[rows].mean()), make_blocks(len(x), groups))
    sums = np.bincount(groups, x - x.mean())
    linear = math.sqrt(float(sums @ sums) / len(x) ** 2 * 40 / 39)
    assert found.error == pytest.approx(linear, rel=1e-9)
    naive = x.std() / math.sqrt(len(x))
    assert found.error > 1.5 * naive  # rows of a group say the same thing


@pytest.mark.parametrize(
    ("draw", "n", "least"),
    [
        ("normal", 20, 0.93),
        ("normal", 50, 0.935),
        ("uniform", 50, 0.93),
        ("laplace", 50, 0.925),
        ("groups", 200, 0.92),
        ("time", 300, 0.90),
    ],
)
def test_the_interval_of_an_error_covers(draw, n, least):
    rng = np.random.default_rng(2)
    hits, rounds = 0, 1000
    for _ in range(rounds):
        units, ordered = None, draw == "time"
        if draw == "groups":
            units = np.repeat(np.arange(40), 5)
            e = (rng.normal(size=40)[units] + rng.normal(size=n)) / math.sqrt(2)
        elif draw == "time":
            e = np.empty(n)
            e[0] = rng.normal()
            for i in range(1, n):
                e[i] = 0.5 * e[i - 1] + math.sqrt(0.75) * rng.normal()
        elif draw == "uniform":
            e = rng.uniform(-math.sqrt(3), math.sqrt(3), size=n)
        else:
            e = rng.normal(size=n) if draw == "normal" else rng.laplace(size=n) / math.sqrt(2)
        found = scaled_interval(rmse(e), make_blocks(n, units, ordered=ordered), (0.0, math.inf))
        hits += found.low <= 1.0 <= found.high
    assert least <= hits / rounds <= 0.97


def test_a_wild_row_does_not_push_the_lower_limit_down():
    """One row in fifty errs fifteen times as much: the limit holds still, and says something."""
    rng = np.random.default_rng(3)
    true, lows = math.sqrt(0.98 + 0.02 * 225), []
    for _ in range(60):
        e = np.where(rng.random(70) < 0.02, 15, 1) * rng.normal(size=70)
        rows = Judged(e, np.arange(70))
        known = Interval(rmse(e)(np.arange(70)), 0.0, 99.0, 1.0, "bootstrap", 70)
        lows.append(score_interval(NUMBER, rows, Told(np.zeros(70)), known, 9.0).low)
    assert np.mean(np.array(lows) <= true) > 0.95
    assert np.quantile(lows, 0.1) > 0.4  # of the tame rows alone about 0.85; there may be two wild


def test_the_gain_under_no_gain_is_claimed_as_rarely_as_stated():
    rng = np.random.default_rng(3)
    claims = 0
    for _ in range(400):
        y = rng.normal(size=40)
        noise = 0.3 * rng.normal(size=40)
        rows = Judged(y, make_blocks(40))
        gain = find_gain(NUMBER, rows, Told(noise), Told(0.3 * rng.normal(size=40)))
        claims += gain.low > 0
    assert claims <= 400 * 0.05


def test_the_gain_of_a_median_is_claimed_as_rarely_as_stated():
    """No gain in truth: half of the claims lie on each side, 5 % in all."""
    median = make_scorer(detect_task(np.linspace(0, 1, 50), metric="median_ae"), None)
    rng = np.random.default_rng(8)
    claims, rounds = 0, 60
    for _ in range(rounds):
        y = rng.normal(size=60)
        told = [Told(0.5 * rng.normal(size=60)) for _ in range(2)]
        gain = find_gain(median, Judged(y, make_blocks(60)), *told)
        claims += not gain.low <= 0 <= gain.high
    assert claims <= 8  # P(more than 8 of 60 at 5 %) < 1 %


def test_the_largest_error_of_a_sample_shows_no_gain():
    largest = make_scorer(detect_task(np.linspace(0, 1, 50), metric="max_error"), None)
    y = np.random.default_rng(0).normal(size=60)
    gain = find_gain(largest, Judged(y, make_blocks(60)), Told(0.9 * y), Told(np.zeros(60)))
    assert gain.verdict() == "not_shown"


@pytest.mark.parametrize("metric", ["balanced_accuracy", "average_precision", "log_loss", "f1"])
def test_labels_in_words_are_judged_as_numbers_are(metric):
    rng = np.random.default_rng(3)
    words = np.array(["no", "yes"])
    code = (rng.random(80) < 0.4).astype(int)
    guess = (rng.random(80) < 0.4).astype(int)
    found = []
    for labels in (words, np.array([0, 1])):
        scorer = make_scorer(detect_task(labels[code], metric=metric), None)
        p = np.where(guess == 1, 0.7, 0.2)
        needs = scorer.metric.needs
        said = {"labels": labels[guess], "probabilities": p}.get(needs, p)
        base = {"labels": labels[np.zeros(80, int)]}.get(needs, np.full(80, 0.4) + 0.01 * p)
        both = [Told(one, labels) for one in (said, base)]
        found.append(find_gain(scorer, Judged(labels[code], make_blocks(80)), *both))
    assert found[0][:4] == pytest.approx(found[1][:4], nan_ok=True)


def test_the_gain_of_shares_counts_pairs():
    truth = np.array(["a", "b"] * 20)
    all_a, right = np.array(["a"] * 40), truth
    gain = find_gain(LABELS, Judged(truth, make_blocks(40)), Told(right), Told(all_a))
    assert gain.estimate == 0.5
    assert 0 < gain.low < 0.5 == gain.high  # no model can gain more than guessing leaves
    assert gain.verdict() == "shown"


@pytest.mark.parametrize("n", [4, 15, 200])
def test_no_interval_has_width_zero(n):
    """A perfect model, and one that is as wrong on every row."""
    y = np.linspace(0.0, 1.0, n)
    rows = Judged(y, make_blocks(n))
    for said in (y, y + 0.412):
        flat = measured(NUMBER, y, Told(said))
        known = Interval(flat, flat, flat, 0.0, "bca", n)
        found = score_interval(NUMBER, rows, Told(said), known, reach=0.3)
        assert found.low < found.high
        assert found.low <= flat <= found.high
        gain = find_gain(NUMBER, rows, Told(said), Told(np.full(n, 0.5)))
        assert gain.low < gain.high
    one = paired_shares(np.ones(n), np.zeros(n))
    assert one.error > 0


def test_intervals_over_folds_stay_inside_the_measure():
    wild = fold_interval(np.array([100.0, 2000, 300, 4000, 300]), 0.25, "rmse", 50)
    assert 0 < wild.low < wild.estimate < wild.high
    right = fold_interval(np.array([0.8, 0.9, 0.99]), 0.25, "accuracy", 50)
    assert 0 < right.low < right.estimate < right.high < 1
    perfect = fold_interval(np.ones(5), 0.25, "accuracy", 50)
    assert 0.9 < perfect.low < perfect.high == 1.0
    narrow = fold_interval(np.array([10.0, 10.1, 9.9]), 0.25, "rmse", 50)  # as the plain one
    plain = cv_summary([10.0, 10.1, 9.9], test_ratio=0.25)
    assert (narrow.low, narrow.high) == pytest.approx((plain.low, plain.high), rel=1e-3)


def test_units_of_the_target_do_not_matter():
    rng = np.random.default_rng(4)
    y = rng.normal(size=50)
    said, base = y + 0.5 * rng.normal(size=50), np.zeros(50)
    rows = make_blocks(50)
    plain = find_gain(NUMBER, Judged(y, rows), Told(said), Told(base))
    for scale in (1e-9, 1e9):
        big = find_gain(NUMBER, Judged(scale * y, rows), Told(scale * said), Told(scale * base))
        assert big.p_value == pytest.approx(plain.p_value, rel=1e-6)
        assert big.low == pytest.approx(scale * plain.low, rel=1e-6)
        assert big.verdict() == plain.verdict()


def test_rows_that_would_settle_it_settle_it():
    """With as many rows as were said to be needed the verdict is open no more (on average)."""
    rng = np.random.default_rng(5)
    open_, settled = 0, 0
    for _ in range(60):
        y = rng.normal(size=4000)
        said = 0.4 * y + 0.5 * rng.normal(size=4000)
        few = find_gain(
            NUMBER, Judged(y[:40], make_blocks(40)), Told(said[:40]), Told(np.zeros(40))
        )
        if few.verdict() != "not_shown" or not 1 < few.needed < 100:
            continue
        n = int(40 * few.needed)
        more = find_gain(NUMBER, Judged(y[:n], make_blocks(n)), Told(said[:n]), Told(np.zeros(n)))
        open_ += 1
        settled += more.verdict() != "not_shown"
    assert open_ >= 20
    assert settled >= 0.5 * open_


def test_the_last_value_and_the_season_before():
    days = pl.Series(
        "d", np.arange("2020-01", "2024-01", dtype="datetime64[M]").astype("datetime64[D]")
    )
    y = np.arange(48.0) % 12
    found = {one.name: one.said for one in time_yardsticks(y, np.arange(48), days)}
    assert set(found) == {"the last value", "the value 12 months before"}
    assert (found["the value 12 months before"][12:] == y[12:]).all()
    assert (found["the last value"][1:] == y[:-1]).all()


def test_moments_of_several_rows_are_measured_against_those_before():
    """Quarters of a year, shops of a day: last year's mean, or its commonest class."""
    years, y = pl.Series("year", np.repeat(np.arange(2000, 2012), 4)), np.arange(48.0)
    (found,) = time_yardsticks(y, np.arange(48), years)
    assert found.name == "the mean of the year before"
    np.testing.assert_array_equal(found.said[4:], np.repeat(np.arange(1.5, 44, 4), 4))
    (found,) = time_yardsticks(np.where(y % 4 == 0, "a", "b"), np.arange(48), years)
    assert (found.name, set(found.said)) == ("the commonest class of the year before", {"b"})
