"""The target of a task as arrays: labels, numbers, or 0 and 1 with a column per label."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

from pellucid.core.arrays.columns import frame_column
from pellucid.core.arrays.typing import BoolArray
from pellucid.study.reading.cell_values import items
from pellucid.study.records import Task

CLASSES = ("binary", "multiclass")
NUMBERS = ("regression", "multi_output_regression", "ranking")


def labelled_rows(frame: pl.DataFrame, task: Task) -> BoolArray:
    """Which rows have a target (all of them, where there are several)."""
    known = np.ones(frame.height, dtype=bool)
    for name in task.target:
        column = frame[name]
        known &= ~column.is_null().to_numpy()
        if column.dtype.is_float():
            known &= ~column.is_nan().fill_null(False).to_numpy()
    return known


def target_array(frame: pl.DataFrame, task: Task) -> Any:
    """y of every row of the frame; the rows must all be labelled.

    >>> task = Task("binary", ("y",), ("a", "b"), "b", "accuracy", True, 0, "")
    >>> target_array(pl.DataFrame({"y": ["a", "b"]}), task)
    array(['a', 'b'], dtype='<U1')
    """
    columns = [frame[name] for name in task.target]
    if task.kind in NUMBERS:
        found = [column.cast(pl.Float64).to_numpy() for column in columns]
        return found[0] if len(found) == 1 else np.column_stack(found)
    if task.kind == "multilabel":
        return _labels(columns, task)
    return _classes(columns[0], task)


def _classes(column: pl.Series, task: Task) -> Any:
    if column.dtype in (pl.Categorical, pl.Enum) or column.dtype == pl.String:
        return column.cast(pl.String).to_numpy().astype(str)
    values = column.to_numpy()
    if values.dtype.kind == "f" and task.classes and isinstance(task.classes[0], str):
        return values.astype(str)
    if values.dtype.kind == "f" and (values == np.round(values)).all():
        return values.astype(np.int64)
    return values.astype(str) if values.dtype.kind == "O" else values


def _labels(columns: Sequence[Any], task: Task) -> Any:
    if len(columns) > 1:
        levels = [sorted(column.unique().drop_nulls().to_list()) for column in columns]
        parts = [
            (column == level[-1]).to_numpy().astype(np.intp)
            for column, level in zip(columns, levels, strict=True)
        ]
        return np.column_stack(parts)
    import narwhals.stable.v1 as nw

    series = columns[0]
    if series.dtype == pl.List:
        cells: Any = np.empty(len(series), dtype=object)
        cells[:] = series.to_list()
    else:
        cells = frame_column(nw.from_native(series, series_only=True))
    found, row, item, _ = items(cells)
    place = {str(label): j for j, label in enumerate(task.classes)}
    Y = np.zeros((len(series), len(task.classes)), dtype=np.intp)
    at = np.array([place[name] for name in found], np.intp)
    Y[row, at[item]] = 1
    return Y
