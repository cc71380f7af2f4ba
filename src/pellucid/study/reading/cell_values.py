"""Cells of a column as what they mean: numbers, levels, dates, texts or lists of items.

A column is what ``base`` hands on (``core.arrays.columns``): an array, ``Text`` or ``Coded``.
"""

import datetime
import math
from typing import Any

import numpy as np
import polars as pl

from pellucid.core.arrays.columns import Coded, Text, plain_column
from pellucid.core.arrays.typing import Array, BoolArray, IntArray
from pellucid.data.cells import converted, stripped
from pellucid.study.reading.dates import dates_of_form, read_dates
from pellucid.study.reading.missing_marks import is_known_mark
from pellucid.study.reading.number_forms import CLOCKS, PLAIN, find_form, read_amounts

Column = np.ndarray | Text | Coded
KINDS = ("number", "whole", "truth", "category", "text", "date", "list", "empty")
FEW_CELLS = 4_000  # texts so few are numbered in Python: starting anything bigger costs more
ITEMS = ";"  # what separates the items of a list in a cell
WORDS_OF_TEXT = 4.0  # cells of so many words on average are texts, if most of them differ
AMOUNT = r"^[-+(]?\s*(?:[€$£¥₹]\s*)?[\d.,' ]+(?:\s*[€$£¥₹])?\s*\)?$"  # money, or a bare number


def label(value: object) -> str | None:
    """A level as text; None for a missing cell. Whole floats read as whole numbers.

    >>> label(3.0), label("a"), label(float("nan")), label(True)
    ('3', 'a', None, 'True')
    """
    if value is None or type(value).__name__ == "NAType":
        return None
    if isinstance(value, float | np.floating):
        if math.isnan(value):
            return None
        return str(int(value)) if float(value).is_integer() else str(float(value))
    if isinstance(value, np.datetime64) and np.isnat(value):
        return None
    return str(value)


def levels(column: np.ndarray) -> tuple[list[str | None], IntArray]:
    """Distinct levels of a column (None: missing) and the number of every cell's level; blanks
    at the ends of a cell are no part of it.

    >>> levels(np.array(["b", None, "b "], dtype=object))
    (['b', None], array([0, 1, 0]))
    """
    place: dict[str | None, int] = {}
    if isinstance(column, Text) and len(column.series) <= FEW_CELLS:
        cells = column.series.cast(pl.String).str.strip_chars().to_list()
        numbered = np.array([place.setdefault(cell, len(place)) for cell in cells], np.intp)
        return list(place), numbered
    from pellucid.features.encoding.categories import find_values  # compiled: slow to import

    found = find_values([column])
    names = [label(value) for value in found.values[0].tolist()]
    names = [None if name is None else name.strip() for name in names]
    number = np.array([place.setdefault(name, len(place)) for name in names], np.intp)
    codes = number[found.codes[0]] if len(names) else np.zeros(0, np.intp)
    return list(place), codes


def numbers(column: Column, name: str, form: str = "") -> Array:
    """Cells as float64, missing ones as NaN.

    Text is read in the ``form`` of the training rows, as plain numbers or, where that leaves no
    doubt, in a form of its own: whichever reads the most cells. Other cells count as missing;
    several cells without a single number are refused by the name of their column, unless they are
    marks for missing cells.
    """
    if isinstance(column, Text):
        return _read_numbers(column.series.cast(pl.String), name, form)
    cells: np.ndarray = plain_column(column)
    kind = cells.dtype.kind
    if kind in "fiub":
        return cells.astype(np.float64, copy=False)
    if kind in "mM":
        seconds = cells.astype("m8[us]" if kind == "m" else "M8[us]").astype(np.float64) / 1e6
        seconds[np.isnat(cells)] = np.nan
        return seconds
    if all(cell is None or isinstance(cell, datetime.time) for cell in cells):
        return np.array([np.nan if cell is None else _of_day(cell) for cell in cells])
    return _read_numbers(_as_text(cells), name, form)


def _of_day(cell: datetime.time) -> float:
    """Seconds since midnight."""
    return cell.hour * 3600 + cell.minute * 60 + cell.second + cell.microsecond / 1e6


def _as_text(column: np.ndarray) -> pl.Series:
    """Python objects as text, missing cells as null."""
    return pl.Series([label(cell) for cell in column.tolist()], dtype=pl.String)


def number_form(column: Column) -> str:
    """How the numbers of a column of text are written; empty for other columns.

    >>> number_form(Text(pl.Series(["1,5", "2"]), None)), number_form(np.ones(2))
    ('1234,5', '')
    """
    if not isinstance(column, Text):
        return ""
    found = find_form(_distinct(column.series.cast(pl.String)))
    return PLAIN if found is None else found.form


