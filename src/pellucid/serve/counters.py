"""Counts of requests and of strange cells, over one process or several.

Every process adds to a file of its own in one folder, as an array of whole numbers in memory that
the others can read; a sum over the files is the count of the whole server. The file of a process
that has ended stays, so that no count ever falls.
"""

import os
import threading
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from pellucid.serve.records import Schema
from pellucid.study.columns.table_features import Drift

TOTALS = (
    "requests",  # for a prediction
    "answered",
    "refused",  # 4xx
    "busy",  # told to come again
    "failed",  # 5xx
    "rows",
    "rows_unseen",  # with a level that training never saw
    "rows_outside",  # with a number or date beyond the training range
)
CELLS = ("missing", "unseen", "outside", "unread")


class Counters:
    """The counts of one process, and the sums over all that share its folder.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     counts = Counters(Path(folder), ("a", "b"))
    ...     counts.add(rows=2)
    ...     counts.read()["rows"]
    2
    """

    def __init__(self, folder: Path, columns: tuple[str, ...]) -> None:
        self.folder, self.columns = folder, columns
        self.lock = threading.Lock()
        self.size = len(TOTALS) + len(columns) * len(CELLS)
        path = folder / f"{os.getpid()}-{os.urandom(4).hex()}.counts"
        self.own: Any = np.memmap(path, np.int64, "w+", shape=(self.size,))
        self.cells = self.own[len(TOTALS) :].reshape(len(columns), len(CELLS))

    def add(self, **counts: int) -> None:
        """Add to the totals by name."""
        with self.lock:
            for name, n in counts.items():
                self.own[TOTALS.index(name)] += n

    def add_rows(self, frame: pl.DataFrame, found: Drift | None) -> None:
        """Count the rows of an answered request, and what was strange about their cells."""
        gaps = [missing_cells(frame[name]) if name in frame.columns else 0 for name in self.columns]
        with self.lock:
            self.own[TOTALS.index("rows")] += frame.height
            self.cells[:, 0] += gaps
            if found is not None:
                self.own[TOTALS.index("rows_unseen")] += found.rows_unseen
                self.own[TOTALS.index("rows_outside")] += found.rows_outside
                at = {name: j for j, name in enumerate(self.columns)}
                counts = zip(found.names, found.unseen, found.outside, found.unread, strict=True)
                for name, *more in counts:
                    if name in at:
                        self.cells[at[name], 1:] += more

    def read(self) -> dict[str, Any]:
        """The sums over all processes: totals, and the counts of every column."""
        total = np.zeros(self.size, np.int64)
        for path in sorted(self.folder.glob("*.counts")):
            if path.stat().st_size == total.nbytes:
                total += np.fromfile(path, np.int64)
        cells = total[len(TOTALS) :].reshape(len(self.columns), len(CELLS))
        return {
            **dict(zip(TOTALS, total.tolist(), strict=False)),
            "columns": {
                name: dict(zip(CELLS, row, strict=True))
                for name, row in zip(self.columns, cells.tolist(), strict=True)
            },
        }


def missing_cells(column: pl.Series) -> int:
    """Nulls, and numbers that are NaN."""
    gaps = column.null_count()
    if column.dtype.is_float():
        gaps += int(np.isnan(column.drop_nulls().to_numpy() if gaps else column.to_numpy()).sum())
    return gaps


def drift_record(counts: dict[str, Any], schema: Schema, gaps: dict[str, float]) -> dict[str, Any]:
    """The counts beside what the training rows were like, where the model knows them."""
    rows = counts["rows"]
    columns = {}
    for one in schema.columns:
        found = dict(counts["columns"][one.name])
        found["missing_share"] = found["missing"] / rows if rows else None
        found["missing_share_in_training"] = gaps.get(one.name)
        columns[one.name] = found
    return counts | {"columns": columns}
