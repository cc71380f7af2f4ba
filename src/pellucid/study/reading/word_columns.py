"""Columns of plain words, found for very many columns at once.

Whether a cell can be a number, a date, a list or a missing mark hangs on the cell alone. In a table
of thousands of text columns the distinct cells of all of them are judged together; a column whose
cells are all plain words then needs no question of its own.
"""

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import polars as pl

from pellucid.data.cells import MISSING
from pellucid.study.reading.dates import is_date_like
from pellucid.study.reading.number_forms import is_readable

MANY_COLUMNS = 64  # from here on it pays to look at all of them at once
FEW_ROWS = 10_000  # up to which the cells of a column are counted one by one


class Words(NamedTuple):
    """The cells of a column of plain words."""

    counts: tuple[tuple[str, int], ...]  # commonest first, equal counts by name
    missing: int
    words: float  # mean number of words of the distinct cells


def word_columns(columns: Sequence[pl.Series]) -> dict[str, Words]:
    """Those of the columns of text whose cells are all plain words; none where they are few.

    >>> frame = pl.DataFrame({f"c{j}": ["red", "w3", "red"] for j in range(64)})
    >>> word_columns(frame.get_columns())["c7"].counts
    (('red', 2), ('w3', 1))
    """
    texts = [s for s in columns if s.dtype == pl.String and s.null_count() < len(s)]
    if len(texts) < MANY_COLUMNS or len(texts[0]) > FEW_ROWS:
        return {}
    known = words_of(pl.concat([s.rename("cell") for s in texts]).unique().drop_nulls())
    found = {}
    for series in texts:
        counts = Counter(series.to_list())
        missing = counts.pop(None, 0)
        if known.keys() >= counts.keys():
            ranked = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
            words = sum(known[cell] for cell in counts) / len(counts)
            found[series.name] = Words(tuple(ranked), missing, words)
    return found


def words_of(cells: pl.Series) -> dict[str, int]:
    """How many words each plain cell has; cells that may be anything else are left out."""
    frame, cell = cells.to_frame("cell"), pl.col("cell")
    lower = cell.str.to_lowercase()
    plain = (
        (cell.str.strip_chars() == cell) & ~cell.is_in(MISSING) & ~lower.is_in(["true", "false"])
    )
    plain &= ~cell.str.contains(";", literal=True) & ~is_date_like(cell)
    frame = frame.filter(plain & ~is_readable(cells))
    return dict(frame.select(cell, cell.str.count_matches(r"\S+").alias("words")).iter_rows())
