"""What a column holds: its kind, its cells in that kind, and the numbers that describe it.

    number    numbers with fractions              whole    whole numbers
    truth     true or false                       category text that repeats, or single words
    text      sentences: many different cells of several words
    date      dates and times, in one of the usual ways to write them
    list      lists, or cells such as ``a;b`` whose labels return in other cells
    empty     nothing at all

Text is judged by its distinct cells. Text that is numbers throughout, however people write them
(``number_forms``), is numbers; when at least 90 % of the cells are numbers of more than 20
different sizes, the others count as missing and are kept as ``strays``. Codes stay text: leading
zeros, phone numbers, whole numbers of more than 15 digits. One sort per numeric column gives every
statistic of it (``numeric``).
"""

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from pellucid.core.arrays.typing import Array
from pellucid.core.runtime.threads import map_threads
from pellucid.data.cells import MISSING
from pellucid.study.reading.dates import read_dates, whole_dates
from pellucid.study.reading.number_forms import (
    LONG,
    find_form,
    look_like_amounts,
    marks_of,
    read_amounts,
)
from pellucid.study.reading.number_summary import Ordered, ordered
from pellucid.study.reading.word_columns import Words, word_columns
from pellucid.study.records import ColumnProfile

PROBES = 20_000  # distinct cells that decide the kind of a text column
NUMBERS, CATEGORY = ("number", "whole"), ("category", "truth")
TEXT_WORDS = 3.0  # cells of so many words on average are sentences
MOSTLY, HALF = 0.9, 0.5  # shares of cells that are numbers
QUANTITIES = 20  # numbers of more different sizes than this are quantities, not codes
COMMONEST = 10  # levels kept in a profile
SECONDS = (1e9, 2e9)  # since 1970: the years 2001 to 2033
CLOCKS = (("seconds", 1.0), ("milliseconds", 1e3), ("microseconds", 1e6), ("nanoseconds", 1e9))
FEWEST = 10  # different moments of a time
SAFE = 2.0**53  # whole numbers up to here are exact as float64


class Strays(NamedTuple):
    """Cells of a column of numbers or dates that are none."""

    numeric_share: float
    cells: int
    examples: tuple[str, ...]
    rows: tuple[int, ...] = ()  # where the examples stand first, counted from 1
    mixed: bool = False  # numbers after all, written in several ways or units


class Column(NamedTuple):
    """One column, read: ``cells`` are Float64, Boolean, String, Datetime or List by kind."""

    name: str
    kind: str
    cells: pl.Series
    missing: int
    distinct: int
    numbers: Array | None = None  # number, whole, truth, date: NaN where missing
    order: Ordered | None = None
    counts: tuple[tuple[str, int], ...] = ()
    strays: Strays | None = None
    form: str = ""  # how the numbers or dates of a text were written
    words: float = 0.0  # mean number of words of the distinct texts
    doubt: bool = False  # no cell says whether 1,018 is 1018 or 1.018

    @property
    def filled(self) -> int:
        return len(self.cells) - self.missing


def read_columns(frame: pl.DataFrame) -> dict[str, Column]:
    """Every column of a frame, read; columns are shared out to threads.

    Where the cells of a column leave open what a comma means, the other columns decide.
    """
    series = frame.rechunk().get_columns()
    words = {name: _of_words(frame[name], w) for name, w in word_columns(series).items()}
    words = {name: column for name, column in words.items() if column is not None}
    rest = [one for one in series if one.name not in words]
    few = len(rest) * frame.height < 100_000
    found = map(read_column, rest) if few else map_threads(read_column, rest)
    read = words | dict(zip([one.name for one in rest], found, strict=True))
    columns = {name: read[name] for name in frame.columns}
    shown = {marks_of(c.form).decimal for c in columns.values() if _is_clear(c)}
    if len(shown) == 1:
        (decimal,) = shown
        columns |= {n: read_column(frame[n], decimal) for n, c in columns.items() if c.doubt}
    return columns


def _is_clear(column: Column) -> bool:
    """Whether text shows what points and commas mean in it."""
    shows = column.kind in NUMBERS and column.form and not column.doubt
    return bool(shows) and (marks_of(column.form).decimal == "," or column.form[1] in ",.")


