"""A table that can be read by row range: frames in memory, Parquet and Arrow files, stacks.

Every source of rows becomes a *table*: it knows its columns and its number of rows, reads any
range of rows, and can be cut down to what a range needs before it travels to another process.

    read(start, stop, columns) -> Polars frame      rows start .. stop - 1
    cut(start, stop)           -> table             same row numbers, only what the range needs
"""

import os
import threading
from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
import polars as pl

from pellucid.core.runtime.apart import Apart

Schema = dict[str, Any]  # column name -> Polars data type
BROKEN = (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError)  # of a bad file


# What a file may grow to when it is read: so many cells, or so many for each of its bytes.
MOST_TIMES = 300  # gzip packs a run of zeros a thousandfold
MOST_CELLS = 1 << 24  # of text formats and sheets, most of them empty
MOST_NUMBERS = 1 << 29  # of Parquet and Arrow, which write a value that repeats once: 4 GB
TRIAL_MEMORY = 8 << 30  # bytes that the trial may take; lists in cells are counted by nobody
# Reads a file as it is read here. Polars ends its process, not only its call, over some damage.
_whole = Apart(f"""
import polars as pl
try:
    import resource
    resource.setrlimit(resource.RLIMIT_DATA, ({TRIAL_MEMORY}, {TRIAL_MEMORY}))
except (ImportError, ValueError):
    pass
def answer_to(question):
    kind, path, most = question
    if kind == "stream":
        return pl.read_ipc_stream(path).shape
    scan = (pl.scan_parquet if kind == "parquet" else pl.scan_ipc)(path, glob=False)
    n = scan.select(pl.len()).collect().item()
    shape = n, len(scan.collect_schema())
    return shape if shape[0] * shape[1] > most else scan.slice(0, n).collect().shape
""")
TRIED_BYTES = 1 << 26  # a larger file is read without a trial: that would take as long again


class File(NamedTuple):
    """Where the bytes of a file are, and what to call it in a message."""

    path: str
    name: str
    keep: Any = None  # a temporary folder that must outlive its tables


class Table(Protocol):
    """Rows that can be read by range."""

    @property
    def schema(self) -> Schema: ...

    @property
    def n_rows(self) -> int: ...

    def read(self, start: int, stop: int, columns: Sequence[str]) -> pl.DataFrame: ...

    def cut(self, start: int, stop: int) -> "Table": ...


class Reader:
    """Lets one thread at a time decode a file.

    Reading a piece now and then needs about 130 MB more for a moment (seen with Polars 2.1, cause
    not known); one reader at a time keeps two such moments from meeting. Polars uses several
    threads inside one read.
    """

    def __init__(self) -> None:
        self.lock = threading.Lock()


_reader = Reader()
if hasattr(os, "register_at_fork"):  # a forked child must not wait for its parent's thread
    os.register_at_fork(after_in_child=_reader.__init__)  # type: ignore[misc]


class FrameTable(NamedTuple):
    """A Polars frame in memory, or the slice of it that begins at row ``first``."""

    frame: pl.DataFrame
    first: int = 0

    @property
    def schema(self) -> Schema:
        return dict(self.frame.schema)

    @property
    def n_rows(self) -> int:
        return self.first + self.frame.height

    def read(self, start: int, stop: int, columns: Sequence[str]) -> pl.DataFrame:
        return self.frame.slice(start - self.first, stop - start).select(columns)

    def cut(self, start: int, stop: int) -> "FrameTable":
        return FrameTable(self.frame.slice(start - self.first, stop - start), start)


class ScanTable(NamedTuple):
    """A Parquet or Arrow IPC file; Polars decodes only the pages that a range touches."""

    kind: str  # parquet or ipc
    path: str
    schema: Schema
    n_rows: int
    name: str  # for messages
    keep: Any = None  # a temporary folder that must outlive this table

    def read(self, start: int, stop: int, columns: Sequence[str]) -> pl.DataFrame:
        scan = scan_file(self.kind, self.path).select(columns).slice(start, stop - start)
        try:
            with _reader.lock:
                frame = scan.collect()
        except BROKEN as error:
            raise ValueError(f"{self.name} is damaged: {first_line(error)}") from None
        return check_dates(frame, self.name)

    def cut(self, start: int, stop: int) -> "ScanTable":
        return self


def scan_file(kind: str, path: str) -> pl.LazyFrame:
    """A lazy frame over one file, its name taken literally."""
    if kind == "parquet":
        return pl.scan_parquet(path, glob=False)
    return pl.scan_ipc(path, glob=False)


def check_whole(kind: str, file: File) -> None:
    """Refuse a file over which Polars fails or that has no end, before it is read in this process.

    The end of a stream stands nowhere, so that a large one is tried too.
    """
    size = os.path.getsize(file.path)
    if size > TRIED_BYTES and kind != "stream":
        return
    most = max(MOST_NUMBERS, MOST_TIMES * size)
    found = _whole.ask([kind, os.path.abspath(file.path), most])
    if found is None or "error" in found:
        name = "Parquet" if kind == "parquet" else "Arrow"
        why = first_line(found["error"]) if found else "its sizes are impossible"
        raise ValueError(f"{file.name} is not a whole {name} file: {why}")
    rows, columns = found["value"]
    check_growth(file.name, rows, columns, size, MOST_NUMBERS)


def check_growth(
    name: str, rows: int, columns: int, size: int, least: int = MOST_CELLS, unit: str = "bytes"
) -> None:
    """Refuse a table that has far more cells than its file has bytes.

    >>> check_growth("a.jsonl", 100_000, 50_000, 2_000_000)
    Traceback (most recent call last):
    ValueError: a.jsonl grows to 100,000 rows and 50,000 columns from 2,000,000 bytes: more than \
300 cells for each, which no table has
    """
    if rows * columns > max(least, MOST_TIMES * size):
        raise ValueError(
            f"{name} grows to {rows:,} rows and {columns:,} columns from {size:,} {unit}: more "
            f"than {MOST_TIMES} cells for each, which no table has"
        )


