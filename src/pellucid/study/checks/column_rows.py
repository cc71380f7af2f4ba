"""The cells of some rows, for checks that look at one column after the other.

A question to Polars costs as much as thousands of cells: the columns of a table that is wide and
short are gathered a block at a time, and short columns are coded by plain Python.
"""

from collections.abc import Iterator, Sequence

import numpy as np
import polars as pl

from pellucid.core.arrays.typing import BoolArray, IntArray
from pellucid.study.reading.equality import SHORT
from pellucid.study.reading.profiles import Column

CELLS = 1 << 21  # that are gathered together


def blocks_at(columns: Sequence[Column], rows: IntArray) -> Iterator[list[Column]]:
    """The columns with the cells of these rows alone, a block of columns at a time.

    What was counted over all rows (``missing``, ``distinct``, ``order``) stays as it is.
    """
    share = max(1, CELLS // max(1, len(rows)))
    for i in range(0, len(columns), share):
        yield _taken(columns[i : i + share], rows)


def columns_at(columns: Sequence[Column], rows: IntArray) -> Iterator[Column]:
    """The columns of ``blocks_at`` one by one."""
    for block in blocks_at(columns, rows):
        yield from block


def _taken(columns: Sequence[Column], rows: IntArray) -> list[Column]:
    if np.array_equal(rows, np.arange(len(columns[0].cells))):
        return list(columns)
    frame = pl.DataFrame([column.cells.alias(str(j)) for j, column in enumerate(columns)])
    return [
        c._replace(
            cells=cells.alias(c.name), numbers=None if c.numbers is None else c.numbers[rows]
        )
        for c, cells in zip(columns, frame[rows].get_columns(), strict=True)
    ]


def level_codes(cells: pl.Series) -> IntArray:
    """The number of each cell's level in the order of the levels, from 1; 0 for missing.

    >>> level_codes(pl.Series(["b", None, "a", "b"])).tolist()
    [2, 0, 1, 2]
    """
    if len(cells) > SHORT:
        return cells.rank("dense").fill_null(0).to_numpy().astype(np.intp)
    values = cells.to_list()
    number = {level: i for i, level in enumerate(sorted(set(values) - {None}), start=1)}
    number[None] = 0
    return np.array([number[value] for value in values], dtype=np.intp)


def level_names(cells: pl.Series) -> list[str]:
    """The distinct levels as text, in the order of the alphabet.

    >>> level_names(pl.Series(["b", None, "a", "b"]))
    ['a', 'b']
    """
    cells = cells.cast(pl.String)
    if len(cells) > SHORT:
        cells = cells.unique()
    return sorted(set(cells.to_list()) - {None})


def gaps(column: Column) -> BoolArray:
    """Which cells are missing."""
    if column.numbers is not None:
        return np.asarray(np.isnan(column.numbers))
    return np.asarray(column.cells.is_null().to_numpy())
