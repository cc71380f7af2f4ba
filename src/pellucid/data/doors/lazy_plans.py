"""Lazy frames of Polars: a plan over files that works row by row travels to the workers.

A plan that only selects and computes columns of Parquet or Arrow files is cut by row range where
it is read: the slice reaches the file. Any other plan (filters, joins, groups, sorting, text files)
has no row numbers before it has run: its result is written once to a temporary folder.
"""

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

import polars as pl

from pellucid.data.spool import Spool
from pellucid.data.table import BROKEN, File, FrameTable, check_dates, first_line, scan_table

NODES = re.compile(
    r"^\s*(SELECT \[.*\]|WITH_COLUMNS:|\[.*\]|(Parquet|IPC) SCAN \[.*\]|PROJECT .* COLUMNS|"
    r"ESTIMATED ROWS: \d+|simple π .*)\s*$"
)
CALLS = re.compile(r"\b([a-z_]+)\(")
BY_ROW = frozenset(
    {"col", "lit", "alias", "cast", "strict_cast", "when", "then", "otherwise", "not", "neg"}
    | {"log", "exp", "sqrt", "abs", "pow", "round", "floor", "ceil", "clip"}
    | {"is_null", "is_not_null", "fill_null"}
)
TEXTS = re.compile(r'"(?:[^"\\]|\\.)*"')


class LazyTable(NamedTuple):
    """A plan over files that works row by row; a range of its rows is computed where it is read."""

    plan: pl.LazyFrame
    schema: dict[str, Any]
    n_rows: int

    def read(self, start: int, stop: int, columns: Sequence[str]) -> pl.DataFrame:
        try:
            frame = self.plan.select(columns).slice(start, stop - start).collect()
        except BROKEN as error:
            raise ValueError(f"the lazy frame cannot be read: {first_line(error)}") from None
        return check_dates(frame, "the lazy frame")

    def cut(self, start: int, stop: int) -> "LazyTable":
        return self


def open_lazy(plan: pl.LazyFrame, in_memory: bool) -> Any:
    """The table of a lazy frame: read by range, or written once."""
    try:
        if in_memory:
            return FrameTable(plan.collect())
        if works_by_row(plan):
            n_rows = int(plan.select(pl.len()).collect().item())
            return LazyTable(plan, dict(plan.collect_schema()), n_rows)
        spool = Spool()
        path = spool.file("lazy.parquet")
        plan.sink_parquet(path, compression="lz4")
    except BROKEN as error:
        raise ValueError(f"the lazy frame cannot be read: {first_line(error)}") from None
    return scan_table("parquet", File(path, "the lazy frame", spool))


def works_by_row(plan: pl.LazyFrame) -> bool:
    """Whether every row of the result comes from the row of the same number of the files.

    >>> works_by_row(pl.LazyFrame({"a": [1]}))
    False
    """
    text = TEXTS.sub('""', plan.explain(optimized=False))
    lines = text.splitlines()
    known = all(NODES.match(line) for line in lines)
    return known and set(CALLS.findall(text)) <= BY_ROW
