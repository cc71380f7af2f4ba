"""Which rows are equal, whether chance would repeat them so often, and a name for the contents.

Rows are compared by a 64-bit hash first; those that meet another are then compared cell by cell, so
the answer is exact. If the columns were independent, two rows would agree with probability
prod_j sum_v share_jv^2; where that explains the repeats, they are no copies. Nor are they where all
columns have few values that come in many combinations.

The digest is SHA-256 over names, kinds and cells in a canonical form: numbers as float64 (as int64
where that loses digits), dates as microseconds, text as UTF-8 with lengths. It does not depend on
chunks, nor on the file format as far as the values agree.
"""

import hashlib
from collections.abc import Iterable
from typing import Any

import numpy as np
import polars as pl

from pellucid.core.arrays.typing import Array, IntArray
from pellucid.core.runtime.threads import map_threads
from pellucid.study.reading.profiles import SAFE, Column

SAMPLE = 100_000
COARSE = 20  # values: a table whose columns all have at most so many repeats rows naturally
MIXED = 1.25  # different rows per value of the finest column, from which values are combined freely

SHORT = 1000  # cells that are joined one by one: a plan of Polars would cost more


def comparable(columns: Iterable[Column]) -> pl.DataFrame:
    """The cells of columns side by side, under neutral names, lists as text."""
    cells = []
    for j, column in enumerate(columns):
        series = column.cells
        if series.dtype == pl.List:
            series = series.cast(pl.List(pl.String)).list.join(";", ignore_nulls=True)
        elif series.dtype == pl.Null:
            series = series.cast(pl.Float64)
        cells.append(series.alias(str(j)))
    return pl.DataFrame(cells)


def first_equal(frame: pl.DataFrame) -> IntArray:
    """For every row the number of the first row that equals it.

    >>> first_equal(pl.DataFrame({"a": [1, 2, 1], "b": ["x", "y", "x"]}))
    array([0, 1, 0])
    """
    n = frame.height
    first = np.arange(n)
    if n < 2 or not frame.width:
        return first
    meets = frame.hash_rows(seed=0).is_duplicated()
    if not meets.any():
        return first
    rows = np.flatnonzero(meets.to_numpy())
    some = frame.filter(meets)
    names = some.columns
    least = some.with_columns(pl.Series("row", rows)).select(pl.col("row").min().over(names))
    first[rows] = least.to_series().to_numpy()
    return first


class Copies:
    """Surplus rows, and whether chance explains them."""

    def __init__(self, columns: list[Column]) -> None:
        self.frame = comparable(columns)
        self.first = first_equal(self.frame)
        self.surplus = int((self.first != np.arange(len(self.first))).sum())
        self.by_chance = False
        self.expected = 0.0
        if self.surplus:
            self.expected = expected_repeats(self.frame)
            most = max(column.distinct for column in columns)
            mixed = len(self.first) - self.surplus > MIXED * most  # not one row for each value
            coarse = mixed and all(column.distinct <= COARSE for column in columns)
            self.by_chance = coarse or self.expected >= self.surplus / 3

    @property
    def real(self) -> bool:
        """Are there copies that chance does not explain?"""
        return self.surplus > 0 and not self.by_chance


def without_names(whole: Copies, rest: list[Column]) -> Copies:
    """Copies judged without the columns that name the rows.

    Where chance explains those, rows that are equal even in their names are copies still.
    """
    bare = Copies(rest)
    return whole if bare.by_chance and whole.real else bare


def expected_repeats(frame: pl.DataFrame) -> float:
    """Pairs of equal rows that independent columns with these shares would show."""
    n = frame.height
    step = max(1, n // SAMPLE)
    agree = 0.0
    for series in frame.get_columns():
        counts = series.gather_every(step).value_counts(name="count of a value")
        share = counts["count of a value"].to_numpy() / max(1, len(range(0, n, step)))
        agree += float(np.log(share @ share))
    return float(n * (n - 1) / 2 * np.exp(agree))


def digest(columns: Iterable[Column]) -> str:
    """SHA-256 of names, kinds and cells, as 64 hexadecimal digits.

    >>> from pellucid.study.reading.profiles import read_column
    >>> a, b = pl.Series("x", [1, None], pl.Int8), pl.Series("x", [1.0, float("nan")])
    >>> digest([read_column(a)]) == digest([read_column(b)])
    True
    """
    parts = map_threads(_column_digest, list(columns))
    return hashlib.sha256(b"".join(parts)).hexdigest()


def _column_digest(column: Column) -> bytes:
    tag, buffers = _canonical(column)
    sha = hashlib.sha256(f"{len(column.name.encode())}:{column.name}:{tag}:".encode())
    for buffer in buffers:
        sha.update(buffer)
    return sha.digest()


def _canonical(column: Column) -> tuple[str, list[bytes | memoryview]]:
    cells = column.cells
    if column.kind == "empty":
        return "empty", [str(len(cells)).encode()]
    if column.numbers is None:
        if cells.dtype == pl.List:
            lengths = cells.list.len().cast(pl.Int64).fill_null(-1).to_numpy()
            labels = cells.explode(empty_as_null=False, keep_nulls=False)
            return "list", [_little(lengths), *_text_bytes(labels.cast(pl.String))]
        return "text", _text_bytes(cells)
    if column.kind == "whole" and cells.dtype.is_integer():
        order = column.order
        if order is not None and max(abs(order.low), abs(order.high)) >= SAFE:
            wide = cells.cast(pl.UInt64 if cells.dtype == pl.UInt64 else pl.Int64, strict=False)
            if wide.null_count() > cells.null_count():  # more digits than 64 bits have
                return "digits", _text_bytes(cells.cast(pl.String))
            return "int", [
                _little(wide.is_null().to_numpy()),
                _little(wide.fill_null(0).to_numpy()),
            ]
    return "number" if column.kind != "date" else "date", [_little(_plain(column.numbers))]


def _plain(x: Array) -> Array:
    """One NaN and one zero."""
    absent = np.isnan(x)
    if absent.any():
        return np.where(absent, np.nan, x) + 0.0
    return x + 0.0


def _little(values: np.ndarray) -> memoryview:
    values = np.ascontiguousarray(values)
    little: Any = values.astype(values.dtype.newbyteorder("<"), copy=False)
    return memoryview(little).cast("B")


def _text_bytes(cells: pl.Series) -> list[bytes | memoryview]:
    if len(cells) <= SHORT:
        parts = [None if cell is None else cell.encode() for cell in cells.to_list()]
        lengths = np.array([-1 if part is None else len(part) for part in parts], dtype=np.int64)
        return [_little(lengths), b"".join(part for part in parts if part is not None)]
    lengths = cells.str.len_bytes().cast(pl.Int64).fill_null(-1).to_numpy()
    joined = cells.drop_nulls().str.join("").item() or ""
    return [_little(lengths), joined.encode()]
