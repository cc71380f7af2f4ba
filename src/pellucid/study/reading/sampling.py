"""Reading the rows that are studied: all of a table, or a random sample of one that is large.

The number of rows and columns is known before a row is read into memory. A table of more than
LARGE_ROWS rows or LARGE_CELLS cells is read once, a block at a time, and of every block the rows of
a uniform sample are kept: the same rows for the same seed, in their order. A block is all that is
in memory besides the sample, so a file may be larger than memory.
"""

from typing import Any, NamedTuple

import numpy as np
import polars as pl

from pellucid.core.arrays import check
from pellucid.data.opening import open_table

LARGE_ROWS, LARGE_CELLS = 2_000_000, 50_000_000
SAMPLE_ROWS, SAMPLE_CELLS, LEAST_ROWS = 250_000, 10_000_000, 10_000
BLOCK_CELLS = 1 << 21


class StudiedRows(NamedTuple):
    """The rows to study, and of how many they are."""

    frame: pl.DataFrame
    total: int

    @property
    def sampled(self) -> bool:
        return self.total > self.frame.height


def read_rows(
    data: Any, *, sql: str | None = None, sample: int | None = None, seed: int = 0
) -> StudiedRows:
    """All rows of a table, or a sample where it is large or ``sample`` asks for so many rows.

    >>> read_rows({"x": range(10)}, sample=4).frame["x"].is_sorted()
    True
    """
    if isinstance(data, StudiedRows):
        return data
    if sample is not None:
        check.whole(sample=sample)
    table = open_table(data, sql=sql)
    names, total = list(table.schema), table.n_rows
    n = sample_size(total, len(names)) if sample is None else min(sample, total)
    if n == total:
        return StudiedRows(table.read(0, total, names), total)
    return StudiedRows(sample_rows(table, n, seed), total)


def sample_size(rows: int, columns: int) -> int:
    """How many rows of a table are studied unless told otherwise.

    >>> sample_size(1_000_000, 20), sample_size(10_000_000, 10), sample_size(1_000_000, 500)
    (1000000, 250000, 20000)
    """
    if rows <= LARGE_ROWS and rows * columns <= LARGE_CELLS:
        return rows
    return min(rows, SAMPLE_ROWS, max(LEAST_ROWS, SAMPLE_CELLS // max(columns, 1)))


def sample_rows(table: Any, n: int, seed: int) -> pl.DataFrame:
    """A uniform sample of n rows in their order, read a block at a time."""
    names, total = list(table.schema), table.n_rows
    rng = np.random.default_rng(seed)
    wanted = np.sort(rng.choice(total, n, replace=False, shuffle=False))
    step = max(1, BLOCK_CELLS // max(len(names), 1))
    kept = []
    for start in range(0, total, step):
        stop = min(start + step, total)
        low, high = np.searchsorted(wanted, [start, stop])
        if low < high:
            kept.append(own_copy(table.read(start, stop, names)[wanted[low:high] - start]))
    return pl.concat(kept)


def own_copy(frame: pl.DataFrame) -> pl.DataFrame:
    """The rows in memory of their own: cells of text would keep their whole block alive."""
    file = frame.write_ipc(None, compat_level=pl.CompatLevel.oldest())
    return pl.read_ipc(file.getvalue())
