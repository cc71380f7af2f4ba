"""Where the rows of a text file begin: the byte offset of every LEAF_ROWS-th row.

One pass over the file notes the offsets; afterwards any range of rows is read from its own bytes.
"""

import os
from typing import NamedTuple

import numpy as np

from pellucid.core.arrays.typing import IntArray
from pellucid.core.loops.statistics import LEAF_ROWS

CHUNK_BYTES = 1 << 23
QUOTE, NEWLINE, RETURN = 34, 10, 13


class Records(NamedTuple):
    """The whole records at the start of a buffer."""

    starts: IntArray  # first byte of each record that is not blank
    ends: IntArray  # one past its newline
    cells: IntArray  # cells of each record (delimiters outside quotes + 1)
    stop: int  # bytes used, blank lines included
    well_formed: bool  # quotes only around whole cells


def find_records(data: bytes, delimiter: int | None) -> Records:
    r"""Cut ``data`` into records at the newlines outside quotes; the rest is left over.

    >>> records = find_records(b'a,"x\ny"\n\n1,2\n3', ord(","))
    >>> records.starts.tolist(), records.ends.tolist(), records.cells.tolist(), records.stop
    ([0, 9], [8, 13], [2, 2], 13)
    """
    buffer = np.frombuffer(data, dtype=np.uint8)
    ends = np.flatnonzero(buffer == NEWLINE) + 1
    quoted = delimiter is not None and b'"' in data
    quotes = np.flatnonzero(buffer == QUOTE) if quoted else np.empty(0, dtype=np.intp)
    if quoted:  # a newline after an odd number of quotes lies inside a cell
        ends = ends[np.searchsorted(quotes, ends) % 2 == 0]
    stop = int(ends[-1]) if len(ends) else 0
    starts = np.concatenate([np.zeros(1, dtype=np.intp), ends[:-1]])[: len(ends)]
    length = ends - starts
    filled = (length > 2) | ((length == 2) & (buffer[starts] != RETURN))
    cells = np.ones(len(ends), dtype=np.intp)
    if delimiter is not None:
        marks = np.flatnonzero(buffer == delimiter)
        if quoted:
            marks = marks[np.searchsorted(quotes, marks) % 2 == 0]
        upto = np.searchsorted(marks, ends)
        cells = np.diff(upto, prepend=0) + 1
    well_formed = not quoted or quotes_fit(buffer, quotes[quotes < stop], delimiter)
    return Records(starts[filled], ends[filled], cells[filled], stop, well_formed)


def first_records(records: Records, n: int) -> Records:
    """The first ``n`` of the records."""
    starts, ends, cells = records.starts[:n], records.ends[:n], records.cells[:n]
    return Records(starts, ends, cells, int(ends[-1]) if len(ends) else 0, records.well_formed)


def quotes_fit(buffer: np.ndarray, quotes: IntArray, delimiter: int | None) -> bool:
    """Whether every quote opens a cell, closes it, or is doubled inside one."""
    around = np.zeros(256, dtype=bool)
    around[[delimiter or 0, NEWLINE, RETURN, QUOTE]] = True
    opening, closing = quotes[0::2], quotes[1::2]
    before = around[buffer[opening[opening > 0] - 1]]
    after = around[buffer[closing + 1]]  # a newline follows at the latest
    return bool(before.all() and after.all())


def without_blanks(data: bytes, records: Records) -> bytes:
    """The bytes of the records alone."""
    if int((records.ends - records.starts).sum()) == records.stop:
        return data[: records.stop]
    pairs = zip(records.starts.tolist(), records.ends.tolist(), strict=True)
    return b"".join(data[start:end] for start, end in pairs)


class Marks(NamedTuple):
    """The byte offsets of rows ``LEAF_ROWS * (leaf + i)`` of a file, and of its end."""

    path: str
    size: int  # of the file when it was indexed
    leaf: int
    offsets: IntArray
    n_rows: int

    def cut(self, start: int, stop: int) -> "Marks":
        low, high = start // LEAF_ROWS, -(-stop // LEAF_ROWS)
        kept = self.offsets[low - self.leaf : high - self.leaf + 1].copy()
        return self._replace(leaf=low, offsets=kept)

    def read(self, start: int, stop: int) -> tuple[bytes, int]:
        """Bytes that hold the rows, from a leaf's start, and the rows to skip in them."""
        low, high = start // LEAF_ROWS, -(-stop // LEAF_ROWS)
        first, last = self.offsets[low - self.leaf], self.offsets[high - self.leaf]
        with open(self.path, "rb") as file:
            if os.fstat(file.fileno()).st_size != self.size:
                raise ValueError(f"{self.path} has changed since it was opened; open it again")
            file.seek(int(first))
            data = file.read(int(last - first))
        if not data.endswith(b"\n"):  # the last line of a file may lack its newline
            data += b"\n"
        return data, start - low * LEAF_ROWS


class MarkList:
    """Collects the offsets of the rows while a file is read from start to end."""

    def __init__(self) -> None:
        self.rows = 0
        self.offsets: list[int] = []

    def add(self, starts: IntArray) -> None:
        """Note the absolute offsets of the next records."""
        first = -self.rows % LEAF_ROWS
        self.offsets.extend(starts[first::LEAF_ROWS].tolist())
        self.rows += len(starts)

    def close(self, path: str, end: int) -> Marks:
        offsets = np.array([*self.offsets, end], dtype=np.intp)
        return Marks(path, os.stat(path).st_size, 0, offsets, self.rows)
