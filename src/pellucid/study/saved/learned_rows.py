r"""Which rows a saved model has learned from: a sketch of them in the model file.

Every row (the columns the model reads, and the answer) has a mark of 64 bits that depends on its
cells alone, not on the file they came in. The file keeps the MARKS smallest marks of the rows that
were learned from: all of them where the rows are so few, else a random sample by nature. A new
row whose mark is not above the greatest one kept was learned from if its mark is among them.

Rows that were not learned from can be equal to one that was, where columns are few and coarse.
By Good and Turing the share of new rows for which that is so is about the share of the learned
rows that have a twin among themselves; only more than that, beyond chance, is told.

References: Good (1953); Bar-Yossef et al. (2002).
"""

import hashlib
import math
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

from pellucid.core.arrays.columns import frame_columns
from pellucid.core.arrays.typing import Array
from pellucid.core.runtime.splitmix import GOLDEN, splitmix64
from pellucid.study.reading.cell_values import dates, levels, numbers

MARKS = 8192
BEYOND = 3.0  # standard errors of the share of rows that chance makes equal
Marks = npt.NDArray[np.uint64]


class Overlap(NamedTuple):
    """How many rows of a table the model has learned from."""

    checked: int  # rows whose mark can be looked up
    learned: int  # of those, equal to a row that was learned from
    expected: float  # share that chance makes equal

    @property
    def share(self) -> float:
        return self.learned / self.checked if self.checked else 0.0

    @property
    def beyond_chance(self) -> bool:
        """More than rows of the same kind would show that the model never met."""
        if not self.learned:
            return False
        spread = math.sqrt(max(self.expected * (1 - self.expected), 1e-12) / self.checked)
        return self.share > self.expected + BEYOND * spread


def row_marks(
    frame: pl.DataFrame, kinds: dict[str, str], forms: dict[str, str], answers: Any
) -> Marks:
    """A mark for every row, from the columns of ``kinds`` and the answers (n,) or (n, several).

    >>> one = row_marks(pl.DataFrame({"x": [1, 2]}), {"x": "whole"}, {}, np.array(["a", "b"]))
    >>> two = row_marks(pl.DataFrame({"x": [2.0]}), {"x": "whole"}, {}, np.array(["b"]))
    >>> bool(one[1] == two[0]), bool(one[0] == two[0])
    (True, False)
    """
    marks = np.zeros(frame.height, dtype=np.uint64)
    columns = frame_columns(frame.select(list(kinds)))
    for (name, kind), column in zip(kinds.items(), columns, strict=True):
        if kind != "empty":
            marks = _mixed(marks * np.uint64(3) + _cells(column, kind, name, forms.get(name, "")))
    table = np.asarray(answers).reshape(frame.height, -1)
    for j in range(table.shape[1]):
        kind = "number" if table.dtype.kind == "f" else "category"
        marks = _mixed(marks * np.uint64(3) + _cells(table[:, j], kind, "answer", ""))
    return marks


def sketch_rows(marks: Marks) -> dict[str, Any]:
    """What the model file keeps: the smallest marks, sorted, and the share of rows with a twin.

    >>> sketch_rows(np.array([5, 3, 5, 9], dtype=np.uint64))["twins"]
    0.5
    """
    seen, counts = np.unique(marks, return_counts=True)
    twins = float(counts[counts > 1].sum() / max(len(marks), 1))
    return {"marks": seen[:MARKS], "every": len(seen) <= MARKS, "twins": twins}


def find_overlap(sketch: dict[str, Any], marks: Marks) -> Overlap:
    """How many of these rows are among those of the sketch."""
    known = sketch["marks"]
    if not sketch["every"]:
        marks = marks[marks <= known[-1]]
    at = np.minimum(np.searchsorted(known, marks), len(known) - 1)
    return Overlap(len(marks), int((known[at] == marks).sum()), float(sketch["twins"]))


def _cells(column: Any, kind: str, name: str, form: str) -> Marks:
    """A mark for every cell: of the number or moment it means, or of its text."""
    if kind == "date":
        moments: Any = dates(column, name, form)
        return _mixed(moments.astype(np.int64).view(np.uint64))
    if kind in ("number", "whole"):
        return _mixed(_bits(numbers(column, name, form)))
    found, codes = levels(column)
    return np.array([_text_mark(cell) for cell in found], dtype=np.uint64)[codes]


def _bits(x: Array) -> Marks:
    """The bits of the numbers, with one NaN and one zero."""
    return (np.where(np.isnan(x), np.nan, x) + 0.0).view(np.uint64)


def _text_mark(cell: str | None) -> int:
    if cell is None:
        return 1
    return int.from_bytes(hashlib.blake2b(cell.encode(), digest_size=8).digest(), "little")


def _mixed(x: Marks) -> Marks:
    """Every bit of the answer depends on every bit of x."""
    return splitmix64.py_func(x + GOLDEN)  # whole arrays need no compiler
