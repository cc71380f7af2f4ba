"""What a column holds: its kind, its cells in that kind, and the numbers that describe it.

    number    numbers with fractions              whole    whole numbers
    truth     true or false                       category text that repeats, or single words
    text      sentences: many different cells of several words
    date      dates and times, in one of the usual ways to write them
    list      lists, or cells such as ``a;b`` whose labels return in other cells
    empty     nothing at all

Text is judged by its distinct cells. Text that is numbers throughout, however people write them
(``number_forms``), is numbers; cells that stand for "missing" among them (``missing_marks``), and
others where at least 90 % are numbers of more than 20 different sizes, count as missing and are
kept as ``strays``. Codes stay text: leading zeros, phone numbers, whole numbers of more than 15
digits. One sort per numeric column gives every statistic of it (``numeric``).
"""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from pellucid.core.arrays.typing import Array
from pellucid.core.runtime.threads import map_threads
from pellucid.data.cells import MISSING, stripped
from pellucid.study.reading.counts import are_codes
from pellucid.study.reading.dates import Dates, find_dates, whole_dates
from pellucid.study.reading.missing_marks import QUANTITIES, with_marks
from pellucid.study.reading.number_forms import (
    LONG,
    Found,
    amount_like,
    find_forms,
    marks_of,
    read_amounts,
    read_each,
)
from pellucid.study.reading.number_summary import Ordered, ordered
from pellucid.study.records import ColumnProfile

PROBES = 20_000  # distinct cells that decide the kind of a text column
NUMBERS, CATEGORY = ("number", "whole"), ("category", "truth")
TEXTS = (pl.String, pl.Categorical, pl.Enum)
TEXT_WORDS = 3.0  # cells of so many words on average are sentences
MOSTLY, HALF = 0.9, 0.5  # shares of cells that are numbers
COMMONEST = 10  # levels kept in a profile
SMALL = 1000  # values that Python sorts before Polars has begun
MANY_COLUMNS, FEW_ROWS = 8, 10_000  # text columns that are read together
CELLS = 500_000  # of the columns that are read together
SECONDS = (1e9, 2e9)  # since 1970: the years 2001 to 2033
CLOCKS = (("seconds", 1.0), ("milliseconds", 1e3), ("microseconds", 1e6), ("nanoseconds", 1e9))
FEWEST = 10  # different moments of a time
SAFE = 2.0**53  # whole numbers up to here are exact as float64


Counts = tuple[tuple[str, int], ...]  # the commonest values and how often they occur


class Strays(NamedTuple):
    """Cells of a column of numbers or dates that are none."""

    numeric_share: float
    cells: int
    examples: tuple[str, ...]
    rows: tuple[int, ...] = ()  # where the examples stand first, counted from 0
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
    counts: Counts = ()
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
    read = _read_together(series)
    rest = [one for one in series if one.name not in read]
    few = len(rest) * frame.height < 100_000
    found = map(read_column, rest) if few else map_threads(read_column, rest)
    read |= dict(zip([one.name for one in rest], found, strict=True))
    columns = {name: read[name] for name in frame.columns}
    shown = {marks_of(c.form).decimal for c in columns.values() if _is_clear(c)}
    if len(shown) == 1:
        (decimal,) = shown
        doubtful = [frame[n] for n, c in columns.items() if c.doubt]
        columns |= _read_together(doubtful, decimal)
        columns |= {s.name: read_column(s, decimal) for s in doubtful if columns[s.name].doubt}
    return columns