def check_dates(frame: pl.DataFrame, name: str) -> pl.DataFrame:
    """Refuse dates that no calendar of ours has: most libraries fail over them much later."""
    for column in frame.iter_columns():
        if column.dtype in (pl.Date, pl.Datetime) and len(column):
            steps = column.to_physical()
            unit = STEPS[getattr(column.dtype, "time_unit", "d")]
            low: Any = steps.min()
            high: Any = steps.max()
            if low is not None and not (-719_162 * unit <= low and high < 2_932_897 * unit):
                raise ValueError(
                    f"{name} is damaged: column {column.name!r} has dates outside the years 1 to "
                    "9999"
                )
    return frame


# steps in a day, by the unit
STEPS = {"d": 1, "ms": 86_400_000, "us": 86_400_000_000, "ns": 86_400_000_000_000}


def scan_table(kind: str, file: File) -> ScanTable:
    """Open a Parquet or Arrow IPC file; only its footer is read."""
    scan = scan_file(kind, file.path)
    try:
        schema = dict(scan.collect_schema())
        n_rows = int(scan.select(pl.len()).collect().item())
    except BROKEN as error:
        name = {"parquet": "Parquet", "ipc": "Arrow"}[kind]
        raise ValueError(f"{file.name} is not a whole {name} file: {first_line(error)}") from None
    check_growth(file.name, n_rows, len(schema), os.path.getsize(file.path), MOST_NUMBERS)
    return ScanTable(kind, file.path, schema, n_rows, file.name, file.keep)


class Stack(NamedTuple):
    """Tables one below the other, in one schema."""

    parts: tuple[Any, ...]
    starts: tuple[int, ...]  # the first row of each part, counted over all of them
    schema: Schema
    n_rows: int

    def read(self, start: int, stop: int, columns: Sequence[str]) -> pl.DataFrame:
        wanted = {name: self.schema[name] for name in columns}
        frames = []
        for part, offset in zip(self.parts, self.starts, strict=True):
            low, high = max(start, offset), min(stop, offset + part.n_rows)
            if low < high:
                frame = part.read(low - offset, high - offset, columns)
                frames.append(frame if dict(frame.schema) == wanted else frame.cast(wanted))
        return pl.concat(frames, rechunk=False) if frames else pl.DataFrame(schema=wanted)

    def cut(self, start: int, stop: int) -> "Stack":
        pairs = [
            (part.cut(max(start - offset, 0), min(stop - offset, part.n_rows)), offset)
            for part, offset in zip(self.parts, self.starts, strict=True)
            if offset < stop and start < offset + part.n_rows
        ]
        parts = tuple(part for part, _ in pairs)
        return Stack(parts, tuple(offset for _, offset in pairs), self.schema, self.n_rows)


def stack(parts: Sequence[Any], names: Sequence[str], *, mixed_is_text: bool = False) -> Any:
    """Put tables with the same columns below each other; ``names`` say where each came from."""
    if len(parts) == 1 and not any(dtype == pl.Null for dtype in parts[0].schema.values()):
        return parts[0]
    schema: Schema = dict(parts[0].schema)
    for part, name in zip(parts, names, strict=True):
        same_columns(schema, part.schema, names[0], name)
        for column, dtype in part.schema.items():
            common = common_type(schema[column], dtype)
            if (
                common is None
                and mixed_is_text
                and not (schema[column].is_nested() or dtype.is_nested())
            ):
                common = pl.String()
            if common is None:
                raise ValueError(
                    f"column {column!r} is {schema[column]} in {names[0]} and {dtype} in {name}; "
                    "every part needs the same type"
                )
            schema[column] = common
    schema = {name: pl.Float64() if dtype == pl.Null else dtype for name, dtype in schema.items()}
    starts = np.cumsum([0, *(part.n_rows for part in parts)]).tolist()
    return Stack(tuple(parts), tuple(starts[:-1]), schema, starts[-1])


def same_columns(first: Schema, other: Schema, first_name: str, other_name: str) -> None:
    """Refuse a part whose columns are not those of the first part."""
    lacking = [name for name in first if name not in other]
    extra = [name for name in other if name not in first]
    if lacking:
        raise ValueError(f"{other_name} has no column {lacking[0]!r}, which {first_name} has")
    if extra:
        raise ValueError(f"{other_name} has a column {extra[0]!r}, which {first_name} has not")


def common_type(a: Any, b: Any) -> Any:
    """The type that holds both without loss, or None.

    >>> common_type(pl.Int64(), pl.Float64())
    Float64
    >>> common_type(pl.Int64(), pl.String()) is None
    True
    """
    if a == b or b == pl.Null:
        return a
    if a == pl.Null:
        return b
    texts = (pl.String, pl.Categorical, pl.Enum)
    if a in texts and b in texts:
        return pl.String()
    if a.is_integer() and b.is_integer():
        return pl.Float64() if pl.UInt64 in (a, b) else pl.Int64()
    if a.is_numeric() and b.is_numeric():
        return pl.Float64()
    if a in (pl.Date, pl.Datetime) and b in (pl.Date, pl.Datetime):
        zones = {dtype.time_zone for dtype in (a, b) if dtype == pl.Datetime}
        return pl.Datetime("us", *zones) if len(zones) == 1 else None
    return None


def first_line(error: BaseException | str) -> str:
    """The first line of an error's text, for a message of one sentence."""
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__
