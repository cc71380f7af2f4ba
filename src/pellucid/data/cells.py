"""What kind of thing the cells of a text column are, decided over all rows.

A column starts with every kind possible. Each piece of the file strikes out the kinds that one
of its cells contradicts; the first kind left, in the order of KINDS, is the column's. Striking
out commutes, so the answer does not depend on how the file was cut.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

import polars as pl

MISSING = ("", "NA", "N/A", "n/a", "#N/A", "<NA>", "null", "NULL", "NaN", "nan", "?")
KINDS = ("int", "float", "comma", "grouped", "bool", "date", "datetime", "utc")
NATIVE = {"int": pl.Int64(), "float": pl.Float64(), "empty": pl.Float64()}
DTYPES = {
    **NATIVE,
    "comma": pl.Float64(),
    "bool": pl.Boolean(),
    "date": pl.Date(),
    "datetime": pl.Datetime("us"),
    "utc": pl.Datetime("us", "UTC"),
    "text": pl.String(),
}
Possible = frozenset[str]
HEAD_ROWS = 200
# An expression of Polars costs as much as thousands of cells: the columns of a table that is wide
# and short are looked at as one.
MANY_COLUMNS, FEW_ROWS = 50, 2000
CELLS = 1 << 20  # that are looked at as one

# what would be lost in a number: leading zeros, the plus of a phone number, more than 18 digits
CODES = r"^\s*(?:[+-]?0\d|\+\d{8})"
LONG = r"^\s*[+-]?\d{19}"
GROUPED = r"^[+-]?(?:\d+|[1-9]\d{0,2}(?:,\d{3})+)$"  # a comma may part thousands
_DAY = r"\d{4}[-/]\d{1,2}[-/]\d{1,2}"
_TIME = r"[T ]\d{1,2}:\d{2}(:\d{2}(\.\d{1,9})?)?"
_ZONE = r" ?(Z|[+-]\d{2}:?\d{2})"


def kind_of(possible: Possible) -> str:
    """The kind of a column from the kinds that no cell contradicts.

    >>> kind_of(frozenset({"float", "comma"})), kind_of(frozenset()), kind_of(frozenset(KINDS))
    ('float', 'text', 'empty')
    """
    if possible == frozenset(KINDS):
        return "empty"  # not one cell holds anything
    return next((kind for kind in KINDS if kind in possible - {"grouped"}), "text")


def kinds_of(columns: Sequence[Possible]) -> list[str]:
    """The kinds of the columns of one file.

    Where every comma may part thousands, it is a decimal comma only if another column shows one.

    >>> both = frozenset({"comma", "grouped"})
    >>> kinds_of([both]), kinds_of([both, frozenset({"comma"})])
    (['text'], ['comma', 'comma'])
    """
    kinds = [kind_of(possible) for possible in columns]
    pairs = list(zip(columns, kinds, strict=True))
    if any(kind == "comma" and "grouped" not in possible for possible, kind in pairs):
        return kinds
    return ["text" if kind == "comma" else kind for kind in kinds]


def stripped(column: pl.Expr) -> pl.Expr:
    """Cells without surrounding blanks, missing marks as null."""
    cell = column.str.strip_chars()
    return pl.when(cell.is_in(MISSING)).then(None).otherwise(cell)


def converted(column: pl.Expr, kind: str) -> pl.Expr:
    """The cells of a text column as ``kind``; null where a cell is not of that kind."""
    if kind == "text":  # text is kept as it stands
        return pl.when(column.str.strip_chars().is_in(MISSING)).then(None).otherwise(column)
    return _CONVERT[kind](stripped(column))


def _number(cell: pl.Expr) -> pl.Expr:
    return cell.cast(pl.Float64, strict=False).fill_nan(None)


def _comma_number(cell: pl.Expr) -> pl.Expr:
    number = _number(cell.str.replace(",", ".", literal=True))
    return pl.when(cell.str.contains(".", literal=True)).then(None).otherwise(number)


def _truth(cell: pl.Expr) -> pl.Expr:
    word = cell.str.to_lowercase()
    return pl.when(word.is_in(["true", "false"])).then(word == "true").otherwise(None)


def _day(cell: pl.Expr) -> pl.Expr:
    text = pl.when(cell.str.contains(f"^{_DAY}$")).then(cell.str.replace_all("/", "-"))
    return text.otherwise(None).str.to_date("%Y-%m-%d", strict=False)


def _moment(cell: pl.Expr, zone: str) -> pl.Expr:
    time = f"({_TIME})?" if not zone else _TIME
    pattern = f"^({_DAY}){time}{zone and f'({zone})'}$"
    text = pl.when(cell.str.contains(pattern)).then(cell.str.replace_all("/", "-")).otherwise(None)
    text = text.str.replace(r"^([\d-]+)$", "${1}T00:00:00").str.replace(" ", "T", literal=True)
    text = text.str.replace(r"^([^:]+:\d{2})( ?Z| ?[+-].*)?$", "${1}:00${2}")
    text = text.str.replace(r" ?Z$", "+00:00").str.replace(r" ?([+-]\d{2}):?(\d{2})$", "${1}:${2}")
    form = "%Y-%m-%dT%H:%M:%S%.f" + ("%:z" if zone else "")
    return text.str.to_datetime(form, time_unit="us", strict=False)


_CONVERT: Mapping[str, Callable[[pl.Expr], pl.Expr]] = {
    "int": lambda cell: cell.cast(pl.Int64, strict=False),
    "float": _number,
    "empty": _number,
    "comma": _comma_number,
    "grouped": lambda cell: pl.when(cell.str.contains(GROUPED)).then(cell),
    "bool": _truth,
    "date": _day,
    "datetime": partial(_moment, zone=""),
    "utc": partial(_moment, zone=_ZONE),
}


def strike_out(
    frame: pl.DataFrame, possible: Mapping[str, Possible], *, decimal_comma: bool
) -> dict[str, Possible]:
    """Of every column the ``possible`` kinds that all its cells agree with.

    >>> every = frozenset(KINDS)
    >>> frame = pl.DataFrame({"a": ["1", "2.5", "?"], "b": ["07", "12", "3"]})
    >>> found = strike_out(frame, {"a": every, "b": every}, decimal_comma=True)
    >>> sorted(found["a"]), sorted(found["b"])
    (['float'], [])
    """
    left = dict(possible)
    filled = set(_true(frame, left, lambda cell: stripped(cell).is_not_null(), "any"))
    asked = {name: kinds for name, kinds in left.items() if name in filled}
    if not decimal_comma:
        asked = {name: kinds - {"comma", "grouped"} for name, kinds in asked.items()}
    numbers = [name for name, kinds in asked.items() if "float" in kinds]
    codes = _true(frame, numbers, lambda cell: _filled(cell, cell.str.contains(CODES)), "any")
    coded = set(codes)
    rest = [name for name in numbers if name not in coded]
    long = _true(frame, rest, lambda cell: _filled(cell, cell.str.contains(LONG)), "any")
    for name in codes:
        asked[name] -= {"int", "float", "comma", "grouped"}
    for name in long:
        asked[name] -= {"float", "comma", "grouped"}
    if frame.height > HEAD_ROWS:  # a few cells strike out most kinds at little cost
        asked = agreeing(frame.head(HEAD_ROWS), asked)
    return left | agreeing(frame, asked)


def _true(
    frame: pl.DataFrame, names: Iterable[str], test: Callable[[pl.Expr], pl.Expr], of: str
) -> list[str]:
    """The columns of which a test is true of "any" or of "all" cells; all are asked at once."""
    names = list(names)
    if not names:
        return []
    if len(names) > MANY_COLUMNS and frame.height < FEW_ROWS:
        share = CELLS // max(1, frame.height)
        parts = (names[i : i + share] for i in range(0, len(names), share))
        answers: Any = [a for part in parts for a in _stacked(frame, part, test, of)]
    else:
        asked = (getattr(test(pl.col(name)), of)().alias(name) for name in names)
        answers = frame.select(asked).row(0)
    return [name for name, answer in zip(names, answers, strict=True) if answer]


def _stacked(
    frame: pl.DataFrame, names: list[str], test: Callable[[pl.Expr], pl.Expr], of: str
) -> list[bool]:
    """The answers of ``_true`` for columns put below each other."""
    cells = pl.concat(frame.select(names).get_columns(), rechunk=True).alias("cell").to_frame()
    each = cells.select(test(pl.col("cell"))).to_series().fill_null(of == "all")
    table = each.to_numpy().reshape(len(names), frame.height)
    answers: Any = table.any(axis=1) if of == "any" else table.all(axis=1)
    return [bool(answer) for answer in answers]


def _filled(cell: pl.Expr, test: pl.Expr) -> pl.Expr:
    return stripped(cell).is_not_null() & test


def agreeing(frame: pl.DataFrame, possible: Mapping[str, Possible]) -> dict[str, Possible]:
    """Of every column the kinds of ``possible`` that every filled cell agrees with."""
    left: dict[str, set[str]] = {name: set() for name in possible}
    for kind in KINDS:
        asked = []
        for name, kinds in possible.items():
            if kind == "float" and kind in kinds and "int" in left[name]:
                left[name].add(kind)  # a whole number is a number
            elif kind in kinds:
                asked.append(name)
        agree = _true(frame, asked, partial(_agrees_or_missing, kind), "all")
        for name in agree:
            left[name].add(kind)
    return {name: frozenset(kinds) for name, kinds in left.items()}


def _agrees_or_missing(kind: str, cell: pl.Expr) -> pl.Expr:
    return stripped(cell).is_null() | _agrees(cell, kind)


def _agrees(column: pl.Expr, kind: str) -> pl.Expr:
    if kind in ("float", "comma"):  # the word nan is a number cell that is missing
        nan = column.str.strip_chars().str.to_lowercase().is_in(["nan", "-nan", "+nan"])
        return nan | converted(column, kind).is_not_null()
    return converted(column, kind).is_not_null()
