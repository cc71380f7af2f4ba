"""Tables that mix numbers and words, for Gower's distance: words become codes."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from pellucid.core.arrays.columns import Coded, Text, frame_columns
from pellucid.core.arrays.frames import is_frame
from pellucid.core.arrays.typing import Array
from pellucid.core.functions.gower import Gower, column_mask
from pellucid.features.encoding.categories import find_values, look_up
from pellucid.features.encoding.category_table import values_of


def is_gower(metric: object) -> bool:
    return isinstance(metric, Gower) or (isinstance(metric, str) and metric == "gower")


def is_words(column: np.ndarray) -> bool:
    """Whether a column holds anything but numbers."""
    if isinstance(column, Text | Coded):
        return True
    if column.dtype.kind != "O":
        return column.dtype.kind not in "iufb"
    return not all(v is None or isinstance(v, int | float | np.number) for v in column.tolist())


def codes(column: np.ndarray, known: Any) -> Array:
    """The place of each cell in ``known``; a new value has the place behind them, a missing NaN.

    >>> codes(np.array(["b", "c", None], dtype=object), np.array(["a", "b"]))
    array([ 1.,  2., nan])
    """
    found = find_values([column])
    cells = found.values[0].tolist()
    place = np.full(len(cells), np.nan)
    present = [i for i, v in enumerate(cells) if v is not None and v == v]
    place[present] = len(known)
    if present and len(known):
        values = np.array([cells[i] for i in present])
        if values.dtype.kind == known.dtype.kind or known.dtype.kind in "iuf":
            at = np.asarray(look_up(values, known))
            place[present] = np.where(at < 0, len(known), at)
    return place[found.codes[0]]


def learn_words(columns: Sequence[Any]) -> list[Any]:
    """The values of each column of words, None for numbers."""
    return [values_of(column) if is_words(column) else None for column in columns]


def numbers(columns: Sequence[Any], known: list[Any]) -> Array:
    """The columns as one matrix, words as codes of ``known``."""
    parts = []
    for j, (column, words) in enumerate(zip(columns, known, strict=True)):
        if words is None and is_words(column):
            raise ValueError(f"column {j} held numbers in the training rows, it holds words now")
        parts.append(codes(column, words) if words is not None else column.astype(np.float64))
    return np.ascontiguousarray(np.column_stack(parts))


def table_columns(X: Any) -> list[Any]:
    """The columns of a frame, or of rows that mix numbers and words."""
    if is_frame(X):
        return frame_columns(X)
    rows = np.array(X if isinstance(X, np.ndarray) else list(X), dtype=object)
    if rows.ndim != 2:
        raise ValueError(f"X must have two dimensions, rows and columns, got {rows.ndim}")
    return [rows[:, j] for j in range(rows.shape[1])]


def settle_gower(
    metric: Any, known: list[Any] | None, names: Sequence[str] | None, keywords: dict
) -> Gower:
    """The metric with its categories as a mask: those asked for, and the columns of words."""
    if not isinstance(metric, Gower):
        metric = Gower(**keywords)
    if known is None and (names is None or metric.categorical is None):
        return metric
    p = len(names or ()) if known is None else len(known)
    words = np.zeros(p, bool) if known is None else np.array([v is not None for v in known])
    asked = metric.categorical
    if asked is not None and np.asarray(asked).dtype.kind in "UO":
        places = list(names) if names is not None else []
        strange = [name for name in asked if name not in places]
        if strange:
            raise ValueError(f"categorical names {strange}, which are not columns of X")
        asked = [places.index(name) for name in asked]
    return Gower(column_mask(asked, p) | words, metric.ranges, metric.w)


def pair_of_tables(X: Any, Y: Any, metric: Any, keywords: dict) -> tuple[Array, Array, Gower]:
    """X and Y (None: X) as numbers, words coded alike, and the metric."""
    left = table_columns(X)
    right = left if Y is None else table_columns(Y)
    if len(left) != len(right):
        raise ValueError(
            f"X and Y need the same number of columns, got {len(left)} and {len(right)}"
        )
    known = learn_words(right)
    names = list(X.columns) if is_frame(X) else None
    A, B = numbers(left, known), numbers(right, known)
    for name, M in (("X", A), ("Y", B)):
        if np.isinf(M).any():
            raise ValueError(f"{name} must not be infinite; it may hold numbers, words and NaN")
    return A, B, settle_gower(metric, known, names, keywords)
