"""Datasets, scanners and readers of PyArrow, and whatever else streams Arrow (DuckDB, Ibis, ...).

Files of a dataset without a filter are read by range: local Parquet and Arrow files by Polars,
others row group by row group through PyArrow. What is a stream (a reader, a scanner, a relation)
can be read once: its batches are written to a temporary folder as they arrive.
"""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, TypeAlias

import polars as pl

from pellucid.data.doors.folders import WithValues
from pellucid.data.doors.parts import PartTable, new_token
from pellucid.data.spool import spool_frames
from pellucid.data.table import File, FrameTable, check_dates, scan_table, stack

Arrow: TypeAlias = Any  # an object of PyArrow, which is optional
SPOOL_ROWS = 1 << 18  # rows of a temporary file, whatever the batches of a stream are
POLARS_KINDS = {"parquet": "parquet", "ipc": "ipc", "feather": "ipc", "arrow": "ipc"}


def is_dataset(source: object) -> bool:
    """Whether ``source`` is a dataset or a scanner of PyArrow."""
    return type(source).__module__.startswith(("pyarrow._dataset", "pyarrow.dataset"))


def streams_arrow(source: object) -> bool:
    """Whether ``source`` hands out Arrow batches: a reader, a relation, a lazy table."""
    return hasattr(source, "__arrow_c_stream__")


def open_dataset(source: Arrow, in_memory: bool) -> Any:
    """The table of a dataset: its files by range, or its batches written once."""
    if in_memory or not hasattr(source, "files") or source._scan_options:
        reader = source.to_reader() if hasattr(source, "to_reader") else None
        return open_reader(reader or source.scanner().to_reader(), in_memory)
    parts, names = [], []
    for fragment in source.get_fragments():
        for part in fragment_tables(source, fragment):
            parts.append(part)
            names.append(fragment.path)
    if not parts:
        return FrameTable(pl.DataFrame(pl.from_arrow(source.schema.empty_table())))
    return stack(parts, names)


def fragment_tables(dataset: Arrow, fragment: Arrow) -> Iterator[Any]:
    """One file of a dataset: itself when it is here, else its row groups."""
    import pyarrow.dataset as ds
    import pyarrow.fs

    types = dict(pl.DataFrame(pl.from_arrow(dataset.schema.empty_table())).schema)
    kind = POLARS_KINDS.get(fragment.format.default_extname)
    keys = ds.get_partition_keys(fragment.partition_expression)
    if isinstance(fragment.filesystem, pyarrow.fs.LocalFileSystem) and kind:
        table: Any = scan_table(kind, File(fragment.path, fragment.path))
        added = {name: value for name, value in keys.items() if name not in table.schema}
        if added:
            table = WithValues(table, added, {name: types[name] for name in added})
        lacking = {name: types[name] for name in types if name not in table.schema}
        if lacking:
            table = WithValues(table, dict.fromkeys(lacking), lacking)
        yield InOrder(table, types)
        return
    groups = fragment.split_by_row_group() if hasattr(fragment, "split_by_row_group") else None
    for part in groups or [fragment]:
        load = Fragment(part, dataset.schema)
        yield PartTable(load, types, part.count_rows(), new_token())


class InOrder(NamedTuple):
    """A table with the columns and types that its dataset declares."""

    table: Any
    schema: dict[str, Any]

    @property
    def n_rows(self) -> int:
        return self.table.n_rows

    def read(self, start: int, stop: int, columns: Sequence[str]) -> pl.DataFrame:
        frame = self.table.read(start, stop, columns)
        wanted = {name: self.schema[name] for name in columns}
        return frame if dict(frame.schema) == wanted else frame.cast(wanted)

    def cut(self, start: int, stop: int) -> "InOrder":
        return self._replace(table=self.table.cut(start, stop))


class Fragment(NamedTuple):
    """A row group, or a file, that PyArrow reads; it travels by its address."""

    part: Any
    arrow_schema: Any

    def __call__(self, columns: Sequence[str]) -> pl.DataFrame:
        table = self.part.to_table(schema=self.arrow_schema, columns=list(columns))
        return check_dates(pl.DataFrame(pl.from_arrow(table)), "the dataset")


def open_reader(source: Arrow, in_memory: bool) -> Any:
    """The table of a stream, which is read once: to memory, or to a temporary folder."""
    frames = arrow_frames(source)
    if in_memory:
        return FrameTable(pl.concat(list(frames)))
    parts = spool_frames(gathered(frames))
    return stack(parts, ["the stream"] * len(parts))


def arrow_frames(source: Arrow) -> Iterator[pl.DataFrame]:
    """The batches of a stream; one without rows comes first, so that the columns are known."""
    try:
        import pyarrow
    except ImportError:
        raise ImportError("a stream of Arrow batches needs PyArrow: pip install pyarrow") from None
    reader = source
    if not isinstance(source, pyarrow.RecordBatchReader):
        reader = pyarrow.RecordBatchReader.from_stream(source)
    yield pl.DataFrame(pl.from_arrow(reader.schema.empty_table()))
    for batch in reader:
        yield check_dates(pl.DataFrame(pl.from_arrow(batch)), "the stream")


def gathered(frames: Iterator[pl.DataFrame]) -> Iterator[pl.DataFrame]:
    """Frames of at least SPOOL_ROWS rows but for the last; always one at least."""
    waiting: list[pl.DataFrame] = []
    for frame in frames:
        waiting.append(frame)
        if sum(part.height for part in waiting) >= SPOOL_ROWS:
            yield pl.concat(waiting)
            waiting = []
    if waiting:
        yield pl.concat(waiting)