def typed_frame(frame: pl.DataFrame, columns: dict[str, Column]) -> pl.DataFrame:
    """The frame with text that is numbers or dates as such, and long whole numbers as text.

    >>> frame = pl.DataFrame({"price": ["$1,200", "$900"]})
    >>> typed_frame(frame, read_columns(frame))["price"].to_list()
    [1200, 900]
    """
    text = [c for n, c in columns.items() if frame[n].dtype == pl.String and c.form]
    long = [c for n, c in columns.items() if is_whole(frame[n].dtype) and c.kind == "category"]
    return frame.with_columns([c.cells for c in (*text, *long)])


def is_whole(dtype: Any) -> bool:
    """Whether a column of this type can hold whole numbers alone."""
    return bool(dtype.is_integer() or (dtype == pl.Decimal and dtype.scale == 0))


def read_column(series: pl.Series, decimal: str = "") -> Column:
    """The kind of a column and its cells in that kind; ``decimal`` where a mark is in doubt.

    >>> read_column(pl.Series("a", ["1", "2.5", None])).kind
    'number'
    """
    dtype = series.dtype
    if series.null_count() == len(series):
        return Column(series.name, "empty", series, len(series), 0)
    if dtype == pl.Boolean:
        return _truth(series)
    if dtype.is_numeric() or dtype in (pl.Duration, pl.Time):
        return _numbers(
            series.cast(pl.Int128) if dtype == pl.Decimal and is_whole(dtype) else series
        )
    if dtype in (pl.Date, pl.Datetime):
        return _dates(series, "")
    if dtype in (pl.List, pl.Array):
        return _lists(series)
    if dtype == pl.String:
        return _text(series, decimal=decimal)
    if dtype in (pl.Categorical, pl.Enum):
        return _text(series.cast(pl.String), coded=True)
    return _text(pl.Series(series.name, [None if c is None else str(c) for c in series.to_list()]))


def as_float(series: pl.Series) -> Array:
    """Numbers as float64 with NaN for missing cells; not copied where that is possible."""
    if series.dtype in (pl.Duration, pl.Time):
        series = series.to_physical()
    if series.dtype != pl.Float64:
        series = series.cast(pl.Float64)
    if series.null_count():
        series = series.fill_null(float("nan"))
    return np.asarray(series.rechunk().to_numpy())


def _numbers(series: pl.Series, strays: Strays | None = None) -> Column:
    x = as_float(series)
    order = ordered(x)
    if order.n == 0 and order.infinite == 0:
        return Column(series.name, "empty", series, len(series), 0)
    names = series.dtype.is_integer() and 2 * int((np.abs(x) >= 10.0**LONG).sum()) > order.n
    if names and not is_clock(x[~np.isnan(x)]):
        return _text(series.cast(pl.String), coded=True)
    distinct = order.distinct + order.infinite_kinds
    if series.dtype.is_integer() and max(abs(order.low), abs(order.high)) >= SAFE:
        distinct = series.n_unique() - (series.null_count() > 0)
    if order.whole and order.infinite == 0:
        dates = whole_dates(series, order)
        if dates is not None:
            return _dates(dates, "YYYYMMDD")
    kind = "whole" if order.whole and order.infinite == 0 else "number"
    missing = order.missing
    if series.dtype.is_float() and missing > series.null_count():
        series = series.fill_nan(None)
    return Column(
        series.name, kind, series, missing, distinct, x, order, order.counts, strays=strays
    )


def clock_unit(low: float, high: float) -> str:
    """What numbers between two ends count since 1970; '' where they are no such count.

    >>> clock_unit(1.6e9, 1.7e9), clock_unit(1.6e18, 1.7e18), clock_unit(1.0, 1.7e9)
    ('seconds', 'nanoseconds', '')
    """
    for name, unit in CLOCKS:
        if SECONDS[0] * unit <= low and high <= SECONDS[1] * unit:
            return name
    return ""


def is_clock(x: Array) -> bool:
    """Do these numbers count from 1970, rise from row to row and span a minute or more?"""
    unit = dict(CLOCKS).get(clock_unit(float(x.min()), float(x.max()))) if len(x) else None
    if unit is None or np.ptp(x) < 60 * unit:
        return False
    return bool((np.diff(x) >= 0).all()) and len(np.unique(x)) >= FEWEST


def _truth(series: pl.Series) -> Column:
    x = as_float(series)
    order = ordered(x)
    yes = int(series.sum() or 0)
    no = order.n - yes
    counts = tuple(pair for pair in (("false", no), ("true", yes)) if pair[1])
    return Column(series.name, "truth", series, order.missing, order.distinct, x, order, counts)


