"""What a column holds: kinds without silly answers."""

import datetime as dt
import uuid

import numpy as np
import polars as pl
import pytest

from pellucid.data import load_penguins
from pellucid.study import audit
from pellucid.study.checks.data import is_identifier
from pellucid.study.reading.dates import read_dates
from pellucid.study.reading.number_summary import ordered, robust_scale, sentinels
from pellucid.study.reading.profiles import read_column, read_columns, typed_frame

rng = np.random.default_rng(0)
floats = [f"{v:.3f}" for v in rng.normal(size=100)]

KINDS = [
    ("floats", [1.5, 2.0, None], "number"),
    ("whole", [1, 2, 3], "whole"),
    ("whole with gaps", [1.0, float("nan"), 3.0], "whole"),
    ("truth", [True, None, False], "truth"),
    ("truth words", ["True", "false", None], "truth"),
    ("numbers in text", ["1", "2.5", "?"], "number"),
    ("decimal comma", ["1,5", "2,25"], "number"),
    ("mostly numbers", [*floats, "n.a.", "-"], "number"),
    ("half numbers", ["1", "2", "low"] * 9, "category"),
    ("three plus", ["0", "1", "2", "3+"] * 25, "category"),
    ("postcodes", ["01234", "98765"], "category"),
    ("words", ["red", "blue"] * 9, "category"),
    ("sentences", [f"this is sentence number {i}" for i in range(30)], "text"),
    ("two words", [f"Anna Smith{i}" for i in range(30)], "category"),
    ("few long levels", ["one of these four", "or the other one"] * 40, "category"),
    ("iso", ["2020-01-01", "2021-12-31"], "date"),
    ("iso time", ["2020-01-01T10:00:00Z", "2021-12-31T10:00:00Z"], "date"),
    ("day first", ["31.12.2023", "01.02.2024 10:30"], "date"),
    ("month first", ["12/31/2023", "01/02/2024"], "date"),
    ("names", ["3 Jan 2020", "Mar 14, 2021"], "date"),
    ("short years", ["31.12.23", "01.02.24"], "date"),
    ("two formats", ["2020-01-03", "14.03.2021"], "date"),
    ("days as numbers", [20200101 + i for i in range(20)], "date"),
    ("large numbers", [20200101 + 17 * i for i in range(20)], "whole"),
    ("days", [dt.date(2020, 1, 1), None], "date"),
    ("addresses", ["192.168.1.1", "10.0.0.1"], "category"),
    ("epoch nanoseconds", [1_700_000_000_123_456_789 + 6 * 10**10 * i for i in range(60)], "whole"),
    ("lists", [["a"], ["a", "b"], None], "list"),
    ("joined labels", ["a;b", "b", "a;c", "c"] * 5, "list"),
    ("fixed pairs", ["Rome;Italy", "Bern;Switzerland"] * 9, "category"),
    ("empty", [None, None], "empty"),
    ("blank", ["", " ", "NA"], "empty"),
    ("nan", [float("nan")] * 3, "empty"),
]


@pytest.mark.parametrize(("cells", "kind"), [c[1:] for c in KINDS], ids=[c[0] for c in KINDS])
def test_kinds(cells, kind):
    assert read_column(pl.Series("x", cells)).kind == kind


def test_strays_are_counted_and_shown():
    column = read_column(pl.Series("x", [*floats, "n.a.", "-", None]))
    assert column.missing == 3
    assert column.strays.cells == 2
    assert set(column.strays.examples) == {"n.a.", "-"}


@pytest.mark.parametrize(
    "cells",
    [
        [f"1.{i % 12}.{i % 7}" for i in range(60)],
        [f"1.{i % 12}" if i % 3 else f"1.{i % 12}.1" for i in range(60)],
        [f"10.0.{i % 5}.{i}" for i in range(60)],
        [f"192.168.{100 + i}.{i + 100}" for i in range(60)],
        [f"v{i % 9}.0.{i % 4}" for i in range(60)],
    ],
    ids=["versions", "short versions", "addresses", "long addresses", "tags"],
)
def test_versions_and_addresses_are_no_mixed_units(cells):
    column = read_column(pl.Series("x", cells))
    assert column.kind == "category"
    assert column.strays is None


def test_date_values_and_ambiguity():
    def days(cells):
        series = pl.Series("d", cells)
        found = read_dates(series, series.drop_nulls())
        return [cell.date().isoformat() for cell in found.cells], found.form

    assert days(["12/31/2023", "01/02/2024"])[0] == ["2023-12-31", "2024-01-02"]
    assert days(["31/12/2023", "01/02/2024"])[0] == ["2023-12-31", "2024-02-01"]
    assert "no cell decides" in days(["01/02/2024", "03/04/2024"])[1]
    assert days(["2020-05", "2021-07"])[0] == ["2020-05-01", "2021-07-01"]


