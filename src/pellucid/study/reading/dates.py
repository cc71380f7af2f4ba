"""Dates in text: the usual ways to write them, read as datetimes.

ISO dates and times (and Y/M/D) first, as the loader reads them; then day first, month first and
month names, each with or without a weekday and a time of day. The way that reads the most cells is
taken, and what it leaves is tried the other ways, so that a column of several formats is read too.
Whether 01/02 is a day or a month first is decided once for the column, by the cells that leave no
doubt; without one it is taken as day first, and the form says that it is not certain. Years of two
digits are 1969 to 2068.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import polars as pl

from pellucid.core.arrays.typing import BoolArray
from pellucid.data.cells import converted
from pellucid.study.reading.missing_marks import is_known_mark
from pellucid.study.reading.number_summary import Ordered

SHARE = 0.95  # of the cells must be dates
DAY_FIRST = {"D/M/Y": "%d/%m/%Y", "D-M-Y": "%d-%m-%Y", "D/M/y": "%d/%m/%y"}
MONTH_FIRST = {"M/D/Y": "%m/%d/%Y", "M-D-Y": "%m-%d-%Y", "M/D/y": "%m/%d/%y"}
FORMS = {
    "D.M.Y": "%d.%m.%Y",
    **DAY_FIRST,
    **MONTH_FIRST,
    "Y.M.D": "%Y.%m.%d",
    "D Mon Y": "%d %b %Y",
    "D Month Y": "%d %B %Y",
    "D-Mon-Y": "%d-%b-%Y",
    "Mon D, Y": "%b %d, %Y",
    "Month D, Y": "%B %d, %Y",
    "D.M.y": "%d.%m.%y",
    "D-Mon-y": "%d-%b-%y",
    "Mon Y": "%d %b %Y",  # the first of the month is put in front
    "Month Y": "%d %B %Y",
    "M/Y": "%d %m/%Y",
    "YYYYMMDD": "%Y%m%d",
}
_TIME = r"[T ]+(\d{1,2}):(\d{2})(?::(\d{2})(\.\d+)?)?(?: ?([AaPp])\.?[Mm]\.?)?$"
_DATE_LIKE = (
    r"^([A-Za-z]{3,9},? )?(\d{4}[-/.]\d{1,2}([-/.]\d{1,2})?|\d{1,2}[-/.]\d{1,2}[-/.](\d{4}|\d{2})"
    r"|\d{1,2}\.?[ -][A-Za-z]{3,9}[ -](\d{4}|\d{2})|[A-Za-z]{3,9} \d{1,2},? ?\d{4}"
    r"|[A-Za-z]{3,9}\.? \d{4}|\d{1,2}/\d{4})([T ]+\d{1,2}:\d{2}.*)?$"
)
_UNDECIDED = " (or M/D/Y: no cell decides)"


class Dates(NamedTuple):
    cells: pl.Series  # Datetime; null where a cell is no date
    form: str


def is_date_like(cell: pl.Expr) -> pl.Expr:
    """Whether a cell has the shape of a date; no other text is read as one."""
    return cell.str.contains(_DATE_LIKE)


def read_dates(series: pl.Series, probes: pl.Series) -> Dates | None:
    """The dates in a column of text, or None if it is something else.

    >>> cells = pl.Series("day", ["31.12.2023", "01.02.2024", None])
    >>> read_dates(cells, cells.drop_nulls()).cells.dt.date().to_list()[0].isoformat()
    '2023-12-31'
    """
    one = probes.rename("cell").to_frame().with_columns(column=0)
    return find_dates([series], one).get(0)


def find_dates(columns: Sequence[pl.Series], probes: pl.DataFrame) -> dict[int, Dates]:
    """The dates in columns of text, by their number; no entry: something else.

    ``probes`` holds distinct cells (``column``, ``cell``) and is sorted by column. Marks such as a
    dash stand for missing cells.
    """
    probes = probes.filter(~is_known_mark(pl.col("cell")))
    like = probes.with_columns(like=is_date_like(pl.col("cell"))).group_by("column")
    dated = like.agg(dated=pl.col("like").sum() >= SHARE * pl.len()).filter("dated")
    if not dated.height:
        return {}
    asked = probes.filter(pl.col("column").is_in(dated["column"].implode()))
    names = ["ISO", "Y-M", *FORMS]
    read = np.stack([_parsed(asked["cell"], name).is_not_null().to_numpy() for name in names])
    of_column = asked["column"].to_numpy()
    starts = np.flatnonzero(np.diff(of_column, prepend=-1))
    ends = np.append(starts[1:], len(of_column))
    chosen = {
        int(of_column[a]): form
        for a, b in zip(starts, ends, strict=True)
        if (form := _chosen(dict(zip(names, read[:, a:b], strict=True)))) is not None
    }
    found = {}
    for form in set(chosen.values()):
        some = [j for j, own in chosen.items() if own == form]
        cells = dates_of_form(pl.concat([columns[j].rename("cell") for j in some]), form)
        first = 0
        for j in some:
            own = cells.slice(first, len(columns[j])).alias(columns[j].name)
            first += len(own)
            marks = columns[j].alias("cell").to_frame().select(is_known_mark(pl.col("cell")).sum())
            lost = own.null_count() - columns[j].null_count() - marks.item()
            if lost <= (1 - SHARE) * len(own):
                found[j] = Dates(own, form)
    return found


def _chosen(read: dict[str, BoolArray]) -> str | None:
    """The forms of a column, from which cells each of them reads; None where too many are left."""
    hits = {name: int(cells.sum()) for name, cells in read.items()}
    day, month = (sum(hits[name] for name in some) for some in (DAY_FIRST, MONTH_FIRST))
    other = DAY_FIRST if month > day else MONTH_FIRST
    names = [name for name in sorted(hits, key=lambda name: -hits[name]) if name not in other]
    chosen, left = list[str](), np.ones_like(read["ISO"])
    for name in names:
        if hits[name] and (left & read[name]).any():
            chosen.append(name)
            left = left & ~read[name]
    if left.sum() > (1 - SHARE) * len(left):
        return None
    return " or ".join(chosen) + _UNDECIDED * (day == month > 0)


def dates_of_form(series: pl.Series, form: str) -> pl.Series:
    """Cells read in a form that was found before; null where they are written otherwise.

    >>> dates_of_form(pl.Series(["02/01/24 1:05 pm"]), "M/D/y")[0].isoformat()
    '2024-02-01T13:05:00'
    """
    first, *others = form.removesuffix(_UNDECIDED).split(" or ")
    cells = _parsed(series, first)
    for name in others:
        if cells.null_count() > series.null_count():
            cells = cells.fill_null(_parsed(series, name))
    return cells.alias(series.name)


def _parsed(series: pl.Series, name: str) -> pl.Series:
    """Cells read in one form; null where they are written otherwise."""
    frame = series.rename("cell").str.strip_chars().to_frame()
    cell = pl.col("cell")
    if name == "ISO":
        zoned = converted(cell, "utc").dt.replace_time_zone(None)
        read = pl.coalesce(converted(cell, "datetime"), zoned)
    elif name == "Y-M":
        month = pl.when(cell.str.contains(r"^\d{4}-\d{2}$")).then(cell + "-01")
        read = month.str.to_datetime("%Y-%m-%d", time_unit="us", strict=False)
    else:
        day = cell.str.replace(_TIME, "").str.replace(
            r"^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? ", ""
        )
        read = _day(day, name) + _time_of_day(cell)
    return frame.select(read.cast(pl.Datetime("us")).alias("cell")).to_series()


def _day(day: pl.Expr, name: str) -> pl.Expr:
    form = FORMS[name]
    year = r"^\d{4}[-/.]|\d{4}$"
    full = day.str.contains(year) if "%Y" in form else ~day.str.contains(r"\d{4}")
    if name == "D.M.y":  # 2.4.11 is a version
        full = day.str.contains(r"^\d{2}\.\d{2}\.\d{2}$")
    if name in ("Mon Y", "Month Y", "M/Y"):
        full = day.str.contains(r"^(?:[A-Za-z]+\.?|\d{1,2}/)\s?\d{4}$")
        day = pl.lit("1 ") + day
    if "%b" in form or "%B" in form:  # 5. Jan 2024, Jan. 5 2024
        day = day.str.replace(r"([A-Za-z\d])\.", "${1}")
        day = day.str.replace(r"^([A-Za-z]+ \d{1,2}) (\d{4})$", "${1}, ${2}")
    moment = pl.when(full).then(day).str.to_date(form, strict=False)
    return moment.cast(pl.Datetime("us"))


def _time_of_day(cell: pl.Expr) -> pl.Expr:
    """The time behind a date as a duration; zero without one, null for 25:00."""
    part = cell.str.extract_groups(_TIME)
    hour, minute, second = (
        part.struct.field(str(i)).cast(pl.Int64, strict=False).fill_null(0) for i in (1, 2, 3)
    )
    fraction = part.struct.field("4").cast(pl.Float64, strict=False).fill_null(0.0)
    half = part.struct.field("5").str.to_lowercase()
    clock = pl.when(half.is_null()).then(hour).otherwise(hour % 12 + 12 * (half == "p"))
    valid = (hour < 24) & (minute < 60) & (second < 60) & (half.is_null() | hour.is_between(1, 12))
    size = (clock * 3600 + minute * 60 + second) * 1_000_000 + (fraction * 1e6).cast(pl.Int64)
    return pl.when(valid).then(pl.duration(microseconds=size))


def whole_dates(series: pl.Series, order: Ordered) -> pl.Series | None:
    """Whole numbers such as 20240131, all of them days of the calendar and at least ten."""
    if order.distinct < 10 or order.low < 19000101 or order.high > 21001231:
        return None
    text = series.cast(pl.Int64).cast(pl.String)
    days = text.str.to_date("%Y%m%d", strict=False)
    return days if days.null_count() == order.missing else None