def _dates(series: pl.Series, form: str, strays: Strays | None = None) -> Column:
    moments = series.cast(pl.Datetime("us")) if series.dtype == pl.Date else series
    x = as_float(moments.to_physical())
    unit = getattr(moments.dtype, "time_unit", "us")
    if unit != "us":
        x = x * {"ns": 1e-3, "ms": 1e3}[unit]
    order = ordered(x)
    return Column(
        series.name,
        "date",
        series,
        order.missing,
        order.distinct,
        x,
        order,
        strays=strays,
        form=form,
    )


def _lists(series: pl.Series) -> Column:
    cells = series if series.dtype == pl.List else series.arr.to_list()
    labels = cells.explode(empty_as_null=True).drop_nulls()
    joined = cells.cast(pl.List(pl.String)).list.join(";", ignore_nulls=True)
    distinct = joined.n_unique() - (joined.null_count() > 0)
    return Column(
        series.name, "list", cells, series.null_count(), distinct, counts=commonest(labels)
    )


def commonest(series: pl.Series) -> tuple[tuple[str, int], ...]:
    """The commonest values as text, with their counts; equal counts by name."""
    if not len(series):
        return ()
    return ranked(series.rename("cell").cast(pl.String).value_counts(name="count"))


def ranked(counts: pl.DataFrame) -> tuple[tuple[str, int], ...]:
    top = counts.top_k(COMMONEST, by=[pl.col("count"), pl.col("cell")], reverse=[False, True])
    top = top.sort(["count", "cell"], descending=[True, False])
    return tuple((str(cell), int(n)) for cell, n in top.rows())


# --- text


def _text(series: pl.Series, coded: bool = False, decimal: str = "") -> Column:
    """Text: numbers, truth values, dates, lists, sentences or levels."""
    counts = series.rename("cell").value_counts(name="count").drop_nulls("cell")
    trimmed = counts["cell"].str.strip_chars()
    if (trimmed != counts["cell"]).any() or trimmed.is_in(MISSING).any():
        cell = pl.col(series.name).str.strip_chars()
        mark = pl.when(cell.is_in(MISSING)).then(None).otherwise(cell)
        return _text(series.to_frame().select(mark.alias(series.name)).to_series(), coded, decimal)
    if not counts.height:
        return Column(series.name, "empty", series, len(series), 0)
    probes = counts if counts.height <= PROBES else _some(series)
    strays = None
    if not coded:
        number = _as_numbers(series, counts, probes, decimal)
        if isinstance(number, Column):
            return number
        strays = number
        if counts.height <= 2 and counts["cell"].str.to_lowercase().is_in(["true", "false"]).all():
            return _truth(series.str.to_lowercase() == "true")
        dates = read_dates(series, probes["cell"])
        if dates is not None:
            left = series.filter(dates.cells.is_null() & series.is_not_null())
            lost = left.rename("cell").value_counts(name="count")
            share = 1 - len(left) / max(1, len(series) - series.null_count())
            return _dates(dates.cells, dates.form, _strays(series, lost, share))
    words = float(probes["cell"].str.count_matches(r"\S+").mean())  # type: ignore[arg-type]
    kind = "category"
    filled = len(series) - series.null_count()
    if not coded and is_list(counts, probes):
        kind = "list"
    elif not coded and words >= TEXT_WORDS and counts.height > min(0.5 * filled, 50):
        kind = "text"
    top = commonest_labels(counts) if kind == "list" else ranked(counts)
    return Column(
        series.name,
        kind,
        series,
        series.null_count(),
        counts.height,
        counts=top,
        strays=strays,
        words=words,
    )


def _of_words(series: pl.Series, words: Words) -> Column | None:
    """The column that ``_text`` makes of plain words; None where they may be sentences."""
    if words.words >= TEXT_WORDS:
        return None
    counts = words.counts
    ends = (series.name, "category", series, words.missing, len(counts))
    return Column(*ends, counts=counts[:COMMONEST], words=words.words)


