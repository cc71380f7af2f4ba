"""A target that is the time between two dates of its row is told from any other, and suspect."""

import datetime as dt

import numpy as np
import polars as pl
import pytest
from leak_tables import LEAKS
from test_suspicion import study

from pellucid.study import Plan, Study
from pellucid.study.checks.suspicion import _combination
from pellucid.study.checks.time_differences import time_difference
from pellucid.study.reading.profiles import read_columns

N = 200
DAY, MINUTE = np.timedelta64(1, "D"), np.timedelta64(60, "s")


def moments(rng, n=N, days=900):
    """Dates and times of day to the minute."""
    start = np.datetime64("2021-01-01", "us") + rng.integers(0, days, n) * DAY
    return start + rng.integers(0, 1440, n) * MINUTE


def dates(x):
    return x.astype("M8[D]").astype("M8[us]")


def in_days(x):
    return x / np.timedelta64(1, "D")


def year_of(x):
    return 1970 + x.astype("M8[Y]").astype(int)


def month_of(x):
    return x.astype("M8[M]").astype(int)


def planted(seed=0, n=N):
    """name -> (first, second, target, what is said behind the names)."""
    rng = np.random.default_rng(seed)
    begin = moments(rng, n)
    minutes = (rng.gamma(1.3, 12.0, n) * 1440).astype(int) + 1
    end = begin + minutes * MINUTE
    nights = (end.astype("M8[D]") - begin.astype("M8[D]")).astype(int)
    birth = begin - rng.integers(365 * 18, 365 * 90, n) * DAY
    age = in_days(begin - birth) / 365.2425
    first, last = dates(begin), dates(end)
    some = np.where(rng.random(n) < 0.3, np.datetime64("NaT"), last)
    wrong = np.where(np.arange(n) == 7, np.datetime64("1900-01-01", "us"), last)
    return {
        "nights": (first, last, nights, "in days"),
        "nights, the other way round": (last, first, nights, "in days"),
        "days begun": (first, last, nights + 1, "in days, up to a constant"),
        "dates as text": (first.astype("M8[D]").astype(str), last, nights, "in days"),
        "nights of times": (begin, end, nights, "in days, up to rounding"),
        "weeks": (begin, end, np.ceil(minutes / 10_080), "in weeks, up to rounding"),
        "hours": (begin, end, np.round(minutes / 60, 1), "in hours, up to rounding"),
        "minutes": (begin, end, minutes, "in minutes"),
        "quarters of an hour": (begin, end, 15 * (minutes // 15), "in minutes, up to rounding"),
        "seconds": (begin, end, 60 * minutes, "in seconds"),
        "calendar months": (
            birth,
            begin,
            month_of(begin) - month_of(birth),
            "in months, up to rounding",
        ),
        "age": (birth, begin, np.floor(age), "in years, up to rounding"),
        "calendar age": (birth, begin, year_of(begin) - year_of(birth), "in years, up to rounding"),
        "from the year of birth": (
            year_of(birth),
            begin,
            year_of(begin) - year_of(birth),
            "in years, up to rounding",
        ),
        "years left": (
            birth,
            begin,
            100 - np.floor(age),
            "in years, up to a constant and rounding",
        ),
        "price of the nights": (first, last, 120 * nights, "in days, times 120"),
        "seconds since 1970": (
            begin.astype(int) // 10**6,
            end.astype(int) // 10**6,
            np.round(minutes / 60, 1),
            "in hours, up to rounding",
        ),
        "gaps": (first, some, nights, "in days"),
        "one wrong date": (first, wrong, nights, "in days, in 99 of 100 rows"),
    }


def told(table, y):
    columns = list(read_columns(pl.DataFrame(table)).values())
    return time_difference(columns, np.asarray(y, dtype=float), "y")


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", list(planted(0, 20)))
def test_the_difference_is_told_in_its_unit(name, seed):
    first, last, y, words = planted(seed)[name]
    other = dates(moments(np.random.default_rng(seed + 50)))
    found = told({"a": first, "booked": other, "b": last}, y)
    assert found.names == ("a", "b")
    assert found.clause == f"y is the difference of a and b {words}"


@pytest.mark.parametrize("seed", range(10))
def test_other_targets_are_no_differences(seed):
    """Neither of two dates, related or not, nor of dates that the target does depend on."""
    rng = np.random.default_rng(seed)
    begin, other = moments(rng), moments(rng)
    minutes = (rng.gamma(1.3, 12.0, N) * 1440).astype(int) + 1
    days = minutes / 1440
    table = {"begin": begin, "end": begin + minutes * MINUTE, "other": other, "age": year_of(other)}
    for y in (
        rng.normal(size=N),
        rng.poisson(3.0, N),
        rng.integers(1, 6, N),
        np.round(20 * rng.exponential(size=N), 2),
        np.round(days + rng.normal(0, 0.2 * days.std(), N)),  # a good guide to it, no more
        np.clip(np.ceil(days / 7), 1, 3),
        in_days(begin - begin.min()),  # a trend: one date alone
        np.round(in_days(begin - begin.min()) / 30 + rng.normal(size=N), 1),
    ):
        assert told(table, y) is None


def stays(n=240, seed=0, gaps=0.0):
    rng = np.random.default_rng(seed)
    begin = dates(moments(rng, n))
    nights = 1 + np.floor(rng.gamma(1.3, 9.0, n)).astype(int)
    end = np.where(rng.random(n) < gaps, np.datetime64("NaT"), begin + nights * DAY)
    table = {
        "adm": begin,
        "dis": end,
        "age": rng.integers(18, 90, n),
        "w": rng.choice(list("ab"), n),
    }
    return table | {"los": nights}


def test_the_length_of_a_stay_is_suspect():
    record = study(stays(), "los").run()
    assert record.verdict.kind == "suspect"
    assert "los is the difference of adm and dis in days." in record.verdict.text[0]
    assert "--drop adm,dis" in str(record.verdict)
    assert record.verdict.reasons == ("the target is the difference of two dates in the table",)
    assert [f.where for f in record.findings if f.code == "PEL311"] == [("adm", "dis")]
    assert "PEL307" not in {f.code for f in record.findings}
    rest = study(pl.DataFrame(stays()).drop("adm", "dis"), "los").run()
    assert rest.verdict.kind != "suspect"


def test_it_is_told_though_no_model_finds_it():
    """Gaps are filled with the middle of the dates, far from the day that is meant."""
    record = study(stays(gaps=0.1), "los").run()
    assert record.verdict.kind != "shown"
    assert [f.where for f in record.findings if f.code == "PEL311"] == [("adm", "dis")]
    assert "target is the difference of two dates (adm, dis)" in str(record.verdict)


def test_what_is_kept_or_ignored_is_not_told():
    assert study(stays(), "los", keep=("dis",)).suspect() is None
    made = study(stays(), "los")
    made.ignore = frozenset({"PEL311"})
    assert made.suspect() is None


@pytest.mark.parametrize("seed", range(10))
def test_two_dates_that_have_nothing_to_do_with_it_raise_no_alarm(seed):
    rng = np.random.default_rng(seed)
    begin, x = moments(rng), rng.normal(size=(3, N))
    table = {"begin": begin, "end": begin + rng.integers(1, 400, N) * DAY, "x": x[0], "z": x[1]}
    trend = in_days(begin - begin.min()) / 100 if seed % 2 else 0.0
    table["y"] = np.round(3 * x[0] + trend + (0.2 if seed % 2 else 1.0) * x[2], 1)
    made = Study(pl.DataFrame(table), "y", effort="quick", plan=Plan(candidates=("ridge",)))
    assert made.suspect() is None or made.suspect().columns == ("x",)
    assert not {f.code for f in made.record().findings} & set(LEAKS) - {"PEL303"}


def test_rounded_differences_of_times_of_day():
    """Numbers of any unit: what is written in steps follows up to a step."""
    rng = np.random.default_rng(2)
    start = rng.integers(300, 900, N)
    wait = rng.gamma(3.0, 30.0, N).astype(int) + 1

    def clause(a, b, y):
        columns = read_columns(pl.DataFrame({"a": a, "b": b, "x": rng.normal(size=N)}))
        found = _combination(list(columns.values()), np.asarray(y, dtype=float))
        return None if found is None else found.sentence.split("a and b, ")[1]

    clock = [[dt.time(m // 60, m % 60) for m in (x % 1440).tolist()] for x in (start, start + wait)]
    y = 5 * np.round(wait / 5)
    assert clause(*clock, y) == "whose difference, times 0.0167, it is up to rounding"
    assert clause(start / 60, (start + wait) / 60, np.round(wait / 60)) == (
        "whose difference it is up to rounding"
    )
    few = rng.integers(0, 9, (2, N)) + rng.random((2, N))
    assert clause(*few, np.round(few.sum(axis=0))) == "whose sum it is up to rounding"
    assert clause(*few, np.round(0.4 * few[0] + 2.1 * few[1])) == (
        "from which it follows up to rounding"
    )
    assert clause(*few, np.round(few.sum(axis=0) + 0.5 * rng.normal(size=N))) is None
    assert clause(few[0], rng.random(N), np.round(few[0])) is None  # one column alone: not this