def unread(column: Column, absent: BoolArray) -> pl.Series:
    """The filled cells of a text that count as missing."""
    if isinstance(column, Text):
        series = column.series.cast(pl.String)
    elif isinstance(column, np.ndarray) and column.dtype.kind in "OU":
        series = _as_text(column)
    else:
        return pl.Series([], dtype=pl.String)
    kept = _stripped(series)
    return kept.filter(pl.Series(absent) & kept.is_not_null())


def _stripped(series: pl.Series) -> pl.Series:
    frame = series.alias("cell").to_frame()
    return frame.select(stripped(pl.col("cell")).alias("cell")).to_series()


def _distinct(series: pl.Series) -> pl.DataFrame:
    return _stripped(series).drop_nulls().value_counts(name="count")


def _read_numbers(series: pl.Series, name: str, form: str) -> Array:
    """Numbers in text; true is 1 and false 0."""
    cells = _stripped(series)
    read = read_amounts(cells, form or PLAIN)
    least = cells.null_count()
    if read.null_count() > least and form and form != PLAIN:
        read = max(read, read_amounts(cells, PLAIN), key=lambda one: one.count())
    if read.null_count() > least:  # true and false, or a form of its own
        truth = (
            cells.to_frame().select(converted(pl.col("cell"), "bool").cast(pl.Float64)).to_series()
        )
        found = find_form(_distinct(cells))
        if found is not None and found.form in CLOCKS and form not in CLOCKS:
            found = None  # a count of minutes is not known to be that of a clock
        own = read if found is None else read_amounts(cells, found.form)
        if found is not None and found.doubt and own.count() > read.count():
            amount = cells.filter(cells.str.contains(r"\d[.,]\d{3}\b"))[0]
            raise ValueError(
                f"column {name!r} holds {amount!r}, which may be thousands or decimals; write "
                "numbers without a mark between the thousands, as 1234.5"
            )
        read = max(read, truth, own, key=lambda one: one.count())
    if least < read.null_count() < len(read) and form in ("", PLAIN):
        read = _with_amounts(read, cells)
    words = cells.drop_nulls()
    if len(words) > 1 and read.count() == 0:
        words = words.alias("cell").to_frame().filter(~is_known_mark(pl.col("cell"))).to_series()
        if len(words):
            raise ValueError(
                f"column {name!r} was numbers in training and now holds {words[0]!r}; "
                "numbers or missing cells are accepted"
            )
    return np.asarray(read.fill_null(np.nan).to_numpy())


def _with_amounts(read: pl.Series, cells: pl.Series) -> pl.Series:
    """A few amounts of money among plain numbers, read as those are written: 1,234.50 is 1234.5.

    >>> cells = pl.Series(["25000", "€30,000", "12%", "5 kg"])
    >>> _with_amounts(pl.Series([25000.0, None, None, None]), cells).to_list()
    [25000.0, 30000.0, None, None]
    """
    money = cells.str.contains(AMOUNT)  # another unit may be another quantity
    found = find_form(_distinct(cells.filter(read.is_null() & money)), decimal=".")
    if found is None or found.doubt:
        return read
    amounts = read_amounts(cells, found.form).set(~money.fill_null(False), None)
    return read.zip_with(read.is_not_null(), amounts)


def dates(column: np.ndarray, name: str, form: str = "") -> Any:
    """Cells as datetime64[us]; text is read in the ``form`` of the training rows, else in the usual
    ways to write dates, what cannot be is missing; whole numbers such as 20240131 are days."""
    if isinstance(column, Coded):
        column = plain_column(column)
    if isinstance(column, Text):
        return _read_dates(column.series.cast(pl.String), form)
    if column.dtype.kind == "M":
        return column.astype("M8[us]")
    if column.dtype.kind in "fiub":
        return _numbered_days(column, name)
    cells = [None if label(cell) is None else cell for cell in column.tolist()]
    if all(cell is None or isinstance(cell, datetime.date) for cell in cells):
        return np.array([_moment(cell) for cell in cells], dtype="M8[us]")
    return _read_dates(_as_text(column), form)


def date_form(column: Column) -> str:
    """How the dates of a column of text are written; empty for other columns."""
    if not isinstance(column, Text):
        return ""
    cells = _distinct(column.series.cast(pl.String))["cell"]
    found = read_dates(cells, cells) if len(cells) else None
    return "" if found is None else found.form


def _moment(cell: object) -> Any:
    """A date or time without its zone, as UTC where it has one."""
    if isinstance(cell, datetime.datetime) and cell.tzinfo is not None:
        return cell.astimezone(datetime.UTC).replace(tzinfo=None)
    return cell