def _some(series: pl.Series) -> pl.DataFrame:
    """Distinct cells of evenly spaced rows."""
    rows = series.drop_nulls().gather_every(max(1, len(series) // PROBES))
    return rows.rename("cell").value_counts(name="count")


def _as_numbers(
    series: pl.Series, counts: pl.DataFrame, probes: pl.DataFrame, decimal: str
) -> Column | Strays | None:
    """A column of numbers, what is stray in a mixture, or None for other text."""
    found = find_form(probes, decimal)
    if found is None:
        return None
    judged = counts.with_columns(read_amounts(counts["cell"], found.form).alias("number"))
    stray = judged.filter(pl.col("number").is_null())
    n, total = int(stray["count"].sum()), int(counts["count"].sum())
    share = 1 - n / total
    mixed = n > 0 and look_like_amounts(probes, MOSTLY, QUANTITIES)
    strays = _strays(series, stray, share, mixed)
    if n == 0 or (share >= MOSTLY and judged["number"].n_unique() > QUANTITIES):
        column = _numbers(read_amounts(series, found.form), strays)
        if column.kind == "date":
            return column
        exact = (
            column.kind == "whole"
            and column.order
            and max(abs(column.order.low), abs(column.order.high)) < SAFE
        )
        cells = column.cells.cast(pl.Int64) if exact else column.cells
        return column._replace(cells=cells, form=found.form, doubt=found.doubt)
    said = share >= HALF and (
        not marks_of(found.form).unit or judged["number"].n_unique() > QUANTITIES
    )
    return strays if said or mixed else None


def _strays(
    series: pl.Series, stray: pl.DataFrame, share: float, mixed: bool = False
) -> Strays | None:
    """The cells that could not be read, with the commonest as examples and their rows."""
    if not stray.height:
        return None
    examples = tuple(cell for cell, _ in ranked(stray.select("cell", "count"))[:5])
    rows = tuple(int((series == cell).arg_max() or 0) + 1 for cell in examples)
    return Strays(share, int(stray["count"].sum()), examples, rows, mixed)


def is_list(counts: pl.DataFrame, probes: pl.DataFrame) -> bool:
    """Cells such as ``a;b`` whose labels return in other cells.

    >>> cells = ["a;b", "b", "c;a", "a", "c;b", "Rome;Italy"]
    >>> counts = pl.DataFrame({"cell": cells[:5], "count": [4, 4, 4, 4, 4]})
    >>> is_list(counts, counts)
    True
    """
    joined = probes["cell"].str.contains(";", literal=True)
    if not joined.any():
        return False
    cells = probes["count"].to_numpy()
    if cells[joined.to_numpy()].sum() < 0.05 * cells.sum():
        return False
    pairs = label_pairs(probes)
    labels = pairs.group_by("cell").agg(pl.len().alias("cells"), pl.col("count").sum())
    short = float(labels["cell"].str.len_chars().mean()) <= 40  # type: ignore[arg-type]
    returns = pairs.height >= 1.5 * labels.height  # a label stands in several different cells
    return bool(short and returns and labels["count"].sum() >= 3 * labels.height)


def label_pairs(counts: pl.DataFrame) -> pl.DataFrame:
    """One row per (distinct cell, label of it), with the count of the cell."""
    split = counts.select(pl.col("cell").str.split(";").list.unique(), "count")
    exploded = split.explode("cell", empty_as_null=True, keep_nulls=True)
    pairs = exploded.select(pl.col("cell").str.strip_chars(), "count")
    return pairs.filter(pl.col("cell").str.len_chars() > 0)


def commonest_labels(counts: pl.DataFrame) -> tuple[tuple[str, int], ...]:
    return ranked(label_pairs(counts).group_by("cell").agg(pl.col("count").sum()))


# --- the profile


def profiles(
    columns: Iterable[Column], roles: dict[str, str], notes: dict[str, str]
) -> tuple[ColumnProfile, ...]:
    """The columns as records for a report."""
    return tuple(_profile(c, roles.get(c.name, "input"), notes.get(c.name, "")) for c in columns)


def _profile(column: Column, role: str, note: str) -> ColumnProfile:
    low: Any = None
    high: Any = None
    middle = spread = None
    if column.kind in NUMBERS and column.order is not None and column.order.n:
        order = column.order
        low, high, middle, spread = order.low, order.high, order.median, order.sd
        if column.kind == "whole":
            low, high = int(low), int(high)
    elif column.kind == "date":
        low, high = (_iso(cell) for cell in (column.cells.min(), column.cells.max()))
    return ColumnProfile(
        column.name,
        column.kind,
        role,
        column.missing,
        column.distinct,
        low,
        high,
        middle,
        spread,
        column.counts,
        note,
    )


def _iso(cell: Any) -> str:
    return str(cell.isoformat()).removesuffix("T00:00:00")
