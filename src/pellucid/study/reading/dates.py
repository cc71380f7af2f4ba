"""Dates in text: the usual ways to write them, read as datetimes.

ISO dates and times (and Y/M/D) first, as the loader reads them; then day first, month first and
month names, each with or without a time of day. The way that reads the most cells is taken, and
what it leaves is tried the other ways, so that a column of several formats is read too. Whether
01/02 is a day or a month first is decided by the cells that leave no doubt; without one it is taken
as day first, and the form says that it is not certain.
"""

from typing import NamedTuple

import polars as pl

from pellucid.data.cells import converted
from pellucid.study.reading.number_summary import Ordered

SHARE = 0.95  # of the cells must be dates
FORMS = {
    "D.M.Y": "%d.%m.%Y",
    "D/M/Y": "%d/%m/%Y",
    "M/D/Y": "%m/%d/%Y",
    "D-M-Y": "%d-%m-%Y",
    "D Mon Y": "%d %b %Y",
    "D Month Y": "%d %B %Y",
    "D-Mon-Y": "%d-%b-%Y",
    "Mon D, Y": "%b %d, %Y",
    "Month D, Y": "%B %d, %Y",
    "M/D/y": "%m/%d/%y",
    "D.M.y": "%d.%m.%y",
    "D-Mon-y": "%d-%b-%y",
}
TIMES = ("", " %H:%M", " %H:%M:%S")
_DATE_LIKE = (
    r"^(\d{4}[-/]\d{1,2}([-/]\d{1,2})?|\d{1,2}[-/.]\d{1,2}[-/.](\d{4}|\d{2})"
    r"|\d{1,2}[ -][A-Za-z]{3,9}[ -](\d{4}|\d{2})|[A-Za-z]{3,9} \d{1,2}, ?\d{4})"
    r"([T ]+\d{1,2}:\d{2}.*)?$"
)


class Dates(NamedTuple):
    cells: pl.Series  # Datetime; null where a cell is no date
    form: str


def read_dates(series: pl.Series, probes: pl.Series) -> Dates | None:
    """The dates in a column of text, or None if it is something else.

    >>> cells = pl.Series("day", ["31.12.2023", "01.02.2024", None])
    >>> read_dates(cells, cells.drop_nulls()).cells.dt.date().to_list()[0].isoformat()
    '2023-12-31'
    """
    like = probes.str.contains(_DATE_LIKE)
    if like.sum() < SHARE * len(probes):
        return None
    read = {name: _parsed(probes, name) for name in ("ISO", "Y-M", *FORMS)}
    hits = {name: int(cells.is_not_null().sum()) for name, cells in read.items()}
    names = [name for name in sorted(hits, key=lambda name: -hits[name]) if hits[name]]
    chosen, left = list[str](), pl.Series([True] * len(probes))
    for name in names:
        if (left & read[name].is_not_null()).any():
            chosen.append(name)
            left = left & read[name].is_null()
    if left.sum() > (1 - SHARE) * len(probes):
        return None
    cells = _parsed(series, chosen[0])
    for name in chosen[1:]:
        cells = cells.fill_null(_parsed(series, name)) if cells.null_count() else cells
    if cells.null_count() - series.null_count() > (1 - SHARE) * len(series):
        return None
    form = " or ".join(chosen)
    if "D/M/Y" in chosen and hits["M/D/Y"] == hits["D/M/Y"]:
        form += " (or M/D/Y: no cell decides)"
    return Dates(cells.alias(series.name), form)


def _parsed(series: pl.Series, name: str) -> pl.Series:
    """Cells read in one form; null where they are written otherwise."""
    cell = pl.col("cell")
    frame = series.rename("cell").to_frame()
    if name == "ISO":
        zoned = converted(cell, "utc").dt.replace_time_zone(None)
        read = pl.coalesce(converted(cell, "datetime"), zoned)
    elif name == "Y-M":
        month = pl.when(cell.str.contains(r"^\d{4}-\d{2}$")).then(cell + "-01")
        read = month.str.to_datetime("%Y-%m-%d", time_unit="us", strict=False)
    else:
        date = FORMS[name]
        plain = cell.str.replace(r"[T ]+(\d{1,2}:\d{2}(:\d{2})?)$", " ${1}")
        if date.endswith("%Y"):  # two digits are not a year in full
            plain = pl.when(plain.str.contains(r"\d{4}( |$)")).then(plain)
        else:
            plain = pl.when(~plain.str.contains(r"\d{4}")).then(plain)
        read = pl.coalesce(
            plain.str.to_datetime(date + time, time_unit="us", strict=False)
            if time
            else plain.str.to_date(date, strict=False).cast(pl.Datetime("us"))
            for time in TIMES
        )
    return frame.select(read.cast(pl.Datetime("us")).alias("cell")).to_series()


def whole_dates(series: pl.Series, order: Ordered) -> pl.Series | None:
    """Whole numbers such as 20240131, all of them days of the calendar and at least ten."""
    if order.distinct < 10 or order.low < 19000101 or order.high > 21001231:
        return None
    text = series.cast(pl.Int64).cast(pl.String)
    days = text.str.to_date("%Y%m%d", strict=False)
    return days if days.null_count() == order.missing else None