def _numbered_days(column: np.ndarray, name: str) -> Any:
    """Days written as whole numbers, such as 20240131."""
    x = column.astype(np.float64)
    seen = x[~np.isnan(x)]
    if len(seen) and not ((seen > 19000100) & (seen < 21001232)).all():
        raise ValueError(f"column {name!r} was dates in training and now holds numbers")
    text = pl.Series(np.where(np.isnan(x), 0, x).astype(np.int64)).cast(pl.String)
    return text.str.to_date("%Y%m%d", strict=False).to_numpy().astype("M8[us]")


def _read_dates(series: pl.Series, form: str) -> Any:
    """In the form of the training rows, a form of its own or ISO: what reads the most cells."""
    filled = series.drop_nulls().unique()
    known = dates_of_form(series, form or "ISO")
    if known.null_count() > series.null_count():
        found = read_dates(series, filled)
        ways = (known, known if found is None else found.cells, dates_of_form(series, "ISO"))
        known = max(ways, key=lambda cells: cells.count())
    return known.to_numpy().astype("M8[us]")


def texts(column: Column) -> list[str]:
    """Cells as text; missing ones are empty."""
    if isinstance(column, Text):
        return column.series.cast(pl.String).fill_null("").to_list()
    cells = [label(cell) for cell in plain_column(column).tolist()]
    return ["" if cell is None else cell for cell in cells]


def items(column: Column) -> tuple[list[str], IntArray, IntArray, Any]:
    """Lists in cells: distinct items, (row, item) pairs, and which cells are missing.

    >>> items(np.array(["a;b", None, "b"], dtype=object))
    (['a', 'b'], array([0, 0, 2]), array([0, 1, 1]), array([False,  True, False]))
    """
    if isinstance(column, np.ndarray) and column.dtype.kind == "O":
        cells = [_parts(cell) for cell in column.tolist()]
    else:
        cells = [_parts(cell) for cell in plain_column(column).tolist()]
    place: dict[str, int] = {}
    row: list[int] = []
    item: list[int] = []
    for i, cell in enumerate(cells):
        for part in cell or ():
            row.append(i)
            item.append(place.setdefault(part, len(place)))
    missing = np.array([cell is None for cell in cells], dtype=bool)
    return list(place), np.array(row, np.intp), np.array(item, np.intp), missing


def _parts(cell: object) -> list[str] | None:
    if isinstance(cell, list | tuple | set | np.ndarray):
        names = [label(part) for part in (sorted(cell) if isinstance(cell, set) else cell)]
        return [name for name in dict.fromkeys(names) if name is not None]
    text = label(cell)
    if text is None:
        return None
    stripped = (part.strip() for part in text.split(ITEMS))
    return list(dict.fromkeys(part for part in stripped if part))


def kind_of(column: Column) -> str:
    """What a column seems to hold; one of ``KINDS``.

    >>> kind_of(np.array([1.5, 2.0])), kind_of(np.array(["red", "blue"], dtype=object))
    ('number', 'category')
    """
    if isinstance(column, Coded):
        return "category"
    if isinstance(column, Text):
        cells = column.series.drop_nulls().cast(pl.String).unique().to_list()
        return _text_kind(sorted(cells), len(column.series))
    by_type = {"f": "number", "i": "whole", "u": "whole", "b": "truth", "M": "date", "m": "number"}
    if column.dtype.kind in by_type:
        kind = by_type[column.dtype.kind]
        return "empty" if kind in ("number", "date") and not (column == column).any() else kind
    cells = [cell for cell in column.tolist() if isinstance(cell, list) or label(cell) is not None]
    if not cells:
        return "empty"
    if all(isinstance(cell, bool | np.bool_) for cell in cells):
        return "truth"
    if all(isinstance(cell, int | float | np.number) for cell in cells):
        return "number"
    if all(isinstance(cell, datetime.date | np.datetime64) for cell in cells):
        return "date"
    if any(isinstance(cell, list | tuple | set | np.ndarray) for cell in cells):
        return "list"
    return _text_kind(sorted({str(cell) for cell in cells}), len(column))


def _text_kind(distinct: list[str], n: int) -> str:
    """Text, list or category, from the sorted distinct cells of n rows."""
    if not distinct:
        return "empty"
    words = sum(len(cell.split()) for cell in distinct) / len(distinct)
    if words >= WORDS_OF_TEXT and 2 * len(distinct) > min(n, 1000):
        return "text"
    joined = [cell for cell in distinct if ITEMS in cell]
    known = {part.strip() for cell in distinct for part in cell.split(ITEMS)}
    if 4 * len(joined) >= len(distinct) > 2 and len(known) < len(distinct):
        return "list"
    return "category"
