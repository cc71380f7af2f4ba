"""Marks for missing cells among numbers and dates: read as missing, counted, shown."""

import numpy as np
import polars as pl
import pytest

from pellucid.data import DataWarning
from pellucid.study import Plan, Study
from pellucid.study.reading.profiles import read_column, read_columns

MARKS = [
    "-",
    "--",
    "–",
    ".",
    "*",
    "?",
    "NA",
    "n/a",
    "n.a.",
    "nil",
    "none",
    "unknown",
    "Missing",
    "not measured",
    "no data",
    "#REF!",
    "#DIV/0!",
    "#N/A",
]


def among(numbers, marks, share, n=74, seed=0):
    """n cells, of which a share are marks, in random order."""
    rng = np.random.default_rng(seed)
    k = round(share * n)
    cells = [*rng.choice(marks, k), *rng.choice(numbers, n - k, replace=len(numbers) < n - k)]
    return pl.Series("x", rng.permutation(cells).tolist())


sizes = [f"{v:.2f}" for v in np.random.default_rng(0).normal(10, 3, 80)]
whole = [str(v) for v in range(100, 900, 7)]


@pytest.mark.parametrize("share", [0.15, 0.5, 0.85])
@pytest.mark.parametrize("mark", MARKS)
def test_a_mark_is_a_missing_cell_whatever_its_share(mark, share):
    for numbers, kind in ((sizes, "number"), (whole, "whole")):
        cells = among(numbers, [mark], share)
        column = read_column(cells)
        marked = int((cells == mark).sum())
        assert (column.kind, column.missing) == (kind, marked)
        if column.strays is not None:  # the loader's own marks are empty cells, and shown as such
            assert (column.strays.cells, column.strays.examples) == (marked, (mark,))


def test_several_marks_and_forms():
    money = [f"${v:,.2f}" for v in np.random.default_rng(1).gamma(2, 900, 80)]
    for numbers, form in ((sizes, "1234.5"), (money, "1,234.5 $")):
        column = read_column(among(numbers, ["-", "#REF!", "unknown"], 0.6))
        assert (column.missing, column.form) == (44, form)
        assert set(column.strays.examples) == {"-", "#REF!", "unknown"}


def test_any_one_word_that_comes_back():
    assert read_column(among(sizes, ["ausgefallen"], 0.6)).missing == 44
    assert read_column(among(whole, ["Lost", "lost"], 0.3, n=40)).missing == 12
    two = read_column(among(sizes, ["low", "high"], 0.5))  # levels beside numbers
    assert (two.kind, two.missing) == ("category", 0)


@pytest.mark.parametrize(
    ("numbers", "words"),
    [
        (["5", "10"], ["more"]),
        (["1", "2", "3"], ["-"]),  # ratings, and a level of their own
        (["1"], ["-"]),
        (["0"], ["+", "-"]),
        (["1", "2", "3"], ["none"]),
        ([str(i) for i in range(1, 13)], ["ground"]),  # floors
        (whole, ["<5", ">100"]),
        (sizes, ["<0.1"]),
        (["1+", "2", "3-"], ["-"]),
        (["02139", "90210", "10001"], ["-"]),
        (["A1", "B2", "C3"], ["-"]),
    ],
)
def test_levels_stay_levels(numbers, words):
    cells = among(numbers, words, 0.4)
    column = read_column(cells)
    assert (column.kind, column.missing, column.cells.to_list()) == ("category", 0, cells.to_list())


def test_counts_and_dates():
    visits = [str(v) for v in [0] * 30 + [1] * 15 + [2] * 8 + [3] * 4 + [4] * 2 + [5]]
    column = read_column(pl.Series("visits", [*visits, *["-"] * 50]))
    assert (column.kind, column.missing) == ("whole", 50)
    days = [f"{1 + i % 28:02}.03.2024" for i in range(40)]
    column = read_column(pl.Series("day", [*days, *["-"] * 45]))
    assert (column.kind, column.missing, column.strays.cells) == ("date", 45, 45)


def test_wide_tables_are_read_the_same():
    frame = pl.DataFrame({f"x{j}": among(sizes, ["-"], 0.5, seed=j) for j in range(12)})
    together = read_columns(frame)
    for name in frame.columns:
        alone = read_column(frame[name])
        assert together[name].cells.equals(alone.cells, null_equal=True)
        assert together[name].strays == alone.strays


@pytest.fixture(scope="module")
def studied():
    rng = np.random.default_rng(0)
    n = 120
    a, b = rng.normal(10, 2, (2, n))
    y = 2 * a + b + rng.normal(size=n)
    told = lambda x, mark, share: [  # noqa: E731
        mark if gone else f"{v:.2f}" for v, gone in zip(x, rng.random(n) < share, strict=True)
    ]
    frame = pl.DataFrame({"a": told(a, "-", 0.4), "b": told(b, "nil", 0.3), "y": told(y, "-", 0.5)})
    return frame, Study(frame, "y", plan=Plan(candidates=("ridge",)), effort="quick").run()


def test_a_study_leaves_out_the_rows_without_a_target(studied):
    frame, record = studied
    dashes = int((frame["y"] == "-").sum())
    assert record.task.kind == "regression"
    assert record.task.unlabelled == dashes
    assert len(record.split.train) + len(record.split.test) == frame.height - dashes
    (shown,) = (f for f in record.findings if f.code == "PEL113")
    assert set(shown.where) == {"a", "b", "y"}
    assert (shown.evidence["cells"]["y"], shown.evidence["examples"]["b"]) == (dashes, ["nil"])
    (missing,) = (f for f in record.findings if f.code == "PEL201")
    assert missing.evidence["rows"] == dashes


def test_predict_reads_the_same_marks(studied):
    frame, record = studied
    rows = frame.select("a", "b")
    with pytest.warns(DataWarning) as warned:
        said = record.predict(rows)
    assert {str(one.message).split(",")[1] for one in warned} == {" such as '-'", " such as 'nil'"}
    empty = rows.with_columns(
        pl.when(pl.col(n).is_in(["-", "nil"])).then(None).otherwise(n).cast(float).alias(n)
        for n in rows.columns
    )
    np.testing.assert_array_equal(said, record.predict(empty))
    dashed = (rows["a"] == "-").to_numpy()  # a file without a single number in a column
    with pytest.warns(DataWarning):
        few = record.predict(rows.filter(dashed))
    np.testing.assert_array_equal(few, said[dashed])