def _read_together(columns: Sequence[pl.Series], decimal: str = "") -> dict[str, Column]:
    """The text among very many short columns; none where they are few or long."""
    texts = [one for one in columns if one.dtype == pl.String and one.null_count() < len(one)]
    if len(texts) < MANY_COLUMNS or len(texts[0]) > FEW_ROWS:
        return {}
    share = max(1, CELLS // max(1, len(texts[0])))
    parts = [_texts(texts[i : i + share], decimal) for i in range(0, len(texts), share)]
    return {column.name: column for part in parts for column in part}


def _is_clear(column: Column) -> bool:
    """Whether text shows what points and commas mean in it."""
    shows = column.kind in NUMBERS and column.form and not column.doubt
    return bool(shows) and (marks_of(column.form).decimal == "," or column.form[1] in ",.")


def typed_frame(frame: pl.DataFrame, columns: dict[str, Column]) -> pl.DataFrame:
    """The frame with text that is numbers or dates as such, long whole numbers as text, and times
    in seconds.

    >>> frame = pl.DataFrame({"price": ["$1,200", "$900"]})
    >>> typed_frame(frame, read_columns(frame))["price"].to_list()
    [1200, 900]
    """
    text = [c for n, c in columns.items() if frame[n].dtype == pl.String and c.form]
    long = [c for n, c in columns.items() if is_whole(frame[n].dtype) and c.kind == "category"]
    times = [in_seconds(one) for one in frame if one.dtype in (pl.Duration, pl.Time)]
    return frame.with_columns([*(c.cells for c in (*text, *long)), *times])


def with_plain_names(
    frame: pl.DataFrame, columns: dict[str, Column], names: Sequence[str]
) -> pl.DataFrame:
    """The frame with the labels or groups of some columns as they are read: no blanks around them,
    no missing marks, true and false in text as such.

    >>> frame = pl.DataFrame({"answer": ["yes ", "no", "NA"]})
    >>> with_plain_names(frame, read_columns(frame), ["answer"])["answer"].to_list()
    ['yes', 'no', None]
    """
    held = [columns[n] for n in names if columns[n].kind in ("category", "text", "truth")]
    texts = {c.name: c.cells for c in held if frame[c.name].dtype in TEXTS}
    for name, cells in texts.items():
        raw = frame[name]
        if cells.dtype != pl.String:
            frame = frame.with_columns(cells)
        elif not cells.equals(raw.cast(pl.String)):
            kind: Any = raw.dtype
            if isinstance(kind, pl.Enum):  # its order stays
                kind = pl.Enum(kind.categories.str.strip_chars().unique(maintain_order=True))
            frame = frame.with_columns(cells.cast(kind))
    return frame


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
        return _texts([series], decimal)[0]
    if dtype in TEXTS:
        return _coded(series.cast(pl.String))
    cells = [None if c is None else str(c) for c in series.to_list()]
    return _texts([pl.Series(series.name, cells)])[0]


def in_seconds(series: pl.Series) -> pl.Series:
    """A length of time, or a time of day since midnight, as seconds whatever the column counts in.

    >>> in_seconds(pl.Series([90_000], dtype=pl.Duration("ms"))).to_list()
    [90.0]
    """
    if series.dtype == pl.Duration:
        return series.dt.total_seconds(fractional=True)
    return series.cast(pl.Int64).cast(pl.Float64) / 1e9 if series.dtype == pl.Time else series


def as_float(series: pl.Series) -> Array:
    """Numbers as float64 with NaN for missing cells; not copied where that is possible."""
    series = in_seconds(series)
    if series.dtype != pl.Float64:
        series = series.cast(pl.Float64)
    return np.asarray(series.rechunk().to_numpy())  # null is NaN there


def _numbers(series: pl.Series, strays: Strays | None = None) -> Column:
    x = as_float(series)
    order = ordered(x)
    if order.n == 0 and order.infinite == 0:
        return Column(series.name, "empty", series, len(series), 0)
    names = series.dtype.is_integer() and 2 * int((np.abs(x) >= 10.0**LONG).sum()) > order.n
    if names and not is_clock(x[~np.isnan(x)]):
        return _coded(series.cast(pl.String))
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


def commonest(series: pl.Series) -> Counts:
    """The commonest values as text, with their counts; equal counts by name."""
    if not len(series):
        return ()
    return ranked(series.rename("cell").cast(pl.String).value_counts(name="count"))


def ranked(counts: pl.DataFrame) -> Counts:
    """The commonest of distinct values (``cell``, ``count``); equal counts by name."""
    if counts.height > SMALL:
        counts = counts.top_k(COMMONEST, by=["count", "cell"], reverse=[False, True])
    top = sorted(counts.rows(), key=lambda pair: (-pair[1], pair[0]))[:COMMONEST]
    return tuple((str(cell), int(n)) for cell, n in top)


# --- text


def _coded(series: pl.Series) -> Column:
    """Text that names levels and nothing else."""
    (series,), counts = _distinct([series])
    if not counts.height:
        return Column(series.name, "empty", series, len(series), 0)
    words = float(counts["cell"].str.count_matches(r"\S+").mean())  # type: ignore[arg-type]
    levels = (series.null_count(), counts.height)
    return Column(
        series.name, "category", series, *levels, counts=ranked(counts[:, 1:]), words=words
    )


def _texts(columns: Sequence[pl.Series], decimal: str = "") -> list[Column]:
    """Columns of text: numbers, truth values, dates, lists, sentences or levels.

    A question to Polars costs as much as thousands of cells, so that all columns are asked at once.
    """
    columns, counts = _distinct(columns)
    probes = counts
    if counts.height > PROBES and len(columns) == 1:
        probes = _some(columns[0])
    numbers = _as_numbers(columns, counts, probes, decimal)
    found: dict[int, Column] = {j: c for j, c in numbers.items() if isinstance(c, Column)}
    truths = _truths(counts)
    found |= {j: _truth(columns[j].str.to_lowercase() == "true") for j in truths - found.keys()}
    known = pl.Series(list(found), dtype=pl.Int32)
    rest = probes.filter(~pl.col("column").is_in(known.implode()))
    found |= {j: _read_dates(columns[j], dates) for j, dates in find_dates(columns, rest).items()}
    words = rest.group_by("column").agg(pl.col("cell").str.count_matches(r"\S+").mean())
    left = {j: mean for j, mean in words.iter_rows() if j not in found}
    lists = _lists_of(rest, counts)
    places = _places(counts)
    for j, mean in left.items():
        own = counts[:, 1:].slice(*places[j])
        column = _levels(columns[j], own, mean, lists.get(j))
        strays = numbers.get(j)
        assert not isinstance(strays, Column)
        found[j] = column._replace(strays=strays)
    return [found.get(j) or _empty(series) for j, series in enumerate(columns)]


def _empty(series: pl.Series) -> Column:
    return Column(series.name, "empty", series, len(series), 0)


def _distinct(columns: Sequence[pl.Series]) -> tuple[list[pl.Series], pl.DataFrame]:
    """The columns without outer blanks and missing marks, and their distinct cells.

    Those are ``column`` (its number, in whose order they stand), ``cell`` and ``count``.
    """
    column = pl.Series("column", range(len(columns)), dtype=pl.Int32)
    heights = pl.Series([len(one) for one in columns], dtype=pl.UInt32)
    cells = pl.concat(columns, rechunk=True).alias("cell")
    if len(columns) == 1:  # a hash of one column is the fast one
        counts = cells.value_counts(name="count").drop_nulls("cell")
        counts = counts.select(pl.lit(0, pl.Int32).alias("column"), "cell", "count")
    else:
        frame = pl.DataFrame([column.repeat_by(heights).explode(empty_as_null=True), cells])
        counts = frame.drop_nulls("cell").group_by("column", "cell").len("count").sort("column")
    trimmed = counts["cell"].str.strip_chars()
    if not ((trimmed != counts["cell"]).any() or trimmed.is_in(MISSING).any()):
        return list(columns), counts
    plain = cells.to_frame().select(stripped(pl.col("cell"))).to_series()
    first, tidy = 0, []
    for one in columns:
        tidy.append(plain.slice(first, len(one)).alias(one.name))
        first += len(one)
    return _distinct(tidy)


def _places(counts: pl.DataFrame) -> dict[int, tuple[int, int]]:
    """Where the cells of each column begin in distinct cells, and how many they are."""
    lengths = counts.group_by("column", maintain_order=True).len()
    begin = lengths["len"].cum_sum() - lengths["len"]
    return dict(
        zip(lengths["column"], zip(begin.to_list(), lengths["len"], strict=True), strict=True)
    )


def _truths(counts: pl.DataFrame) -> set[int]:
    """The columns of true and false."""
    truth = pl.col("cell").str.to_lowercase().is_in(["true", "false"]).all() & (pl.len() <= 2)
    return set(counts.group_by("column").agg(truth=truth).filter("truth")["column"].to_list())


def _read_dates(series: pl.Series, dates: Dates) -> Column:
    if dates.cells.null_count() == series.null_count():
        return _dates(dates.cells, dates.form)
    left = series.filter(dates.cells.is_null() & series.is_not_null())
    lost = left.rename("cell").value_counts(name="count")
    share = 1 - len(left) / max(1, len(series) - series.null_count())
    return _dates(dates.cells, dates.form, _strays(series, lost, share))


def _levels(series: pl.Series, counts: pl.DataFrame, words: float, labels: Counts | None) -> Column:
    """Lists (the commonest ``labels`` of one), sentences or levels."""
    missing = series.null_count()
    kind = "category" if labels is None else "list"
    if kind == "category" and words >= TEXT_WORDS:
        kind = "text" if counts.height > min(0.5 * (len(series) - missing), 50) else kind
    top = ranked(counts) if labels is None else labels
    return Column(series.name, kind, series, missing, counts.height, counts=top, words=words)


def _some(series: pl.Series) -> pl.DataFrame:
    """Distinct cells of evenly spaced rows."""
    rows = series.drop_nulls().gather_every(max(1, len(series) // PROBES))
    counts = rows.rename("cell").value_counts(name="count")
    return counts.select(pl.lit(0, pl.Int32).alias("column"), "cell", "count")


def _as_numbers(
    columns: Sequence[pl.Series], counts: pl.DataFrame, probes: pl.DataFrame, decimal: str
) -> dict[int, Column | Strays | None]:
    """Columns of numbers, and what is stray in a mixture; no entry for other text."""
    forms = find_forms(probes, decimal)
    if not forms:
        return {}
    form_of = {"column": list(forms), "form": [found.form for found in forms.values()]}
    schema = {"column": pl.Int32, "form": pl.String}
    judged = counts.join(pl.DataFrame(form_of, schema=schema), on="column", maintain_order="left")
    judged = with_marks(judged.with_columns(number=read_each(judged)))
    is_stray, count = pl.col("number").is_null(), pl.col("count")
    sums = judged.group_by("column").agg(
        count.filter(is_stray).sum(),
        count.sum().alias("total"),
        pl.col("number").drop_nulls().n_unique(),
        count.filter("mark").sum().alias("marks"),
    )
    some = sums.filter(pl.col("count") > 0)["column"].implode()
    like = amount_like(probes.filter(pl.col("column").is_in(some)), MOSTLY, QUANTITIES)
    stray = judged.filter(is_stray).select("column", "cell", "count")
    places = _places(stray)
    found, strays = dict[int, Column | Strays | None](), dict[int, Strays | None]()
    numbers = list[int]()
    for j, n, total, sizes, marks in sums.iter_rows():
        share, bare = 1 - n / total, 1 - (n - marks) / max(total - marks, 1)
        own = stray[:, 1:].slice(*places.get(j, (0, 0)))
        strays[j] = _strays(columns[j], own, share, j in like)
        said = share >= HALF and (not marks_of(forms[j].form).unit or sizes > QUANTITIES)
        if said or j in like:
            found[j] = strays[j]
        if n == marks or (bare >= MOSTLY and sizes > QUANTITIES):
            numbers.append(j)
    if numbers:
        read = _read_all([columns[j] for j in numbers], [forms[j].form for j in numbers])
        for j, series in zip(numbers, read, strict=True):
            column = _of_form(_numbers(series, strays[j]), forms[j])
            if strays[j] is None or not are_codes(column):  # beside codes a mark may be one too
                found[j] = column
    return found


def _read_all(columns: Sequence[pl.Series], forms: Sequence[str]) -> list[pl.Series]:
    """Whole columns as numbers, each under its form."""
    if len(columns) == 1:
        return [read_amounts(columns[0], forms[0])]
    heights = pl.Series([len(one) for one in columns], dtype=pl.UInt32)
    form = pl.Series("form", forms).repeat_by(heights).explode(empty_as_null=True)
    read = read_each(pl.DataFrame([pl.concat(columns).alias("cell"), form]))
    begin = (heights.cum_sum() - heights).to_list()
    return [read.slice(a, len(one)).alias(one.name) for a, one in zip(begin, columns, strict=True)]


def _of_form(column: Column, found: Found) -> Column:
    """A column of numbers that were text; whole numbers are whole where that is exact."""
    if column.kind == "date":
        return column
    exact = (
        column.kind == "whole"
        and column.order
        and max(abs(column.order.low), abs(column.order.high)) < SAFE
    )
    cells = column.cells.cast(pl.Int64) if exact else column.cells
    return column._replace(cells=cells, form=found.form, doubt=found.doubt)


def _strays(
    series: pl.Series, stray: pl.DataFrame, share: float, mixed: bool = False
) -> Strays | None:
    """The cells that could not be read, with the commonest as examples and their rows."""
    if not stray.height:
        return None
    examples = tuple(cell for cell, _ in ranked(stray)[:5])
    rows = tuple(int((series == cell).arg_max() or 0) for cell in examples)
    return Strays(share, int(stray["count"].sum()), examples, rows, mixed)


def _lists_of(probes: pl.DataFrame, counts: pl.DataFrame) -> dict[int, Counts]:
    """The columns of lists with their commonest labels."""
    lists = is_list(probes)
    if not lists:
        return {}
    own = counts.filter(pl.col("column").is_in(pl.Series(lists, dtype=pl.Int32).implode()))
    labels = label_pairs(own).group_by("column", "cell").agg(pl.col("count").sum()).sort("column")
    return {j: ranked(labels[:, 1:].slice(*place)) for j, place in _places(labels).items()}


def is_list(probes: pl.DataFrame) -> list[int]:
    """The columns with cells such as ``a;b`` whose labels return in other cells.

    >>> cells = ["a;b", "b", "c;a", "a", "c;b"]
    >>> is_list(pl.DataFrame({"column": 3, "cell": cells, "count": 4}))
    [3]
    """
    cell, count = pl.col("cell"), pl.col("count")
    joined = count.filter(cell.str.contains(";", literal=True)).sum()
    often = (joined > 0) & (joined >= 0.05 * count.sum())
    some = probes.group_by("column").agg(often=often).filter("often")["column"]
    if not len(some):
        return []
    pairs = label_pairs(probes.filter(pl.col("column").is_in(some.implode())))
    labels = pairs.group_by("column", "cell").agg(pl.len().alias("cells"), count.sum())
    judged = labels.group_by("column").agg(
        short=cell.str.len_chars().mean() <= 40,
        returns=pl.col("cells").sum() >= 1.5 * pl.len(),  # a label stands in several cells
        often=count.sum() >= 3 * pl.len(),
    )
    return judged.filter(pl.all_horizontal("short", "returns", "often"))["column"].to_list()


def label_pairs(counts: pl.DataFrame) -> pl.DataFrame:
    """One row per (distinct cell, label of it), with whatever stands beside the cell."""
    split = counts.with_columns(pl.col("cell").str.split(";").list.unique())
    exploded = split.explode("cell", empty_as_null=True, keep_nulls=True)
    pairs = exploded.with_columns(pl.col("cell").str.strip_chars())
    return pairs.filter(pl.col("cell").str.len_chars() > 0)


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
        low, high = (moment_name(cell) for cell in (column.cells.min(), column.cells.max()))
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


def moment_name(cell: Any) -> str:
    """A date or a time of a day as text; midnight is not said.

    >>> import datetime
    >>> day = datetime.datetime(2024, 5, 1)
    >>> moment_name(day), moment_name(day.replace(hour=7))
    ('2024-05-01', '2024-05-01T07:00:00')
    """
    return str(cell.isoformat()).removesuffix("T00:00:00")
