"""Frames of pandas as frames of Polars."""

from contextlib import suppress
from typing import Any

import polars as pl

from pellucid.data.findings import unique_names


def pandas_frame(source: Any) -> pl.DataFrame:
    """Column by column; the index is left out, NaN and NaT become null."""
    names = unique_names(source.columns, "the pandas frame")
    columns = []
    for position, name in enumerate(names):
        values = source.iloc[:, position]
        try:
            column = pl.Series(name, pl.from_pandas(values, nan_to_null=True))
            if getattr(values.dtype, "ordered", False) and column.dtype == pl.Categorical:
                column = column.cast(pl.Enum(list(values.dtype.categories)))  # keeps the order
        except (ImportError, TypeError, ValueError, OverflowError, pl.exceptions.PolarsError):
            missing = values.isna().to_numpy()
            cells = [None if gone else value for value, gone in zip(values, missing, strict=True)]
            column = mixed_series(name, cells)
        columns.append(missing_as_null(column))
    return pl.DataFrame(columns)


def mixed_series(name: str, cells: list[Any]) -> pl.Series:
    """Cells of several kinds become text, and whole numbers that no column can hold."""
    try:
        column = pl.Series(name, cells, strict=True)
    except (TypeError, OverflowError, pl.exceptions.PolarsError):
        return as_text(name, cells)
    return as_text(name, cells) if column.dtype == pl.Object else column


def as_text(name: str, cells: list[Any]) -> pl.Series:
    return pl.Series(name, [None if cell is None else str(cell) for cell in cells], pl.String)


def listed_series(name: str, cells: list[Any]) -> pl.Series:
    """A column of plain values; one with a whole number of over 128 bits is text, not null."""
    if any(type(cell) is int and not -(2**127) <= cell < 2**127 for cell in cells):
        return mixed_series(name, cells)
    for strict in (True, False):
        with suppress(TypeError, pl.exceptions.PolarsError):
            column = pl.Series(name, cells, strict=strict)
            if column.dtype != pl.Object:
                return column
    return as_text(name, cells)


def missing_as_null(column: pl.Series) -> pl.Series:
    """NaN says missing in arrays and pandas; a Polars frame has null for it."""
    if column.dtype == pl.Null:
        return column.cast(pl.Float64)
    return column.fill_nan(None) if column.dtype.is_float() else column