IDENTIFIERS = [
    ("codes", [f"A{i:04}" for i in range(60)], True),
    ("uuids", [str(uuid.UUID(int=i)) for i in range(60)], True),
    ("running", list(range(60)), True),
    ("shuffled", rng.permutation(60).tolist(), True),
    ("rising with gaps", np.cumsum(rng.integers(1, 90, 60)).tolist(), True),
    ("measurements", rng.normal(size=60).tolist(), False),
    ("sorted measurements", np.sort(rng.normal(size=60)).tolist(), False),
    ("sorted whole floats", (np.arange(60.0) ** 2).tolist(), False),
    ("dates", [dt.date(2020, 1, 1) + dt.timedelta(i) for i in range(60)], False),
    ("dates as text", [f"{i % 28 + 1:02}.{i // 28 + 1:02}.2020" for i in range(60)], False),
    ("sentences", [f"a cat and {i} dogs went out" for i in range(60)], False),
    ("levels", ["a", "b", "c"] * 20, False),
    ("counts", rng.poisson(9, 60).tolist(), False),
    ("years", list(range(1950, 2010)), False),
    ("epoch seconds", [1_700_000_000 + 60 * i for i in range(60)], False),
    ("epoch milliseconds", [1_700_000_000_123 + 60_000 * i for i in range(60)], False),
    ("epoch microseconds", [1_700_000_000_123_456 + 60_000_000 * i for i in range(60)], False),
    ("epoch nanoseconds", [1_700_000_000_123_456_789 + 6 * 10**10 * i for i in range(60)], False),
    ("long names", (10**17 + rng.permutation(10**6)[:60]).tolist(), True),
    ("prices", (rng.permutation(60) * 997 + 13).tolist(), False),
]


@pytest.mark.parametrize(
    ("cells", "expected"), [c[1:] for c in IDENTIFIERS], ids=[c[0] for c in IDENTIFIERS]
)
def test_identifiers(cells, expected):
    assert is_identifier(read_column(pl.Series("x", cells))) is expected


def test_one_sort_agrees_with_numpy():
    """Oracle: every statistic of the sorted column against NumPy's own."""
    x = np.round(rng.normal(size=501), 1)
    x[::50] = np.nan
    found = ordered(x)
    seen = x[~np.isnan(x)]
    assert found.missing == np.isnan(x).sum()
    assert found.distinct == len(np.unique(seen))
    assert found.median == np.median(seen)
    np.testing.assert_allclose([found.mean, found.sd], [seen.mean(), seen.std()])
    assert sum(n for _, n in found.counts) == len(seen)
    edges = np.linspace(seen.min(), seen.max(), 13)
    assert [n for _, n in found.counts] == np.histogram(seen, edges)[0].tolist()
    mad = 1.4826 * np.median(np.abs(seen - np.median(seen)))
    assert robust_scale(np.sort(seen)) == pytest.approx(mad, rel=0.1)


def test_whole_counts_are_exact():
    found = ordered(np.array([3.0, 1.0, 3.0, 2.0]))
    assert found.counts == (("1", 1), ("2", 1), ("3", 2))
    assert found.whole


def test_infinite_cells():
    found = ordered(np.array([1.0, np.inf, -np.inf, 2.0, np.nan]))
    assert (found.n, found.infinite, found.missing) == (2, 2, 1)


@pytest.mark.parametrize(
    ("cells", "codes"),
    [
        ([*range(1, 30), -999, -999], [-999]),
        ([*range(1, 30), 9999], [9999]),
        ([*rng.uniform(0, 1, 50), -99, -999], [-999, -99]),
        ([*range(200, 5000, 50), -999], [-999]),
        ([*range(1, 6)] * 9 + [99], [99]),
        ([*range(1, 100)], []),
        ([*range(900, 1000)], []),
        ([*range(-999, 1000, 7)], []),
    ],
    ids=["-999", "9999", "two", "far range", "scale", "ages", "up to 999", "down to -999"],
)
def test_sentinels(cells, codes):
    found = sentinels(np.sort(np.array(cells, dtype=float)))
    assert [value for value, _ in found] == codes


def test_profiles_of_a_known_table():
    columns = read_columns(load_penguins()[0])
    assert columns["sex"].kind == "category"
    assert columns["bill_length_mm"].kind == "number"
    assert columns["bill_length_mm"].missing == 2


LONG_NAMES = [12345678901234567890123450 + i for i in range(60)]


@pytest.mark.parametrize(
    "cells",
    [
        pl.Series("id", [str(name) for name in LONG_NAMES]),
        pl.Series("id", LONG_NAMES, dtype=pl.Int128),
        pl.Series("id", [str(name) for name in LONG_NAMES]).cast(pl.Decimal(30, 0)),
    ],
)
def test_names_of_26_digits_stay_apart(cells):
    """As numbers they would be one: they differ in the last places."""
    column = read_column(cells)
    assert (column.kind, column.distinct) == ("category", 60)
    assert column.cells.to_list() == [str(name) for name in LONG_NAMES]
    frame = pl.DataFrame([cells])
    assert typed_frame(frame, read_columns(frame))["id"].n_unique() == 60


def test_a_few_numbers_beyond_64_bits_have_a_digest():
    tables = [
        pl.DataFrame({"a": pl.Series([1, 2, 10**30 + i], dtype=pl.Int128)}) for i in (0, 0, 1)
    ]
    first, same, other = (audit(table).digest for table in tables)
    assert first == same != other
