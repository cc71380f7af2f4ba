"""Columns that are not numbers: a table of any kind as one array or series per column.

A column is

- a NumPy array (numbers, truth values, dates, text of fixed width, Python objects),
- ``Text``: a Polars series of text, categories or an enumeration, or
- ``Coded``: codes into a list of values, as pandas keeps its categories; -1 is missing.

``missing`` is what stands for a missing cell: NaN in pandas, None elsewhere.
"""

from typing import Any, NamedTuple

import narwhals.stable.v1 as nw
import numpy as np

from pellucid.core.arrays.typing import ArrayLike

TEXT = (nw.String, nw.Categorical, nw.Enum)
NESTED = (nw.List, nw.Array, nw.Struct)
WIDE = (nw.Int128, nw.UInt128)


class Text(NamedTuple):
    series: Any  # polars
    missing: Any


class Coded(NamedTuple):
    codes: Any
    values: Any
    missing: Any


def frame_columns(frame: object) -> list[Any]:
    """The columns of a frame, each in the kind that keeps its type and costs least.

    >>> import polars
    >>> frame_columns(polars.DataFrame({"a": [1, 2], "b": [0.5, None]}))
    [array([1, 2]), array([0.5, nan])]
    """
    table = nw.from_native(frame, eager_only=True)
    return [frame_column(series) for series in table.iter_columns()]  # names may be numbers


def frame_cells(frame: object) -> Any:
    """A frame as one matrix: of numbers where all columns are numbers, else of objects.

    >>> import polars
    >>> frame_cells(polars.DataFrame({"a": ["x", None], "b": [1, 2]}))
    array([['x', 1],
           [None, 2]], dtype=object)
    """
    columns = [plain_column(column) for column in frame_columns(frame)]
    if all(column.dtype.kind in "iuf" for column in columns):
        return np.column_stack(columns)
    cells = np.empty((len(columns[0]), len(columns)), dtype=object)
    for j, column in enumerate(columns):
        cells[:, j] = column
    return cells


def plain_column(column: ArrayLike) -> Any:
    """A column as a NumPy array."""
    if isinstance(column, Text):
        cells = column.series.to_numpy().astype(object)
        cells[column.series.is_null().to_numpy()] = column.missing
        return cells
    if isinstance(column, Coded):
        words = np.asarray(column.values)
        if len(words) == 0:  # a column of levels without any
            return np.full(len(column.codes), column.missing, dtype=object)
        cells = words.take(column.codes, mode="clip")
        absent = column.codes < 0
        if absent.any():
            cells = cells.astype(np.float64 if cells.dtype.kind in "iuf" else object)
            cells[absent] = column.missing
        return cells
    return column


def frame_column(series: Any) -> Any:
    """One narwhals series as a column."""
    if series.implementation.is_pandas_like():
        return _pandas_column(series)
    if series.dtype in (*NESTED, *WIDE):
        what = "one value" if series.dtype in NESTED else "a number of at most 64 bits"
        raise ValueError(f"column {series.name!r} has type {series.dtype}; cells hold {what} each")
    if series.dtype in TEXT:
        return Text(series.to_polars(), None)
    if series.dtype.is_numeric() and series.null_count():
        series = series.cast(nw.Float64)
    return np.asarray(series.to_numpy())


def _pandas_column(series: Any) -> Any:
    native = series.to_native()
    if series.dtype in (nw.Categorical, nw.Enum):
        return Coded(native.cat.codes.to_numpy(), np.asarray(native.cat.categories), np.nan)
    if isinstance(native.dtype, np.dtype):
        return native.to_numpy()
    if series.dtype == nw.String and getattr(native.dtype, "storage", "pyarrow") == "pyarrow":
        return Text(series.to_polars(), np.nan)
    if not native.isna().any():
        return native.to_numpy()
    kind = np.float64 if series.dtype.is_numeric() else object
    return native.to_numpy(dtype=kind, na_value=np.nan)
