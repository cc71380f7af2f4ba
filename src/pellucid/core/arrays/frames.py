"""Frames of any library (pandas, polars, pyarrow, ...) as float64 matrices, through narwhals."""

from typing import Any

import narwhals.stable.v1 as nw
import numpy as np
from narwhals.exceptions import DuplicateError

from pellucid.core.arrays.typing import Array, ArrayLike


def is_frame(X: ArrayLike) -> bool:
    """Whether ``X`` is a data frame of a library that narwhals knows.

    >>> import pandas
    >>> is_frame(pandas.DataFrame([[1, 2]], columns=["a", "a"]))
    Traceback (most recent call last):
    ValueError: the frame has two columns with the same name; rename one
    """
    if isinstance(X, np.ndarray):  # by far the most frequent: no library need be asked
        return False
    try:
        return isinstance(nw.from_native(X, pass_through=True), nw.DataFrame)
    except DuplicateError:
        raise ValueError("the frame has two columns with the same name; rename one") from None


def indexable_frame(frame: object) -> Any:
    """The frame itself if scikit-learn can take rows of it (pandas, polars), else as polars.

    >>> import pyarrow
    >>> type(indexable_frame(pyarrow.table({"a": [1]}))).__module__.split(".")[0]
    'polars'
    """
    table = nw.from_native(frame, eager_only=True)
    kind = table.implementation
    if kind.is_pandas() or kind.is_polars():
        return frame
    from polars.exceptions import PanicException, PolarsError

    try:
        return table.to_polars()
    except (PanicException, PolarsError) as error:
        raise ValueError(
            f"the frame has a column of a type that Polars cannot read: {error}"
        ) from None


def frame_matrix(frame: object) -> Array:
    """A frame as a C-contiguous float64 matrix; text is refused by the name of its column.

    >>> import polars
    >>> frame_matrix(polars.DataFrame({"a": [1, None], "b": [True, False]}))
    array([[ 1.,  1.],
           [nan,  0.]])
    """
    table = nw.from_native(frame, eager_only=True)
    if not table.columns:
        return np.empty((len(table), 0))
    kinds = list(table.schema.values())
    if all(dtype.is_numeric() or dtype == nw.Boolean for dtype in kinds):
        if any(dtype != nw.Float64 for dtype in kinds):  # a cast of nothing costs a row its time
            table = table.select(nw.all().cast(nw.Float64))
        numbers = table.to_numpy()
        return np.ascontiguousarray(numbers, dtype=np.float64)
    named = zip(table.columns, table.iter_columns(), strict=True)  # a name may be a number
    columns = [column_vector(series, f"column {name!r}") for name, series in named]
    return np.column_stack(columns)


def column_vector(series: Any, where: str = "the column") -> Array:
    """A column of numbers or truth values as float64, nulls as NaN; anything else is refused.

    >>> import polars
    >>> column_vector(polars.Series(["a"]), "column 'name'")
    Traceback (most recent call last):
    ValueError: column 'name' holds text such as 'a'; numbers are needed (encode it first)
    """
    series = nw.from_native(series, series_only=True)
    dtype = series.dtype
    if dtype.is_numeric() or dtype == nw.Boolean:
        return np.asarray(series.cast(nw.Float64).to_numpy(), dtype=np.float64)
    if dtype not in (nw.Object, nw.String, nw.Categorical, nw.Enum, nw.Unknown):
        raise ValueError(f"{where} has type {dtype}; numbers are needed (encode it first)")
    values = series.to_list()
    texts = [value for value in values if isinstance(value, str)]
    if texts:
        what = f"{where} holds text such as {texts[0]!r}"
        raise ValueError(f"{what}; numbers are needed (encode it first)")
    try:
        return np.array([np.nan if value is None else value for value in values], dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{where} holds values that are not numbers: {error}") from None
